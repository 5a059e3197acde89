//! The mechanisms of headrace, without Python: they hold no interpreter and call no user code.

pub mod batch;
pub mod draws;
pub mod fetch;
pub mod image;
mod permutation;
pub mod shard;
mod window;

pub use permutation::Permutation;
pub use window::{Claim, Refused, Statistics, Take, Turn, Window};
