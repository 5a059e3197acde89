//! When to try again: exponential backoff with jitter, `Retry-After`, a timeout for an attempt, a deadline for an item.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use tokio::time::Instant;

use super::error::{Attempt, Class, FetchError};

#[derive(Clone, Debug, PartialEq)]
pub struct RetryPolicy {
    /// Attempts after the first.
    pub retries: u32,
    pub backoff: Duration,
    pub max_backoff: Duration,
    /// For one attempt, body included.
    pub timeout: Option<Duration>,
    /// For the whole item, from the start of its first attempt.
    pub deadline: Option<Duration>,
}

impl RetryPolicy {
    /// The wait before retry `retry` (from 0); `jitter` in [0, 1) takes away up to half of it.
    ///
    /// A `Retry-After` lengthens the wait, and never beyond `max_backoff`.
    pub fn delay(&self, retry: u32, retry_after: Option<Duration>, jitter: f64) -> Duration {
        let factor = 2f64.powi(i32::try_from(retry).unwrap_or(i32::MAX).min(1000));
        let full = (self.backoff.as_secs_f64() * factor).min(self.max_backoff.as_secs_f64());
        let wait =
            Duration::try_from_secs_f64(full * (1.0 - jitter / 2.0)).unwrap_or(self.max_backoff);
        wait.max(retry_after.unwrap_or_default().min(self.max_backoff))
    }

    pub(super) fn start(&self) -> Budget<'_> {
        let deadline = self
            .deadline
            .and_then(|wait| Instant::now().checked_add(wait));
        Budget {
            policy: self,
            deadline,
            attempts: 0,
        }
    }
}

/// What one item has used of its policy.
pub(super) struct Budget<'a> {
    policy: &'a RetryPolicy,
    deadline: Option<Instant>,
    attempts: u32,
}

impl Budget<'_> {
    /// One attempt, within its timeout and the item's deadline.
    pub async fn attempt<T>(
        &mut self,
        attempt: impl Future<Output = Result<T, Attempt>>,
    ) -> Result<T, Attempt> {
        self.attempts += 1;
        let timeout = self
            .policy
            .timeout
            .and_then(|wait| Instant::now().checked_add(wait));
        match self.deadline.into_iter().chain(timeout).min() {
            None => attempt.await,
            Some(limit) => tokio::time::timeout_at(limit, attempt)
                .await
                .unwrap_or_else(|_| Err(self.late())),
        }
    }

    /// Waits for the next attempt; the item's failure when there is none.
    pub async fn pause(&self, location: &str, failure: Attempt) -> Result<(), FetchError> {
        if !failure.transient || self.attempts > self.policy.retries {
            return Err(failure.into_error(location, self.attempts));
        }
        let wait = self
            .policy
            .delay(self.attempts - 1, failure.retry_after, jitter());
        if self
            .deadline
            .is_some_and(|deadline| deadline.saturating_duration_since(Instant::now()) <= wait)
        {
            let seconds = self.policy.deadline.unwrap_or_default().as_secs_f64();
            let reason = format!(
                "no attempt is left within deadline={seconds} seconds; the last: {}",
                failure.reason
            );
            let failure = Attempt {
                reason,
                class: Class::Timeout,
                ..failure
            };
            return Err(failure.into_error(location, self.attempts));
        }
        tokio::time::sleep(wait).await;
        Ok(())
    }

    fn late(&self) -> Attempt {
        let passed = self
            .deadline
            .is_some_and(|deadline| Instant::now() >= deadline);
        let (name, limit) = if passed {
            ("deadline", self.policy.deadline)
        } else {
            ("timeout", self.policy.timeout)
        };
        let seconds = limit.unwrap_or_default().as_secs_f64();
        Attempt {
            transient: !passed,
            ..Attempt::transient(
                Class::Timeout,
                format!("not finished within {name}={seconds} seconds"),
            )
        }
    }
}

/// `Retry-After` in either form (RFC 9110, section 10.2.3): seconds, or a date. A date in the past is no wait.
pub(super) fn retry_after(value: &str, now: SystemTime) -> Option<Duration> {
    let value = value.trim();
    if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) {
        return Some(Duration::from_secs(value.parse().unwrap_or(u64::MAX)));
    }
    let date = httpdate::parse_http_date(value).ok()?;
    Some(date.duration_since(now).unwrap_or_default())
}

/// A number in [0, 1) that spreads out clients which failed together. No one's result depends on it.
fn jitter() -> f64 {
    use std::hash::{BuildHasher, RandomState};
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let draw = RandomState::new().hash_one(COUNT.fetch_add(1, Ordering::Relaxed));
    (draw >> 11) as f64 / (1u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy() -> RetryPolicy {
        RetryPolicy {
            retries: 3,
            backoff: Duration::from_millis(100),
            max_backoff: Duration::from_millis(500),
            timeout: None,
            deadline: None,
        }
    }

    #[test]
    fn delays_double_up_to_the_limit() {
        let delays =
            [0, 1, 2, 3, 4, u32::MAX].map(|retry| policy().delay(retry, None, 0.0).as_millis());
        assert_eq!(delays, [100, 200, 400, 500, 500, 500]);
        assert_eq!(policy().delay(1, None, 0.5).as_millis(), 150);
    }

    #[test]
    fn retry_after_lengthens_up_to_the_limit() {
        let two = Some(Duration::from_secs(2));
        assert_eq!(policy().delay(0, two, 0.0).as_millis(), 500);
        assert_eq!(
            policy().delay(0, Some(Duration::ZERO), 0.0).as_millis(),
            100
        );
        let patient = RetryPolicy {
            max_backoff: Duration::from_secs(5),
            ..policy()
        };
        assert_eq!(patient.delay(0, two, 0.9), Duration::from_secs(2));
    }

    #[test]
    fn retry_after_has_two_forms() {
        let now = httpdate::parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT").unwrap();
        assert_eq!(retry_after("2", now), Some(Duration::from_secs(2)));
        assert_eq!(
            retry_after("Sun, 06 Nov 1994 08:49:40 GMT", now),
            Some(Duration::from_secs(3))
        );
        assert_eq!(
            retry_after("Sun, 06 Nov 1994 08:00:00 GMT", now),
            Some(Duration::ZERO)
        );
        assert_eq!(
            retry_after("99999999999999999999", now),
            Some(Duration::from_secs(u64::MAX))
        );
        assert_eq!(retry_after("-1", now), None);
        assert_eq!(retry_after("soon", now), None);
    }
}
