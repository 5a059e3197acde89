//! The window on real threads.

use super::*;

fn take<T>(window: &Window<T>) -> Option<T> {
    match window.take() {
        Take::Item(item) => Some(item),
        Take::Wait(mut turn) => match turn.wait(Duration::from_secs(20)) {
            Some(Take::Item(item)) => Some(item),
            _ => None,
        },
        _ => None,
    }
}

#[test]
fn keeps_the_order_and_the_bound() {
    for (capacity, limit, group) in [(1, usize::MAX, 1), (3, 2, 2), (8, usize::MAX, 4), (4, 1, 9)] {
        let window = Window::new(capacity, Some(5_000), true);
        window.tune(limit, group, Duration::ZERO);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    while let Claim::Number(number) = window.claim() {
                        if number % 7 == 3 {
                            window.skip(number).unwrap();
                        } else {
                            window.put(number, number).unwrap();
                        }
                    }
                });
            }
            let got: Vec<u64> = std::iter::from_fn(|| take(&window)).collect();
            assert!(
                got.into_iter()
                    .eq((0..5_000).filter(|number| number % 7 != 3))
            );
        });
        assert!(window.statistics().largest <= capacity);
        assert_eq!(window.outstanding(), 0);
    }
}

#[test]
fn unordered_gives_what_came_first() {
    let window = Window::new(3, Some(4), false);
    for number in 0..3 {
        assert_eq!(window.try_claim(), Claim::Number(number));
    }
    assert_eq!(window.try_claim(), Claim::Full);
    window.put(2, 'c').unwrap();
    assert_eq!(take(&window), Some('c'));
    assert_eq!((window.given(), window.ahead()), (0, vec![2]));
    window.skip(0).unwrap();
    assert_eq!((window.given(), window.ahead()), (1, vec![2]));
    window.put(1, 'b').unwrap();
    assert_eq!(take(&window), Some('b'));
    assert_eq!((window.given(), window.ahead()), (3, vec![]));
    assert!(window.finish(3).is_empty());
    assert!(matches!(window.take(), Take::End));
}

#[test]
fn refuses_what_was_not_claimed() {
    for ordered in [true, false] {
        let window = Window::new(2, None, ordered);
        assert_eq!(window.put(0, 'a'), Err(Refused(Some('a'))));
        window.claim();
        assert_eq!(window.put(0, 'a'), Ok(None));
        assert_eq!(window.put(0, 'b'), Err(Refused(Some('b'))));
        assert_eq!(window.put(2, 'b'), Err(Refused(Some('b'))));
    }
}

#[test]
fn finish_drops_what_lies_beyond() {
    for ordered in [true, false] {
        let window = Window::new(4, None, ordered);
        for _ in 0..4 {
            window.claim();
        }
        window.put(2, 'c').unwrap();
        assert_eq!(window.finish(1), ['c']);
        assert_eq!(window.put(3, 'd'), Ok(Some('d')));
        assert_eq!(window.put(0, 'a'), Ok(None));
        assert_eq!(take(&window), Some('a'));
        assert!(matches!(window.take(), Take::End));
        assert_eq!(window.try_claim(), Claim::End);
    }
}

#[test]
fn close_gives_back_the_items() {
    let window = Window::new(2, None, true);
    window.claim();
    window.claim();
    window.put(1, 'b').unwrap();
    assert_eq!(window.close(), ['b']);
    assert!(window.close().is_empty());
    assert_eq!(window.put(0, 'a'), Ok(Some('a')));
    assert!(matches!(window.take(), Take::Closed));
}

#[test]
fn one_take_at_a_time() {
    let window: Window<()> = Window::new(1, None, true);
    let Take::Wait(mut turn) = window.take() else {
        panic!()
    };
    assert!(matches!(window.take(), Take::Busy));
    assert!(turn.wait(Duration::from_millis(1)).is_none());
    drop(turn);
    assert!(matches!(window.take(), Take::Wait(_)));
}
