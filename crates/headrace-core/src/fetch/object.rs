//! Items from object stores: S3, Google Cloud Storage, Azure and plain HTTP.
//!
//! The `object_store` crate signs, asks and retries. The connections are ours, so that they trust whom HTTP items trust,
//! and so that each item knows its last status and the number of requests that it took.

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use object_store::client::{
    ClientConfigKey, HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest,
    HttpResponse, HttpService,
};
use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};
use object_store::http::HttpBuilder;
use object_store::path::Path;
use object_store::{
    BackoffConfig, ClientOptions, GetOptions, ObjectStore, ObjectStoreScheme, RetryConfig,
};
use url::{Position, Url};

use super::error::{Attempt, Class, FetchError, SetupError, chain};
use super::redaction::redact;
use super::redirect;
use super::retry::RetryPolicy;
use super::tls::{self, Verify};

/// How long the crate goes on retrying one request.
const RETRIED_FOR: Duration = Duration::from_secs(180);

pub struct ObjectOptions {
    pub url: String,
    pub options: Vec<(String, String)>,
    pub retry: RetryPolicy,
    pub max_bytes: u64,
}

pub struct ObjectFetcher {
    pub(super) options: ObjectOptions,
    shown: String,
    prefix: Path,
}

/// An error that says why `key` names no object.
pub fn check_key(key: &str) -> Result<(), SetupError> {
    match key.split('/').find(|part| matches!(*part, "" | "." | "..")) {
        None => Ok(()),
        Some(part) => Err(SetupError::Store {
            location: format!("key {key:?}"),
            reason: format!("a key's parts may not be empty, '.' or '..', found {part:?}"),
        }),
    }
}

