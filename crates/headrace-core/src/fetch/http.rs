//! Items over HTTP: one GET each, redirects followed by hand so that no header leaves its origin.

use std::error::Error;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use reqwest::header::{
    ACCEPT_ENCODING, AUTHORIZATION, HeaderMap, HeaderName, HeaderValue, IF_RANGE, LOCATION, RANGE,
    RETRY_AFTER,
};
use reqwest::{Client, Response};
use url::Url;

use super::body::{self, Progress};
use super::error::{Attempt, Class, FetchError, SetupError, chain};
use super::redaction::redact;
use super::redirect;
use super::retry::{self, RetryPolicy};
use super::tls::{self, Verify};

/// Everything that the requests of one dataset share.
pub struct HttpOptions {
    pub headers: Vec<(String, String)>,
    pub connect_timeout: Option<Duration>,
    pub retry: RetryPolicy,
    pub max_bytes: u64,
    pub verify: Verify,
}

pub struct HttpFetcher {
    headers: HeaderMap,
    tls: rustls::ClientConfig,
    pub(super) options: HttpOptions,
}

impl HttpFetcher {
    pub fn new(options: HttpOptions) -> Result<Self, SetupError> {
        let mut headers = HeaderMap::new();
        for (name, value) in &options.headers {
            let wrong = |reason: &str| SetupError::Header {
                name: name.clone(),
                reason: reason.to_owned(),
            };
            let parsed = HeaderName::from_bytes(name.as_bytes())
                .map_err(|_| wrong("it is no header name"))?;
            if parsed == RANGE || parsed == IF_RANGE {
                return Err(wrong("an item is always a whole body"));
            }
            let mut content = HeaderValue::from_bytes(value.as_bytes())
                .map_err(|_| wrong("its value has control characters"))?;
            content.set_sensitive(true);
            headers.append(parsed, content);
        }
        if !headers.contains_key(ACCEPT_ENCODING) {
            headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        }
        let tls = tls::configuration(&options.verify)?;
        Ok(Self {
            headers,
            tls,
            options,
        })
    }

    /// A client with connections of its own.
    pub(super) fn connect(&self) -> Result<Client, SetupError> {
        let mut builder = Client::builder()
            .tls_backend_preconfigured(self.tls.clone())
            .user_agent(concat!("headrace/", env!("CARGO_PKG_VERSION")))
            .redirect(reqwest::redirect::Policy::none())
            .retry(reqwest::retry::never())
            .referer(false)
            .http2_adaptive_window(true);
        if let Some(limit) = self.options.connect_timeout {
            builder = builder.connect_timeout(limit);
        }
        builder.build().map_err(|error| SetupError::Client {
            reason: innermost(&error),
        })
    }

    pub(super) async fn fetch(&self, client: &Client, location: &str) -> Result<Bytes, FetchError> {
        let target = Target::parse(location)
            .map_err(|reason| Attempt::fatal(Class::Refused, reason).into_error(location, 0))?;
        let mut progress = Progress::default();
        let mut budget = self.options.retry.start();
        loop {
            match budget
                .attempt(self.attempt(client, &target, &mut progress))
                .await
            {
                Ok(body) => return Ok(body),
                Err(failure) => budget.pause(location, failure).await?,
            }
        }
    }

