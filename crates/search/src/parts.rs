//! Searches the parts of a history, each alone, and puts the answers together.
//!
//! Parts take turns, so that a hard one does not keep the others from being looked at: in each
//! round every part that is still open is searched from the start, for twice as many configurations
//! as in the last. Once a part is known to be violated, nothing after that event matters, and the
//! others are searched only for an earlier one, for a while.

use super::breadth_first::SearchEnd;
use super::merge::merge;
use super::problem::{Item, Problem};
use super::race::decide;
use super::shrink::{Bound, first_violated};
use super::{Again, Knowledge, Relevance, SearchOptions, Searched, Watch, explain};
use linchpin_history_data::crash::Interrupted;
use linchpin_history_data::{History, Judgement, NEVER, OpId, Rank, Witness};
use linchpin_spec::Spec;
use linchpin_verdict::{Limits, StopReason};
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// How many configurations of each part are looked at in the first round.
const FIRST_SLICE: u64 = 1 << 14;

/// Once one part is violated, the others are looked at for so many configurations.
const ENOUGH: u64 = 1 << 18;

/// Searches the parts of a history.
///
/// The parts must be independent: no operation of one may change what operations of another can
/// answer.
pub fn search_parts<S: Spec + ?Sized + Sync>(
    spec: &S,
    history: &History,
    parts: &[Vec<OpId>],
    limits: &Limits,
    options: &SearchOptions,
) -> Searched
where
    S::State: 'static,
{
    search_ordered(spec, history, &[], parts, None, limits, options)
}

/// The same, with an order between operations of the same part, and with what is known of which
/// operations may matter to which.
pub(crate) fn search_ordered<S: Spec + ?Sized + Sync>(
    spec: &S,
    history: &History,
    order: &[Interrupted],
    parts: &[Vec<OpId>],
    relevance: Option<Relevance>,
    limits: &Limits,
    options: &SearchOptions,
) -> Searched
where
    S::State: 'static,
{
    let search = PartSearch {
        spec,
        history,
        order,
        parts,
        relevance,
        limits,
        options,
        earliest: AtomicU32::new(NEVER.number()),
        answers: Mutex::default(),
    };
    search.rounds();
    search.answer()
}

/// The parts, and what is known of them.
struct PartSearch<'a, S: Spec + ?Sized> {
    spec: &'a S,
    history: &'a History,
    order: &'a [Interrupted],
    parts: &'a [Vec<OpId>],
    relevance: Option<Relevance>,
    limits: &'a Limits,
    options: &'a SearchOptions,
    /// The first event known not to be explained. What comes after it does not matter.
    earliest: AtomicU32,
    answers: Mutex<Vec<(usize, Answer)>>,
}

enum Answer {
    Order(Vec<OpId>),
    /// At this event, given the events up to `last`.
    Unexplained {
        rank: Rank,
        last: Rank,
        found: OpId,
        first: Option<OpId>,
    },
    Stopped(StopReason, Rank),
}

