//! Jepsen's operation maps as EDN: in a vector, in a list, one a line, over several lines, with
//! comments between.
//!
//! [`EdnLines`] cuts what arrives into maps without looking inside, so that each map is parsed
//! once, when it is whole. Porcupine's key-value recordings are such maps too.

use super::edn::{Edn, EdnError};
use super::edn_scan::{self, Layout};
use crate::error::IngestError;
use crate::event::Fields;
use crate::fast::FastPath;
use crate::reader::MAX_LENGTH;
use crate::record::{Recorder, malformed, malformed_at};
use crate::token::{Span, Token};

/// Takes lines of EDN.
#[derive(Clone, Debug, Default)]
pub(crate) struct EdnLines {
    /// The form that has begun on an earlier line, up to this one.
    pending: Vec<u8>,
    cut: Cut,
    /// Whether the bracket around the events is open.
    bracketed: bool,
    maps: Maps,
}

/// Where the cutting is.
#[derive(Clone, Debug, Default)]
struct Cut {
    mode: Mode,
    /// Brackets that are open in this form.
    depth: u32,
    /// Whether a bracket must come before the form can end: there is a tag.
    tagged: bool,
    /// Where the form began: line, and column from 0.
    start: (u64, usize),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Mode {
    /// Between forms.
    #[default]
    Outside,
    Inside,
    InString,
    /// After a backslash in a string.
    Escape,
    /// After a backslash outside strings: the next byte is a character, whatever it is.
    Character,
}

/// A line of the text at hand.
#[derive(Clone, Copy, Debug)]
struct Line {
    number: u64,
    /// From and to, without its end.
    start: usize,
    end: usize,
}

impl Line {
    fn at(number: u64, start: usize, bytes: &[u8]) -> Line {
        let length = memchr::memchr(b'\n', &bytes[start..]);
        Line { number, start, end: length.map_or(bytes.len(), |length| start + length) }
    }

    /// The line that the end of this piece of text is on, if its beginning is on this one.
    fn after(self, from: usize, to: usize, bytes: &[u8]) -> Line {
        let piece = &bytes[from..to];
        match memchr::memrchr(b'\n', piece) {
            None => self,
            Some(last) => {
                let more = memchr::memchr_iter(b'\n', piece).count() as u64;
                Line::at(self.number + more, from + last + 1, bytes)
            }
        }
    }
}

impl EdnLines {
    /// Takes whole lines, the first of which has this number; how many.
    pub fn lines(
        &mut self,
        first: u64,
        bytes: &[u8],
        recorder: &mut Recorder,
    ) -> Result<u64, IngestError> {
        let text = std::str::from_utf8(bytes).ok();
        let mut line = Line::at(first, 0, bytes);
        loop {
            // Where something is no UTF-8, that does not concern the lines before and after it.
            line = match text {
                Some(_) => self.line(line, bytes, text, recorder)?,
                None => {
                    let alone = &bytes[line.start..line.end];
                    let itself = Line { number: line.number, start: 0, end: alone.len() };
                    self.line(itself, alone, std::str::from_utf8(alone).ok(), recorder)?;
                    line
                }
            };
            if line.end + 1 >= bytes.len() {
                return Ok(line.number + 1 - first);
            }
            line = Line::at(line.number + 1, line.end + 1, bytes);
        }
    }

    /// Takes a line, and the lines after it where a map goes on there; the last one taken.
    fn line(
        &mut self,
        mut line: Line,
        bytes: &[u8],
        text: Option<&str>,
        recorder: &mut Recorder,
    ) -> Result<Line, IngestError> {
        let (mut start, mut at) = (line.start, line.start);
        while at < line.end {
            let byte = bytes[at];
            if self.cut.mode == Mode::Outside {
                match byte {
                    b' ' | b',' | b'\t' | b'\r' | 0x0c => {}
                    b';' => break,
                    b'[' | b'(' if !self.bracketed => self.bracketed = true,
                    b']' | b')' if self.bracketed => self.bracketed = false,
                    _ => {
                        if let Some(text) = text.filter(|_| matches!(byte, b'{' | b'#'))
                            && FastPath::Uncut.is_taken()
                            && let Some(length) =
                                self.maps.uncut(&text[at..], line.number, recorder)?
                        {
                            line = line.after(at, at + length, bytes);
                            at += length;
                            continue;
                        }
                        start = at;
                        self.cut = Cut {
                            mode: Mode::Inside,
                            depth: 0,
                            tagged: matches!(byte, b'#' | b'^'),
                            start: (line.number, at - line.start),
                        };
                        continue;
                    }
                }
                at += 1;
                continue;
            }
            if self.cut.mode == Mode::Inside && byte == b';' {
                break;
            }
            let plain = self.cut.plain(&bytes[at..line.end]);
            if plain > 0 {
                at += plain;
                continue;
            }
            let (consumed, ends) = self.cut.step(byte);
            at += usize::from(consumed);
            if ends {
                self.cut.mode = Mode::Outside;
                self.form(&bytes[start..at], recorder)?;
            }
        }
        if self.cut.mode == Mode::Character {
            self.cut.mode = Mode::Inside;
        }
        // An atom ends with its line; its text is no map, which the parser will say.
        if self.cut.mode == Mode::Inside && self.cut.depth == 0 && !self.cut.tagged {
            self.cut.mode = Mode::Outside;
            self.form(&bytes[start..at], recorder)?;
        }
        if self.cut.mode != Mode::Outside {
            self.pending.extend_from_slice(&bytes[start..line.end]);
            self.pending.push(b'\n');
        }
        Ok(line)
    }

