//! Attempts that are bound to have no effect, taken to their end at once.
//!
//! A thread is in a *doomed* attempt if, whatever other threads do, all its steps until a node of
//! its operation, always the same one, write nothing, cannot go wrong and change none of the locals
//! that are live there. Typically it has read a shared variable, will compare it with what it read
//! or swap it, and the variable never holds that again: then it begins its loop once more.
//!
//! **Why taking it to that node at once is exact.** Let `s` be the state and `t` the one in which
//! the thread is at that node: they differ in nothing else, for the attempt writes nothing. `t` is
//! reached from `s`, by the steps of this thread alone. And every run from `s` has one from `t` with
//! the same events and no more steps: leave out the steps of the attempt, which no other thread can
//! notice; when it is over in the one run, both runs are in the same state. If it is never over, the
//! thread just stays where it is. So what goes wrong from `s` goes wrong from `t`, as soon; an
//! operation that can return from the one can from the other; and each counterexample is a run of
//! the model, because the steps are really made.
//!
//! Whether an attempt is doomed is found by going along all its ways with what lasts: its own
//! locals, what never changes any more (`settled.rs`), and that a shared variable never holds some
//! object again (`private.rs`). Where a way depends on anything else, both ways are gone along.
//! Claimed points are not looked at, so this is not for the search that uses them.

use crate::code::{Act, Address, Base, Class, Code, Fork, Goal, Mark, Op, Routine};
use crate::execute::{Ended, Trail, Words};
use crate::flat::Flat;
use crate::layout::{Kind, Layout, NODE};
use crate::reach::Reach;
use crate::space::Space;
use crate::successors::Successors;
use linchpin_ir::program::BinaryOp;
use smallvec::SmallVec;

/// So many nodes are gone along to find out whether an attempt is doomed.
const MAX_NODES: usize = 32;

/// Where to look whether an attempt of an operation may be doomed: for most states, a look there
/// shows that it is not.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hints {
    /// A shared word, and a word of the region that it is compared with.
    compared: Vec<(usize, usize)>,
    /// A word of the region with an object, and a write-once word of the object that a `cas` is
    /// made on.
    swapped: Vec<(usize, usize)>,
}

impl Hints {
    /// `once`: the classes that are write-once.
    pub fn of(routine: &Routine, layout: &Layout, once: &[Class]) -> Hints {
        let mut hints = Hints::default();
        let mut acts = Vec::new();
        let mut forks: Vec<&Fork> = routine.nodes.iter().flat_map(|node| &node.forks).collect();
        while let Some(fork) = forks.pop() {
            acts.extend(&fork.acts);
            forks.extend(&fork.then);
        }
        // The shared words that are read, and where they are read to.
        let copies = acts.iter().filter_map(|act| match act {
            Act::Read { into, from: Address { base: Base::Shared(at), element: None, .. } } => {
                Some((*at, into.at))
            }
            _ => None,
        });
        let copies: Vec<(usize, usize)> = copies.collect();
        for act in &acts {
            match act {
                Act::Cas { cells, .. } => {
                    for (address, expected, _) in cells {
                        hints.swaps(address, expected, once);
                    }
                }
                Act::Guard(condition) => hints.compares(condition, &copies),
                _ => {}
            }
        }
        let is_reference = |word: usize| layout.shared_kinds[word] == Kind::Ref;
        hints.compared.retain(|(word, _)| is_reference(*word));
        for pairs in [&mut hints.compared, &mut hints.swapped] {
            pairs.sort_unstable();
            pairs.dedup();
        }
        hints
    }

    /// Notes a `cas`.
    fn swaps(&mut self, address: &Address, expected: &Code, once: &[Class]) {
        match (&address.base, &expected.op) {
            (Base::Shared(at), Op::Slot(slot)) => self.compared.push((*at, *slot)),
            (Base::Object { object: Code { op: Op::Slot(slot), .. }, at, .. }, _)
                if once.binary_search(&address.class).is_ok() =>
            {
                self.swapped.push((*slot, *at));
            }
            _ => {}
        }
    }

    /// Notes the comparisons of a condition with what was read from a shared word.
    fn compares(&mut self, condition: &Code, copies: &[(usize, usize)]) {
        match &condition.op {
            Op::Not(inner) => self.compares(inner, copies),
            Op::And(left, right) | Op::Or(left, right) => {
                self.compares(left, copies);
                self.compares(right, copies);
            }
            Op::Equal { left, right, .. } => {
                if let (Op::Slot(left), Op::Slot(right)) = (&left.op, &right.op) {
                    for (word, copy) in copies {
                        for (one, other) in [(left, right), (right, left)] {
                            if copy == one {
                                self.compared.push((*word, *other));
                            }
                        }
                    }
                }
            }
            _ => {}
        }
    }

