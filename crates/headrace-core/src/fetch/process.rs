//! Things that belong to the process that made them.
//!
//! A forked child has the memory of its parent but not its threads. Dropping a runtime or its connections there could
//! wait for a lock that a thread of the parent held at the fork; so in a child they are left alone.

use std::ops::Deref;

pub struct OfProcess<T> {
    value: Option<T>,
    process: u32,
}

impl<T> OfProcess<T> {
    pub fn new(value: T) -> Self {
        Self {
            value: Some(value),
            process: std::process::id(),
        }
    }

    /// Whether this process is the one that made the value.
    pub fn is_ours(&self) -> bool {
        self.process == std::process::id()
    }
}

impl<T> Deref for OfProcess<T> {
    type Target = T;

    fn deref(&self) -> &T {
        // Only `drop` takes it out.
        self.value.as_ref().expect("present until dropped")
    }
}

impl<T> Drop for OfProcess<T> {
    fn drop(&mut self) {
        if !self.is_ours() {
            std::mem::forget(self.value.take());
        }
    }
}
