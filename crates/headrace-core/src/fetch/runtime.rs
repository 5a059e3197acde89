//! Threads, connections and the bound on the requests in flight.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use futures_util::FutureExt;
use futures_util::future::{MaybeDone, maybe_done};
use tokio::runtime::{Builder, Handle};
use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore};

use super::error::SetupError;
use super::fetches::Connected;
use super::process::OfProcess;
use super::{Fetcher, HttpFetcher, ObjectFetcher};

/// A place in the line for a permit.
pub(super) struct Place(MaybeDone<Acquiring>);
type Acquiring = Pin<Box<dyn Future<Output = Result<OwnedSemaphorePermit, AcquireError>> + Send>>;

impl Place {
    /// Waits for the permit, which is given back when it is dropped.
    pub(super) async fn permit(mut self) -> Option<OwnedSemaphorePermit> {
        (&mut self.0).await;
        // The semaphore is never closed; a failure would only mean no bound.
        Pin::new(&mut self.0).take_output()?.ok()
    }
}

/// Where batches run. All batches together have at most `in_flight` requests under way, first come, first served.
///
/// Connections belong to the runtime: closing it closes them, however many datasets still exist. Closing waits for
/// nothing, and whoever waits for one of its batches learns that it was cancelled.
pub struct Runtime(OfProcess<Inner>);

struct Inner {
    tokio: Mutex<Option<tokio::runtime::Runtime>>,
    permits: Arc<Semaphore>,
    in_flight: usize,
    clients: Mutex<Vec<Client>>,
}

enum Client {
    Http(Weak<HttpFetcher>, reqwest::Client),
    Objects(Weak<ObjectFetcher>, Arc<dyn object_store::ObjectStore>),
}

impl Runtime {
    /// `threads` carry the network; `None` is one for each CPU that the process may use.
    pub fn new(threads: Option<usize>, in_flight: usize) -> std::io::Result<Self> {
        let threads = match threads {
            Some(threads) => threads,
            None => std::thread::available_parallelism().map_or(1, usize::from),
        };
        let tokio = Builder::new_multi_thread()
            .worker_threads(threads.max(1))
            .thread_name("headrace-fetch")
            .enable_all()
            .build()?;
        let in_flight = in_flight.clamp(1, Semaphore::MAX_PERMITS);
        Ok(Self(OfProcess::new(Inner {
            tokio: Mutex::new(Some(tokio)),
            permits: Arc::new(Semaphore::new(in_flight)),
            in_flight,
            clients: Mutex::default(),
        })))
    }

    /// False in a forked child: it needs a runtime of its own.
    pub fn is_ours(&self) -> bool {
        self.0.is_ours()
    }

    /// `None` once closed.
    pub(super) fn handle(&self) -> Option<Handle> {
        let tokio = self.0.tokio.lock().unwrap_or_else(PoisonError::into_inner);
        tokio.as_ref().map(|tokio| tokio.handle().clone())
    }

    /// Places in the line for permits, for `count` items of a batch that has `concurrency` of them under way at once.
    ///
    /// A batch that may use all permits lines up whole, here and now, so that batches are served in the order in which
    /// they were started. One that may not would be given permits before it has a use for them: each of its items lines
    /// up when its turn comes.
    pub(super) fn line_up(&self, count: usize, concurrency: usize) -> Vec<Place> {
        let now = concurrency >= self.0.in_flight;
        (0..count)
            .map(|_| {
                let permit: Acquiring = Box::pin(self.0.permits.clone().acquire_owned());
                let mut place = Place(maybe_done(permit));
                if now {
                    // The first poll is what queues it.
                    let _ = (&mut place.0).now_or_never();
                }
                place
            })
            .collect()
    }

    /// The fetcher with the connections that this runtime keeps for it.
    pub(super) fn connect(&self, fetcher: &Fetcher) -> Result<Connected, SetupError> {
        let mut clients = self
            .0
            .clients
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        match fetcher {
            Fetcher::Files(files) => Ok(Connected::Files(files.clone())),
            Fetcher::Http(http) => {
                for client in clients.iter() {
                    if let Client::Http(owner, client) = client
                        && owner.as_ptr() == Arc::as_ptr(http)
                    {
                        return Ok(Connected::Http(http.clone(), client.clone()));
                    }
                }
                clients.retain(Client::is_used);
                let client = http.connect()?;
                clients.push(Client::Http(Arc::downgrade(http), client.clone()));
                Ok(Connected::Http(http.clone(), client))
            }
            Fetcher::Objects(objects) => {
                for client in clients.iter() {
                    if let Client::Objects(owner, store) = client
                        && owner.as_ptr() == Arc::as_ptr(objects)
                    {
                        return Ok(Connected::Objects(objects.clone(), store.clone()));
                    }
                }
                clients.retain(Client::is_used);
                let store = objects.connect()?;
                clients.push(Client::Objects(Arc::downgrade(objects), store.clone()));
                Ok(Connected::Objects(objects.clone(), store))
            }
        }
    }

    /// Stops what runs, without waiting for it. Idempotent.
    pub fn close(&self) {
        self.0.close();
    }
}

impl Client {
    fn is_used(&self) -> bool {
        match self {
            Self::Http(owner, _) => owner.strong_count() > 0,
            Self::Objects(owner, _) => owner.strong_count() > 0,
        }
    }
}

impl Inner {
    fn close(&self) {
        let tokio = self
            .tokio
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(tokio) = tokio {
            tokio.shutdown_background();
        }
        self.clients
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clear();
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.close();
    }
}
