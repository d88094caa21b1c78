//! JSON objects that are not one a line: in an array, or spread over lines.

use super::json_lines::{JsonLines, syntax};
use crate::error::IngestError;
use crate::reader::MAX_LENGTH;
use crate::record::{Recorder, malformed, malformed_at};
use serde_json::{Deserializer, Value as Json};

/// Whether a text is JSON but not one object a line.
pub(crate) fn is_document(text: &[u8]) -> bool {
    let text = text.trim_ascii_start();
    if text.first() == Some(&b'[') {
        return true;
    }
    let line = text.split(|byte| *byte == b'\n').next().unwrap_or_default();
    text.len() > line.len()
        && serde_json::from_slice::<Json>(line).is_err_and(|error| error.is_eof())
}

/// Reads all objects, in an array or one after the other.
pub(crate) fn read(
    text: &[u8],
    objects: &mut JsonLines,
    recorder: &mut Recorder,
) -> Result<(), IngestError> {
    let mut place = Place { text, at: 0, line: 1, line_start: 0 };
    place.advance(0);
    let in_array = place.peek() == Some(b'[');
    if in_array {
        place.advance(1);
    }
    // What is not UTF-8 is left to the complete parser, which says where.
    let valid = std::str::from_utf8(text).ok().filter(|_| !objects.may_have_after(text));
    let mut first = true;
    loop {
        match place.peek() {
            None if in_array => {
                recorder.notes.push(
                    "the array of events is not closed: the recording may have been cut short"
                        .to_owned(),
                );
                return Ok(());
            }
            None => return Ok(()),
            Some(b']') if in_array => {
                place.advance(1);
                return match place.peek() {
                    None => Ok(()),
                    Some(_) => Err(place.malformed("the end of the text")),
                };
            }
            Some(b',') if in_array && !first => place.advance(1),
            Some(_) if in_array && !first => return Err(place.malformed("`,` or `]`")),
            Some(_) => {}
        }
        if place.peek().is_none() {
            continue;
        }
        first = !in_array;
        // The events of a text that is read as a whole are not asked for.
        recorder.events.clear();
        let (line, column) = (place.line, place.column());
        if let Some(valid) = valid
            && let Some(length) =
                objects.fast(line, beginning(&valid[place.at..]), |_| true, recorder)?
        {
            place.advance(length);
            continue;
        }
        let mut values = Deserializer::from_slice(&text[place.at..]).into_iter::<Json>();
        let json = match values.next() {
            Some(Ok(json)) => json,
            Some(Err(error)) => return Err(syntax(&error, &text[place.at..], line, column)),
            None => return Ok(()),
        };
        if values.byte_offset() > MAX_LENGTH {
            return Err(malformed(line, "an object of less than 4 GiB", "a longer one"));
        }
        place.advance(values.byte_offset());
        objects.object(line, &json, recorder)?;
    }
}

/// As much of a text as tokens can point into.
fn beginning(text: &str) -> &str {
    let mut end = text.len().min(MAX_LENGTH);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// Where the reading is.
struct Place<'a> {
    text: &'a [u8],
    at: usize,
    line: u64,
    line_start: usize,
}

impl Place<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    /// Goes on by so many bytes and over the blanks after them.
    fn advance(&mut self, bytes: usize) {
        let rest = &self.text[self.at + bytes..];
        let end = self.at + bytes + (rest.len() - rest.trim_ascii_start().len());
        for newline in memchr::memchr_iter(b'\n', &self.text[self.at..end]) {
            self.line += 1;
            self.line_start = self.at + newline + 1;
        }
        self.at = end;
    }

    /// How many bytes of this line are before here.
    fn column(&self) -> usize {
        self.at - self.line_start
    }

    fn malformed(&self, expected: &str) -> IngestError {
        let found = self.peek().map_or_else(|| "the end".to_owned(), crate::quoted);
        malformed_at(self.line, self.column(), expected, &found)
    }
}
