//! The lines of a certificate: one for each state. Nothing in them is trusted.
//!
//! A line has parts, separated by `|`: `shared` and `reference` with their words, perhaps `edge`
//! with two nodes, a `thread` for each thread, and a part for each node.

use super::model::{Model, total};
use super::state::{
    Class, Flags, Holder, Id, Kind, Made, Node, Seen, State, Targets, Thread, Word,
};
use std::collections::{BTreeMap, BTreeSet};

/// A state has at most so many nodes.
const MOST_NODES: usize = 64;

/// What is wrong with a line, in words.
type Read<T> = Result<T, &'static str>;

/// Reads a state.
pub fn state(model: &Model, line: &str) -> Read<State> {
    let mut state = State {
        shared: Vec::new(),
        reference: Vec::new(),
        edge: None,
        threads: Vec::new(),
        nodes: BTreeMap::new(),
    };
    for part in line.split('|') {
        let tokens: Vec<&str> = part.split_whitespace().collect();
        match tokens[..] {
            ["shared", ref words @ ..] => state.shared = read_words(words)?,
            ["reference", ref words @ ..] => state.reference = read_words(words)?,
            ["edge", before, after] => state.edge = Some((read_node(before)?, read_node(after)?)),
            ["thread", ref rest @ ..] => state.threads.push(read_thread(rest)?),
            [name, ref rest @ ..] => {
                let (at, node) = read_heap_node(model, name, rest)?;
                if state.nodes.insert(at, node).is_some() {
                    return Err("a node is there twice");
                }
            }
            [] => return Err("an empty part"),
        }
    }
    is_possible(model, &state)?;
    Ok(state)
}

/// Whether everything that a state speaks of is there.
fn is_possible(model: &Model, state: &State) -> Read<()> {
    if state.nodes.len() > MOST_NODES {
        return Err("too many nodes");
    }
    if state.shared.len() != total(&model.program.shared)
        || state.reference.len() != model.reference_words()
        || state.edge.is_some() != model.root.is_some()
    {
        return Err("another number of variables than the model has");
    }
    for thread in &state.threads {
        let (arguments, locals) = match thread.at {
            None => (0, 0),
            Some((operation, node)) => {
                let found = model.program.operations.get(operation).ok_or("no such operation")?;
                let yields = found.body.nodes.get(node).is_some_and(|node| node.yields);
                if !yields {
                    return Err("no such place in an operation");
                }
                (found.parameters.len(), total(&found.body.locals))
            }
        };
        if thread.role >= model.roles.len() {
            return Err("no such role");
        }
        if thread.arguments.len() != arguments || thread.locals.len() != locals {
            return Err("another number of variables than the operation has");
        }
        if thread.at.is_none() && *thread != Thread::idle(thread.role) {
            return Err("a thread between two calls remembers something");
        }
    }
    let threads = state.threads.len();
    for holder in state.nodes.values().flat_map(|node| &node.flags.locks).copied().chain(
        state.shared.iter().chain(&state.reference).filter_map(|word| match word {
            Word::Lock(holder) => Some(*holder),
            _ => None,
        }),
    ) {
        if matches!(holder, Holder::Thread(thread) if thread >= threads) {
            return Err("a lock is held by a thread that is not there");
        }
    }
    let there = |node: &Id| state.nodes.contains_key(node);
    let names = state.names();
    let mut unnamed: BTreeSet<&Flags> = BTreeSet::new();
    for (at, node) in &state.nodes {
        if node.many == names.contains(at) {
            return Err("a node has a name and stands for many, or neither");
        }
        if node.many && !unnamed.insert(&node.flags) {
            return Err("two nodes without a name are alike");
        }
        if node.flags.owner.is_some_and(|owner| owner >= threads) {
            return Err("a node belongs to a thread that is not there");
        }
        if !node.sets().flatten().flatten().all(there) {
            return Err("a link to a node that is not there");
        }
    }
    match names.iter().all(there) {
        true => Ok(()),
        false => Err("a name of a node that is not there"),
    }
}

fn number<T: std::str::FromStr>(text: &str) -> Read<T> {
    text.parse().map_err(|_| "a number is expected")
}

fn read_node(text: &str) -> Read<Id> {
    number(text.strip_prefix('n').ok_or("a node is expected")?)
}

fn read_words(tokens: &[&str]) -> Read<Vec<Word>> {
    tokens.iter().map(|token| read_word(token)).collect()
}

fn read_class(text: &str) -> Option<Class> {
    Some(match text {
        "min" => Class::Min,
        "below" => Class::Below,
        "K" => Class::At,
        "above" => Class::Above,
        "max" => Class::Max,
        _ => return None,
    })
}

fn read_holder(text: &str) -> Read<Holder> {
    Ok(match text {
        "free" => Holder::Free,
        "other" => Holder::Other,
        "ref" => Holder::Reference,
        _ => Holder::Thread(number(text.strip_prefix('t').ok_or("who holds a lock?")?)?),
    })
}

