//! Jepsen's console log and its `history.txt`: `process`, `:type`, `:f` and the value, between
//! tabs, after whatever the logger writes before them. Lines that are not so are skipped.

use super::edn::{Edn, EdnError};
use super::edn_scan;
use crate::error::IngestError;
use crate::event::{Kind, RawEvent};
use crate::record::{Recorder, malformed_at};
use crate::token::{Token, View};

/// Whether a line is an event.
pub(crate) fn is_event(line: &[u8]) -> bool {
    columns(line).is_some()
}

/// The columns of an event.
struct Columns<'a> {
    kind: Kind,
    process: &'a [u8],
    f: &'a [u8],
    rest: &'a [u8],
}

fn columns(line: &[u8]) -> Option<Columns<'_>> {
    memchr::memchr_iter(b'\t', line).find_map(|tab| {
        let after = line[tab + 1..].strip_prefix(b":")?;
        let (name, rest) = split_at_tab(after);
        let kind = match name.trim_ascii_end() {
            b"invoke" => Kind::Invoke,
            b"ok" => Kind::Ok,
            b"fail" => Kind::Fail,
            b"info" => Kind::Info,
            _ => return None,
        };
        let (f, rest) = split_at_tab(rest.trim_ascii_start().strip_prefix(b":")?);
        let before = line[..tab].trim_ascii_end();
        let start = before.iter().rposition(|byte| byte.is_ascii_whitespace());
        let process = &before[start.map_or(0, |start| start + 1)..];
        (!process.is_empty()).then_some(Columns { kind, process, f: f.trim_ascii_end(), rest })
    })
}

fn split_at_tab(text: &[u8]) -> (&[u8], &[u8]) {
    let tab = memchr::memchr(b'\t', text).unwrap_or(text.len());
    (&text[..tab], text.get(tab + 1..).unwrap_or_default())
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
        if line.trim_ascii().is_empty() {
            return Ok(());
        }
        let Some(columns) = columns(line) else {
            recorder.skip();
            return Ok(());
        };
        self.tokens.clear();
        self.scratch.clear();
        let process = self.column(columns.process, line, number)?;
        // What stands there otherwise is why: `:timed-out`, or free text.
        let value = match columns.kind {
            Kind::Invoke | Kind::Ok => self.column(columns.rest, line, number)?,
            _ => None,
        };
        let f = std::str::from_utf8(columns.f)
            .map_err(|_| at(line, columns.f, number, "the name of an operation"))?;
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

    /// The form that a column begins with.
    fn column<'l>(
        &mut self,
        column: &'l [u8],
        line: &[u8],
        number: u64,
    ) -> Result<Option<Form<'l>>, IngestError> {
        let text = std::str::from_utf8(column).map_err(|_| at(line, column, number, "UTF-8"))?;
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
        form.map_err(|EdnError { at: offset, expected }| {
            at(line, &column[offset..], number, expected)
        })?;
        Ok(Some(Form { start, end: self.tokens.len(), text: None }))
    }
}

/// An error where this part of the line begins.
fn at(line: &[u8], part: &[u8], number: u64, expected: &str) -> IngestError {
    malformed_at(number, crate::offset(line, part), expected, &crate::excerpt(part))
}
