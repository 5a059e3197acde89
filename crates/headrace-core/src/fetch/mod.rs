//! Items fetched over the network and from files: many requests in flight, none of them holding the interpreter.
