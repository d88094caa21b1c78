//! Numbers in sentences.

/// A number with its digits in groups of three: `29,179`.
pub fn grouped(number: impl ToString) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// So many of them: `1 state`, `29,179 states`, `3 processes`.
pub fn counted(count: impl ToString, noun: &str) -> String {
    let count = grouped(count);
    let ending = match (count.as_str(), noun.ends_with('s')) {
        ("1", _) => "",
        (_, true) => "es",
        (_, false) => "s",
    };
    format!("{count} {noun}{ending}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_singular() {
        assert_eq!(counted(1, "state"), "1 state");
        assert_eq!(counted(0, "process"), "0 processes");
        assert_eq!(counted(1_234_567, "state"), "1,234,567 states");
    }
}
