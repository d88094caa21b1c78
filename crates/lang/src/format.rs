//! Laying out a model: indentation and spaces are decided here, line breaks and comments stay where
//! their author put them.
//!
//! Works on tokens, so it keeps every token, comments included, and formatting twice changes
//! nothing.

use crate::syntax::{Token, TokenKind, parse_all, tokenize};
use linchpin_syntax::{Diagnostic, Span, limits};
use std::collections::HashSet;

const INDENT: &str = "    ";

/// The source laid out, or the mistakes that keep it from being understood.
///
/// ```
/// let laid_out = linchpin_lang::format("op  f( ){\nreturn;}\n").unwrap();
/// assert_eq!(laid_out, "op f() {\n    return; }\n");
/// ```
pub fn format(source: &str) -> Result<String, Vec<Diagnostic>> {
    let parsed = parse_all(source);
    if !parsed.mistakes.is_empty() {
        return Err(parsed.mistakes);
    }
    let mut layout = Layout {
        source,
        type_brackets: parsed.type_brackets.into_iter().collect(),
        shifts: parsed.shifts.into_iter().collect(),
        out: String::new(),
        open: Vec::new(),
        line: 0,
        closed: None,
        last: None,
        before: None,
        spec_name: false,
    };
    for token in tokenize(source) {
        if token.kind == TokenKind::End {
            break;
        }
        layout.token(token);
    }
    let mut out = layout.out;
    if !out.is_empty() {
        out.push('\n');
    }
    if out.len() > limits::SOURCE {
        return Err(vec![Diagnostic::too_long()]);
    }
    Ok(out)
}

/// A bracket that is open.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Open {
    Brace,
    /// `(` or `[`
    Bracket,
    Annotation,
    /// `seq<`
    Type,
}

struct Layout<'s> {
    source: &'s str,
    /// Where the `<` and `>` of types stand; any other is a comparison.
    type_brackets: HashSet<u32>,
    /// Where the second `>` of each `>>` stands.
    shifts: HashSet<u32>,
    out: String,
    /// The open brackets, each with the line on which it was opened.
    open: Vec<(Open, usize)>,
    line: usize,
    /// Where the bracket was opened that the current token closes.
    closed: Option<usize>,
    /// The last token written, and what it was.
    last: Option<(Token, Part)>,
    /// The last token that was not a comment, and what it was.
    before: Option<(TokenKind, Part)>,
    /// Between `spec` and its `;`, where `-` is part of a name.
    spec_name: bool,
}

/// What a token does, where its kind does not say.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Plain,
    /// `-`, `!` or `&` before what it belongs to.
    Prefix,
    /// The `]` of `#[…]`.
    EndOfAnnotation,
    /// `<` or `>` of a type.
    TypeBracket,
    /// The second `>` of `>>`.
    EndOfShift,
}

