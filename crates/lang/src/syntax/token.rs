//! The words and symbols of `.lin`, and what people write who come from other languages.

use linchpin_syntax::{Cursor, Language, tokens};

tokens! {
    pub enum TokenKind;
    keywords {
        Atomic = "atomic", Bounds = "bounds", Break = "break", Continue = "continue", Else = "else",
        False = "false", Fn = "fn", For = "for", If = "if", In = "in", Init = "init", Let = "let",
        Local = "local", Loop = "loop", New = "new", None = "none", Null = "null", Op = "op",
        Param = "param", Record = "record", Reference = "reference", Requires = "requires",
        Return = "return", Role = "role", Shared = "shared", Spec = "spec", Struct = "struct", True = "true", While = "while",
    }
    symbols {
        DotDotEqual = "..=", DotDot = "..", Arrow = "->", EqualEqual = "==", BangEqual = "!=",
        ShiftLeft = "<<", LessEqual = "<=", GreaterEqual = ">=", AndAnd = "&&", OrOr = "||", PlusEqual = "+=",
        MinusEqual = "-=", HashBracket = "#[", OpenParen = "(", CloseParen = ")", OpenBrace = "{",
        CloseBrace = "}", OpenBracket = "[", CloseBracket = "]", Semicolon = ";", Colon = ":",
        Comma = ",", Dot = ".", Question = "?", Equal = "=", Less = "<", Greater = ">", Plus = "+",
        Minus = "-", Star = "*", Slash = "/", Percent = "%", Bang = "!",
        Ampersand = "&", Bar = "|", Caret = "^",
    }
}

/// A token and where it stands.
pub type Token = linchpin_syntax::Token<TokenKind>;

/// All tokens of the source, comments included, [`TokenKind::End`] last.
pub fn tokenize(source: &str) -> Vec<Token> {
    linchpin_syntax::tokenize(source)
}

impl Language for TokenKind {
    const LARGEST: i64 = i64::MAX;
    const LARGEST_HELP: Option<&'static str> =
        Some("`MAX` is the largest number and `MIN` the smallest");
    const SPLIT: &'static str = "move a part of it into a `fn` or a variable of its own";

    fn starts_item(self) -> bool {
        use TokenKind::*;
        matches!(
            self,
            Spec | Param
                | Struct
                | Record
                | Shared
                | Local
                | Init
                | Op
                | Fn
                | Reference
                | Role
                | Bounds
        )
    }

    fn habit(cursor: &Cursor<'_, Self>, expected: &str) -> Option<&'static str> {
        let before = cursor.previous().and_then(linchpin_syntax::Kind::spelling);
        Some(match (cursor.peek(), cursor.text()) {
            (TokenKind::Equal, _) if expected == "`{`" => "compare with `==`",
            (TokenKind::Equal, _)
                if matches!(before, Some("*" | "/" | "%" | "&" | "|" | "^" | "<<" | ">")) =>
            {
                "only `+=` and `-=` assign with an operator: write `x = x * 2;`"
            }
            (TokenKind::GreaterEqual, _) if expected == "`,` or `>`" => {
                "put a space between `>` and `=`"
            }
            (TokenKind::Less, _) if expected != "an expression" => {
                "types with arguments are `seq<T>`, `set<T>` and `map<K, V>`; an optional is `T?`"
            }
            (_, "&" | "|") => {
                "the operators on `bool` are `&&` and `||`; on bits of an `int` `&` and `|`"
            }
            (TokenKind::Else, _) => "`else` stands right after the `}` of an `if`",
            _ if expected == "`;`" => "statements and declarations end with `;`",
            _ => return Option::None,
        })
    }
}
