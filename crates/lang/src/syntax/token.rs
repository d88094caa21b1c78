//! Bytes to tokens. Never fails: what it does not know becomes [`TokenKind::Unknown`].

use crate::diagnostic::Span;

/// A token and where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// What it is.
    pub kind: TokenKind,
    /// Where it stands.
    pub span: Span,
}

macro_rules! tokens {
    (keywords { $($keyword:ident = $word:literal,)* } symbols { $($symbol:ident = $text:literal,)* }) => {
        /// What a token is.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[allow(missing_docs)] // the variants are their spelling
        pub enum TokenKind {
            $($keyword,)*
            $($symbol,)*
            /// A name.
            Name,
            /// An integer literal.
            Int,
            /// `// …` to the end of the line, documentation included.
            Comment,
            /// Something that is not part of the language.
            Unknown,
            /// The end of the source.
            End,
        }

        impl TokenKind {
            /// How the token is spelled, or what to call it.
            pub fn describe(self) -> &'static str {
                match self {
                    $(TokenKind::$keyword => concat!("`", $word, "`"),)*
                    $(TokenKind::$symbol => concat!("`", $text, "`"),)*
                    TokenKind::Name => "a name",
                    TokenKind::Int => "a number",
                    TokenKind::Comment => "a comment",
                    TokenKind::Unknown => "an unknown character",
                    TokenKind::End => "the end of the file",
                }
            }
        }

        /// The words that cannot be names.
        pub const KEYWORDS: &[&str] = &[$($word,)*];

        fn keyword(word: &str) -> TokenKind {
            match word {
                $($word => TokenKind::$keyword,)*
                _ => TokenKind::Name,
            }
        }

        // INVARIANT: longer symbols stand before their prefixes.
        const SYMBOLS: &[(&str, TokenKind)] = &[$(($text, TokenKind::$symbol),)*];
    };
}

/// What some editors write at the start of a file.
const BYTE_ORDER_MARK: char = '\u{feff}';

tokens! {
    keywords {
        Atomic = "atomic", Bounds = "bounds", Break = "break", Continue = "continue", Else = "else",
        False = "false", Fn = "fn", For = "for", If = "if", In = "in", Init = "init", Let = "let",
        Local = "local", Loop = "loop", New = "new", None = "none", Null = "null", Op = "op",
        Param = "param", Record = "record", Requires = "requires", Return = "return", Role = "role",
        Shared = "shared", Spec = "spec", State = "state", Struct = "struct", True = "true",
        While = "while",
    }
    symbols {
        DotDotEqual = "..=", DotDot = "..", Arrow = "->", EqualEqual = "==", BangEqual = "!=",
        LessEqual = "<=", GreaterEqual = ">=", AndAnd = "&&", OrOr = "||", PlusEqual = "+=",
        MinusEqual = "-=", HashBracket = "#[", OpenParen = "(", CloseParen = ")", OpenBrace = "{",
        CloseBrace = "}", OpenBracket = "[", CloseBracket = "]", Semicolon = ";", Colon = ":",
        Comma = ",", Dot = ".", Question = "?", Equal = "=", Less = "<", Greater = ">", Plus = "+",
        Minus = "-", Star = "*", Slash = "/", Percent = "%", Bang = "!",
    }
}

/// All tokens of the source, comments included, [`TokenKind::End`] last. A byte order mark at the start is no token.
pub fn tokenize(source: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut at = if source.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len_utf8() } else { 0 };
    while let Some(c) = source[at..].chars().next() {
        let (kind, length) = next(&source[at..], c);
        if let Some(kind) = kind {
            let span = Span { start: at as u32, end: (at + length) as u32 };
            tokens.push(Token { kind, span });
        }
        at += length;
    }
    let end = source.len() as u32;
    tokens.push(Token { kind: TokenKind::End, span: Span { start: end, end } });
    tokens
}

/// The token (none for white space) at the start of `rest`, and its length, which is never 0.
fn next(rest: &str, first: char) -> (Option<TokenKind>, usize) {
    let length_while = |accept: fn(char) -> bool| rest.find(|c| !accept(c)).unwrap_or(rest.len());
    if first.is_whitespace() {
        return (None, length_while(char::is_whitespace));
    }
    if rest.starts_with("//") {
        return (Some(TokenKind::Comment), rest.find('\n').unwrap_or(rest.len()));
    }
    if first.is_alphabetic() || first == '_' {
        let length = length_while(|c| c.is_alphanumeric() || c == '_');
        return (Some(keyword(&rest[..length])), length);
    }
    if first.is_ascii_digit() {
        return (Some(TokenKind::Int), length_while(|c| c.is_ascii_alphanumeric() || c == '_'));
    }
    // The first byte decides nearly always, and comparing it is cheap.
    let matches = |text: &str| text.as_bytes()[0] == rest.as_bytes()[0] && rest.starts_with(text);
    match SYMBOLS.iter().find(|(text, _)| matches(text)) {
        Some((text, kind)) => (Some(*kind), text.len()),
        None => (Some(TokenKind::Unknown), first.len_utf8()),
    }
}
