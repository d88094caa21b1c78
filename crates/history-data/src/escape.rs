//! Names and values come from files that others wrote: what would move the cursor, colour the
//! screen or turn the direction of the text around is shown, never done.

use std::borrow::Cow;

/// The text with control characters and marks of direction written out, such as `\u{1b}` and
/// `\u{202e}`.
///
/// ```
/// assert_eq!(linchpin_history_data::escaped("a\u{1b}[2Jb"), "a\\u{1b}[2Jb");
/// ```
pub fn escaped(text: &str) -> Cow<'_, str> {
    replaced(text, is_hidden)
}

/// The same for text of several lines: their ends are kept.
pub fn escaped_lines(text: &str) -> Cow<'_, str> {
    replaced(text, |c| c != '\n' && is_hidden(c))
}

fn replaced(text: &str, is_hidden: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '\n' if is_hidden(c) => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if is_hidden(c) => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// Whether a character acts on the text around it instead of being seen.
const fn is_hidden(c: char) -> bool {
    matches!(
        c,
        // Control characters, C0 and C1.
        '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}'
        // Marks, embeddings, overrides and isolates of direction.
        | '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        // Of no width, and other ends of lines.
        | '\u{200b}'..='\u{200d}' | '\u{2028}' | '\u{2029}' | '\u{2060}' | '\u{feff}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_acts_is_shown() {
        assert_eq!(escaped("\u{1b}[31m\u{202e}x\n\t\r"), "\\u{1b}[31m\\u{202e}x\\n\\t\\r");
        assert_eq!(escaped_lines("a\nb\u{9b}"), "a\nb\\u{9b}");
    }

    #[test]
    fn what_is_seen_stays_as_it_is() {
        let text = "pop() → 1, ∅, Ünïcödé, שלום";
        assert!(matches!(escaped(text), Cow::Borrowed(same) if same == text));
    }
}
