//! Crashes: by when an interrupted operation must have taken effect, if it ever does.
//!
//! An operation that was open when its process or the whole system crashed has no response. It may
//! have taken effect or not; the correctness conditions in use differ in how late it may still do
//! so. [`apply`] turns a [`Property`] into deadlines, which every checker understands, and, for one
//! property, into an order between operations.
//!
//! ```text
//! process 0   ├─ write 1 ── ✗ crash          ├─ read ─┤
//! process 1                    ├─ read ─┤                ├─ read ─┤
//!
//! strict        ───────────┤                                            before the crash
//! recoverable   ───────────────────────────────── before this read       before what process 0 does next
//! durable       ──────────────────────────────────────────────────────  any time
//! detectable    ──────────────────────────────────────────────────────  as recovery says, else any time
//! linearizable  ──────────────────────────────────────────────────────  any time
//! ```

use crate::{Crash, History, NEVER, OpId, Rank, RecoveredOutcome, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::fmt;
use thiserror::Error;

/// The correctness conditions for histories with crashes.
///
/// All of them are linearizability where there is no crash. From the strictest on the left:
/// `Strict` ⇒ `Recoverable` ⇒ `Durable` ⇔ `Linearizable`, as conditions on one history, and
/// `Detectable` ⇒ `Durable`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Property {
    /// Linearizability (Herlihy and Wing, TOPLAS 1990): an operation without a response may take
    /// effect at any time after its invocation, or never. Crashes mean nothing here; a process that
    /// goes on after a crash, which their well-formed histories do not have, counts as a new one.
    Linearizable,
    /// Strict linearizability (Aguilera and Frølund, 2003): an interrupted operation takes effect
    /// before the crash or never. A crash of one process is the instant for that process's
    /// operation, a crash of the system for all that are open. The original is about crashes of
    /// single processes; that a system crash is one of all processes at once is the usual reading.
    Strict,
    /// Recoverable linearizability (Berryhill, Golab and Tripunitara, OPODIS 2015): an interrupted
    /// operation takes effect before any later operation of the same process on the same object
    /// does, or never.
    ///
    /// This is an order between two operations, not an instant: where the next operation of the
    /// process is long, others that are called and return meanwhile may still miss the effect.
    /// *Persistent atomicity* (Guerraoui and Levy, ICDCS 2004) asks for more: the effect comes
    /// before the next *invocation* of that process, on any object. [`Applied::tighten`] gives
    /// that. System and process crashes are treated alike. With [`Operation::key`] the object is
    /// the key; without keys the whole history is one object, as Cepeda et al. (OPODIS 2019) treat
    /// a flat address space.
    ///
    /// [`Operation::key`]: crate::Operation::key
    Recoverable,
    /// Durable linearizability (Izraelevitz, Mendes and Scott, DISC 2016): without its crashes the
    /// history is linearizable, so what returned before a crash survives it, and an interrupted
    /// operation may take effect at any later time. The original has crashes of the whole system
    /// only, after which *new* processes run. A name that is used again is taken as a new process,
    /// and a crash of one process as one that does not come back;
    /// [`Applied::assumptions`] says where that was done.
    Durable,
    /// Durable, and as recovery says (after Friedman, Herlihy, Marathe and Petrank, PPoPP 2018; Li
    /// and Golab, DISC 2021): an interrupted operation of which it says that it took effect has
    /// done so before that is said, with the answer that it tells; one of which it says that it had
    /// no effect never has one. Crashes of the system and of one process are treated alike.
    Detectable,
}

/// What a property asks for beyond the deadlines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[must_use = "recoverable linearizability is an order between operations too"]
pub struct Applied {
    /// The interrupted operations with what their process did next on the same object; only for
    /// [`Property::Recoverable`]. In the order of `operation`.
    pub interrupted: Vec<Interrupted>,
    /// What was taken for granted.
    pub assumptions: Vec<CrashAssumption>,
}

