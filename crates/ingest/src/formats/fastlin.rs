//! fastlin's and PolyLin's text: a header `# stack`, then one complete operation a line, `method
//! value start end`.
//!
//! Times are stamps: equal ones are concurrent, so at one stamp invocations come before responses.
//! There are no processes; each operation goes to the first one that is free.

use super::plain::Plain;
use crate::error::IngestError;
use crate::event::{Kind, RawEvent};
use crate::fast::FastPath;
use crate::options::ReadOptions;
use crate::record::{Part, Recorder, Whole, malformed_at};
use crate::token::{Span, Token, View};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The value that stands for an empty collection.
const EMPTY: i64 = -1;
/// The names of methods have so many letters at most.
const MOST_LETTERS: usize = "contains_false".len();

/// Takes lines; nothing is recorded before the end, since lines are in any order.
#[derive(Clone, Debug)]
pub(crate) struct Fastlin {
    object: Object,
    operations: Vec<Timed>,
    /// Values that are no integers.
    texts: Vec<Box<str>>,
    /// The lines of operations that are not on the line after the one before, with the operation:
    /// mostly there are few.
    jumps: Vec<(usize, u64)>,
    /// The line after that of the last operation.
    next_line: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Object {
    Set,
    PriorityQueue,
    Other,
}

/// An operation, in half a cache line.
#[derive(Clone, Copy, Debug)]
struct Timed {
    start: u64,
    end: u64,
    /// An integer, or the position of a text.
    value: i64,
    /// Who is chosen to call it.
    process: u32,
    method: Method,
    kind: ValueKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ValueKind {
    Int,
    Text,
    /// What stands for an empty collection.
    Empty,
}

/// A method, in the order of [`METHODS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Method {
    Push,
    Pop,
    Enqueue,
    Dequeue,
    Peek,
    Add,
    Insert,
    RemoveMin,
    Remove,
    ContainsTrue,
    ContainsFalse,
}

/// What a method takes and answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// It takes the value and answers nothing.
    Adds,
    /// It answers the value.
    Answers,
    /// It takes the value and answers this.
    Tells(bool),
}

/// For each method the operation that it is.
const METHODS: [(&str, Role); 11] = [
    ("push", Role::Adds),
    ("pop", Role::Answers),
    ("enqueue", Role::Adds),
    ("dequeue", Role::Answers),
    ("peek", Role::Answers),
    ("add", Role::Tells(true)),
    ("insert", Role::Adds),
    ("remove-min", Role::Answers),
    ("remove", Role::Tells(true)),
    ("contains", Role::Tells(true)),
    ("contains", Role::Tells(false)),
];

impl Method {
    #[inline]
    fn named(name: &[u8], object: Object) -> Option<Method> {
        Some(match name {
            b"push" => Method::Push,
            b"pop" => Method::Pop,
            b"enq" => Method::Enqueue,
            b"deq" => Method::Dequeue,
            b"peek" => Method::Peek,
            b"insert" if object == Object::Set => Method::Add,
            b"insert" => Method::Insert,
            b"poll" => Method::RemoveMin,
            b"remove" => Method::Remove,
            b"contains_true" => Method::ContainsTrue,
            b"contains_false" => Method::ContainsFalse,
            _ => return None,
        })
    }

    fn name(self) -> &'static str {
        METHODS[self as usize].0
    }

    fn role(self) -> Role {
        METHODS[self as usize].1
    }
}

/// Whether a line is an operation.
pub(crate) fn is_operation(line: &[u8]) -> bool {
    let words: Vec<_> = words(line).collect();
    let [name, _, start, end] = words[..] else {
        return false;
    };
    let is_stamp = |word: &[u8]| word.iter().all(u8::is_ascii_digit);
    Method::named(name, Object::Other).is_some() && is_stamp(start) && is_stamp(end)
}

fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty())
}

impl Fastlin {
    pub fn new(options: &ReadOptions<'_>) -> Fastlin {
        let object = if options.is_spec("set") {
            Object::Set
        } else if options.is_spec("priority-queue") {
            Object::PriorityQueue
        } else {
            Object::Other
        };
        let (operations, texts, jumps) = Default::default();
        Fastlin { object, operations, texts, jumps, next_line: 0 }
    }

    /// Takes whole lines, the first of which has this number; how many.
    pub fn lines(&mut self, first: u64, text: &[u8]) -> Result<u64, IngestError> {
        let mut number = first;
        let mut rest = text;
        while !rest.is_empty() {
            rest = match self.fast(number, rest) {
                Some(after) => after,
                None => {
                    let end = memchr::memchr(b'\n', rest);
                    self.line(number, &rest[..end.unwrap_or(rest.len())])?;
                    &rest[end.map_or(rest.len(), |end| end + 1)..]
                }
            };
            number += 1;
        }
        Ok(number - first)
    }

