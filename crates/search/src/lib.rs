//! The general search: exact for any specification, deterministic or not, and for operations that
//! never returned.
//!
//! Start with [`search`]. Two searches look at once: `depth_first` for an order that explains the
//! history, `breadth_first` for the first event that none explains; the first answer wins. Both
//! work on a `Problem`, ask the specification through a `Table`, and know only what is in progress.
//! [`split`] takes apart what can be checked apart, [`parts`] searches it. [`Frontier`] is the form
//! for histories that are still being recorded, [`PartialSearch`] the one for those without a
//! clock, [`lockstep`] the one for queues. When nothing explains a history, `shrink` finds a few
//! operations that show it.

mod breadth_first;
pub mod cas_register;
mod config;
mod depth_first;
mod explain;
mod frontier;
mod interner;
pub mod lockstep;
mod mask;
mod merge;
mod moment;
mod partial;
pub mod parts;
mod problem;
pub mod quick;
mod race;
mod relevance;
mod shrink;
pub mod split;
mod steps;
mod table;
mod used;
mod window;

pub use frontier::{Beginning, Frontier, Ticket, Unexplained};
use linchpin_history_data::crash::Interrupted;
use linchpin_history_data::{History, Judgement, OpId, Rank, Sentences, Violation, Witness};
use linchpin_verdict::{Limits, StopReason};
pub use partial::PartialSearch;
pub use relevance::Relevance;
pub use shrink::Tally;
pub use split::SplitBy;

use breadth_first::SearchEnd;
use linchpin_spec::Spec;
use problem::{Item, Problem};
use race::{decide, states_after};
use shrink::{Bound, Judge, first_violated};
use split::split_ordered;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// How to search. Every choice gives the same judgement; the default is the fastest.
#[derive(Clone, Debug)]
pub struct SearchOptions {
    /// Let operations that only look take effect as soon as they see what they answered.
    pub eager: bool,
    /// Of operations in progress with the same call and answer, try only the one that returns
    /// first.
    pub symmetry: bool,
    /// Drop configurations that cannot do anything that another cannot do.
    pub dominance: bool,
    /// Count operations that never return by what they call, instead of remembering which of them
    /// took effect.
    pub count_crashed: bool,
    /// Look for a witness depth first, too.
    pub depth_first: bool,
    /// How many branches a depth-first search tries before another has its turn; if not given,
    /// somewhat more than there are operations.
    pub first_turn: Option<usize>,
    /// How many configurations the quick search looks at before others look at the same time.
    pub quick_alone: usize,
    /// How long to look for a small core of a violation.
    pub core_time: Duration,
    /// How long to look for the first event that nothing explains, once it is known that there is
    /// one.
    pub event_time: Duration,
    /// Use several threads.
    pub parallel: bool,
    /// When the time is up, or the process was asked to stop, leave what the search keeps to the
    /// end of the process: to free gigabytes of small pieces takes longer than that. Only for a
    /// process that ends then.
    pub abandon: bool,
}

impl Default for SearchOptions {
    fn default() -> SearchOptions {
        SearchOptions {
            eager: true,
            symmetry: true,
            dominance: true,
            count_crashed: true,
            depth_first: true,
            first_turn: None,
            quick_alone: 1 << 13,
            core_time: Duration::from_secs(2),
            event_time: Duration::from_secs(3600),
            parallel: true,
            abandon: false,
        }
    }
}

/// What a search found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Searched {
    /// The answer.
    pub judgement: Judgement,
    /// If the history is violated: the states in which the object may have been just before the
    /// first event that nothing explains, each with the operations in progress that must have taken
    /// effect for it, in words.
    pub possible: Vec<String>,
    /// The events before this rank are known to be explained.
    pub explained: Rank,
}

/// Searches for an order that explains a history.
///
/// ```
/// use linchpin_history_data::{Builder, Judgement, Rank};
/// use linchpin_search::{SearchOptions, search};
/// use linchpin_verdict::{Limits, StopReason};
/// use linchpin_spec::{Register, Spec, Value};
///
/// let register = Register::default();
/// let mut builder = Builder::new(register.operations());
/// builder.invoke("a", "write", Value::Int(1))?;
/// builder.invoke("b", "read", Value::Null)?;
/// builder.ok("b", Value::Int(1))?;
/// builder.invoke("b", "read", Value::Null)?;
/// builder.ok("b", Value::Null)?;
/// let searched = search(&register, &builder.finish(), &Limits::default(), &SearchOptions::default());
/// let Judgement::Violated(violation) = searched.judgement else { panic!("the write cannot be undone") };
/// assert_eq!(violation.at, Some(Rank::new(4)));
/// assert_eq!(searched.possible, ["1 (after write(1) by process a, still in progress)"]);
/// # Ok::<(), linchpin_history_data::HistoryError>(())
/// ```
pub fn search<S: Spec + ?Sized + Sync>(
    spec: &S,
    history: &History,
    limits: &Limits,
    options: &SearchOptions,
) -> Searched
where
    S::State: 'static,
{
    search_knowing(spec, history, &[], limits, options, Knowledge::default())
}

