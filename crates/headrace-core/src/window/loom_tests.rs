//! The window under loom: every interleaving within the preemption bound.

use super::*;
use loom::sync::Arc;
use loom::thread;

const LONG: Duration = Duration::from_secs(1 << 30);

fn take(window: &Window<u64>) -> Option<u64> {
    let found = match window.take() {
        Take::Wait(mut turn) => turn.wait(LONG).expect("loom has no clock"),
        found => found,
    };
    match found {
        Take::Item(item) => Some(item),
        _ => None,
    }
}

fn check(model: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(2);
    builder.check(model);
}

fn workers(window: &Arc<Window<u64>>, skip: Option<u64>) -> Vec<thread::JoinHandle<()>> {
    (0..2)
        .map(|_| {
            let window = window.clone();
            thread::spawn(move || {
                while let Claim::Number(number) = window.claim() {
                    if Some(number) == skip {
                        window.skip(number).unwrap();
                    } else {
                        window.put(number, number).unwrap();
                    }
                }
            })
        })
        .collect()
}

#[test]
fn loom_order() {
    for (capacity, total, limit, group) in [(1, 2, 9, 1), (2, 3, 9, 2), (2, 3, 1, 1)] {
        check(move || {
            let window = Arc::new(Window::new(capacity, Some(total), true));
            window.tune(limit, group, Duration::ZERO);
            let workers = workers(&window, None);
            for number in 0..total {
                assert_eq!(take(&window), Some(number));
            }
            assert_eq!(take(&window), None);
            for worker in workers {
                worker.join().unwrap();
            }
            assert!(window.statistics().largest <= capacity);
        });
    }
}

#[test]
fn loom_skip() {
    for ordered in [true, false] {
        check(move || {
            let window = Arc::new(Window::new(1, Some(2), ordered));
            let workers = workers(&window, Some(0));
            assert_eq!(take(&window), Some(1));
            assert_eq!(take(&window), None);
            for worker in workers {
                worker.join().unwrap();
            }
        });
    }
}

#[test]
fn loom_close() {
    check(|| {
        let window = Arc::new(Window::new(1, None, true));
        let workers = workers(&window, None);
        assert_eq!(take(&window), Some(0));
        window.close();
        for worker in workers {
            worker.join().unwrap();
        }
    });
}

#[test]
fn loom_close_ends_a_take() {
    check(|| {
        let window = Arc::new(Window::new(1, None, true));
        let closer = {
            let window = window.clone();
            thread::spawn(move || drop(window.close()))
        };
        assert_eq!(take(&window), None);
        closer.join().unwrap();
    });
}