    /// Takes the line that a text begins with, if it is of the usual kind: words with a blank
    /// between, numbers of at most 18 digits; what comes after it.
    ///
    /// INVARIANT: what this takes, `line` would take with the same result.
    #[inline]
    fn fast<'t>(&mut self, number: u64, text: &'t [u8]) -> Option<&'t [u8]> {
        if !FastPath::Lines.is_taken() {
            return None;
        }
        let name = text.iter().take(MOST_LETTERS + 1).position(|byte| *byte == b' ')?;
        let method = Method::named(&text[..name], self.object)?;
        let mut plain = Plain { rest: &text[name + 1..] };
        let value = plain.int()?;
        plain.skip(b" ")?;
        let start = plain.digits()?;
        plain.skip(b" ")?;
        let end = plain.digits()?;
        plain.end_of_line()?;
        // Looked at only where it matters: which method comes next cannot be foreseen.
        let (mut value, mut kind) = (value, ValueKind::Int);
        if value == EMPTY {
            match method.role() {
                Role::Adds => return None,
                Role::Answers => kind = ValueKind::Empty,
                Role::Tells(_) => {}
            }
        } else if self.object == Object::PriorityQueue && !matches!(method.role(), Role::Tells(_)) {
            value = -value;
        }
        if start > end {
            return None;
        }
        self.push(number, Timed { start, end, value, process: 0, method, kind });
        Some(plain.rest)
    }

    // Inlined, for otherwise the operation is written twice.
    #[inline(always)]
    fn push(&mut self, line: u64, operation: Timed) {
        if line != self.next_line {
            self.jumps.push((self.operations.len(), line));
        }
        self.next_line = line + 1;
        self.operations.push(operation);
    }

    /// The line of an operation.
    #[inline]
    fn line_of(&self, at: usize) -> u64 {
        // INVARIANT: the first operation is a jump, since no line has the number 0.
        let (operation, line) = match self.jumps[..] {
            // As it mostly is.
            [only] => only,
            _ => {
                let after = self.jumps.partition_point(|(operation, _)| *operation <= at);
                self.jumps[after.saturating_sub(1)]
            }
        };
        line + (at - operation) as u64
    }

    /// Takes a line without its end. This defines what a line says.
    fn line(&mut self, number: u64, line: &[u8]) -> Result<(), IngestError> {
        let blank = line.len() - line.trim_ascii_start().len();
        let line = line.trim_ascii();
        if line.is_empty() {
            return Ok(());
        }
        if let Some(header) = line.strip_prefix(b"#") {
            match header.trim_ascii() {
                b"set" => self.object = Object::Set,
                b"priorityqueue" | b"pqueue" => self.object = Object::PriorityQueue,
                b"stack" | b"queue" => self.object = Object::Other,
                _ => {}
            }
            return Ok(());
        }
        // What is found is a piece of the line, or the line.
        let expected = |expected, found: &[u8]| {
            malformed_at(
                number,
                blank + crate::offset(line, found),
                expected,
                &crate::excerpt(found),
            )
        };
        let mut words = words(line);
        let mut word = || words.next().ok_or_else(|| expected("`method value start end`", line));
        let (name, value, start, end) = (word()?, word()?, word()?, word()?);
        if words.next().is_some() {
            return Err(expected("`method value start end`", line));
        }
        let Some(method) = Method::named(name, self.object) else {
            return Err(expected("a method such as `push` or `deq`", name));
        };
        let stamp = |word: &[u8]| {
            let parse = || std::str::from_utf8(word).ok()?.parse::<u64>().ok();
            parse().ok_or_else(|| expected("a time stamp", word))
        };
        let (start, end) = (stamp(start)?, stamp(end)?);
        if start > end {
            return Err(expected("a start that is not after the end", line));
        }
        let word = std::str::from_utf8(value).map_err(|_| expected("a value", value))?;
        let not_ranked = || expected("an integer in a priority queue", value);
        let (value, kind) = match (word.parse(), method.role()) {
            (Ok(EMPTY), Role::Adds) => {
                return Err(expected("a value other than -1, which says empty", value));
            }
            (Ok(EMPTY), Role::Answers) => (0, ValueKind::Empty),
            (Ok(int), Role::Tells(_)) => (int, ValueKind::Int),
            (Ok(int), _) => (self.ranked(int).ok_or_else(not_ranked)?, ValueKind::Int),
            (Err(_), Role::Adds | Role::Answers) if self.object == Object::PriorityQueue => {
                return Err(not_ranked());
            }
            (Err(_), _) => {
                let at = i64::try_from(self.texts.len());
                self.texts.push(word.into());
                (at.map_err(|_| IngestError::TooLong { line: number })?, ValueKind::Text)
            }
        };
        self.push(number, Timed { start, end, value, process: 0, method, kind });
        Ok(())
    }

    /// fastlin takes the largest value out of a priority queue first and `remove-min` the smallest,
    /// so the values of priority queues change their sign.
    fn ranked(&self, value: i64) -> Option<i64> {
        if self.object == Object::PriorityQueue { value.checked_neg() } else { Some(value) }
    }

    /// The value of an operation, and what it points into.
    fn value(&self, operation: &Timed) -> (Token, &str) {
        match operation.kind {
            ValueKind::Int => (Token::Int(operation.value), ""),
            ValueKind::Empty => (Token::Null, ""),
            ValueKind::Text => {
                let at = usize::try_from(operation.value).unwrap_or(usize::MAX);
                let text = self.texts.get(at).map_or("", |text| &**text);
                (Token::Text(Span::new(0, text.len())), text)
            }
        }
    }

    pub fn finish(&mut self, recorder: &mut Recorder) -> Result<(), IngestError> {
        let mut operations = std::mem::take(&mut self.operations);
        if self.object == Object::PriorityQueue && !operations.is_empty() {
            recorder.notes.push(
                "this format takes the largest value first; values were negated to suit `remove-min`"
                    .to_owned(),
            );
        }
        recorder.reserve(operations.len());
        let usual = METHODS.map(|method| Usual::of(method, recorder));
        let with_plans = FastPath::Plans.is_taken();
        let starts = in_order(&operations, |operation| operation.start);
        let ends = in_order(&operations, |operation| operation.end);
        let mut free = Free::default();
        let (mut started, mut ended) = (0, 0);
        while ended < operations.len() {
            let ending = ends[ended];
            let until = operations[ending].end;
            let starting = if started < operations.len() { starts[started] } else { ending };
            // Each operation that has not ended has started, or starts not later than it ends.
            let is_call = started < operations.len() && operations[starting].start <= until;
            let at = if is_call { starting } else { ending };
            let operation = &mut operations[at];
            let whole = usual[operation.method as usize].of_kind(operation.kind);
            let whole = whole.filter(|_| with_plans);
            let line = self.line_of(at);
            let taken = if is_call {
                started += 1;
                operation.process = free.take();
                let process = recorder.numbered(i64::from(operation.process));
                let value = (operation.kind == ValueKind::Int).then_some(operation.value);
                whole.is_some_and(|whole| recorder.whole_call(line, process, whole, value))
            } else {
                ended += 1;
                free.give(operation.process);
                let process = recorder.numbered(i64::from(operation.process));
                whole.is_some() && recorder.whole_return(line, process)
            };
            if !taken {
                self.record(at, &operations[at], is_call, recorder)?;
            }
        }
        Ok(())
    }

    /// Records an event of an operation that is not of the usual kind, or cannot be.
    #[cold]
    fn record(
        &self,
        at: usize,
        operation: &Timed,
        is_call: bool,
        recorder: &mut Recorder,
    ) -> Result<(), IngestError> {
        let (value, text) = self.value(operation);
        let said = match (operation.method.role(), is_call) {
            (Role::Adds | Role::Tells(_), true) | (Role::Answers, false) => value,
            (Role::Adds, false) | (Role::Answers, true) => Token::Null,
            (Role::Tells(answer), false) => Token::Bool(answer),
        };
        recorder.record(&RawEvent {
            line: self.line_of(at),
            kind: if is_call { Kind::Invoke } else { Kind::Ok },
            process: Some(View { tokens: &[Token::Int(i64::from(operation.process))], text: "" }),
            f: Some(operation.method.name()),
            key: None,
            value: View { tokens: &[said], text },
            time: None,
        })
    }
}

