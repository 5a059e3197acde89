//! A body, whole or not at all: bounded while it is read, and carried on by a range where the server lets us.

use bytes::Bytes;
use reqwest::Response;
use reqwest::header::{CONTENT_ENCODING, CONTENT_RANGE, ETAG, HeaderMap, HeaderValue};

use super::decoding;
use super::error::{Attempt, Class};

/// Bytes set aside on the word of a server; what is longer grows as it comes.
const MOST_RESERVED: u64 = 8 << 20;
/// Bodies that are longer are decoded on a thread that may be kept busy.
const DECODED_HERE: usize = 64 << 10;

/// What earlier attempts at one item left: the body's beginning, and what proves that a range carries it on.
#[derive(Default)]
pub(super) struct Progress {
    data: Vec<u8>,
    etag: Option<HeaderValue>,
    total: Option<u64>,
}

impl Progress {
    /// Where to carry on, and the strong `ETag` that has to be unchanged (RFC 9110, section 13.1.5).
    pub fn resume(&self) -> Option<(u64, &HeaderValue)> {
        let etag = self.etag.as_ref().filter(|_| !self.data.is_empty())?;
        Some((self.data.len() as u64, etag))
    }

    /// Takes in the head of an answer; false when it is a part that does not carry on what is here.
    fn accept(&mut self, response: &Response) -> bool {
        let headers = response.headers();
        if response.status().as_u16() != 206 {
            let plain = !headers.contains_key(CONTENT_ENCODING);
            *self = Self {
                data: Vec::new(),
                etag: headers
                    .get(ETAG)
                    .filter(|etag| plain && is_strong(etag))
                    .cloned(),
                total: response.content_length(),
            };
            return true;
        }
        let fits = self.resume().is_some_and(|(from, etag)| {
            content_range(headers).is_some_and(|(first, last, total)| {
                first == from
                    && last.checked_add(1) == Some(total)
                    && self.total.is_none_or(|known| known == total)
                    && headers.get(ETAG).is_none_or(|found| found == etag)
                    && !headers.contains_key(CONTENT_ENCODING)
            })
        });
        if fits {
            self.total = content_range(headers).map(|(_, _, total)| total);
        } else {
            *self = Self::default();
        }
        fits
    }
}

/// Reads the body of a 2xx answer. What was read of a body that broke off stays in `progress`.
pub(super) async fn read(
    mut response: Response,
    progress: &mut Progress,
    max_bytes: u64,
) -> Result<Bytes, Attempt> {
    let status = response.status().as_u16();
    if !progress.accept(&response) {
        let reason = "a partial answer that does not carry on the body; starting over";
        return Err(Attempt::transient(Class::Transport, reason).with_status(status));
    }
    let values = response.headers().get_all(CONTENT_ENCODING);
    let encodings = decoding::encodings(values.iter().filter_map(|value| value.to_str().ok()));
    // Encoding makes incompressible data longer by far less than this.
    let limit = if encodings.is_empty() {
        max_bytes
    } else {
        max_bytes.saturating_add(max_bytes / 256 + (64 << 10))
    };
    if progress.total.is_some_and(|total| total > limit) {
        return Err(Attempt::too_large(progress.total, max_bytes).with_status(status));
    }
    let mut whole = None;
    loop {
        let chunk = match response.chunk().await {
            Ok(Some(chunk)) => chunk,
            Ok(None) => break,
            Err(error) => {
                let failure = super::http::transport(&error);
                return Err(short(progress, &failure.reason).with_status(status));
            }
        };
        if progress.data.is_empty() && progress.total == Some(chunk.len() as u64) {
            whole = Some(chunk);
            continue;
        }
        if progress.data.len() as u64 + chunk.len() as u64 > limit {
            return Err(Attempt::too_large(None, max_bytes).with_status(status));
        }
        if progress.data.is_empty() {
            let size = progress.total.unwrap_or_default().min(MOST_RESERVED);
            progress.data.reserve_exact(size as usize);
        }
        progress.data.extend_from_slice(&chunk);
    }
    let body = match whole {
        Some(whole) => whole,
        None if progress
            .total
            .is_some_and(|total| total != progress.data.len() as u64) =>
        {
            return Err(short(progress, "the connection ended").with_status(status));
        }
        None => Bytes::from(std::mem::take(progress).data),
    };
    if encodings.is_empty() {
        return Ok(body);
    }
    let decoded = if body.len() <= DECODED_HERE {
        decoding::decode(&body, &encodings, max_bytes)
    } else {
        tokio::task::spawn_blocking(move || decoding::decode(&body, &encodings, max_bytes))
            .await
            .unwrap_or_else(|error| Err(Attempt::fatal(Class::Integrity, error.to_string())))
    };
    decoded
        .map(Bytes::from)
        .map_err(|failure| failure.with_status(status))
}

fn short(progress: &Progress, why: &str) -> Attempt {
    let expected = progress
        .total
        .map_or("an unknown number of".to_owned(), |total| total.to_string());
    let found = progress.data.len();
    Attempt::transient(
        Class::Transport,
        format!("the body broke off: expected {expected} bytes, found {found}: {why}"),
    )
}

fn is_strong(etag: &HeaderValue) -> bool {
    let etag = etag.as_bytes();
    etag.len() > 2 && etag.starts_with(b"\"") && etag.ends_with(b"\"")
}

/// First byte, last byte and total of `Content-Range: bytes 0-9/10`.
fn content_range(headers: &HeaderMap) -> Option<(u64, u64, u64)> {
    let (range, total) = headers
        .get(CONTENT_RANGE)?
        .to_str()
        .ok()?
        .trim()
        .strip_prefix("bytes ")?
        .split_once('/')?;
    let (first, last) = range.split_once('-')?;
    Some((
        first.trim().parse().ok()?,
        last.trim().parse().ok()?,
        total.trim().parse().ok()?,
    ))
}
