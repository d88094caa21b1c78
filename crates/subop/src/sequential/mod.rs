//! Assumption 1 of the paper: every sequential execution of the operations is one of the abstract
//! data structure. The paper assumes it. Here sequential executions are compared with the
//! specification that the file names: [`check`] tries many, and where [`induction`] over one call
//! shows it of all, it says so.
//!
//! Reading order: [`Sequential`] is the answer; `search` executes; `integers` and `arguments`
//! choose what is passed.

mod arguments;
pub mod induction;
mod integers;
mod search;

pub use arguments::Domain;
pub use integers::Constants;

use crate::model::{Model, OperationId, SpecLine, SpecTerm};
use induction::{NotShown, Shown, SymbolicSpec};
use linchpin_spec::{self as spec, BuiltinSpec, builtin};
use linchpin_verdict::{self as verdict, Assumption, Verdict};
use search::Search;
use std::collections::BTreeSet;
use std::fmt;

/// How far [`check`] looks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// The longest sequence of calls of which every one is tried.
    pub calls: usize,
    /// The integers from 1 up to this one are passed in all of those; others in shorter ones.
    pub values: i64,
    /// After executing this many sub-operations it gives up.
    pub steps: usize,
    /// Random sequences that are tried in addition.
    pub random: Random,
}

/// So many integers from 1 on are not tried, and to try fewer would say too little.
const MOST_VALUES: i64 = 4096;

/// The longest sequences that are tried if nothing is said, without and with random choices.
const CALLS: usize = 6;
const RANDOM_CALLS: usize = 20;

impl Default for Bounds {
    fn default() -> Bounds {
        let random = Random { sequences: 100, calls: RANDOM_CALLS, seed: 1 };
        Bounds { calls: CALLS, values: 2, steps: 200_000, random }
    }
}

/// Sequences of calls chosen at random.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Random {
    /// How many.
    pub sequences: usize,
    /// How many calls each has.
    pub calls: usize,
    /// What they are made of: the same seed gives the same sequences.
    pub seed: u64,
}

/// What sequential executions are compared with, where the file does not say so itself.
pub struct Reference<'a> {
    /// Which operation of the specification each operation performs.
    pub lines: &'a [SpecLine],
    /// The specification.
    pub spec: BuiltinSpec,
    /// The same for symbolic values, if there is such a thing.
    pub symbolic: Option<&'a dyn SymbolicSpec>,
    /// For each operation, the arguments that clients pass. Every argument within is passed, so a
    /// specification that answers one in no state does not allow the call.
    pub domains: &'a [Vec<Domain>],
    /// The constants of the specification, and of code that became these operations.
    pub constants: &'a [Constants],
    /// For each operation and each argument, the integers that specification and code compare it
    /// with.
    pub compared: &'a [Vec<BTreeSet<i64>>],
}

/// One call of a sequential execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SequentialCall {
    /// The operation of the model.
    pub operation: OperationId,
    /// What it was passed, as the specification sees it.
    pub argument: spec::Value,
    /// What it answered, as the specification sees it.
    pub response: spec::Value,
}

/// What is known about sequential executions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sequential {
    /// Every sequential execution is one of the specification: nothing rests on those that were
    /// tried.
    Shown {
        /// Why.
        shown: Shown,
        /// What was tried.
        tried: Tried,
    },
    /// Every one that was tried is one of the specification.
    Tried {
        /// What was tried.
        tried: Tried,
        /// Why it is not shown of all.
        not_shown: NotShown,
    },
    /// Every one that was tried is one of the specification, but some operations never came to an
    /// end.
    NeverExecuted {
        /// Those.
        operations: Vec<OperationId>,
        /// What was tried.
        tried: Tried,
    },
    /// The last call of this execution is not one of the specification. It is a shortest one of
    /// those tried.
    Violated {
        /// The calls, in their order.
        calls: Vec<SequentialCall>,
    },
    /// Nothing is known.
    NotTried(NotTried),
}

