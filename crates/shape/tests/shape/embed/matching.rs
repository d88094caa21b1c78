//! Whether a concrete correlated state embeds into a structure: named nodes stand for what is named,
//! every other node that names reach for a summary of its flags, and every link goes where the
//! structure says that it may (the embedding of canonical abstraction, Appendix D of the paper).

use super::index::is_judged;
use super::nodes::{Concrete, Focus, Nodes, Word, class_of};
use crate::concrete::correlated::Phase as ConcretePhase;
use crate::concrete::reference::Ret;
use crate::concrete::step::Semantics;
use linchpin_shape::heap::{Heap, Side};
use linchpin_shape::model::Reference;
use linchpin_shape::state::{Phase, State, Thread};
use linchpin_shape::targets::{Targets, bit, nodes_in};
use linchpin_shape::value::{Integers, NodeId, Scalar};
use linchpin_spec::Value;
use std::collections::BTreeMap;

/// Why a state does not embed into a structure; the more was right, the later in this order.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Why {
    /// A word is another.
    Word(String),
    /// An answer is taken for seen that the reference would not have given.
    Seen(String),
    /// A named node is another.
    Named(String),
    /// A link goes where it may not.
    Link(String),
}

/// A state, and a structure that it may embed into.
struct Matching<'a> {
    nodes: &'a Nodes<'a>,
    semantics: &'a Semantics,
    focus: &'a Focus,
    structure: &'a State<Targets>,
    /// What the named nodes of the structure stand for.
    bound: BTreeMap<NodeId, Concrete>,
    /// Values that are known by the node that they come from.
    origins: Vec<(NodeId, u8, Value)>,
    /// The argument of each thread, where a word is known to be it.
    arguments: Vec<Option<Value>>,
    /// Named nodes that were allocated last, though the reference cannot take them, each with what
    /// it may be. It may also be gone: nothing of the concrete state has to keep it.
    ghosts: Vec<(NodeId, Vec<Concrete>)>,
}

/// Which node of the structure each node stands for.
pub type Stands = BTreeMap<Concrete, usize>;

/// The ways in which a state embeds into a structure: at least one, or why there is none.
pub fn embeds(
    nodes: &Nodes<'_>,
    semantics: &Semantics,
    focus: &Focus,
    structure: &State<Targets>,
) -> Result<Vec<Stands>, Why> {
    let arguments = vec![None; focus.threads.len()];
    let mut matching = Matching {
        nodes,
        semantics,
        focus,
        structure,
        bound: BTreeMap::new(),
        origins: Vec::new(),
        arguments,
        ghosts: Vec::new(),
    };
    matching.common().map_err(Why::Word)?;
    for (at, thread) in structure.threads.iter().enumerate() {
        matching.thread(at, thread)?;
    }
    matching.origin()
}

