//! All ways of a thread through an attempt: what it may do before it has an effect, whatever other
//! threads do meanwhile.
//!
//! They are gone along with what lasts: the thread's own locals, what never changes any more
//! (`settled.rs`), and that a shared variable never holds some object again (`private.rs`). Where a
//! way depends on anything else, both ways are gone along. Two questions are asked like that:
//! whether an attempt is bound to have no effect (`doomed.rs`), and whether its effect validates
//! what it has read (`validated.rs`).
//!
//! Where claimed points count, none may be on any way: each stays where it is among the points of
//! others.

use crate::code::{Act, Address, Base, Class, Code, Fork, Goal, Mark, Op};
use crate::flat::Flat;
use crate::known::{Region, Word};
use crate::reach::Reach;
use crate::settled::Forward;
use crate::space::Space;
use crate::successors::Successors;
use smallvec::SmallVec;

/// So many nodes are gone along.
pub(crate) const MAX_NODES: usize = 32;

/// And so many forks.
const MAX_FORKS: usize = 256;

/// Shared words that an attempt has read, and what it found there.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    pub at: usize,
    pub object: Option<usize>,
    pub words: Held,
}

/// What a few words hold: an integer, a reference, a small record.
type Held = SmallVec<[i64; 2]>;

impl Cell {
    /// Whether some words overlap with it.
    fn meets(&self, at: usize, width: usize) -> bool {
        at < self.at + self.words.len() && self.at < at + width
    }
}

/// A way, as far as it was gone along.
#[derive(Clone, Debug)]
pub(crate) struct Way {
    pub words: Region,
    /// What was read that may change: only where the question is whether it is validated, as all
    /// that follows.
    cells: SmallVec<[Cell; 2]>,
    /// The words of objects of its own that the thread has written.
    written: SmallVec<[usize; 2]>,
    /// Whether a thread that made all its steps at the moment of the effect might go another way,
    /// or hold something else. INVARIANT: it is set where some word became unknown.
    strayed: bool,
    /// Whether its first step is made: that one is made now, not at some time.
    now: bool,
}

impl Way {
    /// Boxed: it is large, and handed on from node to node.
    pub fn new(words: Region) -> Box<Way> {
        let (cells, written) = Default::default();
        Box::new(Way { words, cells, written, strayed: false, now: true })
    }

    /// Whether the thread has written one of some words.
    fn has_written(&self, at: usize, width: usize) -> bool {
        self.written.iter().any(|written| (at..at + width).contains(written))
    }

    /// Whether some word is known as little as this.
    fn has(&self, is: impl Fn(&Word) -> bool) -> bool {
        self.words.iter().any(is)
    }
}

/// What is asked of all ways.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Aim {
    /// Whether they have no effect and end at the same node: the one where all ended so far.
    Doomed { end: Option<usize> },
    /// Whether they have no effect and end at this node, or have one that validates what was read.
    Validated { home: usize },
}

/// The answer is no, as far as can be told.
pub(crate) struct Not;

/// Whether an act can be performed.
enum Can {
    Yes,
    No,
    Perhaps,
    /// In two ways, this being the second.
    Twice(Box<Way>),
}

/// A look at all ways on of a thread until it has no effect any more.
pub(crate) struct Attempt<'a, 's, 'f> {
    pub of: &'a mut Successors<'s>,
    pub flat: &'f Flat,
    pub thread: usize,
    pub operation: usize,
    /// Who reaches what in the state.
    pub reach: &'f mut Reach,
    /// The words at the start.
    pub start: Region,
    nodes: usize,
    forks: usize,
    pub aim: Aim,
    /// The edges that were gone along.
    pub edges: SmallVec<[(u32, u32); 8]>,
}

