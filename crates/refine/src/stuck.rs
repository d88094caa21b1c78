//! Whether an operation can get stuck: a reachable state in which it is pending and from which no
//! continuation leads to its response, whatever all threads do (in CTL: AG EF for each operation).
//!
//! The question is about the model alone, so its own graph is explored, not the product with the
//! specification (whose antichain leaves states out). What may be left out or taken together:
//!
//! - Objects are renamed, garbage, dead locals and dead fields dropped: what is identified has the
//!   same ways on.
//! - Threads and values are renamed: isomorphic states have isomorphic continuations. The graph
//!   says where each transition moves each thread, so that every pending operation is followed.
//! - A response comes with the last step of its operation, and private steps with the step before
//!   them (partial order). Such a step is always possible, whatever other threads do, and commutes
//!   with their steps. So from a state that is left out one that is kept is reached by such steps,
//!   an operation that is stuck in the one is stuck in the other, and no continuation is lost.
//! - A call does not come with its first step: that step may be refused, and then the operation is
//!   pending although the merged transition does not exist ([`Space::with_calls_apart`]).
//!
//! A call that a crash of the system interrupts is gone: it is not stuck, and the crash is no way
//! for it to return. After a crash, operations must be able to return as before. So all that
//! matters of crashes is in which states recovery ends: where these are known, the graph starts
//! there as well as in the initial state, and has no crash in it.
//!
//! The bound on calls must not make an operation stuck: `extension.rs` asks again with further
//! calls for states in which an operation cannot return. If it can after all, so it can in the
//! states that lead there; so the deepest states are asked first. If it cannot, but waits for a
//! number that still more calls could reach, the answer is open (`influence.rs`). What the bound on
//! objects refuses is asked there too: with further calls, objects are not bounded.

use crate::counterexample::{ConcreteRun, Counterexample, Failure, Holder, KeptBy, StuckOperation};
use crate::extension::{Extension, Waiting};
use crate::graph::{CanReturn, Graph, MAX_THREADS, NoGraph, StateId};
use crate::options::VerifyOptions;
use linchpin_ir::interpreter::{Machine, Move, State, StepRecord};
use linchpin_ir::program::Program;
use linchpin_space::{Bounds, CrashPart, Flat, Reductions, Space, SpaceError};
use linchpin_verdict::StopReason;
use std::collections::{BTreeSet, HashMap};

/// One question about further calls may cost so many states.
const EXTENSION_STATES: usize = 200_000;

/// The same for states nearer to the start, when one that is stuck is known already.
const EARLY_STATES: usize = 20_000;

/// So many states nearer to the start are tried.
const EARLY_TRIES: usize = 200;

/// All questions about further calls together may cost so many states.
const MOST_STATES: usize = 4_000_000;

/// The same once one was not decided: then only a stuck operation is still of interest.
const DOUBTFUL_STATES: usize = 1_000_000;

/// After so many questions that were not decided, no more are asked.
const MOST_DOUBTS: usize = 32;

/// A thread that runs alone is watched for so many steps.
const ALONE: usize = 20_000;

/// What became of the check that no operation gets stuck.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StuckCheck {
    /// It was not asked for, or something else was wrong first.
    Off,
    /// From every reachable state, every pending operation can return.
    Passed {
        /// So many states.
        states: usize,
        /// Whether the values that were passed stand for all.
        any_values: bool,
        /// Threads may crash by themselves: only runs in which none does were looked at.
        without_crashed_threads: bool,
    },
    /// An operation can get stuck: the counterexample shows it.
    Found,
    /// It was not made, or not to the end.
    NotMade(NotMade),
}

/// Why operations were not checked for getting stuck.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotMade {
    /// The model has more states than the check may keep.
    TooManyStates {
        /// How many it may keep.
        bound: u32,
    },
    /// A limit stopped it.
    Stopped(StopReason),
    /// Clients may pass any values, and there are more at a time than were named.
    MoreValues,
    /// The search leaves states out.
    Lossy,
    /// There are more threads than it is made for.
    TooManyThreads,
    /// Operations wait within the bounds, and whether further calls of clients would end that was
    /// not decided.
    FurtherCalls,
    /// Operations cannot return by the steps that the bound on heap objects allows, and whether
    /// they can with more objects was not decided.
    ObjectBound,
    /// An operation gets stuck, but the interpreter did not come there.
    NotReplayed,
}

