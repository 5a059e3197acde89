//! Items fetched over the network and from files: many requests in flight, none of them holding the interpreter.
//!
//! A [`Fetcher`] is a frozen description (compiled once); a [`Runtime`] owns threads, connections and the bound on the
//! requests in flight; [`Fetches`] is one batch of items, read in the order in which they arrive.

mod body;
mod decoding;
mod error;
mod fetches;
mod file;
mod http;
mod object;
mod process;
mod redaction;
mod redirect;
mod retry;
mod runtime;
mod template;
mod tls;

pub use error::{Class, FetchError, SetupError};
pub use fetches::{Arrival, Fetches};
pub use file::FileFetcher;
pub use http::{HttpFetcher, HttpOptions, check_url};
pub use object::{ObjectFetcher, ObjectOptions, check_key};
pub use process::OfProcess;
pub use redaction::redact;
pub use retry::RetryPolicy;
pub use runtime::Runtime;
pub use template::{Kind, Template, TemplateError, Value};
pub use tls::Verify;

use std::sync::Arc;

/// How the items of one dataset are fetched.
#[derive(Clone)]
pub enum Fetcher {
    Http(Arc<HttpFetcher>),
    Files(Arc<FileFetcher>),
    Objects(Arc<ObjectFetcher>),
}
