//! The fast path through an operation map in EDN: exact for the maps that histories are made of,
//! and it gives up on all others.
//!
//! INVARIANT: what this accepts, `edn.rs` accepts with the same tokens and the same end. What it
//! gives up on (comments, discarded forms, escapes, sets, symbols, numbers that are no plain
//! integers) is parsed there, so this file decides how fast a map is read, never what it says.

use super::cursor::{Cursor, Notation};
use super::edn::{is_blank, is_delimiter};
use super::template::{Seen, Templates};
use crate::event::Fields;
use crate::fast::FastPath;
use crate::token::{Bracket, Span, Token};

/// What was learnt from the maps before.
#[derive(Clone, Debug, Default)]
pub(super) struct Layout {
    seen: Vec<Seen>,
    templates: Templates,
}

/// Forms nested deeper are left to the complete parser.
const MAX_DEPTH: u32 = 8;

/// Finds the fields of the operation map at the beginning of a text, and where it ends, if it is of
/// the usual kind.
pub(super) fn scan(
    text: &str,
    layout: &mut Layout,
    tokens: &mut Vec<Token>,
    fields: &mut Fields,
) -> Option<usize> {
    if !FastPath::Scanner.is_taken() {
        return None;
    }
    let mut cursor = Cursor { bytes: text.as_bytes(), at: 0, tokens };
    let with_templates = FastPath::Templates.is_taken();
    if with_templates && layout.templates.scan::<EdnNotation>(&mut cursor, fields).is_some() {
        return Some(cursor.at);
    }
    layout.seen.clear();
    map(&mut cursor, &mut layout.seen, fields)?;
    if with_templates {
        layout.templates.learn::<EdnNotation>(&cursor.bytes[..cursor.at], &layout.seen);
    }
    Some(cursor.at)
}

/// Pushes the tokens of the form at the beginning of a text, if it is of the usual kind.
pub(super) fn form(text: &str, tokens: &mut Vec<Token>) -> Option<()> {
    if !FastPath::Scanner.is_taken() {
        return None;
    }
    let mut cursor = Cursor { bytes: text.as_bytes(), at: 0, tokens };
    blanks(&mut cursor);
    EdnNotation::value(&mut cursor, 0)
}

struct EdnNotation;

impl Notation for EdnNotation {
    fn value(cursor: &mut Cursor<'_>, depth: u32) -> Option<()> {
        let token = match cursor.peek() {
            b'"' => {
                let span = cursor.string()?;
                cursor.tokens.push(Token::Text(span));
                return Some(());
            }
            b'[' if depth < MAX_DEPTH => return list(cursor, Bracket::List, b']', depth),
            b'(' if depth < MAX_DEPTH => return list(cursor, Bracket::List, b')', depth),
            b'{' if depth < MAX_DEPTH => return list(cursor, Bracket::Map, b'}', depth),
            b'-' | b'0'..=b'9' => Token::Int(cursor.int()?),
            b':' => Token::Text(keyword(cursor)?),
            b'n' => cursor.word(b"nil", Token::Null)?,
            b't' => cursor.word(b"true", Token::Bool(true))?,
            b'f' => cursor.word(b"false", Token::Bool(false))?,
            _ => return None,
        };
        // All of them but strings and brackets go on up to a delimiter.
        if cursor.bytes.get(cursor.at).is_some_and(|byte| !is_delimiter(*byte)) {
            return None;
        }
        cursor.tokens.push(token);
        Some(())
    }

    fn plain_text(value: &[u8]) -> Option<Span> {
        let is_keyword = value.first() == Some(&b':');
        is_keyword.then_some(Span::new(1, value.len()))
    }

    /// `:value 1` is a keyword and a number, `:value1` is not.
    fn separates(byte: u8) -> bool {
        is_blank(byte)
    }
}

fn blanks(cursor: &mut Cursor<'_>) {
    while is_blank(cursor.peek()) {
        cursor.at += 1;
    }
}

/// Steps over what goes on up to a delimiter.
fn atom(cursor: &mut Cursor<'_>) {
    let rest = &cursor.bytes[cursor.at..];
    cursor.at += rest.iter().position(|byte| is_delimiter(*byte)).unwrap_or(rest.len());
}

/// The name of a keyword, without its colon.
fn keyword(cursor: &mut Cursor<'_>) -> Option<Span> {
    if cursor.peek() != b':' {
        return None;
    }
    cursor.at += 1;
    let start = cursor.at;
    atom(cursor);
    // More colons are no part of the name either: they are rare enough to be left to the complete
    // parser.
    let is_plain = cursor.at > start && cursor.bytes[start] != b':';
    is_plain.then_some(Span::new(start, cursor.at))
}

fn list(cursor: &mut Cursor<'_>, bracket: Bracket, close: u8, depth: u32) -> Option<()> {
    cursor.at += 1;
    cursor.tokens.push(Token::Open(bracket));
    let mut is_even = true;
    blanks(cursor);
    while cursor.peek() != close {
        EdnNotation::value(cursor, depth + 1)?;
        is_even = !is_even;
        blanks(cursor);
    }
    if bracket == Bracket::Map && !is_even {
        return None;
    }
    cursor.at += 1;
    cursor.tokens.push(Token::Close);
    Some(())
}

/// An operation map, with or without a tag before it.
fn map(cursor: &mut Cursor<'_>, seen: &mut Vec<Seen>, fields: &mut Fields) -> Option<()> {
    if cursor.peek() == b'#' {
        cursor.at += 1;
        if !cursor.peek().is_ascii_alphabetic() {
            return None;
        }
        atom(cursor);
    }
    if cursor.peek() != b'{' {
        return None;
    }
    cursor.at += 1;
    blanks(cursor);
    while cursor.peek() != b'}' {
        let name = keyword(cursor)?;
        blanks(cursor);
        let (start, from) = (cursor.tokens.len(), cursor.at);
        EdnNotation::value(cursor, 0)?;
        seen.push(Seen { name, value: Span::new(from, cursor.at) });
        match fields.named(&cursor.bytes[name.range()]) {
            // Where a name repeats, the last one counts, as for the complete parser.
            Some(field) => *field = Some(Span::new(start, cursor.tokens.len())),
            None => cursor.tokens.truncate(start),
        }
        blanks(cursor);
    }
    cursor.at += 1;
    Some(())
}
