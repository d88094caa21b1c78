//! What an operation does when it runs alone: its update steps, and how it ends.

use linchpin_space::{Flat, Space};
use smallvec::SmallVec;

/// A few words.
pub type Words = SmallVec<[i64; 8]>;

/// A word of a label.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Term {
    /// A number, a truth value, null, or where a write goes.
    Plain(i64),
    /// An object that was reachable from the shared variables when the run began.
    Object(u32),
    /// An object that was not, numbered as the labels first mention them.
    New(u32),
}

/// An update step: where in the code, and what it changes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Update {
    /// The node of the body where the step starts.
    pub node: u32,
    /// The words that it changes with their new values; objects that were not reachable before, by
    /// their contents.
    pub label: Vec<Term>,
}

/// How a run ends.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Ending {
    /// The operation answers these words.
    Returns(Words),
    /// It cannot go on.
    Blocks,
    /// A step fails.
    Fails,
    /// It never ends, or not within a great many steps.
    Endless,
}

/// What an operation does alone.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Outcome {
    /// Its update steps, in order.
    pub updates: Vec<Update>,
    /// How it ends.
    pub ending: Ending,
}

impl Outcome {
    /// That of a step that is no update.
    pub fn nothing() -> Outcome {
        Outcome { updates: Vec::new(), ending: Ending::Endless }
    }

    /// The answer of a run without update steps.
    pub fn pure_answer(&self) -> Option<&Words> {
        match &self.ending {
            Ending::Returns(words) if self.updates.is_empty() => Some(words),
            _ => None,
        }
    }

    /// Whether two outcomes are the same, where the objects of this one are called what `rename`
    /// says in the other.
    pub fn equals(&self, other: &Outcome, rename: impl Fn(u32) -> Option<u32>) -> bool {
        let same = |(left, right): (&Term, &Term)| match (left, right) {
            (Term::Object(left), Term::Object(right)) => rename(*left) == Some(*right),
            _ => left == right,
        };
        self.ending == other.ending
            && self.updates.len() == other.updates.len()
            && self.updates.iter().zip(&other.updates).all(|(left, right)| {
                left.node == right.node
                    && left.label.len() == right.label.len()
                    && left.label.iter().zip(&right.label).all(same)
            })
    }
}

/// The objects that the shared variables reach, in an order that does not depend on their numbers.
pub fn reachable(space: &Space, flat: &Flat) -> Vec<usize> {
    let mut marks = vec![false; space.objects(flat)];
    let mut order = Vec::new();
    let mut reach = |word: i64, order: &mut Vec<usize>| {
        if let Ok(object) = usize::try_from(word - 1)
            && !marks[object]
        {
            marks[object] = true;
            order.push(object);
        }
    };
    for (_, word, is_reference) in space.shared_words(flat) {
        if is_reference {
            reach(word, &mut order);
        }
    }
    let mut next = 0;
    while next < order.len() {
        for (_, word, is_reference) in space.object_words(flat, order[next]).1 {
            if is_reference {
                reach(word, &mut order);
            }
        }
        next += 1;
    }
    order
}

/// Writes the labels of the update steps of one run.
pub struct Labels {
    /// What was reachable when the run began.
    known: Vec<bool>,
    /// The objects that labels have mentioned and that were not, in order.
    new: Vec<usize>,
}

impl Labels {
    /// For a run that begins in this state.
    pub fn new(space: &Space, flat: &Flat) -> Labels {
        let mut known = vec![false; space.objects(flat)];
        for object in reachable(space, flat) {
            known[object] = true;
        }
        Labels { known, new: Vec::new() }
    }

    /// What a step has changed in the shared state; empty if it is no update step.
    pub fn of_step(&mut self, space: &Space, before: &Flat, after: &Flat) -> Vec<Term> {
        let mut label = Vec::new();
        if before.words == after.words {
            return label;
        }
        let told = self.new.len();
        let changed =
            |((at, old, _), (_, new, is_reference)): ((usize, i64, bool), (usize, i64, bool))| {
                (old != new).then_some((at, new, is_reference))
            };
        let shared = space.shared_words(before).zip(space.shared_words(after));
        for (at, word, is_reference) in shared.filter_map(changed) {
            label.push(Term::Plain(-1));
            label.push(Term::Plain(at as i64));
            label.push(self.term(word, is_reference));
        }
        if changes_heap(space, before, after) {
            for object in reachable(space, before) {
                let (_, old) = space.object_words(before, object);
                let (_, new) = space.object_words(after, object);
                for (at, word, is_reference) in old.zip(new).filter_map(changed) {
                    label.push(self.object(object));
                    label.push(Term::Plain(at as i64));
                    label.push(self.term(word, is_reference));
                }
            }
        }
        if label.is_empty() {
            return label;
        }
        let mut next = told;
        while next < self.new.len() {
            let (head, words) = space.object_words(after, self.new[next]);
            label.push(Term::Plain(head));
            let words: SmallVec<[(usize, i64, bool); 8]> = words.collect();
            for (_, word, is_reference) in words {
                let term = self.term(word, is_reference);
                label.push(term);
            }
            next += 1;
        }
        label
    }

    fn term(&mut self, word: i64, is_reference: bool) -> Term {
        match usize::try_from(word - 1) {
            Ok(object) if is_reference => self.object(object),
            _ => Term::Plain(word),
        }
    }

    fn object(&mut self, object: usize) -> Term {
        if self.known.get(object).copied().unwrap_or(false) {
            return Term::Object(object as u32);
        }
        let number = self.new.iter().position(|other| *other == object).unwrap_or_else(|| {
            self.new.push(object);
            self.new.len() - 1
        });
        Term::New(number as u32)
    }
}

type Word = (usize, i64, bool);

fn differs(((_, old, _), (_, new, _)): (Word, Word)) -> bool {
    old != new
}

fn changes_object(space: &Space, before: &Flat, after: &Flat, object: usize) -> bool {
    let (_, old) = space.object_words(before, object);
    let (_, new) = space.object_words(after, object);
    old.zip(new).any(differs)
}

/// Whether a transition changes an object, reachable or not.
pub fn changes_heap(space: &Space, before: &Flat, after: &Flat) -> bool {
    (0..space.objects(before)).any(|object| changes_object(space, before, after, object))
}

/// Whether a transition changes the shared state: it is an update step.
pub fn is_update(space: &Space, before: &Flat, after: &Flat) -> bool {
    if space.shared_words(before).zip(space.shared_words(after)).any(differs) {
        return true;
    }
    let changes = |object: usize| changes_object(space, before, after, object);
    changes_heap(space, before, after) && reachable(space, before).into_iter().any(changes)
}
