//! URLs as they may be shown: without query, fragment, user and password.

/// What is left of `location` when everything that could be a secret is cut.
///
/// It works on the text, so that a URL which does not parse is cut as well. A path is given back as it is.
pub fn redact(location: &str) -> String {
    let Some((scheme, rest)) = location.split_once("://") else {
        return location.to_owned();
    };
    let rest = rest.split(['?', '#']).next().unwrap_or_default();
    // URL parsers take a backslash for a slash in http(s) URLs.
    let end = rest.find(['/', '\\']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let host = authority.rsplit('@').next().unwrap_or_default();
    // An "@" in what looks like a path may belong to a password with a slash in it, which some tools accept.
    if path.contains('@') && !authority.contains('@') && authority.contains(':') {
        let port = authority.rsplit(':').next().unwrap_or_default();
        if port.is_empty() || !port.bytes().all(|byte| byte.is_ascii_digit()) {
            return format!("{scheme}://[not shown]");
        }
    }
    format!("{scheme}://{host}{path}")
}

#[cfg(test)]
mod tests {
    use super::redact;

    #[test]
    fn secrets_are_cut() {
        for (given, shown) in [
            ("https://u:p@h/a?X-Sig=1#f", "https://h/a"),
            ("https://u:p%40@h:8/a", "https://h:8/a"),
            ("https://u:p@q@h/a", "https://h/a"),
            ("https://h?token=1", "https://h"),
            ("https://h#token", "https://h"),
            ("https://u:se/cret@h/a", "https://[not shown]"),
            ("https://h:80/a@b", "https://h:80/a@b"),
            ("s3://bucket/key", "s3://bucket/key"),
            ("/plain/path?x", "/plain/path?x"),
        ] {
            assert_eq!(redact(given), shown);
        }
    }
}
