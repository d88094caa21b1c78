//! Futures that are dropped before they are ready.

use linchpin_harness::{Covered, Failure, Kind, NamedCall, Plan, Test};
use linchpin_sync::sync::Mutex;
use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

/// One baton, handed over in the order of those who wait.
struct Baton {
    state: Mutex<State>,
    /// Whether one who waited gives the baton back when it is dropped, though it never had it.
    gives_back: bool,
}

struct State {
    free: bool,
    waiting: VecDeque<(u64, Waker)>,
    next: u64,
}

struct Acquire<'a> {
    baton: &'a Baton,
    ticket: Option<u64>,
    done: bool,
}

impl Baton {
    fn new(gives_back: bool) -> Baton {
        let state = State { free: true, waiting: VecDeque::new(), next: 0 };
        Baton { state: Mutex::new(state), gives_back }
    }

    fn acquire(&self) -> Acquire<'_> {
        Acquire { baton: self, ticket: None, done: false }
    }
}

impl Future for Acquire<'_> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let mut state = self.baton.state.lock().unwrap();
        if std::mem::take(&mut state.free) {
            drop(state);
            self.done = true;
            return Poll::Ready(());
        }
        if self.ticket.is_none() {
            let ticket = state.next;
            state.next += 1;
            state.waiting.push_back((ticket, context.waker().clone()));
            drop(state);
            self.ticket = Some(ticket);
        }
        Poll::Pending
    }
}

impl Drop for Acquire<'_> {
    fn drop(&mut self) {
        let Some(ticket) = self.ticket.filter(|_| !self.done) else { return };
        let mut state = self.baton.state.lock().unwrap();
        state.waiting.retain(|(other, _)| *other != ticket);
        state.free |= self.baton.gives_back;
    }
}

fn run(gives_back: bool, plan: Plan) -> Result<Covered, Box<Failure>> {
    let acquire = || vec![NamedCall::new("acquire", vec![])];
    Test::new("cancelled-baton", move || Baton::new(gives_back))
        .model(true)
        .plan(plan)
        .folder(None)
        .scenario(vec![acquire(), acquire(), acquire()])
        .async_op(
            "acquire",
            (),
            async |baton: &Baton, ()| baton.acquire().await,
            |free: &mut bool, ()| std::mem::take(free).then_some(()),
        )
        .check()
}

#[test]
fn a_dropped_future_may_have_taken_effect_and_may_not() {
    for plan in [Plan::exhaustive(), Plan::random().runs(300).seed(3)] {
        let waits = run(false, plan.clone()).unwrap_or_else(|failure| panic!("{failure}"));
        let drops = run(false, plan.clone().cancel(true));
        let drops = drops.unwrap_or_else(|failure| panic!("{failure}"));
        assert!(drops.histories > waits.histories, "{waits}\n{drops}");
        // What is wrong when a future is dropped is seen only if one is.
        assert!(run(true, plan.clone()).is_ok());
        let failure = run(true, plan.cancel(true)).expect_err("two have the baton");
        assert_eq!(failure.kind, Kind::NotLinearizable, "{failure}");
        assert!(failure.to_string().contains("drops the future of acquire"), "{failure}");
    }
}

#[test]
fn under_weak_memory_too() {
    assert!(run(false, Plan::weak().cancel(true)).is_ok());
    let failure = run(true, Plan::weak().cancel(true)).expect_err("two have the baton");
    assert_eq!(failure.kind, Kind::NotLinearizable, "{failure}");
}
