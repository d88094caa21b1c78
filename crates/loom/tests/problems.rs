//! What goes wrong in a model is reported in loom's words; what is right passes.

use loom::cell::UnsafeCell;
use loom::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use loom::sync::{Arc, Condvar, Mutex, Notify, RwLock, mpsc};
use loom::{model, thread};
use std::time::Duration;

struct Shared(UnsafeCell<usize>);

// SAFETY: the tests are about whether that is true.
unsafe impl Sync for Shared {}

#[test]
#[should_panic(expected = "deadlock; threads = [")]
fn two_locks_in_two_orders() {
    model(|| {
        let locks = Arc::new((Mutex::new(()), Mutex::new(())));
        let theirs = locks.clone();
        let thread = thread::spawn(move || {
            let _second = theirs.1.lock().unwrap();
            let _first = theirs.0.lock().unwrap();
        });
        {
            let _first = locks.0.lock().unwrap();
            let _second = locks.1.lock().unwrap();
        }
        thread.join().unwrap();
    });
}

#[test]
#[should_panic(expected = "Arc leaked.")]
fn an_arc_that_is_forgotten() {
    model(|| std::mem::forget(Arc::new(1)));
}

#[test]
#[should_panic(expected = "Arc leaked.")]
fn an_arc_in_a_circle() {
    struct Node(Mutex<Option<Arc<Node>>>);
    model(|| {
        let node = Arc::new(Node(Mutex::new(None)));
        *node.0.lock().unwrap() = Some(node.clone());
    });
}

#[test]
#[should_panic(expected = "Allocation leaked.")]
fn memory_that_is_forgotten() {
    // SAFETY: the layout is not empty.
    model(|| assert!(!unsafe { loom::alloc::alloc(loom::alloc::Layout::new::<u64>()) }.is_null()));
}

#[test]
#[should_panic(expected = "Allocation leaked.")]
fn a_tracked_value_that_is_forgotten() {
    model(|| std::mem::forget(loom::alloc::Track::new(1)));
}

#[test]
#[should_panic(expected = "Arc is already released")]
fn an_arc_that_is_dropped_twice() {
    model(|| {
        let raw = Arc::into_raw(Arc::new(1));
        // SAFETY: it is not; the model stops before harm is done.
        unsafe {
            Arc::decrement_strong_count(raw);
            Arc::decrement_strong_count(raw);
        }
    });
}

#[test]
#[should_panic(expected = "use after free")]
fn memory_that_is_given_back_twice() {
    model(|| {
        let layout = loom::alloc::Layout::new::<u64>();
        // SAFETY: it is not; the model stops before harm is done.
        unsafe {
            let memory = loom::alloc::alloc(layout);
            loom::alloc::dealloc(memory, layout);
            loom::alloc::dealloc(memory, layout);
        }
    });
}

#[test]
#[should_panic(expected = "Causality violation: Concurrent write accesses to `UnsafeCell`.")]
fn two_threads_write_a_cell() {
    model(|| {
        let shared = Arc::new(Shared(UnsafeCell::new(0)));
        let theirs = shared.clone();
        // SAFETY: it is not; the model stops before harm is done.
        let thread = thread::spawn(move || theirs.0.with_mut(|pointer| unsafe { *pointer = 1 }));
        shared.0.with_mut(|pointer| unsafe { *pointer = 2 });
        thread.join().unwrap();
    });
}

#[test]
#[should_panic(expected = "Causality violation: Concurrent read and write accesses")]
fn one_thread_reads_while_another_writes() {
    model(|| {
        let shared = Arc::new((Shared(UnsafeCell::new(0)), AtomicBool::new(false)));
        let theirs = shared.clone();
        let thread = thread::spawn(move || {
            theirs.1.store(true, Ordering::Release);
            // SAFETY: it is not; the model stops before harm is done.
            theirs.0.0.with_mut(|pointer| unsafe { *pointer = 1 });
        });
        if shared.1.load(Ordering::Acquire) {
            shared.0.0.with(|pointer| unsafe { *pointer });
        }
        thread.join().unwrap();
    });
}

