//! fastlin's and PolyLin's text: a header `# stack`, then one complete operation a line, `method value start end`.
//!
//! Times are stamps: equal ones are concurrent, so at one stamp invocations come before responses. There are no
//! processes; each operation goes to the first one that is free.

use crate::error::IngestError;
use crate::event::{Kind, RawEvent};
use crate::options::ReadOptions;
use crate::record::{Recorder, malformed};
use crate::token::{Span, Token, View};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The value that stands for an empty collection.
const EMPTY: i64 = -1;

/// Takes lines; nothing is recorded before the end, since lines are in any order.
#[derive(Clone, Debug)]
pub(crate) struct Fastlin {
    object: Object,
    operations: Vec<Timed>,
    /// When each operation starts and when it ends, with its position.
    starts: Vec<(u64, u32)>,
    ends: Vec<(u64, u32)>,
    /// Values that are no integers.
    text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Object {
    Set,
    PriorityQueue,
    Other,
}

#[derive(Clone, Debug)]
struct Timed {
    line: u64,
    name: &'static str,
    argument: Token,
    response: Token,
}

/// What a method takes and answers.
enum Role {
    /// It takes the value and answers nothing.
    Adds,
    /// It answers the value.
    Answers,
    /// It takes the value and answers this.
    Tells(bool),
}

fn method(name: &[u8], object: Object) -> Option<(&'static str, Role)> {
    Some(match name {
        b"push" => ("push", Role::Adds),
        b"pop" => ("pop", Role::Answers),
        b"enq" => ("enqueue", Role::Adds),
        b"deq" => ("dequeue", Role::Answers),
        b"peek" => ("peek", Role::Answers),
        b"insert" if object == Object::Set => ("add", Role::Tells(true)),
        b"insert" => ("insert", Role::Adds),
        b"poll" => ("remove-min", Role::Answers),
        b"remove" => ("remove", Role::Tells(true)),
        b"contains_true" => ("contains", Role::Tells(true)),
        b"contains_false" => ("contains", Role::Tells(false)),
        _ => return None,
    })
}

/// Whether a line is an operation.
pub(crate) fn is_operation(line: &[u8]) -> bool {
    let words: Vec<_> = words(line).collect();
    let [name, _, start, end] = words[..] else {
        return false;
    };
    let is_stamp = |word: &[u8]| word.iter().all(u8::is_ascii_digit);
    method(name, Object::Other).is_some() && is_stamp(start) && is_stamp(end)
}

fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty())
}

