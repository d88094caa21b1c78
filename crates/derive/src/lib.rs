//! From a model to sub-operations: what [`linchpin_reduce`] proves about those it proves about the model.
//!
//! The paper leaves this to its reader (Section IV): one operation for each way in which a call ends, the last round of each loop, reads that a
//! later `cas` validates turned into guesses, immutable fields read later than the code does. Here each of these is an argument that is checked; the
//! direction that matters is that everything the code can do, the sub-operations can do too, in the same shared states:
//!
//! 1. [`explore`]: all paths from call to return, without the rounds of loops that change nothing;
//! 2. [`help`]: steps that are done on behalf of another operation belong to that one;
//! 3. [`tidy`], [`merge`]: steps that only look are merged with the next one where what they saw is still true there.
//!
//! The argument in full is in `docs/theory/reduce.md`.

mod action;
mod alone;
mod build;
mod evaluate;
mod explore;
mod fault;
mod help;
mod integers;
mod layout;
mod merge;
mod path;
mod rounds;
mod symbol;
mod text;
mod tidy;
mod walk;

use explore::Paths;
pub use fault::Fault;
use linchpin_ir::model_spec::{SpecError, spec_of};
use linchpin_ir::program::{Program, SpecSource, Type};
use linchpin_reduce::{Options, Proof, Questions};
use linchpin_spec::Value;
use linchpin_subop::model::{
    LARGEST_CONSTANT, LocalId, Model, OperationId, SpecLine, SpecMapping, SpecResponse, SpecTerm,
    Term,
};
use linchpin_subop::sequential::{self, SequentialVerdict};
use merge::Merged;
use path::{End, Path, Step};
use std::fmt::{self, Display, Formatter};

/// Why a model has no sub-operations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The source line, or 0.
    pub line: u32,
    /// Why.
    pub reason: String,
}

impl Refusal {
    pub(crate) fn new(line: u32, reason: String) -> Refusal {
        Refusal { line, reason }
    }
}

impl Display for Refusal {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => f.write_str(&self.reason),
            line => write!(f, "line {line}: {}", self.reason),
        }
    }
}

impl std::error::Error for Refusal {}

/// How many cases the questions about a model may have.
const MOST_CASES: usize = 500_000;

/// A way through an operation, as sub-operations.
#[derive(Clone, Debug)]
struct Way {
    name: String,
    operation: usize,
    merged: Merged,
    /// The paths through the code that became this one.
    codes: Vec<Path>,
    /// The lines of the code that it goes through.
    lines: Vec<u32>,
}

/// The sub-operations of a model. There are several forms: steps that only look may be left out.
#[derive(Clone, Debug)]
pub struct Derivation {
    skeleton: Model,
    ways: Vec<Way>,
    notes: Vec<String>,
    program_operations: Vec<String>,
    builtin: Option<(String, Option<Value>)>,
    /// Whether the code counts with integers.
    counts: bool,
    /// The paths as they are, and where their steps may fail.
    raw: Model,
    sites: help::Sites,
    faults: Vec<Fault>,
}

/// Sub-operations, ready to be proved.
#[derive(Clone, Debug)]
pub struct Form {
    /// The model. Its `spec` is set if the program names a built-in one.
    pub model: Model,
    /// Which operation of the specification each operation performs.
    pub lines: Vec<SpecLine>,
    /// For each operation, the reasons for what was merged and left out.
    pub reasons: Vec<Vec<String>>,
    /// Reasons that concern several operations.
    pub notes: Vec<String>,
    /// Which steps of which ways are left out.
    left_out: Vec<(usize, usize)>,
    /// For each operation, the ways that it stands for.
    ways: Vec<Vec<usize>>,
}

