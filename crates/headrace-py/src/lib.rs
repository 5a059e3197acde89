//! The Python module `headrace._native`: convert, detach, call, convert back. No policy and no Python call in here.

mod fetch;
mod image;
mod msgpack;
mod permutation;
mod window;

#[pyo3::pymodule(gil_used = false)]
mod _native {
    #[pymodule_export]
    use crate::fetch::{Fetches, Runtime, Source};
    #[pymodule_export]
    use crate::image::{BufferPool, Image, ImageBatch, Plan, first_raw};
    #[pymodule_export]
    use crate::msgpack::{pack, unpack};
    #[pymodule_export]
    use crate::permutation::Permutation;
    #[pymodule_export]
    use crate::window::Window;
}
