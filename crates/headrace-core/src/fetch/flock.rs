//! Locks