    /// Those that concern live words: what a dead word holds must make no difference, because it
    /// is not kept.
    pub fn among(&self, live: &[(usize, Kind)]) -> Hints {
        let is_live = |slot: usize| live.iter().any(|(word, _)| *word == slot);
        let mut hints = self.clone();
        hints.compared.retain(|(_, slot)| is_live(*slot));
        hints.swapped.retain(|(slot, _)| is_live(*slot));
        hints
    }

    /// Whether an attempt of a thread in this state may be doomed.
    fn apply(&self, words: &[i64], region: usize, layout: &Layout) -> bool {
        let compared = |(shared, slot): &(usize, usize)| {
            let word = words[region + slot];
            word > 0 && words[*shared] != word
        };
        let swapped = |(slot, at): &(usize, usize)| {
            let object = usize::try_from(words[region + slot] - 1).ok();
            let word = object.and_then(|object| words.get(layout.object(object) + at));
            word.is_some_and(|word| *word != 0)
        };
        self.compared.iter().any(compared) || self.swapped.iter().any(swapped)
    }
}

/// What is known about a word of the region of a thread on its way through an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Word {
    /// It holds this.
    Is(i64),
    /// It was read from this shared variable, at some time.
    ReadFrom(usize),
    /// Nothing.
    Unknown,
    /// It is dead, and nothing was put there yet.
    Dead,
}

/// The words of the region of a thread, from its start.
type Region = SmallVec<[Word; 24]>;

/// The attempt is not doomed, as far as can be told.
struct NotDoomed;

/// Whether an act can be performed.
enum Can {
    Yes,
    No,
    Perhaps,
}

/// A look at all ways on of a thread until it has no effect any more.
struct Attempt<'a, 's, 'f> {
    of: &'a mut Successors<'s>,
    flat: &'f Flat,
    thread: usize,
    operation: usize,
    /// Who reaches what in the state.
    reach: &'f mut Reach,
    /// The words at the start.
    start: Region,
    nodes: usize,
    /// The node where all ways end that were gone along so far.
    end: Option<usize>,
    /// The edges that were gone along.
    edges: SmallVec<[(u32, u32); 8]>,
}

impl Successors<'_> {
    /// Whether a look at a state leaves it open that an attempt of a thread is doomed.
    pub fn may_be_doomed(&self, flat: &Flat, thread: usize, operation: usize, node: usize) -> bool {
        let layout = &self.space.form.layout;
        self.space.lasting.as_ref().is_some_and(|lasting| {
            lasting.hints[operation][node].apply(&flat.words, layout.thread(thread), layout)
        })
    }

    /// Takes a thread to the end of its attempt, if that is doomed; the state then, and by how many
    /// steps. The state is one without dead fields: what is not needed any more must not keep an
    /// object from being out of reach.
    pub fn end_attempt(
        &mut self,
        flat: &Flat,
        thread: usize,
        (operation, node): (usize, usize),
        reach: &mut Reach,
    ) -> Option<(Box<Flat>, usize)> {
        let space = self.space;
        let layout = &space.form.layout;
        let region = layout.thread(thread);
        // What a dead word holds must make no difference.
        let mut start: Region = SmallVec::from_elem(Word::Dead, layout.region);
        let live = space.form.live[operation][node].iter().map(|(word, _)| *word);
        for word in (0..layout.locals_at).chain(live) {
            start[word] = Word::Is(flat.words[region + word]);
        }
        let mut attempt = Attempt {
            of: &mut *self,
            flat,
            thread,
            operation,
            reach,
            start: SmallVec::from_slice(&start),
            nodes: 0,
            end: None,
            edges: SmallVec::new(),
        };
        attempt.node(node, &start).ok()?;
        let (end, edges) = (attempt.end?, attempt.edges);
        if end == node {
            return None;
        }
        let mut next = self.copy(flat);
        let Some(steps) = self.run_to(&mut next, thread, operation, node, end) else {
            self.workspace.pool.push(next);
            return None;
        };
        space.coverage.may_go_along(operation, &edges);
        Some((next, steps))
    }

    /// Makes the steps of a doomed attempt.
    fn run_to(
        &mut self,
        next: &mut Flat,
        thread: usize,
        operation: usize,
        node: usize,
        end: usize,
    ) -> Option<usize> {
        let form = &self.space.form;
        let region = form.layout.thread(thread);
        let live = &form.live[operation][end];
        let kept: Words = live.iter().map(|(word, _)| next.words[region + word]).collect();
        let mut trail: Box<Trail> = self.workspace.trails.pop().unwrap_or_default();
        let mut paths: SmallVec<[(u32, u32); 8]> = SmallVec::new();
        let mut at = node;
        let mut made = None;
        for steps in 1..=MAX_NODES {
            match self.execute(next, thread, operation, at, &[], &mut trail) {
                Ended::Yielded(to) => at = to,
                // It waits for something: then it stays where it is.
                Ended::Returned | Ended::Refused | Ended::Faulted => break,
            }
            paths.extend_from_slice(&trail.path);
            let same =
                live.iter().zip(&kept).all(|((word, _), kept)| next.words[region + word] == *kept);
            if at == end && same {
                next.words[region + NODE] = at as i64;
                self.space.coverage.went_along(operation, &paths);
                made = Some(steps);
                break;
            }
        }
        self.workspace.trails.push(trail);
        made
    }
}