fn read_word(text: &str) -> Read<Word> {
    if let Some(class) = read_class(text) {
        return Ok(Word::Key(class));
    }
    if let Some(holder) = text.strip_prefix("lock:") {
        return Ok(Word::Lock(read_holder(holder)?));
    }
    if let Some(argument) = text.strip_prefix('a').filter(|rest| !rest.starts_with('n')) {
        return Ok(Word::Argument(number(argument)?));
    }
    Ok(match text {
        "_" => Word::Forgotten,
        "null" => Word::Null,
        "true" => Word::Bool(true),
        "false" => Word::Bool(false),
        "any" => Word::Any,
        "me" => Word::Me,
        _ => match text.split_once('.') {
            Some((node, value)) => Word::ValueOf(read_node(node)?, number(value)?),
            None if text.starts_with('n') => Word::Node(read_node(text)?),
            None => Word::Int(i64::from(number::<i8>(text)?)),
        },
    })
}

/// `ROLE idle`, or `ROLE OPERATION:NODE [post WORD] args … locals … [made NODE …] seen …`.
fn read_thread(tokens: &[&str]) -> Read<Thread> {
    let [role, at, rest @ ..] = tokens else { return Err("a thread is cut off") };
    let mut thread = Thread::idle(number(role)?);
    if *at == "idle" {
        return if rest.is_empty() { Ok(thread) } else { Err("an idle thread with more") };
    }
    let (operation, node) = at.split_once(':').ok_or("where is the thread?")?;
    thread.at = Some((number(operation)?, number(node)?));
    let keywords = ["post", "args", "locals", "made", "seen"];
    let mut rest = rest;
    while let [keyword, more @ ..] = rest {
        let end = more.iter().position(|token| keywords.contains(token)).unwrap_or(more.len());
        let (words, next) = more.split_at(end);
        match (*keyword, words) {
            ("post", [word]) => thread.answered = Some(read_word(word)?),
            ("args", words) => thread.arguments = read_words(words)?,
            ("locals", words) => thread.locals = read_words(words)?,
            ("made", [node, values @ ..]) => {
                thread.made = Some(Made { node: read_node(node)?, values: read_words(values)? });
            }
            ("seen", words) => {
                let seen = words.iter().map(|word| Seen::of(read_word(word).ok()?));
                thread.seen = seen.collect::<Option<_>>().ok_or("no such answer")?;
            }
            _ => return Err("a thread with something else"),
        }
        rest = next;
    }
    Ok(thread)
}

/// `NAME KIND STRUCT [key=…] [true=…] [listed] [own=…] [lock=…] links … [twin …]`; the name of a
/// node that stands for many ends with `*`.
fn read_heap_node(model: &Model, name: &str, tokens: &[&str]) -> Read<(Id, Node)> {
    let (name, many) = match name.strip_suffix('*') {
        Some(name) => (name, true),
        None => (name, false),
    };
    let [kind, of, rest @ ..] = tokens else { return Err("a node is cut off") };
    let kind = match *kind {
        "uniform" => Kind::Uniform,
        "nonuniform" => Kind::Nonuniform,
        "candidate" => Kind::Candidate,
        "reference" => Kind::Reference,
        _ => return Err("no such kind of node"),
    };
    let of: usize = number(of)?;
    let cells = model.cells.get(of).ok_or("no such struct")?;
    let mut flags = super::step::blank(kind, of, cells);
    let locks = flags.locks.len();
    flags.locks.clear();
    let (mut links, mut twin) = (Vec::new(), Vec::new());
    let mut into: Option<&mut Vec<Targets>> = None;
    for token in rest {
        match (*token, &mut into) {
            ("links", _) => into = Some(&mut links),
            ("twin", _) => into = Some(&mut twin),
            (targets, Some(into)) => into.push(read_targets(targets)?),
            ("listed", None) => flags.listed = true,
            (flag, None) => read_flag(flag, &mut flags)?,
        }
    }
    let count = model.links(of);
    let expected = match kind {
        Kind::Uniform | Kind::Candidate => (count, 0),
        Kind::Nonuniform => (count, count),
        Kind::Reference => (0, count),
    };
    if flags.locks.len() != locks || (links.len(), twin.len()) != expected {
        return Err("another number of links or locks than the struct has");
    }
    Ok((read_node(name)?, Node { flags, many, links, twin }))
}

fn read_flag(text: &str, flags: &mut Flags) -> Read<()> {
    match text.split_once('=') {
        Some(("key", class)) => flags.class = Some(read_class(class).ok_or("no such key")?),
        Some(("true", bit)) => {
            flags.truths.insert(number(bit)?);
        }
        Some(("own", owner)) => flags.owner = Some(number(owner)?),
        Some(("lock", holder)) => flags.locks.push(read_holder(holder)?),
        _ => return Err("a node with something else"),
    }
    Ok(())
}

fn read_targets(text: &str) -> Read<Targets> {
    if text == "-" {
        return Ok(Targets::new());
    }
    let target = |text: &str| match text {
        "null" => Ok(None),
        node => read_node(node).map(Some),
    };
    text.split(',').map(target).collect()
}
