//! Jepsen's console log and its `history.txt`: `process`, `:type`, `:f` and the value, between tabs
//! or blanks, after whatever the logger writes before them.
//!
//! What is an event, in a line of words:
//!
//! - A *type* is one of the words `:invoke`, `:ok`, `:fail`, `:info`. The word before it is the
//!   process, the word after it is the operation, a keyword (`:write`).
//! - The process is a number, `:nemesis`, or, where a tab is between it and the type, any word
//!   without brackets. Another name is a process if it begins the line or comes after a word that
//!   ends in `-` or `:` (as loggers end what they write), and the operation is one of the object's.
//! - Such a line is an event. What is not understood in it is an error.
//! - A line is an error too if it has a number where an event begins, and a type after it, but no
//!   operation; or a type and then the name of an operation of the object, but no process; or,
//!   before such a name, a word that is almost a type (`ok`, `:OK`, `1:ok`, `:ok,`), or a number
//!   and any other keyword (`3 :okk :read`).
//! - All other lines are skipped: what a test says as it runs, stack traces, sentences with `:ok`
//!   in them, maps that were printed (`{:type :ok :f :read}`).

use super::edn::{Edn, EdnError};
use super::edn_scan;
use crate::error::IngestError;
use crate::event::{Kind, RawEvent};
use crate::record::{Recorder, malformed_at};
use crate::token::{Span, Token, View};

/// Whether a line is an event.
pub(crate) fn is_event(line: &[u8]) -> bool {
    matches!(line_kind(line, |_| false), LineKind::Event(_))
}

/// What a line is.
enum LineKind<'a> {
    Event(Columns<'a>),
    /// It looks like an event; what is missing, and where.
    Broken {
        expected: &'static str,
        at: &'a [u8],
    },
    Other,
}

/// The columns of an event.
struct Columns<'a> {
    kind: Kind,
    process: &'a [u8],
    f: &'a [u8],
    rest: &'a [u8],
}

/// What a line is, for an object with these operations.
fn line_kind(line: &[u8], is_operation: impl Fn(&[u8]) -> bool + Copy) -> LineKind<'_> {
    for colon in memchr::memchr_iter(b':', line) {
        let Some((kind, rest)) = type_at(line, colon) else { continue };
        let before = &line[..colon];
        let process = last_word(before);
        let rest = rest.trim_ascii_start();
        let word = &rest[..rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len())];
        let f = word.strip_prefix(b":").filter(|f| !f.is_empty());
        let is_number = is_number(process);
        match f {
            Some(f) if is_process(before, process, || is_operation(f)) => {
                return LineKind::Event(Columns { kind, process, f, rest: &rest[word.len()..] });
            }
            Some(f) if is_operation(f) => {
                return LineKind::Broken { expected: "a process before the type", at: line };
            }
            None if is_number && (begins_event(before, process) || is_operation(word)) => {
                return LineKind::Broken { expected: "an operation such as `:read`", at: rest };
            }
            _ => {}
        }
    }
    match nearly_event(line, is_operation) {
        true => LineKind::Broken { expected: "a type such as `:ok` between blanks", at: line },
        false => LineKind::Other,
    }
}

/// Whether a word that is almost a type (`ok`, `:OK`, `1:ok`, `:ok,`), or a number and a keyword
/// that is none (`3 :okk`), comes before an operation of the object.
fn nearly_event(line: &[u8], is_operation: impl Fn(&[u8]) -> bool) -> bool {
    let words = || line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let plain = |word: &'_ [u8]| word.strip_suffix(b",").map_or(word.len(), <[u8]>::len);
    let mut after_number = false;
    words().zip(words().skip(1)).any(|(one, next)| {
        let has_number = std::mem::replace(&mut after_number, is_number(one));
        let (one, next) = (&one[..plain(one)], &next[..plain(next)]);
        let name = one.rsplit(|byte| *byte == b':').next().unwrap_or(one);
        let is_type = ["invoke", "ok", "okay", "fail", "info"]
            .iter()
            .any(|kind| name.eq_ignore_ascii_case(kind.as_bytes()));
        let is_keyword = has_number && one.starts_with(b":");
        (is_type || is_keyword) && next.strip_prefix(b":").is_some_and(&is_operation)
    })
}

/// The type that is the word at this colon, and what comes after it.
fn type_at(line: &[u8], colon: usize) -> Option<(Kind, &[u8])> {
    let is_blank = |byte: Option<&u8>| byte.is_none_or(u8::is_ascii_whitespace);
    let before = colon.checked_sub(1).and_then(|at| line.get(at));
    let types = [
        (&b":invoke"[..], Kind::Invoke),
        (b":ok", Kind::Ok),
        (b":fail", Kind::Fail),
        (b":info", Kind::Info),
    ];
    let (name, kind) = types.into_iter().find(|(name, _)| line[colon..].starts_with(name))?;
    let rest = &line[colon + name.len()..];
    (is_blank(before) && is_blank(rest.first())).then_some((kind, rest))
}