/// Why no sequential execution was tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotTried {
    /// There is no specification to compare with.
    NoSpecification,
    /// There are too many, even of single calls.
    TooMany,
}

impl fmt::Display for NotTried {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            NotTried::NoSpecification => "there is no specification to compare with",
            NotTried::TooMany => "there are too many",
        })
    }
}

/// The sequential executions that were tried.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tried {
    /// Every sequence of so many calls with these integers.
    pub rounds: Vec<Round>,
    /// Random sequences in addition, as many as were executed.
    pub random: Option<Random>,
    /// How many operations were executed.
    pub executions: usize,
    /// What no execution that was tried did.
    pub not_taken: Vec<NotTaken>,
    /// Whether an operation guessed an integer that might have been any: then not all were tried.
    pub open_guesses: bool,
    /// Whether code or specification computes with integers: what is said holds as far as none
    /// overflows.
    pub adds: bool,
}

/// Every sequence of calls up to a length.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Round {
    /// The most calls.
    pub calls: usize,
    /// The integers that were passed, in increasing order.
    pub integers: Vec<i64>,
    /// Whether all lists of arguments were passed, not only some.
    pub all_arguments: bool,
}

/// Something that no execution that was tried did.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NotTaken {
    /// A sub-operation was never executed by an operation that came to an end.
    SubOperation(String),
    /// The specification's operation never answered so.
    Answer {
        /// The operation of the specification.
        method: String,
        /// The kind of answer.
        kind: AnswerKind,
    },
    /// A branch of the specification at this line.
    SpecificationLine(u32),
}

/// Kinds of answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AnswerKind {
    /// `false`
    False,
    /// `true`
    True,
    /// `null`
    Null,
    /// A value where `null` is possible.
    Value,
}

impl fmt::Display for NotTaken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotTaken::SubOperation(name) => write!(f, "sub-operation {name}"),
            NotTaken::Answer { method, kind } => {
                let kind = match kind {
                    AnswerKind::False => "false",
                    AnswerKind::True => "true",
                    AnswerKind::Null => "null",
                    AnswerKind::Value => "a value",
                };
                write!(f, "{method} answering {kind}")
            }
            NotTaken::SpecificationLine(line) => write!(f, "line {line} of the specification"),
        }
    }
}

impl Tried {
    /// The longest sequence of calls of which every one was tried.
    pub fn calls(&self) -> usize {
        self.rounds.iter().map(|round| round.calls).max().unwrap_or(0)
    }

    /// Every integer that was passed, in increasing order.
    pub fn integers(&self) -> Vec<i64> {
        self.integers_of(|_| true)
    }

    /// Every integer of the rounds that fit, in increasing order.
    fn integers_of(&self, fits: impl Fn(&&Round) -> bool) -> Vec<i64> {
        let rounds = self.rounds.iter().filter(fits);
        let mut all: Vec<i64> = rounds.flat_map(|round| round.integers.iter().copied()).collect();
        all.sort_unstable();
        all.dedup();
        all
    }
}

impl Sequential {
    /// What was tried, if something was and nothing is wrong.
    pub fn tried(&self) -> Option<&Tried> {
        match self {
            Sequential::Shown { tried, .. }
            | Sequential::Tried { tried, .. }
            | Sequential::NeverExecuted { tried, .. } => Some(tried),
            Sequential::Violated { .. } | Sequential::NotTried(_) => None,
        }
    }

    /// The same, to be completed.
    pub fn tried_mut(&mut self) -> Option<&mut Tried> {
        match self {
            Sequential::Shown { tried, .. }
            | Sequential::Tried { tried, .. }
            | Sequential::NeverExecuted { tried, .. } => Some(tried),
            Sequential::Violated { .. } | Sequential::NotTried(_) => None,
        }
    }

