//! What the fast paths through JSON and EDN share: a place in a text, and the values that both
//! write alike.
//!
//! Nothing here says what is wrong with a text. Where it is not as expected, the answer is nothing
//! and the complete parser of the format is asked.

use crate::token::{Span, Token};

/// A place in a text, and the tokens found so far. Their spans point into the text.
#[derive(Debug)]
pub(super) struct Cursor<'a> {
    pub bytes: &'a [u8],
    pub at: usize,
    pub tokens: &'a mut Vec<Token>,
}

/// How a format writes values.
pub(super) trait Notation {
    /// Steps over the value here and pushes its tokens, if it is of the usual kind.
    fn value(cursor: &mut Cursor<'_>, depth: u32) -> Option<()>;

    /// What a plain text says: where in `value`, which is the whole value as it is written.
    fn plain_text(value: &[u8]) -> Option<Span>;

    /// Whether a value of any kind may begin after this byte without being read as one with what is
    /// before it.
    fn separates(byte: u8) -> bool;
}

impl Cursor<'_> {
    /// The byte here; 0, which begins nothing, at the end.
    #[inline]
    pub fn peek(&self) -> u8 {
        self.bytes.get(self.at).copied().unwrap_or(0)
    }

    /// Steps over this word.
    pub fn word(&mut self, word: &[u8], token: Token) -> Option<Token> {
        self.bytes[self.at..].starts_with(word).then(|| {
            self.at += word.len();
            token
        })
    }

    /// A string in quotes, without escapes.
    pub fn string(&mut self) -> Option<Span> {
        if self.peek() != b'"' {
            return None;
        }
        let start = self.at + 1;
        let rest = self.bytes.get(start..)?;
        let ends = |byte: &u8| matches!(byte, b'"' | b'\\' | 0..0x20);
        let end = start + rest.iter().position(ends)?;
        if self.bytes[end] != b'"' {
            return None;
        }
        self.at = end + 1;
        Some(Span::new(start, end))
    }

    /// An integer of at most 18 digits, which therefore fits, or of 19 if it does; no zeros before
    /// it.
    #[inline]
    pub fn int(&mut self) -> Option<i64> {
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
        if count == 0 || count > 19 || leading_zero {
            return None;
        }
        if negative { 0_i64.checked_sub_unsigned(int) } else { i64::try_from(int).ok() }
    }
}
