//! Pixels: decoded, transformed and written into batches.

mod picture;

pub use picture::{Color, Layout, Picture, Pixels};
