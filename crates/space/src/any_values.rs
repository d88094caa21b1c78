//! Where finitely many values stand for all, and how many.
//!
//! *Any values* means: the integers from 1 to N, for every N. What is shown here rests on the
//! analysis of `symmetry.rs`, and on one fact about the search that is observed, not assumed.
//!
//! **Compared.** If values are only moved and compared for equality, and only with constants below
//! 1, a state goes on as one with its values renamed does, and so does the specification. Values
//! are named in the order in which they appear, those that appear nowhere are forgotten, and a call
//! passes a value that is there or the next new one. The bound on values enters in one place
//! only: a call cannot pass a new value if all names are in use. If that never happened, the search
//! for every larger bound is this search, step by step, and its answer is the answer for all.
//!
//! **Moved.** If values are not even compared with each other, neither in the program nor in the
//! specification, then a run stays a run, with the same steps, when every value `v` is replaced by
//! `f(v)`, whatever `f` is, and a history that the specification explains stays explained. Every
//! run comes, by some `f`, from one in which each call passes new values. So only such runs are
//! explored: the others add nothing.
//!
//! The arguments are in full in `docs/theory/refine.md`.

use crate::bounds::Bounds;
use crate::flat::Flat;
use crate::layout::{Kind, Layout, VARIABLES};
use crate::lines::struct_of;
use crate::marks::SpecMarks;
use crate::symmetry::integers;
use linchpin_ir::domain::{Domain, DomainBounds};
use linchpin_ir::model_spec::spec_of;
use linchpin_ir::program::{Program, SpecSource};
use linchpin_spec::Value;
use linchpin_verdict::{Calls, Values};
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};

/// The most names for values: they are written as bytes.
const MOST: i64 = 255;

/// The names for values where threads call without end.
const MOST_ALIVE: i64 = 32;

/// What a model does with the integers that clients pass and get back, if these may be any from 1
/// on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DataUse {
    /// They are only moved, in the model and in its specification.
    Moved,
    /// They are moved and compared for equality.
    Compared,
    /// Something else.
    Other(NotAlike),
}

/// Why finitely many values do not stand for all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotAlike {
    /// The specification is not known to treat all values alike.
    Specification,
    /// The model's own specification does this.
    InSpecification(Box<NotAlike>),
    /// What this operation takes or answers is counted with, ordered or used as an index.
    Computed(String),
    /// What this operation takes or answers is set to or compared with a constant that clients may
    /// pass.
    Constant(String),
    /// This operation takes integers of a range of its own.
    Ranged(String),
    /// The object starts with a value that is too large to be named.
    Start(i64),
    /// What crashes leave is not looked at in this way.
    Crashes,
}

impl fmt::Display for NotAlike {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotAlike::Specification => {
                f.write_str("the specification is not known to treat all values alike")
            }
            NotAlike::InSpecification(why) => write!(f, "in the specification, {why}"),
            NotAlike::Computed(operation) => write!(
                f,
                "integers that `{operation}` takes or answers are counted with, ordered or used \
                 as an index"
            ),
            NotAlike::Constant(operation) => write!(
                f,
                "integers that `{operation}` takes or answers are set to or compared with a \
                 constant above 0"
            ),
            NotAlike::Ranged(operation) => {
                write!(f, "`{operation}` takes integers of a range of its own")
            }
            NotAlike::Start(value) => write!(f, "the object starts with the value {value}"),
            NotAlike::Crashes => f.write_str("with crashes, values are told apart"),
        }
    }
}

/// The values that clients pass in a space.
#[derive(Debug)]
pub(crate) struct Passing {
    /// Those from 1 to this one.
    pub last: i64,
    /// A call passes only values that are new.
    pub only_new: bool,
    /// Whether, for all that is known before the search, they may stand for all values.
    pub stand_for_all: bool,
    /// Whether there are as many as clients can pass in one run.
    pub enough: bool,
    /// Whether a call could have passed a new value that has no name; workers write it together.
    pub wanted: AtomicBool,
}

impl Passing {
    /// Notes that a call could have passed so many new values where so many are known.
    pub fn want(&self, known: usize, new: usize) {
        let needed = i64::try_from(known + new).unwrap_or(i64::MAX);
        if needed > self.last && !self.wanted.load(Ordering::Relaxed) {
            self.wanted.store(true, Ordering::Relaxed);
        }
    }
}

/// What is known before a search.
pub(crate) struct Known<'a> {
    /// What the model does with values.
    pub data_use: &'a DataUse,
    /// Whether the words that hold values are known.
    pub marked: bool,
    /// Whether values are named in the order in which they appear.
    pub named: bool,
    /// The largest value that the object starts with.
    pub start: i64,
}