/// What is known of an object beyond its specification. It changes no answer: it makes searches
/// faster and cores smaller.
#[derive(Clone, Copy, Debug, Default)]
pub struct Knowledge {
    /// How its histories can be split into parts that are judged alone.
    pub split: Option<SplitBy>,
    /// Which operations may matter to which.
    pub relevance: Option<Relevance>,
    /// Which operations change the state, if it is a count.
    pub tally: Option<Tally>,
}

/// Like [`search`], where more is known of the object, and where interrupted operations must not
/// take effect after what their process did next. `order` says which, in the order of
/// [`Interrupted::operation`].
pub fn search_knowing<S: Spec + ?Sized + Sync>(
    spec: &S,
    history: &History,
    order: &[Interrupted],
    limits: &Limits,
    options: &SearchOptions,
    known: Knowledge,
) -> Searched
where
    S::State: 'static,
{
    if let Some(by) = known.split {
        let all: Vec<OpId> = history.ids().collect();
        let parts = split_ordered(history, &all, order, by);
        let relevance = known.relevance;
        return parts::search_ordered(spec, history, order, &parts, relevance, limits, options);
    }
    let items = Item::all(history);
    let problem = Problem::ordered(history, &items, order, options);
    let walked = decide(spec, &problem, options, &Watch::new(limits), options.parallel);
    let judge = Again { spec, history, order, limits, options, known };
    judge.conclude(&items, &problem, walked)
}

/// The search as a judge of parts of the history.
struct Again<'a, S: Spec + ?Sized> {
    spec: &'a S,
    history: &'a History,
    order: &'a [Interrupted],
    limits: &'a Limits,
    options: &'a SearchOptions,
    known: Knowledge,
}

impl<S: Spec + ?Sized + Sync> Again<'_, S>
where
    S::State: 'static,
{
    /// The answer about these operations, once the search has ended.
    fn conclude(mut self, items: &[Item], problem: &Problem, walked: SearchEnd) -> Searched {
        let history = self.history;
        match walked {
            SearchEnd::Explained(order) => {
                let order = order.into_iter().map(|op| problem.ops[op as usize].id).collect();
                let judgement = Judgement::Holds(Witness { order });
                Searched { judgement, possible: Vec::new(), explained: history.events }
            }
            SearchEnd::Unexplained { event } => {
                let found = problem.ops[problem.events[event].op as usize].id;
                let until = self.options.event_until(self.limits);
                let first = first_violated(history, items, Bound::From(found), until, &mut self);
                self.violated(items, found, first)
            }
            SearchEnd::Stopped { reason, event } => {
                let event = problem.events.get(event);
                let explained = event.map_or(history.events, |event| event.rank);
                let judgement =
                    Judgement::Inconclusive(explain::stopped(reason, explained, history));
                Searched { judgement, possible: Vec::new(), explained }
            }
        }
    }

    /// The answer if nothing explains these operations. The search, which knows all answers, got
    /// stuck at the return of `found`; the first return that nothing explains is that of `first`,
    /// if it is known.
    fn violated(&mut self, items: &[Item], found: OpId, first: Option<OpId>) -> Searched {
        let (history, options) = (self.history, self.options);
        let culprit = first.unwrap_or(found);
        let at = history[culprit].returned;
        let explained = at;
        let before = items.iter().filter_map(|item| item.until(history, at - 1));
        let before: Vec<Item> = before.collect();
        let before = Problem::ordered(history, &before, self.order, options);
        let limits = explaining(self.limits, options.event_until(self.limits));
        let possible = states_after(self.spec, &before, options, &Watch::new(&limits));
        let until = options.core_until(self.limits);
        let core = shrink::shrink(history, items, first, until, self);
        let signatures = self.spec.operations();
        let explanation = explain::stuck(history, signatures, culprit, &possible);
        let say = Sentences::new(history, signatures);
        let possible = possible.iter().map(|possible| possible.named(&say)).collect();
        let at = first.map(|_| at);
        let violation = Violation { core, blamed: vec![culprit], explanation, at };
        Searched { judgement: Judgement::Violated(violation), possible, explained }
    }
}

