//! JSON lines: one object a line, `{"process":0,"type":"invoke","f":"enqueue","value":7}`, fields
//! in any order.

use super::json_scan::{self, Layout};
use crate::error::IngestError;
use crate::event::Fields;
use crate::record::{Recorder, malformed, malformed_at};
use crate::token::{Bracket, Span, Token, number_token};
use serde_json::Value as Json;
use std::fmt::Write;

/// Reads JSON, a line or an object at a time.
#[derive(Clone, Debug, Default)]
pub(crate) struct JsonLines {
    layout: Layout,
    tokens: Vec<Token>,
    scratch: String,
}

impl JsonLines {
    pub fn line(
        &mut self,
        number: u64,
        line: &[u8],
        recorder: &mut Recorder,
    ) -> Result<(), IngestError> {
        if let Ok(text) = std::str::from_utf8(line)
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
        recorder.record(&event)
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
