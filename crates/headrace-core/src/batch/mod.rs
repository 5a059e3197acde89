//! Samples into columns: msgpack decoded, arrays stacked.
