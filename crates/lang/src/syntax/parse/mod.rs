//! The parser. It never fails: it returns a tree and the mistakes it found.
//!
//! Recursive descent, one file per level of the grammar: [`item`], [`statement`], [`expression`]. After a mistake it skips to
//! the next place where something can start, and says nothing more about the same token.
//!
//! INVARIANT: every loop consumes a token in each round; nesting is limited to [`limits::DEPTH`] and the height of expressions to
//! [`limits::HEIGHT`]. So parsing ends on any input, and neither it nor anything that walks the tree exhausts the stack.

mod expression;
mod item;
mod statement;
#[cfg(test)]
mod tests;

use super::ast::{Ident, Model};
use super::token::{KEYWORDS, Token, TokenKind, tokenize};
use crate::diagnostic::{Diagnostic, Span, nearest};
use crate::limits;

/// Parses a model.
///
/// ```
/// let (model, mistakes) = linchpin_lang::syntax::parse("spec stack; op push(v: int { }");
/// assert_eq!(model.items.len(), 2);
/// assert_eq!(mistakes[0].message, "expected `,` or `)`, found `{`");
/// ```
pub fn parse(source: &str) -> (Model, Vec<Diagnostic>) {
    let Parsed { model, mistakes, .. } = parse_all(source);
    (model, mistakes)
}

/// What the parser knows in the end.
pub(crate) struct Parsed {
    pub(crate) model: Model,
    pub(crate) mistakes: Vec<Diagnostic>,
    /// Where the `<` and `>` stand that belong to types.
    pub(crate) type_brackets: Vec<u32>,
}

pub(crate) fn parse_all(source: &str) -> Parsed {
    if source.len() > limits::SOURCE {
        let mistakes = vec![too_long()];
        return Parsed { model: Model::default(), mistakes, type_brackets: Vec::new() };
    }
    let tokens: Vec<Token> =
        tokenize(source).into_iter().filter(|token| token.kind != TokenKind::Comment).collect();
    let mut parser = Parser {
        source,
        tokens,
        at: 0,
        depth: 0,
        height: 0,
        silent_at: None,
        diagnostics: Vec::new(),
        type_brackets: Vec::new(),
        misaligned: None,
    };
    let model = parser.model();
    Parsed { model, mistakes: parser.diagnostics, type_brackets: parser.type_brackets }
}

/// The mistake of a source beyond [`limits::SOURCE`].
pub(crate) fn too_long() -> Diagnostic {
    let message = format!("this file is longer than {} KiB", limits::SOURCE >> 10);
    Diagnostic::new(message, Span::default(), "too long for a model")
}

struct Parser<'s> {
    source: &'s str,
    tokens: Vec<Token>,
    at: usize,
    depth: usize,
    /// An upper bound on the height of the expression being parsed.
    height: usize,
    /// The token about which something has been said already.
    silent_at: Option<usize>,
    diagnostics: Vec<Diagnostic>,
    type_brackets: Vec<u32>,
    /// The first `{` whose `}` stands too far left to be meant for it.
    misaligned: Option<Span>,
}

