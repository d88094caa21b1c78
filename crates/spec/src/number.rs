//! Numbers that are no integers of 64 bits, exactly: as decimal digits in one form each.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

/// An integer beyond 64 bits, or a decimal fraction. Equal numbers of one kind are written in one
/// way: `1.50`, `15e-1` and `1.5` are the same number, `2.0` and the integer 2 are not.
// INVARIANT: the text is what `Decimal::to_text` makes of what it says.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Number(Arc<str>);

/// A number, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Decimal<'t> {
    negative: bool,
    /// The digits before and after the point, together without zeros at both ends.
    digits: Cow<'t, str>,
    /// The number is 0.`digits` times ten to this; 0 for the number 0.
    exponent: i64,
    is_integer: bool,
}

/// A number that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Numeral {
    /// An integer of 64 bits.
    Int(i64),
    /// Any other number.
    Number(Number),
}

/// Numbers with a larger exponent are refused: they are a mistake, and dear to write out.
const MOST_EXPONENT: i64 = 100_000;

impl Number {
    /// Reads a number: a sign, digits, a fraction and an exponent, of which all but some digits may
    /// be absent.
    ///
    /// ```
    /// use linchpin_spec::{Number, Numeral};
    /// let text = |text| match Number::read(text) {
    ///     Some(Numeral::Number(number)) => number.to_string(),
    ///     other => format!("{other:?}"),
    /// };
    /// assert_eq!(text("15.0e-1"), "1.5");
    /// assert_eq!(text("18446744073709551616"), "18446744073709551616");
    /// assert_eq!(text("007"), "Some(Int(7))");
    /// assert_eq!(text("1x"), "None");
    /// ```
    pub fn read(text: &str) -> Option<Numeral> {
        let decimal = Decimal::read(text)?;
        if decimal.is_integer
            && let Ok(int) = text.parse()
        {
            return Some(Numeral::Int(int));
        }
        Some(Numeral::Number(Number(decimal.to_text().into())))
    }