/// What is taken for granted about crashes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CrashAssumption {
    /// Crashes are ignored.
    Ignored,
    /// What recovery said about interrupted operations is ignored.
    RecoveredIgnored {
        /// When it first said something.
        at: Rank,
    },
    /// An interrupted operation is left out, because recovery said that it had no effect.
    NoEffect {
        /// When it was called.
        called: Rank,
        /// When recovery said so.
        at: Rank,
        /// How many others are left out.
        others: usize,
    },
    /// Durable linearizability, although one process crashed.
    OneProcess {
        /// The process.
        process: String,
        /// When it crashed.
        at: Rank,
    },
    /// Durable linearizability, although a process goes on after a crash of the system.
    GoesOn {
        /// The process.
        process: String,
        /// When the system crashed.
        at: Rank,
    },
}

impl CrashAssumption {
    /// The same in words, with the places of events as they are known where they were recorded:
    /// `line 7`.
    pub fn said(&self, place: impl Fn(Rank) -> String) -> String {
        match self {
            CrashAssumption::Ignored => {
                "crashes are ignored: an interrupted operation may take effect at any later time"
                    .to_owned()
            }
            CrashAssumption::RecoveredIgnored { at } => format!(
                "what recovery said about interrupted operations, at {} first, is ignored: the \
                 property `detectable` looks at it",
                place(*at)
            ),
            CrashAssumption::NoEffect { called, at, others } => {
                let others = match others {
                    0 => String::new(),
                    count => format!("; so are {count} others"),
                };
                format!(
                    "the operation called at {} is left out, because recovery said at {} that it \
                     had no effect{others}",
                    place(*called),
                    place(*at)
                )
            }
            CrashAssumption::OneProcess { process, at } => format!(
                "durable linearizability knows crashes of the whole system only; process \
                 {process}, which crashed at {}, is taken as one that stopped, and is a new process \
                 if it goes on",
                place(*at)
            ),
            CrashAssumption::GoesOn { process, at } => format!(
                "process {process} acts before and after the crash at {}; durable linearizability \
                 takes it as a new process",
                place(*at)
            ),
        }
    }
}

impl fmt::Display for CrashAssumption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.said(event))
    }
}

/// An event where nothing is known of how it was recorded.
fn event(at: Rank) -> String {
    format!("event {at}")
}

/// An operation that was interrupted, and the next one of its process on the same object.
///
/// If `operation` takes effect it does so before `next`, and before whatever comes after `next` in
/// that process where `next` never takes effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interrupted {
    /// What was interrupted.
    pub operation: OpId,
    /// What its process did next.
    pub next: OpId,
}

/// A history whose crashes make no sense.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CrashError {
    /// A crash of a process that the history does not have.
    #[error("{}", self.said(event))]
    NoSuchProcess {
        /// The crash.
        at: Rank,
    },
    /// An operation that returned although it was open in a crash.
    #[error("{}", self.said(event))]
    Survived {
        /// Who called it.
        process: String,
        /// When it was called.
        invoked: Rank,
        /// When it returned.
        returned: Rank,
        /// When the crash was.
        crash: Rank,
    },
    /// A process that goes on without an answer and without a crash.
    #[error("{}", self.said(event))]
    NotInterrupted {
        /// The process.
        process: String,
        /// The operation without an answer.
        open: Rank,
        /// The next call.
        at: Rank,
    },
}

impl CrashError {
    /// What is wrong, with the places of events as they are known where they were recorded: `line
    /// 7`.
    pub fn said(&self, place: impl Fn(Rank) -> String) -> String {
        match self {
            CrashError::NoSuchProcess { at } => format!(
                "the crash at {} is of a process that the history does not have",
                place(*at)
            ),
            CrashError::Survived { process, invoked, returned, crash } => format!(
                "the operation that process {process} called at {} returned at {}, although the \
                 crash at {} interrupted it",
                place(*invoked),
                place(*returned),
                place(*crash)
            ),
            CrashError::NotInterrupted { process, open, at } => format!(
                "process {process} calls at {}, although its operation from {} never returned and \
                 no crash interrupted it",
                place(*at),
                place(*open)
            ),
        }
    }
}

