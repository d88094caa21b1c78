//! Which thread runs, and its token to park.

use crate::runtime::{self, Locals, PlaceKind};
use crate::word::Word;
use std::any::Any;
use std::fmt;
use std::panic::Location;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::time::Duration;

/// As [`std::thread::Thread`].
#[derive(Clone)]
pub struct Thread(Which);

#[derive(Clone)]
enum Which {
    Real(std::thread::Thread),
    Controlled(Arc<Controlled>),
}

struct Controlled {
    /// Index in the execution.
    index: AtomicUsize,
    name: Option<String>,
    /// 1 if the thread may go on where it parks.
    token: Word,
}

/// As [`std::thread::ThreadId`].
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ThreadId(Id);

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Id {
    Real(std::thread::ThreadId),
    Controlled(usize),
}

impl fmt::Debug for ThreadId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Id::Real(id) => fmt::Debug::fmt(&id, f),
            Id::Controlled(index) => write!(f, "ThreadId({index})"),
        }
    }
}

impl Thread {
    pub(super) fn of_real(thread: std::thread::Thread) -> Thread {
        Thread(Which::Real(thread))
    }

    pub(super) fn controlled(name: Option<String>) -> Thread {
        let token = Word::new(PlaceKind::Park, 0);
        let thread = Controlled { index: AtomicUsize::new(0), name, token };
        Thread(Which::Controlled(Arc::new(thread)))
    }

    /// Said by both sides of a spawn: either may be the first that needs it.
    pub(super) fn is_thread(&self, index: usize) {
        if let Which::Controlled(thread) = &self.0 {
            thread.index.store(index, Relaxed);
        }
    }

    /// This is the thread that runs from now on.
    pub(super) fn begin(&self) {
        let index = runtime::with(|runtime| runtime.current());
        self.is_thread(index.unwrap_or(0));
        local::<Thread>(&CURRENT, &|| Rc::new(self.clone()));
    }

    /// As in std; under control the number of the thread in the execution.
    pub fn id(&self) -> ThreadId {
        ThreadId(match &self.0 {
            Which::Real(thread) => Id::Real(thread.id()),
            Which::Controlled(thread) => Id::Controlled(thread.index.load(Relaxed)),
        })
    }

    /// As in std.
    pub fn name(&self) -> Option<&str> {
        match &self.0 {
            Which::Real(thread) => thread.name(),
            Which::Controlled(thread) => thread.name.as_deref(),
        }
    }

    /// As in std.
    #[track_caller]
    pub fn unpark(&self) {
        match &self.0 {
            Which::Real(thread) => thread.unpark(),
            Which::Controlled(thread) => {
                thread.token.update(&|_| Some(1), Release, Relaxed);
            }
        }
    }
}

impl fmt::Debug for Thread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Thread");
        shown.field("id", &self.id()).field("name", &self.name()).finish_non_exhaustive()
    }
}

/// The variable of the thread that runs under this key, if it is controlled.
fn local<T: 'static>(key: &'static u8, make: &dyn Fn() -> Rc<dyn Any>) -> Option<Rc<T>> {
    let mut found = None;
    runtime::with(|runtime| {
        let key = std::ptr::from_ref(key).addr();
        runtime.with_locals(&mut |locals: &Locals| found = locals.get(key, make));
    });
    found?.downcast().ok()
}

/// Its address is a key.
static CURRENT: u8 = 0;

/// As [`std::thread::current`].
pub fn current() -> Thread {
    let index = runtime::with(|runtime| runtime.current());
    let Some(index) = index else { return Thread::of_real(std::thread::current()) };
    let make = || {
        let name = (index == 0).then(|| "main".to_string());
        let thread = Thread::controlled(name);
        thread.is_thread(index);
        Rc::new(thread) as Rc<dyn Any>
    };
    // It is destroyed while the variables of the thread are; the token is lost then.
    let thread = local::<Thread>(&CURRENT, &make);
    thread
        .or_else(|| make().downcast().ok())
        .map_or_else(|| Thread::of_real(std::thread::current()), |thread| (*thread).clone())
}

/// As [`std::thread::park`]; under control it never goes on without a reason.
#[track_caller]
pub fn park() {
    match current().0 {
        Which::Real(_) if runtime::is_unwinding() => runtime::waited_in_vain(),
        Which::Real(_) => std::thread::park(),
        Which::Controlled(thread) => {
            thread.token.wait(&|token| (token == 1).then_some(0), Acquire);
        }
    }
}

/// As [`std::thread::park_timeout`]; under control the time may be up at any moment.
#[track_caller]
pub fn park_timeout(duration: Duration) {
    match current().0 {
        Which::Real(_) => std::thread::park_timeout(duration),
        Which::Controlled(thread) => {
            let take = |token| (token == 1).then_some(0);
            time_is_up(thread.token.update(&take, Acquire, Acquire) == 0);
        }
    }
}

/// A wait has ended, because the time was up or not. Time passes as the scheduler wants; but a
/// thread that waits in a loop has nothing to do until another one has written.
#[track_caller]
pub(crate) fn time_is_up(up: bool) {
    let site = Location::caller();
    if up {
        runtime::with(|runtime| runtime.pause(site));
    }
}