#[test]
#[should_panic(expected = "Causality violation")]
fn an_access_lasts_as_long_as_its_pointer() {
    model(|| {
        let shared = Arc::new((Shared(UnsafeCell::new(0)), AtomicBool::new(false)));
        let theirs = shared.clone();
        let thread = thread::spawn(move || {
            let _pointer = theirs.0.0.get();
            theirs.1.store(true, Ordering::Release);
        });
        if shared.1.load(Ordering::Acquire) {
            drop(shared.0.0.get_mut());
        }
        thread.join().unwrap();
    });
}

#[test]
fn a_cell_that_is_handed_over() {
    model(|| {
        let shared = Arc::new((Shared(UnsafeCell::new(0)), AtomicBool::new(false)));
        let theirs = shared.clone();
        let thread = thread::spawn(move || {
            // SAFETY: the other thread looks at it after the flag only.
            theirs.0.0.with_mut(|pointer| unsafe { *pointer = 1 });
            theirs.1.store(true, Ordering::Release);
        });
        while !shared.1.load(Ordering::Acquire) {
            thread::yield_now();
        }
        // SAFETY: as above.
        assert_eq!(shared.0.0.with(|pointer| unsafe { *pointer }), 1);
        thread.join().unwrap();
    });
}

#[test]
#[should_panic(expected = "deadlock")]
fn a_wake_up_that_is_lost() {
    model(|| {
        let event = Arc::new((AtomicBool::new(false), Mutex::new(()), Condvar::new()));
        let theirs = event.clone();
        let thread = thread::spawn(move || {
            theirs.0.store(true, Ordering::SeqCst);
            // The lock is missing here.
            theirs.2.notify_one();
        });
        let mut guard = event.1.lock().unwrap();
        while !event.0.load(Ordering::SeqCst) {
            guard = event.2.wait(guard).unwrap();
        }
        drop(guard);
        thread.join().unwrap();
    });
}

#[test]
fn a_wake_up_that_is_not_lost() {
    model(|| {
        let event = Arc::new((Mutex::new(false), Condvar::new()));
        let theirs = event.clone();
        let thread = thread::spawn(move || {
            *theirs.0.lock().unwrap() = true;
            theirs.1.notify_one();
        });
        let guard = event.1.wait_while(event.0.lock().unwrap(), |ready| !*ready).unwrap();
        assert!(*guard);
        drop(guard);
        thread.join().unwrap();
    });
}

/// One notification for two threads of which only one can use it: std may wake the other one.
#[test]
#[should_panic(expected = "deadlock")]
fn one_notification_for_two_conditions() {
    model(|| {
        let event = Arc::new((Mutex::new(0), Condvar::new()));
        let waits = |level| {
            let event = event.clone();
            move || drop(event.1.wait_while(event.0.lock().unwrap(), |now| *now < level))
        };
        let (one, two) = (thread::spawn(waits(1)), thread::spawn(waits(2)));
        *event.0.lock().unwrap() = 1;
        event.1.notify_one();
        one.join().unwrap();
        *event.0.lock().unwrap() = 2;
        event.1.notify_all();
        two.join().unwrap();
    });
}

/// A thread whose time is up does not take the notification with it that another one needs.
#[test]
fn a_notification_is_not_lost_to_a_time_out() {
    model(|| {
        let event = Arc::new((Mutex::new(false), Condvar::new()));
        let (timed, theirs) = (event.clone(), event.clone());
        let one = thread::spawn(move || {
            let guard = timed.0.lock().unwrap();
            if *guard {
                return false;
            }
            let (_, result) = timed.1.wait_timeout(guard, Duration::from_secs(1)).unwrap();
            // Notified for another: hands it on.
            if !result.timed_out() {
                timed.1.notify_one();
            }
            result.timed_out()
        });
        let two = thread::spawn(move || {
            drop(theirs.1.wait_while(theirs.0.lock().unwrap(), |ready| !*ready).unwrap());
        });
        *event.0.lock().unwrap() = true;
        event.1.notify_one();
        one.join().unwrap();
        two.join().unwrap();
    });
}