/// Sets the deadline ([`Operation::returned`](crate::Operation::returned)) of every operation
/// without a response to what the property says, and returns what else it asks for.
/// [`Property::Detectable`] also answers operations as recovery did, and takes away those of which
/// it said that they had no effect.
///
/// [`Property::Linearizable`] accepts everything. The others check that crashes are those of known
/// processes, that no operation survives one, and that no process goes on after an unanswered call
/// unless a crash interrupted it.
pub fn apply(history: &mut History, property: Property) -> Result<Applied, CrashError> {
    let mut applied = Applied::default();
    if property == Property::Linearizable {
        for operation in history.operations.iter_mut().filter(|operation| !operation.completed) {
            operation.returned = NEVER;
        }
        if !history.crashes.is_empty() {
            applied.assumptions.push(CrashAssumption::Ignored);
        }
        applied.assumptions.extend(recovered_ignored(history));
        return Ok(applied);
    }
    let interruptions = interruptions(history)?;
    let next = next_calls(history, &interruptions)?;
    for (id, operation) in history.operations.iter_mut().enumerate() {
        if !operation.completed {
            operation.returned = match property {
                Property::Strict => interruptions[id],
                _ => NEVER,
            };
        }
    }
    match property {
        Property::Recoverable => applied.interrupted = next,
        Property::Durable => applied.assumptions = durable_assumptions(history),
        Property::Detectable => {
            applied.assumptions.extend(without_effect(history));
            recover(history);
        }
        Property::Strict | Property::Linearizable => {}
    }
    if property != Property::Detectable {
        applied.assumptions.extend(recovered_ignored(history));
    }
    Ok(applied)
}

/// Lets interrupted operations be what recovery said of them.
fn recover(history: &mut History) {
    let mut without_effect: FxHashSet<Rank> = FxHashSet::default();
    for recovered in &history.recovered {
        let at = history.operations.binary_search_by_key(&recovered.called, |of| of.invoked);
        match recovered.outcome {
            RecoveredOutcome::TookEffect(response) => {
                if let Ok(at) = at {
                    let operation = &mut history.operations[at];
                    (operation.completed, operation.response) = (true, response);
                    operation.returned = recovered.at;
                }
            }
            RecoveredOutcome::NoEffect => {
                without_effect.insert(recovered.called);
            }
        }
    }
    history.operations.retain(|operation| !without_effect.contains(&operation.invoked));
}

/// That operations are left out, if recovery said of some that they had no effect.
fn without_effect(history: &History) -> Option<CrashAssumption> {
    let said = history.recovered.iter();
    let mut said = said.filter(|recovered| recovered.outcome == RecoveredOutcome::NoEffect);
    let first = said.next()?;
    Some(CrashAssumption::NoEffect { called: first.called, at: first.at, others: said.count() })
}

/// That what recovery said is ignored, if it said something.
fn recovered_ignored(history: &History) -> Option<CrashAssumption> {
    let first = history.recovered.first()?;
    Some(CrashAssumption::RecoveredIgnored { at: first.at })
}

impl Applied {
    /// Replaces the order by deadlines: each interrupted operation takes effect before the
    /// *invocation* of the next.
    ///
    /// This asks for more than recoverable linearizability (for one object it is persistent
    /// atomicity), so a history that holds then is recoverably linearizable, while one that is
    /// violated may not be. A history that is violated without the order, by the deadlines of
    /// [`apply`] alone, is violated. A checker that does not know about orders can so answer
    /// exactly, except between the two.
    pub fn tighten(&self, history: &mut History) {
        for interrupted in &self.interrupted {
            let next = history[interrupted.next].invoked;
            // An event before the next invocation: an operation precedes what is invoked *after*
            // its end.
            let operation = &mut history[interrupted.operation];
            operation.returned = operation.returned.min(next - 1);
        }
    }
}