impl ObjectFetcher {
    pub fn new(options: ObjectOptions) -> Result<Self, SetupError> {
        let shown = redact(&options.url).trim_end_matches('/').to_owned();
        let wrong = |reason: String| SetupError::Store {
            location: shown.clone(),
            reason,
        };
        let url = Url::parse(&options.url).map_err(|error| wrong(error.to_string()))?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err(wrong(
                "credentials go into options or the environment, not into the URL".to_owned(),
            ));
        }
        let prefix = ObjectStoreScheme::parse(&url)
            .map_err(|_| wrong("expected s3://, gs://, az:// or http(s)://".to_owned()))?
            .1;
        let fetcher = Self {
            prefix,
            shown: shown.clone(),
            options,
        };
        // What the crate refuses is known now, not at the first item.
        fetcher.connect()?;
        Ok(fetcher)
    }

    /// A store with connections of its own.
    pub(super) fn connect(&self) -> Result<Arc<dyn ObjectStore>, SetupError> {
        let wrong = |reason: String| SetupError::Store {
            location: self.shown.clone(),
            reason,
        };
        let url = Url::parse(&self.options.url).map_err(|error| wrong(error.to_string()))?;
        let (scheme, _) =
            ObjectStoreScheme::parse(&url).map_err(|error| wrong(error.to_string()))?;
        let policy = &self.options.retry;
        // The crate draws waits from [init, ...): it must not be empty.
        let first = policy.backoff.max(Duration::from_millis(1));
        let retry = RetryConfig {
            backoff: BackoffConfig {
                init_backoff: first,
                max_backoff: policy.max_backoff.max(first),
                base: 2.0,
            },
            max_retries: policy.retries as usize,
            retry_timeout: RETRIED_FOR,
        };
        let connector = Connector {
            timeout: policy.timeout,
            follows_elsewhere: scheme == ObjectStoreScheme::Http,
        };
        let key = |name: &String| wrong(format!("options has no key {name:?} for this store"));
        macro_rules! build {
            ($builder:expr, $key:ty) => {{
                let mut builder = $builder.with_retry(retry).with_http_connector(connector);
                for (name, value) in &self.options.options {
                    let known: $key = name.to_ascii_lowercase().parse().map_err(|_| key(name))?;
                    builder = builder.with_config(known, value);
                }
                let store = builder
                    .build()
                    .map_err(|error| wrong(innermost(&error).to_string()))?;
                Ok(Arc::new(store) as Arc<dyn ObjectStore>)
            }};
        }
        let place = self.options.url.as_str();
        match scheme {
            ObjectStoreScheme::AmazonS3 => build!(
                AmazonS3Builder::from_env().with_url(place),
                AmazonS3ConfigKey
            ),
            ObjectStoreScheme::GoogleCloudStorage => {
                build!(
                    GoogleCloudStorageBuilder::from_env().with_url(place),
                    GoogleConfigKey
                )
            }
            ObjectStoreScheme::MicrosoftAzure => {
                build!(
                    MicrosoftAzureBuilder::from_env().with_url(place),
                    AzureConfigKey
                )
            }
            ObjectStoreScheme::Http => build!(
                HttpBuilder::new().with_url(&url[..Position::BeforePath]),
                ClientConfigKey
            ),
            _ => Err(wrong(
                "expected s3://, gs://, az:// or http(s)://".to_owned(),
            )),
        }
    }

    /// What is shown of an object's place.
    fn place(&self, key: &str) -> String {
        format!("{}/{key}", self.shown)
    }

    pub(super) async fn fetch(
        &self,
        store: &dyn ObjectStore,
        key: &str,
    ) -> Result<Bytes, FetchError> {
        let place = self.place(key);
        let path = match self.prefix.as_ref() {
            "" => Path::parse(key),
            prefix => Path::parse(format!("{prefix}/{key}")),
        };
        let path = path.map_err(|error| {
            Attempt::fatal(Class::Refused, error.to_string()).into_error(&place, 0)
        })?;
        let trace = Trace::default();
        // Statuses and connections are the crate's to retry; a body that stays short is ours.
        let policy = RetryPolicy {
            timeout: None,
            ..self.options.retry.clone()
        };
        let mut budget = policy.start();
        loop {
            match budget.attempt(self.attempt(store, &path, &trace)).await {
                Ok(body) => return Ok(body),
                Err(failure) => {
                    let sent = trace.sent.load(Ordering::Relaxed);
                    budget
                        .pause(&place, failure)
                        .await
                        .map_err(|error| FetchError {
                            attempts: sent.max(error.attempts),
                            ..error
                        })?;
                }
            }
        }
    }

    async fn attempt(
        &self,
        store: &dyn ObjectStore,
        path: &Path,
        trace: &Trace,
    ) -> Result<Bytes, Attempt> {
        let max_bytes = self.options.max_bytes;
        let mut options = GetOptions::default();
        options.extensions.insert(trace.clone());
        let found = store
            .get_opts(path, options)
            .await
            .map_err(|error| failure(&error, trace))?;
        let size = found.meta.size;
        if size > max_bytes {
            return Err(Attempt::too_large(Some(size), max_bytes));
        }
        let mut data = Vec::new();
        let mut chunks = found.into_stream();
        while let Some(chunk) = chunks.next().await {
            let chunk = chunk.map_err(|error| Attempt {
                transient: true,
                ..failure(&error, trace)
            })?;
            if data.len() as u64 + chunk.len() as u64 > max_bytes {
                return Err(Attempt::too_large(None, max_bytes));
            }
            if data.is_empty() && chunk.len() as u64 == size {
                return Ok(chunk);
            }
            if data.is_empty() {
                data.reserve_exact(size.min(8 << 20) as usize);
            }
            data.extend_from_slice(&chunk);
        }
        if data.len() as u64 == size {
            return Ok(Bytes::from(data));
        }
        let reason = format!(
            "the body broke off: expected {size} bytes, found {}",
            data.len()
        );
        Err(Attempt::transient(Class::Transport, reason))
    }
}

/// What the requests of one item leave behind; the crate carries it along and keeps no such record.
#[derive(Clone, Debug, Default)]
struct Trace {
    sent: Arc<AtomicU32>,
    /// 0 when the last request had no answer.
    status: Arc<AtomicU32>,
}