    /// The number as JSON writes it.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// How this compares with an integer. They are never equal: a fraction of the same size comes
    /// after it.
    pub fn cmp_int(&self, int: i64) -> Ordering {
        let int = int.to_string();
        match (Decimal::read(&self.0), Decimal::read(&int)) {
            (Some(own), Some(other)) => own.cmp_size(&other).then(Ordering::Greater),
            _ => Ordering::Greater,
        }
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// By size; an integer comes before a fraction of the same size.
impl Ord for Number {
    fn cmp(&self, other: &Number) -> Ordering {
        match (Decimal::read(&self.0), Decimal::read(&other.0)) {
            (Some(own), Some(others)) => {
                own.cmp_size(&others).then(others.is_integer.cmp(&own.is_integer))
            }
            _ => self.0.cmp(&other.0),
        }
    }
}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Number) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<'t> Decimal<'t> {
    fn read(text: &'t str) -> Option<Decimal<'t>> {
        let (negative, unsigned) = match text.strip_prefix(['+', '-']) {
            Some(unsigned) => (text.starts_with('-'), unsigned),
            None => (false, text),
        };
        let (mantissa, power) = match unsigned.split_once(['e', 'E']) {
            Some((mantissa, power)) => (mantissa, Some(power)),
            None => (unsigned, None),
        };
        let (whole, fraction) = match mantissa.split_once('.') {
            Some((whole, fraction)) => (whole, Some(fraction)),
            None => (mantissa, None),
        };
        let are_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let rest = fraction.unwrap_or_default();
        if whole.is_empty() || !are_digits(whole) || !are_digits(rest) {
            return None;
        }
        let power = match power {
            Some(power) => power.parse::<i64>().ok()?,
            None => 0,
        };
        let digits: Cow<'t, str> =
            if rest.is_empty() { whole.into() } else { format!("{whole}{rest}").into() };
        let significant = digits.trim_start_matches('0');
        let zeros = i64::try_from(digits.len() - significant.len()).ok()?;
        let is_zero = significant.is_empty();
        let exponent = i64::try_from(whole.len()).ok()?.checked_add(power)?.checked_sub(zeros)?;
        let exponent = if is_zero { 0 } else { exponent };
        let is_integer = fraction.is_none() && unsigned.len() == mantissa.len();
        // A long integer is what it is; its exponent is how long it is.
        if !is_integer && exponent.abs() > MOST_EXPONENT {
            return None;
        }
        let digits = significant.trim_end_matches('0').to_owned().into();
        Some(Decimal { negative: negative && !is_zero, digits, exponent, is_integer })
    }

    /// The one way to write the number.
    fn to_text(&self) -> String {
        let sign = if self.negative { "-" } else { "" };
        let digits = &*self.digits;
        let count = i64::try_from(digits.len()).unwrap_or(i64::MAX);
        let zeros = |count: i64| "0".repeat(usize::try_from(count).unwrap_or_default());
        if self.is_integer {
            let digits = if digits.is_empty() { "0" } else { digits };
            return format!("{sign}{digits}{}", zeros(self.exponent - count));
        }
        match self.exponent {
            _ if digits.is_empty() => "0.0".to_owned(),
            exponent if !(-5..=21).contains(&exponent) => {
                let (first, rest) = digits.split_at(1);
                let rest = if rest.is_empty() { "0" } else { rest };
                format!("{sign}{first}.{rest}e{}", exponent - 1)
            }
            exponent if exponent <= 0 => format!("{sign}0.{}{digits}", zeros(-exponent)),
            exponent if exponent >= count => {
                format!("{sign}{digits}{}.0", zeros(exponent - count))
            }
            exponent => {
                let (whole, rest) = digits.split_at(usize::try_from(exponent).unwrap_or(0));
                format!("{sign}{whole}.{rest}")
            }
        }
    }

    fn cmp_size(&self, other: &Decimal<'_>) -> Ordering {
        let sign = |of: &Decimal<'_>| match (of.digits.is_empty(), of.negative) {
            (true, _) => 0,
            (false, true) => -1,
            (false, false) => 1,
        };
        // INVARIANT: digits have no zeros at either end, so that the exponent tells first, and then
        // the digits from the left do.
        let size = |of: &Decimal<'_>, others: &Decimal<'_>| {
            of.exponent.cmp(&others.exponent).then_with(|| of.digits.cmp(&others.digits))
        };
        sign(self).cmp(&sign(other)).then_with(|| match sign(self) {
            0 => Ordering::Equal,
            1 => size(self, other),
            _ => size(other, self),
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::Value;

    fn value(text: &str) -> Value {
        Value::number(text).unwrap_or_else(|| panic!("{text} is a number"))
    }

    #[test]
    fn equal_numbers_are_written_in_one_way() {
        for (texts, written) in [
            (&["1.5", "1.50", "15e-1", "0.15E+1", "+1.5"][..], "1.5"),
            (&["1.0", "1e0", "10.0e-1"], "1.0"),
            (&["0.0", "-0.0", "0e5", "0.000"], "0.0"),
            (&["1e3", "1000.0"], "1000.0"),
            (&["1e300", "10e299"], "1.0e300"),
            (&["-2.5e-9"], "-2.5e-9"),
            (&["0.001"], "0.001"),
            (&["9223372036854775808"], "9223372036854775808"),
            (&["-100000000000000000000"], "-100000000000000000000"),
            (&["9223372036854775807", "+9223372036854775807"], "9223372036854775807"),
        ] {
            for text in texts {
                assert_eq!(value(text).to_string(), written, "{text}");
                assert_eq!(value(text), value(written));
            }
        }
        for text in [
            "",
            "-",
            ".5",
            "1e",
            "1.2.3",
            "0x10",
            "1/2",
            "NaN",
            "1e100001",
            "1e99999999999999999999",
        ] {
            assert_eq!(Value::number(text), None, "{text}");
        }
    }

    #[test]
    fn numbers_are_ordered_by_size() {
        let ordered = [
            "-1e300",
            "-100000000000000000000",
            "-9223372036854775808",
            "-3",
            "-2.5",
            "-2",
            "-0.1",
            "0",
            "0.0",
            "1e-9",
            "0.1",
            "0.25",
            "1",
            "1.0",
            "1.5",
            "2",
            "9.5",
            "10",
            "10.0",
            "10.25",
            "9223372036854775807",
            "9223372036854775808",
            "9223372036854775808.0",
            "10000000000000000000",
            "1e300",
        ];
        for (at, text) in ordered.iter().enumerate() {
            for (other_at, other) in ordered.iter().enumerate() {
                assert_eq!(value(text).cmp(&value(other)), at.cmp(&other_at), "{text} {other}");
            }
        }
        assert!(Value::Bool(true) < value("-1e300") && value("1e300") < Value::str(""));
    }
}
