//! One step, on words. The mirror of the interpreter's `execution.rs`, `action.rs` and `access.rs`;
//! what goes wrong is only noticed here, the interpreter says what it was.

use crate::code::{Act, Address, Base, Class, Code, Fork, Goal, Into, Mark, Op, Routine};
use crate::flat::{Flat, Link};
use crate::layout::Layout;
use crate::lines::{LineId, Lines};
use linchpin_ir::interpreter::{MAX_CHOICES, MAX_EDGES, Memory, is_kept};
use linchpin_ir::program::BinaryOp;
use smallvec::SmallVec;

/// Something went wrong that the interpreter can explain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Wrong;

/// A few words.
pub(crate) type Words = SmallVec<[i64; 8]>;

/// How a run along the edges ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// At a node where others may run.
    Yielded(usize),
    /// With the return of the operation: [`Trail::answer`].
    Returned,
    /// It cannot be made.
    Refused,
    /// It went wrong.
    Faulted,
}

/// An access to shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Access {
    pub class: Class,
    /// The object; none for a shared variable.
    pub object: Option<usize>,
    pub write: bool,
    /// What a `cas` of one word expected there, if it was something else: nothing was written.
    pub refused: Option<i64>,
}

/// A linearization point passed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Passed {
    /// The operation takes effect here.
    Here,
    /// The operation takes effect here if it answers this before it passes this point again.
    IfReturns { number: usize, value: Words },
}

/// What a step did besides changing the state. It is used again for the next step.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trail {
    pub choices: Vec<u32>,
    pub arities: Vec<u32>,
    pub path: Vec<(u32, u32)>,
    pub accesses: Vec<Access>,
    pub passed: Vec<Passed>,
    /// What the operation answered, if it returned.
    pub answer: Words,
    /// Whether it made or freed an object.
    pub managed: bool,
    /// Whether the bound on objects refused it.
    pub bounded: bool,
    /// The lines of which a fence took images away.
    pub settled: Vec<LineId>,
}

impl Trail {
    pub fn clear(&mut self) {
        self.choices.clear();
        self.arities.clear();
        self.path.clear();
        self.accesses.clear();
        self.passed.clear();
        self.managed = false;
        self.bounded = false;
        self.settled.clear();
    }

    /// The choices to give next, like an odometer; `None` after the last.
    pub fn next_choices(&self) -> Option<SmallVec<[u32; 2]>> {
        let turn =
            (0..self.choices.len()).rev().find(|&i| self.choices[i] + 1 < self.arities[i])?;
        let mut next = SmallVec::from_slice(&self.choices[..=turn]);
        next[turn] += 1;
        Some(next)
    }
}

/// What an expression can see: the region of the thread, and its number.
#[derive(Clone, Copy)]
struct Env<'a> {
    region: &'a [i64],
    me: i64,
}

