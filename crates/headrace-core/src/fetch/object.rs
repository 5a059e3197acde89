//! Items from object stores.

use std::sync::Arc;

use bytes::Bytes;
use object_store::ObjectStore;

use super::error::{FetchError, SetupError};

pub struct ObjectOptions;
pub struct ObjectFetcher;

pub fn check_key(_key: &str) -> Result<(), SetupError> {
    Ok(())
}

impl ObjectFetcher {
    pub(super) fn connect(&self) -> Result<Arc<dyn ObjectStore>, SetupError> {
        unimplemented!()
    }

    pub(super) async fn fetch(
        &self,
        _store: &dyn ObjectStore,
        _key: &str,
    ) -> Result<Bytes, FetchError> {
        unimplemented!()
    }
}