#[test]
fn both_ends_of_a_wait_with_a_time_out_are_seen() {
    use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
    static SEEN: [AtomicBool; 2] = [AtomicBool::new(false), AtomicBool::new(false)];
    model(|| {
        let event = Arc::new((Mutex::new(()), Condvar::new()));
        let theirs = event.clone();
        let thread = thread::spawn(move || theirs.1.notify_all());
        let guard = event.0.lock().unwrap();
        let (guard, result) = event.1.wait_timeout(guard, Duration::ZERO).unwrap();
        SEEN[usize::from(result.timed_out())].store(true, Relaxed);
        drop(guard);
        thread.join().unwrap();
    });
    assert!(SEEN.iter().all(|seen| seen.load(Relaxed)));
}

/// Waits in a loop, for something that comes: the loop has an end although time passes at will.
#[test]
fn time_outs_in_a_loop() {
    model(|| {
        let event = Arc::new((Mutex::new(false), Condvar::new()));
        let theirs = event.clone();
        let thread = thread::spawn(move || *theirs.0.lock().unwrap() = true);
        let mut guard = event.0.lock().unwrap();
        while !*guard {
            guard = event.1.wait_timeout(guard, Duration::from_millis(1)).unwrap().0;
        }
        drop(guard);
        thread.join().unwrap();
    });
}

#[test]
#[should_panic(expected = "left: 1")]
fn an_update_that_is_lost() {
    model(|| {
        let count = Arc::new(AtomicUsize::new(0));
        let theirs = count.clone();
        let add = |count: &AtomicUsize| {
            count.store(count.load(Ordering::SeqCst) + 1, Ordering::SeqCst);
        };
        let thread = thread::spawn(move || add(&theirs));
        add(&count);
        thread.join().unwrap();
        assert_eq!(count.load(Ordering::SeqCst), 2);
    });
}

#[test]
#[should_panic(expected = "Model exceeded maximum number of branches.")]
fn a_loop_without_a_pause() {
    model(|| {
        let flag = AtomicBool::new(false);
        while !flag.load(Ordering::SeqCst) {}
    });
}

#[test]
fn a_read_lock_is_shared_and_a_write_lock_is_not() {
    model(|| {
        let lock = Arc::new(RwLock::new((0, 0)));
        let theirs = lock.clone();
        let thread = thread::spawn(move || {
            let mut both = theirs.write().unwrap();
            both.0 += 1;
            both.1 += 1;
        });
        {
            let (one, two) = (lock.read().unwrap(), lock.read().unwrap());
            assert_eq!((one.0, two.0), (one.1, two.1));
        }
        thread.join().unwrap();
        assert_eq!(lock.read().unwrap().0, 1);
    });
}

#[test]
fn channels_of_all_kinds() {
    model(|| {
        let (sender, receiver) = mpsc::channel();
        let other = sender.clone();
        let thread = thread::spawn(move || other.send(1).unwrap());
        sender.send(2).unwrap();
        drop(sender);
        assert_eq!(receiver.iter().sum::<i32>(), 3);
        assert_eq!(receiver.try_recv(), Err(mpsc::TryRecvError::Disconnected));
        thread.join().unwrap();
    });
    for bound in 0..2 {
        model(move || {
            let (sender, receiver) = mpsc::sync_channel(bound);
            let thread = thread::spawn(move || (sender.send(1), sender.send(2)));
            assert_eq!((receiver.recv(), receiver.recv()), (Ok(1), Ok(2)));
            assert_eq!(thread.join().unwrap(), (Ok(()), Ok(())));
        });
    }
}

#[test]
fn what_is_handed_over_comes_back_if_the_receiver_goes() {
    model(|| {
        let (sender, receiver) = mpsc::sync_channel(0);
        let thread = thread::spawn(move || sender.send(Box::new(1)));
        drop(receiver);
        assert!(thread.join().unwrap().is_err_and(|error| *error.0 == 1));
    });
}

#[test]
#[should_panic(expected = "deadlock")]
fn a_receiver_waits_for_a_sender_that_stays() {
    model(|| {
        let (sender, receiver) = mpsc::channel::<()>();
        assert!(receiver.recv().is_err());
        drop(sender);
    });
}

#[test]
#[should_panic(expected = "assertion failed: first")]
fn a_token_may_not_be_there() {
    model(|| {
        let notify = Arc::new((Notify::new(), AtomicBool::new(false)));
        let theirs = notify.clone();
        let thread = thread::spawn(move || {
            theirs.1.store(true, Ordering::SeqCst);
            theirs.0.notify();
        });
        notify.0.wait();
        let first = notify.1.load(Ordering::SeqCst);
        assert!(first);
        thread.join().unwrap();
    });
}

