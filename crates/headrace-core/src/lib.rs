//! The mechanisms of headrace, without Python: they hold no interpreter and call no user code.

mod permutation;
mod window;

pub use permutation::Permutation;
pub use window::{Claim, Refused, Statistics, Take, Turn, Window};
