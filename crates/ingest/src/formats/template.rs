//! The fastest path through an event: it is written like one before, but for a few values.
//!
//! A template is an event that was read, with holes where its values were; only `type` and `f`, of
//! which there are few, are part of the text between. An event that fits costs a comparison and the
//! values in its holes. Templates that begin alike share their beginnings: they are the paths of a
//! tree.
//!
//! INVARIANT: what fits a template, the scanner that it was learnt from reads with the same fields:
//! the text between is what it accepted, and the same code reads the values.

use super::cursor::{Cursor, Notation};
use crate::event::{Fields, Kind};
use crate::token::{Span, Token};

/// There are so many templates at most.
const MOST: usize = 64;
/// So many values of an event may vary.
const MOST_HOLES: usize = 16;
/// So many events are learnt from: a recording without regularity is not worth more.
const LESSONS: u32 = 256;

/// A member of an event that was read: its name, without quotes or colon, and its value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    pub name: Span,
    pub value: Span,
}

/// The templates, as a tree.
#[derive(Clone, Debug, Default)]
pub(super) struct Templates {
    roots: Vec<Node>,
    known: usize,
    lessons: u32,
}

#[derive(Clone, Debug)]
struct Node {
    part: Part,
    /// INVARIANT: none if and only if the part is the last of an event.
    next: Vec<Node>,
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
    Time,
    /// A member that means nothing, such as `index`.
    Other,
    /// The event ends here.
    End,
}

impl Templates {
    /// Finds the fields of an event that fits one of the templates, and stops at its end.
    pub fn scan<N: Notation>(&self, cursor: &mut Cursor<'_>, fields: &mut Fields) -> Option<()> {
        follow::<N>(&self.roots, cursor, fields)
    }

    /// Remembers an event that was read from the beginning of a text, with its members.
    pub fn learn<N: Notation>(&mut self, event: &[u8], members: &[Seen]) {
        if self.lessons == LESSONS || self.known == MOST || members.len() > MOST_HOLES {
            return;
        }
        self.lessons += 1;
        let Some(parts) = parts::<N>(event, members) else { return };
        self.known += 1;
        let mut nodes = &mut self.roots;
        for part in parts {
            let at = nodes.iter().position(|node| node.part == part).unwrap_or_else(|| {
                nodes.push(Node { part, next: Vec::new() });
                nodes.len() - 1
            });
            nodes = &mut nodes[at].next;
        }
    }
}

/// Follows the path that fits, if there is one.
fn follow<N: Notation>(nodes: &[Node], cursor: &mut Cursor<'_>, fields: &mut Fields) -> Option<()> {
    for node in nodes {
        if !cursor.bytes[cursor.at..].starts_with(&node.part.text) {
            continue;
        }
        let (at, tokens, before) = (cursor.at, cursor.tokens.len(), *fields);
        if node.part.step::<N>(cursor, fields).is_some()
            && (node.next.is_empty() || follow::<N>(&node.next, cursor, fields).is_some())
        {
            return Some(());
        }
        (cursor.at, *fields) = (at, before);
        cursor.tokens.truncate(tokens);
    }
    None
}

/// The parts of an event; none if `type` or `f` is not a plain text.
fn parts<N: Notation>(event: &[u8], members: &[Seen]) -> Option<Vec<Part>> {
    let mut parts = Vec::new();
    let mut start = 0;
    let (mut kind, mut f) = (None, None);
    for member in members {
        let text = |span: Span| &event[span.range()];
        let hole = match text(member.name) {
            name @ (b"type" | b"f") => {
                let content = N::plain_text(text(member.value))?;
                let value = member.value.range().start;
                match name {
                    b"type" => {
                        let name = text(content.within(value));
                        kind = Some(Kind::named(std::str::from_utf8(name).ok()?)?);
                    }
                    _ => f = Some(content.within(value - start)),
                }
                continue;
            }
            b"process" => Hole::Process,
            b"key" => Hole::Key,
            b"value" => Hole::Value,
            b"time" => Hole::Time,
            _ => Hole::Other,
        };
        let between = &event[start..member.value.range().start];
        if !between.last().is_some_and(|byte| N::separates(*byte)) {
            return None;
        }
        parts.push(Part { text: between.into(), kind: kind.take(), f: f.take(), hole });
        start = member.value.range().end;
    }
    parts.push(Part { text: event[start..].into(), kind, f, hole: Hole::End });
    Some(parts)
}

impl Part {
    /// Steps over the text, which is here, and the value after it.
    #[inline]
    fn step<N: Notation>(&self, cursor: &mut Cursor<'_>, fields: &mut Fields) -> Option<()> {
        if self.kind.is_some() {
            fields.known_kind = self.kind;
        }
        if let Some(f) = self.f {
            let start = cursor.tokens.len();
            cursor.tokens.push(Token::Text(f.within(cursor.at)));
            fields.f = Some(Span::new(start, start + 1));
        }
        cursor.at += self.text.len();
        if self.hole == Hole::End {
            return Some(());
        }
        let start = cursor.tokens.len();
        N::value(cursor, 0)?;
        let field = Some(Span::new(start, cursor.tokens.len()));
        match self.hole {
            Hole::Process => fields.process = field,
            Hole::Key => fields.key = field,
            Hole::Value => fields.value = field,
            Hole::Time => fields.time = field,
            Hole::Other | Hole::End => cursor.tokens.truncate(start),
        }
        Some(())
    }
}
