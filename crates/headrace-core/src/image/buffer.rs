//! Memory of batches: aligned to 64 bytes, written slot by slot, and used again once nobody looks at it.
//!
//! # Soundness
//!
//! - `Memory` owns one allocation of `size_bytes` zeroed bytes at a multiple of 64, made and freed with the same layout.
//!   Every bit pattern is a valid u8, u16 and f32, and 64 is a multiple of their alignments, so a cast between slices of
//!   them is sound as long as the length is divided.
//! - A `BatchBuffer` is the only owner of its memory, and hands slices out only through `&mut self`: the slots of
//!   `slots` are chunks of one slice, hence disjoint, and may go to different threads.
//! - `BatchBuffer::publish` ends that: a `SharedBuffer` gives out its address and never a Rust reference, since foreign
//!   code (NumPy, torch) writes to it. `copy` reads with `ptr::copy_nonoverlapping` into memory of its own; a foreign
//!   writer that races with it can spoil the values of the copy, as it can NumPy's, but no type's invariant.
//! - The memory returns to the pool when the last `Arc` of the `SharedBuffer` goes, and every view holds one.
#![allow(unsafe_code)]

use std::alloc::{Layout as Extent, alloc_zeroed, dealloc};
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, PoisonError};

use super::picture::Dtype;

const ALIGNMENT: usize = 64;

struct Memory {
    start: NonNull<u8>,
    size_bytes: usize,
}

// SAFETY: `Memory` owns its allocation and has no thread affinity; shared access goes through `&self` reads of the
// address alone.
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}

impl Memory {
    fn extent(size_bytes: usize) -> Option<Extent> {
        Extent::from_size_align(size_bytes.max(1), ALIGNMENT).ok()
    }

    fn new(size_bytes: usize) -> Option<Self> {
        let extent = Self::extent(size_bytes)?;
        // SAFETY: the extent's size is at least 1.
        let start = NonNull::new(unsafe { alloc_zeroed(extent) })?;
        Some(Self { start, size_bytes })
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        if let Some(extent) = Self::extent(self.size_bytes) {
            // SAFETY: allocated in `new` with the same extent, and freed only here.
            unsafe { dealloc(self.start.as_ptr(), extent) }
        }
    }
}

/// Keeps the memory of up to `buffers` dropped batches for the next ones.
#[derive(Clone)]
pub struct Pool {
    kept: Arc<Mutex<Vec<Memory>>>,
    buffers: usize,
}

impl Pool {
    pub fn new(buffers: usize) -> Self {
        Self {
            kept: Arc::default(),
            buffers,
        }
    }

    /// Memory for `count` items of `item` values each: used again where the size is the same, else new and zeroed.
    /// None where the machine has no such memory. It never waits.
    pub fn take(&self, count: usize, item: usize, dtype: Dtype) -> Option<BatchBuffer> {
        let item_bytes = item.checked_mul(dtype.size_bytes())?;
        let size_bytes = item_bytes.checked_mul(count)?;
        let reused = {
            let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
            let place = kept
                .iter()
                .position(|memory| memory.size_bytes == size_bytes);
            place.map(|place| kept.swap_remove(place))
        };
        let memory = match reused {
            Some(memory) => memory,
            None => Memory::new(size_bytes)?,
        };
        Some(BatchBuffer {
            memory,
            item_bytes,
            dtype,
            pool: self.clone(),
        })
    }

    fn give_back(&self, memory: Memory) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if self.buffers == 0 {
            return;
        }
        if kept.len() >= self.buffers {
            // The oldest goes: sizes that are no longer asked for do not stay.
            kept.remove(0);
        }
        kept.push(memory);
    }
}

