//! Locations made from a template and the values of an item, one at a time: no string is kept for each item.

use std::borrow::Cow;
use std::fmt::Write;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// What a URL's component may hold as it is: the unreserved characters of RFC 3986.
const COMPONENT: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// What a template makes; the rules for values differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Url,
    Path,
    Key,
}

#[derive(Clone, Debug, PartialEq)]
enum Part {
    Literal(String),
    Column(usize),
    Index,
}

#[derive(Clone, Debug)]
pub struct Template {
    kind: Kind,
    parts: Vec<Part>,
    names: Vec<String>,
}

/// A column's value for one item. Integers too large for 64 bits come as `Number`, in decimal.
pub enum Value<'a> {
    Int(i64),
    Unsigned(u64),
    Number(Cow<'a, str>),
    Text(Cow<'a, str>),
}

#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum TemplateError {
    #[error(
        "template {template:?}: {brace:?} at byte {at} has no partner; write {brace}{brace} for the character itself"
    )]
    Unbalanced {
        template: String,
        brace: char,
        at: usize,
    },
    #[error(
        "template {template:?}: the placeholder at byte {at} has no name; write {{{{}}}} for the characters themselves"
    )]
    Unnamed { template: String, at: usize },
    #[error("item {index}: column {column:?} is {value:?}, {reason}")]
    Value {
        index: u64,
        column: String,
        value: String,
        reason: &'static str,
    },
    #[error("item {index}: the part {part:?} of the {what} {reason}")]
    Part {
        index: u64,
        what: &'static str,
        part: String,
        reason: &'static str,
    },
}

impl Template {
    pub fn parse(template: &str, kind: Kind) -> Result<Self, TemplateError> {
        let unbalanced = |brace: char, at: usize| TemplateError::Unbalanced {
            template: template.to_owned(),
            brace,
            at,
        };
        let mut parts = Vec::new();
        let mut names: Vec<String> = Vec::new();
        let mut literal = String::new();
        let mut at = 0;
        while let Some(found) = template[at..].find(['{', '}']) {
            literal.push_str(&template[at..at + found]);
            at += found;
            let rest = &template[at..];
            if rest.starts_with("{{") || rest.starts_with("}}") {
                literal.push_str(&rest[..1]);
                at += 2;
                continue;
            }
            if rest.starts_with('}') {
                return Err(unbalanced('}', at));
            }
            let end = rest[1..].find(['{', '}']).map(|end| end + 1);
            let Some(end) = end.filter(|&end| rest.as_bytes()[end] == b'}') else {
                return Err(unbalanced('{', at));
            };
            let name = &rest[1..end];
            if name.is_empty() {
                return Err(TemplateError::Unnamed {
                    template: template.to_owned(),
                    at,
                });
            }
            if !literal.is_empty() {
                parts.push(Part::Literal(std::mem::take(&mut literal)));
            }
            parts.push(if name == "index" {
                Part::Index
            } else {
                let column = names
                    .iter()
                    .position(|known| known == name)
                    .unwrap_or_else(|| {
                        names.push(name.to_owned());
                        names.len() - 1
                    });
                Part::Column(column)
            });
            at += end + 1;
        }
        literal.push_str(&template[at..]);
        if !literal.is_empty() {
            parts.push(Part::Literal(literal));
        }
        Ok(Self { kind, parts, names })
    }

    /// The columns that it uses, in the order of their numbers.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Whether a value stands where it decides about more than the path: before the first slash of a URL's path.
    pub fn values_shape_the_host(&self) -> bool {
        if self.kind != Kind::Url {
            return false;
        }
        let mut before = String::new();
        for part in &self.parts {
            match part {
                Part::Literal(literal) => before.push_str(literal),
                _ => {
                    let host = before.split_once("://").map(|(_, rest)| rest);
                    return !host.is_some_and(|rest| rest.contains(['/', '?', '#']));
                }
            }
        }
        false
    }

