//! Processes and the assignments of their events. From the loosest operator to the tightest: `|||`,
//! `[]`, `<| |>`, `;`, `\`, `->`.

use super::ast::*;
use super::parse::Parser;
use super::token::TokenKind;
use linchpin_syntax::{Code, Diagnostic, Parser as _, Span};

impl Parser<'_> {
    pub(super) fn missing_process(&self) -> Process {
        Process { kind: ProcessKind::Missing, span: self.span() }
    }

    pub(super) fn process(&mut self) -> Process {
        self.tree(0, Self::nested)
    }

    fn nested(&mut self) -> Process {
        self.deeper(Self::interleaving).unwrap_or_else(|| self.missing_process())
    }

    fn interleaving(&mut self) -> Process {
        self.list(TokenKind::Interleave, ProcessKind::Interleave, Self::choice)
    }

    fn choice(&mut self) -> Process {
        self.list(TokenKind::Choice, ProcessKind::Choice, Self::conditional)
    }

    fn list(
        &mut self,
        operator: TokenKind,
        make: fn(Vec<Process>) -> ProcessKind,
        mut item: impl FnMut(&mut Self) -> Process,
    ) -> Process {
        let first = item(self);
        if self.peek() != operator {
            return first;
        }
        let start = first.span;
        let mut items = vec![first];
        while self.eat(operator) {
            items.push(item(self));
        }
        Process { kind: make(items), span: start.to(self.previous_span()) }
    }

    /// `P <| b |> Q`.
    fn conditional(&mut self) -> Process {
        let then = self.sequence();
        if !self.eat(TokenKind::Left) {
            return then;
        }
        let condition = self.expression();
        self.expect(TokenKind::Right);
        let otherwise = self.deeper(Self::conditional).unwrap_or_else(|| self.missing_process());
        let span = then.span.to(otherwise.span);
        let (then, otherwise) = (Box::new(then), Box::new(otherwise));
        Process { kind: ProcessKind::If { condition, then, otherwise, atomic: false }, span }
    }

    /// `P; Q`, unless the `;` ends the declaration.
    fn sequence(&mut self) -> Process {
        let mut parts = vec![self.hiding()];
        while self.peek() == TokenKind::Semicolon && self.goes_on_after_semicolon() {
            self.bump();
            let part = self.hiding();
            let span = part.span;
            parts.push(part);
            if self.grows_too_high(span) {
                break;
            }
        }
        // To the right: `P; Q; R` waits for P before it looks at the rest.
        let mut process = parts.pop().unwrap_or_else(|| self.missing_process());
        while let Some(first) = parts.pop() {
            let span = first.span.to(process.span);
            let kind = ProcessKind::Sequence(Box::new(first), Box::new(process));
            process = Process { kind, span };
        }
        process
    }

    fn goes_on_after_semicolon(&mut self) -> bool {
        use TokenKind::*;
        let starts = matches!(
            self.peek_after(1),
            Name | Stop | Skip | Tau | OpenParen | OpenBracket | If | Ifa | Choice | Interleave
        );
        starts && !self.declares_after(1)
    }

    /// `P \ {a, b}`.
    fn hiding(&mut self) -> Process {
        let mut process = self.prefix();
        while self.eat(TokenKind::Backslash) {
            self.expect(TokenKind::OpenBrace);
            let names = self
                .listed(TokenKind::CloseBrace, |parser| parser.expect_name("the name of an event"));
            let span = process.span.to(self.previous_span());
            process = Process { kind: ProcessKind::Hide(Box::new(process), names), span };
            if self.grows_too_high(span) {
                return self.missing_process();
            }
        }
        process
    }

    /// `e.data{assignments} -> P`, `[b] P`, or something tighter. A long chain of prefixes is no
    /// nesting.
    fn prefix(&mut self) -> Process {
        let mut chain: Vec<(Event, Vec<Statement>, Span)> = Vec::new();
        while self.at_event() {
            let start = self.span();
            let event = self.event();
            let update =
                if self.peek() == TokenKind::OpenBrace { self.block() } else { Vec::new() };
            self.expect(TokenKind::Arrow);
            chain.push((event, update, start));
            if self.grows_too_high(start) {
                return self.missing_process();
            }
        }
        let mut process = self.atom();
        while let Some((event, update, start)) = chain.pop() {
            let span = start.to(process.span);
            process = Process {
                kind: ProcessKind::Prefix { event, update, next: Box::new(process) },
                span,
            };
        }
        process
    }

    fn at_event(&self) -> bool {
        use TokenKind::*;
        match self.peek() {
            Tau => true,
            Name => matches!(self.peek_after(1), Dot | OpenBrace | Arrow),
            _ => false,
        }
    }

    fn event(&mut self) -> Event {
        if self.eat(TokenKind::Tau) {
            return Event::Tau;
        }
        let name = self.expect_name("an event");
        let mut data = Vec::new();
        while self.eat(TokenKind::Dot) {
            data.push(self.primary());
        }
        Event::Visible(name, data)
    }

    fn atom(&mut self) -> Process {
        let start = self.span();
        let kind = match self.peek() {
            TokenKind::Stop => {
                self.bump();
                ProcessKind::Stop
            }
            TokenKind::Skip => {
                self.bump();
                ProcessKind::Skip
            }
            TokenKind::If | TokenKind::Ifa => self.if_else(),
            TokenKind::OpenBracket => self.guard(),
            TokenKind::Choice | TokenKind::Interleave => self.indexed(),
            TokenKind::OpenParen => {
                self.bump();
                let inner = self.nested();
                self.expect(TokenKind::CloseParen);
                return inner;
            }
            TokenKind::Name => {
                let name = self.expect_name("a process");
                let arguments = if self.eat(TokenKind::OpenParen) {
                    self.listed(TokenKind::CloseParen, Self::expression)
                } else {
                    Vec::new()
                };
                ProcessKind::Call(name, arguments)
            }
            _ => {
                self.expected("a process");
                return self.missing_process();
            }
        };
        Process { kind, span: start.to(self.previous_span()) }
    }

    fn if_else(&mut self) -> ProcessKind {
        let atomic = self.peek() == TokenKind::Ifa;
        self.bump();
        self.expect(TokenKind::OpenParen);
        let condition = self.expression();
        self.expect(TokenKind::CloseParen);
        let then = Box::new(self.braced());
        let otherwise = if !self.eat(TokenKind::Else) {
            Process { kind: ProcessKind::Skip, span: self.previous_span() }
        } else if matches!(self.peek(), TokenKind::If | TokenKind::Ifa) {
            self.deeper(Self::atom).unwrap_or_else(|| self.missing_process())
        } else {
            self.braced()
        };
        ProcessKind::If { condition, then, otherwise: Box::new(otherwise), atomic }
    }

    fn braced(&mut self) -> Process {
        self.expect(TokenKind::OpenBrace);
        let process = self.nested();
        self.expect(TokenKind::CloseBrace);
        process
    }

    /// `[b] P`: P, whose first step needs b.
    fn guard(&mut self) -> ProcessKind {
        let start = self.span();
        self.bump();
        let condition = self.expression();
        self.expect(TokenKind::CloseBracket);
        let then = Box::new(self.deeper(Self::prefix).unwrap_or_else(|| self.missing_process()));
        let otherwise = Box::new(Process { kind: ProcessKind::Stop, span: start });
        ProcessKind::If { condition, then, otherwise, atomic: true }
    }

    /// `[] i:{a..b} @ P` and `||| i:{a..b} @ P`; P goes as far as it can.
    fn indexed(&mut self) -> ProcessKind {
        let choice = self.peek() == TokenKind::Choice;
        self.bump();
        let name = self.expect_name("a name to bind");
        self.expect(TokenKind::Colon);
        let domain = self.domain();
        self.expect(TokenKind::At);
        let body = Box::new(self.nested());
        ProcessKind::Indexed { choice, name, domain, body }
    }

    /// `{ x = 1; a[i] = x; if (c) { … } else { … } for i:{0..2} { … } }`.
    fn block(&mut self) -> Vec<Statement> {
        self.tree(0, |parser| parser.deeper(Self::statements)).unwrap_or_default()
    }

    fn statements(&mut self) -> Vec<Statement> {
        self.expect(TokenKind::OpenBrace);
        let mut statements = Vec::new();
        loop {
            match self.peek() {
                TokenKind::CloseBrace => {
                    self.bump();
                    return statements;
                }
                TokenKind::If => {
                    self.bump();
                    self.expect(TokenKind::OpenParen);
                    let condition = self.expression();
                    self.expect(TokenKind::CloseParen);
                    let then = self.block();
                    let otherwise =
                        if self.eat(TokenKind::Else) { self.block() } else { Vec::new() };
                    statements.push(Statement::If { condition, then, otherwise });
                }
                TokenKind::For => {
                    self.bump();
                    let name = self.expect_name("a name to bind");
                    self.expect(TokenKind::Colon);
                    let domain = self.domain();
                    let body = self.block();
                    statements.push(Statement::For { name, domain, body });
                }
                TokenKind::Name => {
                    let name = self.expect_name("a variable");
                    let index = self.eat(TokenKind::OpenBracket).then(|| {
                        let index = self.expression();
                        self.expect(TokenKind::CloseBracket);
                        index
                    });
                    let assigned = self.expect(TokenKind::Equal);
                    let value = self.expression();
                    statements.push(Statement::Assign { name, index, value });
                    let ended =
                        self.eat(TokenKind::Semicolon) || self.peek() == TokenKind::CloseBrace;
                    if !assigned || !ended {
                        self.expected("`;`");
                        return statements;
                    }
                }
                _ => {
                    let help =
                        "a block holds assignments, `if (…) { } else { }` and `for i:{a..b} { }`";
                    let mistake = Diagnostic::new(
                        Code::Unexpected,
                        "expected an assignment",
                        self.span(),
                        "not an assignment",
                    );
                    self.report(mistake.help(help));
                    return statements;
                }
            }
        }
    }
}