impl Env<'_> {
    fn scalar(&self, code: &Code) -> Result<i64, Wrong> {
        Ok(match &code.op {
            Op::Const(words) => words.first().copied().unwrap_or(0),
            Op::Slot(at) => self.region[*at],
            Op::Me => self.me,
            Op::Not(inner) => i64::from(self.scalar(inner)? == 0),
            Op::Negate(inner) => self.scalar(inner)?.checked_neg().ok_or(Wrong)?,
            Op::Arithmetic(operator, left, right) => {
                arithmetic(*operator, self.scalar(left)?, self.scalar(right)?)?
            }
            Op::Compare(operator, left, right) => {
                let (left, right) = (self.scalar(left)?, self.scalar(right)?);
                i64::from(match operator {
                    BinaryOp::Less => left < right,
                    BinaryOp::LessEqual => left <= right,
                    BinaryOp::Greater => left > right,
                    _ => left >= right,
                })
            }
            Op::And(left, right) => i64::from(self.scalar(left)? != 0 && self.scalar(right)? != 0),
            Op::Or(left, right) => i64::from(self.scalar(left)? != 0 || self.scalar(right)? != 0),
            Op::Equal { left, right, negated } => {
                let same = if left.width == 1 {
                    self.scalar(left)? == self.scalar(right)?
                } else {
                    self.words(left)? == self.words(right)?
                };
                i64::from(same != *negated)
            }
            Op::NumberOfTid(inner) => self.scalar(inner)? - 1,
            Op::TidOfNumber(inner) => self.scalar(inner)?.checked_add(1).ok_or(Wrong)?,
            Op::If(condition, yes, no) => {
                self.scalar(if self.scalar(condition)? != 0 { yes } else { no })?
            }
            Op::Part(..) | Op::Element { .. } | Op::List(_) | Op::Unwrap { .. } | Op::Wrap(_) => {
                self.words(code)?.first().copied().ok_or(Wrong)?
            }
        })
    }

    fn words(&self, code: &Code) -> Result<Words, Wrong> {
        let mut out = Words::new();
        self.eval(code, &mut out)?;
        Ok(out)
    }

    fn eval(&self, code: &Code, out: &mut Words) -> Result<(), Wrong> {
        match &code.op {
            Op::Const(words) => out.extend_from_slice(words),
            Op::Slot(at) => out.extend_from_slice(&self.region[*at..*at + code.width]),
            Op::Part(of, at) => {
                let whole = self.words(of)?;
                out.extend_from_slice(&whole[*at..*at + code.width]);
            }
            Op::Element { of, index, length } => {
                // The list first, then the index: the order in which the interpreter would go
                // wrong.
                let (width, slot) =
                    (code.width, if let Op::Slot(at) = of.op { Some(at) } else { None });
                match slot {
                    Some(at) => {
                        let start = at + self.index(index, *length)? * width;
                        out.extend_from_slice(&self.region[start..start + width]);
                    }
                    None => {
                        let whole = self.words(of)?;
                        let start = self.index(index, *length)? * width;
                        out.extend_from_slice(&whole[start..start + width]);
                    }
                }
            }
            Op::List(items) => {
                for item in items {
                    self.eval(item, out)?;
                }
            }
            Op::If(condition, yes, no) => {
                self.eval(if self.scalar(condition)? != 0 { yes } else { no }, out)?;
            }
            Op::Unwrap { of, tagged } => {
                let whole = self.words(of)?;
                if whole.first() == Some(&0) {
                    return Err(Wrong);
                }
                out.extend_from_slice(if *tagged { &whole[1..] } else { &whole });
            }
            Op::Wrap(inner) => {
                out.push(1);
                self.eval(inner, out)?;
            }
            _ => out.push(self.scalar(code)?),
        }
        Ok(())
    }

    fn index(&self, code: &Code, length: usize) -> Result<usize, Wrong> {
        usize::try_from(self.scalar(code)?).ok().filter(|index| *index < length).ok_or(Wrong)
    }
}

pub(crate) fn arithmetic(operator: BinaryOp, left: i64, right: i64) -> Result<i64, Wrong> {
    match operator {
        BinaryOp::Add => left.checked_add(right),
        BinaryOp::Subtract => left.checked_sub(right),
        BinaryOp::Multiply => left.checked_mul(right),
        BinaryOp::Divide => left.checked_div(right),
        BinaryOp::Remainder => left.checked_rem(right),
        bits => bits.on_bits(left, right),
    }
    .ok_or(Wrong)
}

/// The condition of a call: its parameters are in the region already.
pub(crate) fn holds(condition: &Code, region: &[i64], thread: usize) -> Result<bool, Wrong> {
    let env = Env { region, me: thread as i64 + 1 };
    env.scalar(condition).map(|truth| truth != 0)
}

/// A step in progress.
pub(crate) struct Execution<'a> {
    pub layout: &'a Layout,
    /// Where persistent memory lies, if there are crashes.
    pub lines: Option<&'a Lines>,
    /// Whether a crash of the system may come, so that it matters what one may leave.
    pub tracks: bool,
    pub memory: Memory,
    /// No object is made beyond this many.
    pub objects: usize,
    pub flat: &'a mut Flat,
    pub thread: usize,
    pub given: &'a [u32],
    pub trail: &'a mut Trail,
}

/// Whether an act could be performed.
type Performed = Result<bool, Wrong>;

