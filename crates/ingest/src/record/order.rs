//! Events in the order of their times.
//!
//! All events are held until the last is there, and are recorded then. Events of one time overlap:
//! at one time calls come before all else, but for the order of each process's own events. So a
//! process that returns and calls again at one time does so in the second round of that time.

use crate::error::IngestError;
use crate::event::{Kind, RawEvent};
use crate::token::{Span, Token, View};
use rustc_hash::FxHashMap;

/// Events that wait for their turn.
#[derive(Clone, Debug, Default)]
pub(super) struct Waiting {
    events: Vec<Held>,
    /// The number of each process that was named.
    processes: FxHashMap<Box<str>, usize>,
    /// The last event of each process.
    last: Vec<Last>,
    /// The time of the last event: of those that need none.
    time: i64,
}

#[derive(Clone, Copy, Debug)]
struct Last {
    time: i64,
    line: u64,
    round: u32,
    /// Whether it was something else than a call.
    is_answer: bool,
}

/// An event with what it points into.
#[derive(Clone, Debug)]
struct Held {
    /// When: the time, the round of it, and whether it is no call. Then the line.
    at: (i64, u32, bool, u64),
    time: Option<i64>,
    kind: Kind,
    tokens: Vec<Token>,
    text: String,
    process: Option<Span>,
    f: Option<Span>,
    key: Option<Span>,
    value: Span,
}

impl Waiting {
    /// Takes an event that was read. What is `beside` the history needs no time.
    pub fn push(&mut self, raw: &RawEvent<'_>, beside: bool) -> Result<(), IngestError> {
        let time = match raw.time {
            Some(time) => time,
            None if beside => self.time,
            None => return Err(IngestError::NoTime { line: raw.line }),
        };
        self.time = time;
        let is_answer = raw.kind != Kind::Invoke;
        let round = match raw.process.filter(|_| !beside) {
            Some(process) => self.round(process, raw.line, time, is_answer)?,
            None => 0,
        };
        let (mut tokens, mut text) = (Vec::new(), String::new());
        let mut hold = |view: View<'_>| {
            let start = tokens.len();
            view.copy(&mut tokens, &mut text);
            Span::new(start, tokens.len())
        };
        let process = raw.process.map(&mut hold);
        let (key, value) = (raw.key.map(&mut hold), hold(raw.value));
        let f = raw.f.map(|f| {
            let start = text.len();
            text.push_str(f);
            Span::new(start, text.len())
        });
        let at = (time, round, is_answer, raw.line);
        let (time, kind) = (raw.time, raw.kind);
        self.events.push(Held { at, time, kind, tokens, text, process, f, key, value });
        Ok(())
    }

    /// The round of its time that an event of a process is in.
    fn round(
        &mut self,
        process: View<'_>,
        line: u64,
        time: i64,
        is_answer: bool,
    ) -> Result<u32, IngestError> {
        let name = match process.first() {
            Token::Text(span) => span.of(process.text).into(),
            _ => process.to_string().into_boxed_str(),
        };
        let next = self.last.len();
        let at = *self.processes.entry(name).or_insert(next);
        let Some(last) = self.last.get(at).copied() else {
            self.last.push(Last { time, line, round: 0, is_answer });
            return Ok(0);
        };
        if time < last.time {
            let process = process.to_string();
            return Err(IngestError::TimeGoesBack { line, process, since: last.line });
        }
        let is_next = time == last.time && last.is_answer && !is_answer;
        let round = if time == last.time { last.round + u32::from(is_next) } else { 0 };
        self.last[at] = Last { time, line, round, is_answer };
        Ok(round)
    }

    /// All events, in their order.
    pub fn in_order(
        mut self,
        mut record: impl FnMut(&RawEvent<'_>) -> Result<(), IngestError>,
    ) -> Result<(), IngestError> {
        // Stable: events of one line stay in their order.
        self.events.sort_by_key(|held| held.at);
        self.events.iter().try_for_each(|held| {
            let view = |span: Span| View { tokens: &held.tokens[span.range()], text: &held.text };
            record(&RawEvent {
                line: held.at.3,
                kind: held.kind,
                process: held.process.map(view),
                f: held.f.map(|span| span.of(&held.text)),
                key: held.key.map(view),
                value: view(held.value),
                time: held.time,
            })
        })
    }
}
