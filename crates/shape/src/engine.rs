//! The shape engine as [`Engine`]: its options from a request, what was found as an answer.
//!
//! A comparison shows as much as its reference is worth: the built-in ones *are* the specification;
//! a `reference` block, or the model's own code run alone, is held against the specification here
//! ([`Ground`]), for any number of sequential calls, before anything is called proved.

use crate::analysis::{
    Analysis, Domain, Found, Options, Threads, Trace, TraceMove, analyse, sequential,
};
use crate::certificate::{self, About};
use crate::correlate::PureAnswers;
use crate::failure::{Cause, ReferenceFault};
use crate::heap::Lost;
use crate::model::builtin;
use crate::picture;
use crate::prepare::{NotApplicable, ReferenceChoice};
use linchpin_engine::{
    AbstractMove, AbstractTrace, Answer, Artifact, DomainAsked, Engine, EngineError, Faults,
    Language, Progress, PureAsked, ReferenceAsked, Request, Source, Stat, Subject, ThreadsAsked,
};
use linchpin_ir::interpreter::Memory;
use linchpin_ir::program::{Program, Thread};
use linchpin_verdict::{Assumption, Bound, Limits, Verdict, counted};
use std::ffi::OsStr;
use std::path::Path;
use std::time::Instant;

/// Comparison with a sequential reference under abstraction: any heap, any number of threads.
#[derive(Clone, Copy, Debug)]
pub struct Shape;

/// Its name.
const NAME: &str = "shape";

/// So many moves of an abstract trace are shown, the last ones.
const SHOWN_MOVES: usize = 12;

impl Engine for Shape {
    fn name(&self) -> &'static str {
        NAME
    }

    fn reads(&self) -> &'static [Language] {
        &[Language::Lin]
    }

    fn is_proof(&self) -> bool {
        true
    }

    fn answer(
        &self,
        subject: &Subject<'_>,
        request: &Request<'_>,
    ) -> Result<Vec<Answer>, EngineError> {
        let Source::Lin { program, .. } = subject.source else { return Ok(Vec::new()) };
        Ok(vec![answer(subject, program, request)])
    }
}

/// On what a comparison rests: that the reference does what the specification says.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Ground {
    /// The reference is the specification.
    Specification,
    /// One thread of the reference answers as the specification does, for any number of calls.
    Shown,
    /// That is not known, for this reason.
    Open(String),
}

fn answer(subject: &Subject<'_>, program: &Program, request: &Request<'_>) -> Answer {
    // The paper's domain has no views: it is about the threads of the program.
    let mut request = request.clone();
    if request.shape.domain == DomainAsked::Kleene {
        request.shape.threads = ThreadsAsked::OfProgram;
    }
    let request = &request;
    let start = Instant::now();
    let progress = |states: usize| {
        (request.progress)(Progress { engine: NAME, states, depth: 0, to_come: None })
    };
    match analyse(program, &options(request), &progress) {
        Err(why) => inconclusive(format!("does not apply: {why}{}", instead(&why))),
        Ok(analysis) => {
            let mut answer = describe(program, request, &analysis);
            let seconds = start.elapsed().as_secs_f64();
            answer.stats = stats(request, &analysis, seconds);
            answer.notes.insert(0, cost(request, &analysis, seconds));
            answer.artifacts.extend(certificate(subject, request, &answer, &analysis));
            answer
        }
    }
}

/// The states or views of a proof, for `linchpin certify`.
fn certificate(
    subject: &Subject<'_>,
    request: &Request<'_>,
    answer: &Answer,
    analysis: &Analysis,
) -> Option<Artifact> {
    let shown = matches!(answer.verdict, Verdict::Proved | Verdict::HoldsWithinBounds);
    // The paper's domain is the readable one to compare with; the checker reads the fast one.
    if !request.extras.certificate || !shown || request.shape.domain == DomainAsked::Kleene {
        return None;
    }
    let file = (subject.name != "-").then_some(subject.name);
    let stem = file.and_then(|file| Path::new(file).file_stem()).map(OsStr::to_string_lossy);
    let about = About {
        name: stem.as_deref().unwrap_or("standard input"),
        text: subject.text,
        file,
        // What `--set` chose is not known here: a certificate is about the model as it stands, and
        // is refused if its states are those of another.
        parameters: &[],
        threads: options(request).threads,
    };
    certificate::of(analysis, &about).map(Artifact::Certificate)
}