impl<'s> Attempt<'_, 's, '_> {
    /// Goes along all ways on from a node.
    fn node(&mut self, node: usize, words: &Region) -> Result<(), NotDoomed> {
        self.nodes += 1;
        if self.nodes > MAX_NODES {
            return Err(NotDoomed);
        }
        let space: &'s Space = self.of.space;
        self.forks(node, &space.routines[self.operation].nodes[node].forks, words)
    }

    /// As [`Execution::take`](crate::execute::Execution) does, with what is known.
    fn forks(&mut self, node: usize, forks: &'s [Fork], words: &Region) -> Result<(), NotDoomed> {
        for fork in forks {
            let mut after = Region::from_slice(words);
            let (entered, certain) = self.enter(fork, &mut after)?;
            if entered {
                match fork.then.is_empty() {
                    true => self.goal(node, fork.edge, &after)?,
                    false => self.forks(node, &fork.then, &after)?,
                }
            }
            if certain {
                break;
            }
        }
        Ok(())
    }

    /// Whether the acts of a fork may be performed, and whether it is certain that no other fork is
    /// entered. Where an act after the first cannot be performed, the thread waits.
    fn enter(&mut self, fork: &Fork, words: &mut Region) -> Result<(bool, bool), NotDoomed> {
        let mut certain = true;
        for (number, act) in fork.acts.iter().enumerate() {
            if !fork.points.is_empty() {
                self.pass(fork, number, words)?;
            }
            match self.perform(act, words)? {
                Can::Yes => {}
                Can::Perhaps => certain &= number > 0,
                Can::No => return Ok((false, certain && number > 0)),
            }
        }
        self.pass(fork, fork.acts.len(), words)?;
        Ok((true, certain))
    }

    /// A claimed point must not go wrong.
    fn pass(&mut self, fork: &Fork, number: usize, words: &Region) -> Result<(), NotDoomed> {
        for (_, mark) in fork.points.iter().filter(|(at, _)| *at == number) {
            let (Mark::When(value) | Mark::Returns { value, .. }) = mark;
            self.value(value, words)?;
        }
        Ok(())
    }

    /// The end of an edge.
    fn goal(&mut self, node: usize, edge: usize, words: &Region) -> Result<(), NotDoomed> {
        let space = self.of.space;
        let routine = &space.routines[self.operation];
        let Goal::Node(next) = routine.nodes[node].goals[edge] else { return Err(NotDoomed) };
        self.edges.push((node as u32, edge as u32));
        let live = &space.form.live[self.operation][next];
        let unchanged = live.iter().all(|(word, _)| words[*word] == self.start[*word]);
        if !(unchanged && routine.nodes[next].yields) {
            return self.node(next, words);
        }
        match self.end {
            Some(end) if end != next => Err(NotDoomed),
            _ => {
                self.end = Some(next);
                Ok(())
            }
        }
    }

