//! The structures that an analysis kept, found by what is definite in every one of them: where each
//! thread is, and which shared and reference variables alias. Nothing of the engine's keys is used.

use super::nodes::{Concrete, Focus, Nodes, Word};
use crate::concrete::correlated::Phase as ConcretePhase;
use linchpin_ir::program::Type;
use linchpin_shape::Analysis;
use linchpin_shape::correlate::Machine;
use linchpin_shape::state::{Phase, State};
use linchpin_shape::targets::Targets;
use linchpin_shape::value::{Holder, Integers, NodeId, Scalar, words_of};
use linchpin_spec::Value;
use std::collections::HashMap;

/// A word, as far as it is definite; `N` are the nodes of either side, numbered as they come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Definite {
    Anything,
    Null,
    Bool(bool),
    Lock(Option<u8>),
    Node(usize),
}

/// Where a thread is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Control {
    at: Option<(usize, usize)>,
    post: bool,
}

/// What structures are found by.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    words: Vec<Definite>,
    threads: Vec<Control>,
}

/// Numbers things as they come.
struct Numbered<N>(Vec<N>);

impl<N: PartialEq> Numbered<N> {
    fn number(&mut self, node: N) -> Definite {
        let at = self.0.iter().position(|other| *other == node).unwrap_or_else(|| {
            self.0.push(node);
            self.0.len() - 1
        });
        Definite::Node(at)
    }
}

/// The types of the words of the shared variables.
fn shared_types(machine: &Machine) -> Vec<&Type> {
    let mut types = Vec::new();
    machine.model.program.shared.iter().for_each(|at| words_of(&at.ty, &mut types));
    types
}

fn key_of_structure(machine: &Machine, state: &State<Targets>) -> Key {
    let mut nodes: Numbered<NodeId> = Numbered(Vec::new());
    let mut definite = |word: Scalar| match word {
        Scalar::Null => Definite::Null,
        Scalar::Bool(truth) => Definite::Bool(truth),
        Scalar::Lock(Holder::Thread(thread)) => Definite::Lock(Some(thread)),
        Scalar::Lock(_) => Definite::Lock(None),
        Scalar::Node(node) => nodes.number(node),
        _ => Definite::Anything,
    };
    let mut words = Vec::new();
    for (word, ty) in state.shared.iter().zip(shared_types(machine)) {
        words.push(match ty {
            Type::Struct(_) | Type::Bool | Type::Lock => definite(*word),
            _ => Definite::Anything,
        });
    }
    words.extend(state.reference.iter().map(|word| definite(*word)));
    let edge = state.edge.into_iter().flat_map(|(before, after)| [before, after]);
    words.extend(edge.map(|node| definite(Scalar::Node(node))));
    let threads = state.threads.iter().map(|thread| Control {
        at: thread.at.map(|(operation, node)| (usize::from(operation), usize::from(node))),
        post: thread.phase != Phase::Pre,
    });
    Key { words, threads: threads.collect() }
}

/// Whether the call of a thread is compared with the reference: on other keys than K it is not.
pub fn is_judged(nodes: &Nodes<'_>, thread: usize, key: i64) -> bool {
    match nodes.machine.model.integers {
        Integers::Values => true,
        Integers::Keys => {
            let call = nodes.state.calls[thread].as_ref();
            call.is_some_and(|call| call.argument == Value::Int(key))
        }
    }
}

fn key_of_state(nodes: &Nodes<'_>, focus: &Focus) -> Key {
    let mut numbered: Numbered<Concrete> = Numbered(Vec::new());
    let mut words = Vec::new();
    for (value, ty) in nodes.shared().iter().zip(shared_types(nodes.machine)) {
        words.push(match ty {
            Type::Struct(_) => {
                nodes.of_value(value).map_or(Definite::Null, |node| numbered.number(node))
            }
            Type::Bool => Definite::Bool(*value == Value::Bool(true)),
            Type::Lock => Definite::Lock(nodes.holder(value, focus)),
            _ => Definite::Anything,
        });
    }
    for word in nodes.reference(focus.key) {
        words.push(match word {
            Word::Node(node) => node.map_or(Definite::Null, |node| numbered.number(node)),
            Word::Value(value) => Definite::Bool(value == Value::Bool(true)),
        });
    }
    if nodes.machine.model.root.is_some() {
        let edge = nodes.edge(focus.key).into_iter().flat_map(|(before, after)| [before, after]);
        words.extend(edge.map(|node| numbered.number(node)));
    }
    let threads = focus.threads.iter().map(|thread| {
        let stands = nodes.state.stands(*thread);
        let at = stands.and_then(|(operation, node)| {
            Some((operation, usize::try_from(node?.0).unwrap_or(usize::MAX)))
        });
        let post = matches!(nodes.state.phase(*thread), ConcretePhase::Post(_));
        Control { at, post: post && is_judged(nodes, *thread, focus.key) }
    });
    Key { words, threads: threads.collect() }
}

/// The structures of an analysis.
pub struct Index<'a> {
    found: HashMap<Key, Vec<&'a State<Targets>>>,
}

impl<'a> Index<'a> {
    /// The structures of an analysis.
    pub fn new(analysis: &'a Analysis) -> Index<'a> {
        let mut found: HashMap<Key, Vec<&State<Targets>>> = HashMap::new();
        for reached in &analysis.explored.states {
            let key = key_of_structure(&analysis.machine, &reached.state);
            found.entry(key).or_default().push(&reached.state);
        }
        Index { found }
    }

    /// Those that a state may embed into.
    pub fn near(&self, nodes: &Nodes<'_>, focus: &Focus) -> &[&'a State<Targets>] {
        self.found.get(&key_of_state(nodes, focus)).map_or(&[], Vec::as_slice)
    }
}
