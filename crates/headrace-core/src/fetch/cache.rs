//! Items kept on disk.
pub struct Cache;