/// All values of the counts of an `Arc` are seen, and the value is dropped once, at the end.
#[test]
fn the_last_arc_drops_the_value() {
    struct Dropped(Arc<AtomicUsize>);
    impl Drop for Dropped {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
    model(|| {
        let drops = Arc::new(AtomicUsize::new(0));
        let value = Arc::new(Dropped(drops.clone()));
        let weak = Arc::downgrade(&value);
        let theirs = value.clone();
        let thread = thread::spawn(move || drop(theirs));
        drop(value);
        if let Some(value) = weak.upgrade() {
            assert_eq!(value.0.load(Ordering::SeqCst), 0);
        }
        thread.join().unwrap();
        assert_eq!(drops.load(Ordering::SeqCst), 1);
        assert!(weak.upgrade().is_none());
    });
}

/// A result that no thread asks for is dropped by the thread, or by the one that drops the handle.
#[test]
fn the_result_of_a_thread_that_is_not_joined() {
    model(|| {
        let (sender, receiver) = mpsc::channel();
        let handle = thread::spawn(move || sender);
        drop(handle);
        // The sender is gone when it was dropped, by either.
        assert_eq!(receiver.recv(), Err::<(), _>(mpsc::RecvError));
    });
}

#[test]
fn locks_that_are_tried() {
    model(|| {
        let lock = Arc::new((Mutex::new(0), AtomicUsize::new(0)));
        let theirs = lock.clone();
        let tries = |lock: &(Mutex<usize>, AtomicUsize)| {
            if let Ok(mut guard) = lock.0.try_lock() {
                assert_eq!(lock.1.fetch_add(1, Ordering::SeqCst), 0);
                *guard += 1;
                lock.1.fetch_sub(1, Ordering::SeqCst);
            }
        };
        let thread = thread::spawn(move || tries(&theirs));
        tries(&lock);
        tries(&lock);
        thread.join().unwrap();
        assert!((1..=3).contains(&*lock.0.lock().unwrap()));
    });
}

/// How many executions a model has that does this before and after two threads write.
fn executions(before: fn(), after: fn(), builder: &model::Builder) -> usize {
    static COUNT: std::sync::Mutex<usize> = std::sync::Mutex::new(0);
    static TURN: std::sync::Mutex<()> = std::sync::Mutex::new(());
    let _turn = TURN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    *COUNT.lock().unwrap() = 0;
    builder.check(move || {
        *COUNT.lock().unwrap() += 1;
        let words = Arc::new((AtomicUsize::new(0), AtomicUsize::new(0)));
        let write = |at: usize, words: Arc<(AtomicUsize, AtomicUsize)>| {
            let word = if at == 0 { &words.0 } else { &words.1 };
            word.fetch_add(1, Ordering::SeqCst);
        };
        let both = |at: usize| {
            let threads =
                [words.clone(), words.clone()].map(|words| thread::spawn(move || write(at, words)));
            for thread in threads {
                thread.join().unwrap();
            }
        };
        before();
        both(0);
        after();
        both(1);
    });
    *COUNT.lock().unwrap()
}

#[test]
fn what_need_not_be_explored_is_not() {
    let nothing = || {};
    for bound in [None, Some(3)] {
        let mut builder = model::Builder::new();
        builder.preemption_bound = bound;
        let count = |before: fn(), after: fn()| executions(before, after, &builder);
        let (all, half) = (count(nothing, nothing), count(nothing, loom::stop_exploring));
        assert!(all > half && half > 1, "{all}, {half}");
        assert_eq!(count(loom::stop_exploring, loom::explore), half);
        assert_eq!(count(loom::stop_exploring, nothing), 1);
        assert_eq!(count(loom::skip_branch, loom::explore), 1);
        assert_eq!(count(nothing, loom::skip_branch), half);
        builder.expect_explicit_explore = true;
        assert_eq!(executions(nothing, nothing, &builder), 1);
        assert_eq!(executions(nothing, loom::explore, &builder), half);
    }
}
