//! The passes from a program to paths whose steps are sub-operations.

use crate::Refusal;
use crate::explorer::{Fault, Paths};
use crate::help::{self, Sites};
use crate::merge::{self, Merged};
use crate::path::{End, Path, Step};
use crate::{build, explore, fault, integers, layout, response, rounds, simplify, text};
use linchpin_ir::program::{Program, SpecSource, Type};
use linchpin_reduce::{Options, Questions};
use linchpin_spec::Value;
use linchpin_subop::model::{LARGEST_CONSTANT, Model, OperationId, Term};
use linchpin_verdict::Limits;

/// How many cases the questions about a model may have.
const MOST_CASES: usize = 500_000;

/// The bounds on questions about a model.
pub(crate) fn options(limits: &Limits) -> Options {
    Options { most_in_total: MOST_CASES, limits: limits.clone(), ..Options::default() }
}

/// A path through an operation, as sub-operations.
#[derive(Clone, Debug)]
pub(crate) struct DerivedPath {
    pub name: String,
    pub operation: usize,
    pub merged: Merged,
    /// The paths through the code that became this one.
    pub code: Vec<Path>,
    /// The lines of the code that it goes through.
    pub lines: Vec<u32>,
}

/// The sub-operations of a model. There are several forms: steps that only observe may be left out.
#[derive(Clone, Debug)]
pub struct Derivation {
    pub(crate) skeleton: Model,
    pub(crate) paths: Vec<DerivedPath>,
    pub(crate) notes: Vec<String>,
    pub(crate) program_operations: Vec<String>,
    pub(crate) builtin: Option<(String, Option<Value>)>,
    /// Whether the code counts with integers.
    pub(crate) counts: bool,
    /// The paths as they are, and where their steps may fail.
    raw: Model,
    sites: Sites,
    faults: Vec<Fault>,
    /// When to give up.
    pub(crate) limits: Limits,
}

/// Derives the sub-operations of a program; memory is collected.
pub fn derive(program: &Program) -> Result<Derivation, Refusal> {
    derive_within(program, &Limits::default())
}

/// The same, as long as the limits allow. What is asked of a derivation later obeys them too.
pub fn derive_within(program: &Program, limits: &Limits) -> Result<Derivation, Refusal> {
    let integers = integers::of(program);
    is_covered(program, integers.are_large)?;
    response::check(program)?;
    let (skeleton, layout) = layout::skeleton(program)?;
    let mut all: Vec<Paths> = Vec::new();
    for operation in 0..program.operations.len() {
        all.push(explore::paths(program, &layout, operation)?);
    }
    let sites = help::sites(&all);
    all.iter().try_for_each(|paths| rounds::check(paths, &sites))?;
    let returning = returning_paths(program, &all, &sites)?;
    let helping = helping_paths(&all, &sites);
    let raw = raw_model(&skeleton, &returning, &helping)?;
    let (paths, notes) = {
        let Some(questions) = Questions::new(&raw, &options(limits)) else {
            return Err(Refusal::of_model("the operations have too many paths"));
        };
        let mut paths = merged_paths(&raw, &questions, &returning);
        name_paths(program, &skeleton, &mut paths);
        let helpers = (!sites.own.is_empty())
            .then(|| merged_helpers(&raw, &questions, returning.len(), &helping));
        let notes = match helpers {
            Some(helpers) => is_helped(&skeleton, limits, &paths, &helpers)?,
            None => Vec::new(),
        };
        if let Some(reason) = questions.stopped() {
            return Err(Refusal::of_model(reason.to_string()));
        }
        (paths, notes)
    };
    let builtin = match &program.spec {
        SpecSource::Builtin { name, init } => Some((name.clone(), init.clone())),
        SpecSource::Model(_) => None,
    };
    let program_operations =
        program.operations.iter().map(|operation| operation.name.clone()).collect();
    let faults = all.into_iter().flat_map(|paths| paths.faults).collect();
    let counts = integers.are_added;
    Ok(Derivation {
        skeleton,
        paths,
        notes,
        program_operations,
        builtin,
        counts,
        limits: limits.clone(),
        raw,
        sites,
        faults,
    })
}

/// Refuses what no sub-operations can say.
fn is_covered(program: &Program, has_large_constants: bool) -> Result<(), Refusal> {
    if !program.thread_locals.is_empty() {
        let reason = "variables that threads keep between operations are not covered";
        return Err(Refusal::of_model(reason));
    }
    if program.counts_threads {
        let reason =
            "`threads` is the number of threads of the bounds: no proof for any number of them";
        return Err(Refusal::of_model(reason));
    }
    if has_large_constants { Err(too_large()) } else { Ok(()) }
}

fn too_large() -> Refusal {
    Refusal::of_model(format!(
        "constants beyond {LARGEST_CONSTANT}, such as `MIN` and `MAX`, are not covered"
    ))
}

/// The paths of all operations to their returns, simplified, without what is done on behalf of
/// others.
fn returning_paths(program: &Program, all: &[Paths], sites: &Sites) -> Result<Vec<Path>, Refusal> {
    let mut returning: Vec<Path> = Vec::new();
    for (operation, paths) in program.operations.iter().zip(all) {
        let mut reached: Vec<&[Step]> = Vec::new();
        for path in &paths.returning {
            if let Some(simple) = sites.stripped(path.clone()).and_then(simplify::simplified_path) {
                reached.push(&path.steps);
                help::is_adjacent(&simple)?;
                simplify::is_expressible(&simple)?;
                if !returning.contains(&simple) {
                    returning.push(simple);
                }
            }
        }
        if reached.is_empty() {
            let reason = format!("`{}` never returns", operation.name);
            return Err(Refusal::at(operation.line, reason));
        }
        // An operation may stop after any step: each that others notice must be on some path.
        for steps in &paths.noticed {
            if !sites.is_elsewhere(steps) && !reached.iter().any(|path| path.starts_with(steps)) {
                let line = steps.last().map_or(0, |step| step.line);
                return Err(Refusal::at(line, "no return is reached after this step"));
            }
        }
    }
    Ok(returning)
}

