//! Why an item could not be had, classed by what a handler would do.

use std::error::Error;

use super::redaction::redact;

/// What a handler can do about a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// A refusal that no other class describes, such as status 400.
    Refused,
    NotFound,
    Permission,
    Throttled,
    Server,
    Transport,
    Timeout,
    TooLarge,
    Integrity,
}

/// The failure of one item. `location` never holds a query, a user or a password.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{location}: {reason} (attempt {attempts})")]
pub struct FetchError {
    pub class: Class,
    pub location: String,
    pub status: Option<u16>,
    pub attempts: u32,
    pub reason: String,
}

/// A source whose description cannot work; found when it is made.
#[derive(Clone, Debug, thiserror::Error)]
pub enum SetupError {
    #[error("expected an http:// or https:// URL with a host, found {location}: {reason}")]
    Url { location: String, reason: String },
    #[error("header {name:?} cannot be sent: {reason}")]
    Header { name: String, reason: String },
    #[error("verify={path:?}: {reason}; expected a file of certificates in PEM form")]
    Roots { path: String, reason: String },
    #[error("no client could be made: {reason}")]
    Client { reason: String },
    #[error("object store {location}: {reason}")]
    Store { location: String, reason: String },
}

/// The failure of one attempt, before anyone knows whether there is another.
#[derive(Debug)]
pub(super) struct Attempt {
    pub class: Class,
    pub status: Option<u16>,
    pub reason: String,
    pub transient: bool,
    pub retry_after: Option<std::time::Duration>,
}

impl Attempt {
    pub fn fatal(class: Class, reason: impl Into<String>) -> Self {
        Self {
            class,
            status: None,
            reason: reason.into(),
            transient: false,
            retry_after: None,
        }
    }

    pub fn transient(class: Class, reason: impl Into<String>) -> Self {
        Self {
            transient: true,
            ..Self::fatal(class, reason)
        }
    }

    pub fn with_status(self, status: u16) -> Self {
        Self {
            status: Some(status),
            ..self
        }
    }

    pub fn too_large(size: Option<u64>, max_bytes: u64) -> Self {
        let found = size.map_or("more".to_owned(), |size| format!("{size} bytes"));
        Self::fatal(
            Class::TooLarge,
            format!("expected at most max_bytes={max_bytes} bytes, found {found}; raise max_bytes"),
        )
    }

    pub fn into_error(self, location: &str, attempts: u32) -> FetchError {
        FetchError {
            class: self.class,
            location: redact(location),
            status: self.status,
            attempts,
            reason: self.reason,
        }
    }
}

/// An error and its causes, also those that `io::Error` keeps to itself.
pub(super) fn chain<'a>(
    error: &'a (dyn Error + 'static),
) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(
        Some(error),
        |&error: &&'a (dyn Error + 'static)| match error
            .downcast_ref::<std::io::Error>()
            .and_then(std::io::Error::get_ref)
        {
            Some(inner) => Some(inner as &(dyn Error + 'static)),
            None => error.source(),
        },
    )
}
