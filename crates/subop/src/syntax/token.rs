//! The words and symbols of `.subop`, and what its people tend to write instead.

use crate::model::LARGEST_CONSTANT;
use linchpin_syntax::{Cursor, Language, tokens};

tokens! {
    pub(crate) enum Kind;
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

impl Language for Kind {
    const LARGEST: i64 = LARGEST_CONSTANT;
    const SPLIT: &'static str = "split it into several conditions or sub-operations";

    fn starts_item(self) -> bool {
        use Kind::*;
        matches!(self, Struct | Initially | Invariant | Relations | Spec)
    }

    /// Advice for what people write who have just come from another language.
    fn habit(cursor: &Cursor<'_, Self>, expected: &str) -> Option<&'static str> {
        Some(match (cursor.peek(), cursor.text()) {
            (Kind::Assign, _) => "assignment is written `=`",
            (Kind::Dot | Kind::Arrow, _) if expected != "a declaration" => {
                "only one access a term: put `x.next` into a local first, or compare it with one that is never assigned"
            }
            (Kind::Name, "if" | "while" | "loop" | "for") => {
                "an operation is a list of sub-operations: `1 <condition;> statements`; branches are `either { … } or { … }`"
            }
            (Kind::Name, "null" | "nil" | "none") => "the null reference is `NULL`",
            (Kind::Name, "read") => "write `READ`",
            (Kind::Name, "new") => "write `x = malloc node;`",
            _ => return None,
        })
    }
}
