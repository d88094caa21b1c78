//! The frontier of a register from the middle of a history: for histories of which the beginning
//! was forgotten.

use super::frontier::{Breadth, SearchEnd, Way};
use super::overwritten::{Overwritten, sweep};
use super::{MANY, RegisterSearch};
use crate::SearchOptions;
use crate::problem::{Item, Place, Problem, Role};
use linchpin_history_data::{History, NEVER, NotApplicable, OpId, Rank, ValueId};
use linchpin_spec::Value;
use linchpin_verdict::{Inconclusive, Limits};
use rustc_hash::FxHashMap;

/// How many ways are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// All, with no more than so many operations in progress.
    many: usize,
    /// With more, all as long as there are not more than these.
    few_ways: usize,
    /// If there are, the most promising ones for each value, so many, then more.
    narrow: [usize; 3],
    /// If that does not explain the events either, all once more, but not more than these.
    many_ways: usize,
}

impl Patience {
    /// As it is unless another is asked for.
    pub const USUAL: Patience =
        Patience { many: MANY, few_ways: 1 << 12, narrow: [4, 32, 256], many_ways: 1 << 15 };

    /// Follows about so many ways for each value, however few operations are in progress.
    pub fn of(ways: usize) -> Patience {
        Patience { many: 0, few_ways: 2 * ways, narrow: [1, ways, 2 * ways], many_ways: 8 * ways }
    }
}

/// A way in which operations may have taken effect before some event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Begun {
    /// What the register holds.
    pub value: Value,
    /// The operations in progress that took effect.
    pub done: Vec<OpId>,
    /// The writes in progress that may have taken effect just before some other write, unseen.
    pub hidden: Vec<OpId>,
    /// Operations without a return that took effect; each stands for any other one with the same
    /// call.
    pub used: Vec<OpId>,
}

/// What is known of what happened before some event.
#[derive(Clone, Debug)]
pub struct Known {
    /// Ways in which the operations before may have taken effect.
    pub ways: Vec<Begun>,
    /// Whether these are all, up to such that can do no more than another.
    pub are_all: bool,
    /// INVARIANT: the register holds one of these, or what an operation in progress wrote.
    pub held: Vec<Value>,
    /// How many ways are followed from here.
    pub patience: Patience,
}

/// How it goes on.
pub enum Resumed {
    /// The events can be explained.
    Explained {
        /// What the register may hold at the end; nothing if not all of it is known.
        values: Vec<Value>,
        /// With which number of ways that was found.
        attempt: usize,
    },
    /// Nothing explains the return of this operation, given all answers.
    Unexplained(OpId),
    /// An operation found what no operation can have left there.
    Overwritten(Overwritten),
    /// A limit was reached, or there are too many ways.
    Inconclusive(Inconclusive),
}

/// Goes on where one of these ways has led to. The operations in progress there are those of
/// `history` that were called before all other events, and have returned since or never do.
///
/// # Errors
///
/// If an operation has an argument or an answer that no register takes or gives.
pub fn resume(history: &History, from: &Known, limits: &Limits) -> Result<Resumed, NotApplicable> {
    let mut resuming = Resuming::new(history, from, limits)?;
    if let Err(overwritten) = resuming.held(NEVER) {
        return Ok(Resumed::Overwritten(overwritten));
    }
    let ways = resuming.ways();
    let (register, problem) = (&resuming.register, &resuming.problem);
    for (attempt, breadth) in resuming.breadths().into_iter().enumerate() {
        let outcome = register.walk_from(&ways, problem, None, breadth, limits);
        let is_sure = from.are_all && outcome.is_sure;
        match outcome.walked {
            SearchEnd::Explained(_) => {
                let values = outcome.values.iter().filter(|_| is_sure);
                let values = values.map(|id| resuming.names.value(*id)).collect();
                return Ok(Resumed::Explained { values, attempt });
            }
            SearchEnd::Unexplained { op } if is_sure => {
                return Ok(Resumed::Unexplained(problem.ops[op as usize].id));
            }
            SearchEnd::Unexplained { .. } => {}
            SearchEnd::Stopped { reason, .. } if limits.exceeded(0).is_some() => {
                return Ok(Resumed::Inconclusive(reason.into()));
            }
            SearchEnd::Stopped { .. } => {}
        }
    }
    Ok(Resumed::Inconclusive(Inconclusive::Undecided(format!(
        "up to {} operations are in progress at a time, and there are too many ways in which they can have taken effect: no way that was followed explains the answers, and not all were",
        problem.width
    ))))
}

/// What is known of the first event not before `stop`, for a history that was explained by this
/// attempt; nothing if a limit was reached.
pub fn advance(
    history: &History,
    from: &Known,
    stop: Rank,
    attempt: usize,
    limits: &Limits,
) -> Option<Known> {
    let mut resuming = Resuming::new(history, from, limits).ok()?;
    let held = resuming.held(stop).ok()?;
    let ways = resuming.ways();
    let breadth = *resuming.breadths().get(attempt)?;
    let outcome =
        resuming.register.walk_from(&ways, &resuming.problem, Some(stop), breadth, limits);
    if !matches!(outcome.walked, SearchEnd::Explained(_)) {
        return None;
    }
    let ways: Vec<Begun> = outcome.ways.iter().map(|way| resuming.begin(way)).collect();
    let mut are_all = from.are_all && outcome.is_sure;
    let mut held: Vec<Value> = held.into_iter().map(|id| resuming.names.value(id)).collect();
    // With nothing in progress a way is just a value.
    let leads_to = |value: &Value| ways.iter().any(|way| way.value == *value);
    let in_progress = |item: &Item| is_in_progress(history, item, stop);
    are_all |=
        !resuming.is_easy() && held.iter().all(leads_to) && !resuming.items.iter().any(in_progress);
    if are_all {
        held = ways.iter().map(|way| way.value.clone()).collect();
        held.sort();
        held.dedup();
    }
    Some(Known { ways, are_all, held, patience: from.patience })
}