/// Checks that no operation gets stuck. The counterexample is there if one does. `recovered` are
/// the states in which recovery ends, without their crash parts, if they are known.
pub(crate) fn check(
    program: &Program,
    options: &VerifyOptions,
    recovered: Option<&[Box<[u8]>]>,
) -> Result<(StuckCheck, Option<Counterexample>), SpaceError> {
    if options.lossy.is_some() {
        return Ok((StuckCheck::NotMade(NotMade::Lossy), None));
    }
    if program.threads.len() > MAX_THREADS {
        return Ok((StuckCheck::NotMade(NotMade::TooManyThreads), None));
    }
    // Crashes of one thread are not looked at here, but what recovery ends in may come from some.
    if let Some(recovered) = recovered.filter(|_| options.bounds.thread_crashes == 0) {
        let starts: Vec<Vec<u8>> =
            recovered.iter().map(|state| [&state[..], &CrashPart::NONE_LEFT].concat()).collect();
        let found = with_reductions(program, options, options.reductions, &starts)?;
        if !matches!(found.0, StuckCheck::Found | StuckCheck::NotMade(NotMade::NotReplayed)) {
            return Ok(found);
        }
        // The way there leads through crashes.
    }
    let named = Reductions { thread_symmetry: false, value_symmetry: false, ..options.reductions };
    // Symmetry can hide which thread is which so well that the path cannot be followed again: then
    // the search is made without it.
    for reductions in [options.reductions, named] {
        let found = with_reductions(program, options, reductions, &[])?;
        if found.0 != StuckCheck::NotMade(NotMade::NotReplayed) {
            return Ok(found);
        }
    }
    Ok((StuckCheck::NotMade(NotMade::NotReplayed), None))
}

fn with_reductions(
    program: &Program,
    options: &VerifyOptions,
    reductions: Reductions,
    starts: &[Vec<u8>],
) -> Result<(StuckCheck, Option<Counterexample>), SpaceError> {
    let (bound, workers) = (options.stuck_states, options.search.workers);
    // Others may well wait for a thread that crashed by itself: its locks stay taken.
    let bounds = Bounds { thread_crashes: 0, ..options.bounds };
    let space = Space::new(program, bounds, reductions)?.with_calls_apart().ignoring_points();
    let not_made = |why: NotMade| Ok((StuckCheck::NotMade(why), None));
    let graph = match Graph::explore(&space, starts, bound, workers, &options.search.limits) {
        Ok(graph) => graph,
        Err(NoGraph::TooManyStates) => return not_made(NotMade::TooManyStates { bound }),
        Err(NoGraph::Stopped(reason)) => return not_made(NotMade::Stopped(reason)),
        Err(NoGraph::Space(error)) => return Err(error),
    };
    let mut check = Check { program, options, space: &space, graph: &graph };
    Ok(match check.first_stuck()? {
        Answer::None => {
            let any_values = space.covers_any_values();
            let without_crashed_threads = options.bounds.thread_crashes > 0;
            (StuckCheck::Passed { states: graph.len(), any_values, without_crashed_threads }, None)
        }
        Answer::Undecided(why) => (StuckCheck::NotMade(why), None),
        Answer::At(_) if !starts.is_empty() => (StuckCheck::Found, None),
        Answer::At(state) => match check.counterexample(state)? {
            Some(found) => (StuckCheck::Found, Some(found)),
            None => (StuckCheck::NotMade(NotMade::NotReplayed), None),
        },
    })
}

struct Check<'a> {
    program: &'a Program,
    options: &'a VerifyOptions,
    space: &'a Space,
    graph: &'a Graph,
}

/// Where an operation is stuck.
enum Answer {
    None,
    At(StateId),
    Undecided(NotMade),
}

