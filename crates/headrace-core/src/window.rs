//! Ordered bounded hand-off of results between workers and one consumer.
//!
//! One mutex guards everything. It is held for a few instructions, never while waiting, and no item is dropped under it:
//! an item that has no place goes back to the caller.
//!
//! Why nobody sleeps for ever. Workers park only when there is no room or the limit is reached. Whenever the consumer is
//! about to wait it wakes a parked worker if there is room, and each worker that wakes and claims wakes the next. While
//! the consumer waits for number `g`, either `g` is claimed, and its hand-over wakes the consumer, or nothing is
//! outstanding, so there was room. Waking in groups before that point only saves switches.

use std::collections::{BTreeSet, VecDeque};
use std::time::{Duration, Instant};

#[cfg(headrace_loom)]
use loom::sync::{Condvar, Mutex, MutexGuard};
#[cfg(not(headrace_loom))]
use std::sync::{Condvar, Mutex, MutexGuard};

/// How long a consumer sleeps at most while wake-ups come in groups.
const GROUP_WAIT: Duration = Duration::from_millis(1);

/// What a claim found.
#[derive(Debug, PartialEq, Eq)]
pub enum Claim {
    Number(u64),
    /// There is no number left.
    End,
    Closed,
    /// No room now.
    Full,
}

/// What a take found.
pub enum Take<'a, T> {
    Item(T),
    /// Every number was taken or passed over.
    End,
    Closed,
    /// Another thread is inside a take.
    Busy,
    /// Nothing yet: wait on the turn.
    Wait(Turn<'a, T>),
}

/// The number was not claimed, or was handed over before. Carries what was to be handed over.
#[derive(Debug, PartialEq, Eq)]
pub struct Refused<T>(pub Option<T>);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    pub claimed: u64,
    pub put: u64,
    pub taken: u64,
    pub skipped: u64,
    pub failed: u64,
    /// Most numbers that were outstanding at once.
    pub largest: usize,
    /// Sum over takes of the numbers outstanding then.
    pub occupancy: u64,
    pub wait: Duration,
    pub idle: Duration,
}

enum Slot<T> {
    Free,
    Running,
    Ready(T),
    Skipped,
}

/// What is claimed and not yet taken.
enum Store<T> {
    /// Number `i` lives in slot `i % capacity`: outstanding numbers are consecutive and at most `capacity`.
    Ordered(Box<[Slot<T>]>),
    Unordered {
        running: Vec<u64>,
        ready: VecDeque<(u64, T)>,
        /// Numbers above `given` that were taken or skipped.
        ahead: BTreeSet<u64>,
    },
}

struct State<T> {
    capacity: usize,
    next_claim: u64,
    /// `u64::MAX` while unknown.
    total: u64,
    given: u64,
    outstanding: usize,
    running: usize,
    store: Store<T>,
    closed: bool,
    limit: usize,
    group: usize,
    #[cfg_attr(headrace_loom, allow(dead_code))]
    spin: Duration,
    parked: usize,
    /// A parked worker was notified and did not run yet; it will wake the next if there is more room.
    waking: bool,
    taking: bool,
    consumer_parked: bool,
    statistics: Statistics,
}

pub struct Window<T> {
    state: Mutex<State<T>>,
    workers: Condvar,
    consumer: Condvar,
}

/// The right to wait for the next item. While it lives, other takes are [`Take::Busy`].
pub struct Turn<'a, T> {
    window: &'a Window<T>,
    begun: Instant,
    #[cfg_attr(headrace_loom, allow(dead_code))]
    spun: bool,
}

impl<T> State<T> {
    fn room(&self) -> usize {
        self.capacity - self.outstanding
    }

    fn claim(&mut self) -> Claim {
        if self.closed {
            return Claim::Closed;
        }
        if self.next_claim >= self.total {
            return Claim::End;
        }
        if self.room() == 0 || self.running >= self.limit {
            return Claim::Full;
        }
        let number = self.next_claim;
        let place = self.place(number);
        match &mut self.store {
            Store::Ordered(slots) => slots[place] = Slot::Running,
            Store::Unordered { running, .. } => running.push(number),
        }
        self.next_claim += 1;
        self.running += 1;
        self.outstanding += 1;
        self.statistics.claimed += 1;
        self.statistics.largest = self.statistics.largest.max(self.outstanding);
        Claim::Number(number)
    }

    fn place(&self, number: u64) -> usize {
        (number % self.capacity as u64) as usize
    }