fn options(request: &Request<'_>) -> Options {
    let asked = &request.shape;
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    Options {
        threads: match asked.threads {
            ThreadsAsked::Any => Threads::Any,
            ThreadsAsked::OfProgram => Threads::Those,
        },
        reference: match asked.reference {
            ReferenceAsked::Specification => ReferenceChoice::Specification,
            ReferenceAsked::Own => ReferenceChoice::Own,
        },
        pure: match asked.pure_answers {
            PureAsked::Seen => PureAnswers::Seen,
            PureAsked::Claimed => PureAnswers::Claimed,
        },
        domain: match asked.domain {
            DomainAsked::Targets => Domain::Targets,
            DomainAsked::Kleene => Domain::Kleene,
        },
        workers: request.workers.unwrap_or_else(cores),
        limits: request.limits.clone(),
    }
}

fn describe(program: &Program, request: &Request<'_>, analysis: &Analysis) -> Answer {
    match &analysis.found {
        Found::Proved => proved(program, request, analysis),
        Found::Failed(trace) => failed(program, analysis, trace),
        Found::Stopped(reason) => inconclusive(format!(
            "not proved: {reason}; `--engine shape` alone has no limit but `--time-limit`"
        )),
    }
}

fn proved(program: &Program, request: &Request<'_>, analysis: &Analysis) -> Answer {
    let ground = ground(program, request);
    let threads = program.threads.len();
    let (verdict, reason) = match (request.shape.threads, &ground) {
        // Not "if sequential": a model may answer rightly alone while its reference would not.
        (ThreadsAsked::Any, Ground::Open(why)) => {
            return inconclusive(format!(
                "every run of any number of threads answers as the reference does, but that the \
                 reference is right is not shown: {why}"
            ));
        }
        (ThreadsAsked::Any, _) => (
            Verdict::Proved,
            "linearizable for any number of threads, operations and heap objects; that they \
             return is not part of the proof"
                .to_owned(),
        ),
        (ThreadsAsked::OfProgram, Ground::Open(why)) => {
            return inconclusive(format!(
                "every run of {} answers as the reference does, but that the reference is right \
                 is not shown: {why}",
                Bound::Threads(threads)
            ));
        }
        (ThreadsAsked::OfProgram, _) => (
            Verdict::HoldsWithinBounds,
            format!(
                "every run of {} is linearizable, with any number of operations, values and heap \
                 objects",
                Bound::Threads(threads)
            ),
        ),
    };
    let mut answer = Answer::new(NAME, verdict, reason);
    if request.shape.threads == ThreadsAsked::OfProgram {
        answer.bounds = vec![Bound::Threads(threads)];
    }
    answer.assumptions = assumptions(program, request);
    // Null, assertions, foreign unlocks and arithmetic are checked at every step.
    answer.faults = Faults::NeverFails;
    answer.notes.push(
        "no step fails: no field of null is accessed, no assertion is false, no lock of another \
         thread is given back"
            .to_owned(),
    );
    answer.unreached = unreached(program, analysis);
    answer.pictures = picture::of_proof(analysis);
    answer.notes.extend(compared(program, request));
    answer
}

/// What the implementation was compared with, where that is not the specification itself.
fn compared(program: &Program, request: &Request<'_>) -> Option<String> {
    let what = match (request.shape.reference, &program.reference) {
        (ReferenceAsked::Own, _) => "its own code, run alone",
        (ReferenceAsked::Specification, Some(_)) => "the model's `reference`",
        (ReferenceAsked::Specification, None) => return None,
    };
    Some(format!(
        "compared with {what}, which does what the specification does in any number of sequential \
         calls"
    ))
}

/// Whether the reference that a program is compared with by itself is right; otherwise why that is
/// not known.
pub(crate) fn ground_of(program: &Program, limits: &Limits) -> Result<(), String> {
    let Some(block) = &program.reference else { return Ok(()) };
    let operations = (0..block.operations.len()).collect();
    let threads = vec![Thread { role: None, operations, calls: None }];
    sequentially(&Program { threads, ..(**block).clone() }, limits)
}

