//! Pixels: decoded, transformed and written into batches.

mod buffer;
pub mod decode;
mod encode;
pub mod ops;
mod picture;
pub mod plan;
mod stack;

pub use buffer::{BatchBuffer, Pool, SharedBuffer, Slot};
pub use encode::{EncodeError, contact_sheet, to_png};
pub use picture::{Color, Dtype, Layout, Picture, Pixels};
pub use plan::{Input, Plan, PlanError};
pub use stack::{Batch, StackError, stack};