/// Derives the sub-operations of a program; memory is collected.
pub fn derive(program: &Program) -> Result<Derivation, Refusal> {
    if !program.thread_locals.is_empty() {
        let reason = "variables that threads keep between operations are not covered";
        return Err(Refusal::new(0, reason.to_owned()));
    }
    if program.counts_threads {
        let reason =
            "`threads` is the number of threads of the bounds: no proof for any number of them";
        return Err(Refusal::new(0, reason.to_owned()));
    }
    let integers = integers::of(program);
    if integers.are_large {
        return Err(Refusal::new(0, too_large()));
    }
    let (skeleton, layout) = layout::skeleton(program)?;
    let mut all: Vec<Paths> = Vec::new();
    for operation in 0..program.operations.len() {
        all.push(explore::paths(program, &layout, operation)?);
    }
    let sites = help::sites(&all);
    for paths in &all {
        rounds::check(paths, &sites)?;
    }
    let options = Options { most_in_total: MOST_CASES, ..Options::default() };
    // The paths as they are, for what holds between their steps.
    let mut raw = skeleton.clone();
    let mut returning: Vec<Path> = Vec::new();
    for (number, paths) in all.iter().enumerate() {
        let mut reached: Vec<&[Step]> = Vec::new();
        for path in &paths.returning {
            if let Some(tidy) = sites.stripped(path.clone()).and_then(tidy::tidied) {
                reached.push(&path.steps);
                help::is_adjacent(&tidy)?;
                tidy::is_expressible(&tidy)?;
                if !returning.contains(&tidy) {
                    returning.push(tidy);
                }
            }
        }
        if reached.is_empty() {
            let operation = &program.operations[number];
            let reason = format!("`{}` never returns", operation.name);
            return Err(Refusal::new(operation.line, reason));
        }
        // An operation may stop after any step: each that others notice must be on some path.
        for steps in &paths.noticed {
            if !sites.is_elsewhere(steps) && !reached.iter().any(|path| path.starts_with(steps)) {
                let line = steps.last().map_or(0, |step| step.line);
                return Err(Refusal::new(line, "no return is reached after this step".to_owned()));
            }
        }
    }
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
        if let Some(path) = tidy::tidied(path)
            && !helping.contains(&path)
        {
            helping.push(path);
        }
    }
    for (at, path) in returning.iter().enumerate() {
        let operation = build::operation(&raw, &format!("p{at}"), path, &[]);
        raw.operations.push(operation);
    }
    for (at, path) in helping.iter().enumerate() {
        let path = help::only_looking(path.clone());
        let operation = build::operation(&raw, &format!("h{at}"), &path, &[]);
        raw.operations.push(operation);
    }
    if text::has_large_constants(&raw) {
        return Err(Refusal::new(0, too_large()));
    }
    let Some(questions) = Questions::new(&raw, &options) else {
        return Err(Refusal::new(0, "the operations have too many paths".to_owned()));
    };
    let mut ways: Vec<Way> = Vec::new();
    for (at, path) in returning.iter().enumerate() {
        let merged = merge::merged(&raw, &questions, OperationId(at), path);
        let lines = path.steps.iter().map(|step| step.line).collect();
        let operation = path.operation;
        let codes = vec![path.clone()];
        match ways
            .iter_mut()
            .find(|way| way.operation == operation && way.merged.path == merged.path)
        {
            Some(known) => known.codes.extend(codes),
            None => ways.push(Way { name: String::new(), operation, merged, codes, lines }),
        }
    }
    name_ways(program, &skeleton, &mut ways);
    let mut notes = Vec::new();
    if !sites.own.is_empty() {
        let helpers: Vec<Merged> = helping
            .iter()
            .enumerate()
            .map(|(at, path)| {
                let operation = OperationId(returning.len() + at);
                merge::with_facts(
                    &questions,
                    operation,
                    merge::merged(&raw, &questions, operation, path),
                    path,
                )
            })
            .collect();
        let named: Vec<(String, Merged)> =
            ways.iter().map(|way| (way.name.clone(), way.merged.clone())).collect();
        let line = |path: &Path| path.steps.last().map_or(0, |step| step.line);
        notes = help::check(&skeleton, &options, &named, &helpers, &line)?;
    }
    let builtin = match &program.spec {
        SpecSource::Builtin { name, init } => Some((name.clone(), init.clone())),
        SpecSource::Model(_) => None,
    };
    let program_operations =
        program.operations.iter().map(|operation| operation.name.clone()).collect();
    let faults = all.into_iter().flat_map(|paths| paths.faults).collect();
    drop(questions);
    Ok(Derivation {
        skeleton,
        ways,
        notes,
        program_operations,
        builtin,
        counts: integers.are_added,
        raw,
        sites,
        faults,
    })
}