    /// Moves a running number to ready (`Some`) or skipped (`None`). `Ok` holds an item that nobody will take.
    fn hand(&mut self, number: u64, item: Option<T>) -> Result<Option<T>, Refused<T>> {
        if self.closed {
            // What still ran when the window was closed comes to its end here.
            self.outstanding = self.outstanding.saturating_sub(1);
            return Ok(item);
        }
        let place = self.place(number);
        let claimed = (self.given..self.next_claim).contains(&number);
        let beyond = number >= self.total;
        match &mut self.store {
            Store::Ordered(slots) => {
                if !claimed || !matches!(slots[place], Slot::Running) {
                    return Err(Refused(item));
                }
                self.running -= 1;
                if beyond {
                    slots[place] = Slot::Free;
                    self.outstanding -= 1;
                    return Ok(item);
                }
                slots[place] = item.map_or(Slot::Skipped, Slot::Ready);
                self.pass();
            }
            Store::Unordered {
                running,
                ready,
                ahead,
            } => {
                let Some(at) = running.iter().position(|&other| other == number) else {
                    return Err(Refused(item));
                };
                running.swap_remove(at);
                self.running -= 1;
                match item {
                    Some(item) if !beyond => ready.push_back((number, item)),
                    unwanted => {
                        self.outstanding -= 1;
                        if !beyond {
                            ahead.insert(number);
                            self.pass();
                        }
                        return Ok(unwanted);
                    }
                }
            }
        }
        Ok(None)
    }

    /// Moves `given` over the numbers that are done: taken before their turn, or left out.
    fn pass(&mut self) {
        match &mut self.store {
            Store::Ordered(slots) => loop {
                let place = (self.given % self.capacity as u64) as usize;
                if !matches!(slots[place], Slot::Skipped) {
                    return;
                }
                slots[place] = Slot::Free;
                self.given += 1;
                self.outstanding -= 1;
            },
            Store::Unordered { ahead, .. } => {
                while ahead.first() == Some(&self.given) {
                    ahead.pop_first();
                    self.given += 1;
                }
            }
        }
    }

    fn next(&mut self) -> Option<T> {
        let outstanding = self.outstanding;
        let item = match &mut self.store {
            Store::Ordered(slots) => {
                if self.given >= self.total {
                    return None;
                }
                let place = (self.given % self.capacity as u64) as usize;
                match std::mem::replace(&mut slots[place], Slot::Free) {
                    Slot::Ready(item) => {
                        self.given += 1;
                        item
                    }
                    waiting => {
                        slots[place] = waiting;
                        return None;
                    }
                }
            }
            Store::Unordered { ready, ahead, .. } => {
                let (number, item) = ready.pop_front()?;
                ahead.insert(number);
                item
            }
        };
        self.outstanding -= 1;
        self.pass();
        self.statistics.taken += 1;
        self.statistics.occupancy += outstanding as u64;
        Some(item)
    }

    /// Whether the consumer sleeps and this number is what it waits for.
    fn awaited(&self, number: u64) -> bool {
        self.consumer_parked
            && (matches!(self.store, Store::Unordered { .. }) || number == self.given)
    }

    /// Whether the consumer sleeps though its next item is there.
    fn overslept(&self) -> bool {
        self.consumer_parked
            && match &self.store {
                Store::Ordered(slots) => {
                    matches!(slots[self.place(self.given)], Slot::Ready(_))
                }
                Store::Unordered { ready, .. } => !ready.is_empty(),
            }
    }

    /// Takes out the items from `total` on, for the caller to drop.
    fn drain(&mut self, total: u64) -> Vec<T> {
        let mut drained = Vec::new();
        match &mut self.store {
            Store::Ordered(slots) => {
                for number in self.given.max(total)..self.next_claim {
                    let slot = &mut slots[(number % self.capacity as u64) as usize];
                    if matches!(slot, Slot::Running) {
                        continue;
                    }
                    if !matches!(slot, Slot::Free) {
                        self.outstanding -= 1;
                    }
                    if let Slot::Ready(item) = std::mem::replace(slot, Slot::Free) {
                        drained.push(item);
                    }
                }
            }
            Store::Unordered { ready, .. } => {
                for (number, item) in std::mem::take(ready) {
                    if number < total {
                        ready.push_back((number, item));
                    } else {
                        self.outstanding -= 1;
                        drained.push(item);
                    }
                }
            }
        }
        drained
    }
}

