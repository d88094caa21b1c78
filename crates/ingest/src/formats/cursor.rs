//! What the fast ways through JSON and EDN share: a place in a text, and the values that both write in the same way.
//!
//! Nothing here says what is wrong with a text. Where it is not as expected, the answer is nothing and the complete parser
//! of the format is asked.

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

    /// Whether a value of any kind may begin after this byte without being read as one with what is before it.
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

    /// An integer of at most 18 digits, which therefore fits, or of 19 if it does; no zeros before it.
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
