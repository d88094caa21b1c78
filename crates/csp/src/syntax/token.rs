//! The words and symbols of `.csp`, and what its people tend to write instead.

use linchpin_syntax::{Cursor, Language, tokens};

tokens! {
    pub(crate) enum TokenKind;
    keywords {
        Assert = "assert", Const = "const", Deadlockfree = "deadlockfree", Else = "else", False = "false",
        For = "for", If = "if", Ifa = "ifa", Refines = "refines", Skip = "Skip", Stop = "Stop",
        Tau = "tau" | "τ", True = "true", Var = "var",
    }
    symbols {
        Define = "#define", Interleave = "|||", DotDot = "..", Arrow = "->" | "→", EqualEqual = "==",
        BangEqual = "!=", LessEqual = "<=", GreaterEqual = ">=", AndAnd = "&&", OrOr = "||",
        Left = "<|" | "◁", Right = "|>" | "▷", Choice = "[]" | "□", OpenParen = "(", CloseParen = ")",
        OpenBrace = "{", CloseBrace = "}", OpenBracket = "[", CloseBracket = "]", Semicolon = ";",
        Colon = ":", Comma = ",", Dot = ".", At = "@", Backslash = "\\" | "∖", Equal = "=", Less = "<",
        Greater = ">", Plus = "+", Minus = "-", Star = "*", Slash = "/", Percent = "%", Bang = "!",
    }
}

impl Language for TokenKind {
    const LARGEST: i64 = i64::MAX;
    const SPLIT: &'static str = "give a part of it a name of its own";

    fn starts_item(self) -> bool {
        matches!(self, Self::Define | Self::Const | Self::Var | Self::Assert)
    }

    /// Advice for what people write who come from the paper or from another tool.
    fn habit(cursor: &Cursor<'_, Self>, expected: &str) -> Option<&'static str> {
        match (cursor.peek(), cursor.text()) {
            (Self::Equal, _) if expected != "`;`" => Some("compare with `==`"),
            (Self::OrOr, _) if expected == "`;`" => Some(
                "there is no synchronising `||`: processes meet through shared variables, `|||` interleaves them",
            ),
            (_, "|" | "~") => Some("there is no internal choice: write `(tau -> P) [] (tau -> Q)`"),
            (_, "?") | (Self::Bang, _) => {
                Some("there are no channels: write events with data, `e.v -> P`")
            }
            (Self::Refines, _) if expected == "`;`" => {
                Some("`refines` stands between two processes, after `assert`")
            }
            _ => None,
        }
    }
}
