//! What operations do alone, from every state that any number of threads reach (paper 004).
//!
//! The views of a proof stand for every reachable state, and a view whose thread is idle for every
//! reachable state with one more thread that calls next. So an operation is run alone from each of
//! these (`frozen.rs`). Where it always returns with the answer of the reference, its base points
//! are the states in which the specification gives that answer, and this follows:
//!
//! - Theorem 2, condition 2, for a read-only operation: the proof has shown that each of its
//!   answers was that of the reference at some instant since the call
//!   ([`AloneRule::ReadBasePoint`]).
//! - Theorem 2, condition 1, for an update operation: what readers answer alone changes only where
//!   the reference does, and that is at most one step of a call (`preserve.rs`,
//!   [`AloneRule::OneStep`]).
//!
//! [`AloneRule::OneUpdate`] is about Definition 6.1: see `single.rs`.
//!
//! An update operation may count as a reader too, for its calls that change nothing: see
//! [`alone_claims`].

use crate::analysis::{Analysis, Found, Options, analyse};
use crate::correlate::Machine;
use crate::engine::ground_of;
use crate::execute::Path;
use crate::failure::Failure;
use crate::frozen::{Ends, Frozen, Stop, Stopped, machine, unlocked};
use crate::model::{Does, Reference, actions, writes};
use crate::prepare::NotApplicable;
use crate::preserve::{Change, Watched, calls, changes};
use crate::single::single_updates;
use crate::state::{State, Thread};
use crate::targets::Targets;
use linchpin_ir::program::{Body, Program};
use linchpin_verdict::{Limits, StopReason};
use smallvec::smallvec;
use thiserror::Error;

/// What is claimed of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AloneRule {
    /// From every reachable shared state, alone, it returns, answers as the specification does in
    /// that state, and changes nothing. Of an update operation: where the specification changes
    /// nothing; elsewhere it does not answer without an update step.
    AnswersAlone,
    /// Each answer of a call without update steps is one that the operation gives alone in some
    /// state from its call to its response (Theorem 2, condition 2).
    ReadBasePoint,
    /// At most one step of each call changes what some reader answers alone (Theorem 2,
    /// condition 1).
    OneStep,
    /// Each call takes at most one update step, so that no critical sequence interleaves with it
    /// (Definition 6.1).
    OneUpdate,
}

/// A claim about every run of any number of threads, on any heap.
#[derive(Clone, Debug)]
pub struct AloneClaim {
    /// The operation.
    pub operation: usize,
    /// What is claimed of it.
    pub rule: AloneRule,
    /// What is known.
    pub status: AloneStatus,
}

/// What is known of a claim.
#[derive(Clone, Debug)]
pub enum AloneStatus {
    /// It holds.
    Shown,
    /// That is not shown.
    Open(Gap),
}

impl AloneStatus {
    /// Whether the claim holds.
    pub fn is_shown(&self) -> bool {
        matches!(self, AloneStatus::Shown)
    }
}

/// Where a claim resists.
#[derive(Clone, Debug)]
pub struct Gap {
    /// The source line; that of the operation if there is none.
    pub line: u32,
    /// Why.
    pub cause: GapCause,
    /// The abstract state, if one shows it.
    pub state: Option<Box<State<Targets>>>,
}

/// Why a claim is not shown.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum GapCause {
    /// There is no proof, so not every reachable state is known.
    #[error("the comparison with the reference fails: {}", .0.cause)]
    NotProved(Failure),
    /// The comparison was given up.
    #[error("{0}")]
    Stopped(StopReason),
    /// The reference is not known to be right.
    #[error("that the reference is right is not shown: {0}")]
    Reference(String),
    /// A run alone goes wrong.
    #[error("{0}")]
    Alone(Stop),
    /// Its arguments are values.
    #[error("its arguments are values, and those of two calls may be equal")]
    Values,
    /// No thread calls it.
    #[error("no thread calls it")]
    NotCalled,
    /// A reader is not known to answer alone as the specification does.
    #[error("what another operation answers alone is not known")]
    Reader(usize),
    /// A step other than the one at which the reference moves may change what a reader answers.
    #[error("this step may change what an operation answers alone")]
    Changes(usize),
    /// The reference may move twice in one call.
    #[error("it may take effect twice")]
    Twice,
    /// Another update step may come before this one.
    #[error("another update step of the same call may come before this one")]
    SecondUpdate,
    /// It may take effect without an update step.
    #[error("it may take effect without a step that a reader notices")]
    NoReader,
}

/// Whether a body of code has no step that writes.
pub fn is_read_only(body: &Body) -> bool {
    !actions(body).any(writes)
}

