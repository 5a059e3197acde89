//! Where a redirect leads, and whether headers may go there.

use url::Url;

use super::error::{Attempt, Class};

/// Hops before a chain of redirects is given up.
pub(super) const MOST: u32 = 10;

/// The target of a redirect from `from`. User and password in it are dropped: they are the server's, not the user's.
pub(super) fn target(from: &Url, location: Option<&[u8]>, status: u16) -> Result<Url, Attempt> {
    let wrong = |reason: &str| Attempt::fatal(Class::Transport, reason).with_status(status);
    let location = location.ok_or_else(|| wrong("a redirect without Location"))?;
    let location = std::str::from_utf8(location)
        .map_err(|_| wrong("a redirect whose Location is not UTF-8"))?;
    let mut target = from
        .join(location)
        .map_err(|_| wrong("a redirect whose Location is no URL"))?;
    if !matches!(target.scheme(), "http" | "https") || !target.has_host() {
        return Err(wrong("a redirect to something other than http or https"));
    }
    // Neither can fail: the URL has a host.
    let _ = target.set_username("");
    let _ = target.set_password(None);
    Ok(target)
}

/// Same scheme, host and port.
pub(super) fn same_origin(one: &Url, other: &Url) -> bool {
    one.origin() == other.origin()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    #[test]
    fn origins_differ_by_scheme_host_and_port() {
        let here = url("https://h/a");
        assert!(same_origin(&here, &url("https://h:443/b")));
        for other in [
            "http://h/a",
            "https://h:444/a",
            "https://g/a",
            "https://sub.h/a",
        ] {
            assert!(!same_origin(&here, &url(other)), "{other}");
        }
    }

    #[test]
    fn targets_are_http_and_carry_no_user() {
        let here = url("https://h/a/b");
        let there = |location: &str| target(&here, Some(location.as_bytes()), 302);
        assert_eq!(there("../c").unwrap().as_str(), "https://h/c");
        assert_eq!(there("//u:p@g/c").unwrap().as_str(), "https://g/c");
        for wrong in ["file:///etc/passwd", "ftp://h/", "https://"] {
            assert!(there(wrong).is_err(), "{wrong}");
        }
        assert!(target(&here, None, 302).is_err());
    }
}