/// The number that a word is, if it is one of at most 18 digits, which therefore fits.
fn digits(word: &[u8]) -> Option<u64> {
    let add = |number: u64, byte: &u8| {
        let digit = byte.wrapping_sub(b'0');
        (digit <= 9).then(|| number * 10 + u64::from(digit))
    };
    (1..=18).contains(&word.len()).then(|| word.iter().try_fold(0, add))?
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
        let (operations, text) = (Vec::new(), String::new());
        Fastlin { object, operations, starts: Vec::new(), ends: Vec::new(), text }
    }

    pub fn line(&mut self, number: u64, line: &[u8]) -> Result<(), IngestError> {
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
        let expected = |expected, found: &[u8]| malformed(number, expected, &crate::excerpt(found));
        let mut words = words(line);
        let mut word = || words.next().ok_or_else(|| expected("`method value start end`", line));
        let (name, value, start, end) = (word()?, word()?, word()?, word()?);
        if words.next().is_some() {
            return Err(expected("`method value start end`", line));
        }
        let Some((name, role)) = method(name, self.object) else {
            return Err(expected("a method such as `push` or `deq`", name));
        };
        let stamp = |word: &[u8]| {
            let parse = || std::str::from_utf8(word).ok()?.parse::<u64>().ok();
            digits(word).or_else(parse).ok_or_else(|| expected("a time stamp", word))
        };
        let (start, end) = (stamp(start)?, stamp(end)?);
        if start > end {
            return Err(expected("a start that is not after the end", line));
        }
        let value = self.value(value).ok_or_else(|| expected("a value", value))?;
        let (argument, response) = match role {
            Role::Adds if value == Token::Int(EMPTY) => {
                return Err(expected("a value other than -1, which says empty", line));
            }
            Role::Adds => (self.ranked(value, number)?, Token::Null),
            Role::Answers if value == Token::Int(EMPTY) => (Token::Null, Token::Null),
            Role::Answers => (Token::Null, self.ranked(value, number)?),
            Role::Tells(answer) => (value, Token::Bool(answer)),
        };
        let at = u32::try_from(self.operations.len());
        let at = at.map_err(|_| IngestError::TooLong { line: number })?;
        self.starts.push((start, at));
        self.ends.push((end, at));
        self.operations.push(Timed { line: number, name, argument, response });
        Ok(())
    }

    /// An integer, or else a text.
    fn value(&mut self, word: &[u8]) -> Option<Token> {
        if let Some(int) = digits(word) {
            return Some(Token::Int(int as i64));
        }
        let word = std::str::from_utf8(word).ok()?;
        if let Ok(int) = word.parse() {
            return Some(Token::Int(int));
        }
        let start = u32::try_from(self.text.len()).ok()?;
        self.text.push_str(word);
        Some(Token::Text(Span { start, end: u32::try_from(self.text.len()).ok()? }))
    }

    /// fastlin takes the largest value out of a priority queue first and `remove-min` the smallest, so the values of
    /// priority queues change their sign.
    fn ranked(&self, value: Token, line: u64) -> Result<Token, IngestError> {
        if self.object != Object::PriorityQueue {
            return Ok(value);
        }
        let negated = match value {
            Token::Int(int) => int.checked_neg().map(Token::Int),
            _ => None,
        };
        negated.ok_or_else(|| malformed(line, "an integer in a priority queue", "another value"))
    }

    pub fn finish(&mut self, recorder: &mut Recorder) -> Result<(), IngestError> {
        let operations = std::mem::take(&mut self.operations);
        if self.object == Object::PriorityQueue && !operations.is_empty() {
            recorder.notes.push(
                "this format takes the largest value first; values were negated to suit `remove-min`"
                    .to_owned(),
            );
        }
        let mut starts = std::mem::take(&mut self.starts);
        let mut ends = std::mem::take(&mut self.ends);
        // Apart, for one of the two is often in order already.
        starts.sort_unstable();
        ends.sort_unstable();
        let (mut starts, mut ends) = (starts.into_iter().peekable(), ends.into_iter());
        let mut free = BinaryHeap::new();
        let mut processes = vec![0_i64; operations.len()];
        let mut used = 0;
        let mut end = ends.next();
        while let Some((until, ending)) = end {
            let start = starts.next_if(|(stamp, _)| *stamp <= until);
            let is_response = start.is_none();
            let at = start.map_or(ending, |(_, at)| at);
            if is_response {
                end = ends.next();
            }
            let operation = &operations[at as usize];
            let process = &mut processes[at as usize];
            let (kind, value) = if is_response {
                free.push(Reverse(*process));
                (Kind::Ok, operation.response)
            } else {
                *process = free.pop().map_or(used, |Reverse(process)| process);
                used = used.max(*process + 1);
                (Kind::Invoke, operation.argument)
            };
            let process = [Token::Int(*process)];
            // Nobody asks for the events of the end.
            recorder.events.clear();
            recorder.record(&RawEvent {
                line: operation.line,
                kind,
                process: Some(View { tokens: &process, text: "" }),
                f: Some(operation.name),
                key: None,
                value: View { tokens: &[value], text: &self.text },
            })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_what_they_parse_to() {
        for word in
            ["", "0", "007", "-1", "+1", "1x", " 1", "123456789012345678", "999999999999999999"]
        {
            if let Some(number) = digits(word.as_bytes()) {
                assert_eq!(word.parse(), Ok(number));
            }
        }
        assert_eq!(digits(b"999999999999999999"), Some(999_999_999_999_999_999));
        assert_eq!(digits(b"1000000000000000000"), None, "left to the standard library");
    }
}