/// What operations do alone, for any number of threads and any heap.
///
/// Readers are the operations whose code writes nothing, and those in `quiet`: update operations
/// whose calls that take no update step are to count as calls of a reader.
pub fn alone_claims(
    program: &Program,
    quiet: &[usize],
    limits: &Limits,
) -> Result<Vec<AloneClaim>, NotApplicable> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let options = Options { workers: cores, limits: limits.clone(), ..Options::default() };
    let analysis = analyse(program, &options, &|_| {})?;
    Ok(claims_of(&analysis, quiet, limits))
}

/// The same, of an analysis of any number of threads.
pub fn claims_of(analysis: &Analysis, quiet: &[usize], limits: &Limits) -> Vec<AloneClaim> {
    let program = &analysis.machine.model.program;
    let all = 0..program.operations.len();
    let reads = |operation: &usize| is_read_only(&program.operations[*operation].body);
    let is_reader = |operation: &usize| reads(operation) || quiet.contains(operation);
    let readers: Vec<usize> = all.clone().filter(is_reader).collect();
    if let Err(cause) = grounded(analysis, limits) {
        let open = |operation: usize, rule: AloneRule| {
            let gap = gap(program, operation, cause.clone());
            AloneClaim { operation, rule, status: AloneStatus::Open(gap) }
        };
        let of_reader = |operation: &usize| {
            [AloneRule::AnswersAlone, AloneRule::ReadBasePoint].map(|rule| open(*operation, rule))
        };
        let updates = all.filter(|operation| !reads(operation));
        let of_update = |operation: usize| {
            [AloneRule::OneStep, AloneRule::OneUpdate].map(|rule| open(operation, rule))
        };
        let steps = updates.flat_map(of_update);
        return readers.iter().flat_map(of_reader).chain(steps).collect();
    }
    let alone = machine(analysis.machine.model.clone());
    let study = Study { analysis, alone: &alone, limits };
    let answers: Vec<(usize, AloneStatus)> = readers
        .iter()
        .map(|&reader| (reader, status(study.answers(reader, reads(&reader)))))
        .collect();
    let mut claims: Vec<AloneClaim> = Vec::new();
    for (operation, status) in &answers {
        let (operation, rule) = (*operation, AloneRule::AnswersAlone);
        claims.push(AloneClaim { operation, rule, status: status.clone() });
    }
    for (operation, known) in &answers {
        let noticed = || study.effects_are_noticed(&answers, reads);
        let status = match known {
            AloneStatus::Shown if reads(operation) || noticed() => AloneStatus::Shown,
            AloneStatus::Shown => AloneStatus::Open(gap(program, *operation, GapCause::NoReader)),
            AloneStatus::Open(gap) => AloneStatus::Open(gap.clone()),
        };
        claims.push(AloneClaim { operation: *operation, rule: AloneRule::ReadBasePoint, status });
    }
    let steps = study.one_step(&answers);
    let single = single_updates(analysis).into_iter().enumerate().map(|(operation, found)| {
        AloneClaim { operation, rule: AloneRule::OneUpdate, status: status(found) }
    });
    claims.extend(steps.into_iter().chain(single).filter(|claim| !reads(&claim.operation)));
    claims
}

fn status(found: Result<(), Gap>) -> AloneStatus {
    match found {
        Ok(()) => AloneStatus::Shown,
        Err(gap) => AloneStatus::Open(gap),
    }
}

/// A gap that no state shows.
fn gap(program: &Program, operation: usize, cause: GapCause) -> Gap {
    Gap { line: program.operations[operation].line, cause, state: None }
}

/// Whether the views of an analysis stand for every reachable state, compared with the
/// specification.
fn grounded(analysis: &Analysis, limits: &Limits) -> Result<(), GapCause> {
    match &analysis.found {
        Found::Proved => {}
        Found::Failed(trace) => return Err(GapCause::NotProved(trace.failure)),
        Found::Stopped(reason) => return Err(GapCause::Stopped(*reason)),
    }
    ground_of(&analysis.machine.model.program, limits).map_err(GapCause::Reference)
}

struct Study<'a> {
    analysis: &'a Analysis,
    /// Makes the moves of runs alone.
    alone: &'a Machine,
    limits: &'a Limits,
}

