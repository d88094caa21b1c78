//! Algorithms whose orderings matter, right and broken.

use super::problems;
use crate::execution::Problem;
use linchpin_sync::sync::atomic::{
    AtomicPtr, AtomicU64,
    Ordering::{Acquire, Relaxed, Release, SeqCst},
    fence,
};
use linchpin_sync::thread;
use std::sync::Arc;

fn panics(body: impl Fn() + 'static) -> bool {
    let found = problems(body);
    let is_panic = |problem: &Problem| matches!(problem, Problem::Panicked { .. });
    assert!(found.iter().all(is_panic), "{found:?}");
    !found.is_empty()
}

/// A reader of a sequence lock never sees half of a write.
fn sequence_lock(writer_fence: bool, reader_fence: bool) {
    let lock = Arc::new([AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0)]);
    let theirs = Arc::clone(&lock);
    let writer = thread::spawn(move || {
        let [sequence, first, second] = &*theirs;
        sequence.store(1, Relaxed);
        if writer_fence {
            fence(Release);
        }
        first.store(1, Relaxed);
        second.store(1, Relaxed);
        sequence.store(2, Release);
    });
    let [sequence, first, second] = &*lock;
    let before = sequence.load(Acquire);
    let (first, second) = (first.load(Relaxed), second.load(Relaxed));
    if reader_fence {
        fence(Acquire);
    }
    if before % 2 == 0 && sequence.load(Relaxed) == before {
        assert_eq!(first, second, "half of a write");
    }
    writer.join().unwrap();
}

#[test]
fn a_sequence_lock_needs_both_fences() {
    assert!(!panics(|| sequence_lock(true, true)));
    assert!(panics(|| sequence_lock(false, true)));
    assert!(panics(|| sequence_lock(true, false)));
}

/// A deque of Chase and Lev with one element, which owner and thief both want.
fn chase_lev(owner_fence: bool, thief_fence: bool) {
    // Top, bottom, the elements.
    let deque =
        Arc::new([AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0)]);
    let theirs = Arc::clone(&deque);
    let thief = thread::spawn(move || {
        let steal = || {
            let top = theirs[0].load(Acquire);
            if thief_fence {
                fence(SeqCst);
            }
            let bottom = theirs[1].load(Acquire);
            if top >= bottom {
                return None;
            }
            let element = theirs[2 + top as usize % 2].load(Relaxed);
            theirs[0].compare_exchange(top, top + 1, SeqCst, Relaxed).ok().map(|_| element)
        };
        [steal(), steal()]
    });
    let push = |element: u64| {
        let bottom = deque[1].load(Relaxed);
        deque[2 + bottom as usize % 2].store(element, Relaxed);
        fence(Release);
        deque[1].store(bottom + 1, Relaxed);
    };
    let pop = || {
        let bottom = deque[1].load(Relaxed).checked_sub(1)?;
        deque[1].store(bottom, Relaxed);
        if owner_fence {
            fence(SeqCst);
        }
        let top = deque[0].load(Relaxed);
        if top > bottom {
            deque[1].store(bottom + 1, Relaxed);
            return None;
        }
        let element = deque[2 + bottom as usize % 2].load(Relaxed);
        if top < bottom {
            return Some(element);
        }
        let taken = deque[0].compare_exchange(top, top + 1, SeqCst, Relaxed);
        deque[1].store(bottom + 1, Relaxed);
        taken.ok().map(|_| element)
    };
    push(1);
    push(2);
    let mut taken = vec![pop(), pop()];
    taken.extend(thief.join().unwrap());
    let mut taken: Vec<u64> = taken.into_iter().flatten().collect();
    taken.sort_unstable();
    assert!(taken == [1, 2] || taken == [1] || taken == [2], "taken twice: {taken:?}");
}

#[test]
fn a_deque_needs_both_fences() {
    assert!(!panics(|| chase_lev(true, true)));
    assert!(panics(|| chase_lev(false, true)));
    assert!(panics(|| chase_lev(true, false)));
}

/// A reader announces what it reads; who frees looks at the announcement.
fn hazard_pointer(reader_fence: bool, owner_fence: bool) {
    struct Shared {
        current: AtomicPtr<AtomicU64>,
        hazard: AtomicPtr<AtomicU64>,
    }
    let old = Box::into_raw(Box::new(AtomicU64::new(0)));
    let new = Box::into_raw(Box::new(AtomicU64::new(0)));
    let shared = Shared { current: AtomicPtr::new(old), hazard: AtomicPtr::default() };
    let shared = Arc::new(shared);
    let theirs = Arc::clone(&shared);
    let reader = thread::spawn(move || {
        let current = theirs.current.load(Relaxed);
        theirs.hazard.store(current, Relaxed);
        if reader_fence {
            fence(SeqCst);
        }
        if theirs.current.load(Acquire) == current {
            // SAFETY: it is not really freed until the reader has ended.
            assert_eq!(unsafe { (*current).load(Relaxed) }, 0, "used after free");
        }
        theirs.hazard.store(std::ptr::null_mut(), Release);
    });
    shared.current.store(new, Release);
    if owner_fence {
        fence(SeqCst);
    }
    if shared.hazard.load(Acquire).is_null() {
        // SAFETY: as above; this stands for freeing it.
        unsafe { (*old).store(1, Relaxed) };
    }
    reader.join().unwrap();
    // SAFETY: the reader has ended.
    drop(unsafe { (Box::from_raw(old), Box::from_raw(new)) });
}

#[test]
fn hazard_pointers_need_both_fences() {
    assert!(!panics(|| hazard_pointer(true, true)));
    assert!(panics(|| hazard_pointer(false, true)));
    assert!(panics(|| hazard_pointer(true, false)));
}
