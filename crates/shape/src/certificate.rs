//! What a proof leaves behind: the states or views at the fixpoint, as text that `certify` confirms
//! with code of its own. The format is in `docs/reference/commands.md`.

use crate::analysis::{Analysis, Found};
use crate::correlate::{PureAnswers, RunsAt};
use crate::explore::Reached;
use crate::heap::{Flags, Kind};
use crate::model::{Cell, Model, Reference};
use crate::state::{Phase, State, Thread};
use crate::targets::{Mask, NULL, Node, Targets, nodes_in};
use crate::value::{Class, Holder, Scalar};
use linchpin_certify::{FileHash, Sha256, ShapeCertificate, ShapeThreads};
use linchpin_spec::Value;
use std::fmt::Write as _;

/// What a certificate is about.
#[derive(Clone, Copy, Debug)]
pub struct About<'a> {
    /// What the model is called.
    pub name: &'a str,
    /// The model as text, from which the analysed program was compiled.
    pub text: &'a str,
    /// The file that the text was read from.
    pub file: Option<&'a str>,
    /// The parameters that were set for it.
    pub parameters: &'a [(String, Value)],
    /// How many threads the analysis was about.
    pub threads: crate::analysis::Threads,
}

/// The certificate of a proof; none of anything else, nor where `when returns` points are judged as
/// claimed or operations run alone.
pub fn of(analysis: &Analysis, about: &About<'_>) -> Option<String> {
    let machine = &analysis.machine;
    let seen = machine.pure == PureAnswers::Seen && machine.runs_at == RunsAt::Points;
    if !matches!(analysis.found, Found::Proved) || !seen {
        return None;
    }
    let model = &machine.model;
    let name = |operation: &usize| model.program.operations[*operation].name.clone();
    let plain = |(_, value): &(String, Value)| matches!(value, Value::Int(_) | Value::Bool(_));
    if !about.parameters.iter().all(plain) {
        return None;
    }
    let sha256 = Sha256::of(about.text.as_bytes());
    let certificate = ShapeCertificate {
        name: about.name.to_owned(),
        text: about.text.to_owned(),
        sha256,
        source: about.file.map(|file| FileHash { file: file.to_owned(), sha256 }),
        parameters: about.parameters.to_vec(),
        roles: model.roles.iter().map(|role| role.iter().map(name).collect()).collect(),
        threads: match about.threads {
            crate::analysis::Threads::Any => ShapeThreads::Any,
            crate::analysis::Threads::Those => {
                ShapeThreads::These(model.threads.iter().map(|role| usize::from(*role)).collect())
            }
        },
        own_code: is_own(model),
        states: analysis.explored.states.iter().map(|reached| line(model, reached)).collect(),
    };
    Some(format!("{:#}\n", certificate.to_json()))
}

/// Whether the model is compared with its own code.
fn is_own(model: &Model) -> bool {
    match &model.reference {
        Reference::Program(program) => !program.threads.is_empty(),
        _ => false,
    }
}

fn line(model: &Model, reached: &Reached<Targets>) -> String {
    let State { shared, reference, edge, threads, heap } = &reached.state;
    let mut parts = vec![with_words("shared", shared), with_words("reference", reference)];
    if let Some((before, after)) = edge {
        parts.push(format!("edge n{} n{}", before.0, after.0));
    }
    parts.extend(threads.iter().map(thread));
    for (at, node) in heap.nodes.iter().enumerate() {
        parts.push(heap_node(model, at, node));
    }
    parts.join(" | ")
}

fn with_words(keyword: &str, words: &[Scalar]) -> String {
    words.iter().fold(keyword.to_owned(), |text, scalar| format!("{text} {}", word(*scalar)))
}

