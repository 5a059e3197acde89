//! Pixels: decoded, transformed and written into batches.

pub mod ops;
mod picture;

pub use picture::{Color, Dtype, Layout, Picture, Pixels};
