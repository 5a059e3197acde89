//! `Runtime`, `Source` and `Fetches`: the core's fetching with bytes and exceptions of Python.

mod columns;
mod errors;
mod fetches;
mod options;
mod runtime;
mod source;

pub use fetches::Fetches;
pub use runtime::Runtime;
pub use source::Source;
