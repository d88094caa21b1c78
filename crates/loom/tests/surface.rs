//! Every item of loom's API that crates are known to use is there, and acts.

use loom::cell::{Cell, ConstPtr, MutPtr, UnsafeCell};
use loom::sync::atomic::*;
use loom::sync::{Arc, Barrier, Condvar, Mutex, MutexGuard, Notify, RwLock};
use loom::thread::{self, LocalKey, Thread, ThreadId};
use std::time::Duration;

loom::thread_local! {
    static LOCAL: std::cell::Cell<u32> = std::cell::Cell::new(1);
    pub(crate) static OTHER: std::cell::RefCell<Vec<u32>> = std::cell::RefCell::new(Vec::new());
}

loom::lazy_static! {
    static ref LAZY: Arc<AtomicUsize> = Arc::new(AtomicUsize::new(7));
    /// Documented.
    pub static ref PUBLIC: u8 = 1;
}

#[test]
fn builder() {
    let mut builder = loom::model::Builder::new();
    builder.max_threads = loom::MAX_THREADS;
    builder.max_branches = 100;
    builder.max_permutations = Some(10);
    builder.max_duration = Some(Duration::from_secs(10));
    builder.preemption_bound = Some(2);
    builder.checkpoint_file = None;
    builder.checkpoint_interval = 1;
    builder.expect_explicit_explore = true;
    builder.location = true;
    builder.log = false;
    builder.check(|| {
        loom::explore();
        loom::stop_exploring();
        loom::skip_branch();
        let count = Arc::new(AtomicUsize::new(0));
        let theirs = count.clone();
        let thread = thread::spawn(move || theirs.fetch_add(1, Ordering::SeqCst));
        count.fetch_add(1, Ordering::SeqCst);
        thread.join().unwrap();
        assert_eq!(count.load(Ordering::SeqCst), 2);
    });
}

#[test]
fn what_failed_is_tried_first_the_next_time() {
    use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
    static RUNS: AtomicU32 = AtomicU32::new(0);
    let file = std::env::temp_dir().join(format!("loom-checkpoint-{}", std::process::id()));
    let check = || {
        let mut builder = loom::model::Builder::default();
        builder.checkpoint_file(file.to_str().unwrap());
        let check = std::panic::AssertUnwindSafe(|| {
            builder.check(|| {
                RUNS.fetch_add(1, Relaxed);
                let count = Arc::new(AtomicUsize::new(0));
                let theirs = count.clone();
                let thread = thread::spawn(move || theirs.store(1, Ordering::SeqCst));
                assert_eq!(count.load(Ordering::SeqCst), 0);
                thread.join().unwrap();
            })
        });
        assert!(std::panic::catch_unwind(check).is_err());
        RUNS.swap(0, Relaxed)
    };
    let (first, second) = (check(), check());
    std::fs::remove_file(&file).unwrap();
    assert!(first >= 2 && second == 1, "{first} {second}");
}

#[test]
fn threads() {
    loom::model(|| {
        let main: Thread = thread::current();
        let id: ThreadId = main.id();
        let builder = thread::Builder::new().name("other".to_string()).stack_size(1 << 16);
        let handle = builder
            .spawn(move || {
                assert_eq!(thread::current().name(), Some("other"));
                assert_ne!(thread::current().id(), id);
                main.unpark();
                thread::park_timeout(Duration::ZERO);
                thread::sleep(Duration::ZERO);
            })
            .unwrap();
        assert_ne!(handle.thread().id(), id);
        thread::park();
        while !handle.is_finished() {
            thread::yield_now();
        }
        handle.join().unwrap();
        // As in loom, nothing need be sendable.
        let shared = std::rc::Rc::new(1);
        assert_eq!(*thread::spawn(move || shared).join().unwrap(), 1);
        assert!(!thread::panicking());
        let mut number = 0;
        thread::scope(|scope| {
            scope.spawn(|| number = 1);
        });
        assert_eq!(number, 1);
    });
}

