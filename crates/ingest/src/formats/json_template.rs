//! The fastest way through a JSON line: it is like one before, but for a few values.
//!
//! A template is a line that was read, with holes where its values were; only `type` and `f`, of which there are few, are part
//! of the text between. A line that fits costs a comparison and the values in its holes.
//!
//! INVARIANT: what fits a template, `json_scan` reads with the same fields: the text between is what it accepted, and the
//! same code reads the values.

use super::json_scan::{Scanner, Seen};
use crate::event::{Field, Fields, Kind};
use crate::token::{Span, Token};

/// Lines are compared with so many templates at most.
const MOST: usize = 16;
/// So many lines are learnt from: a recording without regularity is not worth more.
const LESSONS: u32 = 256;

/// The templates, all with the same first part.
#[derive(Clone, Debug, Default)]
pub(crate) struct Templates {
    known: Vec<Box<[Part]>>,
    lessons: u32,
}

/// Text, and the hole after it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Part {
    text: Box<[u8]>,
    /// The type that the text has.
    kind: Option<Kind>,
    /// Where the text has an operation.
    f: Option<Span>,
    hole: Hole,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hole {
    Process,
    Key,
    Value,
    /// A member that means nothing, such as `time`.
    Other,
    /// The line ends here.
    End,
}

impl Templates {
    /// Finds the fields of a line that fits one of the templates.
    pub fn scan(&self, scanner: &mut Scanner<'_>, fields: &mut Fields) -> Option<()> {
        self.known.first()?[0].step(scanner, fields)?;
        let (at, tokens, head) = (scanner.at, scanner.tokens.len(), *fields);
        self.known.iter().find_map(|parts| {
            (scanner.at, *fields) = (at, head);
            scanner.tokens.truncate(tokens);
            parts[1..].iter().try_for_each(|part| part.step(scanner, fields))
        })
    }

    /// Remembers a line that was read, with its members.
    pub fn learn(&mut self, line: &[u8], members: &[Seen]) {
        if self.lessons == LESSONS {
            return;
        }
        self.lessons += 1;
        let Some(parts) = parts(line, members) else { return };
        if self.known.first().is_some_and(|known| known[0] != parts[0]) {
            self.known.clear();
        }
        if self.known.len() < MOST && parts.len() > 1 {
            self.known.push(parts);
        }
    }
}

/// The parts of a line; none if `type` or `f` is not a plain text.
fn parts(line: &[u8], members: &[Seen]) -> Option<Box<[Part]>> {
    let mut parts = Vec::new();
    let mut start = 0;
    let (mut kind, mut f) = (None, None);
    for member in members {
        let text = |range: Span| &line[range.start as usize..range.end as usize];
        let hole = match text(member.name) {
            b"type" | b"f" => {
                let [b'"', content @ .., b'"'] = text(member.value) else { return None };
                match text(member.name) {
                    b"type" => kind = Some(Kind::named(std::str::from_utf8(content).ok()?)?),
                    _ => {
                        let from = member.value.start + 1 - start;
                        f = Some(Span { start: from, end: from + content.len() as u32 });
                    }
                }
                continue;
            }
            b"process" => Hole::Process,
            b"key" => Hole::Key,
            b"value" => Hole::Value,
            _ => Hole::Other,
        };
        let between = line[start as usize..member.value.start as usize].into();
        parts.push(Part { text: between, kind: kind.take(), f: f.take(), hole });
        start = member.value.end;
    }
    parts.push(Part { text: line[start as usize..].into(), kind, f, hole: Hole::End });
    Some(parts.into())
}

impl Part {
    /// Steps over the text and the value after it.
    #[inline]
    fn step(&self, scanner: &mut Scanner<'_>, fields: &mut Fields) -> Option<()> {
        if !scanner.bytes[scanner.at..].starts_with(&self.text) {
            return None;
        }
        if self.kind.is_some() {
            fields.known_kind = self.kind;
        }
        if let Some(f) = self.f {
            let (at, start) = (scanner.at as u32, scanner.tokens.len() as u32);
            scanner.tokens.push(Token::Text(Span { start: at + f.start, end: at + f.end }));
            fields.f = Some(Field { start, end: start + 1 });
        }
        scanner.at += self.text.len();
        if self.hole == Hole::End {
            return (scanner.at == scanner.bytes.len()).then_some(());
        }
        let start = scanner.tokens.len();
        scanner.value(0)?;
        let field = Some(Field { start: start as u32, end: scanner.tokens.len() as u32 });
        match self.hole {
            Hole::Process => fields.process = field,
            Hole::Key => fields.key = field,
            Hole::Value => fields.value = field,
            Hole::Other | Hole::End => scanner.tokens.truncate(start),
        }
        Some(())
    }
}