/// Holds the reference against the specification.
fn ground(program: &Program, request: &Request<'_>) -> Ground {
    let mut alone = match (request.shape.reference, &program.reference) {
        (ReferenceAsked::Specification, None) => return Ground::Specification,
        (ReferenceAsked::Specification, Some(block)) => (**block).clone(),
        (ReferenceAsked::Own, _) => program.clone(),
    };
    let operations = (0..alone.operations.len()).collect();
    alone.reference = None;
    alone.threads = vec![Thread { role: None, operations, calls: None }];
    match sequentially(&alone, &request.limits) {
        Ok(()) => Ground::Shown,
        Err(why) => Ground::Open(why),
    }
}

/// Whether any number of sequential calls of a program, on any heap, answer as its specification
/// does; otherwise why that is not shown. What a `reference` block says plays no part: it is the
/// specification that decides.
pub fn sequentially(program: &Program, limits: &Limits) -> Result<(), String> {
    let mut alone = program.clone();
    alone.reference = None;
    match sequential(&alone, limits, &|_| {}) {
        Err(NotApplicable::Specification) => Err(
            "only `stack`, `queue` and `set` can be held against sequential calls of any number"
                .to_owned(),
        ),
        Err(why) => Err(why.to_string()),
        Ok(Analysis { found: Found::Proved, .. }) => Ok(()),
        Ok(Analysis { found: Found::Stopped(reason), .. }) => Err(reason.to_string()),
        Ok(Analysis { found: Found::Failed(trace), .. }) => {
            let failure = trace.failure;
            let name = name_of(program, failure.operation);
            Err(format!("`{name}`, line {}: {}", failure.line, failure.cause))
        }
    }
}

fn assumptions(program: &Program, request: &Request<'_>) -> Vec<Assumption> {
    let memory = match request.memory {
        Memory::Collected => Assumption::GarbageCollection,
        // The program frees nothing, so nothing comes back.
        Memory::Reuse | Memory::TypeStable => Assumption::NoReuse,
    };
    let mut all = vec![Assumption::SequentialConsistency, memory];
    if has_keys(program) {
        all.push(Assumption::KeysBetweenBounds);
    }
    all.push(Assumption::Returning);
    all
}

/// Whether the analysis follows one arbitrary key of a list between two bounds.
pub fn has_keys(program: &Program) -> bool {
    builtin(program) == Some("set") && program.reference.is_none()
}

fn unreached(program: &Program, analysis: &Analysis) -> Vec<String> {
    let mut lines: Vec<String> = analysis
        .unreached
        .iter()
        .map(|(operation, line)| format!("{}:{line}", name_of(program, *operation)))
        .collect();
    lines.dedup();
    lines
}

fn name_of(program: &Program, operation: usize) -> &str {
    program.operations.get(operation).map_or("init", |operation| &operation.name)
}

fn failed(program: &Program, analysis: &Analysis, trace: &Trace) -> Answer {
    let failure = trace.failure;
    let name = name_of(program, failure.operation);
    let mut answer = inconclusive(format!(
        "not proved: `{name}`, line {}: {}; {}",
        failure.line,
        failure.cause,
        advice(program, failure.operation, failure.cause)
    ));
    let moves: Vec<AbstractMove> =
        trace.moves.iter().map(|of| abstract_move(program, of)).collect();
    let left_out = moves.len().saturating_sub(SHOWN_MOVES);
    let before = if left_out > 0 {
        format!("{} before, ", counted(left_out, "move"))
    } else {
        String::new()
    };
    let shown: Vec<String> = moves[left_out..].iter().map(|at| in_words(program, *at)).collect();
    answer.notes.push(format!("the abstract trace: {before}{}", shown.join("; ")));
    answer.pictures = picture::of_trace(analysis, trace);
    if let Some(last) = answer.pictures.last() {
        answer.notes.push("the abstract state before the last move:".to_owned());
        answer.notes.extend(last.lines().into_iter().map(|line| format!("  {line}")));
    }
    answer.abstract_trace = Some(Box::new(AbstractTrace {
        moves,
        operation: name.to_owned(),
        line: failure.line,
        cause: failure.cause.to_string(),
        depends_on_points: matches!(
            failure.cause,
            Cause::NoPoint | Cause::SecondPoint | Cause::WrongAnswer
        ),
    }));
    answer
}

