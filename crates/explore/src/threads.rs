//! Threads as coroutines: each runs until its next question ([`Request`]) and waits for a reply.
//!
//! An engine (one file or folder a strategy) resumes one thread after the other and says what each
//! access reads; nothing is decided here. Threads that an engine leaves behind are not unwound: an
//! atomic access never panics in real life, so the code around it need not survive that. Their
//! memory is lost instead.

use crate::options::Options;
use crate::watch::Watch;
use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult, Yielder};
use linchpin_sync::runtime::{
    Action, CellAccess, Controlled, Exploring, Identity, Locals, Place, Resource, Runtime, Site,
    control,
};
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// A thread of an execution: 0 is the first.
pub(crate) type ThreadId = usize;

/// What a thread asks.
///
/// INVARIANT: the references live on the stack of the thread that asks: they are good until it is
/// resumed. An engine that keeps something keeps a copy.
pub(crate) enum Request {
    /// See [`Runtime::access`] and [`Runtime::access_in_line`]. Reply: what was there before.
    Access {
        place: Place<'static>,
        line: Option<Place<'static>>,
        action: Action<'static>,
        site: Site,
    },
    /// See [`Runtime::fence`].
    Fence { order: Ordering, site: Site },
    /// See [`Runtime::cell`].
    Cell { identity: &'static Identity, access: CellAccess, site: Site },
    /// See [`Runtime::pause`].
    Pause { site: Site },
    /// See [`Runtime::choose`]. Reply: which.
    Choose { alternatives: usize, site: Site },
    /// A thread was made, with the index that [`Threads::resume`] takes; it has not run yet.
    Spawned { thread: ThreadId, name: Option<String>, site: Site },
    /// See [`Runtime::acquired`]. Reply: its number.
    Acquired { what: Resource, site: Site },
    /// See [`Runtime::released`].
    Released { resource: u64, site: Site },
    /// See [`Runtime::used`].
    Used { resource: u64, site: Site },
    /// See [`Runtime::mark`].
    Mark(u64),
}

impl Request {
    /// Where something is asked; nowhere for marks.
    pub(crate) fn site(&self) -> Option<Site> {
        match self {
            Request::Access { site, .. }
            | Request::Fence { site, .. }
            | Request::Cell { site, .. }
            | Request::Pause { site }
            | Request::Choose { site, .. }
            | Request::Spawned { site, .. }
            | Request::Acquired { site, .. }
            | Request::Released { site, .. }
            | Request::Used { site, .. } => Some(site),
            Request::Mark(_) => None,
        }
    }

    fn mark(&self) -> Option<u64> {
        match self {
            Request::Mark(mark) => Some(*mark),
            _ => None,
        }
    }
}

/// Where a thread is after it was resumed.
pub(crate) enum Paused {
    /// It asks something, and waits for the reply.
    Asks(Request),
    /// It has ended.
    Ended,
    /// It has panicked.
    Panicked(Box<dyn Any + Send>),
}

type Body = Coroutine<u64, Request, Result<(), Box<dyn Any + Send>>, DefaultStack>;

/// The threads of one execution.
pub(crate) struct Threads {
    bodies: Vec<Option<Body>>,
    shared: Rc<Shared>,
}

/// Stacks that no thread uses, to be used again: making one costs a thousand times more.
pub(crate) struct Stacks {
    free: Vec<DefaultStack>,
    /// How large each is.
    bytes: usize,
    watch: Option<Arc<Watch>>,
}

impl Stacks {
    /// None yet.
    pub(crate) fn new(options: &Options) -> Stacks {
        Stacks { free: Vec::new(), bytes: options.stack, watch: options.watch.clone() }
    }

