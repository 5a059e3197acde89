//! Items from files: one open, one stat and one read each.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;

use super::error::{Attempt, Class, FetchError};
use super::retry::RetryPolicy;

pub struct FileFetcher {
    pub retry: RetryPolicy,
    pub max_bytes: u64,
}

impl FileFetcher {
    /// Whether the thread that wants an item may read it itself: nothing has to be given up or tried again.
    pub(super) fn reads_in_place(&self) -> bool {
        self.retry.timeout.is_none() && self.retry.deadline.is_none() && self.retry.retries == 0
    }

    /// Reads on the calling thread, once.
    pub fn read(&self, path: &Path) -> Result<Bytes, FetchError> {
        read(path, self.max_bytes)
            .map(Bytes::from)
            .map_err(|failure| failure.into_error(&path.to_string_lossy(), 1))
    }

    /// Reads on another thread. One that hangs in the file system is left behind when the attempt's time is over.
    pub(super) async fn fetch(self: Arc<Self>, path: PathBuf) -> Result<Bytes, FetchError> {
        let location = path.to_string_lossy().into_owned();
        let mut budget = self.retry.start();
        loop {
            let (path, max_bytes) = (path.clone(), self.max_bytes);
            let reading = tokio::task::spawn_blocking(move || read(&path, max_bytes));
            let attempt = async {
                reading
                    .await
                    .unwrap_or_else(|error| Err(Attempt::fatal(Class::Refused, error.to_string())))
            };
            match budget.attempt(attempt).await {
                Ok(data) => return Ok(Bytes::from(data)),
                Err(failure) => budget.pause(&location, failure).await?,
            }
        }
    }
}

fn read(path: &Path, max_bytes: u64) -> Result<Vec<u8>, Attempt> {
    let failed = |error: io::Error| failure(&error);
    let mut file = File::open(path).map_err(failed)?;
    let metadata = file.metadata().map_err(failed)?;
    let size = metadata.len();
    if size > max_bytes {
        return Err(Attempt::too_large(Some(size), max_bytes));
    }
    // One byte more than there should be: a read that leaves it empty has met the end.
    let mut data = vec![0; size as usize + 1];
    let mut filled = 0;
    loop {
        if filled as u64 > max_bytes {
            return Err(Attempt::too_large(None, max_bytes));
        }
        if filled == data.len() {
            data.resize(data.len() * 2 + 4096, 0);
        }
        let room = data.len() - filled;
        match file.read(&mut data[filled..]) {
            Ok(0) => break,
            Ok(count) => {
                filled += count;
                // A regular file gives less than was asked for only at its end.
                if metadata.is_file() && count < room && filled as u64 == size {
                    break;
                }
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(failed(error)),
        }
    }
    data.truncate(filled);
    Ok(data)
}

fn failure(error: &io::Error) -> Attempt {
    let class = match error.kind() {
        ErrorKind::NotFound => Class::NotFound,
        ErrorKind::PermissionDenied => Class::Permission,
        ErrorKind::TimedOut => Class::Timeout,
        _ => Class::Refused,
    };
    Attempt {
        transient: matches!(
            error.kind(),
            ErrorKind::TimedOut | ErrorKind::Interrupted | ErrorKind::WouldBlock
        ),
        ..Attempt::fatal(class, error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_whole_or_too_large() {
        let folder = std::env::temp_dir().join(format!("headrace-file-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        for size in [0, 1, 4095, 4096, 100_000] {
            let path = folder.join(size.to_string());
            let content: Vec<u8> = (0..size).map(|at: usize| at as u8).collect();
            std::fs::write(&path, &content).unwrap();
            assert_eq!(read(&path, 100_000).unwrap(), content);
            if size > 0 {
                assert_eq!(
                    read(&path, size as u64 - 1).unwrap_err().class,
                    Class::TooLarge
                );
            }
        }
        assert_eq!(
            read(&folder.join("none"), 1).unwrap_err().class,
            Class::NotFound
        );
        assert_eq!(read(&folder, 1 << 20).unwrap_err().class, Class::Refused);
        // The kernel says 0 bytes for it, and gives more.
        assert!(
            !read(Path::new("/proc/self/status"), 1 << 20)
                .unwrap()
                .is_empty()
        );
        assert_eq!(
            read(Path::new("/dev/zero"), 1000).unwrap_err().class,
            Class::TooLarge
        );
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