fn abstract_move(program: &Program, of: &TraceMove) -> AbstractMove {
    let line = |(operation, node): (u8, u16)| {
        let body = &program.operations.get(usize::from(operation))?.body;
        Some(body.nodes.get(usize::from(node))?.line)
    };
    AbstractMove {
        thread: of.thread.map(usize::from),
        operation: of.at.map(|(operation, _)| usize::from(operation)),
        line: of.at.and_then(line).unwrap_or(0),
    }
}

fn in_words(program: &Program, of: AbstractMove) -> String {
    let thread = match of.thread {
        Some(thread) => format!("thread {thread}"),
        None => "another thread".to_owned(),
    };
    match of.operation {
        Some(operation) => {
            format!("{thread} in `{}`, line {}", name_of(program, operation), of.line)
        }
        None => format!("{thread} calls"),
    }
}

/// What would help: an annotation, or another engine.
fn advice(program: &Program, operation: usize, cause: Cause) -> &'static str {
    let claims = program.operations.get(operation).is_some_and(|operation| {
        let edges = operation.body.nodes.iter().flat_map(|node| &node.edges);
        edges.into_iter().any(|edge| !edge.points.is_empty())
    });
    match cause {
        Cause::NoPoint if !claims => {
            "it claims no linearization point: put `#[lin]` before the step at which it takes effect"
        }
        Cause::NoPoint => {
            "on this path it passes no `#[lin]`: claim the step at which it takes effect"
        }
        Cause::SecondPoint => "say with `#[lin(when …)]` which of its points counts",
        Cause::WrongAnswer => {
            "the claimed point may be too early or too late, or the abstraction too coarse: \
             `--engine refine` looks for a run"
        }
        Cause::Fault(_) => {
            "perhaps only in the abstraction: `--engine refine` looks for a run in which it does"
        }
        Cause::Reference(
            ReferenceFault::Fails(_) | ReferenceFault::Blocks | ReferenceFault::Loops,
        ) => "the model may give a `reference { }` that answers every call",
        Cause::Lost(Lost::Nodes) => "try fewer `--threads`, or `--engine refine`",
        Cause::Lost(Lost::Value | Lost::ReferenceCell) => {
            "a `reference { }` over the structs of the model may need less; or try \
             `--engine refine`"
        }
        Cause::Lost(_) => "`--engine refine` needs no such fact, within bounds",
        Cause::NeverReturns => "`--engine refine` shows how it gets stuck",
        Cause::EndlessStep => "the loop needs a step that others can see",
    }
}

/// What to try where the analysis does not apply.
fn instead(why: &NotApplicable) -> &'static str {
    match why {
        NotApplicable::OwnSet => "; leave out `--reference own`",
        _ => "",
    }
}

/// What the states are called.
fn unit(request: &Request<'_>) -> &'static str {
    match request.shape.threads {
        ThreadsAsked::Any => "view",
        ThreadsAsked::OfProgram => "structure",
    }
}

fn cost(request: &Request<'_>, analysis: &Analysis, seconds: f64) -> String {
    let explored = &analysis.explored;
    let joins = match request.shape.threads {
        ThreadsAsked::Any => format!("{}, ", counted(explored.joins, "join")),
        ThreadsAsked::OfProgram => String::new(),
    };
    format!(
        "{}, {joins}{}, {seconds:.2} s, {:.1} MB",
        counted(explored.states.len(), unit(request)),
        counted(explored.moves, "move"),
        explored.bytes as f64 / 1e6,
    )
}

fn stats(request: &Request<'_>, analysis: &Analysis, seconds: f64) -> Vec<(&'static str, Stat)> {
    let explored = &analysis.explored;
    let states = match request.shape.threads {
        ThreadsAsked::Any => "views",
        ThreadsAsked::OfProgram => "structures",
    };
    vec![
        (states, Stat::from(explored.states.len())),
        ("joins", Stat::from(explored.joins)),
        ("moves", Stat::from(explored.moves)),
        ("seconds", Stat::Seconds(seconds)),
        ("peak_bytes", Stat::from(explored.bytes)),
    ]
}

fn inconclusive(reason: String) -> Answer {
    Answer::new(NAME, Verdict::Inconclusive, reason)
}
