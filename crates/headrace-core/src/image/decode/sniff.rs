//! The format, from the first bytes and never from a name.

use std::fmt;

use super::DecodeError;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    Png,
    Jpeg,
    WebP,
    Tiff,
    Bmp,
    Gif,
    Pnm,
}

impl Format {
    pub const NAMES: &'static str = "PNG, JPEG, WebP, TIFF, BMP, GIF or PNM";

    pub const fn name(self) -> &'static str {
        match self {
            Format::Png => "PNG",
            Format::Jpeg => "JPEG",
            Format::WebP => "WebP",
            Format::Tiff => "TIFF",
            Format::Bmp => "BMP",
            Format::Gif => "GIF",
            Format::Pnm => "PNM",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// Which format the bytes begin as.
pub fn format(data: &[u8]) -> Result<Format, DecodeError> {
    let found = match data {
        [] => {
            return Err(DecodeError::Unknown {
                found: "no bytes at all".into(),
            });
        }
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => return Ok(Format::Png),
        [0xff, 0xd8, 0xff, ..] => return Ok(Format::Jpeg),
        [
            b'R',
            b'I',
            b'F',
            b'F',
            _,
            _,
            _,
            _,
            b'W',
            b'E',
            b'B',
            b'P',
            ..,
        ] => return Ok(Format::WebP),
        [b'I', b'I', 42, 0, ..] | [b'M', b'M', 0, 42, ..] => return Ok(Format::Tiff),
        [b'I', b'I', 43, 0, ..] | [b'M', b'M', 0, 43, ..] => return Ok(Format::Tiff),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => return Ok(Format::Gif),
        [b'B', b'M', ..] => return Ok(Format::Bmp),
        [
            b'P',
            b'1'..=b'6',
            b' ' | b'\t' | b'\r' | b'\n' | 0x0b | 0x0c | b'#',
            ..,
        ] => return Ok(Format::Pnm),
        [0x1f, 0x8b, ..] => "a gzip file; decompress it first",
        [b'P', b'K', 3, 4, ..] => "a zip file",
        [b'%', b'P', b'D', b'F', ..] => "a PDF document",
        [
            _,
            _,
            _,
            _,
            b'f',
            b't',
            b'y',
            b'p',
            b'a',
            b'v',
            b'i',
            b'f' | b's',
            ..,
        ] => "an AVIF image, which is not supported",
        [_, _, _, _, b'f', b't', b'y', b'p', ..] => {
            "a HEIF image or a video, which are not supported"
        }
        _ if looks_like_markup(data) => "HTML or XML text; perhaps a server's error page",
        _ => {
            let start: Vec<String> = data
                .iter()
                .take(8)
                .map(|byte| format!("{byte:02x}"))
                .collect();
            return Err(DecodeError::Unknown {
                found: format!("{} bytes that begin with {}", data.len(), start.join(" ")),
            });
        }
    };
    Err(DecodeError::Unknown {
        found: found.into(),
    })
}

fn looks_like_markup(data: &[u8]) -> bool {
    let text = data
        .strip_prefix(b"\xef\xbb\xbf")
        .unwrap_or(data)
        .trim_ascii_start();
    matches!(text, [b'<', b'!' | b'?' | b'a'..=b'z' | b'A'..=b'Z', ..])
}