impl<S: Spec + ?Sized + Sync> Judge for Again<'_, S>
where
    S::State: 'static,
{
    fn is_violated(&mut self, items: &[Item], until: Instant) -> Option<bool> {
        let limits = explaining(self.limits, until);
        let problem = Problem::ordered(self.history, items, self.order, self.options);
        match decide(self.spec, &problem, self.options, &Watch::new(&limits), false) {
            SearchEnd::Explained(_) => Some(false),
            SearchEnd::Unexplained { .. } => Some(true),
            SearchEnd::Stopped { .. } => None,
        }
    }

    fn relevant(&self, gone: Vec<Item>, rest: &[Item]) -> Vec<Item> {
        match self.known.relevance {
            Some(relevance) => relevance.relevant(self.history, gone, rest),
            None => gone,
        }
    }

    fn still_relevant(&self, context: Vec<Item>, rest: &[Item]) -> Vec<Item> {
        match self.known.relevance {
            Some(relevance) => relevance.still_relevant(self.history, context, rest),
            None => context,
        }
    }

    fn tally(&self) -> Option<Tally> {
        self.known.tally
    }
}

impl SearchOptions {
    /// Whether there is time to find out why a history is violated.
    pub fn explains(&self) -> bool {
        !(self.core_time.is_zero() && self.event_time.is_zero())
    }

    /// Until when to look for a core.
    fn core_until(&self, limits: &Limits) -> Instant {
        sooner(limits, Instant::now() + self.core_time)
    }

    /// Until when to look for the first event that nothing explains.
    fn event_until(&self, limits: &Limits) -> Instant {
        sooner(limits, Instant::now() + self.event_time)
    }
}

fn sooner(limits: &Limits, until: Instant) -> Instant {
    limits.deadline.map_or(until, |deadline| deadline.min(until))
}

/// The limits while it is found out why a history is violated. That is timed, not counted.
fn explaining(limits: &Limits, until: Instant) -> Limits {
    let deadline = Some(sooner(limits, until));
    Limits { deadline, configurations: None, ..limits.clone() }
}

/// The limits of a search, which may be one of two that look at once.
#[derive(Clone, Copy)]
pub(crate) struct Watch<'a> {
    limits: &'a Limits,
    beside: Option<(Beside<'a>, Side)>,
}

/// What two searches that look at once know of each other.
#[derive(Clone, Copy)]
pub(crate) struct Beside<'a> {
    /// Set when one of them has the answer.
    decided: &'a AtomicBool,
    /// About how many bytes the search for a witness keeps.
    kept: &'a AtomicUsize,
}

/// Which of the two it is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    /// The one for a witness. It may keep a fourth of what both may.
    Witness,
    /// The one for a violation, which is the one to end. It may keep what the other leaves.
    Violation,
}

impl<'a> Watch<'a> {
    pub(crate) fn new(limits: &'a Limits) -> Watch<'a> {
        Watch { limits, beside: None }
    }

    /// Why to give up, if it is time to; `bytes` is about what this search keeps, `work` about how
    /// many configurations it has looked at.
    pub(crate) fn exceeded(&self, bytes: usize, work: u64) -> Option<StopReason> {
        if self.limits.configurations.is_some_and(|most| work >= most) {
            return Some(StopReason::Budget);
        }
        let Some((beside, side)) = self.beside else {
            return self.limits.exceeded(bytes);
        };
        if beside.decided.load(Ordering::Relaxed) {
            return Some(StopReason::Interrupt);
        }
        if side == Side::Witness {
            beside.kept.store(bytes, Ordering::Relaxed);
            return self.limits.exceeded(4 * bytes);
        }
        self.limits.exceeded(bytes + beside.kept.load(Ordering::Relaxed))
    }

    /// Whether neither of the two searches is to go on, and not this one alone.
    pub(crate) fn is_over(&self) -> bool {
        self.limits.exceeded(0).is_some()
    }

    /// Whether it is time for everything to stop, not for this search alone.
    pub(crate) fn is_the_end(&self) -> bool {
        self.limits.is_the_end()
    }
}
