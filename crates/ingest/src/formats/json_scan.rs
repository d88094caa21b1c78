//! The fast way through a JSON line: exact for the lines that histories are made of, and it gives up on all others.
//!
//! INVARIANT: what this accepts, `json_lines::parse` accepts with the same fields. What it gives up on is parsed
//! there, so this file decides how fast a line is read, never what it says.

use super::json_template::Templates;
use crate::event::{Field, Fields};
use crate::token::{Bracket, Span, Token};

/// The names of the members of the last line, in order, each with its quotes and colon: the next line most likely has
/// the same.
#[derive(Clone, Debug, Default)]
pub(crate) struct Layout {
    members: Vec<Member>,
    seen: Vec<Seen>,
    templates: Templates,
}

/// A member of the line that is read: its name without quotes, and its value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    pub name: Span,
    pub value: Span,
}

#[derive(Clone, Debug)]
struct Member {
    /// `"process":`, as it was written.
    text: Box<[u8]>,
    name: Span,
}

/// Lists nested deeper are left to the complete parser.
const MAX_DEPTH: u32 = 8;

/// Finds the fields of a line, if it is of the usual kind: one object, no escapes in strings, integers of 64 bits,
/// no object inside but `{"failed": scalar}` and the like.
pub(crate) fn scan(
    line: &str,
    layout: &mut Layout,
    tokens: &mut Vec<Token>,
    fields: &mut Fields,
) -> Option<()> {
    let mut scanner = Scanner { bytes: line.as_bytes(), at: 0, tokens };
    if layout.templates.scan(&mut scanner, fields).is_some() {
        return Some(());
    }
    scanner.at = 0;
    scanner.tokens.clear();
    *fields = Fields::default();
    layout.seen.clear();
    scanner.object(layout, fields)?;
    scanner.blanks();
    if scanner.at != line.len() {
        return None;
    }
    layout.templates.learn(line.as_bytes(), &layout.seen);
    Some(())
}

pub(super) struct Scanner<'a> {
    pub bytes: &'a [u8],
    pub at: usize,
    pub tokens: &'a mut Vec<Token>,
}

