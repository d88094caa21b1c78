//! Priority queues: which values still matter.
//!
//! Time is a row of gaps, as for the monitor: gap `g` lies just before event `g`. Going up from the
//! smallest value, the gaps in which each one is certainly inside (after the first return of its
//! operations, up to the call of its removal) are painted. A history is explained if and only if
//! each removal has a gap that no smaller value painted, and each answer "empty" one that none
//! painted (see the monitor), for some choice of what the removals without an answer removed: what
//! these remove is painted only up to their call.
//!
//! Here a value that is not removed yet is painted to the end, which is the most that it can be. So
//! a removal that has an unpainted gap has it for good, as what follows paints only later gaps: it
//! is *settled*. And up to the *horizon*, the first call of a removal without an answer, the paint
//! is final. A value is dropped if its life is over, its removal is settled, and it painted no gap
//! after the horizon. An answer "empty" is dropped if it is settled. For each removal or answer
//! "empty" that is kept and is not settled, values are kept that painted all its gaps up to the
//! horizon; those that painted later ones are kept anyway.
//!
//! Let something explain what is kept and what follows: each removal in it has its unpainted gap.
//! Paint what was dropped, too, for the same choice of what removals without an answer removed. The
//! dropped removals have their gaps, and so have the kept ones that are settled. The others have no
//! gap up to the horizon, since what covers these is kept; so theirs, and that of every removal
//! that is open or follows, is after it, where nothing that was dropped paints.

use super::lives::{Life, Lives, Verbs, kept};
use super::past::Past;
use super::window::Fate;
use super::window_rule::{InitialOperation, WindowRule, silent_additions};
use linchpin_history_data::{History, NEVER, Rank};
use linchpin_history_data::{Monitored, OpId};
use linchpin_spec::PriorityQueue;
use linchpin_spec::{Builtin, Value};
use linchpin_verdict::Limits;

/// Priority queues, by windows.
pub(crate) struct Rule;

impl WindowRule for Rule {
    fn builtin(&self) -> Builtin {
        Builtin::PriorityQueue
    }

    fn initial_operations(&self, init: Option<&Value>) -> Vec<InitialOperation> {
        silent_additions(init, VERBS.add)
    }

    fn adds_and_removes(&self) -> Option<(usize, usize)> {
        Some((VERBS.add, VERBS.remove))
    }

    fn monitor(&self, history: &History, _: &Past, limits: &Limits) -> Monitored {
        linchpin_monitor::priority_queue::check(history, &[], limits)
    }

    fn still_matter(
        &self,
        history: &History,
        fates: &[Fate],
        _: Option<&[OpId]>,
        _: &mut Past,
        _: &Limits,
    ) -> Vec<bool> {
        still_matter(history, fates)
    }
}

const VERBS: Verbs =
    Verbs { add: PriorityQueue::INSERT, remove: PriorityQueue::REMOVE_MIN, peek: None };

fn still_matter(history: &History, fates: &[Fate]) -> Vec<bool> {
    let mut lives = Lives::new(history, fates, VERBS);
    lives.lives.sort_by_cached_key(|life| history.values.get(life.value));
    let horizon = horizon(history, fates);
    let mut paint = Paint::new(history.events);
    let mut keep_life = vec![false; lives.lives.len()];
    for (at, life) in lives.lives.iter().enumerate() {
        let is_settled = match life.removed {
            (_, NEVER) => false,
            (_, returned) => {
                let gaps = (life.last_invoked + 1, returned);
                let is_settled = paint.has_gap(gaps);
                if !is_settled {
                    paint.keep_cover((gaps.0, gaps.1.min(horizon)), &mut keep_life);
                }
                is_settled
            }
        };
        let painted = painted(life, history.events);
        let is_past = painted.is_none_or(|(_, to)| to <= horizon);
        keep_life[at] |= !(life.is_over && is_settled && is_past);
        if let Some(gaps) = painted {
            paint.add(at as u32, gaps);
        }
    }
    let mut keep_empty = vec![false; lives.empties.len()];
    for (id, keep) in lives.empties.iter().zip(&mut keep_empty) {
        let operation = &history[*id];
        let gaps = (operation.invoked + 1, operation.returned);
        if !paint.has_gap(gaps) {
            *keep = true;
            paint.keep_cover((gaps.0, gaps.1.min(horizon)), &mut keep_life);
        }
    }
    kept(history, fates, VERBS, &lives, &keep_life, &keep_empty)
}

/// The last gap before a removal that may still take any value was called. One that turned out not
/// to have happened might have, for as long as that was not known.
fn horizon(history: &History, fates: &[Fate]) -> Rank {
    let operations = history.operations.iter().zip(fates);
    let may_take_any = operations.filter(|(operation, fate)| {
        usize::from(operation.operation) == VERBS.remove && **fate != Fate::Returned
    });
    may_take_any.map(|(operation, _)| operation.invoked).min().unwrap_or(NEVER)
}

/// The first and the last gap in which a value is certainly inside, if it ever is.
fn painted(life: &Life, end: Rank) -> Option<(Rank, Rank)> {
    if life.first_returned == NEVER {
        return None;
    }
    let last = if life.removed.1 == NEVER { end } else { life.last_invoked };
    (life.first_returned < last).then_some((life.first_returned + 1, last))
}

/// Which gaps are painted, and by whom.
struct Paint {
    /// For each gap a later one before which all are painted, or itself.
    next: Vec<Rank>,
    /// For each painted gap who painted it first.
    painters: Vec<u32>,
    /// Up to which gap each painter did.
    until: Vec<Rank>,
}

impl Paint {
    /// Nothing is painted.
    fn new(events: Rank) -> Paint {
        let gaps = events.index() + 2;
        let next = (0..gaps).map(Rank::at).collect();
        Paint { next, painters: vec![0; gaps], until: Vec::new() }
    }

    /// The first gap from here on that is not painted.
    fn unpainted(&mut self, from: Rank) -> Rank {
        let mut found = from;
        while self.next[found.index()] != found {
            found = self.next[found.index()];
        }
        let mut at = from;
        while at != found {
            at = std::mem::replace(&mut self.next[at.index()], found);
        }
        found
    }

    /// Whether one of the gaps from the first to the last is not painted.
    fn has_gap(&mut self, (first, last): (Rank, Rank)) -> bool {
        self.unpainted(first) <= last
    }

    /// Paints the gaps from the first to the last.
    fn add(&mut self, painter: u32, (first, last): (Rank, Rank)) {
        self.until.resize(painter as usize + 1, Rank::FIRST);
        self.until[painter as usize] = last;
        let mut gap = self.unpainted(first);
        while gap <= last {
            self.painters[gap.index()] = painter;
            self.next[gap.index()] = gap + 1;
            gap = self.unpainted(gap + 1);
        }
    }

    /// Keeps lives that painted the gaps from the first to the last, all of which are painted.
    fn keep_cover(&self, (first, last): (Rank, Rank), keep: &mut [bool]) {
        let mut gap = first;
        while gap <= last {
            let painter = self.painters[gap.index()] as usize;
            keep[painter] = true;
            gap = self.until[painter] + 1;
        }
    }
}
