//! The msgpack format, read one token at a time and without trust.
//!
//! ```text
//! 00-7f  positive fixint          c0     nil              d0-d3  int 8, 16, 32, 64
//! 80-8f  fixmap                   c1     reserved         d4-d8  fixext 1, 2, 4, 8, 16
//! 90-9f  fixarray                 c2 c3  false, true      d9-db  str 8, 16, 32
//! a0-bf  fixstr                   c4-c6  bin 8, 16, 32    dc dd  array 16, 32
//!                                 c7-c9  ext 8, 16, 32    de df  map 16, 32
//! e0-ff  negative fixint          ca cb  float 32, 64
//!                                 cc-cf  uint 8, 16, 32, 64
//! ```
//!
//! Numbers are big-endian. Nothing is allocated: strings and bytes are slices of the input, and the count of an array or
//! a map is refused when fewer bytes are left than it has elements, so that a consumer may reserve room for what is
//! announced. Ext types are refused: no sample holds one.
//!
//! Source: <https://github.com/msgpack/msgpack/blob/master/spec.md>

use thiserror::Error;

/// Arrays and maps inside one another; one level of a consumer's recursion each.
pub const DEPTH_LIMIT: usize = 256;

/// Why bytes are not the msgpack of a sample; `at` counts bytes from the beginning.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum MsgpackError {
    #[error("cut at byte {at}: {what} needs {needed} more bytes, {left} are left")]
    Cut {
        at: usize,
        what: &'static str,
        needed: usize,
        left: usize,
    },
    #[error(
        "{what} at byte {at} announces {count} elements, and the {left} bytes left cannot hold them"
    )]
    Count {
        at: usize,
        what: &'static str,
        count: u32,
        left: usize,
    },
    #[error("ext type {code} at byte {at}: ext types are not read, expected plain msgpack")]
    Ext { at: usize, code: i8 },
    #[error("byte 0xc1 at byte {at} begins no msgpack value")]
    Reserved { at: usize },
    #[error("the string at byte {at} is not UTF-8")]
    Utf8 { at: usize },
    #[error("nested deeper than {DEPTH_LIMIT} levels at byte {at}")]
    Depth { at: usize },
    #[error("the value ends at byte {at}, and {left} bytes follow it")]
    Trailing { at: usize, left: usize },
}