    fn perform(&mut self, act: &Act, words: &mut Region) -> Result<Can, NotDoomed> {
        match act {
            Act::Guard(condition) => {
                return Ok(match self.scalar(condition, words)? {
                    None => Can::Perhaps,
                    Some(0) => Can::No,
                    Some(_) => Can::Yes,
                });
            }
            Act::Assert(condition) => {
                if self.scalar(condition, words)?.is_none_or(|holds| holds == 0) {
                    return Err(NotDoomed);
                }
            }
            Act::Assign { at, value } if value.width == 1 => {
                let word = match value.op {
                    Op::Slot(from) => words[from],
                    _ => self.scalar(value, words)?.map_or(Word::Unknown, Word::Is),
                };
                self.set(*at, &[word], words)?;
            }
            Act::Assign { at, value } => {
                let value: Region = match (&value.op, self.value(value, words)?) {
                    (Op::Slot(from), _) => SmallVec::from_slice(&words[*from..*from + value.width]),
                    (_, Some(value)) => value.into_iter().map(Word::Is).collect(),
                    (_, None) => SmallVec::from_elem(Word::Unknown, value.width),
                };
                self.set(*at, &value, words)?;
            }
            Act::Read { into, from } => {
                if into.at < self.of.space.form.layout.locals_at {
                    return Err(NotDoomed);
                }
                self.read(from, words, into.at + usize::from(into.wrap))?;
                if into.wrap {
                    self.set(into.at, &[Word::Is(1)], words)?;
                }
            }
            Act::Cas { into, cells } => {
                let [(address, expected, new)] = &cells[..] else { return Err(NotDoomed) };
                // A `cas` of several words at once is left alone.
                if address.width != 1 {
                    return Err(NotDoomed);
                }
                self.scalar(new, words)?;
                let expected = self.scalar(expected, words)?.ok_or(NotDoomed)?;
                if !self.always_fails(address, expected, words)? {
                    return Err(NotDoomed);
                }
                self.set(*into, &[Word::Is(0)], words)?;
            }
            _ => return Err(NotDoomed),
        }
        Ok(Can::Yes)
    }

    /// Sets locals. What a thread keeps between its operations is not changed in an attempt.
    fn set(&self, at: usize, value: &[Word], words: &mut Region) -> Result<(), NotDoomed> {
        if at < self.of.space.form.layout.locals_at {
            return Err(NotDoomed);
        }
        words[at..at + value.len()].copy_from_slice(value);
        Ok(())
    }

    /// The object and the first word of an address, from the start of the state.
    fn place(
        &mut self,
        address: &Address,
        words: &Region,
    ) -> Result<(Option<usize>, usize), NotDoomed> {
        let layout = &self.of.space.form.layout;
        let (object, start) = match &address.base {
            Base::Shared(at) => (None, *at),
            Base::Object { object, of, at } => {
                // Only `null` goes wrong in collected memory.
                let object = self.scalar(object, words)?.ok_or(NotDoomed)?;
                let object = usize::try_from(object - 1).map_err(|_| NotDoomed)?;
                let start = layout.object(object);
                if self.flat.words.get(start) != Some(&(1 + *of as i64)) {
                    return Err(NotDoomed);
                }
                (Some(object), start + at)
            }
        };
        let Some((index, length)) = &address.element else { return Ok((object, start)) };
        let index = self.scalar(index, words)?.ok_or(NotDoomed)?;
        let index = usize::try_from(index).ok().filter(|index| index < length).ok_or(NotDoomed)?;
        Ok((object, start + index * address.width))
    }

    /// Puts into locals what is read, now or later.
    fn read(
        &mut self,
        address: &Address,
        words: &mut Region,
        into: usize,
    ) -> Result<(), NotDoomed> {
        let (object, at) = self.place(address, words)?;
        let to = &mut words[into..into + address.width];
        let class = address.class;
        let written = &self.of.space.privacy.written[self.thread];
        let lasts = written.binary_search(&class).is_err()
            || self.of.settled_word(self.flat, class, object).is_some();
        match class {
            _ if lasts => {
                for (word, read) in to.iter_mut().zip(&self.flat.words[at..]) {
                    *word = Word::Is(*read);
                }
            }
            Class::Shared(variable) if address.width == 1 && address.element.is_none() => {
                to[0] = Word::ReadFrom(variable);
            }
            _ => to.fill(Word::Unknown),
        }
        Ok(())
    }

    /// Whether a `cas` fails, now and later.
    fn always_fails(
        &mut self,
        address: &Address,
        expected: i64,
        words: &Region,
    ) -> Result<bool, NotDoomed> {
        let (object, _) = self.place(address, words)?;
        if address.element.is_some() {
            return Ok(false);
        }
        if let Some(word) = self.of.settled_word(self.flat, address.class, object) {
            return Ok(word != expected);
        }
        Ok(match address.class {
            Class::Shared(variable) => self.never_again(variable, expected),
            Class::Field(..) => false,
        })
    }

    fn never_again(&mut self, variable: usize, value: i64) -> bool {
        self.of.never_again(self.flat, self.thread, variable, value, self.reach)
    }

