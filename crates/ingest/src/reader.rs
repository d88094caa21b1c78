//! Reading as the text arrives, line by line.

use crate::error::IngestError;
use crate::event::{Event, Fields};
use crate::format::Format;
use crate::formats::etcd::Operations;
use crate::formats::fastlin::Fastlin;
use crate::formats::jepsen_edn::EdnLines;
use crate::formats::jepsen_log::JepsenLog;
use crate::formats::json_document;
use crate::formats::json_lines::JsonLines;
use crate::formats::limo::Limo;
use crate::formats::s2::S2;
use crate::formats::test_jepsen;
use crate::formats::tipocket::Tipocket;
use crate::options::{Order, ReadOptions};
use crate::record::{Recorder, malformed};
use crate::recording::Recording;
use crate::remark::Remark;
use crate::token::Token;
use linchpin_history::History;

/// Tokens point into lines with 32 bits.
pub(crate) const MAX_LENGTH: usize = u32::MAX as usize;

/// Takes a recording line by line and answers at each what happened.
///
/// ```
/// use linchpin_ingest::{EventKind, Format, ReadOptions, Reader};
/// use linchpin_spec::{Queue, Spec};
///
/// let queue = Queue::default();
/// let mut reader = Reader::new(Format::JsonLines, &ReadOptions::new("queue", queue.operations()));
/// let events = reader.push_line(br#"{"process":"a","type":"invoke","f":"enqueue","value":7}"#)?;
/// assert!(matches!(events[0].kind, EventKind::Invoke { process: 0, operation: 0, .. }));
/// let events = reader.push_line(br#"{"process":"a","type":"ok","f":"enqueue"}"#)?;
/// assert!(matches!(events[0].kind, EventKind::Ok { process: 0, .. }));
/// assert_eq!(reader.finish()?.completed, 1);
/// # Ok::<(), linchpin_ingest::IngestError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Reader {
    format: Format,
    lines: Lines,
    recorder: Recorder,
    line: u64,
    /// Whether the end of the text was taken.
    ended: bool,
}

#[derive(Clone, Debug)]
enum Lines {
    Json(JsonLines),
    Edn(EdnLines),
    Log(JepsenLog),
    Fastlin(Fastlin),
    Limo(Limo),
    Tipocket(Tipocket),
    S2(S2),
    Whole(Whole),
}

/// A recording that is only read when all of it is there.
#[derive(Clone, Debug)]
struct Whole {
    bytes: Vec<u8>,
    most: u64,
}

impl Whole {
    fn push(&mut self, line: &[u8]) -> Result<(), IngestError> {
        if (self.bytes.len() + line.len()) as u64 > self.most {
            return Err(IngestError::Endless { most: self.most });
        }
        self.bytes.extend_from_slice(line);
        Ok(())
    }

    fn finish(&self, format: Format, recorder: &mut Recorder) -> Result<(), IngestError> {
        if format == Format::TestJepsen {
            let edn = test_jepsen::to_edn(&self.bytes, self.most)?;
            let mut lines = EdnLines::default();
            lines.lines(1, &edn, recorder)?;
            return lines.finish(recorder);
        }
        let mut operations = Operations::default();
        operations.read(&self.bytes)?;
        operations.record(recorder)
    }
}

impl Reader {
    /// A reader of this format; [`ReadOptions::format`] is not looked at.
    pub fn new(format: Format, options: &ReadOptions<'_>) -> Reader {
        let lines = match format {
            Format::JsonLines => Lines::Json(JsonLines::default()),
            Format::JepsenEdn | Format::PorcupineKv => Lines::Edn(EdnLines::default()),
            Format::JepsenLog => Lines::Log(JepsenLog::default()),
            Format::Fastlin => Lines::Fastlin(Fastlin::new(options)),
            Format::Limo => Lines::Limo(Limo::new(options)),
            Format::Tipocket => Lines::Tipocket(Tipocket::default()),
            Format::S2 => Lines::S2(S2::default()),
            Format::TestJepsen | Format::EtcdOperations => {
                Lines::Whole(Whole { bytes: Vec::new(), most: options.most_bytes })
            }
        };
        let mut recorder = Recorder::new(format, options);
        recorder.reads_once();
        if has_no_pairs(format) {
            recorder.without_pairs();
        }
        Reader { format, lines, recorder, line: 0, ended: false }
    }

    /// A reader that does not keep the events: only the whole recording is wanted, and it can be
    /// read again.
    pub(crate) fn silent(format: Format, options: &ReadOptions<'_>) -> Reader {
        let mut reader = Reader::new(format, options);
        reader.recorder = Recorder::new(format, options);
        if has_no_pairs(format) {
            reader.recorder.without_pairs();
        }
        reader.recorder.keeps_events = false;
        reader
    }

    /// Whether what was refused may fit if its values are no pairs of key and value.
    pub(crate) fn wants_plain(&self) -> bool {
        self.recorder.wants_plain()
    }

