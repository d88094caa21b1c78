//! LiMo's and Violin's text: `# @object atomic-stack`, then `[thread] call push(3)` and `[thread]
//! return`, or `[thread] return 3`. LiMo's durable histories also have lines that say `crash`, and
//! calls that say the answer in advance (`call pop(3)`).

use super::plain::Plain;
use crate::error::IngestError;
use crate::event::{Kind, RawEvent};
use crate::fast::FastPath;
use crate::options::ReadOptions;
use crate::record::{Recorder, malformed_at};
use crate::token::{Span, Token, View};
use linchpin_spec::{Shape, Signature};

/// Names that stand for adding a value, and names of operations that may do it, the likeliest
/// first.
const ADD: [&[&str]; 2] =
    [&["add", "put", "push", "enq", "enqueue", "insert"], &["enqueue", "push", "insert", "add"]];

/// The same for taking a value out.
const TAKE: [&[&str]; 2] = [
    &["rem", "remove", "get", "pop", "deq", "dequeue", "poll"],
    &["dequeue", "pop", "remove-min", "remove"],
];

/// The thread that disturbs the system: what it does is no operation.
const NEMESIS: &str = "nemesis";

/// Takes lines.
#[derive(Clone, Debug)]
pub(crate) struct Limo {
    spec: String,
    operations: Vec<Signature>,
    /// For each process the answer that its open call said in advance.
    early: Vec<Early>,
    /// The operations that names were found to stand for.
    names: Vec<Name>,
}

#[derive(Clone, Debug)]
struct Name {
    text: Box<str>,
    operation: u16,
    /// Whether a value in the call is an argument. It is the answer in advance otherwise.
    takes: bool,
}

#[derive(Clone, Debug, Default)]
enum Early {
    #[default]
    Nothing,
    Int(i64),
    Text(Box<str>),
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
    let action = action.trim();
    let verb_end = action.find(char::is_whitespace).unwrap_or(action.len());
    let (verb, rest) = action.split_at(verb_end);
    let (thread, rest) = (thread.trim(), rest.trim());
    let some = |text: &'_ str| !text.is_empty() && text != "()";
    match verb {
        _ if thread.is_empty() => None,
        "return" => Some((thread, Action::Return { value: Some(rest).filter(|text| some(text)) })),
        "call" => {
            let end = rest.find(['(', ' ', '\t']).unwrap_or(rest.len());
            let (name, value) = rest.split_at(end);
            let value = value.trim();
            let value = value.strip_prefix('(').map_or(Some(value), |it| it.strip_suffix(')'))?;
            let value = Some(value.trim()).filter(|text| some(text));
            (!name.is_empty()).then_some((thread, Action::Call { name, value }))
        }
        _ => None,
    }
}

impl Limo {
    pub fn new(options: &ReadOptions<'_>) -> Limo {
        let operations = options.operations.to_vec();
        let (early, names) = (Vec::new(), Vec::new());
        Limo { spec: options.spec.to_owned(), operations, early, names }
    }

    /// Takes whole lines, the first of which has this number; how many.
    pub fn lines(
        &mut self,
        first: u64,
        text: &[u8],
        recorder: &mut Recorder,
    ) -> Result<u64, IngestError> {
        let mut number = first;
        let mut rest = text;
        while !rest.is_empty() {
            rest = match self.fast(number, rest, recorder) {
                Some(after) => after,
                None => {
                    let end = memchr::memchr(b'\n', rest);
                    self.line(number, &rest[..end.unwrap_or(rest.len())], recorder)?;
                    &rest[end.map_or(rest.len(), |end| end + 1)..]
                }
            };
            number += 1;
        }
        Ok(number - first)
    }