fn too_large() -> String {
    format!("constants beyond {LARGEST_CONSTANT}, such as `MIN` and `MAX`, are not covered")
}

/// The outcome of [`prove`].
#[derive(Clone, Debug)]
pub struct Attempt {
    /// The sub-operations that were analysed.
    pub form: Form,
    /// What the reduction engine found out about them.
    pub proof: Proof,
    /// What their sequential executions are, compared with the specification.
    pub sequential: SequentialVerdict,
    /// An integer that an operation guesses and no comparison pins down: its sequential executions cannot all be tried.
    pub open_guess: Option<String>,
    /// An operation whose sub-operations, executed without interruption, may do more than its code.
    pub beyond_the_code: Option<String>,
    /// As many calls, one after the other, must be tried at least.
    pub least_calls: usize,
    /// The integers that were passed.
    pub values: Vec<i64>,
    /// How many forms were tried.
    pub tried: usize,
    /// Whether the code counts with integers, which may overflow.
    pub counts: bool,
    /// Of a proof: where a step fails, as far as is known; empty if no step ever does.
    pub faults: Vec<Fault>,
}

impl Attempt {
    /// Whether the sub-operations are proved, and sequential executions of all of them were tried and are right.
    pub fn is_proved(&self) -> bool {
        self.proof.is_proved() && self.is_right_alone()
    }

    fn is_right_alone(&self) -> bool {
        self.open_guess.is_none()
            && self.beyond_the_code.is_none()
            && are_right(&self.sequential, self.least_calls)
    }
}

/// Whether sequential executions of all operations were tried, enough of them, and are right.
fn are_right(sequential: &SequentialVerdict, least: usize) -> bool {
    match sequential {
        SequentialVerdict::Holds { calls, unreached, .. } => {
            *calls >= least && unreached.is_empty()
        }
        _ => false,
    }
}

/// No more calls in a row than this are asked for: there are several times as many executions with every further call.
const MOST_CALLS: usize = 8;

/// Sub-operations executed to say why something is not proved.
const STEPS_TO_EXPLAIN: usize = 50_000;

/// More integers than this are not tried.
const MOST_VALUES: i64 = 4096;

/// How sequential executions are tried: `most` calls in a row, or fewer if there are too many executions, but no proof without `least`.
#[derive(Clone, Copy, Debug)]
pub struct Tries {
    /// As many calls as an exploration of all interleavings would execute, up to 8: what that finds must not be proved.
    pub least: usize,
    /// The longest sequence of calls.
    pub most: usize,
    /// Integers are passed from 1 up to this one, and those near the constants of the code.
    pub values: i64,
    /// Sub-operations executed at most.
    pub steps: usize,
}

impl Tries {
    /// For a model that is explored with so many threads, calls of each (any number if there is none), and integers.
    pub fn of(threads: usize, calls: Option<usize>, values: i64) -> Tries {
        let least = calls.map_or(MOST_CALLS, |calls| threads.saturating_mul(calls).min(MOST_CALLS));
        // So many integers cannot be tried, and to try fewer would say too little.
        let steps = if values > MOST_VALUES { 0 } else { 1_000_000 };
        Tries { least, most: least.max(6), values: values.clamp(1, MOST_VALUES), steps }
    }
}

/// Compares the sequential executions of as many calls as the bounds allow with the specification.
fn sequential_check(
    form: &Form,
    program: &Program,
    bounds: &sequential::Bounds,
) -> Result<SequentialVerdict, SpecError> {
    let of = |line: &SpecLine| {
        program
            .operations
            .iter()
            .find(|operation| operation.name == line.method)
            .map_or_else(Vec::new, |operation| {
                operation.parameters.iter().map(|parameter| parameter.range).collect()
            })
    };
    let ranges: Vec<sequential::Ranges> = form.lines.iter().map(of).collect();
    let spec = spec_of(program)?.spec;
    Ok(sequential::check_against(&form.model, &form.lines, spec, bounds, &ranges))
}