fn word(word: Scalar) -> String {
    match word {
        Scalar::Dead => "_".to_owned(),
        Scalar::Null => "null".to_owned(),
        Scalar::Bool(truth) => truth.to_string(),
        Scalar::Int(number) => number.to_string(),
        // A truth value that is not known is never stored.
        Scalar::Any | Scalar::AnyBool => "any".to_owned(),
        Scalar::Argument(number) => format!("a{number}"),
        Scalar::Node(node) => format!("n{}", node.0),
        Scalar::ValueOf(node, value) => format!("n{}.{value}", node.0),
        Scalar::Key(of) => class(of).unwrap_or("any").to_owned(),
        Scalar::Lock(by) => format!("lock:{}", holder(by)),
        Scalar::Me => "me".to_owned(),
    }
}

fn class(class: Class) -> Option<&'static str> {
    match class {
        Class::None => None,
        Class::Min => Some("min"),
        Class::Below => Some("below"),
        Class::At => Some("K"),
        Class::Above => Some("above"),
        Class::Max => Some("max"),
    }
}

fn holder(holder: Holder) -> String {
    match holder {
        Holder::Free => "free".to_owned(),
        Holder::Other => "other".to_owned(),
        Holder::Reference => "ref".to_owned(),
        Holder::Thread(thread) => format!("t{thread}"),
    }
}

fn thread(thread: &Thread) -> String {
    let Some((operation, node)) = thread.at else { return format!("thread {} idle", thread.role) };
    let mut text = format!("thread {} {operation}:{node}", thread.role);
    if let Phase::Post(answer) = thread.phase {
        text += &format!(" post {}", word(answer));
    }
    text = with_words(&(text + " args"), &thread.arguments);
    text = with_words(&(text + " locals"), &thread.locals);
    if let Some(made) = &thread.allocated {
        text = with_words(&format!("{text} made n{}", made.node.0), &made.values);
    }
    text += " seen";
    for (bit, answer) in ["null", "false", "true"].iter().enumerate() {
        if thread.seen >> bit & 1 == 1 {
            text += &format!(" {answer}");
        }
    }
    text
}

fn heap_node(model: &Model, at: usize, node: &Node) -> String {
    let Flags { kind, of, class: key, bools, reach, owner, locks } = node.flags;
    let cells = model.cells.get(usize::from(of)).map_or(&[][..], Vec::as_slice);
    let count = |is: fn(&Cell) -> bool| cells.iter().filter(|cell| is(cell)).count();
    let links = count(|cell| matches!(cell, Cell::Link(_)));
    let star = if node.summary { "*" } else { "" };
    let kind_name = match kind {
        Kind::Uniform => "uniform",
        Kind::Nonuniform => "nonuniform",
        Kind::Candidate => "candidate",
        Kind::Reference => "reference",
    };
    let mut text = format!("n{at}{star} {kind_name} {of}");
    text += &class(key).map_or(String::new(), |key| format!(" key={key}"));
    for bit in (0..8).filter(|bit| bools >> bit & 1 == 1) {
        text += &format!(" true={bit}");
    }
    if reach {
        text += " listed";
    }
    text += &owner.map_or(String::new(), |owner| format!(" own={owner}"));
    for lock in locks.iter().take(count(|cell| matches!(cell, Cell::Lock(_)))) {
        text += &format!(" lock={}", holder(*lock));
    }
    if kind != Kind::Reference {
        targets(&mut text, "links", &node.links[..links]);
    }
    if matches!(kind, Kind::Nonuniform | Kind::Reference) {
        targets(&mut text, "twin", &node.reference[..links]);
    }
    text
}

fn targets(text: &mut String, keyword: &str, masks: &[Mask]) {
    let _ = write!(text, " {keyword}");
    for mask in masks {
        let null = (mask & NULL != 0).then(|| "null".to_owned());
        let all: Vec<String> =
            null.into_iter().chain(nodes_in(*mask).map(|at| format!("n{at}"))).collect();
        let _ = write!(text, " {}", if all.is_empty() { "-".to_owned() } else { all.join(",") });
    }
}