    async fn attempt(
        &self,
        client: &Client,
        target: &Target,
        progress: &mut Progress,
    ) -> Result<Bytes, Attempt> {
        let mut url = target.url.clone();
        let mut trusted = true;
        for _ in 0..=redirect::MOST {
            let response = self
                .send(client, target, url.clone(), trusted, progress)
                .await?;
            let status = response.status();
            if matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308) {
                let location = response.headers().get(LOCATION).map(HeaderValue::as_bytes);
                url = redirect::target(&url, location, status.as_u16())?;
                // Once elsewhere, a way back is the other origin's choice: headers stay behind for good.
                trusted = trusted && redirect::same_origin(&target.url, &url);
            } else if status.is_success() {
                return body::read(response, progress, self.options.max_bytes).await;
            } else {
                if status.as_u16() == 416 && progress.resume().is_some() {
                    *progress = Progress::default();
                    let reason = "the range was refused; starting over";
                    return Err(Attempt::transient(Class::Transport, reason).with_status(416));
                }
                return Err(refusal(&response));
            }
        }
        let reason = format!("more than {} redirects", redirect::MOST);
        Err(Attempt::fatal(Class::Transport, reason))
    }

    async fn send(
        &self,
        client: &Client,
        target: &Target,
        url: Url,
        trusted: bool,
        progress: &Progress,
    ) -> Result<Response, Attempt> {
        let mut request = client.get(url);
        if trusted {
            request = request.headers(self.headers.clone());
            if let Some((user, password)) = &target.user
                && !self.headers.contains_key(AUTHORIZATION)
            {
                request = request.basic_auth(user, Some(password));
            }
        } else {
            request = request.header(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        }
        if let Some((from, etag)) = progress.resume() {
            request = request
                .header(RANGE, format!("bytes={from}-"))
                .header(IF_RANGE, etag);
        }
        request.send().await.map_err(|error| transport(&error))
    }
}

/// An error that says why `location` is no URL that can be fetched.
pub fn check_url(location: &str) -> Result<(), SetupError> {
    Target::parse(location)
        .map(drop)
        .map_err(|reason| SetupError::Url {
            location: redact(location),
            reason,
        })
}

/// A URL whose user and password were taken out.
struct Target {
    url: Url,
    user: Option<(String, String)>,
}

impl Target {
    fn parse(location: &str) -> Result<Self, String> {
        let mut url = Url::parse(location).map_err(|error| error.to_string())?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err("its scheme is another".to_owned());
        }
        let plain = |text: &str| {
            percent_encoding::percent_decode_str(text)
                .decode_utf8_lossy()
                .into_owned()
        };
        let user = (!url.username().is_empty() || url.password().is_some()).then(|| {
            (
                plain(url.username()),
                plain(url.password().unwrap_or_default()),
            )
        });
        // Neither can fail: an http URL has a host.
        let _ = url.set_username("");
        let _ = url.set_password(None);
        url.set_fragment(None);
        Ok(Self { url, user })
    }
}

fn refusal(response: &Response) -> Attempt {
    let status = response.status().as_u16();
    let (class, transient) = match status {
        404 | 410 => (Class::NotFound, false),
        401 | 403 => (Class::Permission, false),
        429 => (Class::Throttled, true),
        408 | 500 | 502 | 503 | 504 => (Class::Server, true),
        505.. | 501 => (Class::Server, false),
        _ => (Class::Refused, false),
    };
    let retry_after = response
        .headers()
        .get(RETRY_AFTER)
        .and_then(|value| value.to_str().ok());
    Attempt {
        class,
        status: Some(status),
        reason: format!("expected status 200, found {}", response.status()),
        transient,
        retry_after: retry_after.and_then(|value| retry::retry_after(value, SystemTime::now())),
    }
}

pub(super) fn transport(error: &reqwest::Error) -> Attempt {
    let reason = innermost(error);
    if error.is_timeout() {
        return Attempt::transient(Class::Timeout, format!("no connection in time: {reason}"));
    }
    let what = if error.is_connect() {
        "no connection"
    } else {
        "the exchange failed"
    };
    Attempt {
        // Trying again does not mend a certificate.
        transient: !(error.is_builder() || chain(error).any(is_certificate)),
        ..Attempt::transient(Class::Transport, format!("{what}: {reason}"))
    }
}

fn is_certificate(error: &(dyn Error + 'static)) -> bool {
    error.downcast_ref::<rustls::Error>().is_some_and(|error| {
        matches!(
            error,
            rustls::Error::InvalidCertificate(_) | rustls::Error::NoCertificatesPresented
        )
    })
}

/// The innermost cause: the outer ones repeat URLs.
fn innermost(error: &reqwest::Error) -> String {
    match chain(error).last() {
        Some(cause) if error.source().is_some() => cause.to_string(),
        _ => "no details".to_owned(),
    }
}