/// One value, or the beginning of an array (its elements follow) or of a map (keys and values follow in turn).
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Token<'a> {
    Nil,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Float(f64),
    Str(&'a str),
    Bin(&'a [u8]),
    Array(u32),
    Map(u32),
}

/// A cursor over msgpack.
#[derive(Debug, Clone)]
pub struct Reader<'a> {
    data: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    pub fn new(data: &'a [u8]) -> Self {
        Self { data, at: 0 }
    }

    /// Where the next token begins.
    pub fn position(&self) -> usize {
        self.at
    }

    /// The next token.
    #[inline]
    pub fn token(&mut self) -> Result<Token<'a>, MsgpackError> {
        let begin = self.at;
        let [head] = self.fixed("a value")?;
        Ok(match head {
            0x00..=0x7f => Token::Uint(u64::from(head)),
            0x80..=0x8f => self.map(begin, u32::from(head & 0x0f))?,
            0x90..=0x9f => self.array(begin, u32::from(head & 0x0f))?,
            0xa0..=0xbf => self.string(begin, u32::from(head & 0x1f))?,
            0xc0 => Token::Nil,
            0xc1 => return Err(MsgpackError::Reserved { at: begin }),
            0xc2 => Token::Bool(false),
            0xc3 => Token::Bool(true),
            0xc4..=0xc6 => {
                let size = self.size(head - 0xc4, "a bin's size")?;
                Token::Bin(self.slice(size as usize, "a bin")?)
            }
            0xc7..=0xc9 => {
                self.size(head - 0xc7, "an ext's size")?;
                return Err(self.ext(begin)?);
            }
            0xca => Token::Float(f64::from(f32::from_be_bytes(self.fixed("a float")?))),
            0xcb => Token::Float(f64::from_be_bytes(self.fixed("a float")?)),
            0xcc => Token::Uint(u64::from(u8::from_be_bytes(self.fixed("an integer")?))),
            0xcd => Token::Uint(u64::from(u16::from_be_bytes(self.fixed("an integer")?))),
            0xce => Token::Uint(u64::from(u32::from_be_bytes(self.fixed("an integer")?))),
            0xcf => Token::Uint(u64::from_be_bytes(self.fixed("an integer")?)),
            0xd0 => Token::Int(i64::from(i8::from_be_bytes(self.fixed("an integer")?))),
            0xd1 => Token::Int(i64::from(i16::from_be_bytes(self.fixed("an integer")?))),
            0xd2 => Token::Int(i64::from(i32::from_be_bytes(self.fixed("an integer")?))),
            0xd3 => Token::Int(i64::from_be_bytes(self.fixed("an integer")?)),
            0xd4..=0xd8 => return Err(self.ext(begin)?),
            0xd9..=0xdb => {
                let size = self.size(head - 0xd9, "a string's size")?;
                self.string(begin, size)?
            }
            0xdc | 0xdd => {
                let count = self.size(head - 0xdb, "an array's count")?;
                self.array(begin, count)?
            }
            0xde | 0xdf => {
                let count = self.size(head - 0xdd, "a map's count")?;
                self.map(begin, count)?
            }
            0xe0..=0xff => Token::Int(i64::from(head as i8)),
        })
    }

    /// Passes over one whole value, however deep, in constant memory.
    pub fn skip(&mut self) -> Result<(), MsgpackError> {
        // Each element takes at least one byte of the input, so the sum stays within twice its length.
        let mut pending: u64 = 1;
        while pending > 0 {
            pending -= 1;
            match self.token()? {
                Token::Array(count) => pending += u64::from(count),
                Token::Map(count) => pending += 2 * u64::from(count),
                _ => {}
            }
        }
        Ok(())
    }

    /// Refuses bytes after the value.
    pub fn end(&self) -> Result<(), MsgpackError> {
        match self.data.len() - self.at {
            0 => Ok(()),
            left => Err(MsgpackError::Trailing { at: self.at, left }),
        }
    }

    fn slice(&mut self, size: usize, what: &'static str) -> Result<&'a [u8], MsgpackError> {
        let rest = &self.data[self.at..];
        let Some(slice) = rest.get(..size) else {
            return Err(MsgpackError::Cut {
                at: self.at,
                what,
                needed: size,
                left: rest.len(),
            });
        };
        self.at += size;
        Ok(slice)
    }

    #[inline]
    fn fixed<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N], MsgpackError> {
        let slice = self.slice(N, what)?;
        let mut out = [0; N];
        out.copy_from_slice(slice);
        Ok(out)
    }

    /// A size in 1, 2 or 4 bytes, as `width` is 0, 1 or 2.
    fn size(&mut self, width: u8, what: &'static str) -> Result<u32, MsgpackError> {
        Ok(match width {
            0 => u32::from(u8::from_be_bytes(self.fixed(what)?)),
            1 => u32::from(u16::from_be_bytes(self.fixed(what)?)),
            _ => u32::from_be_bytes(self.fixed(what)?),
        })
    }

    fn string(&mut self, begin: usize, size: u32) -> Result<Token<'a>, MsgpackError> {
        let bytes = self.slice(size as usize, "a string")?;
        std::str::from_utf8(bytes)
            .map(Token::Str)
            .map_err(|_| MsgpackError::Utf8 { at: begin })
    }

    fn array(&self, at: usize, count: u32) -> Result<Token<'a>, MsgpackError> {
        self.announced(at, "an array", count, u64::from(count))?;
        Ok(Token::Array(count))
    }

    fn map(&self, at: usize, count: u32) -> Result<Token<'a>, MsgpackError> {
        self.announced(at, "a map", count, 2 * u64::from(count))?;
        Ok(Token::Map(count))
    }

    fn announced(
        &self,
        at: usize,
        what: &'static str,
        count: u32,
        least: u64,
    ) -> Result<(), MsgpackError> {
        let left = self.data.len() - self.at;
        if least > left as u64 {
            return Err(MsgpackError::Count {
                at,
                what,
                count,
                left,
            });
        }
        Ok(())
    }

    fn ext(&mut self, at: usize) -> Result<MsgpackError, MsgpackError> {
        let code = i8::from_be_bytes(self.fixed("an ext's type")?);
        Ok(MsgpackError::Ext { at, code })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(data: &[u8]) -> Result<Vec<Token<'_>>, MsgpackError> {
        let mut reader = Reader::new(data);
        let mut out = Vec::new();
        while reader.end().is_err() {
            out.push(reader.token()?);
        }
        Ok(out)
    }

    #[test]
    fn every_first_byte_is_read_or_refused_and_none_panics() {
        for head in 0..=u8::MAX {
            for size in 0..20 {
                let mut data = vec![head];
                data.resize(1 + size, 0x01);
                let _ = tokens(&data);
                let _ = Reader::new(&data).skip();
            }
        }
    }

    #[test]
    fn integers_at_the_edges_of_each_width() {
        assert_eq!(tokens(&[0x7f]), Ok(vec![Token::Uint(127)]));
        assert_eq!(tokens(&[0xe0]), Ok(vec![Token::Int(-32)]));
        assert_eq!(
            tokens(&[0xcf, 255, 255, 255, 255, 255, 255, 255, 255]),
            Ok(vec![Token::Uint(u64::MAX)])
        );
        assert_eq!(
            tokens(&[0xd3, 0x80, 0, 0, 0, 0, 0, 0, 0]),
            Ok(vec![Token::Int(i64::MIN)])
        );
    }

    #[test]
    fn a_map_of_two_to_the_32_entries_is_refused_at_once() {
        assert_eq!(
            tokens(&[0xdf, 0xff, 0xff, 0xff, 0xff, 0x01]),
            Err(MsgpackError::Count {
                at: 0,
                what: "a map",
                count: u32::MAX,
                left: 1
            })
        );
    }

    #[test]
    fn ext_types_are_refused_by_their_code() {
        assert_eq!(
            tokens(&[0xd4, 0xff, 0x00]),
            Err(MsgpackError::Ext { at: 0, code: -1 })
        );
        assert_eq!(
            tokens(&[0xc0, 0xc7, 0x01, 0x05, 0x00]),
            Err(MsgpackError::Ext { at: 1, code: 5 })
        );
    }

    #[test]
    fn a_cut_says_where() {
        assert_eq!(
            tokens(&[0xc4, 0x05, 1, 2]),
            Err(MsgpackError::Cut {
                at: 2,
                what: "a bin",
                needed: 5,
                left: 2
            })
        );
    }

    #[test]
    fn skipping_goes_to_any_depth() {
        let mut data = vec![0x91; 1_000_000];
        data.push(0xc0);
        let mut reader = Reader::new(&data);
        assert_eq!(reader.skip(), Ok(()));
        assert_eq!(reader.end(), Ok(()));
    }
}
