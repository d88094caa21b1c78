//! What every format is read into: a flat list of tokens for one event, without an allocation an
//! event.
//!
//! A [`View`] is one value among them. Formats differ in how they make tokens; what the tokens mean
//! is decided once, in `record.rs` and `convert.rs`.

use linchpin_spec::{Number, Numeral, Value};
use std::fmt;
use std::ops::Range;

/// A piece of a text, or of a list of tokens: from and to. Half the size of a range, since events
/// are made of many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    start: u32,
    end: u32,
}

impl Span {
    /// INVARIANT: texts are not longer than [`crate::reader::MAX_LENGTH`]. What is, is cut off.
    pub fn new(start: usize, end: usize) -> Span {
        let short = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        Span { start: short(start), end: short(end) }
    }

    pub fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// This span of what begins at `start`, of what that is in.
    pub fn within(self, start: usize) -> Span {
        Span::new(start + self.range().start, start + self.range().end)
    }

    pub fn of(self, text: &str) -> &str {
        // INVARIANT: spans are cut at ASCII delimiters of the same text, so at boundaries of
        // characters.
        text.get(self.range()).unwrap_or_default()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Token {
    Null,
    Bool(bool),
    Int(i64),
    /// A string, keyword or symbol.
    Text(Span),
    /// A number that is not an integer of 64 bits, in decimal digits.
    // INVARIANT: `Value::number` reads it, and finds no integer of 64 bits.
    Number(Span),
    /// What is said to be a number and is none of these: `1/2`, `##NaN`.
    Unsupported(Span),
    Open(Bracket),
    Close,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bracket {
    List,
    Set,
    /// Keys and values in turn.
    Map,
}

/// One value: the tokens from its first to its last.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View<'t> {
    /// INVARIANT: not empty; one scalar, or an opening bracket, values and the closing bracket.
    pub tokens: &'t [Token],
    /// What the spans point into.
    pub text: &'t str,
}

/// The token of the number at this place of a text.
pub(crate) fn number_token(text: &str, span: Span) -> Token {
    match Number::read(span.of(text)) {
        Some(Numeral::Int(int)) => Token::Int(int),
        Some(Numeral::Number(_)) => Token::Number(span),
        None => Token::Unsupported(span),
    }
}

/// How many tokens the first value of these has.
pub(crate) fn first_value(tokens: &[Token]) -> usize {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate() {
        match token {
            Token::Open(_) => depth += 1,
            Token::Close => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return at + 1;
        }
    }
    tokens.len()
}

/// A number that is no value.
#[derive(Debug)]
pub(crate) struct Unsupported;

impl<'t> View<'t> {
    /// `null`.
    pub const NULL: View<'static> = View { tokens: &[Token::Null], text: "" };

    /// The first token, which is the whole value if it is a scalar.
    pub fn first(&self) -> Token {
        self.tokens.first().copied().unwrap_or(Token::Null)
    }

    pub fn as_text(&self) -> Option<&'t str> {
        match self.first() {
            Token::Text(span) => Some(span.of(self.text)),
            _ => None,
        }
    }

    /// The values in a list, set or map (keys and values in turn); none of a scalar.
    pub fn items(&self) -> Items<'t> {
        let rest = match self.first() {
            Token::Open(_) => &self.tokens[1..self.tokens.len() - 1],
            _ => &[],
        };
        Items { rest, text: self.text }
    }

    /// The two values of a list of two.
    pub fn pair(&self) -> Option<(View<'t>, View<'t>)> {
        let mut items = match self.first() {
            Token::Open(Bracket::List) => self.items(),
            _ => return None,
        };
        let pair = (items.next()?, items.next()?);
        items.next().is_none().then_some(pair)
    }

    /// Appends this value to tokens that point into another text.
    pub fn copy(&self, tokens: &mut Vec<Token>, text: &mut String) {
        let mut copied = |span: Span| {
            let start = text.len();
            text.push_str(span.of(self.text));
            Span::new(start, text.len())
        };
        tokens.extend(self.tokens.iter().map(|token| match token {
            Token::Text(span) => Token::Text(copied(*span)),
            Token::Number(span) => Token::Number(copied(*span)),
            Token::Unsupported(span) => Token::Unsupported(copied(*span)),
            other => *other,
        }));
    }

    /// The value. Sets become sorted lists: values of histories are never sets.
    pub fn to_value(self) -> Result<Value, Unsupported> {
        Ok(match self.first() {
            Token::Null | Token::Close => Value::Null,
            Token::Bool(b) => Value::Bool(b),
            Token::Int(int) => Value::Int(int),
            Token::Text(span) => Value::str(span.of(self.text)),
            Token::Number(span) => Value::number(span.of(self.text)).ok_or(Unsupported)?,
            Token::Unsupported(_) => return Err(Unsupported),
            Token::Open(Bracket::List) => Value::list(self.values()?),
            Token::Open(Bracket::Set) => {
                let mut items = self.values()?;
                items.sort();
                items.dedup();
                Value::list(items)
            }
            Token::Open(Bracket::Map) => {
                let mut items = self.values()?.into_iter();
                let pairs = std::iter::from_fn(|| items.next().zip(items.next()));
                Value::map(pairs.collect::<Vec<_>>())
            }
        })
    }

    fn values(self) -> Result<Vec<Value>, Unsupported> {
        self.items().map(View::to_value).collect()
    }
}

/// The values in a list.
#[derive(Clone, Debug)]
pub(crate) struct Items<'t> {
    rest: &'t [Token],
    text: &'t str,
}

impl<'t> Iterator for Items<'t> {
    type Item = View<'t>;

    fn next(&mut self) -> Option<View<'t>> {
        if self.rest.is_empty() {
            return None;
        }
        let (tokens, rest) = self.rest.split_at(first_value(self.rest));
        self.rest = rest;
        Some(View { tokens, text: self.text })
    }
}

/// Longer values are cut in messages.
const SHOWN: usize = 80;

/// For messages, as JSON.
impl fmt::Display for View<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown(SHOWN))
    }
}

impl View<'_> {
    /// As JSON, cut off after so many characters.
    pub fn shown(&self, most: usize) -> String {
        let mut text = match (self.first(), self.to_value()) {
            (Token::Unsupported(span), _) => {
                format!("{} (only decimal numbers can be read)", span.of(self.text))
            }
            (_, Ok(value)) => value.to_string(),
            (_, Err(Unsupported)) => "a value with a number that cannot be read".to_owned(),
        };
        if let Some((cut, _)) = text.char_indices().nth(most) {
            text.truncate(cut);
            text.push('…');
        }
        text
    }
}