    /// The verdict on operations of which every interleaving is proved to be a sequential
    /// execution.
    pub fn verdict(&self) -> Verdict {
        match self {
            Sequential::Shown { .. } => Verdict::Proved,
            Sequential::Tried { .. } => Verdict::ProvedIfSequential,
            Sequential::Violated { .. } => Verdict::Violated,
            Sequential::NeverExecuted { .. } | Sequential::NotTried(_) => Verdict::Inconclusive,
        }
    }

    /// What such a verdict takes for granted about sequential executions; nothing if they are shown
    /// to be right.
    pub fn assumption(&self) -> Option<Assumption> {
        let known = match self {
            Sequential::Shown { .. } | Sequential::Violated { .. } => return None,
            Sequential::Tried { tried, .. } | Sequential::NeverExecuted { tried, .. } => {
                let calls = tried.calls();
                let integers =
                    tried.integers_of(|round| round.calls >= calls && round.all_arguments);
                let mut further = tried.integers();
                further.retain(|value| !integers.contains(value));
                verdict::Sequential::Tried {
                    calls,
                    executions: tried.executions,
                    integers,
                    further,
                    all_arguments: tried.rounds.iter().all(|round| round.all_arguments),
                }
            }
            Sequential::NotTried(why) => verdict::Sequential::NotTried { reason: why.to_string() },
        };
        Some(Assumption::SequentialExecutions(known))
    }
}

/// Compares sequential executions within the bounds with the specification of the file.
pub fn check(model: &Model, bounds: &Bounds) -> Sequential {
    let not_tried = Sequential::NotTried(NotTried::NoSpecification);
    let Some(mapping) = &model.spec else { return not_tried };
    let init = initial(&mapping.initial);
    let Ok(sequential) = builtin(&mapping.name, init.as_ref()) else { return not_tried };
    let symbolic = induction::builtin(&mapping.name, init.as_ref());
    let reference = Reference {
        lines: &mapping.lines,
        spec: sequential,
        symbolic: symbolic.as_deref(),
        domains: &[],
        constants: &[],
        compared: &[],
    };
    run(model, reference, bounds, None)
}

/// Compares sequential executions within the bounds with a specification.
pub fn check_against(model: &Model, reference: Reference<'_>, bounds: &Bounds) -> Sequential {
    let domains = reference.domains;
    run(model, reference, bounds, Some(domains))
}

fn run(
    model: &Model,
    reference: Reference<'_>,
    bounds: &Bounds,
    domains: Option<&[Vec<Domain>]>,
) -> Sequential {
    let Reference { lines, spec, symbolic, constants: more, compared, .. } = reference;
    if bounds.values > MOST_VALUES {
        return Sequential::NotTried(NotTried::TooMany);
    }
    let mut constants = integers::of_model(model);
    constants.extend(more.iter().cloned());
    let chosen = integers::choose(&constants, bounds.values);
    let mut search = Search::new(model, lines, spec, bounds, domains, &chosen);
    search.compare_with(compared);
    let adds = constants.iter().any(|part| part.adds || part.multiplies);
    let tried = match search.run(&chosen) {
        Ok(tried) => Tried { adds, ..tried },
        Err(calls) => return Sequential::Violated { calls },
    };
    if tried.rounds.is_empty() {
        return Sequential::NotTried(NotTried::TooMany);
    }
    let operations = search.never_executed();
    if !operations.is_empty() {
        return Sequential::NeverExecuted { operations, tried };
    }
    match induction::show(model, lines, symbolic, domains, search.samples()) {
        Ok(shown) => Sequential::Shown { shown, tried },
        Err(not_shown) => Sequential::Tried { tried, not_shown },
    }
}

/// The initial value that these terms stand for, if there are any.
pub(crate) fn initial(terms: &[SpecTerm]) -> Option<spec::Value> {
    (!terms.is_empty()).then(|| search::packed(terms.iter().map(search::constant).collect()))
}