impl Study<'_> {
    /// Whether an operation alone answers as the reference does, from every reachable state.
    fn answers(&self, operation: usize, read_only: bool) -> Result<(), Gap> {
        let model = &self.alone.model;
        let gap = |cause: GapCause| gap(&model.program, operation, cause);
        let watched = calls(self.alone, operation).ok_or(gap(GapCause::Values))?;
        let calls = |role: usize| model.roles[role].contains(&operation);
        if !(0..model.roles.len()).any(calls) {
            return Err(gap(GapCause::NotCalled));
        }
        let is_start = |state: &&State<Targets>| {
            state.threads[0].at.is_none() && calls(usize::from(state.threads[0].role))
        };
        let states = self.analysis.explored.states.iter().map(|reached| &reached.state);
        let starts: Vec<State<Targets>> =
            states.filter(is_start).map(|state| unlocked(state.clone())).collect();
        for call in watched {
            let (quiet, changing) = match read_only {
                true => (starts.clone(), Vec::new()),
                false => self.parted(&starts, &call)?,
            };
            for (ends, starts) in [(Ends::Quietly, quiet), (Ends::Changing, changing)] {
                let arguments = call.arguments.clone();
                let run =
                    Frozen { machine: self.alone, operation, arguments, ends, limits: self.limits };
                run.run(starts).map_err(of_run)?;
            }
        }
        Ok(())
    }

    /// The states in which the reference would answer and stay as it is, and the others.
    #[allow(clippy::type_complexity)]
    fn parted(
        &self,
        starts: &[State<Targets>],
        call: &Watched,
    ) -> Result<(Vec<State<Targets>>, Vec<State<Targets>>), Gap> {
        let (mut quiet, mut changing) = (Vec::new(), Vec::new());
        for start in starts {
            let mut state = start.clone();
            let (role, arguments) = (state.threads[0].role, call.arguments.clone());
            state.threads[0] = Thread { arguments, ..Thread::idle(role) };
            let path = Path { state, locals: smallvec![], visible: false, allocated: smallvec![] };
            let ends = self.alone.linearize(path, 0, call.operation, 0).map_err(|failure| {
                let state = Some(Box::new(start.clone()));
                let cause = GapCause::Alone(Stop::Fails(failure));
                Gap { line: failure.line, cause, state }
            })?;
            // Where the reference may do either, both are asked for, and one of them fails.
            if ends.iter().any(|path| !path.visible) {
                quiet.push(start.clone());
            }
            if ends.iter().any(|path| path.visible) {
                changing.push(start.clone());
            }
        }
        Ok((quiet, changing))
    }

    /// Whether some reader notices each effect: the only bit of the reference is what `contains`
    /// answers alone. So a call that takes effect has taken an update step.
    fn effects_are_noticed(
        &self,
        answers: &[(usize, AloneStatus)],
        reads: impl Fn(&usize) -> bool,
    ) -> bool {
        let model = &self.alone.model;
        matches!(model.reference, Reference::Bit)
            && answers.iter().any(|(reader, status)| {
                model.does[*reader] == Does::Contains && reads(reader) && status.is_shown()
            })
    }

    /// Whether at most one step of a call changes what readers answer alone, for each operation.
    fn one_step(&self, answers: &[(usize, AloneStatus)]) -> Vec<AloneClaim> {
        let machine = &self.analysis.machine;
        let program = &machine.model.program;
        let count = program.operations.len();
        let mut found: Vec<Result<(), Gap>> = (0..count).map(|_| Ok(())).collect();
        let open = answers.iter().find(|(_, status)| !status.is_shown());
        if let Some((reader, _)) = open {
            let cause = |operation: usize| gap(program, operation, GapCause::Reader(*reader));
            found = (0..count).map(|operation| Err(cause(operation))).collect();
        }
        let readers = answers.iter().filter(|_| open.is_none()).map(|(reader, _)| *reader);
        for watched in readers.filter_map(|reader| calls(machine, reader)).flatten() {
            for view in &self.analysis.explored.states {
                changes(machine, &view.state, &watched, &mut |operation, line, change| {
                    let cause = match change {
                        Change::Answer => GapCause::Changes(watched.operation),
                        Change::Second => GapCause::Twice,
                        Change::Fails(failure) => GapCause::Alone(Stop::Fails(failure)),
                    };
                    let state = Some(Box::new(view.state.clone()));
                    if found[operation].is_ok() {
                        found[operation] = Err(Gap { line, cause, state });
                    }
                });
            }
        }
        let claim = |(operation, found): (usize, Result<(), Gap>)| AloneClaim {
            operation,
            rule: AloneRule::OneStep,
            status: status(found),
        };
        found.into_iter().enumerate().map(claim).collect()
    }
}

fn of_run(stopped: Stopped) -> Gap {
    let Stopped { stop, line, state } = stopped;
    Gap { line, cause: GapCause::Alone(stop), state: Some(state) }
}