impl<'a, 's, 'f> Attempt<'a, 's, 'f> {
    /// A look at a state of which nothing was asked yet but by `reach`.
    pub fn new(
        of: &'a mut Successors<'s>,
        flat: &'f Flat,
        thread: usize,
        (operation, node): (usize, usize),
        reach: &'f mut Reach,
        aim: Aim,
    ) -> Attempt<'a, 's, 'f> {
        let layout = &of.space.form.layout;
        let region = layout.thread(thread);
        // What a dead word holds must make no difference.
        let mut start: Region = SmallVec::from_elem(Word::Dead, layout.region);
        let live = of.space.form.live[operation][node].iter().map(|(word, _)| *word);
        for word in (0..layout.locals_at).chain(live) {
            start[word] = Word::Is(flat.words[region + word]);
        }
        let edges = SmallVec::new();
        Attempt { of, flat, thread, operation, reach, start, nodes: 0, forks: 0, aim, edges }
    }

    /// Goes along all ways on from a node.
    pub fn node(&mut self, node: usize, way: Box<Way>) -> Result<(), Not> {
        self.nodes += 1;
        if self.nodes > MAX_NODES {
            return Err(Not);
        }
        let space: &'s Space = self.of.space;
        self.forks(node, &space.routines[self.operation].nodes[node].forks, way)
    }

    /// As [`Execution::take`](crate::execute::Execution) does, with what is known.
    fn forks(&mut self, node: usize, forks: &'s [Fork], way: Box<Way>) -> Result<(), Not> {
        if let Some((last, others)) = forks.split_last() {
            for fork in others {
                if self.enter(node, fork, 0, way.clone())? {
                    return Ok(());
                }
            }
            if self.enter(node, last, 0, way)? {
                return Ok(());
            }
        }
        match self.must_go_on() && !is_complete(forks) {
            true => Err(Not),
            false => Ok(()),
        }
    }

    /// Goes along a fork from one of its acts on, as far as the acts may be performed; whether it
    /// is certain that no other fork is entered. Where an act after the first cannot be performed,
    /// the thread waits.
    fn enter(
        &mut self,
        node: usize,
        fork: &'s Fork,
        from: usize,
        mut way: Box<Way>,
    ) -> Result<bool, Not> {
        // Ways may part many times in one step.
        self.forks += 1;
        if self.forks > MAX_FORKS {
            return Err(Not);
        }
        let mut certain = true;
        for (number, act) in fork.acts.iter().enumerate().skip(from) {
            if !fork.points.is_empty() {
                self.pass(fork, number, &way)?;
            }
            match self.perform(act, &mut way)? {
                Can::Yes => {}
                Can::Perhaps | Can::No if number > 0 && self.must_go_on() => return Err(Not),
                Can::Perhaps => certain &= number > 0,
                Can::No => return Ok(certain && number > 0),
                Can::Twice(other) => _ = self.enter(node, fork, number + 1, other)?,
            }
        }
        self.pass(fork, fork.acts.len(), &way)?;
        match fork.then.is_empty() {
            true => self.goal(node, fork.edge, way)?,
            false => self.forks(node, &fork.then, way)?,
        }
        Ok(certain)
    }

    /// Whether a thread must not wait on its way: others may wait for it.
    fn must_go_on(&self) -> bool {
        matches!(self.aim, Aim::Validated { .. })
    }

    /// A claimed point must not go wrong; where it counts, it must be known to be none.
    fn pass(&mut self, fork: &Fork, number: usize, way: &Way) -> Result<(), Not> {
        for (_, mark) in fork.points.iter().filter(|(at, _)| *at == number) {
            let (Mark::When(value) | Mark::Returns { value, .. }) = mark;
            let value = self.value(value, &way.words)?;
            let is_none = matches!(mark, Mark::When(_)) && value.is_some_and(|value| value[0] == 0);
            if !(is_none || self.of.space.ignores_points) {
                return Err(Not);
            }
        }
        Ok(())
    }

    /// The end of an edge.
    fn goal(&mut self, node: usize, edge: usize, mut way: Box<Way>) -> Result<(), Not> {
        let space = self.of.space;
        let routine = &space.routines[self.operation];
        let Goal::Node(next) = routine.nodes[node].goals[edge] else { return Err(Not) };
        self.edges.push((node as u32, edge as u32));
        let live = &space.form.live[self.operation][next];
        let unchanged = live.iter().all(|(word, _)| way.words[*word] == self.start[*word]);
        let yields = routine.nodes[next].yields;
        match &mut self.aim {
            Aim::Doomed { end } if unchanged && yields => match *end {
                Some(end) if end != next => return Err(Not),
                _ => {
                    *end = Some(next);
                    return Ok(());
                }
            },
            Aim::Validated { home } if unchanged && yields && *home == next => return Ok(()),
            Aim::Doomed { .. } => {}
            Aim::Validated { .. } => {
                way.now &= !yields;
                // What is live stands in the order of the words.
                let mut from = space.form.layout.locals_at;
                for (word, _) in live {
                    way.words[from..*word].fill(Word::Dead);
                    from = *word + 1;
                }
                way.words[from..].fill(Word::Dead);
            }
        }
        self.node(next, way)
    }

    fn perform(&mut self, act: &Act, way: &mut Way) -> Result<Can, Not> {
        match act {
            Act::Guard(condition) => {
                return Ok(match self.scalar(condition, &way.words)? {
                    None => {
                        self.suppose(condition, way)?;
                        Can::Perhaps
                    }
                    Some(0) => Can::No,
                    Some(_) => Can::Yes,
                });
            }
            Act::Assert(condition) => {
                if self.scalar(condition, &way.words)?.is_none_or(|holds| holds == 0) {
                    return Err(Not);
                }
            }
            Act::Assign { at, value } if value.width == 1 => {
                let word = match value.op {
                    Op::Slot(from) => way.words[from],
                    _ => self.scalar(value, &way.words)?.map_or(Word::Unknown, Word::Is),
                };
                way.strayed |= word == Word::Unknown;
                self.set(*at, &[word], way)?;
            }
            Act::Assign { at, value } => {
                let value: Region = match (&value.op, self.value(value, &way.words)?) {
                    (Op::Slot(from), _) => {
                        SmallVec::from_slice(&way.words[*from..*from + value.width])
                    }
                    (_, Some(value)) => value.into_iter().map(Word::Is).collect(),
                    (_, None) => SmallVec::from_elem(Word::Unknown, value.width),
                };
                way.strayed |= value.contains(&Word::Unknown);
                self.set(*at, &value, way)?;
            }
            Act::Read { into, from } => {
                if into.at < self.of.space.form.layout.locals_at {
                    return Err(Not);
                }
                let mut other = self.read(from, way, into.at + usize::from(into.wrap))?;
                for way in [Some(&mut *way), other.as_mut()].into_iter().flatten() {
                    if into.wrap {
                        self.set(into.at, &[Word::Is(1)], way)?;
                    }
                }
                return Ok(other.map_or(Can::Yes, |other| Can::Twice(Box::new(other))));
            }
            Act::Cas { into, cells } => {
                let [(address, expected, new)] = &cells[..] else { return Err(Not) };
                self.fails(address, expected, new, way)?;
                self.set(*into, &[Word::Is(0)], way)?;
            }
            Act::Write { to, value } if self.must_go_on() => {
                self.write(to, value, way)?;
            }
            _ => return Err(Not),
        }
        Ok(Can::Yes)
    }

    /// A `cas` that fails: because it always does, or because the other way is an effect that
    /// validates what was read.
    fn fails(
        &mut self,
        address: &Address,
        expected: &Code,
        new: &Code,
        way: &mut Way,
    ) -> Result<(), Not> {
        self.value(new, &way.words)?;
        let expected = self.value(expected, &way.words)?.ok_or(Not)?;
        let (object, at) = self.place(address, &way.words)?;
        // What the thread has written itself is not in the state that is looked at. And where it
        // swaps words of its own, others do not notice the effect: the attempt would go on.
        if self.must_go_on()
            && (way.has_written(at, address.width)
                || object.is_some_and(|object| !self.is_beyond(object)))
        {
            return Err(Not);
        }
        if way.cells.iter().any(|cell| cell.at == at && cell.words[..] == expected[..]) {
            let effect = Cell { at, object, words: Held::from_slice(&expected) };
            return match self.is_validated(&effect, way) {
                true => {
                    // A thread that begins now would have its effect at the first `cas`.
                    way.strayed = true;
                    Ok(())
                }
                false => Err(Not),
            };
        }
        // A `cas` of several words at once is left alone.
        match address.width == 1 && self.always_fails(address, expected[0], &way.words)? {
            true => Ok(()),
            false => Err(Not),
        }
    }

    /// Whether all that was read is still there when a `cas` of some words succeeds, so that a
    /// thread that makes all its steps at that moment goes the same way, to the same effect.
    fn is_validated(&self, effect: &Cell, way: &Way) -> bool {
        let is_same = |word: &Word| !matches!(word, Word::Again(_) | Word::Unknown);
        let still = |cell: &Cell| cell.at == effect.at || self.is_at_end(cell, effect);
        !way.now && !way.strayed && way.words.iter().all(is_same) && way.cells.iter().all(still)
    }

    /// Whether a shared variable still holds the object that was read from it if a `cas` succeeds
    /// that expects the object to lead nowhere: the variable only moves forward along that field,
    /// to what the field of its object holds then, and for ever.
    fn is_at_end(&self, cell: &Cell, effect: &Cell) -> bool {
        let Some(lasting) = &self.of.space.lasting else { return false };
        let layout = &self.of.space.form.layout;
        let Some(object) = effect.object else { return false };
        let Some(field) = effect.at.checked_sub(layout.object(object)) else { return false };
        let along = Forward { variable: cell.at, field };
        cell.object.is_none()
            && cell.words[..] == [object as i64 + 1]
            && effect.words[..] == [0]
            && lasting.forward.contains(&along)
    }

    /// What follows if a condition holds of which it is not known: INVARIANT: each way on that has a
    /// condition begins with it as a guard, and so has the other way. A thread that makes all its
    /// steps at the moment of the effect finds what it reads again as it was.
    fn suppose(&mut self, condition: &Code, way: &mut Way) -> Result<(), Not> {
        if !way.has(|word| matches!(word, Word::Again(_))) {
            return Ok(());
        }
        let same = |word: &Word| match *word {
            Word::Again(word) => Word::Is(word),
            word => word,
        };
        let words: Region = way.words.iter().map(same).collect();
        way.strayed |= self.scalar(condition, &words)?.is_none_or(|holds| holds == 0);
        Ok(())
    }

    /// Whether another thread can reach an object.
    fn is_beyond(&mut self, object: usize) -> bool {
        self.reach.beyond(self.of.space, self.flat, self.thread, object)
    }

    /// Writes to an object that no other thread can reach, what did not matter at the start.
    fn write(&mut self, address: &Address, value: &Code, way: &mut Way) -> Result<(), Not> {
        if self.value(value, &way.words)?.is_none() {
            way.strayed |= way.has(|word| matches!(word, Word::Again(_)));
        }
        let (object, at) = self.place(address, &way.words)?;
        let Some(object) = object else { return Err(Not) };
        if address.part != address.width || self.is_beyond(object) {
            return Err(Not);
        }
        let first = at - self.of.space.form.layout.object(object) - 1;
        let needed = self.of.needed_words(self.flat, object).ok_or(Not)?;
        let matters = |word: usize| needed.checked_shr(word as u32).unwrap_or(0) & 1 == 1;
        if (first..first + address.width).any(matters) {
            return Err(Not);
        }
        way.written.extend(at..at + address.width);
        Ok(())
    }

    /// Sets locals. What a thread keeps between its operations is not changed in an attempt.
    fn set(&self, at: usize, value: &[Word], way: &mut Way) -> Result<(), Not> {
        if at < self.of.space.form.layout.locals_at {
            return Err(Not);
        }
        way.words[at..at + value.len()].copy_from_slice(value);
        Ok(())
    }

    /// The object and the first word of an address, from the start of the state.
    fn place(&mut self, address: &Address, words: &Region) -> Result<(Option<usize>, usize), Not> {
        let layout = &self.of.space.form.layout;
        let (object, start) = match &address.base {
            Base::Shared(at) => (None, *at),
            Base::Object { object, of, at } => {
                // Only `null` goes wrong in collected memory.
                let object = self.scalar(object, words)?.ok_or(Not)?;
                let object = usize::try_from(object - 1).map_err(|_| Not)?;
                let start = layout.object(object);
                if self.flat.words.get(start) != Some(&(1 + *of as i64)) {
                    return Err(Not);
                }
                (Some(object), start + at)
            }
        };
        let Some((index, length)) = &address.element else { return Ok((object, start)) };
        let index = self.scalar(index, words)?.ok_or(Not)?;
        let index = usize::try_from(index).ok().filter(|index| index < length).ok_or(Not)?;
        Ok((object, start + index * address.width))
    }

    /// Puts into locals what is read, now or later. The second way, if there are two.
    fn read(&mut self, address: &Address, way: &mut Way, into: usize) -> Result<Option<Way>, Not> {
        let (object, at) = self.place(address, &way.words)?;
        let (class, width) = (address.class, address.width);
        if way.has_written(at, width) {
            return Err(Not);
        }
        let found = self.flat.words.get(at..at + width).ok_or(Not)?;
        let written = &self.of.space.privacy.written[self.thread];
        let lasts = written.binary_search(&class).is_err()
            || self.of.settled_word(self.flat, class, object).is_some();
        let to = into..into + width;
        match (class, self.aim) {
            _ if lasts => put(&mut way.words[to], found, Word::Is),
            (_, Aim::Validated { .. }) => {
                return self.read_cell(address, (object, at), way, to.start);
            }
            (Class::Shared(variable), _) if width == 1 && address.element.is_none() => {
                way.words[into] = Word::ReadFrom(variable);
            }
            _ => way.words[to].fill(Word::Unknown),
        }
        Ok(None)
    }

    /// Puts into locals what is read from words that may change. The second way, if there are two.
    fn read_cell(
        &mut self,
        address: &Address,
        (object, at): (Option<usize>, usize),
        way: &mut Way,
        into: usize,
    ) -> Result<Option<Way>, Not> {
        let width = address.width;
        let found = &self.flat.words[at..at + width];
        let to = into..into + width;
        if let Some(cell) = way.cells.iter().find(|cell| cell.meets(at, width)) {
            if cell.at != at || cell.words.len() != width {
                return Err(Not);
            }
            let again: fn(i64) -> Word = if way.now { Word::Is } else { Word::Again };
            put(&mut way.words[to], &cell.words, again);
            return Ok(None);
        }
        let is_once = address.element.is_none()
            && self.of.space.privacy.once.binary_search(&address.class).is_ok();
        if !way.now && !is_once {
            way.words[to].fill(Word::Unknown);
            way.strayed = true;
            return Ok(None);
        }
        // Later, what is write-once is as it is now, or has its last value.
        let mut other = (!way.now).then(|| way.clone());
        if let Some(other) = &mut other {
            other.words[to.clone()].fill(Word::Settled);
        }
        put(&mut way.words[to], found, Word::Is);
        way.cells.push(Cell { at, object, words: Held::from_slice(found) });
        Ok(other)
    }

    /// Whether a `cas` fails, now and later.
    fn always_fails(
        &mut self,
        address: &Address,
        expected: i64,
        words: &Region,
    ) -> Result<bool, Not> {
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
}

/// Whether one of some forks can be entered, whatever holds, as far as their form shows.
fn is_complete(forks: &[Fork]) -> bool {
    let [one, other] = forks else { return false };
    match (one.acts.first(), other.acts.first()) {
        (Some(Act::Guard(one)), Some(Act::Guard(other))) => one.is_opposite(other),
        _ => false,
    }
}

fn put(to: &mut [Word], from: &[i64], known: impl Fn(i64) -> Word) {
    for (to, from) in to.iter_mut().zip(from) {
        *to = known(*from);
    }
}
