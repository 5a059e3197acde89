//! Tar shards: scanned, indexed, read and written.