impl<S: Spec + ?Sized + Sync> PartSearch<'_, S>
where
    S::State: 'static,
{
    /// Searches the parts until all are decided, or until the limits say that it is enough.
    fn rounds(&self) {
        let mut open: Vec<usize> = (0..self.parts.len()).collect();
        let most = self.limits.configurations.unwrap_or(u64::MAX);
        let mut slice = if open.len() == 1 { most } else { FIRST_SLICE.min(most) };
        while !open.is_empty() {
            self.round(&open, slice);
            let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
            let is_violated =
                answers.iter().any(|(_, answer)| matches!(answer, Answer::Unexplained { .. }));
            if slice >= most || is_violated && slice >= ENOUGH {
                return;
            }
            // What a round has not decided is looked at again.
            open.clear();
            answers.retain(|(part, answer)| {
                let is_open = matches!(answer, Answer::Stopped(StopReason::Budget, _));
                if is_open {
                    open.push(*part);
                }
                !is_open
            });
            open.sort_unstable();
            slice = slice.saturating_mul(2).min(most);
        }
    }

    /// Searches each of these parts, on all cores, for so many configurations.
    fn round(&self, open: &[usize], slice: u64) {
        // To ask how many cores there are takes longer than to search a short part.
        let cores = || thread::available_parallelism().map_or(1, |count| count.get());
        let is_short = !self.options.parallel || self.history.operations.len() < 1000;
        let workers = if is_short || open.len() == 1 { 1 } else { cores().min(open.len()) };
        let limits = Limits {
            memory: self.limits.memory.map(|bytes| bytes / workers),
            configurations: (slice != u64::MAX).then_some(slice),
            ..self.limits.clone()
        };
        let next = AtomicUsize::new(0);
        let work = || {
            while let Some(&part) = open.get(next.fetch_add(1, Ordering::Relaxed)) {
                let race = open.len() == 1 && self.options.parallel;
                let answer = self.search(part, &limits, race);
                self.answers.lock().unwrap_or_else(PoisonError::into_inner).push((part, answer));
            }
        };
        thread::scope(|scope| {
            // Where no thread can be made, this one does all the work.
            for _ in 1..workers {
                let _ = thread::Builder::new().spawn_scoped(scope, work);
            }
            work();
        });
    }

    /// Searches one part.
    fn search(&self, part: usize, limits: &Limits, race: bool) -> Answer {
        let last = Rank::new(self.earliest.load(Ordering::Relaxed));
        let items = self.items(part, last);
        let problem = Problem::ordered(self.history, &items, self.order, self.options);
        match decide(self.spec, &problem, self.options, &Watch::new(limits), race) {
            SearchEnd::Explained(order) => {
                Answer::Order(order.iter().map(|op| problem.ops[*op as usize].id).collect())
            }
            SearchEnd::Unexplained { event } => {
                let found = problem.ops[problem.events[event].op as usize].id;
                let until = self.options.event_until(self.limits);
                let (history, mut judge) = (self.history, self.judge());
                let first = first_violated(history, &items, Bound::From(found), until, &mut judge);
                let rank = history[first.unwrap_or(found)].returned;
                if first.is_some() {
                    self.earliest.fetch_min(rank.number(), Ordering::Relaxed);
                }
                Answer::Unexplained { rank, last, found, first }
            }
            SearchEnd::Stopped { reason, event } => {
                let event = problem.events.get(event);
                Answer::Stopped(reason, event.map_or(NEVER, |event| event.rank))
            }
        }
    }

    /// The operations of a part, as the events up to `last` show them.
    fn items(&self, part: usize, last: Rank) -> Vec<Item> {
        let items = self.parts[part].iter().map(|id| Item::of(self.history, *id));
        items.filter_map(|item| item.until(self.history, last)).collect()
    }

    fn judge(&self) -> Again<'_, S> {
        let PartSearch { spec, history, order, relevance, limits, options, .. } = *self;
        let known = Knowledge { relevance, ..Knowledge::default() };
        Again { spec, history, order, limits, options, known }
    }

    fn answer(self) -> Searched {
        let (mut orders, mut stuck, mut stopped) = (Vec::new(), Vec::new(), Vec::new());
        let answers = self.answers.lock().map(|mut answers| std::mem::take(&mut *answers));
        for (part, answer) in answers.unwrap_or_default() {
            match answer {
                Answer::Order(order) => orders.push(order),
                Answer::Stopped(reason, rank) => stopped.push((rank, reason)),
                Answer::Unexplained { rank, last, found, first } => {
                    stuck.push((rank, part, last, found, first));
                }
            }
        }
        // The events before this one are explained, in the parts that were not searched to the end.
        let stopped = stopped.into_iter().min_by_key(|(rank, _)| *rank);
        let explained = stopped.as_ref().map_or(NEVER, |(explained, _)| *explained);
        if let Some((rank, part, last, found, first)) = stuck.into_iter().min() {
            let items = self.items(part, last);
            let mut judge = self.judge();
            let mut searched = judge.violated(&items, found, first);
            if let Judgement::Violated(violation) = &mut searched.judgement
                && explained < rank
            {
                violation.at = None;
                searched.explained = explained;
            }
            return searched;
        }
        if let Some((_, reason)) = stopped {
            let explained = explained.min(self.history.events);
            let judgement =
                Judgement::Inconclusive(explain::stopped(reason, explained, self.history));
            return Searched { judgement, possible: Vec::new(), explained };
        }
        let judgement = Judgement::Holds(Witness { order: merge(self.history, &orders) });
        Searched { judgement, possible: Vec::new(), explained: self.history.events }
    }
}