/// For each operation without a response the first crash that interrupts it, [`NEVER`] if none
/// does.
fn interruptions(history: &History) -> Result<Vec<Rank>, CrashError> {
    let processes = history.processes.len();
    let mut system: Vec<Rank> = Vec::new();
    let mut single: FxHashMap<u32, Vec<Rank>> = FxHashMap::default();
    for &Crash { at, process } in &history.crashes {
        match process {
            None => system.push(at),
            Some(process) if (process as usize) < processes => {
                single.entry(process).or_default().push(at);
            }
            Some(_) => return Err(CrashError::NoSuchProcess { at }),
        }
    }
    // Crashes are in order, so the first one after an instant is found by bisection.
    let after = |crashes: &[Rank], instant: Rank| {
        crashes.get(crashes.partition_point(|&at| at < instant)).copied().unwrap_or(NEVER)
    };
    // A history that was answered as recovery did may be judged again.
    let answered: FxHashSet<Rank> =
        history.recovered.iter().map(|recovered| recovered.called).collect();
    let mut interruptions = Vec::with_capacity(history.operations.len());
    for operation in &history.operations {
        let own = single.get(&operation.process).map_or(&[][..], Vec::as_slice);
        let crash = after(&system, operation.invoked).min(after(own, operation.invoked));
        let survived = operation.completed && crash < operation.returned;
        if survived && !answered.contains(&operation.invoked) {
            return Err(CrashError::Survived {
                process: name(history, operation.process),
                invoked: operation.invoked,
                returned: operation.returned,
                crash,
            });
        }
        interruptions.push(crash);
    }
    Ok(interruptions)
}

/// What processes did on the same object after an interrupted operation.
fn next_calls(history: &History, interruptions: &[Rank]) -> Result<Vec<Interrupted>, CrashError> {
    // Backwards in time: what each process calls next, on anything and on each object.
    let mut anything: FxHashMap<u32, Rank> = FxHashMap::default();
    let mut object: FxHashMap<(u32, ValueId), OpId> = FxHashMap::default();
    let mut interrupted = Vec::new();
    for (id, operation) in history.operations.iter().enumerate().rev() {
        let place = (operation.process, operation.key);
        if !operation.completed {
            let next = anything.get(&operation.process).copied().unwrap_or(NEVER);
            if next < interruptions[id] {
                return Err(CrashError::NotInterrupted {
                    process: name(history, operation.process),
                    open: operation.invoked,
                    at: next,
                });
            }
            if let Some(&next) = object.get(&place) {
                interrupted.push(Interrupted { operation: OpId::new(id), next });
            }
        }
        anything.insert(operation.process, operation.invoked);
        object.insert(place, OpId::new(id));
    }
    interrupted.reverse();
    Ok(interrupted)
}

/// Where the history is not one of those that durable linearizability is defined for.
fn durable_assumptions(history: &History) -> Vec<CrashAssumption> {
    let mut assumptions = Vec::new();
    if let Some(crash) = history.crashes.iter().find(|crash| crash.process.is_some()) {
        let process = name(history, crash.process.unwrap_or_default());
        assumptions.push(CrashAssumption::OneProcess { process, at: crash.at });
    }
    let system = history.crashes.iter().find(|crash| crash.process.is_none());
    if let Some(crash) = system {
        let before = history.operations.partition_point(|operation| operation.invoked < crash.at);
        let (before, after) = history.operations.split_at(before);
        let mut known = vec![false; history.processes.len()];
        before.iter().for_each(|operation| known[operation.process as usize] = true);
        if let Some(again) = after.iter().find(|operation| known[operation.process as usize]) {
            let process = name(history, again.process);
            assumptions.push(CrashAssumption::GoesOn { process, at: crash.at });
        }
    }
    assumptions
}

fn name(history: &History, process: u32) -> String {
    history.processes.get(process as usize).cloned().unwrap_or_else(|| process.to_string())
}

#[cfg(test)]
mod tests;