impl<T> Window<T> {
    /// `capacity` must not be 0; `total` may come later with [`Window::finish`].
    pub fn new(capacity: usize, total: Option<u64>, ordered: bool) -> Self {
        assert!(capacity > 0, "a window holds at least one number");
        let store = if ordered {
            Store::Ordered((0..capacity).map(|_| Slot::Free).collect())
        } else {
            Store::Unordered {
                running: Vec::new(),
                ready: VecDeque::new(),
                ahead: BTreeSet::new(),
            }
        };
        Self {
            state: Mutex::new(State {
                capacity,
                next_claim: 0,
                total: total.unwrap_or(u64::MAX),
                given: 0,
                outstanding: 0,
                running: 0,
                store,
                closed: false,
                limit: usize::MAX,
                group: 1,
                spin: Duration::ZERO,
                parked: 0,
                waking: false,
                taking: false,
                consumer_parked: false,
                statistics: Statistics::default(),
            }),
            workers: Condvar::new(),
            consumer: Condvar::new(),
        }
    }

    // No user code runs under the lock, so a poisoned state is still consistent.
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state
            .lock()
            .unwrap_or_else(|poison| poison.into_inner())
    }

    /// Wakes one parked worker when it would find at least `places` free.
    fn wake_worker(&self, state: &mut State<T>, places: usize) {
        if state.parked > 0
            && !state.waking
            && state.room() >= places.clamp(1, state.capacity)
            && state.running < state.limit
        {
            state.waking = true;
            self.workers.notify_one();
        }
    }

    fn after_claim(&self, state: &mut State<T>, places: usize) {
        if state.parked == 0 {
            return;
        }
        if state.next_claim >= state.total {
            self.workers.notify_all();
        } else {
            self.wake_worker(state, places);
        }
    }

    /// The next number, without waiting.
    pub fn try_claim(&self) -> Claim {
        let mut state = self.lock();
        let claim = state.claim();
        if let Claim::Number(_) = claim {
            let group = state.group;
            self.after_claim(&mut state, group);
        } else if claim != Claim::Full && state.overslept() {
            self.consumer.notify_one();
        }
        claim
    }

    /// The next number, waiting for room; never [`Claim::Full`].
    pub fn claim(&self) -> Claim {
        match self.try_claim() {
            Claim::Full => {}
            claim => return claim,
        }
        let begun = Instant::now();
        #[cfg(not(headrace_loom))]
        {
            let spin = self.lock().spin;
            while begun.elapsed() < spin {
                pause();
                match self.try_claim() {
                    Claim::Full => {}
                    claim => {
                        self.lock().statistics.idle += begun.elapsed();
                        return claim;
                    }
                }
            }
        }
        let mut state = self.lock();
        loop {
            match state.claim() {
                Claim::Full => {}
                claim => {
                    state.statistics.idle += begun.elapsed();
                    if let Claim::Number(_) = claim {
                        self.after_claim(&mut state, 1);
                    } else if state.overslept() {
                        self.consumer.notify_one();
                    }
                    return claim;
                }
            }
            if state.overslept() {
                self.consumer.notify_one();
            }
            state.parked += 1;
            state = self
                .workers
                .wait(state)
                .unwrap_or_else(|poison| poison.into_inner());
            state.parked -= 1;
            state.waking = false;
        }
    }

    /// Hands over a result. `Ok(Some(item))` when nobody will take it.
    pub fn put(&self, number: u64, item: T) -> Result<Option<T>, Refused<T>> {
        self.hand(number, Some(item), |statistics| statistics.put += 1)
    }

    /// Hands over a failure; it is taken in its turn like a result and counted apart.
    pub fn fail(&self, number: u64, item: T) -> Result<Option<T>, Refused<T>> {
        self.hand(number, Some(item), |statistics| statistics.failed += 1)
    }

    /// Marks a claimed number as left out.
    pub fn skip(&self, number: u64) -> Result<(), Refused<T>> {
        self.hand(number, None, |statistics| statistics.skipped += 1)
            .map(drop)
    }

    /// Counts a claimed number as handed over and taken: its claimer is the consumer and keeps the result.
    pub fn give(&self, number: u64) -> Result<(), Refused<T>> {
        self.hand(number, None, |statistics| {
            statistics.put += 1;
            statistics.taken += 1;
            statistics.occupancy += 1;
        })
        .map(drop)
    }

    fn hand(
        &self,
        number: u64,
        item: Option<T>,
        count: fn(&mut Statistics),
    ) -> Result<Option<T>, Refused<T>> {
        let mut state = self.lock();
        // In groups, the consumer is woken by the worker that runs out of room or of numbers, not by each hand-over.
        let awaited = state.group <= 1 && state.awaited(number);
        let unwanted = state.hand(number, item)?;
        count(&mut state.statistics);
        drop(state);
        if awaited {
            self.consumer.notify_one();
        }
        Ok(unwanted)
    }

    /// Says how many numbers there are. A later call can only lower it. Returns results beyond the end.
    pub fn finish(&self, total: u64) -> Vec<T> {
        let mut state = self.lock();
        state.total = state.total.min(total);
        let total = state.total;
        let drained = state.drain(total);
        self.workers.notify_all();
        self.consumer.notify_all();
        drained
    }

    /// The next item, or the turn to wait for it.
    pub fn take(&self) -> Take<'_, T> {
        let mut state = self.lock();
        if state.taking {
            return Take::Busy;
        }
        if let Some(found) = self.look(&mut state) {
            return found;
        }
        state.taking = true;
        self.wake_worker(&mut state, 1);
        Take::Wait(Turn {
            window: self,
            begun: Instant::now(),
            spun: false,
        })
    }

    fn look(&self, state: &mut State<T>) -> Option<Take<'_, T>> {
        if state.closed {
            return Some(Take::Closed);
        }
        if let Some(item) = state.next() {
            let group = state.group;
            self.wake_worker(state, group);
            return Some(Take::Item(item));
        }
        (state.given >= state.total).then_some(Take::End)
    }

    /// Ends every wait. Returns the items that were not taken. Idempotent.
    pub fn close(&self) -> Vec<T> {
        let mut state = self.lock();
        state.closed = true;
        let drained = state.drain(0);
        self.workers.notify_all();
        self.consumer.notify_all();
        drained
    }

    /// At most `limit` workers between claim and hand-over; wake a worker at `group` free places; spin before parking.
    pub fn tune(&self, limit: usize, group: usize, spin: Duration) {
        let mut state = self.lock();
        state.limit = limit;
        state.group = group;
        state.spin = spin;
        self.workers.notify_all();
    }

    pub fn given(&self) -> u64 {
        self.lock().given
    }

    /// Numbers above `given` that were taken or skipped already, ascending.
    pub fn ahead(&self) -> Vec<u64> {
        match &self.lock().store {
            Store::Ordered(_) => Vec::new(),
            Store::Unordered { ahead, .. } => ahead.iter().copied().collect(),
        }
    }

    pub fn closed(&self) -> bool {
        self.lock().closed
    }

    pub fn outstanding(&self) -> usize {
        self.lock().outstanding
    }

    pub fn statistics(&self) -> Statistics {
        self.lock().statistics
    }
}