/// Tries the forms one after the other. The last one tried, which has all steps, is returned if none is proved.
pub fn prove(
    derivation: &Derivation,
    program: &Program,
    tries: &Tries,
) -> Result<Attempt, SpecError> {
    let mut forms = derivation.forms();
    // The one with all steps says most about why a proof fails.
    let whole = derivation.whole();
    forms.retain(|form| form.model != whole.model);
    forms.push(whole);
    let mut tried = 0;
    loop {
        let form = forms.remove(0);
        tried += 1;
        let last = forms.is_empty();
        let open_guess = form.model.operations.iter().find_map(build::open_guess);
        let beyond_the_code = derivation.beyond_the_code(&form);
        let proof = linchpin_reduce::prove(&form.model, &Options::default());
        let promising = proof.is_proved() && open_guess.is_none() && beyond_the_code.is_none();
        if !promising && !last {
            continue;
        }
        // What is not proved anyway is tried only to say more about it.
        let steps = if promising { tries.steps } else { tries.steps.min(STEPS_TO_EXPLAIN) };
        let values = text::values(&form.model, tries.values, &integers::of_spec(program));
        let bounds = sequential::Bounds { calls: tries.most, values: values.clone(), steps };
        let sequential = sequential_check(&form, program, &bounds)?;
        let least_calls = tries.least;
        let attempt = Attempt {
            form,
            proof,
            sequential,
            open_guess,
            beyond_the_code,
            least_calls,
            values,
            tried,
            counts: derivation.counts,
            faults: Vec::new(),
        };
        if attempt.is_proved() {
            let faults = derivation.possible_faults();
            return Ok(Attempt { faults, ..attempt });
        }
        if last {
            return Ok(attempt);
        }
    }
}

/// Names each way after its operation and how it ends.
fn name_ways(program: &Program, skeleton: &Model, ways: &mut [Way]) {
    let mut names: Vec<String> = Vec::new();
    for operation in 0..program.operations.len() {
        let name = &program.operations[operation].name;
        let others: Vec<&String> = program
            .operations
            .iter()
            .map(|operation| &operation.name)
            .filter(|other| *other != name)
            .collect();
        let mine: Vec<usize> =
            (0..ways.len()).filter(|at| ways[*at].operation == operation).collect();
        let bool = program.operations[operation].response == Type::Bool;
        let suffix = |way: &Way| match &way.merged.path.end {
            End::Return(terms) => match &terms[..] {
                [Term::Null] => "_none",
                [Term::Int(1)] if bool => "_true",
                [Term::Int(0)] if bool => "_false",
                [_] if matches!(program.operations[operation].response, Type::Option(_)) => "_some",
                _ => "",
            },
            End::Help | End::Fault => "",
        };
        let suffixes: Vec<&str> = mine.iter().map(|at| suffix(&ways[*at])).collect();
        for (number, at) in mine.iter().enumerate() {
            let same: Vec<usize> =
                (0..mine.len()).filter(|other| suffixes[*other] == suffixes[number]).collect();
            let mut full =
                if mine.len() == 1 { name.clone() } else { format!("{name}{}", suffixes[number]) };
            if same.len() > 1 {
                let nth = same.iter().position(|other| *other == number).unwrap_or(0) + 1;
                full = format!("{full}_{nth}");
            }
            let taken = |name: &str| {
                skeleton.globals.iter().any(|global| global.name == name)
                    || skeleton.structs.iter().any(|structure| structure.name == name)
                    || others.iter().any(|other| *other == name)
                    || names.iter().any(|known| known == name)
            };
            let full = layout::free_name(full, &taken);
            names.push(full.clone());
            ways[*at].name = full;
        }
    }
}

impl Derivation {
    /// The forms to be tried, the ones with the fewest sub-operations first.
    pub fn forms(&self) -> Vec<Form> {
        let all: Vec<(usize, usize)> = self
            .ways
            .iter()
            .enumerate()
            .flat_map(|(way, data)| data.merged.optional.iter().map(move |step| (way, *step)))
            .collect();
        let mut choices: Vec<Vec<(usize, usize)>> = vec![all.clone(), Vec::new()];
        for one in &all {
            choices.push(all.iter().filter(|other| *other != one).copied().collect());
            choices.push(vec![*one]);
        }
        choices.truncate(24);
        let mut forms: Vec<Form> = Vec::new();
        for left_out in choices {
            let form = self.form(&left_out);
            if !forms.iter().any(|known| known.model == form.model) {
                forms.push(form);
            }
        }
        forms
    }

