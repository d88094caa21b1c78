//! Bytes to tokens. Never fails: what it does not know becomes [`Kind::Unknown`].

use linchpin_diagnostic::Span;

/// A token and where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    pub(crate) span: Span,
}

macro_rules! tokens {
    (
        keywords { $($keyword:ident = $word:literal,)* }
        symbols { $($symbol:ident = $text:literal $(| $other:literal)*,)* }
    ) => {
        /// What a token is.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Kind {
            $($keyword,)*
            $($symbol,)*
            Name,
            Int,
            Unknown,
            /// `/*` that nobody closes.
            OpenComment,
            End,
        }

        impl Kind {
            /// How the token is spelled, or what to call it.
            pub(crate) fn describe(self) -> &'static str {
                match self {
                    $(Kind::$keyword => concat!("`", $word, "`"),)*
                    $(Kind::$symbol => concat!("`", $text, "`"),)*
                    Kind::Name => "a name",
                    Kind::Int => "a number",
                    Kind::Unknown => "an unknown character",
                    Kind::OpenComment => "a comment that does not end",
                    Kind::End => "the end of the file",
                }
            }
        }

        /// The words that cannot be names.
        pub(crate) const KEYWORDS: &[&str] = &[$($word,)*];

        fn keyword(word: &str) -> Kind {
            match word {
                $($word => Kind::$keyword,)*
                _ => Kind::Name,
            }
        }

        // INVARIANT: longer symbols stand before their prefixes.
        const SYMBOLS: &[(&str, Kind)] = &[$(($text, Kind::$symbol), $(($other, Kind::$symbol),)*)*];
    };
}

tokens! {
    keywords {
        Either = "either", Free = "free", Id = "ID", Initially = "initially", IntType = "int",
        Invariant = "invariant", Malloc = "malloc", Null = "NULL", Or = "or", Read = "READ",
        Relations = "relations", Return = "return", Spec = "spec", Struct = "struct",
        Then = "then",
    }
    symbols {
        Dots = "..." | "…", Implies = "=>" | "⇒", Arrow = "->" | "→", EqualEqual = "==", NotEqual = "!=" | "≠",
        LessEqual = "<=" | "≤", GreaterEqual = ">=" | "≥", AndAnd = "&&" | "∧", OrOr = "||" | "∨",
        Assign = ":=", Less = "<" | "⟨", Greater = ">" | "⟩", Equal = "=", Semicolon = ";", Comma = ",", Dot = ".",
        OpenParen = "(", CloseParen = ")", OpenBrace = "{", CloseBrace = "}", OpenBracket = "[",
        CloseBracket = "]", Star = "*", Plus = "+", Minus = "-", Bang = "!" | "¬", Colon = ":", At = "@",
        Orderable = "~" | "≀", Reversible = "⊖",
    }
}

/// All tokens of the source without comments, [`Kind::End`] last.
pub(crate) fn tokenize(source: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut at = if source.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    while let Some(c) = source[at..].chars().next() {
        let (kind, length) = next(&source[at..], c);
        if let Some(kind) = kind {
            let span = Span { start: at as u32, end: (at + length) as u32 };
            tokens.push(Token { kind, span });
        }
        at += length;
    }
    let end = source.len() as u32;
    tokens.push(Token { kind: Kind::End, span: Span { start: end, end } });
    tokens
}

/// The token (none for white space and comments) at the start of `rest`, and its length, which is never 0.
fn next(rest: &str, first: char) -> (Option<Kind>, usize) {
    let length_while = |accept: fn(char) -> bool| rest.find(|c| !accept(c)).unwrap_or(rest.len());
    if first.is_whitespace() {
        return (None, length_while(char::is_whitespace));
    }
    if rest.starts_with("//") {
        return (None, rest.find('\n').unwrap_or(rest.len()));
    }
    if let Some(inside) = rest.strip_prefix("/*") {
        return match inside.find("*/") {
            Some(end) => (None, end + 4),
            None => (Some(Kind::OpenComment), rest.len()),
        };
    }
    if first.is_alphabetic() || first == '_' {
        let length = length_while(|c| c.is_alphanumeric() || c == '_');
        return (Some(keyword(&rest[..length])), length);
    }
    if first.is_ascii_digit() {
        return (Some(Kind::Int), length_while(|c| c.is_ascii_digit()));
    }
    match SYMBOLS.iter().find(|(text, _)| rest.starts_with(text)) {
        Some((text, kind)) => (Some(*kind), text.len()),
        None => (Some(Kind::Unknown), first.len_utf8()),
    }
}