impl Scanner<'_> {
    /// The byte here; 0, which begins nothing, at the end.
    fn peek(&self) -> u8 {
        self.bytes.get(self.at).copied().unwrap_or(0)
    }

    fn blanks(&mut self) {
        while matches!(self.peek(), b' ' | b'\t' | b'\r' | b'\n') {
            self.at += 1;
        }
    }

    /// Steps over this byte and the blanks around it.
    fn expect(&mut self, byte: u8) -> Option<()> {
        self.blanks();
        if self.peek() != byte {
            return None;
        }
        self.at += 1;
        self.blanks();
        Some(())
    }

    fn object(&mut self, layout: &mut Layout, fields: &mut Fields) -> Option<()> {
        self.expect(b'{')?;
        for at in 0.. {
            let name = self.name(at, layout)?;
            let (start, from) = (self.tokens.len(), self.at as u32);
            self.value(0)?;
            layout.seen.push(Seen { name, value: Span { start: from, end: self.at as u32 } });
            match field(fields, &self.bytes[name.start as usize..name.end as usize]) {
                // Where a name repeats, the last one counts, as for the complete parser.
                Some(field) => {
                    let end = self.tokens.len();
                    *field = Some(Field { start: start as u32, end: end as u32 });
                }
                None => self.tokens.truncate(start),
            }
            self.blanks();
            match self.peek() {
                b',' => self.expect(b',')?,
                b'}' => {
                    self.at += 1;
                    return Some(());
                }
                _ => return None,
            }
        }
        None
    }

    /// The name of the member at this position, stepped over with its colon.
    fn name(&mut self, at: usize, layout: &mut Layout) -> Option<Span> {
        let start = self.at as u32;
        if let Some(member) = layout.members.get(at)
            && self.bytes[self.at..].starts_with(&member.text)
        {
            self.at += member.text.len();
            self.blanks();
            return Some(Span { start: start + member.name.start, end: start + member.name.end });
        }
        let name = self.string()?;
        self.expect(b':')?;
        let text = self.bytes[start as usize..self.at].into();
        let member =
            Member { text, name: Span { start: name.start - start, end: name.end - start } };
        layout.members.truncate(at);
        layout.members.push(member);
        Some(name)
    }

    pub fn value(&mut self, depth: u32) -> Option<()> {
        let token = match self.peek() {
            b'"' => Token::Text(self.string()?),
            b'-' | b'0'..=b'9' => Token::Int(self.int()?),
            b'n' => self.word(b"null", Token::Null)?,
            b't' => self.word(b"true", Token::Bool(true))?,
            b'f' => self.word(b"false", Token::Bool(false))?,
            b'[' if depth < MAX_DEPTH => return self.list(depth),
            b'{' => return self.pair(depth),
            _ => return None,
        };
        self.tokens.push(token);
        Some(())
    }

    fn list(&mut self, depth: u32) -> Option<()> {
        self.expect(b'[')?;
        self.tokens.push(Token::Open(Bracket::List));
        if self.peek() != b']' {
            loop {
                self.value(depth + 1)?;
                self.blanks();
                if self.peek() != b',' {
                    break;
                }
                self.expect(b',')?;
            }
        }
        if self.peek() != b']' {
            return None;
        }
        self.at += 1;
        self.tokens.push(Token::Close);
        Some(())
    }

    /// An object with one member.
    fn pair(&mut self, depth: u32) -> Option<()> {
        self.expect(b'{')?;
        self.tokens.push(Token::Open(Bracket::Map));
        let name = self.string()?;
        self.tokens.push(Token::Text(name));
        self.expect(b':')?;
        if depth >= MAX_DEPTH {
            return None;
        }
        self.value(depth + 1)?;
        self.blanks();
        if self.peek() != b'}' {
            return None;
        }
        self.at += 1;
        self.tokens.push(Token::Close);
        Some(())
    }

    fn word(&mut self, word: &[u8], token: Token) -> Option<Token> {
        self.bytes[self.at..].starts_with(word).then(|| {
            self.at += word.len();
            token
        })
    }

    /// A string without escapes.
    fn string(&mut self) -> Option<Span> {
        if self.peek() != b'"' {
            return None;
        }
        let start = self.at + 1;
        let mut end = start;
        while let Some(eight) = self.bytes.get(end..).and_then(<[u8]>::first_chunk::<8>) {
            let special = special_bytes(u64::from_le_bytes(*eight));
            if special != 0 {
                end += special.trailing_zeros() as usize / 8;
                break;
            }
            end += 8;
        }
        loop {
            match self.bytes.get(end)? {
                b'"' => break,
                b'\\' | 0..0x20 => return None,
                _ => end += 1,
            }
        }
        self.at = end + 1;
        Some(Span { start: start as u32, end: end as u32 })
    }

    /// An integer of at most 18 digits, which therefore fits, or of 19 if it does.
    fn int(&mut self) -> Option<i64> {
        let negative = self.peek() == b'-';
        self.at += usize::from(negative);
        let digits = &self.bytes[self.at..];
        let mut int = 0_u64;
        let mut count = 0;
        for byte in digits {
            let digit = byte.wrapping_sub(b'0');
            if digit > 9 {
                break;
            }
            int = int.wrapping_mul(10).wrapping_add(u64::from(digit));
            count += 1;
        }
        self.at += count;
        let leading_zero = digits.first() == Some(&b'0') && (count > 1 || negative);
        // INVARIANT: 19 digits do not overflow 64 bits without a sign.
        if count == 0 || count > 19 || leading_zero || matches!(self.peek(), b'.' | b'e' | b'E') {
            return None;
        }
        if negative { 0_i64.checked_sub_unsigned(int) } else { i64::try_from(int).ok() }
    }
}

/// The high bits of the bytes (the first is the lowest) that end a plain string: quotes, backslashes, control
/// characters. Bytes above the first such one may be marked wrongly.
fn special_bytes(eight: u64) -> u64 {
    const LOW: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x8080_8080_8080_8080;
    let zeros = |bytes: u64| bytes.wrapping_sub(LOW) & !bytes;
    let quotes = zeros(eight ^ (LOW * b'"' as u64));
    let backslashes = zeros(eight ^ (LOW * b'\\' as u64));
    let controls = eight.wrapping_sub(LOW * 0x20) & !eight;
    (quotes | backslashes | controls) & HIGH
}

/// [`Fields::named`] for bytes.
fn field<'f>(fields: &'f mut Fields, name: &[u8]) -> Option<&'f mut Option<Field>> {
    Some(match name {
        b"process" => &mut fields.process,
        b"type" => &mut fields.kind,
        b"f" => &mut fields.f,
        b"value" => &mut fields.value,
        b"key" => &mut fields.key,
        _ => return None,
    })
}