    fn take(&mut self) -> DefaultStack {
        self.free.pop().unwrap_or_else(|| {
            DefaultStack::new(self.bytes).expect("the system has memory for a stack")
        })
    }
}

/// What threads and engine share: the runtime that the primitives see.
#[derive(Default)]
struct Shared {
    /// Of the thread that runs.
    yielder: Cell<Option<*const Yielder<u64, Request>>>,
    current: Cell<ThreadId>,
    locals: RefCell<Vec<Rc<Locals>>>,
    /// Bodies that were spawned and are no coroutines yet.
    spawned: RefCell<Vec<Box<dyn FnOnce()>>>,
    exploring: Cell<Exploring>,
    /// What is done when the execution has ended.
    at_end: RefCell<Vec<Box<dyn FnOnce()>>>,
}

impl Drop for Shared {
    fn drop(&mut self) {
        for call in self.at_end.take() {
            call();
        }
    }
}

impl Threads {
    /// An execution with one thread, which has not run yet.
    pub(crate) fn new(body: Box<dyn FnOnce()>, stacks: &mut Stacks) -> Threads {
        let mut threads = Threads { bodies: Vec::new(), shared: Rc::default() };
        threads.add(body, stacks);
        threads
    }

    fn add(&mut self, body: Box<dyn FnOnce()>, stacks: &mut Stacks) {
        let stack = stacks.take();
        if let Some(watch) = &stacks.watch {
            watch.added(self.bodies.len());
        }
        let shared = Rc::clone(&self.shared);
        let coroutine = Coroutine::with_stack(stack, move |yielder: &Yielder<_, _>, _| {
            shared.yielder.set(Some(yielder));
            catch_unwind(AssertUnwindSafe(body))
        });
        self.bodies.push(Some(coroutine));
        self.shared.locals.borrow_mut().push(Rc::default());
    }

    /// How many threads there are, ended ones included.
    pub(crate) fn len(&self) -> usize {
        self.bodies.len()
    }

    /// Whether other executions are to be explored from here on.
    pub(crate) fn is_explored(&self) -> bool {
        self.shared.exploring.get() == Exploring::On
    }

    /// Lets a thread go on with the reply to its question until it asks again. The first reply to a
    /// new thread means nothing.
    ///
    /// # Panics
    ///
    /// If the thread has ended.
    pub(crate) fn resume(&mut self, thread: ThreadId, reply: u64, stacks: &mut Stacks) -> Paused {
        let shared = Rc::clone(&self.shared);
        let _controlled: Controlled<'_> = control(&*shared);
        let coroutine = self.bodies[thread].as_mut().expect("the thread has not ended");
        let caller = self.shared.yielder.take();
        self.shared.current.set(thread);
        if let Some(watch) = &stacks.watch {
            watch.entered(thread);
        }
        let result = coroutine.resume(reply);
        if let Some(watch) = &stacks.watch {
            let (site, mark) = match &result {
                CoroutineResult::Yield(request) => (request.site(), request.mark()),
                CoroutineResult::Return(_) => (None, None),
            };
            watch.left(thread, site, mark);
        }
        self.shared.yielder.set(caller);
        match result {
            CoroutineResult::Yield(mut request) => {
                if let Request::Spawned { thread: new, .. } = &mut request {
                    *new = self.bodies.len();
                    let body = self.shared.spawned.borrow_mut().pop();
                    self.add(body.expect("a body was left"), stacks);
                }
                Paused::Asks(request)
            }
            CoroutineResult::Return(result) => {
                if let Some(coroutine) = self.bodies[thread].take() {
                    stacks.free.push(coroutine.into_stack());
                }
                match result {
                    Ok(()) => Paused::Ended,
                    Err(panic) => Paused::Panicked(panic),
                }
            }
        }
    }