    /// What an expression of one word comes to, if that is known. It must not go wrong.
    fn scalar(&mut self, code: &Code, words: &Region) -> Result<Option<i64>, NotDoomed> {
        let truth = |holds: bool| Some(i64::from(holds));
        Ok(match &code.op {
            Op::Const(words) => Some(words.first().copied().unwrap_or(0)),
            Op::Slot(at) => match words[*at] {
                Word::Is(word) => Some(word),
                Word::ReadFrom(_) | Word::Unknown | Word::Dead => None,
            },
            Op::Me => Some(self.thread as i64 + 1),
            Op::Not(inner) => self.scalar(inner, words)?.and_then(|word| truth(word == 0)),
            Op::And(left, right) => match (self.scalar(left, words)?, self.scalar(right, words)?) {
                (Some(0), _) | (_, Some(0)) => Some(0),
                (Some(_), Some(_)) => Some(1),
                _ => None,
            },
            Op::Or(left, right) => match (self.scalar(left, words)?, self.scalar(right, words)?) {
                (Some(0), Some(0)) => Some(0),
                (Some(word), _) | (_, Some(word)) if word != 0 => Some(1),
                _ => None,
            },
            Op::Equal { left, right, negated } => {
                self.equal(left, right, words)?.and_then(|same| truth(same != *negated))
            }
            Op::Compare(operator, left, right) => {
                let sides = (self.scalar(left, words)?, self.scalar(right, words)?);
                let (Some(left), Some(right)) = sides else { return Ok(None) };
                truth(compare(*operator, left, right))
            }
            Op::Part(..) | Op::List(_) | Op::Wrap(_) => {
                self.value(code, words)?.and_then(|words| words.first().copied())
            }
            _ => return Err(NotDoomed),
        })
    }

    /// Whether two values are the same, now or later.
    fn equal(
        &mut self,
        left: &Code,
        right: &Code,
        words: &Region,
    ) -> Result<Option<bool>, NotDoomed> {
        if left.width != 1 {
            let values = (self.value(left, words)?, self.value(right, words)?);
            return Ok(values.0.zip(values.1).map(|(left, right)| left == right));
        }
        let values = (self.scalar(left, words)?, self.scalar(right, words)?);
        let read_from = |code: &Code| match code.op {
            Op::Slot(at) => match words[at] {
                Word::ReadFrom(variable) => Some(variable),
                Word::Is(_) | Word::Unknown | Word::Dead => None,
            },
            _ => None,
        };
        let (variable, value) = match values {
            (Some(left), Some(right)) => return Ok(Some(left == right)),
            (Some(value), None) => (read_from(right), value),
            (None, Some(value)) => (read_from(left), value),
            (None, None) => return Ok(None),
        };
        let Some(variable) = variable else { return Ok(None) };
        Ok(self.never_again(variable, value).then_some(false))
    }

    /// What an expression comes to, if that is known. It must not go wrong.
    fn value(&mut self, code: &Code, words: &Region) -> Result<Option<Words>, NotDoomed> {
        let known = |words: &[Word]| {
            let word = |word: &Word| match word {
                Word::Is(word) => Some(*word),
                Word::ReadFrom(_) | Word::Unknown | Word::Dead => None,
            };
            words.iter().map(word).collect::<Option<Words>>()
        };
        Ok(match &code.op {
            Op::Const(words) => Some(Words::from_slice(words)),
            Op::Slot(at) => known(&words[*at..*at + code.width]),
            Op::Part(of, at) => match of.op {
                Op::Slot(from) => known(&words[from + at..from + at + code.width]),
                _ => {
                    let whole = self.value(of, words)?;
                    whole.map(|whole| Words::from_slice(&whole[*at..*at + code.width]))
                }
            },
            Op::List(items) => {
                let items: Result<Vec<Option<Words>>, NotDoomed> =
                    items.iter().map(|item| self.value(item, words)).collect();
                let items: Option<Vec<Words>> = items?.into_iter().collect();
                items.map(|items| items.into_iter().flatten().collect())
            }
            Op::Wrap(inner) => self.value(inner, words)?.map(|mut words| {
                words.insert(0, 1);
                words
            }),
            _ => self.scalar(code, words)?.map(|word| Words::from_slice(&[word])),
        })
    }
}

fn compare(operator: BinaryOp, left: i64, right: i64) -> bool {
    match operator {
        BinaryOp::Less => left < right,
        BinaryOp::LessEqual => left <= right,
        BinaryOp::Greater => left > right,
        _ => left >= right,
    }
}
