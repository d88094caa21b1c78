//! Events: as a format says them, and as a history keeps them.

use crate::token::{Span, Token, View};
use linchpin_history::{Argument, RecoveredOutcome, ValueId};

/// What a recorded line says happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Invoke,
    Ok,
    Fail,
    Info,
    Crash,
    /// Recovery found that an interrupted operation took effect.
    RecoveredOk,
    /// Recovery found that an interrupted operation had no effect.
    RecoveredFail,
    /// A step inside an operation, which traces of models hold: no event of the history.
    Step,
}

impl Kind {
    pub fn named(name: &str) -> Option<Kind> {
        Some(match name {
            "invoke" => Kind::Invoke,
            "ok" => Kind::Ok,
            "fail" => Kind::Fail,
            "info" => Kind::Info,
            "crash" => Kind::Crash,
            "recovered-ok" => Kind::RecoveredOk,
            "recovered-fail" => Kind::RecoveredFail,
            "step" => Kind::Step,
            _ => return None,
        })
    }
}

/// One recorded line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RawEvent<'t> {
    pub line: u64,
    pub kind: Kind,
    pub process: Option<View<'t>>,
    /// The operation; answers need not repeat it.
    pub f: Option<&'t str>,
    pub key: Option<View<'t>>,
    pub value: View<'t>,
    /// When, in nanoseconds.
    pub time: Option<i64>,
}

/// Where the fields of an operation map are among its tokens, while it is read.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Fields {
    pub process: Option<Span>,
    pub kind: Option<Span>,
    /// The type, where it is known without looking at `kind`.
    pub known_kind: Option<Kind>,
    pub f: Option<Span>,
    pub key: Option<Span>,
    pub value: Option<Span>,
    pub time: Option<Span>,
}

impl Fields {
    /// The field with this name; nothing for the names that mean nothing here, such as `index`.
    pub fn named(&mut self, name: &[u8]) -> Option<&mut Option<Span>> {
        Some(match name {
            b"process" => &mut self.process,
            b"type" => &mut self.kind,
            b"f" => &mut self.f,
            b"key" => &mut self.key,
            b"value" => &mut self.value,
            b"time" => &mut self.time,
            _ => return None,
        })
    }

    /// The event; what is missing or wrong otherwise.
    // Inlined, for otherwise the event is copied around, which costs as much as reading a field.
    #[inline(always)]
    pub fn event<'t>(
        &self,
        line: u64,
        tokens: &'t [Token],
        text: &'t str,
    ) -> Result<RawEvent<'t>, Missing> {
        let view = |field: Option<Span>| Some(View { tokens: tokens.get(field?.range())?, text });
        let present = |field| view(field).filter(|view| view.first() != Token::Null);
        let kind = present(self.kind);
        let read = || kind.and_then(|kind| kind.as_text()).and_then(Kind::named);
        let named = self.known_kind.or_else(read);
        let found = |field: Option<View<'_>>| {
            field.map_or_else(|| "none".to_owned(), |field| field.to_string())
        };
        let Some(kind) = named else {
            let expected = "a `type` of `invoke`, `ok`, `fail`, `info`, `crash`, `recovered-ok` or \
                            `recovered-fail`";
            return Err(Missing { expected, found: found(kind) });
        };
        let f = present(self.f);
        let name = f.and_then(|f| f.as_text());
        let is_event = !matches!(kind, Kind::Crash | Kind::Step);
        if is_event && name.is_none() && (f.is_some() || kind == Kind::Invoke) {
            let expected = "an operation name in `f`";
            return Err(Missing { expected, found: found(f) });
        }
        let process = present(self.process);
        if is_event && process.is_none() {
            return Err(Missing { expected: "a `process`", found: found(None) });
        }
        let (key, value) = (present(self.key), view(self.value).unwrap_or(View::NULL));
        let time = match self.time.and_then(|span| tokens.get(span.range().start)) {
            Some(Token::Int(time)) => Some(*time),
            _ => None,
        };
        Ok(RawEvent { line, kind, process, f: name, key, value, time })
    }
}

/// A field that an event needs and does not have.
#[derive(Debug)]
pub(crate) struct Missing {
    pub expected: &'static str,
    pub found: String,
}

/// An event as it entered the history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// The line that it is from.
    pub line: u64,
    /// What happened.
    pub kind: EventKind,
}

/// What happened. Processes, operations and values are the numbers that the history gives them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// A process called an operation.
    Invoke {
        /// The process.
        process: u32,
        /// The operation.
        operation: u16,
        /// The object, where one history records many.
        key: ValueId,
        /// With what.
        argument: Argument,
    },
    /// The open operation of a process returned.
    Ok {
        /// The process.
        process: u32,
        /// What it answered.
        response: Argument,
    },
    /// The open operation of a process did not happen.
    Fail {
        /// The process.
        process: u32,
    },
    /// The outcome of the open operation of a process is unknown.
    Info {
        /// The process.
        process: u32,
    },
    /// A process, or everything, crashed.
    Crash {
        /// The process; the whole system if absent.
        process: Option<u32>,
    },
    /// Recovery said what became of the operation of a process that a crash interrupted.
    Recovered {
        /// The process.
        process: u32,
        /// What became of it.
        outcome: RecoveredOutcome,
    },
}
