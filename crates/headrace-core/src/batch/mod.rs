//! Samples into columns: msgpack decoded, arrays stacked.

pub mod msgpack;
