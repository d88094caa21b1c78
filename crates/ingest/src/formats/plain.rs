//! What the fast paths through terse lines share: a place in a text of plain bytes, stepped over
//! word by word.
//!
//! Nothing here says what is wrong with a line. Where it is not as expected, the answer is nothing
//! and the complete reader of the format is asked.

/// A place in a text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plain<'a> {
    pub rest: &'a [u8],
}

impl Plain<'_> {
    /// The byte here; 0, which begins nothing, at the end.
    #[inline]
    pub fn peek(&self) -> u8 {
        self.rest.first().copied().unwrap_or(0)
    }

    /// Steps over these bytes, if they are here.
    #[inline]
    pub fn skip(&mut self, bytes: &[u8]) -> Option<()> {
        self.rest = self.rest.strip_prefix(bytes)?;
        Some(())
    }

    /// A number without a sign, of at most 18 digits, which therefore fits.
    #[inline]
    pub fn digits(&mut self) -> Option<u64> {
        let mut number = 0_u64;
        let mut count = 0;
        for byte in self.rest {
            let digit = byte.wrapping_sub(b'0');
            if digit > 9 {
                break;
            }
            number = number.wrapping_mul(10).wrapping_add(u64::from(digit));
            count += 1;
        }
        self.rest = &self.rest[count..];
        (1..=18).contains(&count).then_some(number)
    }

    /// Such a number, with or without a sign.
    #[inline]
    pub fn int(&mut self) -> Option<i64> {
        if self.peek() != b'-' {
            return Some(self.digits()? as i64);
        }
        self.rest = &self.rest[1..];
        Some(-(self.digits()? as i64))
    }

    /// Steps over the end of a line, or stops at the end of the text.
    #[inline]
    pub fn end_of_line(&mut self) -> Option<()> {
        self.rest = match self.rest {
            [b'\n', rest @ ..] | [b'\r', b'\n', rest @ ..] => rest,
            [] => &[],
            _ => return None,
        };
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_what_they_parse_to() {
        for word in [
            "",
            "0",
            "007",
            "-1",
            "-0",
            "+1",
            "1x",
            " 1",
            "--1",
            "-",
            "123456789012345678",
            "-999999999999999999",
            "1000000000000000000",
            "99999999999999999999999999",
        ] {
            let mut plain = Plain { rest: word.as_bytes() };
            if let Some(int) = plain.int() {
                let read = &word[..word.len() - plain.rest.len()];
                assert_eq!(read.parse(), Ok(int), "{word}");
            }
        }
        let mut rng = fastrand::Rng::with_seed(1);
        for _ in 0..200_000 {
            let digits = rng.u64(..) >> rng.u32(..64);
            let word = format!(
                "{digits}{}",
                [" 1 2345678", "", "\n", "/", ":9", "\u{b9}"][rng.usize(..6)]
            );
            let mut plain = Plain { rest: word.as_bytes() };
            let expected = digits.to_string();
            match plain.digits() {
                Some(number) => {
                    assert_eq!((number, plain.rest), (digits, &word.as_bytes()[expected.len()..]));
                }
                None => assert!(expected.len() > 18, "{word}"),
            }
        }
        assert_eq!(Plain { rest: b"-999999999999999999" }.int(), Some(-999_999_999_999_999_999));
        assert_eq!(
            Plain { rest: b"1000000000000000000" }.int(),
            None,
            "left to the complete reader"
        );
    }
}
