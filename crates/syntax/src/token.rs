//! Bytes to tokens. Never fails: what it does not know becomes [`Kind::UNKNOWN`].

use crate::Span;

/// A token and where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token<K> {
    /// What it is.
    pub kind: K,
    /// Where it stands.
    pub span: Span,
}

/// The token kinds of a language; made by [`tokens!`](crate::tokens).
pub trait Kind: Copy + Eq + std::fmt::Debug + 'static {
    /// A name.
    const NAME: Self;
    /// A number.
    const INT: Self;
    /// `// …` or `/* … */`.
    const COMMENT: Self;
    /// `/*` without its `*/`: the rest of the source.
    const UNCLOSED_COMMENT: Self;
    /// Something that is not part of the language.
    const UNKNOWN: Self;
    /// The end of the source.
    const END: Self;
    /// `,`
    const COMMA: Self;
    /// `;`
    const SEMICOLON: Self;
    /// The words that cannot be names.
    const KEYWORDS: &'static [(&'static str, Self)];
    /// The symbols. INVARIANT: longer ones stand before their prefixes.
    const SYMBOLS: &'static [(&'static str, Self)];

    /// How a keyword or symbol is spelled; the first spelling if there are several.
    fn spelling(self) -> Option<&'static str> {
        let mut spelled = Self::KEYWORDS.iter().chain(Self::SYMBOLS);
        spelled.find(|(_, kind)| *kind == self).map(|(text, _)| *text)
    }

    /// How the token is spelled, or what to call it.
    fn describe(self) -> String {
        match self.spelling() {
            Some(text) => format!("`{text}`"),
            None if self == Self::NAME => "a name".to_owned(),
            None if self == Self::INT => "a number".to_owned(),
            None if self == Self::END => "the end of the file".to_owned(),
            None if self == Self::UNKNOWN => "an unknown character".to_owned(),
            None => "a comment".to_owned(),
        }
    }
}

/// Makes the token kinds of a language: its keywords, its symbols, and what every language has.
#[macro_export]
macro_rules! tokens {
    (
        $visibility:vis enum $Kind:ident;
        keywords { $($keyword:ident = $word:literal $(| $also:literal)*,)* }
        symbols { $($symbol:ident = $text:literal $(| $other:literal)*,)* }
    ) => {
        /// What a token is.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[allow(missing_docs)] // the variants are their spelling
        $visibility enum $Kind {
            $($keyword,)*
            $($symbol,)*
            /// A name.
            Name,
            /// A number.
            Int,
            /// `// …` or `/* … */`.
            Comment,
            /// `/*` without its `*/`.
            UnclosedComment,
            /// Something that is not part of the language.
            Unknown,
            /// The end of the source.
            End,
        }

        impl $crate::Kind for $Kind {
            const NAME: Self = $Kind::Name;
            const INT: Self = $Kind::Int;
            const COMMENT: Self = $Kind::Comment;
            const UNCLOSED_COMMENT: Self = $Kind::UnclosedComment;
            const UNKNOWN: Self = $Kind::Unknown;
            const END: Self = $Kind::End;
            const COMMA: Self = $Kind::Comma;
            const SEMICOLON: Self = $Kind::Semicolon;
            const KEYWORDS: &'static [(&'static str, Self)] =
                &[$(($word, $Kind::$keyword), $(($also, $Kind::$keyword),)*)*];
            const SYMBOLS: &'static [(&'static str, Self)] =
                &[$(($text, $Kind::$symbol), $(($other, $Kind::$symbol),)*)*];
        }
    };
}

/// What some editors write at the start of a file.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// All tokens of the source, comments included, [`Kind::END`] last. They leave out only white space
/// and a byte order mark at the start.
pub fn tokenize<K: Kind>(source: &str) -> Vec<Token<K>> {
    let mut tokens = Vec::new();
    let mut at = if source.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len_utf8() } else { 0 };
    while let Some(first) = source[at..].chars().next() {
        let (kind, length) = next(&source[at..], first);
        if let Some(kind) = kind {
            tokens.push(Token { kind, span: Span::new(at..at + length) });
        }
        at += length;
    }
    tokens.push(Token { kind: K::END, span: Span::new(at..at) });
    tokens
}

/// The token (none for white space) at the start of `rest`, and its length, which is never 0.
fn next<K: Kind>(rest: &str, first: char) -> (Option<K>, usize) {
    let length_while = |accept: fn(char) -> bool| rest.find(|c| !accept(c)).unwrap_or(rest.len());
    if first.is_whitespace() {
        return (None, length_while(char::is_whitespace));
    }
    if rest.starts_with("//") {
        return (Some(K::COMMENT), rest.find('\n').unwrap_or(rest.len()));
    }
    if let Some(inside) = rest.strip_prefix("/*") {
        return match inside.find("*/") {
            Some(end) => (Some(K::COMMENT), end + "/**/".len()),
            None => (Some(K::UNCLOSED_COMMENT), rest.len()),
        };
    }
    if first.is_alphabetic() || first == '_' {
        let length = length_while(|c| c.is_alphanumeric() || c == '_');
        let keyword = K::KEYWORDS.iter().find(|(word, _)| *word == &rest[..length]);
        return (Some(keyword.map_or(K::NAME, |(_, kind)| *kind)), length);
    }
    if first.is_ascii_digit() {
        return (Some(K::INT), length_while(|c| c.is_ascii_alphanumeric() || c == '_'));
    }
    match K::SYMBOLS.iter().find(|(text, _)| rest.starts_with(text)) {
        Some((text, kind)) => (Some(*kind), text.len()),
        None => (Some(K::UNKNOWN), first.len_utf8()),
    }
}
