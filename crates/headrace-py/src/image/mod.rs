//! Images and batches of them, as NumPy, torch and JAX see them.

mod array;
mod batch;
mod dlpack;
mod object;
mod plan;

pub use batch::{BufferPool, ImageBatch};
pub use object::Image;
pub use plan::{Plan, first_raw};