    /// Takes the next line, with or without its end; what happened in it, in order. An EDN map may
    /// begin on one line and end on another; of formats that are read as a
    /// [whole](Format::is_whole), what happened is only known when all is there.
    pub fn push_line(&mut self, line: &[u8]) -> Result<&[Event], IngestError> {
        self.line += 1;
        self.recorder.events.clear();
        if let Lines::Whole(whole) = &mut self.lines {
            whole.push(line)?;
            return Ok(&self.recorder.events);
        }
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let (number, recorder) = (self.line, &mut self.recorder);
        if line.len() > MAX_LENGTH {
            return Err(malformed(number, "a line of less than 4 GiB", "a longer one"));
        }
        match &mut self.lines {
            Lines::Json(lines) => lines.line(number, line, recorder)?,
            Lines::Edn(lines) => drop(lines.lines(number, line, recorder)?),
            Lines::Log(lines) => lines.line(number, line, recorder)?,
            Lines::Fastlin(lines) => drop(lines.lines(number, line)?),
            Lines::Limo(lines) => drop(lines.lines(number, line, recorder)?),
            Lines::Tipocket(lines) => lines.line(number, line, recorder)?,
            Lines::S2(lines) => lines.line(number, line, recorder)?,
            Lines::Whole(_) => {}
        }
        Ok(&self.recorder.events)
    }

    /// Takes whole lines, of which the last need not have its end. What is read is what
    /// [`Reader::push_line`] reads line by line; formats whose lines are short, or whose events are
    /// written over several, are read faster so.
    pub(crate) fn push_lines(&mut self, text: &[u8]) -> Result<(), IngestError> {
        let (first, recorder) = (self.line + 1, &mut self.recorder);
        let taken = match &mut self.lines {
            _ if text.len() > MAX_LENGTH => return self.push_each_line(text),
            Lines::Edn(lines) => lines.lines(first, text, recorder)?,
            Lines::Fastlin(lines) => lines.lines(first, text)?,
            Lines::Limo(lines) => lines.lines(first, text, recorder)?,
            _ => return self.push_each_line(text),
        };
        self.line += taken;
        Ok(())
    }

    fn push_each_line(&mut self, text: &[u8]) -> Result<(), IngestError> {
        let mut rest = text;
        while !rest.is_empty() {
            let end = memchr::memchr(b'\n', rest).map_or(rest.len(), |newline| newline + 1);
            self.push_line(&rest[..end])?;
            rest = &rest[end..];
        }
        Ok(())
    }

    /// Takes the next line, whose fields were found among these tokens.
    #[inline]
    pub(crate) fn push_scanned(
        &mut self,
        line: &str,
        fields: &Fields,
        tokens: &[Token],
    ) -> Result<(), IngestError> {
        match fields.event(self.line + 1, tokens, line) {
            Ok(event) => {
                self.line += 1;
                self.recorder.events.clear();
                self.recorder.record(&event)
            }
            Err(_) => self.push_line(line.as_bytes()).map(drop),
        }
    }

    /// The history under way: its values, and the names behind the numbers of [`Event`].
    pub fn history(&self) -> &History {
        self.recorder.builder.history()
    }

    /// Forgets operations that have returned, so that an endless recording can be read in bounded
    /// memory. Operations and values get new ids.
    pub fn forget_returned(&mut self) {
        self.recorder.forget_returned();
    }

    /// The lines so far.
    pub fn lines(&self) -> u64 {
        self.line
    }

    /// The whole recording.
    pub fn finish(mut self) -> Result<Recording, IngestError> {
        if !self.ended {
            self.end()?;
        }
        let precedence = match &self.lines {
            Lines::Json(lines) => lines.precedence(self.recorder.builder.history())?,
            _ => None,
        };
        let mut recording = self.recorder.finish(self.format);
        if let Some(order) = &precedence {
            if order.len() != recording.history.operations.len() {
                return Err(IngestError::AfterAndDrain);
            }
            // No order of lines or times was taken.
            recording.remarks.retain(|remark| !matches!(remark, Remark::TimesGoBack { .. }));
        }
        recording.precedence = precedence;
        Ok(recording)
    }

    /// Takes the end of the text.
    pub(crate) fn end(&mut self) -> Result<(), IngestError> {
        self.ended = true;
        match &mut self.lines {
            Lines::Edn(lines) => lines.finish(&mut self.recorder)?,
            Lines::Fastlin(lines) => lines.finish(&mut self.recorder)?,
            // Anything is a log; one that says nothing was mistaken for one.
            Lines::Log(_) if !self.recorder.has_events() => return Err(IngestError::NoEvent),
            Lines::Whole(whole) => whole.finish(self.format, &mut self.recorder)?,
            _ => {}
        }
        self.recorder.end()
    }

    /// Says that all of a text is going to be read; whether it may say what precedes what.
    pub(crate) fn expect_after(&mut self, text: &[u8], options: &ReadOptions<'_>) -> bool {
        let by_time = options.order == Order::Time;
        match &mut self.lines {
            Lines::Json(lines) => lines.expect_after(text, options.partial, by_time),
            _ => false,
        }
    }

    /// Takes JSON objects that are not one a line: a whole text.
    pub(crate) fn push_document(&mut self, text: &[u8]) -> Result<(), IngestError> {
        match &mut self.lines {
            Lines::Json(lines) => json_document::read(text, lines, &mut self.recorder),
            _ => json_document::read(text, &mut JsonLines::default(), &mut self.recorder),
        }
    }
}

/// Whether a format has no pairs of key and value.
fn has_no_pairs(format: Format) -> bool {
    matches!(format, Format::Fastlin | Format::Limo)
}
