//! One batch of items, read in the order in which they arrive.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::stream::{self, StreamExt};
use tokio::task::AbortHandle;

use super::error::{Attempt, Class, FetchError, SetupError};
use super::process::OfProcess;
use super::runtime::{Place, Runtime};
use super::{Fetcher, FileFetcher, HttpFetcher, ObjectFetcher};

/// What came of a wait.
pub enum Arrival {
    /// Position in the batch, and the item.
    Item(usize, Result<Bytes, FetchError>),
    /// Nothing within the time given.
    Nothing,
    /// All items were given.
    End,
    /// The batch was cancelled, or its runtime closed.
    Cancelled,
}

pub struct Fetches(Way);

enum Way {
    InPlace(InPlace),
    Running(OfProcess<Running>),
}

/// Files, read by the thread that asks.
struct InPlace {
    fetcher: Arc<FileFetcher>,
    paths: Vec<OsString>,
    next: AtomicUsize,
    cancelled: AtomicBool,
}

/// A task on a runtime.
struct Running {
    shared: Arc<Shared>,
    task: AbortHandle,
}

struct Shared {
    state: Mutex<State>,
    wake: Condvar,
}

struct State {
    arrived: VecDeque<(usize, Result<Bytes, FetchError>)>,
    /// Items not yet given.
    left: usize,
    /// The reader sleeps until so many have arrived.
    wanted: usize,
    cancelled: bool,
}

impl Fetches {
    /// Begins the requests, `concurrency` of them at once, and returns.
    pub fn start(
        runtime: &Runtime,
        fetcher: &Fetcher,
        locations: Vec<OsString>,
        concurrency: usize,
    ) -> Result<Self, SetupError> {
        if let Fetcher::Files(files) = fetcher
            && files.reads_in_place()
        {
            return Ok(Self(Way::InPlace(InPlace {
                fetcher: files.clone(),
                paths: locations,
                next: AtomicUsize::new(0),
                cancelled: AtomicBool::new(false),
            })));
        }
        let handle = runtime.handle().ok_or_else(|| SetupError::Client {
            reason: "the runtime was closed".to_owned(),
        })?;
        let connected = {
            let _entered = handle.enter();
            runtime.connect(fetcher)?
        };
        let shared = Arc::new(Shared {
            state: Mutex::new(State {
                arrived: VecDeque::new(),
                left: locations.len(),
                wanted: 1,
                cancelled: false,
            }),
            wake: Condvar::new(),
        });
        let concurrency = concurrency.max(1);
        let places = runtime.line_up(locations.len(), concurrency);
        let task = handle.spawn(drive(
            Giver(shared.clone()),
            Arc::new(connected),
            locations.into_iter().zip(places).collect(),
            concurrency,
        ));
        let task = task.abort_handle();
        Ok(Self(Way::Running(OfProcess::new(Running { shared, task }))))
    }

    /// The next item to arrive; waits for `wait` at most (a file read in place takes as long as it takes).
    pub fn next(&self, wait: Duration) -> Arrival {
        match &self.0 {
            Way::InPlace(files) => files.next(),
            Way::Running(running) => running.shared.next(wait),
        }
    }

    /// Waits until `count` items are there to be taken, or all that are left: [`Self::next`] then wakes no one for each.
    pub fn gather(&self, count: usize, wait: Duration) {
        if let Way::Running(running) = &self.0 {
            drop(running.shared.until(count, wait));
        }
    }

    /// Drops what is in flight and returns at once.
    pub fn cancel(&self) {
        match &self.0 {
            Way::InPlace(files) => files.cancelled.store(true, Ordering::Relaxed),
            Way::Running(running) if running.is_ours() => running.cancel(),
            Way::Running(_) => {}
        }
    }
}

impl InPlace {
    fn next(&self) -> Arrival {
        if self.cancelled.load(Ordering::Relaxed) {
            return Arrival::Cancelled;
        }
        // Cannot run over: a caller stops at the end.
        let position = self.next.fetch_add(1, Ordering::Relaxed);
        match self.paths.get(position) {
            Some(path) => Arrival::Item(position, self.fetcher.read(Path::new(path))),
            None => Arrival::End,
        }
    }
}

impl Running {
    fn cancel(&self) {
        self.task.abort();
        self.shared.cancel();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.cancel();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn next(&self, wait: Duration) -> Arrival {
        let mut state = self.until(1, wait);
        if let Some((position, item)) = state.arrived.pop_front() {
            state.left -= 1;
            return Arrival::Item(position, item);
        }
        match (state.cancelled, state.left) {
            (true, _) => Arrival::Cancelled,
            (false, 0) => Arrival::End,
            (false, _) => Arrival::Nothing,
        }
    }

    fn until(&self, count: usize, wait: Duration) -> MutexGuard<'_, State> {
        let end = Instant::now() + wait;
        let mut state = self.lock();
        loop {
            let wanted = count.min(state.left);
            let left = end.saturating_duration_since(Instant::now());
            if state.arrived.len() >= wanted || state.cancelled || left.is_zero() {
                return state;
            }
            state.wanted = wanted;
            state = self
                .wake
                .wait_timeout(state, left)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
    }

    fn cancel(&self) {
        let dropped = {
            let mut state = self.lock();
            state.cancelled = state.left > 0;
            std::mem::take(&mut state.arrived)
        };
        drop(dropped);
        self.wake.notify_all();
    }
}

/// The task's end of a batch. Dropped before every item was given, it says so: no reader waits for ever.
struct Giver(Arc<Shared>);

impl Giver {
    fn give(&self, position: usize, item: Result<Bytes, FetchError>) {
        let mut state = self.0.lock();
        state.arrived.push_back((position, item));
        if state.arrived.len() >= state.wanted {
            drop(state);
            self.0.wake.notify_all();
        }
    }
}

impl Drop for Giver {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        if state.arrived.len() < state.left {
            state.cancelled = true;
            drop(state);
            self.0.wake.notify_all();
        }
    }
}

async fn drive(
    giver: Giver,
    connected: Arc<Connected>,
    items: Vec<(OsString, Place)>,
    concurrency: usize,
) {
    let mut items = stream::iter(items.into_iter().enumerate())
        .map(|(position, item)| one(connected.clone(), position, item))
        .buffer_unordered(concurrency);
    while let Some((position, item)) = items.next().await {
        giver.give(position, item);
    }
}

async fn one(
    connected: Arc<Connected>,
    position: usize,
    (location, place): (OsString, Place),
) -> (usize, Result<Bytes, FetchError>) {
    let _permit = place.permit().await;
    (position, connected.fetch(location).await)
}

/// A fetcher with its connections.
pub(super) enum Connected {
    Files(Arc<FileFetcher>),
    Http(Arc<HttpFetcher>, reqwest::Client),
    Objects(Arc<ObjectFetcher>, Arc<dyn object_store::ObjectStore>),
}

impl Connected {
    async fn fetch(&self, location: OsString) -> Result<Bytes, FetchError> {
        if let Self::Files(files) = self {
            return files.clone().fetch(location.into()).await;
        }
        let location = location.into_string().map_err(|location| {
            Attempt::fatal(Class::Refused, "expected UTF-8")
                .into_error(&location.to_string_lossy(), 0)
        })?;
        match self {
            Self::Http(http, client) => http.fetch(client, &location).await,
            Self::Objects(objects, store) => objects.fetch(store.as_ref(), &location).await,
            Self::Files(_) => unreachable!("taken above"),
        }
    }
}