#[test]
fn locals_and_lazy_statics() {
    loom::model(|| {
        let key: &'static LocalKey<_> = &LOCAL;
        key.with(|local| local.set(2));
        OTHER.with(|other| other.borrow_mut().push(1));
        let other = || {
            assert_eq!(LOCAL.with(|local| local.get()), 1);
            assert!(OTHER.try_with(|other| other.borrow().is_empty()).unwrap());
            LAZY.fetch_add(usize::from(*PUBLIC), Ordering::SeqCst);
        };
        thread::spawn(other).join().unwrap();
        // Made anew in each execution.
        assert_eq!((LAZY.load(Ordering::SeqCst), LOCAL.get()), (8, 2));
    });
}

#[test]
fn cells() {
    loom::model(|| {
        let cell = UnsafeCell::new(1);
        // SAFETY: there is one thread.
        unsafe {
            cell.with_mut(|pointer| *pointer += 1);
            let write: MutPtr<i32> = cell.get_mut();
            *write.deref() += 1;
            write.with(|pointer| *pointer += 1);
            drop(write);
            let read: ConstPtr<i32> = cell.get();
            assert_eq!((*read.deref(), read.with(|pointer| *pointer)), (4, 4));
        }
        assert!(!cell.with(|pointer| pointer.is_null()));
        assert_eq!(cell.into_inner(), 4);
        let cell = Cell::new(1);
        cell.set(2);
        cell.swap(&Cell::new(3));
        assert_eq!((cell.replace(4), cell.get(), cell.take(), cell.into_inner()), (3, 4, 4, 0));
    });
}

#[test]
fn locks() {
    loom::model(|| {
        let mut mutex = Mutex::new(1);
        let guard: MutexGuard<'_, _> = mutex.lock().unwrap();
        assert!(mutex.try_lock().is_err());
        // Not even the second time: what fails must not unlock.
        assert!(mutex.try_lock().is_err());
        drop(guard);
        *mutex.get_mut().unwrap() += 1;
        assert_eq!(mutex.into_inner().unwrap(), 2);
        let mut lock = RwLock::new(1);
        assert!(lock.try_read().is_ok() && lock.try_write().is_ok());
        let guard = lock.write().unwrap();
        assert!(lock.try_read().is_err() && lock.try_write().is_err());
        assert!(lock.try_read().is_err() && lock.try_write().is_err());
        drop(guard);
        drop(lock.read().unwrap());
        *lock.write().unwrap() += 1;
        *lock.get_mut().unwrap() += 1;
        assert_eq!(lock.into_inner().unwrap(), 3);
        let (condvar, notify) = (Condvar::new(), Notify::new());
        condvar.notify_one();
        condvar.notify_all();
        notify.notify();
        notify.wait();
        let barrier = Arc::new(Barrier::new(2));
        let theirs = barrier.clone();
        let thread = thread::spawn(move || theirs.wait().is_leader());
        assert_ne!(barrier.wait().is_leader(), thread.join().unwrap());
        let once = loom::sync::OnceLock::new();
        assert_eq!((once.get_or_init(|| 1), once.set(2)), (&1, Err(2)));
        assert_eq!(*loom::sync::LazyLock::new(|| 3), 3);
    });
}

#[test]
fn arcs() {
    loom::model(|| {
        let mut arc = Arc::new(1);
        *Arc::get_mut(&mut arc).unwrap() = 2;
        let other = Arc::clone(&arc);
        assert!(Arc::ptr_eq(&arc, &other) && Arc::strong_count(&arc) == 2);
        let raw = Arc::into_raw(other);
        // SAFETY: each count is given back once.
        unsafe {
            Arc::increment_strong_count(raw);
            Arc::decrement_strong_count(raw);
            drop(Arc::from_raw(raw));
        }
        assert_eq!((*Arc::pin(1), Arc::try_unwrap(arc)), (1, Ok(2)));
        let shown: Arc<dyn std::fmt::Debug> = Arc::from_std(std::sync::Arc::new(1));
        assert_eq!(format!("{shown:?} {:?}", Arc::as_ptr(&shown).is_null()), "1 false");
        let _default: (Arc<u8>, Arc<u8>) = (Arc::default(), Arc::from(1));
    });
}

