//! The fast path through a JSON object: exact for the events that histories are made of, and it
//! gives up on all others.
//!
//! INVARIANT: what this accepts, `json_lines::parse` accepts with the same fields. What it gives up
//! on is parsed there, so this file decides how fast an event is read, never what it says.

use super::cursor::{Cursor, Notation};
use super::template::{Seen, Templates};
use crate::event::Fields;
use crate::fast::FastPath;
use crate::token::{Bracket, Span, Token};

/// What was learnt from the events before.
#[derive(Clone, Debug, Default)]
pub(crate) struct Layout {
    seen: Vec<Seen>,
    templates: Templates,
}

/// Lists nested deeper are left to the complete parser.
const MAX_DEPTH: u32 = 8;

/// Finds the fields of the event at the beginning of a text, and where it ends, if it is of the
/// usual kind: one object, no escapes in strings, integers of 64 bits, no object inside but
/// `{"failed": scalar}` and the like.
pub(crate) fn scan(
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
    if with_templates && layout.templates.scan::<JsonNotation>(&mut cursor, fields).is_some() {
        return Some(cursor.at);
    }
    layout.seen.clear();
    object(&mut cursor, &mut layout.seen, fields)?;
    if with_templates {
        layout.templates.learn::<JsonNotation>(&cursor.bytes[..cursor.at], &layout.seen);
    }
    Some(cursor.at)
}

struct JsonNotation;

impl Notation for JsonNotation {
    fn value(cursor: &mut Cursor<'_>, depth: u32) -> Option<()> {
        let token = match cursor.peek() {
            b'"' => Token::Text(cursor.string()?),
            b'-' | b'0'..=b'9' => {
                let int = cursor.int()?;
                if matches!(cursor.peek(), b'.' | b'e' | b'E') {
                    return None;
                }
                Token::Int(int)
            }
            b'n' => cursor.word(b"null", Token::Null)?,
            b't' => cursor.word(b"true", Token::Bool(true))?,
            b'f' => cursor.word(b"false", Token::Bool(false))?,
            b'[' if depth < MAX_DEPTH => return list(cursor, depth),
            b'{' => return pair(cursor, depth),
            _ => return None,
        };
        cursor.tokens.push(token);
        Some(())
    }

    fn plain_text(value: &[u8]) -> Option<Span> {
        match value {
            [b'"', content @ .., b'"'] => Some(Span::new(1, 1 + content.len())),
            _ => None,
        }
    }

    /// Always: before a value there is a colon.
    fn separates(_: u8) -> bool {
        true
    }
}

fn blanks(cursor: &mut Cursor<'_>) {
    while matches!(cursor.peek(), b' ' | b'\t' | b'\r' | b'\n') {
        cursor.at += 1;
    }
}

/// Steps over this byte and the blanks around it.
fn expect(cursor: &mut Cursor<'_>, byte: u8) -> Option<()> {
    blanks(cursor);
    if cursor.peek() != byte {
        return None;
    }
    cursor.at += 1;
    blanks(cursor);
    Some(())
}

fn object(cursor: &mut Cursor<'_>, seen: &mut Vec<Seen>, fields: &mut Fields) -> Option<()> {
    expect(cursor, b'{')?;
    loop {
        let name = cursor.string()?;
        expect(cursor, b':')?;
        let (start, from) = (cursor.tokens.len(), cursor.at);
        JsonNotation::value(cursor, 0)?;
        seen.push(Seen { name, value: Span::new(from, cursor.at) });
        match fields.named(&cursor.bytes[name.range()]) {
            // Where a name repeats, the last one counts, as for the complete parser.
            Some(field) => *field = Some(Span::new(start, cursor.tokens.len())),
            None => cursor.tokens.truncate(start),
        }
        blanks(cursor);
        match cursor.peek() {
            b',' => expect(cursor, b',')?,
            b'}' => {
                cursor.at += 1;
                return Some(());
            }
            _ => return None,
        }
    }
}

fn list(cursor: &mut Cursor<'_>, depth: u32) -> Option<()> {
    expect(cursor, b'[')?;
    cursor.tokens.push(Token::Open(Bracket::List));
    if cursor.peek() != b']' {
        loop {
            JsonNotation::value(cursor, depth + 1)?;
            blanks(cursor);
            if cursor.peek() != b',' {
                break;
            }
            expect(cursor, b',')?;
        }
    }
    if cursor.peek() != b']' {
        return None;
    }
    cursor.at += 1;
    cursor.tokens.push(Token::Close);
    Some(())
}

/// An object with one member.
fn pair(cursor: &mut Cursor<'_>, depth: u32) -> Option<()> {
    expect(cursor, b'{')?;
    cursor.tokens.push(Token::Open(Bracket::Map));
    let name = cursor.string()?;
    cursor.tokens.push(Token::Text(name));
    expect(cursor, b':')?;
    if depth >= MAX_DEPTH {
        return None;
    }
    JsonNotation::value(cursor, depth + 1)?;
    blanks(cursor);
    if cursor.peek() != b'}' {
        return None;
    }
    cursor.at += 1;
    cursor.tokens.push(Token::Close);
    Some(())
}
