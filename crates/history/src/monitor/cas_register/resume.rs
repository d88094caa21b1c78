//! The frontier of a register from the middle of a history: for histories of which the beginning was forgotten.

use super::RegisterSearch;
use super::walk::{Breadth, Walked, Way};
use crate::history::{History, OpId, Rank};
use crate::search::problem::{Item, Place, Problem};
use crate::value_table::ValueId;
use crate::verdict::{Limits, NotApplicable};
use linchpin_spec::Value;
use rustc_hash::FxHashMap;

/// A way in which operations may have taken effect before some event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Begun {
    /// What the register holds.
    pub(crate) value: Value,
    /// The operations in progress that took effect.
    pub(crate) done: Vec<OpId>,
    /// The writes in progress that may have taken effect just before some other write, unseen.
    pub(crate) hidden: Vec<OpId>,
    /// Operations without a return that took effect; each stands for any other one with the same call.
    pub(crate) used: Vec<OpId>,
}

/// How it goes on.
pub(crate) enum Resumed {
    /// The events can be explained.
    Explained {
        /// The ways to come to the event that was asked for.
        ways: Vec<Begun>,
        /// What the register may hold at the end.
        values: Vec<Value>,
    },
    /// Nothing explains the return of this operation, given all answers.
    Stuck(OpId),
    /// A limit was reached.
    Stopped(String),
}

/// Goes on where one of these ways has led to. The operations in progress there are those of `history` that were called before all other events, and have
/// returned since or never do. Answers in which ways the first event not before `stop` is come to.
///
/// # Errors
///
/// If an operation has an argument or an answer that no register takes or gives.
pub(crate) fn resume(
    history: &History,
    from: &[Begun],
    stop: Rank,
    limits: &Limits,
) -> Result<Resumed, NotApplicable> {
    let register = RegisterSearch::new(history, &Value::Null, limits)?;
    let items = register.relevant(&Item::all(history));
    let problem = Problem::new(history, &items, &register.options);
    let mut names = Names { history, others: Vec::new() };
    let mut op_of: FxHashMap<OpId, u32> = FxHashMap::default();
    for begun in from {
        let mentioned = begun.done.iter().chain(&begun.hidden).chain(&begun.used);
        op_of.extend(mentioned.map(|id| (*id, u32::MAX)));
    }
    for (at, op) in problem.ops.iter().enumerate() {
        if let Some(found) = op_of.get_mut(&op.id) {
            *found = at as u32;
        }
    }
    let ops = |ids: &[OpId]| -> Vec<u32> {
        ids.iter().filter_map(|id| op_of.get(id).copied()).filter(|op| *op != u32::MAX).collect()
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
    let from: Vec<Way> = from.iter().map(way).collect();
    let outcome = register.walk_from(&from, &problem, stop, Breadth::Full, limits);
    let ids = |ops: &[u32]| ops.iter().map(|op| problem.ops[*op as usize].id).collect();
    let begun = |way: &Way| {
        let first = |(class, count): &(u32, u32)| {
            let ops = problem.crashed[*class as usize].ops.iter().take(*count as usize);
            ops.map(|op| problem.ops[*op as usize].id).collect::<Vec<_>>()
        };
        Begun {
            value: names.value(way.value),
            done: ids(&way.done),
            hidden: ids(&way.buried),
            used: way.used.iter().flat_map(first).collect(),
        }
    };
    Ok(match outcome.walked {
        Walked::Explained(_) => Resumed::Explained {
            ways: outcome.ways.iter().map(begun).collect(),
            values: outcome.values.iter().map(|id| names.value(*id)).collect(),
        },
        Walked::Stuck { op } => Resumed::Stuck(problem.ops[op as usize].id),
        Walked::Stopped { reason, .. } => Resumed::Stopped(reason),
    })
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