/// The paths to each step that is done on behalf of another operation.
fn helping_paths(all: &[Paths], sites: &Sites) -> Vec<Path> {
    let mut helping: Vec<Path> = Vec::new();
    for path in all.iter().flat_map(|paths| &paths.helping) {
        let Some(attempt) = path.steps.last().and_then(|step| step.attempt) else { continue };
        if !sites.helping.contains(&attempt.site) {
            continue;
        }
        // Attempts on the way there are not its own steps.
        let mut path = path.clone();
        let Some(last) = path.steps.pop() else { continue };
        let Some(mut path) = sites.stripped(path) else { continue };
        path.steps.push(last);
        if let Some(path) = simplify::simplified_path(path)
            && !helping.contains(&path)
        {
            helping.push(path);
        }
    }
    helping
}

/// The paths as they are, for what holds between their steps.
fn raw_model(skeleton: &Model, returning: &[Path], helping: &[Path]) -> Result<Model, Refusal> {
    let mut raw = skeleton.clone();
    for (at, path) in returning.iter().enumerate() {
        let operation = build::operation(&raw, &format!("p{at}"), path, &[]);
        raw.operations.push(operation);
    }
    for (at, path) in helping.iter().enumerate() {
        let path = help::only_observing(path.clone());
        let operation = build::operation(&raw, &format!("h{at}"), &path, &[]);
        raw.operations.push(operation);
    }
    if text::has_large_constants(&raw) { Err(too_large()) } else { Ok(raw) }
}

/// The paths with their steps merged; those that become the same are one.
fn merged_paths(raw: &Model, questions: &Questions<'_>, returning: &[Path]) -> Vec<DerivedPath> {
    let mut paths: Vec<DerivedPath> = Vec::new();
    for (at, path) in returning.iter().enumerate() {
        let merged = merge::merged(raw, questions, OperationId(at), path);
        let operation = path.operation;
        let same = |known: &&mut DerivedPath| {
            known.operation == operation && known.merged.path == merged.path
        };
        match paths.iter_mut().find(same) {
            Some(known) => known.code.push(path.clone()),
            None => paths.push(DerivedPath {
                name: String::new(),
                operation,
                merged,
                code: vec![path.clone()],
                lines: path.steps.iter().map(|step| step.line).collect(),
            }),
        }
    }
    paths
}

/// The helping paths with their steps merged, and with what is known at their end.
fn merged_helpers(
    raw: &Model,
    questions: &Questions<'_>,
    first: usize,
    helping: &[Path],
) -> Vec<Merged> {
    let mut helpers = Vec::new();
    for (at, path) in helping.iter().enumerate() {
        let operation = OperationId(first + at);
        let merged = merge::merged(raw, questions, operation, path);
        helpers.push(merge::with_facts(questions, operation, merged, path));
    }
    helpers
}

/// Checks that each helping step is one of the operation that it helps; the reasons.
fn is_helped(
    skeleton: &Model,
    limits: &Limits,
    paths: &[DerivedPath],
    helpers: &[Merged],
) -> Result<Vec<String>, Refusal> {
    let named: Vec<(String, Merged)> =
        paths.iter().map(|path| (path.name.clone(), path.merged.clone())).collect();
    help::check(skeleton, &options(limits), &named, helpers)
}

/// Names each path after its operation and how it ends.
fn name_paths(program: &Program, skeleton: &Model, paths: &mut [DerivedPath]) {
    let mut names: Vec<String> = Vec::new();
    for (number, operation) in program.operations.iter().enumerate() {
        let mine: Vec<usize> =
            (0..paths.len()).filter(|at| paths[*at].operation == number).collect();
        let suffixes: Vec<&str> = mine
            .iter()
            .map(|at| suffix(&operation.response, &paths[*at].merged.path.end))
            .collect();
        for (nth, at) in mine.iter().enumerate() {
            let mut full = operation.name.clone();
            if mine.len() > 1 {
                full += suffixes[nth];
            }
            let same: Vec<usize> =
                (0..mine.len()).filter(|other| suffixes[*other] == suffixes[nth]).collect();
            if same.len() > 1 {
                let place = same.iter().position(|other| *other == nth).unwrap_or(0) + 1;
                full = format!("{full}_{place}");
            }
            let taken = |name: &str| {
                skeleton.globals.iter().any(|global| global.name == name)
                    || skeleton.structs.iter().any(|structure| structure.name == name)
                    || program
                        .operations
                        .iter()
                        .any(|other| other.name != operation.name && other.name == name)
                    || names.iter().any(|known| known == name)
            };
            let full = layout::free_name(full, &taken);
            names.push(full.clone());
            paths[*at].name = full;
        }
    }
}

/// What the name of a path says about its answer.
fn suffix(response: &Type, end: &End) -> &'static str {
    let End::Return(terms) = end else { return "" };
    match &terms[..] {
        [Term::Null] => "_none",
        [Term::Int(1)] if *response == Type::Bool => "_true",
        [Term::Int(0)] if *response == Type::Bool => "_false",
        [_] if matches!(response, Type::Option(_)) => "_some",
        _ => "",
    }
}

impl Derivation {
    /// Where a step of the code may fail, as far as is known.
    pub fn possible_faults(&self) -> Vec<Fault> {
        let possible =
            fault::possible(&self.raw, &options(&self.limits), &self.sites, &self.faults);
        possible.into_iter().cloned().collect()
    }
}