macro_rules! integers {
    ($($type:ident)*) => {
        $({
            let mut atomic = $type::new(1);
            atomic.store(2, Ordering::Release);
            atomic.fetch_add(1, Ordering::AcqRel);
            atomic.fetch_sub(1, Ordering::AcqRel);
            atomic.fetch_and(7, Ordering::AcqRel);
            atomic.fetch_nand(0, Ordering::AcqRel);
            atomic.fetch_or(1, Ordering::AcqRel);
            atomic.fetch_xor(1, Ordering::AcqRel);
            atomic.fetch_max(3, Ordering::AcqRel);
            atomic.fetch_min(3, Ordering::AcqRel);
            atomic.swap(5, Ordering::AcqRel);
            let _ = atomic.compare_exchange(5, 6, Ordering::SeqCst, Ordering::Relaxed);
            let _ = atomic.compare_exchange_weak(6, 7, Ordering::SeqCst, Ordering::Relaxed);
            #[allow(deprecated)]
            atomic.compare_and_swap(7, 8, Ordering::SeqCst);
            let _ = atomic.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |old| Some(old + 1));
            assert_eq!(atomic.load(Ordering::Acquire), 9);
            atomic.with_mut(|value| *value += 1);
            // SAFETY: there is one thread.
            assert_eq!(unsafe { atomic.unsync_load() }, 10);
            assert_eq!(atomic.into_inner(), 10);
        })*
    };
}

#[test]
fn atomics() {
    loom::model(|| {
        integers!(AtomicU8 AtomicU16 AtomicU32 AtomicU64 AtomicUsize);
        integers!(AtomicI8 AtomicI16 AtomicI32 AtomicI64 AtomicIsize);
        let flag = AtomicBool::new(false);
        assert!(!flag.fetch_or(true, Ordering::SeqCst) && flag.load(Ordering::SeqCst));
        let mut value = 1;
        let mut pointer = AtomicPtr::new(&raw mut value);
        assert!(!pointer.swap(std::ptr::null_mut(), Ordering::SeqCst).is_null());
        assert!(pointer.with_mut(|pointer| pointer.is_null()) && pointer.get_mut().is_null());
        fence(Ordering::SeqCst);
        spin_loop_hint();
        loom::hint::spin_loop();
    });
}

#[test]
fn memory() {
    use loom::alloc::{Layout, Track, alloc, alloc_zeroed, dealloc};
    loom::model(|| {
        let layout = Layout::new::<u32>();
        // SAFETY: both are given back.
        unsafe {
            dealloc(alloc(layout), layout);
            dealloc(alloc_zeroed(layout), layout);
        }
        let mut tracked = Track::new(1);
        *tracked.get_mut() += 1;
        assert_eq!((*tracked.get_ref(), tracked.into_inner()), (2, 2));
    });
}

#[cfg(feature = "futures")]
#[test]
fn futures() {
    use loom::future::{AtomicWaker, block_on};
    use std::task::Poll;
    loom::model(|| {
        let ready = Arc::new((AtomicBool::new(false), AtomicWaker::new()));
        let theirs = ready.clone();
        let thread = thread::spawn(move || {
            theirs.0.store(true, Ordering::Release);
            theirs.1.wake();
        });
        block_on(std::future::poll_fn(|context| {
            ready.1.register_by_ref(context.waker());
            if ready.0.load(Ordering::Acquire) { Poll::Ready(()) } else { Poll::Pending }
        }));
        thread.join().unwrap();
        drop(ready.1.take_waker());
    });
}

#[test]
fn outside_of_a_model_all_is_as_in_std() {
    let arc = Arc::new(Mutex::new(0));
    let theirs = arc.clone();
    thread::spawn(move || *theirs.lock().unwrap() += 1).join().unwrap();
    assert_eq!((*arc.lock().unwrap(), LAZY.load(Ordering::SeqCst) >= 7), (1, true));
}