    pub fn finish(&mut self, recorder: &mut Recorder) -> Result<(), IngestError> {
        if self.cut.mode != Mode::Outside {
            // Brackets are cut without a look at their kind, so the mistake may be an earlier one.
            if let Some(error) = self.maps.mistake(&self.pending, self.cut.start) {
                return Err(error);
            }
            let (line, column) = self.cut.start;
            return Err(malformed_at(line, column, "a map with its end", "the end of the text"));
        }
        if self.bracketed {
            recorder.notes.push(
                "the bracket around the events is not closed: the recording may have been cut short"
                    .to_owned(),
            );
        }
        Ok(())
    }

    /// Takes the end of a form.
    fn form(&mut self, end: &[u8], recorder: &mut Recorder) -> Result<(), IngestError> {
        if self.pending.is_empty() {
            return self.maps.read(end, self.cut.start, recorder);
        }
        let mut form = std::mem::take(&mut self.pending);
        form.extend_from_slice(end);
        let result = self.maps.read(&form, self.cut.start, recorder);
        form.clear();
        self.pending = form;
        result
    }
}

impl Cut {
    /// How many of these bytes [`Cut::step`] would only take, without a change.
    fn plain(&self, bytes: &[u8]) -> usize {
        let means_something = |byte: &u8| match self.mode {
            Mode::Inside if self.depth > 0 => {
                matches!(byte, b'"' | b'\\' | b'{' | b'[' | b'(' | b'}' | b']' | b')' | b';')
            }
            Mode::InString => matches!(byte, b'"' | b'\\'),
            _ => true,
        };
        bytes.iter().position(means_something).unwrap_or(bytes.len())
    }

    /// Whether the form takes this byte, and whether it ends here.
    fn step(&mut self, byte: u8) -> (bool, bool) {
        match (self.mode, byte) {
            (Mode::Escape, _) => self.mode = Mode::InString,
            (Mode::Character, _) => self.mode = Mode::Inside,
            (Mode::InString, b'\\') => self.mode = Mode::Escape,
            (Mode::InString, b'"') => {
                self.mode = Mode::Inside;
                return (true, self.depth == 0 && !self.tagged);
            }
            (Mode::InString, _) => {}
            (_, b'"') => self.mode = Mode::InString,
            (_, b'\\') => self.mode = Mode::Character,
            (_, b'{' | b'[' | b'(') => self.depth += 1,
            (_, b'}' | b']' | b')') => {
                self.depth = self.depth.saturating_sub(1);
                return (true, self.depth == 0);
            }
            // A blank ends an atom without being part of it, and is part of everything else.
            (_, b' ' | b'\t' | b'\r' | b',') if self.depth == 0 && !self.tagged => {
                return (false, true);
            }
            _ => {}
        }
        (true, false)
    }
}

/// Reads operation maps.
#[derive(Clone, Debug, Default)]
struct Maps {
    layout: Layout,
    tokens: Vec<Token>,
    scratch: String,
}

impl Maps {
    /// Takes the map that a text begins with, of which this is the line, without cutting it out
    /// first; its length. Nothing if it is not of the usual kind or anything is wrong: it is cut
    /// out and given to `read` then.
    fn uncut(
        &mut self,
        text: &str,
        line: u64,
        recorder: &mut Recorder,
    ) -> Result<Option<usize>, IngestError> {
        self.tokens.clear();
        let mut fields = Fields::default();
        let length = edn_scan::scan(text, &mut self.layout, &mut self.tokens, &mut fields);
        // A backslash may be part of a keyword for the scanner, and takes the next byte with it
        // where maps are cut out.
        let is_usual =
            |length: &usize| memchr::memchr(b'\\', &text.as_bytes()[..*length]).is_none();
        let Some(length) = length.filter(is_usual) else { return Ok(None) };
        match fields.event(line, &self.tokens, text) {
            Ok(event) => recorder.record(&event).map(|()| Some(length)),
            Err(_) => Ok(None),
        }
    }

