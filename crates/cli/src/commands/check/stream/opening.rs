//! How a stream begins: which format it is in, which specification is meant, and whether it can be
//! judged as it arrives. Its first lines are kept until that is known.

use crate::commands::check::recording::Subject;
use linchpin_ingest::{EventKind, Format, IngestError, Reader};

/// More than so many bytes are not looked at to find out which specification is meant.
const MEANT_WITHIN: usize = 1 << 20;

/// What the beginning of a stream tells.
pub enum Opened {
    /// Its lines can be judged as they arrive.
    Lines {
        format: Format,
        /// The specification that is meant, if that is another one than was named.
        instead: Option<Subject<'static>>,
    },
    /// All of it is needed.
    Whole(Format),
    /// There is nothing in it.
    Nothing,
}

/// The first lines of a stream.
pub struct Opening<'a> {
    subject: &'a Subject<'a>,
    /// The lines.
    pub text: Vec<u8>,
    format: Option<Format>,
    /// Reads as the specification says that was named, if another may be meant.
    trial: Option<Reader>,
    /// How much of the text the trial was given.
    tried: usize,
}

impl<'a> Opening<'a> {
    pub fn new(subject: &'a Subject<'a>) -> Opening<'a> {
        let format = subject.args.format;
        Opening { subject, text: Vec::new(), format, trial: None, tried: 0 }
    }

    /// Takes the next line; what is known, if that is enough.
    pub fn push(&mut self, line: &[u8]) -> Result<Option<Opened>, IngestError> {
        self.text.extend_from_slice(line);
        if self.text.trim_ascii().is_empty() {
            return Ok(None);
        }
        if self.format.is_none() {
            self.format = match self.text.len() < Format::DETECT_WITHIN {
                true => Format::detect_early(&self.text),
                false => return self.end().map(Some),
            };
        }
        match self.format {
            None => Ok(None),
            Some(format) => self.opened(format, self.text.len() < MEANT_WITHIN),
        }
    }

    /// What is known when there are no more lines, or no more are looked at.
    pub fn end(&mut self) -> Result<Opened, IngestError> {
        if self.text.trim_ascii().is_empty() {
            return Ok(Opened::Nothing);
        }
        let format = self.format.or_else(|| Format::detect(&self.text));
        let format = format.ok_or(IngestError::UnknownFormat)?;
        let opened = self.opened(format, false)?;
        Ok(opened.unwrap_or(Opened::Lines { format, instead: None }))
    }

    /// What is known of a stream in this format. If more is to come, it may be too early to tell.
    fn opened(&mut self, format: Format, more: bool) -> Result<Option<Opened>, IngestError> {
        if format.needs_all(&self.text) {
            return Ok(Some(Opened::Whole(format)));
        }
        let as_named = Ok(Some(Opened::Lines { format, instead: None }));
        if !self.subject.may_be_another() {
            return as_named;
        }
        let trial = self.trial.get_or_insert_with(|| Reader::new(format, &self.subject.options()));
        for line in self.text[self.tried..].split_inclusive(|byte| *byte == b'\n') {
            match trial.push_line(line) {
                Ok(events) => {
                    // An answer that fits.
                    if events.iter().any(|event| matches!(event.kind, EventKind::Ok { .. })) {
                        return as_named;
                    }
                }
                Err(error) => {
                    let instead = self.subject.instead(&error).ok_or(error)?;
                    return Ok(Some(Opened::Lines { format, instead: Some(instead) }));
                }
            }
        }
        self.tried = self.text.len();
        if more { Ok(None) } else { as_named }
    }
}