    /// The location of item `index`; `value` gives a column's value.
    pub fn render<'a>(
        &self,
        index: u64,
        mut value: impl FnMut(usize) -> Value<'a>,
    ) -> Result<String, TemplateError> {
        let mut out = String::new();
        // Where text from values ended up: these parts are checked once everything is in place.
        let mut filled = Vec::new();
        for part in &self.parts {
            let start = out.len();
            match part {
                Part::Literal(literal) => {
                    out.push_str(literal);
                    continue;
                }
                Part::Index => write!(out, "{index}"),
                Part::Column(column) => match value(*column) {
                    Value::Int(number) => write!(out, "{number}"),
                    Value::Unsigned(number) => write!(out, "{number}"),
                    Value::Number(number) => out.write_str(&number),
                    Value::Text(text) => {
                        self.check(index, *column, &text)?;
                        filled.push(start);
                        match self.kind {
                            Kind::Url => write!(out, "{}", utf8_percent_encode(&text, COMPONENT)),
                            Kind::Path | Kind::Key => out.write_str(&text),
                        }
                    }
                },
            }
            .expect("writing to a string succeeds");
        }
        for start in filled {
            self.check_part(index, &out, start)?;
        }
        Ok(out)
    }

    fn check(&self, index: u64, column: usize, text: &str) -> Result<(), TemplateError> {
        let reason = match (self.kind, text) {
            (_, "." | "..") => "which would lead out of the template's directory",
            (Kind::Path, text) if text.contains(['/', '\\', '\0']) => {
                "and may hold no '/', '\\' or NUL"
            }
            (Kind::Key, text) if text.contains('/') => "and may hold no '/'",
            _ => return Ok(()),
        };
        Err(TemplateError::Value {
            index,
            column: self.names[column].clone(),
            value: text.to_owned(),
            reason,
        })
    }

    /// Values and literals together may spell what a value alone may not.
    fn check_part(&self, index: u64, out: &str, start: usize) -> Result<(), TemplateError> {
        let slashes: &[char] = match self.kind {
            // A URL's parser takes a backslash for a slash.
            Kind::Url => &['/', '\\', '?', '#'],
            Kind::Path | Kind::Key => &['/'],
        };
        let from = out[..start].rfind(slashes).map_or(0, |slash| slash + 1);
        let to = out[start..]
            .find(slashes)
            .map_or(out.len(), |slash| start + slash);
        let part = &out[from..to];
        let plain = match self.kind {
            // Parsers of URLs take "%2e" for a dot in these parts.
            Kind::Url if part.len() <= 6 => percent_decode_str(part).decode_utf8_lossy(),
            _ => Cow::Borrowed(part),
        };
        let reason = match plain.as_ref() {
            "." | ".." => "would lead out of the template's directory",
            "" if self.kind == Kind::Key => "is empty",
            _ => return Ok(()),
        };
        Err(TemplateError::Part {
            index,
            what: match self.kind {
                Kind::Url => "URL",
                Kind::Path => "path",
                Kind::Key => "key",
            },
            part: part.to_owned(),
            reason,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(kind: Kind, template: &str, values: &[&str]) -> Result<String, TemplateError> {
        let template = Template::parse(template, kind)?;
        template.render(7, |column| Value::Text(values[column].into()))
    }

    #[test]
    fn placeholders_braces_and_repeats() {
        let template = Template::parse("{{{a}}}-{b}{a}{index}{{}}", Kind::Path).unwrap();
        assert_eq!(template.names(), ["a", "b"]);
        let made = template
            .render(7, |column| Value::Int([i64::MIN, -1][column]))
            .unwrap();
        assert_eq!(made, "{-9223372036854775808}--1-92233720368547758087{}");
        let largest = template.render(7, |_| Value::Unsigned(u64::MAX)).unwrap();
        assert!(largest.starts_with("{18446744073709551615}"));
        for wrong in ["{", "}", "{a", "a}", "{a{b}}", "{}", "{{}", "{a}}"] {
            assert!(Template::parse(wrong, Kind::Path).is_err(), "{wrong}");
        }
    }

    #[test]
    fn urls_take_components() {
        let url = |value| text(Kind::Url, "https://h/{a}?q={a}", &[value]).unwrap();
        assert_eq!(
            url("image 1.tif"),
            "https://h/image%201.tif?q=image%201.tif"
        );
        assert_eq!(
            url("a/b\0&?#é%2e"),
            "https://h/a%2Fb%00%26%3F%23%C3%A9%252e?q=a%2Fb%00%26%3F%23%C3%A9%252e"
        );
        assert_eq!(url("%2e%2e"), "https://h/%252e%252e?q=%252e%252e");
    }

    #[test]
    fn no_value_leaves_the_directory() {
        for kind in [Kind::Url, Kind::Path, Kind::Key] {
            for value in [".", ".."] {
                assert!(text(kind, "https://h/{a}/x", &[value]).is_err());
            }
            assert!(text(kind, "https://h/.{a}/x", &[""]).is_err());
            assert!(text(kind, "https://h/{a}{b}.", &["", ""]).is_err());
            assert!(text(kind, "https://h/...{a}", &[""]).is_ok());
        }
        assert!(text(Kind::Url, "https://h/%2e{a}%2E/", &[""]).is_err());
        for value in ["a/b", "a\\b", "a\0b"] {
            assert!(text(Kind::Path, "/d/{a}", &[value]).is_err());
        }
        assert_eq!(
            text(Kind::Path, "/d/{a}", &["%2e%2e"]).unwrap(),
            "/d/%2e%2e"
        );
        assert!(text(Kind::Key, "d/{a}", &["a/b"]).is_err());
        assert!(text(Kind::Key, "d/{a}/e", &[""]).is_err());
        assert_eq!(text(Kind::Key, "d/{a}x", &[""]).unwrap(), "d/x");
    }

    #[test]
    fn hosts_that_values_shape_are_told_apart() {
        for (template, shaped) in [
            ("https://{a}/x", true),
            ("https://h:{a}/x", true),
            ("{a}", true),
            ("https://h/{a}", false),
            ("https://h?{a}", false),
            ("https://h/", false),
        ] {
            assert_eq!(
                Template::parse(template, Kind::Url)
                    .unwrap()
                    .values_shape_the_host(),
                shaped
            );
        }
    }
}