impl Matching<'_> {
    fn bind(&mut self, to: NodeId, node: Option<Concrete>) -> Result<(), String> {
        let node = node.ok_or(format!("{to:?} is not there"))?;
        let same = |(one, other): (&NodeId, &Concrete)| (*one == to) == (*other == node);
        match self.bound.iter().all(same) {
            true => drop(self.bound.insert(to, node)),
            false => return Err(format!("{to:?} and {node:?} alias otherwise: {:?}", self.bound)),
        }
        Ok(())
    }

    /// Whether a word stands for a value.
    fn word(&mut self, word: Scalar, value: &Value, thread: Option<usize>) -> Result<(), String> {
        let fits = match word {
            Scalar::Dead | Scalar::Any => true,
            Scalar::AnyBool => false,
            Scalar::Null => value.is_null(),
            Scalar::Bool(truth) => *value == Value::Bool(truth),
            Scalar::Int(number) => *value == Value::Int(i64::from(number)),
            Scalar::Argument(_) => match thread {
                Some(thread) => {
                    self.arguments[thread].get_or_insert_with(|| value.clone()) == value
                }
                None => false,
            },
            Scalar::Node(node) => return self.bind(node, self.nodes.of_value(value)),
            Scalar::ValueOf(node, cell) => {
                self.origins.push((node, cell, value.clone()));
                true
            }
            Scalar::Key(class) => {
                value.as_int().is_some_and(|key| class_of(key, self.focus.key) == class)
            }
            Scalar::Lock(holder) => self.nodes.is_held(value, holder, self.focus),
            Scalar::Me => {
                let me = thread.and_then(|thread| i64::try_from(self.focus.threads[thread]).ok());
                value.as_int() == me
            }
        };
        fits.then_some(()).ok_or_else(|| format!("{word:?} is not {value}"))
    }

    /// Shared and reference variables, and the edge.
    fn common(&mut self) -> Result<(), String> {
        let structure = self.structure;
        for (word, value) in structure.shared.iter().zip(&self.nodes.shared()) {
            self.word(*word, value, None)?;
        }
        for (word, value) in structure.reference.iter().zip(self.nodes.reference(self.focus.key)) {
            match (word, value) {
                (Scalar::Node(to), Word::Node(node)) => self.bind(*to, node)?,
                (Scalar::Null, Word::Node(None)) => {}
                (_, Word::Node(_)) => return Err(format!("{word:?} of the reference")),
                (word, Word::Value(value)) => self.word(*word, &value, None)?,
            }
        }
        match (structure.edge, self.nodes.machine.model.root) {
            (None, None) => Ok(()),
            (Some((before, after)), Some(_)) => {
                let edge = self.nodes.edge(self.focus.key);
                self.bind(before, edge.map(|edge| edge.0))?;
                self.bind(after, edge.map(|edge| edge.1))
            }
            _ => Err("the edge".to_owned()),
        }
    }

    fn thread(&mut self, at: usize, thread: &Thread) -> Result<(), Why> {
        let number = self.focus.threads[at];
        let nodes = self.nodes;
        let (Some((operation, node)), Some(call)) = (thread.at, &nodes.state.calls[number]) else {
            return Ok(());
        };
        let (operation, node) = (usize::from(operation), usize::from(node));
        if nodes.machine.model.integers == Integers::Keys || call.phase == ConcretePhase::Pre {
            for word in &thread.arguments {
                self.word(*word, &call.argument, Some(at)).map_err(Why::Word)?;
            }
        }
        let is_live = |local: usize| self.semantics.is_live(operation, node, local);
        let locals = nodes.locals(number, operation, is_live);
        for (place, (word, (value, live))) in thread.locals.iter().zip(&locals).enumerate() {
            let word = match (live, word) {
                (true, word) => *word,
                // What a dead local holds is not in the state.
                (false, Scalar::Node(_) | Scalar::ValueOf(..)) => {
                    return Err(Why::Word(format!("word {place} of the locals is dead")));
                }
                (false, _) => Scalar::Dead,
            };
            self.word(word, value, Some(at))
                .map_err(|why| Why::Word(format!("word {place} of the locals: {why}")))?;
        }
        self.phase(number, thread)?;
        self.allocated(at, thread).map_err(Why::Word)?;
        self.seen(number, operation, thread)
    }

    fn phase(&mut self, number: usize, thread: &Thread) -> Result<(), Why> {
        let phase = match is_judged(self.nodes, number, self.focus.key) {
            true => self.nodes.state.phase(number),
            false => ConcretePhase::Pre,
        };
        match (thread.phase, phase) {
            (Phase::Pre, ConcretePhase::Pre)
            | (Phase::Post(Scalar::Dead), ConcretePhase::Post(_)) => Ok(()),
            (Phase::Post(Scalar::ValueOf(to, _)), ConcretePhase::Post(Ret::Node(id))) => {
                self.bind(to, self.nodes.of_reference(id))
            }
            (Phase::Post(word), ConcretePhase::Post(Ret::Constant(value))) => {
                self.word(word, &value, None)
            }
            (one, other) => Err(format!("{one:?} is not {other:?}")),
        }
        .map_err(Why::Word)
    }

    /// The node that the reference would take for the one that it allocates.
    fn allocated(&mut self, at: usize, thread: &Thread) -> Result<(), String> {
        let number = self.focus.threads[at];
        let call = self.nodes.state.calls[number].as_ref();
        let inserts = call.is_some_and(|call| call.operation.inserts());
        let last = self.nodes.state.last_allocated(number);
        let Some(made) = &thread.allocated else {
            return match inserts && thread.phase == Phase::Pre && last.is_some() {
                true => Err("it has allocated a node".to_owned()),
                false => Ok(()),
            };
        };
        // Whether the reference can take it for the node of the argument.
        let of_list = match &self.nodes.machine.model.reference {
            Reference::Stack(list) | Reference::Queue(list) => Some(list.of),
            _ => None,
        };
        let of = self.structure.heap.flags(made.node).of;
        if !inserts || of_list != Some(of) || made.values[..] != [Scalar::Argument(0)] {
            let all = call.into_iter().flat_map(|call| &call.allocated);
            let all = all.filter_map(|object| self.nodes.of_object(*object));
            self.ghosts.push((made.node, all.collect()));
            return Ok(());
        }
        let node = last.and_then(|object| self.nodes.of_object(object));
        self.bind(made.node, node)?;
        for (cell, word) in (0..).zip(&made.values) {
            let value = node.and_then(|node| self.nodes.value(node, cell)).cloned();
            self.word(*word, &value.unwrap_or_default(), Some(at))?;
        }
        Ok(())
    }

    /// A structure with fewer bits allows fewer answers.
    fn seen(&mut self, number: usize, operation: usize, thread: &Thread) -> Result<(), Why> {
        let noted = self.nodes.machine.notes_seen(operation);
        if thread.phase != Phase::Pre || !noted || !is_judged(self.nodes, number, self.focus.key) {
            return match thread.seen == 0 || thread.phase != Phase::Pre {
                true => Ok(()),
                false => Err(Why::Seen("of a call that is not judged".to_owned())),
            };
        }
        let answers = [Value::Null, Value::Bool(false), Value::Bool(true)];
        let seen = |answer: &Value| self.nodes.state.seen(number, answer);
        let bits = answers.iter().enumerate().filter(|(_, answer)| seen(answer));
        let bits = bits.fold(0u8, |bits, (at, _)| bits | 1 << at);
        match thread.seen & !bits {
            0 => Ok(()),
            _ => Err(Why::Seen(format!("{:#b} has more bits than {bits:#b}", thread.seen))),
        }
    }

    /// The same, with one more node bound.
    fn with(&self, to: NodeId, node: Concrete) -> Result<Matching<'_>, Why> {
        let mut with = Matching {
            bound: self.bound.clone(),
            origins: self.origins.clone(),
            arguments: self.arguments.clone(),
            ghosts: self.ghosts.clone(),
            ..*self
        };
        with.bind(to, Some(node)).map_err(Why::Word)?;
        Ok(with)
    }

    /// The nodes that values come from, then flags, then links.
    fn origin(&mut self) -> Result<Vec<Stands>, Why> {
        let Some((to, cell, value)) = self.origins.pop() else { return self.ghost() };
        if let Some(node) = self.bound.get(&to) {
            return match self.nodes.value(*node, cell) == Some(&value) {
                true => self.origin(),
                false => Err(Why::Word(format!("{value} is not from {to:?}"))),
            };
        }
        // Nodes that are named otherwise come first.
        let later = self.origins.iter().any(|(other, ..)| self.bound.contains_key(other));
        if later {
            self.origins.insert(0, (to, cell, value));
            return self.origin();
        }
        let all = self.nodes.holding(&value, cell).into_iter();
        let all = all.map(|node| self.with(to, node)?.origin());
        let none = Why::Word(format!("{value} is not from any node like {to:?}"));
        all.fold(Err(none), any)
    }

    fn ghost(&mut self) -> Result<Vec<Stands>, Why> {
        let unbound = |(at, _): &(NodeId, Vec<Concrete>)| !self.bound.contains_key(at);
        let Some(at) = self.ghosts.iter().position(unbound) else { return self.named() };
        let (to, all) = &self.ghosts[at];
        let all = all.iter().map(|node| self.with(*to, *node)?.ghost());
        all.fold(self.named(), any)
    }

    fn named(&self) -> Result<Vec<Stands>, Why> {
        let heap = &self.structure.heap;
        for (at, node) in (0..).zip(&heap.nodes).filter(|(_, node)| !node.summary) {
            match self.bound.get(&NodeId(at)) {
                Some(concrete) => {
                    self.nodes
                        .fits(*concrete, node.flags, self.focus)
                        .map_err(|what| Why::Named(format!("{concrete:?} for n{at}: {what}")))?;
                }
                None if self.ghosts.iter().any(|(ghost, _)| *ghost == NodeId(at)) => {}
                None => return Err(Why::Named(format!("n{at} is named by nothing"))),
            }
        }
        let stands = self.bound.iter().map(|(at, node)| (*node, at.index())).collect();
        self.links(stands, self.bound.values().copied().collect())
    }

    /// Follows the links of `work`; `stands` says which node of the structure each stands for.
    fn links(&self, mut stands: Stands, mut work: Vec<Concrete>) -> Result<Vec<Stands>, Why> {
        let heap = &self.structure.heap;
        while let Some(from) = work.pop() {
            let at = stands[&from];
            for (side, link, to) in self.nodes.all_links(from) {
                let mask = heap.nodes[at].side(side)[usize::from(link)];
                let wrong = |what: &str| {
                    let side = if side == Side::Candidate { "" } else { " of the reference" };
                    Err(Why::Link(format!(
                        "{from:?} for n{at}, link {link}{side} to {to:?}: {what}"
                    )))
                };
                let target = match to {
                    None if mask & 1 == 1 => continue,
                    None => return wrong("not null"),
                    Some(target) => target,
                };
                if let Some(stands_for) = stands.get(&target) {
                    match mask & bit(*stands_for) {
                        0 => return wrong("not there"),
                        _ => continue,
                    }
                }
                let fits = |summary: &usize| {
                    let node = &heap.nodes[*summary];
                    node.summary && self.nodes.fits(target, node.flags, self.focus).is_ok()
                };
                let summaries: Vec<usize> = nodes_in(mask).filter(fits).collect();
                match summaries[..] {
                    [] => return wrong("no summary is like it"),
                    [only] => {
                        stands.insert(target, only);
                        work.push(target);
                    }
                    _ => {
                        work.push(from);
                        let all = summaries.iter().map(|summary| {
                            let (mut stands, mut work) = (stands.clone(), work.clone());
                            stands.insert(target, *summary);
                            work.push(target);
                            self.links(stands, work)
                        });
                        return all.reduce(any).unwrap_or(Ok(Vec::new()));
                    }
                }
            }
        }
        Ok(vec![stands])
    }
}

/// What either finds.
fn any(one: Result<Vec<Stands>, Why>, two: Result<Vec<Stands>, Why>) -> Result<Vec<Stands>, Why> {
    match (one, two) {
        (Ok(mut one), Ok(two)) => {
            one.extend(two);
            Ok(one)
        }
        (Ok(found), Err(_)) | (Err(_), Ok(found)) => Ok(found),
        (Err(one), Err(two)) => Err(one.max(two)),
    }
}
