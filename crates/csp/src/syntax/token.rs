//! Bytes to tokens. Never fails: what it does not know becomes [`TokenKind::Unknown`].

use linchpin_lang::Span;

/// A token and where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    pub kind: TokenKind,
    pub span: Span,
}

macro_rules! tokens {
    (keywords { $($keyword:ident = $word:literal,)* } symbols { $($symbol:ident = $text:literal,)* }) => {
        /// What a token is.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum TokenKind {
            $($keyword,)*
            $($symbol,)*
            Name,
            Int,
            Unknown,
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
                    TokenKind::Unknown => "an unknown character",
                    TokenKind::End => "the end of the file",
                }
            }
        }

        /// The words that cannot be names.
        pub(crate) const KEYWORDS: &[&str] = &[$($word,)*];

        fn keyword(word: &str) -> TokenKind {
            match word {
                $($word => TokenKind::$keyword,)*
                "τ" => TokenKind::Tau,
                _ => TokenKind::Name,
            }
        }

        // INVARIANT: longer symbols stand before their prefixes.
        const SYMBOLS: &[(&str, TokenKind)] = &[
            $(($text, TokenKind::$symbol),)*
            ("→", TokenKind::Arrow),
            ("□", TokenKind::Choice),
            ("◁", TokenKind::Left),
            ("▷", TokenKind::Right),
            ("∖", TokenKind::Backslash),
        ];
    };
}

tokens! {
    keywords {
        Assert = "assert", Const = "const", Deadlockfree = "deadlockfree", Else = "else", False = "false",
        For = "for", If = "if", Ifa = "ifa", Refines = "refines", Skip = "Skip", Stop = "Stop",
        Tau = "tau", True = "true", Var = "var",
    }
    symbols {
        Define = "#define", Interleave = "|||", DotDot = "..", Arrow = "->", EqualEqual = "==",
        BangEqual = "!=", LessEqual = "<=", GreaterEqual = ">=", AndAnd = "&&", OrOr = "||",
        Left = "<|", Right = "|>", Choice = "[]", OpenParen = "(", CloseParen = ")",
        OpenBrace = "{", CloseBrace = "}", OpenBracket = "[", CloseBracket = "]", Semicolon = ";",
        Colon = ":", Comma = ",", Dot = ".", At = "@", Backslash = "\\", Equal = "=", Less = "<",
        Greater = ">", Plus = "+", Minus = "-", Star = "*", Slash = "/", Percent = "%", Bang = "!",
    }
}

/// What some editors write at the start of a file.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// All tokens of the source, [`TokenKind::End`] last; comments and a byte order mark are left out.
pub(crate) fn tokenize(source: &str) -> Vec<Token> {
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

/// The token (none for white space and comments) at the start of `rest`, and its length, which is never 0.
fn next(rest: &str, first: char) -> (Option<TokenKind>, usize) {
    let length_while = |accept: fn(char) -> bool| rest.find(|c| !accept(c)).unwrap_or(rest.len());
    if first.is_whitespace() {
        return (None, length_while(char::is_whitespace));
    }
    if rest.starts_with("//") {
        return (None, rest.find('\n').unwrap_or(rest.len()));
    }
    if rest.starts_with("/*") {
        return (None, rest.find("*/").map_or(rest.len(), |end| end + 2));
    }
    if first.is_alphabetic() || first == '_' {
        let length = length_while(|c| c.is_alphanumeric() || c == '_');
        return (Some(keyword(&rest[..length])), length);
    }
    if first.is_ascii_digit() {
        return (Some(TokenKind::Int), length_while(|c| c.is_ascii_alphanumeric() || c == '_'));
    }
    match SYMBOLS.iter().find(|(text, _)| rest.starts_with(text)) {
        Some((text, kind)) => (Some(*kind), text.len()),
        None => (Some(TokenKind::Unknown), first.len_utf8()),
    }
}
