//! LiMo's and Violin's text: `# @object atomic-stack`, then `[thread] call push(3)` and `[thread] return`, or
//! `[thread] return 3`. LiMo's durable histories also have lines that say `crash`, and calls that tell the answer in
//! advance (`call pop(3)`).

use crate::error::IngestError;
use crate::event::{Kind, RawEvent};
use crate::options::ReadOptions;
use crate::record::{Recorder, malformed};
use crate::token::{Span, Token, View};
use linchpin_spec::{Shape, Signature};
use rustc_hash::FxHashMap;

/// Names that stand for adding a value, and names of operations that may do it, the likeliest first.
const ADD: [&[&str]; 2] =
    [&["add", "put", "push", "enq", "enqueue", "insert"], &["enqueue", "push", "insert", "add"]];

/// The same for taking a value out.
const TAKE: [&[&str]; 2] = [
    &["rem", "remove", "get", "pop", "deq", "dequeue", "poll"],
    &["dequeue", "pop", "remove-min", "remove"],
];

/// Takes lines.
#[derive(Clone, Debug)]
pub(crate) struct Limo {
    spec: String,
    operations: Vec<Signature>,
    /// The operation that a thread has open, if any.
    open: FxHashMap<Box<str>, Option<Open>>,
    /// The operations that names were found to stand for.
    names: Vec<(Box<str>, usize)>,
}

#[derive(Clone, Debug)]
struct Open {
    operation: usize,
    /// The answer that the call told in advance.
    told: Option<Box<str>>,
}

enum Action<'a> {
    Call { name: &'a str, value: Option<&'a str> },
    Return { value: Option<&'a str> },
}

/// Whether a line is an event.
pub(crate) fn is_event(line: &[u8]) -> bool {
    std::str::from_utf8(line).is_ok_and(|line| action(line.trim()).is_some())
}

fn action(line: &str) -> Option<(&str, Action<'_>)> {
    let (thread, action) = line.strip_prefix('[')?.split_once(']')?;
    let action = trim(action);
    let (verb, rest) = action.split_at(first_word(action));
    let (thread, rest) = (trim(thread), trim(rest));
    let some = |text: &'_ str| !text.is_empty() && text != "()";
    match verb {
        _ if thread.is_empty() => None,
        "return" => Some((thread, Action::Return { value: Some(rest).filter(|text| some(text)) })),
        "call" => {
            let end = rest.find(['(', ' ', '\t']).unwrap_or(rest.len());
            let (name, value) = rest.split_at(end);
            let value = trim(value);
            let value = value.strip_prefix('(').map_or(Some(value), |it| it.strip_suffix(')'))?;
            let value = Some(trim(value)).filter(|text| some(text));
            (!name.is_empty()).then_some((thread, Action::Call { name, value }))
        }
        _ => None,
    }
}

/// [`str::trim`], which looks at whole characters, where bytes do not tell.
fn trim(text: &str) -> &str {
    let is_graphic = |byte: Option<&u8>| byte.is_none_or(u8::is_ascii_graphic);
    let bytes = text.as_bytes();
    match bytes {
        // Mostly there is one blank before a word.
        [b' ', rest @ ..] if is_graphic(rest.first()) && is_graphic(rest.last()) => &text[1..],
        _ if is_graphic(bytes.first()) && is_graphic(bytes.last()) => text,
        _ => text.trim(),
    }
}

/// How many bytes come before the first white space.
fn first_word(text: &str) -> usize {
    let plain = text.bytes().position(|byte| !byte.is_ascii_graphic()).unwrap_or(text.len());
    match text.as_bytes().get(plain) {
        None | Some(b' ') => plain,
        Some(_) => text.find(char::is_whitespace).unwrap_or(text.len()),
    }
}

impl Limo {
    pub fn new(options: &ReadOptions<'_>) -> Limo {
        let operations = options.operations.to_vec();
        let (open, names) = (FxHashMap::default(), Vec::new());
        Limo { spec: options.spec.to_owned(), operations, open, names }
    }

    pub fn line(
        &mut self,
        number: u64,
        line: &[u8],
        recorder: &mut Recorder,
    ) -> Result<(), IngestError> {
        let text = std::str::from_utf8(line)
            .map_err(|_| malformed(number, "UTF-8", &crate::excerpt(line)))?;
        let text = trim(text);
        if text.is_empty() {
            return Ok(());
        }
        if let Some(comment) = text.strip_prefix('#') {
            self.header(comment, recorder);
            return Ok(());
        }
        if text == "crash" {
            self.open.clear();
            return recorder.record(&RawEvent {
                line: number,
                kind: Kind::Crash,
                process: None,
                f: None,
                key: None,
                value: View::NULL,
            });
        }
        match action(text) {
            Some((thread, Action::Call { name, value })) => {
                self.call(number, thread, name, value, recorder)
            }
            Some((thread, Action::Return { value })) => {
                self.answer(number, thread, value, recorder)
            }
            None => {
                let expected = "`[thread] call name(value)` or `[thread] return value`";
                Err(malformed(number, expected, &crate::excerpt(line)))
            }
        }
    }