impl Check<'_> {
    /// A state in which an operation is stuck: the first that was tried, from the start.
    fn first_stuck(&mut self) -> Result<Answer, SpaceError> {
        let mut can = CanReturn::new(self.graph);
        let bounds: Bounds = self.options.bounds;
        let open = |can: &CanReturn<'_>, state: &StateId| can.open(*state) != 0;
        if !self.graph.states().any(|state| open(&can, &state)) {
            return Ok(Answer::None);
        }
        let extension = Extension::new(self.program, bounds, EXTENSION_STATES)?;
        let open_question =
            if self.graph.is_bounded() { NotMade::ObjectBound } else { NotMade::FurtherCalls };
        let (mut undecided, mut doubts) = (None, 0);
        let mut deep = None;
        for state in self.graph.states().rev() {
            if can.open(state) == 0 {
                continue;
            }
            match self.stuck(&extension, state) {
                Ok(Waiting { stuck: 1.., .. }) => {
                    deep = Some(state);
                    break;
                }
                Ok(Waiting { doubtful: 0, .. }) => {}
                Ok(_) | Err(StopReason::Budget) => {
                    undecided = Some(open_question);
                    doubts += 1;
                }
                Err(reason) => return Ok(Answer::Undecided(NotMade::Stopped(reason))),
            }
            if let Some(reason) = self.options.search.limits.exceeded(self.graph.bytes()) {
                return Ok(Answer::Undecided(NotMade::Stopped(reason)));
            }
            let most = if doubts == 0 { MOST_STATES } else { DOUBTFUL_STATES };
            if extension.cost() > most || doubts == MOST_DOUBTS {
                return Ok(Answer::Undecided(open_question));
            }
            can.close(state);
        }
        let Some(deep) = deep else {
            return Ok(undecided.map_or(Answer::None, Answer::Undecided));
        };
        let early = Extension::new(self.program, bounds, EARLY_STATES)?;
        let earlier = self.graph.states().take_while(|state| *state != deep);
        let mut earlier = earlier.filter(|state| open(&can, state)).take(EARLY_TRIES);
        let first = earlier
            .find(|state| matches!(self.stuck(&early, *state), Ok(Waiting { stuck: 1.., .. })));
        Ok(Answer::At(first.unwrap_or(deep)))
    }

    fn stuck(&self, extension: &Extension, state: StateId) -> Result<Waiting, StopReason> {
        let mut flat = Flat::default();
        self.space.unpack(self.graph.packed(state), &mut flat);
        extension.stuck(self.space, &flat, &self.options.search.limits)
    }

    /// The run to a state, made by the interpreter, and what is stuck at its end.
    fn counterexample(&self, state: StateId) -> Result<Option<Counterexample>, SpaceError> {
        let path = self.graph.path_to(state);
        let Some(run) = ConcreteRun::along(self.space, None, &path) else { return Ok(None) };
        let extension = Extension::new(self.program, self.options.bounds, EXTENSION_STATES)?;
        let flat = self.space.flatten(&run.state, &run.calls)?;
        // Which threads these are is asked again, of the state that the interpreter has come to.
        let stuck = match extension.stuck(self.space, &flat, &self.options.search.limits) {
            Ok(Waiting { stuck: 0, .. }) | Err(_) => return Ok(None),
            Ok(waiting) => waiting.stuck,
        };
        let threads = (0..self.program.threads.len()).filter(|thread| stuck >> thread & 1 == 1);
        let operations = threads.filter_map(|thread| {
            let operation = run.state.pending(thread)?;
            let name = self.program.operations[operation].name.clone();
            let kept_by = kept_by(self.space.machine(), &run.state, thread);
            Some(StuckOperation { thread, operation, name, kept_by })
        });
        let failure = Failure::Stuck(operations.collect());
        Ok(run.replayed(failure))
    }
}

/// What keeps an operation, if its thread runs alone: it comes to a step that it cannot take, or to
/// a state where it has been before.
fn kept_by(machine: &Machine, state: &State, thread: usize) -> KeptBy {
    let mut state = state.clone();
    let mut seen: HashMap<State, usize> = HashMap::new();
    let mut lines: Vec<Vec<u32>> = Vec::new();
    let of = |lines: &[Vec<u32>]| {
        let lines: BTreeSet<u32> = lines.iter().flatten().copied().collect();
        KeptBy::Loop { lines: lines.into_iter().collect() }
    };
    for step in 0..ALONE {
        if let Some(wait) = machine.wait(&state, thread) {
            let held_by = wait.held_by.map(|thread| {
                let is_pending = state.pending(thread).is_some();
                Holder { thread, is_pending }
            });
            return KeptBy::Wait { line: wait.line, reason: wait.reason, held_by };
        }
        if let Some(first) = seen.insert(state.clone(), step) {
            return of(&lines[first..]);
        }
        let what = Move::Step { thread };
        let successors = machine.successors(&state, &what);
        let Some(taken) = successors.into_iter().find(|successor| successor.result.is_ok()) else {
            break;
        };
        let mut record = StepRecord::blank();
        machine.attempt(&state, &what, &taken.choices, Some(&mut record));
        lines.push(record.actions.iter().map(|action| action.line).collect());
        match taken.result {
            Ok(next) => state = next,
            Err(_) => break,
        }
    }
    of(&lines[lines.len().saturating_sub(ALONE / 2)..])
}