fn last_word(text: &[u8]) -> &[u8] {
    let text = text.trim_ascii_end();
    let start = text.iter().rposition(u8::is_ascii_whitespace);
    &text[start.map_or(0, |start| start + 1)..]
}

fn is_number(word: &[u8]) -> bool {
    let digits = word.strip_prefix(b"-").unwrap_or(word);
    !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
}

/// Whether this word, the last of what is before a type, is a process.
fn is_process(before: &[u8], word: &[u8], calls: impl Fn() -> bool) -> bool {
    let has_tab = before[before.trim_ascii_end().len()..].contains(&b'\t');
    let name = word.strip_prefix(b":").unwrap_or(word);
    let is_plain = |byte: &u8| {
        !matches!(byte, b'{' | b'}' | b'[' | b']' | b'(' | b')' | b'"' | b',' | b';' | b':')
    };
    if is_number(word) || name == b"nemesis" {
        return true;
    }
    // `:type :ok :f :read` is out of a map.
    let is_name = !name.is_empty() && name != b"type" && name.iter().all(is_plain);
    is_name && (has_tab || (begins_event(before, word) && calls()))
}

/// Whether this word, the last of what is before a type, is where an event begins: nothing is
/// before it but what a logger wrote.
fn begins_event(before: &[u8], word: &[u8]) -> bool {
    let prefix = before.trim_ascii_end();
    let prefix = prefix[..prefix.len() - word.len()].trim_ascii_end();
    matches!(prefix.last(), None | Some(b'-' | b':'))
}

/// The tokens of a form, from and to, and what they point into if that is not the scratch text.
struct Form<'l> {
    start: usize,
    end: usize,
    text: Option<&'l str>,
}

/// Takes lines of a log.
#[derive(Clone, Debug, Default)]
pub(crate) struct JepsenLog {
    tokens: Vec<Token>,
    scratch: String,
}

impl JepsenLog {
    pub fn line(
        &mut self,
        number: u64,
        line: &[u8],
        recorder: &mut Recorder,
    ) -> Result<(), IngestError> {
        let is_operation = |name: &[u8]| {
            std::str::from_utf8(name).is_ok_and(|name| recorder.known_operation(name).is_some())
        };
        let columns = match line_kind(line, is_operation) {
            LineKind::Event(columns) => columns,
            LineKind::Broken { expected, at } => return Err(wrong(line, at, number, expected)),
            LineKind::Other if line.trim_ascii().is_empty() => return Ok(()),
            LineKind::Other => {
                recorder.skip();
                return Ok(());
            }
        };
        self.tokens.clear();
        self.scratch.clear();
        let process = self.column(columns.process, line, number)?;
        let value = match columns.kind {
            Kind::Invoke | Kind::Ok => self.column(columns.rest, line, number)?,
            // What stands there otherwise is why: `:timed-out`, or free text.
            _ => self.reason(columns.rest),
        };
        let f = std::str::from_utf8(columns.f)
            .map_err(|_| wrong(line, columns.f, number, "the name of an operation"))?;
        recorder.record(&RawEvent {
            line: number,
            kind: columns.kind,
            process: process.map(|form| self.view(form)),
            f: Some(f),
            key: None,
            value: value.map_or(View::NULL, |form| self.view(form)),
            time: None,
        })
    }

    fn view<'t>(&'t self, form: Form<'t>) -> View<'t> {
        let text = form.text.unwrap_or(&self.scratch);
        View { tokens: &self.tokens[form.start..form.end], text }
    }

    /// The form that a column begins with, or else its text.
    fn reason<'l>(&mut self, column: &'l [u8]) -> Option<Form<'l>> {
        let (start, written) = (self.tokens.len(), self.scratch.len());
        if let Ok(form) = self.column(column, column, 0) {
            return form;
        }
        self.tokens.truncate(start);
        self.scratch.truncate(written);
        self.scratch.push_str(String::from_utf8_lossy(column).trim());
        self.tokens.push(Token::Text(Span::new(written, self.scratch.len())));
        Some(Form { start, end: start + 1, text: None })
    }

    /// The form that a column begins with.
    fn column<'l>(
        &mut self,
        column: &'l [u8],
        line: &[u8],
        number: u64,
    ) -> Result<Option<Form<'l>>, IngestError> {
        let text = std::str::from_utf8(column).map_err(|_| wrong(line, column, number, "UTF-8"))?;
        let start = self.tokens.len();
        if edn_scan::form(text, &mut self.tokens).is_some() {
            return Ok(Some(Form { start, end: self.tokens.len(), text: Some(text) }));
        }
        self.tokens.truncate(start);
        if text.trim().is_empty() {
            return Ok(None);
        }
        let mut edn = Edn::new(text, &mut self.tokens, &mut self.scratch);
        let form = edn.form();
        form.map_err(|EdnError { at, expected }| wrong(line, &column[at..], number, expected))?;
        Ok(Some(Form { start, end: self.tokens.len(), text: None }))
    }
}

/// An error where this part of the line begins.
fn wrong(line: &[u8], part: &[u8], number: u64, expected: &str) -> IngestError {
    malformed_at(number, crate::offset(line, part), expected, &crate::excerpt(part))
}