    /// The first mistake in a text, unless it is that it ends too early.
    fn mistake(&mut self, form: &[u8], start: (u64, usize)) -> Option<IngestError> {
        self.tokens.clear();
        self.scratch.clear();
        let text = std::str::from_utf8(form).ok().filter(|_| form.len() <= MAX_LENGTH)?;
        let error = map(&mut Edn::new(text, &mut self.tokens, &mut self.scratch)).err()?;
        let is_early = !text[error.at..].trim().is_empty() && error.at > 0;
        is_early.then(|| place(form, error.at, start, error.expected))
    }

    /// Takes a map that has been cut out.
    fn read(
        &mut self,
        form: &[u8],
        start: (u64, usize),
        recorder: &mut Recorder,
    ) -> Result<(), IngestError> {
        self.tokens.clear();
        self.scratch.clear();
        if form.len() > MAX_LENGTH {
            return Err(malformed(start.0, "a map of less than 4 GiB", "a longer one"));
        }
        let text = std::str::from_utf8(form)
            .map_err(|error| place(form, error.valid_up_to(), start, "UTF-8"))?;
        let mut fields = Fields::default();
        let length = edn_scan::scan(text, &mut self.layout, &mut self.tokens, &mut fields);
        if length == Some(text.len())
            && let Ok(event) = fields.event(start.0, &self.tokens, text)
        {
            return recorder.record(&event);
        }
        self.tokens.clear();
        let mut edn = Edn::new(text, &mut self.tokens, &mut self.scratch);
        let fields = whole_map(&mut edn);
        let Some(fields) = fields.map_err(|error| place(form, error.at, start, error.expected))?
        else {
            return Ok(());
        };
        let event = fields.event(start.0, &self.tokens, &self.scratch);
        let event =
            event.map_err(|missing| malformed(start.0, missing.expected, &missing.found))?;
        recorder.record(&event)
    }
}

/// The fields of an operation map that is all of a text; nothing if the text holds only a discarded
/// form.
fn whole_map(edn: &mut Edn<'_>) -> Result<Option<Fields>, EdnError> {
    if edn.at_end()? {
        return Ok(None);
    }
    let fields = map(edn)?;
    match edn.at_end()? {
        true => Ok(Some(fields)),
        false => Err(EdnError { at: edn.at, expected: "the end of the map" }),
    }
}

/// The fields of an operation map.
pub(super) fn map(edn: &mut Edn<'_>) -> Result<Fields, EdnError> {
    let mut fields = Fields::default();
    if !edn.begin_map()? {
        return Err(EdnError { at: edn.at, expected: "an operation map" });
    }
    while edn.more(b'}')? {
        if edn.at_end()? {
            return Err(EdnError { at: edn.at, expected: "`}`" });
        }
        let (tokens, scratch) = (edn.tokens.len(), edn.scratch.len());
        edn.form()?;
        let field = match edn.tokens.get(tokens) {
            Some(Token::Text(name)) => fields.named(name.of(edn.scratch).as_bytes()),
            _ => None,
        };
        edn.tokens.truncate(tokens);
        edn.scratch.truncate(scratch);
        edn.form()?;
        match field {
            Some(field) => *field = Some(Span::new(tokens, edn.tokens.len())),
            None => {
                edn.tokens.truncate(tokens);
                edn.scratch.truncate(scratch);
            }
        }
    }
    Ok(fields)
}

/// An error at this byte of a form that began there.
fn place(form: &[u8], at: usize, start: (u64, usize), expected: &str) -> IngestError {
    let before = &form[..at];
    let newlines = memchr::memchr_iter(b'\n', before).count();
    let column = match memchr::memrchr(b'\n', before) {
        Some(newline) => at - newline - 1,
        None => at + start.1,
    };
    let found = match String::from_utf8_lossy(&form[at..]).trim().chars().next() {
        None => "the end".to_owned(),
        Some(_) => crate::excerpt(&form[at..]),
    };
    malformed_at(start.0 + newlines as u64, column, expected, &found)
}
