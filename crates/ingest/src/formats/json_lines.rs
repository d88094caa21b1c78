//! JSON lines: one object a line, `{"process":0,"type":"invoke","f":"enqueue","value":7}`, fields
//! in any order.

use super::json_scan::{self, Layout};
use crate::error::IngestError;
use crate::event::Fields;
use crate::happens::{self, Happens};
use crate::record::{Recorder, malformed, malformed_at};
use crate::token::{Bracket, Span, Token, number_token};
use linchpin_history::{History, Precedence};
use serde_json::Value as Json;
use std::fmt::Write;

/// Reads JSON, a line or an object at a time.
#[derive(Clone, Debug, Default)]
pub(crate) struct JsonLines {
    layout: Layout,
    tokens: Vec<Token>,
    scratch: String,
    after: After,
}

/// What is done about an `after`, which says what precedes what.
#[derive(Clone, Debug, Default)]
enum After {
    /// It is looked for in each line, and refused.
    #[default]
    Refused,
    /// There is none in the text, unless it is written with escapes: then it is refused.
    Absent,
    /// It is noted.
    Noted(Happens),
}

impl JsonLines {
    pub fn line(
        &mut self,
        number: u64,
        line: &[u8],
        recorder: &mut Recorder,
    ) -> Result<(), IngestError> {
        if let Ok(text) = std::str::from_utf8(line)
            && !self.may_have_after(line)
            && self.fast(number, text, |rest| rest.iter().all(is_blank), recorder)?.is_some()
        {
            return Ok(());
        }
        if line.trim_ascii().is_empty() {
            return Ok(());
        }
        let json = serde_json::from_slice(line).map_err(|error| syntax(&error, line, number, 0))?;
        self.object(number, &json, recorder)
    }

    /// Says that all of a text is going to be read, and whether an `after` in it is wanted; whether
    /// there may be one.
    pub fn expect_after(&mut self, text: &[u8], wanted: bool, by_time: bool) -> bool {
        let is_written = memchr::memmem::find(text, happens::WRITTEN).is_some();
        self.after = match (is_written, wanted) {
            (false, _) => After::Absent,
            (true, true) => After::Noted(Happens::new(by_time)),
            (true, false) => After::Refused,
        };
        is_written
    }

    /// What the events say about precedence, if they do.
    pub fn precedence(&self, history: &History) -> Result<Option<Precedence>, IngestError> {
        match &self.after {
            After::Noted(happens) => happens.precedence(history),
            After::Refused | After::Absent => Ok(None),
        }
    }

    /// Whether the complete parser has to look at a text.
    pub fn may_have_after(&self, text: &[u8]) -> bool {
        match self.after {
            After::Absent => false,
            After::Noted(_) => true,
            After::Refused => memchr::memmem::find(text, happens::WRITTEN).is_some(),
        }
    }

    /// Takes the event that a text begins with, if it is of the usual kind and what follows is as
    /// wanted; its length.
    // Inlined, for otherwise the event is copied around.
    #[inline(always)]
    pub fn fast(
        &mut self,
        line: u64,
        text: &str,
        wanted: impl Fn(&[u8]) -> bool,
        recorder: &mut Recorder,
    ) -> Result<Option<usize>, IngestError> {
        self.tokens.clear();
        let mut fields = Fields::default();
        let end = json_scan::scan(text, &mut self.layout, &mut self.tokens, &mut fields);
        let Some(end) = end.filter(|end| wanted(&text.as_bytes()[*end..])) else {
            return Ok(None);
        };
        match fields.event(line, &self.tokens, text) {
            Ok(event) => recorder.record(&event).map(|()| Some(end)),
            Err(_) => Ok(None),
        }
    }

    /// One event, as complete JSON.
    pub fn object(
        &mut self,
        line: u64,
        json: &Json,
        recorder: &mut Recorder,
    ) -> Result<(), IngestError> {
        let fields = self.parse(line, json)?;
        let event = fields.event(line, &self.tokens, &self.scratch);
        let event = event.map_err(|missing| malformed(line, missing.expected, &missing.found))?;
        recorder.record(&event)?;
        match (&mut self.after, json) {
            (After::Noted(happens), Json::Object(object)) => happens.note(line, object, recorder),
            (_, Json::Object(object)) if happens::after(object).is_some() => {
                Err(IngestError::After { line })
            }
            _ => Ok(()),
        }
    }

    /// The fields of an event. This defines what a line says.
    fn parse(&mut self, line: u64, json: &Json) -> Result<Fields, IngestError> {
        self.tokens.clear();
        self.scratch.clear();
        let Json::Object(object) = json else {
            return Err(malformed(line, "a JSON object", &json.to_string()));
        };
        let mut fields = Fields::default();
        for (name, value) in object {
            if let Some(field) = fields.named(name.as_bytes()) {
                let start = self.tokens.len();
                push(value, &mut self.tokens, &mut self.scratch);
                *field = Some(Span::new(start, self.tokens.len()));
            }
        }
        Ok(fields)
    }
}

/// The blanks of JSON.
pub(super) fn is_blank(byte: &u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}

/// The tokens of a JSON value.
fn push(json: &Json, tokens: &mut Vec<Token>, scratch: &mut String) {
    match json {
        Json::Null => tokens.push(Token::Null),
        Json::Bool(b) => tokens.push(Token::Bool(*b)),
        Json::Number(number) => {
            let start = scratch.len();
            // Writing to a string does not fail.
            let _ = write!(scratch, "{number}");
            tokens.push(number_token(scratch, Span::new(start, scratch.len())));
        }
        Json::String(text) => push_text(text, tokens, scratch),
        Json::Array(items) => {
            tokens.push(Token::Open(Bracket::List));
            items.iter().for_each(|item| push(item, tokens, scratch));
            tokens.push(Token::Close);
        }
        Json::Object(members) => {
            tokens.push(Token::Open(Bracket::Map));
            for (name, value) in members {
                push_text(name, tokens, scratch);
                push(value, tokens, scratch);
            }
            tokens.push(Token::Close);
        }
    }
}

fn push_text(text: &str, tokens: &mut Vec<Token>, scratch: &mut String) {
    let start = scratch.len();
    scratch.push_str(text);
    tokens.push(Token::Text(Span::new(start, scratch.len())));
}

/// A line of another recorder that is an object of its own; nothing if the line is blank. Such
/// recorders say what is a key in their own way.
pub(crate) fn foreign(
    line: u64,
    text: &[u8],
    recorder: &mut Recorder,
) -> Result<Option<Json>, IngestError> {
    if text.trim_ascii().is_empty() {
        return Ok(None);
    }
    recorder.without_pairs();
    serde_json::from_slice(text).map(Some).map_err(|error| syntax(&error, text, line, 0))
}

/// What the JSON parser says about a text that begins at this line, after so many bytes of it.
pub(crate) fn syntax(
    error: &serde_json::Error,
    text: &[u8],
    line: u64,
    column: usize,
) -> IngestError {
    let message = error.to_string();
    let reason = message.split(" at line ").next().unwrap_or(&message);
    let before = error.line().saturating_sub(1);
    let wrong_line = text.split(|byte| *byte == b'\n').nth(before).unwrap_or_default();
    let rest = &wrong_line[error.column().saturating_sub(1).min(wrong_line.len())..];
    let byte = error.column().saturating_sub(1) + if before == 0 { column } else { 0 };
    let found = format!("{} ({reason})", crate::excerpt(rest));
    malformed_at(line + before as u64, byte, "JSON", &found)
}

#[cfg(test)]
mod tests;