    /// Says so if the text names another object than the specification.
    fn header(&self, comment: &str, recorder: &mut Recorder) {
        let Some(object) = comment.trim().strip_prefix("@object") else {
            return;
        };
        let object = object.trim();
        if object.strip_prefix("atomic-").unwrap_or(object) != self.spec {
            recorder.notes.push(format!(
                "the recording says that it is of an {object}, and is read as one of a {}",
                self.spec
            ));
        }
    }

    fn call(
        &mut self,
        line: u64,
        thread: &str,
        name: &str,
        value: Option<&str>,
        recorder: &mut Recorder,
    ) -> Result<(), IngestError> {
        // An unknown name goes to the recorder as it is: it knows what to say.
        let operation = self.operation(name);
        let name = operation.map_or(name, |at| &self.operations[at].name);
        let takes = operation.is_none_or(|at| self.operations[at].argument != Shape::Unit);
        record(line, Kind::Invoke, thread, Some(name), value.filter(|_| takes), recorder)?;
        if let Some(operation) = operation {
            let open = Open { operation, told: value.filter(|_| !takes).map(Into::into) };
            match self.open.get_mut(thread) {
                Some(slot) => *slot = Some(open),
                None => drop(self.open.insert(thread.into(), Some(open))),
            }
        }
        Ok(())
    }

    fn answer(
        &mut self,
        line: u64,
        thread: &str,
        value: Option<&str>,
        recorder: &mut Recorder,
    ) -> Result<(), IngestError> {
        let open = self.open.get_mut(thread).and_then(Option::take);
        let told = open.as_ref().and_then(|open| open.told.as_deref());
        let value = value.or(told);
        if let (None, Some(open)) = (value, &open) {
            let signature = &self.operations[open.operation];
            if signature.response == Shape::Bool {
                // Adding and removing that is not said to have failed has succeeded.
                return record(line, Kind::Ok, thread, None, Some("true"), recorder);
            }
            if signature.response != Shape::Unit {
                let expected = format!("what `{}` returned, or `empty`", signature.name);
                return Err(malformed(line, &expected, "`return`"));
            }
        }
        record(line, Kind::Ok, thread, None, value, recorder)
    }

    /// The operation with this name, or the one of this object that does what the name says.
    fn operation(&mut self, name: &str) -> Option<usize> {
        if let Some((_, operation)) = self.names.iter().find(|(known, _)| **known == *name) {
            return Some(*operation);
        }
        let operation = self.look_up(name)?;
        self.names.push((name.into(), operation));
        Some(operation)
    }

    fn look_up(&self, name: &str) -> Option<usize> {
        let find = |name: &str| self.operations.iter().position(|op| op.is_called(name));
        let others = [ADD, TAKE].into_iter().find(|[names, _]| names.contains(&name));
        find(name).or_else(|| others?[1].iter().find_map(|name| find(name)))
    }
}

fn record(
    line: u64,
    kind: Kind,
    thread: &str,
    f: Option<&str>,
    value: Option<&str>,
    recorder: &mut Recorder,
) -> Result<(), IngestError> {
    let (process, value) = ([token(thread)], value.map(|value| (value, [scalar(value)])));
    let view = |(text, tokens)| View { tokens, text };
    recorder.record(&RawEvent {
        line,
        kind,
        process: Some(view((thread, &process))),
        f,
        key: None,
        value: value.as_ref().map_or(View::NULL, |(text, tokens)| view((text, tokens))),
    })
}

/// A word as an integer, or else as a text.
fn token(word: &str) -> Token {
    match word.parse() {
        Ok(int) => Token::Int(int),
        // Spans hold 32 bits; a word that is longer is no word of such a history.
        Err(_) => Token::Text(Span { start: 0, end: u32::try_from(word.len()).unwrap_or(0) }),
    }
}

/// A value: `empty` and `null` say that there is none.
fn scalar(word: &str) -> Token {
    match word {
        "empty" | "null" | "nil" => Token::Null,
        "true" => Token::Bool(true),
        "false" => Token::Bool(false),
        word => token(word),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_and_characters_agree_on_white_space() {
        let pieces = [
            "", " ", "  ", "a", "call", "\t", "\r", "\u{b}", "\u{85}", "\u{a0}", "\u{2003}", "é",
            "\0", "(",
        ];
        for one in pieces {
            for two in pieces {
                for three in pieces {
                    let text = [one, two, three].concat();
                    assert_eq!(trim(&text), text.trim(), "{text:?}");
                    let word = text.find(char::is_whitespace).unwrap_or(text.len());
                    assert_eq!(first_word(&text), word, "{text:?}");
                }
            }
        }
    }
}
