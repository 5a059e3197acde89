//! Bodies that come encoded though `identity` was asked for; what comes out is bounded.

use std::io::{self, Read};

use super::error::{Attempt, Class};

/// The encodings of `Content-Encoding`, in the order in which they were applied; `identity` is none.
pub(super) fn encodings<'a>(values: impl Iterator<Item = &'a str>) -> Vec<String> {
    values
        .flat_map(|value| value.split(','))
        .map(|name| name.trim().to_ascii_lowercase())
        .filter(|name| !name.is_empty() && name != "identity")
        .collect()
}

/// Undoes `encodings`, the last applied first. No step gives more than `max_bytes`.
pub(super) fn decode(
    body: &[u8],
    encodings: &[String],
    max_bytes: u64,
) -> Result<Vec<u8>, Attempt> {
    let mut current = body.to_vec();
    for name in encodings.iter().rev() {
        let mut next = Vec::new();
        let limit = max_bytes.saturating_add(1);
        step(name, &current, limit, &mut next).map_err(|error| {
            Attempt::fatal(
                Class::Integrity,
                format!("the body is not valid {name}: {error}"),
            )
        })?;
        if next.len() as u64 > max_bytes {
            return Err(Attempt::too_large(None, max_bytes));
        }
        current = next;
    }
    Ok(current)
}

fn step(name: &str, body: &[u8], limit: u64, out: &mut Vec<u8>) -> io::Result<usize> {
    match name {
        "gzip" | "x-gzip" => flate2::read::MultiGzDecoder::new(body)
            .take(limit)
            .read_to_end(out),
        // RFC 9110 means zlib by "deflate"; some servers send it without the wrapper.
        "deflate" => match flate2::read::ZlibDecoder::new(body)
            .take(limit)
            .read_to_end(out)
        {
            Err(_) => {
                out.clear();
                flate2::read::DeflateDecoder::new(body)
                    .take(limit)
                    .read_to_end(out)
            }
            done => done,
        },
        "zstd" => zstd::stream::read::Decoder::new(body)?
            .take(limit)
            .read_to_end(out),
        "br" => brotli_decompressor::Decompressor::new(body, 4096)
            .take(limit)
            .read_to_end(out),
        _ => Err(io::Error::other("the encoding is not known here")),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn gzip(data: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(data).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn encodings_are_undone_in_reverse() {
        let twice = zstd::encode_all(&gzip(b"body")[..], 1).unwrap();
        let names = encodings(["gzip, identity", "zstd"].into_iter());
        assert_eq!(decode(&twice, &names, 100).unwrap(), b"body");
    }

    #[test]
    fn what_comes_out_is_bounded() {
        let bomb = gzip(&vec![0; 1 << 20]);
        let names = ["gzip".to_owned()];
        assert_eq!(
            decode(&bomb, &names, 1 << 10).unwrap_err().class,
            Class::TooLarge
        );
        assert_eq!(decode(&bomb, &names, 1 << 20).unwrap().len(), 1 << 20);
    }

    #[test]
    fn damage_is_an_integrity_failure() {
        let whole = gzip(b"some body");
        for body in [&whole[..whole.len() - 1], b"plain"] {
            assert_eq!(
                decode(body, &["gzip".to_owned()], 100).unwrap_err().class,
                Class::Integrity
            );
        }
        assert_eq!(
            decode(b"x", &["rot13".to_owned()], 100).unwrap_err().class,
            Class::Integrity
        );
    }
}