    /// The form with all steps.
    pub fn whole(&self) -> Form {
        self.form(&[])
    }

    fn form(&self, left_out: &[(usize, usize)]) -> Form {
        let mut model = self.skeleton.clone();
        let mut lines = Vec::new();
        let mut reasons = Vec::new();
        let mut ways: Vec<Vec<usize>> = Vec::new();
        for (at, way) in self.ways.iter().enumerate() {
            let mine = steps_of(left_out, at);
            let path = way.merged.without(&mine);
            let helped: Vec<usize> =
                (0..path.steps.len()).filter(|step| path.steps[*step].attempt.is_some()).collect();
            let operation = build::pruned(build::operation(&model, &way.name, &path, &helped));
            let mut notes = vec![format!("lines {}", text::lines(&way.lines))];
            notes.extend(way.merged.notes.iter().cloned());
            for step in &mine {
                notes.push(format!(
                    "line {}: left out: it only looks, and the proof does not need what it sees",
                    way.merged.path.steps[*step].line
                ));
            }
            // The same sub-operations are one operation.
            let known =
                model.operations.iter().zip(&lines).position(|(other, line): (_, &SpecLine)| {
                    line.method == self.program_operations[way.operation]
                        && text::is_same(other, &operation)
                });
            if let Some(known) = known {
                ways[known].push(at);
                let known: &mut Vec<String> = &mut reasons[known];
                known.push(format!("also lines {}", text::lines(&way.lines)));
                continue;
            }
            lines.push(SpecLine {
                operation: OperationId(model.operations.len()),
                method: self.program_operations[way.operation].clone(),
                arguments: (0..path.arguments).map(|at| SpecTerm::Argument(LocalId(at))).collect(),
                response: SpecResponse::Returned,
                span: Default::default(),
            });
            model.operations.push(operation);
            reasons.push(notes);
            ways.push(vec![at]);
        }
        if let Some((name, init)) = &self.builtin
            && let Some(initial) = text::initial(init.as_ref())
        {
            let (name, lines) = (name.clone(), lines.clone());
            model.spec = Some(SpecMapping { name, initial, lines, span: Default::default() });
        }
        let (notes, left_out) = (self.notes.clone(), left_out.to_vec());
        Form { model, lines, reasons, notes, left_out, ways }
    }

    /// Where a step of the code may fail, as far as is known.
    pub fn possible_faults(&self) -> Vec<Fault> {
        let options = Options { most_in_total: MOST_CASES, ..Options::default() };
        let possible = fault::possible(&self.raw, &options, &self.sites, &self.faults);
        possible.into_iter().cloned().collect()
    }

    /// An operation whose sub-operations, executed without interruption, may do more than its code.
    fn beyond_the_code(&self, form: &Form) -> Option<String> {
        let shortened =
            |(at, way): (usize, &'_ Way)| way.merged.without(&steps_of(&form.left_out, at));
        let paths: Vec<Path> = self.ways.iter().enumerate().map(shortened).collect();
        let codes: Vec<&[Path]> = self.ways.iter().map(|way| &way.codes[..]).collect();
        let options = Options { most_in_total: MOST_CASES, ..Options::default() };
        let fits = alone::as_the_code(&self.skeleton, &options, &paths, &codes);
        let beyond = form.ways.iter().position(|ways| !ways.iter().any(|way| fits[*way]))?;
        Some(form.model.operations[beyond].name.clone())
    }
}

/// The steps of a way that are left out.
fn steps_of(left_out: &[(usize, usize)], way: usize) -> Vec<usize> {
    left_out.iter().filter(|(of, _)| *of == way).map(|(_, step)| *step).collect()
}

impl Form {
    /// The `.subop` file, with the reasons as comments.
    pub fn text(&self) -> String {
        text::print(self)
    }
}