/// How operations of a method are recorded, unless that has to be found out each time.
#[derive(Clone, Copy, Debug)]
struct Usual {
    with_int: Option<Whole>,
    with_empty: Option<Whole>,
}

impl Usual {
    fn of((name, role): (&str, Role), recorder: &Recorder) -> Usual {
        let with = |value| {
            let (argument, response) = match role {
                Role::Adds => (value, Part::Null),
                Role::Answers => (Part::Null, value),
                Role::Tells(answer) => (value, Part::Bool(answer)),
            };
            recorder.whole(recorder.known_operation(name)?, argument, response)
        };
        Usual { with_int: with(Part::Value), with_empty: with(Part::Null) }
    }

    #[inline]
    fn of_kind(&self, kind: ValueKind) -> Option<Whole> {
        match kind {
            ValueKind::Int => self.with_int,
            ValueKind::Empty => self.with_empty,
            ValueKind::Text => None,
        }
    }
}

/// The positions of the operations in the order of a time stamp, the first one first where they are
/// equal. Recorders write operations as they start or end, so this is mostly nearly the order
/// given.
fn in_order(operations: &[Timed], stamp: impl Fn(&Timed) -> u64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..operations.len()).collect();
    order.sort_by_key(|at| stamp(&operations[*at]));
    order
}

/// Processes without an operation in progress.
#[derive(Default)]
struct Free {
    used: u32,
    given_back: BinaryHeap<Reverse<u32>>,
}

impl Free {
    /// The first one that is free.
    #[inline]
    fn take(&mut self) -> u32 {
        if let Some(Reverse(process)) = self.given_back.pop() {
            return process;
        }
        self.used += 1;
        self.used - 1
    }

    #[inline]
    fn give(&mut self, process: u32) {
        self.given_back.push(Reverse(process));
    }
}
