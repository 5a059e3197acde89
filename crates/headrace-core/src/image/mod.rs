//! Pixels: decoded, transformed and written into batches.

mod buffer;
mod encode;
pub mod ops;
mod picture;
mod stack;

pub use buffer::{BatchBuffer, Pool, SharedBuffer, Slot};
pub use encode::{EncodeError, contact_sheet, to_png};
pub use picture::{Color, Dtype, Layout, Picture, Pixels};
pub use stack::{Batch, StackError, stack};