fn failure(error: &object_store::Error, trace: &Trace) -> Attempt {
    let status = trace.status.load(Ordering::Relaxed) as u16;
    let kind = chain(error)
        .find_map(|error| error.downcast_ref::<HttpError>())
        .map(HttpError::kind);
    let class = match (error, status, kind) {
        (object_store::Error::NotFound { .. }, ..) | (_, 404 | 410, _) => Class::NotFound,
        (
            object_store::Error::PermissionDenied { .. }
            | object_store::Error::Unauthenticated { .. },
            ..,
        )
        | (_, 401 | 403, _) => Class::Permission,
        (_, 429, _) => Class::Throttled,
        (_, 408 | 500.., _) => Class::Server,
        (_, _, Some(HttpErrorKind::Timeout)) => Class::Timeout,
        (_, 0, _) | (_, _, Some(_)) => Class::Transport,
        _ => Class::Refused,
    };
    let reason = match class {
        Class::Timeout => "not finished within timeout=".to_owned(),
        _ if status >= 300 => format!("expected the object, found status {status}"),
        // The crate's own words hold URLs; those of its innermost cause do not.
        _ => format!("expected the object: {}", innermost(error)),
    };
    let failure = Attempt::fatal(class, reason);
    if status == 0 {
        failure
    } else {
        failure.with_status(status)
    }
}

fn innermost<'a>(error: &'a (dyn Error + 'static)) -> &'a (dyn Error + 'static) {
    chain(error).last().unwrap_or(error)
}

#[derive(Debug)]
struct Connector {
    timeout: Option<Duration>,
    follows_elsewhere: bool,
}

impl HttpConnector for Connector {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        let wrong = |source: Box<dyn Error + Send + Sync>| object_store::Error::Generic {
            store: "HTTP client",
            source,
        };
        let is_true = |key| {
            options
                .get_config_value(&key)
                .is_some_and(|value| value == "true")
        };
        let verify = if is_true(ClientConfigKey::AllowInvalidCertificates) {
            Verify::Nothing
        } else {
            Verify::System
        };
        let tls = tls::configuration(&verify).map_err(|error| wrong(error.into()))?;
        let mut builder = reqwest::Client::builder()
            .tls_backend_preconfigured(tls)
            .user_agent(concat!("headrace/", env!("CARGO_PKG_VERSION")))
            .retry(reqwest::retry::never())
            .referer(false)
            .https_only(!is_true(ClientConfigKey::AllowHttp));
        if !self.follows_elsewhere {
            // Signed headers, whatever their names, stay with the store.
            builder = builder.redirect(reqwest::redirect::Policy::custom(|attempt| {
                let stays = attempt
                    .previous()
                    .last()
                    .is_some_and(|from| redirect::same_origin(from, attempt.url()));
                if stays && attempt.previous().len() <= redirect::MOST as usize {
                    attempt.follow()
                } else {
                    attempt.stop()
                }
            }));
        }
        if let Some(headers) = options.get_default_headers() {
            builder = builder.default_headers(headers.clone());
        }
        if let Some(proxy) = options.get_config_value(&ClientConfigKey::ProxyUrl) {
            builder = builder.proxy(
                reqwest::Proxy::all(proxy).map_err(|error| wrong(error.without_url().into()))?,
            );
        }
        if let Some(limit) = self.timeout {
            builder = builder.timeout(limit);
        }
        let client = builder.build().map_err(|error| wrong(error.into()))?;
        Ok(HttpClient::new(Traced(client)))
    }
}

#[derive(Debug)]
struct Traced(reqwest::Client);

impl HttpService for Traced {
    fn call<'service, 'answer>(
        &'service self,
        request: HttpRequest,
    ) -> BoxFuture<'answer, Result<HttpResponse, HttpError>>
    where
        'service: 'answer,
        Self: 'answer,
    {
        let trace = request
            .extensions()
            .get::<Trace>()
            .cloned()
            .unwrap_or_default();
        Box::pin(async move {
            trace.sent.fetch_add(1, Ordering::Relaxed);
            trace.status.store(0, Ordering::Relaxed);
            let answer = self.0.call(request).await?;
            trace
                .status
                .store(answer.status().as_u16().into(), Ordering::Relaxed);
            Ok(answer)
        })
    }
}