/// The words that an address names here and now.
#[derive(Clone, Copy)]
struct Range {
    at: usize,
    width: usize,
    element: bool,
    /// How many words are stored at once.
    part: usize,
}

impl Execution<'_> {
    /// Goes on from a node to the next one that yields, or to the return.
    pub fn run(&mut self, routine: &Routine, from: usize) -> Ended {
        let mut at = from;
        let mut kept: Option<Box<(usize, Flat)>> = None;
        for edges in 0..MAX_EDGES {
            let node = &routine.nodes[at];
            let edge = match self.take(&node.forks) {
                Ok(Some(edge)) => edge,
                Ok(None) => return Ended::Refused,
                Err(Wrong) => return Ended::Faulted,
            };
            self.trail.path.push((at as u32, edge as u32));
            match &node.goals[edge] {
                Goal::Return(value) => {
                    let Ok(answer) = self.env().words(value) else { return Ended::Faulted };
                    self.trail.answer = answer;
                    return Ended::Returned;
                }
                Goal::Node(next) => at = *next,
            }
            if routine.nodes[at].yields {
                return Ended::Yielded(at);
            }
            if kept.as_ref().is_some_and(|kept| kept.0 == at && kept.1 == *self.flat) {
                break;
            }
            if is_kept(edges) {
                kept = Some(Box::new((at, self.flat.clone())));
            }
        }
        Ended::Faulted
    }

    fn take(&mut self, mut forks: &[Fork]) -> Result<Option<usize>, Wrong> {
        'down: loop {
            for fork in forks {
                match self.enter(fork)? {
                    Entered::Through if fork.then.is_empty() => return Ok(Some(fork.edge)),
                    Entered::Through => {
                        forks = &fork.then;
                        continue 'down;
                    }
                    Entered::Not => {}
                    Entered::Stuck => return Ok(None),
                }
            }
            return Ok(None);
        }
    }

    fn enter(&mut self, fork: &Fork) -> Result<Entered, Wrong> {
        let passed = self.trail.passed.len();
        for (number, act) in fork.acts.iter().enumerate() {
            if !fork.points.is_empty() {
                self.pass(fork, number)?;
            }
            if !self.perform(act)? {
                self.trail.passed.truncate(passed);
                return Ok(if number == 0 { Entered::Not } else { Entered::Stuck });
            }
        }
        if !fork.points.is_empty() {
            self.pass(fork, fork.acts.len())?;
        }
        Ok(Entered::Through)
    }

    /// Notes the linearization points before an act.
    fn pass(&mut self, fork: &Fork, number: usize) -> Result<(), Wrong> {
        for (_, mark) in fork.points.iter().filter(|(at, _)| *at == number) {
            match mark {
                Mark::When(condition) => {
                    if self.env().scalar(condition)? != 0 {
                        self.trail.passed.push(Passed::Here);
                    }
                }
                Mark::Returns { value, number } => {
                    let value = self.env().words(value)?;
                    self.trail.passed.push(Passed::IfReturns { number: *number, value });
                }
            }
        }
        Ok(())
    }

    fn region(&self) -> usize {
        self.layout.thread(self.thread)
    }

    fn env(&self) -> Env<'_> {
        let region = self.region();
        let region = &self.flat.words[region..region + self.layout.region];
        Env { region, me: self.thread as i64 + 1 }
    }

    fn set(&mut self, into: usize, words: &[i64]) {
        let at = self.region() + into;
        self.flat.words[at..at + words.len()].copy_from_slice(words);
    }

    /// Where what a local receives goes; its tag is set, if it has one.
    fn tag(&mut self, into: Into) -> usize {
        let at = self.region() + into.at;
        if into.wrap {
            self.flat.words[at] = 1;
        }
        at + usize::from(into.wrap)
    }

    fn receive(&mut self, into: Into, words: &[i64]) {
        let at = self.tag(into);
        self.flat.words[at..at + words.len()].copy_from_slice(words);
    }

    fn choose(&mut self, arity: u32) -> Option<u32> {
        if arity == 1 {
            return Some(0);
        }
        let choice = self.given.get(self.trail.choices.len()).copied().unwrap_or(0);
        self.trail.choices.push(choice);
        self.trail.arities.push(arity);
        (choice < arity).then_some(choice)
    }

    fn perform(&mut self, act: &Act) -> Performed {
        match act {
            Act::Guard(condition) => Ok(self.env().scalar(condition)? != 0),
            Act::Assert(condition) => match self.env().scalar(condition)? {
                0 => Err(Wrong),
                _ => Ok(true),
            },
            Act::Assign { at, value } => {
                if value.width == 1 {
                    let word = self.env().scalar(value)?;
                    let at = self.region() + at;
                    self.flat.words[at] = word;
                } else {
                    let words = self.env().words(value)?;
                    self.set(*at, &words);
                }
                Ok(true)
            }
            Act::AssignElement { at, length, index, value } => {
                let words = self.env().words(value)?;
                let index = self.env().index(index, *length)?;
                self.set(at + index * words.len(), &words);
                Ok(true)
            }
            Act::Choose { into, from, to } => {
                let (from, to) = (self.env().scalar(from)?, self.env().scalar(to)?);
                if from >= to {
                    return Ok(false);
                }
                let ways = to.abs_diff(from);
                if ways > MAX_CHOICES {
                    return Err(Wrong);
                }
                let Some(choice) = self.choose(ways as u32) else { return Ok(false) };
                self.set(*into, &[from + i64::from(choice)]);
                Ok(true)
            }
            Act::New { into, of, fields, kept } => self.allocate(*into, *of, fields, kept),
            Act::Free { object, of } => self.free(object, *of),
            Act::Read { into, from } => {
                let from = self.resolve(from, false)?;
                let into = self.tag(*into);
                self.flat.words.copy_within(from.at..from.at + from.width, into);
                Ok(true)
            }
            Act::Write { to, value } => {
                let to = self.resolve(to, true)?;
                if value.width == 1 {
                    let word = self.env().scalar(value)?;
                    self.store(to, &[word]);
                } else {
                    let words = self.env().words(value)?;
                    self.store(to, &words);
                }
                Ok(true)
            }
            Act::Cas { into, cells } => match &cells[..] {
                [(address, expected, new)] if address.width == 1 => {
                    self.cas_word(*into, address, (expected, new))
                }
                _ => self.cas(*into, cells),
            },
            Act::Swap { into, at, value } => {
                let at = self.resolve(at, true)?;
                let new = self.env().words(value)?;
                let old = Words::from_slice(self.load(at));
                self.fence();
                self.store(at, &new);
                self.receive(*into, &old);
                Ok(true)
            }
            Act::FetchAdd { into, at, value } => {
                let at = self.resolve(at, true)?;
                let by = self.env().scalar(value)?;
                let old = self.load(at)[0];
                let new = old.checked_add(by).ok_or(Wrong)?;
                self.fence();
                self.store(at, &[new]);
                self.receive(*into, &[old]);
                Ok(true)
            }
            Act::LoadLinked { into, from } => {
                let from = self.resolve(from, false)?;
                let link = self.link(from);
                if !self.flat.links.contains(&link) {
                    self.flat.links.push(link);
                }
                let words = Words::from_slice(self.load(from));
                self.receive(*into, &words);
                Ok(true)
            }
            Act::StoreConditional { into, to, value } => {
                let to = self.resolve(to, true)?;
                let words = self.env().words(value)?;
                let success = self.flat.links.contains(&self.link(to));
                if success {
                    self.store(to, &words);
                }
                self.set(*into, &[i64::from(success)]);
                Ok(true)
            }
            Act::Lock(at) => {
                let at = self.resolve(at, true)?;
                if self.thread >= self.layout.threads {
                    return Err(Wrong);
                }
                if self.load(at)[0] != 0 {
                    return Ok(false);
                }
                self.store(at, &[self.thread as i64 + 1]);
                Ok(true)
            }
            Act::Flush(at) => {
                self.flush(at)?;
                Ok(true)
            }
            Act::Fence => {
                self.fence();
                Ok(true)
            }
            Act::Persist(at) => {
                self.flush(at)?;
                self.fence();
                Ok(true)
            }
            Act::Unlock(at) => {
                let at = self.resolve(at, true)?;
                if self.load(at)[0] != self.thread as i64 + 1 {
                    return Err(Wrong);
                }
                self.store(at, &[0]);
                Ok(true)
            }
        }
    }

    fn link(&self, range: Range) -> Link {
        Link { thread: self.thread, at: range.at, width: range.width, element: range.element }
    }

    fn resolve(&mut self, address: &Address, write: bool) -> Result<Range, Wrong> {
        let (start, object) = match &address.base {
            Base::Shared(at) => (*at, None),
            Base::Object { object, of, at } => {
                let object = self.env().scalar(object)?;
                let object = usize::try_from(object - 1).map_err(|_| Wrong)?;
                let start = self.layout.object(object);
                match self.flat.words.get(start) {
                    Some(head) if *head == 1 + *of as i64 => (start + at, Some(object)),
                    Some(head) if *head == -1 - *of as i64 && self.memory == Memory::TypeStable => {
                        (start + at, Some(object))
                    }
                    _ => return Err(Wrong),
                }
            }
        };
        self.trail.accesses.push(Access { class: address.class, object, write, refused: None });
        Ok(match &address.element {
            None => Range { at: start, width: address.width, element: false, part: address.part },
            Some((index, length)) => {
                let at = start + self.env().index(index, *length)? * address.width;
                Range { at, width: address.width, element: true, part: address.width }
            }
        })
    }

    fn load(&self, range: Range) -> &[i64] {
        &self.flat.words[range.at..range.at + range.width]
    }

    /// Writes words, which loses every thread's link to them.
    fn store(&mut self, range: Range, words: &[i64]) {
        self.flat.links.retain(|link| !link.overlaps(range.at, range.width));
        match self.lines.filter(|_| self.tracks) {
            None => self.flat.words[range.at..range.at + words.len()].copy_from_slice(words),
            Some(lines) => {
                for (number, part) in words.chunks(range.part.max(1)).enumerate() {
                    lines.store(self.layout, self.flat, range.at + number * range.part, part);
                }
            }
        }
    }

    /// The bit of the executing thread, or of recovery, in an image.
    fn bit(&self) -> u64 {
        1 << self.thread
    }

    /// Notes the lines of a place: the next fence of this thread takes their images away.
    fn flush(&mut self, at: &Address) -> Result<(), Wrong> {
        let range = self.resolve(at, self.tracks)?;
        let (Some(lines), bit) = (self.lines.filter(|_| self.tracks), self.bit()) else {
            return Ok(());
        };
        for at in (range.at..range.at + range.width).step_by(range.part.max(1)) {
            let Some(line) = lines.line_at(self.layout, self.flat, at) else { continue };
            for image in self.flat.images.iter_mut().filter(|image| image.line == line) {
                image.flushed |= bit;
            }
        }
        Ok(())
    }

    /// Takes away the images that this thread has flushed.
    fn fence(&mut self) {
        if !self.tracks || self.flat.images.is_empty() {
            return;
        }
        let (bit, settled) = (self.bit(), &mut self.trail.settled);
        self.flat.images.retain(|image| {
            let stays = image.flushed & bit == 0;
            if !stays {
                settled.push(image.line);
            }
            stays
        });
    }

    /// A `cas` of one word.
    fn cas_word(
        &mut self,
        into: usize,
        address: &Address,
        (expected, new): (&Code, &Code),
    ) -> Performed {
        let at = self.resolve(address, true)?;
        let env = self.env();
        let (expected, new) = (env.scalar(expected)?, env.scalar(new)?);
        let success = self.flat.words[at.at] == expected;
        self.fence();
        if success {
            self.store(at, &[new]);
        } else if let Some(access) = self.trail.accesses.last_mut() {
            access.refused = Some(expected);
        }
        self.set(into, &[i64::from(success)]);
        Ok(true)
    }

    fn cas(&mut self, into: usize, cells: &[(Address, Code, Code)]) -> Performed {
        let mut success = true;
        let mut writes: SmallVec<[(Range, Words, Words); 2]> = SmallVec::new();
        for (address, expected, new) in cells {
            let at = self.resolve(address, true)?;
            let twice = |(other, ..): &(Range, Words, Words)| {
                other.at < at.at + at.width && at.at < other.at + other.width
            };
            if writes.iter().any(twice) {
                return Err(Wrong);
            }
            let env = self.env();
            writes.push((at, env.words(expected)?, env.words(new)?));
        }
        for (at, expected, _) in &writes {
            success &= self.load(*at) == &expected[..];
        }
        self.fence();
        if success {
            for (at, _, new) in writes {
                self.store(at, &new);
            }
        }
        self.set(into, &[i64::from(success)]);
        Ok(true)
    }

    fn allocate(&mut self, into: usize, of: usize, fields: &[Code], kept: &[bool]) -> Performed {
        let mut words = Words::new();
        for field in fields {
            self.env().eval(field, &mut words)?;
        }
        let count = (self.flat.words.len() - self.layout.heap) / self.layout.stride;
        let dead = -1 - of as i64;
        let head = |object: usize| self.flat.words[self.layout.object(object)];
        let reusable: SmallVec<[usize; 4]> = match self.memory {
            Memory::Collected => SmallVec::new(),
            Memory::Reuse | Memory::TypeStable => {
                (0..count).filter(|&object| head(object) == dead).collect()
            }
        };
        let Some(choice) = self.choose(1 + reusable.len() as u32) else { return Ok(false) };
        self.trail.managed = true;
        let object = match choice {
            0 if count >= self.objects => {
                self.trail.bounded = true;
                return Ok(false);
            }
            0 => count,
            reused => reusable[reused as usize - 1],
        };
        let at = self.layout.object(object);
        if object == count {
            self.flat.words.resize(at + self.layout.stride, 0);
        }
        let fresh = object == count;
        self.flat.words[at] = 1 + of as i64;
        if self.memory == Memory::TypeStable && !fresh {
            for (word, (kept, old)) in
                words.iter_mut().zip(kept.iter().zip(&self.flat.words[at + 1..]))
            {
                if *kept {
                    *word = *old;
                }
            }
            self.flat.links.retain(|link| !link.overlaps(at, self.layout.stride));
        }
        match self.lines.filter(|lines| self.tracks && lines.is_persistent(of)) {
            None => self.flat.words[at + 1..at + 1 + words.len()].copy_from_slice(&words),
            Some(lines) => {
                // The fields are stored one by one, over what the memory held.
                if fresh {
                    let blank = &lines.blank[of];
                    self.flat.words[at + 1..at + 1 + blank.len()].copy_from_slice(blank);
                }
                let mut from = 0;
                for &part in &lines.parts[of] {
                    let words = &words[from..from + part];
                    lines.store(self.layout, self.flat, at + 1 + from, words);
                    from += part;
                }
            }
        }
        self.set(into, &[object as i64 + 1]);
        Ok(true)
    }

    fn free(&mut self, object: &Code, of: usize) -> Performed {
        let object = usize::try_from(self.env().scalar(object)? - 1).map_err(|_| Wrong)?;
        let at = self.layout.object(object);
        if self.flat.words.get(at) != Some(&(1 + of as i64)) {
            return Err(Wrong);
        }
        self.trail.managed = true;
        if self.memory.gives_back() {
            self.flat.words[at] = -1 - of as i64;
            // After a crash, memory that was given back may be met again as it was.
            let keeps = self.memory == Memory::TypeStable;
            if !keeps && self.lines.is_none_or(|lines| !lines.is_persistent(of)) {
                self.flat.words[at + 1..at + self.layout.stride].fill(0);
            }
            self.flat.links.retain(|link| !link.overlaps(at, self.layout.stride));
        }
        Ok(true)
    }
}

/// What came of a branch.
enum Entered {
    /// All of it was performed.
    Through,
    /// Its first act could not be performed: another branch may be the one.
    Not,
    /// A later act could not be performed: no edge can be taken.
    Stuck,
}