impl<'a, T> Turn<'a, T> {
    /// Waits for at most `limit`; `None` when nothing came. May be called again. Never gives `Busy` or `Wait`.
    pub fn wait(&mut self, limit: Duration) -> Option<Take<'a, T>> {
        let window = self.window;
        let begun = Instant::now();
        #[cfg(not(headrace_loom))]
        if !std::mem::replace(&mut self.spun, true) {
            let spin = window.lock().spin.min(limit);
            while begun.elapsed() < spin {
                pause();
                if let Some(found) = window.look(&mut window.lock()) {
                    return Some(found);
                }
            }
        }
        let mut state = window.lock();
        loop {
            if let Some(found) = window.look(&mut state) {
                return Some(found);
            }
            window.wake_worker(&mut state, 1);
            let left = limit.saturating_sub(begun.elapsed());
            if left.is_zero() {
                // A starved consumer: whatever keeps the workers that may run, one more may.
                state.limit = state.limit.saturating_add(1);
                window.wake_worker(&mut state, 1);
                return None;
            }
            // A worker that owes the wake-up may be held by its next item.
            let left = if state.group > 1 {
                left.min(GROUP_WAIT)
            } else {
                left
            };
            state.consumer_parked = true;
            (state, _) = window
                .consumer
                .wait_timeout(state, left)
                .unwrap_or_else(|poison| poison.into_inner());
            state.consumer_parked = false;
        }
    }
}

impl<T> Drop for Turn<'_, T> {
    fn drop(&mut self) {
        let mut state = self.window.lock();
        state.taking = false;
        state.statistics.wait += self.begun.elapsed();
    }
}

#[cfg(not(headrace_loom))]
fn pause() {
    for _ in 0..16 {
        std::hint::spin_loop();
    }
}
#[cfg(all(test, not(headrace_loom)))]
mod tests;

#[cfg(all(test, headrace_loom))]
mod loom_tests;