/// The place of one item in a batch.
#[derive(Debug)]
pub enum Slot<'a> {
    U8(&'a mut [u8]),
    U16(&'a mut [u16]),
    F32(&'a mut [f32]),
}

/// A batch in the making: exclusively owned memory, one slot an item.
pub struct BatchBuffer {
    memory: Memory,
    item_bytes: usize,
    dtype: Dtype,
    pool: Pool,
}

impl BatchBuffer {
    fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: initialised memory of that length, borrowed for as long as `self`.
        unsafe {
            std::slice::from_raw_parts_mut(self.memory.start.as_ptr(), self.memory.size_bytes)
        }
    }

    /// The slot of item `index`. Panics beyond the last.
    pub fn slot(&mut self, index: usize) -> Slot<'_> {
        let (item_bytes, dtype) = (self.item_bytes, self.dtype);
        slot_of(
            &mut self.bytes()[index * item_bytes..(index + 1) * item_bytes],
            dtype,
        )
    }

    /// Every slot, in order: disjoint, so that threads may fill them at the same time.
    pub fn slots(&mut self) -> impl Iterator<Item = Slot<'_>> {
        let (item_bytes, dtype) = (self.item_bytes.max(1), self.dtype);
        self.bytes()
            .chunks_exact_mut(item_bytes)
            .map(move |bytes| slot_of(bytes, dtype))
    }

    /// Ends the writing through Rust; from here on the address is what is given out.
    pub fn publish(self) -> SharedBuffer {
        SharedBuffer {
            memory: Some(self.memory),
            pool: self.pool,
        }
    }
}

fn slot_of(bytes: &mut [u8], dtype: Dtype) -> Slot<'_> {
    let (start, len) = (bytes.as_mut_ptr(), bytes.len());
    // Slots begin at multiples of `item * size` from an address aligned to 64, hence aligned to `size`.
    // SAFETY (both): aligned as said, the length divided, and the lifetime is that of the unique borrow `bytes`.
    match dtype {
        Dtype::U8 => Slot::U8(bytes),
        Dtype::U16 => Slot::U16(unsafe { std::slice::from_raw_parts_mut(start.cast(), len / 2) }),
        Dtype::F32 => Slot::F32(unsafe { std::slice::from_raw_parts_mut(start.cast(), len / 4) }),
    }
}

/// A finished batch's memory, as foreign code sees it.
pub struct SharedBuffer {
    memory: Option<Memory>,
    pool: Pool,
}

impl SharedBuffer {
    /// The first byte, at a multiple of 64.
    pub fn address(&self) -> usize {
        self.memory
            .as_ref()
            .map_or(0, |memory| memory.start.as_ptr() as usize)
    }

    pub fn size_bytes(&self) -> usize {
        self.memory.as_ref().map_or(0, |memory| memory.size_bytes)
    }

    /// A copy of the bytes `start..start + len`, as they are now. Panics beyond the end.
    pub fn copy(&self, start: usize, len: usize) -> Vec<u8> {
        assert!(
            start
                .checked_add(len)
                .is_some_and(|end| end <= self.size_bytes())
        );
        let mut copy = vec![0; len];
        if let Some(memory) = &self.memory {
            // SAFETY: inside the allocation as asserted; the target is fresh memory of `len` bytes.
            unsafe {
                std::ptr::copy_nonoverlapping(
                    memory.start.as_ptr().add(start),
                    copy.as_mut_ptr(),
                    len,
                );
            }
        }
        copy
    }
}

impl Drop for SharedBuffer {
    fn drop(&mut self) {
        if let Some(memory) = self.memory.take() {
            self.pool.give_back(memory);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_aligned_and_used_again_only_when_dropped() {
        let pool = Pool::new(1);
        let first = pool.take(3, 5, Dtype::U8).unwrap().publish();
        let second = pool.take(3, 5, Dtype::U8).unwrap().publish();
        assert_eq!(first.address() % 64, 0);
        assert_ne!(first.address(), second.address());
        let place = first.address();
        drop(first);
        assert_eq!(
            pool.take(3, 5, Dtype::U8).unwrap().publish().address(),
            place
        );
    }

    #[test]
    fn slots_are_disjoint_and_threads_fill_them() {
        let mut buffer = Pool::new(0).take(4, 6, Dtype::F32).unwrap();
        std::thread::scope(|scope| {
            for (index, slot) in buffer.slots().enumerate() {
                scope.spawn(move || {
                    let Slot::F32(values) = slot else {
                        panic!("float32 was asked for")
                    };
                    values.fill(index as f32);
                });
            }
        });
        let Slot::F32(values) = buffer.slot(2) else {
            panic!("float32 was asked for")
        };
        assert_eq!(values, [2.0; 6]);
    }

    #[test]
    fn impossible_sizes_are_refused() {
        assert!(Pool::new(0).take(usize::MAX, 2, Dtype::F32).is_none());
        assert!(Pool::new(0).take(1, usize::MAX / 4, Dtype::F32).is_none());
    }
}