/// Whether an operation was called before this event and had not returned by then.
fn is_in_progress(history: &History, item: &Item, at: Rank) -> bool {
    let operation = &history[item.id];
    let until = match item.role {
        Role::Completed => operation.returned,
        Role::Optional(deadline) => deadline,
    };
    operation.invoked < at && until >= at
}

/// A window of a history, and what is known of what came before.
struct Resuming<'a> {
    history: &'a History,
    from: &'a Known,
    register: RegisterSearch<'a>,
    items: Vec<Item>,
    problem: Problem,
    names: Names<'a>,
}

impl<'a> Resuming<'a> {
    fn new(
        history: &'a History,
        from: &'a Known,
        limits: &'a Limits,
    ) -> Result<Resuming<'a>, NotApplicable> {
        let register =
            RegisterSearch::new(history, &Value::Null, limits, SearchOptions::default())?;
        let items = register.relevant(&Item::all(history));
        let problem = Problem::new(history, &items, &register.options);
        let names = Names { history, others: Vec::new() };
        Ok(Resuming { history, from, register, items, problem, names })
    }

    /// Whether all ways are known, and can be followed.
    fn is_easy(&self) -> bool {
        self.from.are_all && self.problem.width <= self.from.patience.many
    }

    /// What the register may hold at this event, however many are in progress, but for values that
    /// only these write; nothing if it is easy to know more.
    fn held(&mut self, stop: Rank) -> Result<Vec<u32>, Overwritten> {
        if self.is_easy() {
            return Ok(Vec::new());
        }
        let names = &mut self.names;
        let held: Vec<u32> = self.from.held.iter().map(|value| names.id(value)).collect();
        // why: what brought them returned before the window began, but not before what is in
        // progress there was called.
        let returned = |item: &Item| self.history[item.id].returned;
        let since = self.items.iter().map(returned).min().unwrap_or(NEVER);
        sweep(&self.register, &self.items, &held, since, stop)
    }

    /// How many ways are followed: first so many, and if that does not explain the events, the
    /// next.
    fn breadths(&self) -> Vec<Breadth> {
        let Known { are_all, patience, .. } = *self.from;
        if self.problem.width <= patience.many {
            return vec![Breadth::Full];
        }
        // why only then: if they are not all at the start, following all of them from there shows
        // no more.
        let all = are_all.then_some(Breadth::AtMost(patience.few_ways));
        let narrow = patience.narrow.map(Breadth::Narrow);
        let last = Breadth::AtMost(patience.many_ways);
        all.into_iter().chain(narrow).chain([last]).collect()
    }

    /// The ways with the operations of the problem.
    fn ways(&mut self) -> Vec<Way> {
        let Resuming { from, problem, names, .. } = self;
        let mut op_of: FxHashMap<OpId, u32> = FxHashMap::default();
        for begun in &from.ways {
            let mentioned = begun.done.iter().chain(&begun.hidden).chain(&begun.used);
            op_of.extend(mentioned.map(|id| (*id, u32::MAX)));
        }
        for (at, op) in problem.ops.iter().enumerate() {
            if let Some(found) = op_of.get_mut(&op.id) {
                *found = at as u32;
            }
        }
        let ops = |ids: &[OpId]| -> Vec<u32> {
            let known = ids.iter().filter_map(|id| op_of.get(id).copied());
            known.filter(|op| *op != u32::MAX).collect()
        };
        let way = |begun: &Begun| {
            let mut used: Vec<(u32, u32)> = Vec::new();
            for op in ops(&begun.used) {
                let Place::Crashed(class) = problem.ops[op as usize].place else { continue };
                match used.iter_mut().find(|(of, _)| *of == class) {
                    Some((_, count)) => *count += 1,
                    None => used.push((class, 1)),
                }
            }
            let value = names.id(&begun.value);
            Way { value, done: ops(&begun.done), buried: ops(&begun.hidden), used }
        };
        from.ways.iter().map(way).collect()
    }

    /// The way with the operations of the history.
    fn begin(&self, way: &Way) -> Begun {
        let problem = &self.problem;
        let ids = |ops: &[u32]| ops.iter().map(|op| problem.ops[*op as usize].id).collect();
        let first = |(class, count): &(u32, u32)| {
            let ops = problem.crashed[*class as usize].ops.iter().take(*count as usize);
            ops.map(|op| problem.ops[*op as usize].id).collect::<Vec<_>>()
        };
        Begun {
            value: self.names.value(way.value),
            done: ids(&way.done),
            hidden: ids(&way.buried),
            used: way.used.iter().flat_map(first).collect(),
        }
    }
}

/// Values by id, those that the history does not mention included.
struct Names<'a> {
    history: &'a History,
    others: Vec<Value>,
}

impl Names<'_> {
    fn id(&mut self, value: &Value) -> u32 {
        if let Some(id) = self.history.values.find(value) {
            return id.0;
        }
        let at = self.others.iter().position(|other| other == value).unwrap_or_else(|| {
            self.others.push(value.clone());
            self.others.len() - 1
        });
        (self.history.values.len() + at) as u32
    }

    fn value(&self, id: u32) -> Value {
        match (id as usize).checked_sub(self.history.values.len()) {
            Some(at) => self.others[at].clone(),
            None => self.history.values.get(ValueId(id)),
        }
    }
}