    /// Leaves the threads behind that have not ended; what they own is lost.
    pub(crate) fn abandon(mut self, stacks: &mut Stacks) {
        for coroutine in self.bodies.drain(..).flatten() {
            let mut coroutine = coroutine;
            if coroutine.started() && !coroutine.done() {
                // SAFETY: nothing refers to the stack of a thread that is never resumed again, but
                // for values that are leaked with it; locals of other threads do not outlive
                // their own.
                unsafe { coroutine.force_reset() };
                stacks.free.push(coroutine.into_stack());
            }
        }
    }
}

impl Shared {
    /// Asks the engine, which may run other threads meanwhile.
    fn ask(&self, request: Request) -> u64 {
        let Some(yielder) = self.yielder.get() else { return 0 };
        let current = self.current.get();
        // SAFETY: the yielder lives as long as the coroutine that it was given to, which is the one
        // that runs.
        let reply = unsafe { (*yielder).suspend(request) };
        self.yielder.set(Some(yielder));
        self.current.set(current);
        reply
    }
}

/// Forgets how long a reference is good.
///
/// # Safety
///
/// The result is used only while the thread that asks is suspended.
unsafe fn forever<T: ?Sized>(reference: &T) -> &'static T {
    // SAFETY: as above.
    unsafe { &*std::ptr::from_ref(reference) }
}

impl Runtime for Shared {
    fn access(&self, place: Place<'_>, action: Action<'_>, site: Site) -> u64 {
        // SAFETY: the thread is suspended in `ask` while the engine uses them.
        let (place, action) = unsafe {
            (
                std::mem::transmute::<Place<'_>, Place<'static>>(place),
                std::mem::transmute::<Action<'_>, Action<'static>>(action),
            )
        };
        self.ask(Request::Access { place, line: None, action, site })
    }

    fn access_in_line(
        &self,
        place: Place<'_>,
        line: Place<'_>,
        action: Action<'_>,
        site: Site,
    ) -> u64 {
        // SAFETY: the thread is suspended in `ask` while the engine uses them.
        let (place, line, action) = unsafe {
            (
                std::mem::transmute::<Place<'_>, Place<'static>>(place),
                std::mem::transmute::<Place<'_>, Place<'static>>(line),
                std::mem::transmute::<Action<'_>, Action<'static>>(action),
            )
        };
        self.ask(Request::Access { place, line: Some(line), action, site })
    }

    fn fence(&self, order: Ordering, site: Site) {
        self.ask(Request::Fence { order, site });
    }

    fn cell(&self, identity: &Identity, access: CellAccess, site: Site) {
        // SAFETY: the thread is suspended in `ask` while the engine uses it.
        let identity = unsafe { forever(identity) };
        self.ask(Request::Cell { identity, access, site });
    }

    fn pause(&self, site: Site) {
        self.ask(Request::Pause { site });
    }

    fn choose(&self, alternatives: usize, site: Site) -> usize {
        self.ask(Request::Choose { alternatives, site }) as usize
    }

    fn spawn(&self, name: Option<String>, body: Box<dyn FnOnce()>, site: Site) -> usize {
        self.spawned.borrow_mut().push(body);
        // The index is given by `resume`, and this is the only thread that can spawn until then.
        let thread = self.locals.borrow().len();
        self.ask(Request::Spawned { thread, name, site });
        thread
    }

    fn current(&self) -> usize {
        self.current.get()
    }

    fn with_locals(&self, call: &mut dyn FnMut(&Locals)) {
        let locals = Rc::clone(&self.locals.borrow()[self.current.get()]);
        call(&locals);
    }

    fn acquired(&self, what: Resource, site: Site) -> u64 {
        self.ask(Request::Acquired { what, site })
    }

    fn released(&self, resource: u64, site: Site) {
        self.ask(Request::Released { resource, site });
    }

    fn used(&self, resource: u64, site: Site) {
        self.ask(Request::Used { resource, site });
    }

    fn mark(&self, mark: u64) {
        self.ask(Request::Mark(mark));
    }

    fn exploring(&self, exploring: Exploring) {
        if self.exploring.get() != Exploring::Never {
            self.exploring.set(exploring);
        }
    }

    fn at_end(&self, call: Box<dyn FnOnce()>) {
        self.at_end.borrow_mut().push(call);
    }
}