impl Parser<'_> {
    fn peek(&self) -> TokenKind {
        self.tokens[self.at].kind
    }

    fn peek_after(&self, distance: usize) -> TokenKind {
        self.tokens.get(self.at + distance).map_or(TokenKind::End, |token| token.kind)
    }

    fn span(&self) -> Span {
        self.tokens[self.at].span
    }

    fn previous_span(&self) -> Span {
        self.tokens[self.at.saturating_sub(1)].span
    }

    fn text(&self) -> &str {
        let span = self.span();
        &self.source[span.start as usize..span.end as usize]
    }

    fn at_end(&self) -> bool {
        self.peek() == TokenKind::End
    }

    fn bump(&mut self) {
        if !self.at_end() {
            self.at += 1;
        }
    }

    fn eat(&mut self, kind: TokenKind) -> bool {
        let found = self.peek() == kind;
        if found {
            self.bump();
        }
        found
    }

    /// Whether the next token is this name; names such as `when` are words only where they are expected.
    fn at_word(&self, word: &str) -> bool {
        self.peek() == TokenKind::Name && self.text() == word
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let found = self.at_word(word);
        if found {
            self.bump();
        }
        found
    }

    /// Consumes the token or says that it is missing.
    fn expect(&mut self, kind: TokenKind) -> bool {
        let found = self.eat(kind);
        if !found {
            self.expected(kind.describe());
        }
        found
    }

    fn expect_name(&mut self, what: &str) -> Ident {
        let span = self.span();
        if self.peek() == TokenKind::Name {
            if self.text().len() > limits::NAME {
                let message = format!("this name is longer than {} bytes", limits::NAME);
                self.report(Diagnostic::new(message, span, "too long"));
            }
            let name = self.text().to_owned();
            self.bump();
            return Ident { name, span };
        }
        let word = self.text();
        if KEYWORDS.contains(&word) {
            let message = format!("expected {what}, found the keyword `{word}`");
            let label = "a keyword cannot be a name";
            let mistake = Diagnostic::new(message, span, label)
                .help(format!("choose another name, such as `{word}_`"));
            let name = word.to_owned();
            self.report(mistake);
            // Most likely it was meant as a name: go on as if it were one.
            if self.looks_like_a_name_here() {
                self.bump();
                return Ident { name, span };
            }
        } else {
            self.expected(what);
        }
        Ident { name: String::new(), span }
    }

    fn looks_like_a_name_here(&self) -> bool {
        use TokenKind::*;
        matches!(
            self.peek_after(1),
            Colon | Comma | Equal | Semicolon | OpenParen | CloseParen | OpenBrace | Dot
        )
    }

    /// Says that something else was expected here.
    fn expected(&mut self, what: &str) {
        let found = self.found();
        let span = self.span();
        let mut mistake = Diagnostic::new(
            format!("expected {what}, found {found}"),
            span,
            format!("expected {what}"),
        );
        if what == "`;`" {
            // A missing semicolon is best shown where it belongs: after what came before.
            let end = self.previous_span().end;
            mistake.span = Span { start: end, end };
        }
        self.report(mistake.maybe_help(self.habit(what)));
    }

    /// Advice for what people write who have just come from another language.
    fn habit(&self, what: &str) -> Option<String> {
        let advice = match (self.peek(), self.text()) {
            (TokenKind::Equal, _) if what == "`{`" => "compare with `==`",
            (TokenKind::GreaterEqual, _) if what == "`,` or `>`" => {
                "put a space between `>` and `=`"
            }
            (_, "&" | "|") => "the operators on `bool` are `&&` and `||`; there are none on bits",
            (_, "\"" | "'") => "there are no strings and characters: use numbers",
            (TokenKind::Else, _) => "`else` stands right after the `}` of an `if`",
            (TokenKind::Plus | TokenKind::Minus, _) if what == "an expression" => {
                "there is no `++` and no `--`: write `x += 1;`"
            }
            _ => return None,
        };
        Some(advice.to_owned())
    }

    fn found(&self) -> String {
        match self.peek() {
            TokenKind::Name | TokenKind::Int if self.text().len() <= limits::NAME => {
                format!("`{}`", self.text())
            }
            TokenKind::Unknown if matches!(self.text(), "\"" | "'" | "\\") => {
                format!("`{}`", self.text())
            }
            TokenKind::Unknown => format!("`{}`", self.text().escape_debug()),
            kind => kind.describe().to_owned(),
        }
    }

    fn report(&mut self, mistake: Diagnostic) {
        if self.silent_at == Some(self.at) || self.diagnostics.len() >= limits::DIAGNOSTICS {
            return;
        }
        self.silent_at = Some(self.at);
        self.diagnostics.push(mistake);
    }

    /// Says that something is too much, and skips the rest of the declaration: there would be too much to say about it.
    fn report_excess(&mut self, mistake: Diagnostic) {
        self.report(mistake);
        while !self.at_end() && !item::starts_item(self.peek()) {
            self.bump();
        }
        self.silent_at = Some(self.at);
    }

    /// Runs `parse` one level deeper, or says that this is too deep and makes something up.
    fn deeper<T>(
        &mut self,
        parse: impl FnOnce(&mut Self) -> T,
        make_up: impl FnOnce(&mut Self) -> T,
    ) -> T {
        if self.depth >= limits::DEPTH {
            let message = format!("this is nested more than {} levels deep", limits::DEPTH);
            let mistake = Diagnostic::new(message, self.span(), "too deep")
                .help("move the inner part into a `fn` or a variable of its own");
            self.report_excess(mistake);
            return make_up(self);
        }
        self.depth += 1;
        let result = parse(self);
        self.depth -= 1;
        result
    }

    /// Items separated by commas up to `close`, which is consumed. After a mistake it skips to the next comma or the
    /// closing token, but not past a `;` or a brace, where something else starts.
    fn separated<T>(&mut self, close: TokenKind, mut item: impl FnMut(&mut Self) -> T) -> Vec<T> {
        let mut items = Vec::new();
        loop {
            if self.eat(close) || self.at_end() {
                break;
            }
            let before = self.at;
            items.push(item(self));
            if self.eat(close) {
                break;
            }
            if self.eat(TokenKind::Comma) {
                continue;
            }
            if close == TokenKind::CloseBrace && self.at_mistaken_semicolon() {
                self.expected("`,`");
                self.bump();
                continue;
            }
            self.expected(&format!("`,` or {}", close.describe()));
            self.skip_until(|kind| {
                let ends = matches!(kind, TokenKind::Comma | TokenKind::Semicolon);
                kind == close || ends || item::starts_item(kind)
            });
            if !self.eat(TokenKind::Comma) && (!self.eat(close) || self.at == before) {
                break;
            }
            if self.tokens[self.at - 1].kind == close {
                break;
            }
        }
        items
    }

    /// Whether here is a `;` in place of the `,` between fields.
    fn at_mistaken_semicolon(&self) -> bool {
        let goes_on = match self.peek_after(1) {
            TokenKind::CloseBrace => true,
            TokenKind::Name => self.peek_after(2) == TokenKind::Colon,
            _ => false,
        };
        self.peek() == TokenKind::Semicolon && goes_on
    }

    /// Skips tokens until one satisfies `stop`, stepping over bracketed groups, but never out of the enclosing braces.
    fn skip_until(&mut self, stop: impl Fn(TokenKind) -> bool) {
        use TokenKind::*;
        let mut open = 0usize;
        loop {
            let kind = self.peek();
            if kind == End || (open == 0 && (stop(kind) || matches!(kind, OpenBrace | CloseBrace)))
            {
                return;
            }
            match kind {
                OpenParen | OpenBracket | HashBracket | OpenBrace => open += 1,
                CloseParen | CloseBracket | CloseBrace => open = open.saturating_sub(1),
                _ => {}
            }
            self.bump();
        }
    }

    /// The most likely spelling of `word` among `known`, as advice.
    fn did_you_mean(word: &str, known: &[&str]) -> Option<String> {
        nearest(word, known.iter().copied()).map(|near| format!("did you mean `{near}`?"))
    }
}