impl Layout<'_> {
    fn token(&mut self, token: Token) {
        let part = self.part(token);
        let closes = matches!(
            token.kind,
            TokenKind::CloseBrace | TokenKind::CloseParen | TokenKind::CloseBracket
        ) || (token.kind == TokenKind::Greater && part == Part::TypeBracket);
        self.closed = if closes { self.open.pop().map(|(_, line)| line) } else { None };
        self.space_before(token, part);
        // A comment may go over several lines; none of them keeps the space at its end.
        for (at, line) in token.span.text(self.source).split('\n').enumerate() {
            self.out.push_str(if at > 0 { "\n" } else { "" });
            self.out.push_str(line.trim_end());
        }
        match token.kind {
            TokenKind::OpenBrace => self.opened(Open::Brace),
            TokenKind::OpenParen | TokenKind::OpenBracket => self.opened(Open::Bracket),
            TokenKind::HashBracket => self.opened(Open::Annotation),
            TokenKind::Less if part == Part::TypeBracket => self.opened(Open::Type),
            _ => {}
        }
        match token.kind {
            TokenKind::Spec => self.spec_name = true,
            TokenKind::Semicolon | TokenKind::OpenBrace | TokenKind::OpenParen => {
                self.spec_name = false
            }
            _ => {}
        }
        self.last = Some((token, part));
        if token.kind != TokenKind::Comment {
            self.before = Some((token.kind, part));
        }
    }

    fn opened(&mut self, open: Open) {
        self.open.push((open, self.line));
    }

    fn innermost(&self) -> Option<Open> {
        self.open.last().map(|(open, _)| *open)
    }

    fn part(&self, token: Token) -> Part {
        match token.kind {
            TokenKind::Bang => Part::Prefix,
            TokenKind::Minus | TokenKind::Ampersand if !self.after_operand() => Part::Prefix,
            TokenKind::Greater if self.shifts.contains(&token.span.start) => Part::EndOfShift,
            TokenKind::CloseBracket if self.innermost() == Some(Open::Annotation) => {
                Part::EndOfAnnotation
            }
            TokenKind::Less | TokenKind::Greater
                if self.type_brackets.contains(&token.span.start) =>
            {
                Part::TypeBracket
            }
            _ => Part::Plain,
        }
    }

    /// Whether an operator here has something on its left.
    fn after_operand(&self) -> bool {
        use TokenKind::*;
        matches!(
            self.before,
            Some((
                Name | Int | True | False | Null | None | CloseParen | CloseBracket | CloseBrace,
                _
            ))
        )
    }

    fn last_text(&self) -> &str {
        let Some((token, _)) = self.last else { return "" };
        token.span.text(self.source)
    }

    fn space_before(&mut self, token: Token, part: Part) {
        let Some((last, _)) = self.last else { return };
        let between = Span { start: last.span.end, end: token.span.start }.text(self.source);
        // A `//` comment ends before its line break, so the break is always in between.
        match between.matches('\n').count() {
            0 if token.kind == TokenKind::Comment => {
                let spaces = between.chars().count().max(1);
                self.out.extend(std::iter::repeat_n(' ', spaces));
            }
            0 => {
                if self.spaced(last, token, part) {
                    self.out.push(' ');
                }
            }
            breaks => {
                let blank = breaks > 1
                    && last.kind != TokenKind::OpenBrace
                    && token.kind != TokenKind::CloseBrace;
                self.out.push_str(if blank { "\n\n" } else { "\n" });
                self.line += 1;
                self.indent(token);
            }
        }
    }

    fn indent(&mut self, token: Token) {
        // Brackets that were opened together, as in `#[base(`, indent once.
        let mut lines: Vec<usize> = self.open.iter().map(|(_, line)| *line).collect();
        lines.dedup();
        // A closing bracket stands under the line that opened it.
        if let Some(opened) = self.closed {
            lines.retain(|line| *line < opened);
        }
        let in_block = matches!(self.innermost(), None | Some(Open::Brace));
        let continued = in_block && token.kind != TokenKind::Comment && self.continues(token);
        let depth = lines.len() + usize::from(continued);
        for _ in 0..depth {
            self.out.push_str(INDENT);
        }
    }

    /// Whether a line that starts with `token` goes on with what the line before began.
    fn continues(&self, token: Token) -> bool {
        use TokenKind::*;
        let closes = matches!(token.kind, CloseBrace | CloseParen | CloseBracket | Else);
        match self.before {
            Option::None => false,
            Some((_, Part::EndOfAnnotation)) => false,
            Some((kind, _)) => {
                !closes
                    && token.kind != OpenBrace
                    && !matches!(
                        kind,
                        Semicolon
                            | OpenBrace
                            | CloseBrace
                            | Comma
                            | OpenParen
                            | OpenBracket
                            | HashBracket
                    )
            }
        }
    }

    /// Whether there is a space between two tokens of one line.
    fn spaced(&self, last: Token, token: Token, part: Part) -> bool {
        use TokenKind::*;
        let last_part = self.last.map_or(Part::Plain, |(_, part)| part);
        if self.spec_name && (token.kind == Minus || last.kind == Minus) {
            return false;
        }
        match (last.kind, token.kind) {
            (_, Comma | Semicolon | Dot | Question | Colon | CloseParen | CloseBracket) => false,
            (OpenBrace, CloseBrace) => false,
            (OpenParen | OpenBracket | HashBracket | Dot, _) => false,
            _ if last_part == Part::Prefix => false,
            _ if matches!(part, Part::TypeBracket | Part::EndOfShift) => false,
            (Less, _) if last_part == Part::TypeBracket => false,
            (_, DotDot | DotDotEqual) => matches!(last.kind, Comma | OpenBrace),
            (DotDot | DotDotEqual, _) => false,
            (Name, OpenParen | OpenBracket) => {
                let in_annotation = self.open.iter().any(|(open, _)| *open == Open::Annotation);
                in_annotation && matches!(self.last_text(), "returns" | "when")
            }
            (CloseParen | CloseBracket, OpenBracket | OpenParen) => {
                last_part == Part::EndOfAnnotation
            }
            _ => true,
        }
    }
}

#[cfg(test)]
mod tests;