/// The values that clients pass within these bounds.
pub(crate) fn passing(
    program: &Program,
    bounds: &Bounds,
    known: &Known<'_>,
) -> Result<Passing, NotAlike> {
    let Known { data_use, marked, named, start } = *known;
    let wanted = AtomicBool::new(false);
    // The values of the start keep their names, the largest of which is this.
    let most = most_passed(program, bounds).map(|passed| passed.saturating_add(start));
    let (last, only_new) = match bounds.values {
        Values::UpTo(last) => (last, false),
        Values::Any => {
            if let DataUse::Other(why) = data_use {
                return Err(why.clone());
            }
            if start > MOST {
                return Err(NotAlike::Start(start));
            }
            let asked = most.unwrap_or(MOST_ALIVE.max(start)).clamp(1, MOST);
            let last = (1..=asked).rev().find(|last| fit(program, *last)).unwrap_or(1);
            (last, named && *data_use == DataUse::Moved)
        }
    };
    let stand_for_all = marked && !matches!(data_use, DataUse::Other(_)) && start <= last;
    let enough = most.is_some_and(|most| most <= last);
    Ok(Passing { last, only_new, stand_for_all, enough, wanted })
}

/// The most values that the clients pass in one run; `None` if they call without end.
fn most_passed(program: &Program, bounds: &Bounds) -> Option<i64> {
    let taken = |operation: &usize| {
        let parameters = &program.operations[*operation].parameters;
        parameters.iter().map(|parameter| integers(&parameter.ty).len()).sum::<usize>()
    };
    let mut sum = 0i64;
    for (thread, of) in program.threads.iter().enumerate() {
        let each = of.operations.iter().map(taken).max().unwrap_or(0);
        let each = i64::try_from(each).unwrap_or(i64::MAX);
        match bounds.calls_of(program, thread) {
            Calls::Each(count) => sum = sum.saturating_add(each.saturating_mul(count.into())),
            Calls::Unlimited if each == 0 => {}
            Calls::Unlimited => return None,
        }
    }
    Some(sum)
}

/// Whether there are not too many lists of arguments with values up to this one.
fn fit(program: &Program, values: i64) -> bool {
    let bounds = DomainBounds { values, threads: program.threads.len() };
    program.operations.iter().all(|operation| {
        Domain::of_arguments(operation, bounds)
            .is_none_or(|domain| domain.size() <= crate::space::MAX_ARGUMENTS)
    })
}

/// The largest value that the object starts with: in its memory, in its specification, or in the
/// calls that come first. 0 if there is none.
pub(crate) fn largest_at_start(
    program: &Program,
    layout: &Layout,
    initial: Option<&Flat>,
    marks: &SpecMarks,
) -> i64 {
    let mut largest = 0;
    match &program.spec {
        SpecSource::Builtin { init, .. } => {
            largest = largest.max(init.as_ref().map_or(0, largest_in));
        }
        // One that cannot start is told by those who need it.
        SpecSource::Model(_) => {
            if let Ok(object) = spec_of(program) {
                let mut look = |i: i64| largest = largest.max(i);
                marks.state.visit(&object.spec.initial(), &mut look);
            }
        }
    }
    for argument in program.preload.iter().flat_map(|call| &call.arguments) {
        largest = largest.max(largest_in(argument));
    }
    let Some(flat) = initial else { return largest };
    let mut look = |words: &[i64], kinds: &[Kind]| {
        for (word, kind) in words.iter().zip(kinds) {
            if *kind == Kind::Data {
                largest = largest.max(*word);
            }
        }
    };
    look(&flat.words, &layout.shared_kinds);
    for thread in 0..layout.threads {
        look(&flat.words[layout.thread(thread) + VARIABLES..], &layout.variable_kinds);
    }
    for object in flat.words[layout.heap..].chunks(layout.stride) {
        if let Some(of) = struct_of(object[0]) {
            look(&object[1..], &layout.field_kinds[of]);
        }
    }
    largest
}

fn largest_in(value: &Value) -> i64 {
    match value {
        Value::Int(i) => *i,
        Value::List(items) => items.iter().map(largest_in).max().unwrap_or(0),
        Value::Set(items) => items.iter().map(largest_in).max().unwrap_or(0),
        Value::Map(items) => {
            items.iter().map(|(key, item)| largest_in(key).max(largest_in(item))).max().unwrap_or(0)
        }
        _ => 0,
    }
}