    /// Takes the line that a text begins with, if it is of the usual kind: a thread with a number,
    /// a name that is known, and an integer or nothing; what comes after it.
    ///
    /// INVARIANT: what this takes, `line` would take with the same result.
    #[inline]
    fn fast<'t>(
        &mut self,
        number: u64,
        text: &'t [u8],
        recorder: &mut Recorder,
    ) -> Option<&'t [u8]> {
        if !FastPath::Lines.is_taken() {
            return None;
        }
        let mut plain = Plain { rest: text };
        plain.skip(b"[")?;
        let thread = plain.digits()?;
        plain.skip(b"] ")?;
        match plain.peek() {
            b'c' => self.fast_call(number, thread as i64, plain, recorder),
            _ => self.fast_return(number, thread as i64, plain, recorder),
        }
    }

    #[inline]
    fn fast_call<'t>(
        &mut self,
        number: u64,
        thread: i64,
        mut plain: Plain<'t>,
        recorder: &mut Recorder,
    ) -> Option<&'t [u8]> {
        plain.skip(b"call ")?;
        let is_whole =
            |after: &[u8]| matches!(after.first(), None | Some(b'(' | b' ' | b'\r' | b'\n'));
        let name = self
            .names
            .iter()
            .find(|name| plain.rest.strip_prefix(name.text.as_bytes()).is_some_and(is_whole))?;
        plain.skip(name.text.as_bytes())?;
        let value = match plain.peek() {
            b'(' => {
                plain.skip(b"(")?;
                let value = if plain.peek() == b')' { None } else { Some(plain.int()?) };
                plain.skip(b")")?;
                value
            }
            b' ' => {
                plain.skip(b" ")?;
                Some(plain.int()?)
            }
            _ => None,
        };
        plain.end_of_line()?;
        let process = recorder.numbered(thread);
        let argument = value.filter(|_| name.takes).map_or(Token::Null, Token::Int);
        if !recorder.call(number, process, name.operation, argument) {
            return None;
        }
        if let Some(early) = value.filter(|_| !name.takes) {
            self.keep_early(process, Early::Int(early));
        }
        Some(plain.rest)
    }

    #[inline]
    fn fast_return<'t>(
        &mut self,
        number: u64,
        thread: i64,
        mut plain: Plain<'t>,
        recorder: &mut Recorder,
    ) -> Option<&'t [u8]> {
        plain.skip(b"return")?;
        let value = match plain.peek() {
            b' ' => {
                plain.skip(b" ")?;
                match plain.peek() {
                    b'e' => plain.skip(b"empty").map(|()| Some(Token::Null))?,
                    _ => Some(Token::Int(plain.int()?)),
                }
            }
            _ => None,
        };
        plain.end_of_line()?;
        let process = recorder.numbered(thread);
        let value = match value {
            Some(value) => value,
            None => self.unsaid(process, recorder.open_operation(process)?)?,
        };
        recorder.returned(number, process, value).then(|| {
            self.take_early(process);
            plain.rest
        })
    }

    /// The answer of an operation that says nothing when it returns, if it is of the usual kind.
    fn unsaid(&self, process: u32, operation: u16) -> Option<Token> {
        match self.early.get(process as usize) {
            Some(Early::Int(int)) => return Some(Token::Int(*int)),
            Some(Early::Text(_)) => return None,
            Some(Early::Nothing) | None => {}
        }
        match self.operations[usize::from(operation)].response {
            Shape::Unit => Some(Token::Null),
            Shape::Bool => Some(Token::Bool(true)),
            _ => None,
        }
    }

    /// Remembers the answer that the call of a process said in advance.
    fn keep_early(&mut self, process: u32, early: Early) {
        let process = process as usize;
        if process >= self.early.len() {
            self.early.resize(process + 1, Early::Nothing);
        }
        self.early[process] = early;
    }

    fn take_early(&mut self, process: u32) -> Early {
        self.early.get_mut(process as usize).map(std::mem::take).unwrap_or_default()
    }

    /// Takes a line without its end. This defines what a line says.
    fn line(
        &mut self,
        number: u64,
        line: &[u8],
        recorder: &mut Recorder,
    ) -> Result<(), IngestError> {
        let text = std::str::from_utf8(line).map_err(|error| {
            let wrong = error.valid_up_to();
            malformed_at(number, wrong, "UTF-8", &crate::excerpt(&line[wrong..]))
        })?;
        let blank = text.len() - text.trim_start().len();
        let text = text.trim();
        if text.is_empty() {
            return Ok(());
        }
        if let Some(comment) = text.strip_prefix('#') {
            self.header(comment, recorder);
            return Ok(());
        }
        if text == "crash" {
            self.early.clear();
            return recorder.record(&RawEvent {
                line: number,
                kind: Kind::Crash,
                process: None,
                f: None,
                key: None,
                value: View::NULL,
                time: None,
            });
        }
        match action(text) {
            Some((thread, Action::Call { name, value })) => {
                self.call(number, thread, name, value, recorder)
            }
            Some((thread, Action::Return { value })) => {
                self.answer(number, blank, thread, value, recorder)
            }
            None => {
                let expected = "`[thread] call name(value)` or `[thread] return value`";
                Err(malformed_at(number, blank, expected, &crate::excerpt(text.as_bytes())))
            }
        }
    }

    /// Says so if the text names another object than the specification.
    fn header(&self, comment: &str, recorder: &mut Recorder) {
        let Some(object) = comment.trim().strip_prefix("@object") else {
            return;
        };
        let object = object.trim();
        let is_other = object.strip_prefix("atomic-").unwrap_or(object) != self.spec;
        // Once: notes must not grow with the recording.
        if is_other && recorder.notes.is_empty() {
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
        let Some(operation) = self.operation(name) else {
            // An unknown name goes to the recorder as it is: it knows what to say.
            return record(line, Kind::Invoke, thread, Some(name), value, recorder);
        };
        let Signature { name, argument, .. } = &self.operations[operation];
        let (argument, early) =
            if *argument == Shape::Unit { (None, value) } else { (value, None) };
        record(line, Kind::Invoke, thread, Some(name), argument, recorder)?;
        if let Some(early) = early
            && thread != NEMESIS
        {
            self.keep_early(process(line, thread, recorder)?, Early::Text(early.into()));
        }
        Ok(())
    }

    /// Takes a return, which begins at this byte of the line.
    fn answer(
        &mut self,
        line: u64,
        byte: usize,
        thread: &str,
        value: Option<&str>,
        recorder: &mut Recorder,
    ) -> Result<(), IngestError> {
        if thread == NEMESIS {
            // The recorder skips it.
            return record(line, Kind::Ok, thread, None, value, recorder);
        }
        let process = process(line, thread, recorder)?;
        let early = match self.take_early(process) {
            Early::Nothing => None,
            Early::Int(int) => Some(int.to_string().into_boxed_str()),
            Early::Text(text) => Some(text),
        };
        let value = value.or(early.as_deref());
        if let (None, Some(open)) = (value, recorder.open_operation(process)) {
            let signature = &self.operations[usize::from(open)];
            if signature.response == Shape::Bool {
                // Adding and removing that is not said to have failed has succeeded.
                return record(line, Kind::Ok, thread, None, Some("true"), recorder);
            }
            if signature.response != Shape::Unit {
                let expected = format!("what `{}` returned, or `empty`", signature.name);
                return Err(malformed_at(line, byte, &expected, "`return`"));
            }
        }
        record(line, Kind::Ok, thread, None, value, recorder)
    }

    /// The operation with this name, or the one of this object that does what the name says.
    fn operation(&mut self, name: &str) -> Option<usize> {
        if let Some(known) = self.names.iter().find(|known| *known.text == *name) {
            return Some(usize::from(known.operation));
        }
        let operation = self.look_up(name)?;
        self.names.push(Name {
            text: name.into(),
            operation: operation as u16,
            takes: self.operations[operation].argument != Shape::Unit,
        });
        Some(operation)
    }

    fn look_up(&self, name: &str) -> Option<usize> {
        let find = |name: &str| self.operations.iter().position(|op| op.is_called(name));
        let others = [ADD, TAKE].into_iter().find(|[names, _]| names.contains(&name));
        find(name).or_else(|| others?[1].iter().find_map(|name| find(name)))
    }
}

/// The index of the process that a thread is.
fn process(line: u64, thread: &str, recorder: &mut Recorder) -> Result<u32, IngestError> {
    recorder.process(line, View { tokens: &[token(thread)], text: thread })
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
        time: None,
    })
}

/// A word as an integer, or else as a text.
fn token(word: &str) -> Token {
    match word.parse() {
        Ok(int) => Token::Int(int),
        Err(_) => Token::Text(Span::new(0, word.len())),
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
