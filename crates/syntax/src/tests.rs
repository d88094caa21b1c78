//! A small language on top of the machinery: every rule is the same for the three real ones.

use crate::{Cursor, Diagnostic, Kind as _, Language, Parser as _, Span, tokenize, tokens};
use std::ops::{Deref, DerefMut};

tokens! {
    pub(crate) enum Word;
    keywords { Let = "let", }
    symbols { OpenParen = "(", CloseParen = ")", Comma = ",", Semicolon = ";", Colon = ":", }
}

impl Language for Word {
    const LARGEST: i64 = 99;
    const SPLIT: &'static str = "split it";

    fn starts_item(self) -> bool {
        self == Word::Let
    }

    fn habit(_: &Cursor<'_, Self>, _: &str) -> Option<&'static str> {
        None
    }
}

struct Lists<'s>(Cursor<'s, Word>);

impl<'s> Deref for Lists<'s> {
    type Target = Cursor<'s, Word>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl DerefMut for Lists<'_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

impl Lists<'_> {
    /// `let list;` as often as you like. A list is a name, a number, or lists in parentheses.
    fn items(&mut self) -> usize {
        let mut sum = 0;
        while !self.at_end() {
            self.expect(Word::Let);
            let before = self.position();
            sum += self.list();
            self.expect(Word::Semicolon);
            if self.position() == before {
                self.bump();
            }
        }
        sum
    }

    fn list(&mut self) -> usize {
        match self.peek() {
            Word::Int => usize::try_from(self.number()).unwrap_or(0),
            Word::OpenParen => {
                self.bump();
                let parse = |p: &mut Self| p.separated(Word::CloseParen, Self::list);
                self.deeper(parse).unwrap_or_default().into_iter().sum()
            }
            _ => self.expect_name("a list").name.len(),
        }
    }
}

fn parse(source: &str) -> (usize, Vec<Diagnostic>) {
    let mut parser = Lists(Cursor::new(source));
    let sum = parser.items();
    (sum, parser.0.into_mistakes())
}

fn messages(source: &str) -> Vec<String> {
    parse(source).1.into_iter().map(|mistake| mistake.message).collect()
}

#[test]
fn what_is_written_well_is_understood() {
    assert_eq!(parse("let (1, 2_0, (ab, c),); // 3\nlet /* 4; */ x;"), (25, Vec::new()));
    assert_eq!(parse("\u{feff}let 1;"), (1, Vec::new()));
    assert_eq!(parse(""), (0, Vec::new()));
}

#[test]
fn a_comment_that_does_not_end_is_one_mistake_and_explains_the_end() {
    let (sum, mistakes) = parse("let 1; let (2, /* 3); let 4;");
    assert_eq!(sum, 3, "what stands before it is understood");
    assert_eq!(mistakes.len(), 1, "{mistakes:?}");
    assert_eq!(mistakes[0].message, "this comment does not end");
    assert_eq!(mistakes[0].span, Span { start: 15, end: 17 });
    let found = messages("let ; /* let");
    assert_eq!(found, ["this comment does not end", "expected a list, found `;`"]);
}

#[test]
fn numbers_that_are_none() {
    assert_eq!(messages("let 100;"), ["numbers go up to 99"]);
    assert_eq!(messages("let 18446744073709551615;"), ["numbers go up to 99"]);
    assert_eq!(messages("let 1x;"), ["`1x` is not written in decimal digits"]);
    assert_eq!(messages("let 0_9;"), [""; 0]);
}

#[test]
fn limits() {
    let nested = |depth: usize| format!("let {}a{}; let b;", "(".repeat(depth), ")".repeat(depth));
    assert_eq!(parse(&nested(64)), (2, Vec::new()));
    assert_eq!(messages(&nested(65)), ["this is nested more than 64 levels deep"]);
    assert_eq!(parse(&nested(65)).0, 1, "the next declaration is understood");
    assert_eq!(messages(&"x".repeat(10 << 20)), ["this file is longer than 256 KiB"]);
    assert_eq!(messages(&"let =;".repeat(100)).len(), 50);
    let name = |length: usize| format!("let {};", "x".repeat(length));
    assert_eq!(messages(&name(100)), [""; 0]);
    assert_eq!(messages(&name(101)), ["this name is longer than 100 bytes"]);
}

#[test]
fn lists_go_on_after_a_mistake() {
    assert_eq!(messages("let (1 2, 4);"), ["expected `,` or `)`, found `2`"]);
    assert_eq!(parse("let (1 2, 4);").0, 5);
    assert_eq!(messages("let (let: 1);")[0], "expected a list, found the keyword `let`");
}

#[test]
fn tokens_cover_the_source() {
    let source = "let\u{0}\u{202e}é(1x, /* ** */ /*/";
    let tokens = tokenize::<Word>(source);
    let texts: Vec<&str> = tokens.iter().map(|token| token.span.text(source)).collect();
    assert_eq!(texts, ["let", "\u{0}", "\u{202e}", "é", "(", "1x", ",", "/* ** */", "/*/", ""]);
    assert_eq!(tokens[8].kind, Word::UNCLOSED_COMMENT);
}

#[test]
fn what_would_not_be_seen_is_shown_as_an_escape() {
    let source = "let a\u{202e}b; // \u{0}\r\n";
    let (_, mistakes) = parse(source);
    let shown = mistakes[0].render("a\u{1b}[31m.l", source, false);
    let expected = "\
error[L001]: expected `;`, found `\\u{202e}`
 --> a\\u{1b}[31m.l:1:6
  |
1 | let a\\u{202e}b; // \\0
  |      ^ expected `;`";
    assert_eq!(shown, expected);
    let on_the_mark =
        Diagnostic::new(crate::Code::Unexpected, "here", Span { start: 5, end: 8 }, "mark");
    let shown = on_the_mark.render("m", source, false);
    assert!(shown.contains("|      ^^^^^^^^ mark"), "{shown}");
    let behind = Diagnostic::new(crate::Code::Unexpected, "here", Span { start: 8, end: 9 }, "b");
    let shown = behind.render("m", source, false);
    assert!(shown.contains("|              ^ b"), "{shown}");
}
