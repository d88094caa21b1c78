//! What a file consists of: structs, globals and operations as in Figure 6; `initially`,
//! `invariant`, `relations` and `spec` added.

use super::ast::{Claim, ClaimKind, File, Initially, Invariant, Spec, SpecLine, Struct, Term};
use super::parse::Parser;
use super::token::Kind;
use linchpin_syntax::{Code, Diagnostic};

impl Parser<'_> {
    pub(super) fn file(&mut self) -> File {
        let mut file = File::default();
        while !self.at_end() {
            self.line_label();
            let before = self.position();
            match self.peek() {
                Kind::Struct => file.structs.push(self.structure()),
                Kind::Initially => {
                    let initially = self.initially();
                    file.initially.push(initially);
                }
                Kind::Invariant => {
                    let invariant = self.invariant();
                    file.invariants.push(invariant);
                }
                Kind::Relations => self.relations(&mut file.claims),
                Kind::Spec => {
                    let spec = self.spec();
                    file.specs.push(spec);
                }
                _ if self.at_operation() => {
                    let operation = self.operation();
                    file.operations.push(operation);
                }
                _ if self.at_declaration() => {
                    let declaration = self.declaration();
                    file.globals.push(declaration);
                    self.semicolon();
                }
                Kind::Semicolon => {}
                _ => {
                    self.expected("a declaration");
                    self.skip_statement();
                }
            }
            if self.position() == before {
                self.bump();
            }
        }
        file
    }

    /// `struct sname { type fname, … };`; fields may also end with `;`.
    fn structure(&mut self) -> Struct {
        self.bump();
        let name = self.expect_name("the struct's name");
        let mut fields = Vec::new();
        if self.expect(Kind::OpenBrace) {
            while !self.eat(Kind::CloseBrace) {
                if !matches!(self.peek(), Kind::Name | Kind::IntType) {
                    self.expected("a field such as `int value`, or `}`");
                    self.skip_statement();
                    self.eat(Kind::CloseBrace);
                    break;
                }
                fields.push(self.declaration());
                if self.eat(Kind::Comma) || self.eat(Kind::Semicolon) {
                    continue;
                }
                if !self.eat(Kind::CloseBrace) {
                    self.expected("`,` or `}`");
                    self.skip_statement();
                    self.eat(Kind::CloseBrace);
                }
                break;
            }
        }
        self.eat(Kind::Semicolon);
        Struct { name, fields }
    }

    /// `initially { type var; … statements }`
    fn initially(&mut self) -> Initially {
        let span = self.span();
        self.bump();
        let mut initially = Initially { locals: Vec::new(), statements: Vec::new(), span };
        if !self.expect(Kind::OpenBrace) {
            return initially;
        }
        while !self.at_end() && !self.eat(Kind::CloseBrace) {
            let before = self.position();
            if self.at_declaration() {
                initially.locals.push(self.declaration());
                self.semicolon();
            } else if self.at_statement() {
                initially.statements.push(self.statement());
            } else {
                self.expected("a statement such as `x = 0;`, or `}`");
                self.skip_statement();
                if self.position() == before {
                    break;
                }
            }
        }
        initially
    }

    /// `invariant [for (type var, …)] [after NAME:] condition;`
    fn invariant(&mut self) -> Invariant {
        let start = self.span();
        self.bump();
        let mut bound = Vec::new();
        if self.eat_word("for") && self.expect(Kind::OpenParen) {
            bound = self.parameters();
        }
        let mut after = None;
        if self.eat_word("after") {
            after = Some(self.expect_name("a sub-operation"));
            self.expect(Kind::Colon);
        }
        let condition = self.condition();
        let span = start.to(self.previous_span());
        self.semicolon();
        Invariant { bound, after, condition, span }
    }

    /// `relations { claims }`; a claim is `[¬] a ≀ b [if (c)]` or `[¬] a ⊖ b [if (c)]` as in Figure
    /// 5.
    fn relations(&mut self, claims: &mut Vec<Claim>) {
        self.bump();
        if !self.expect(Kind::OpenBrace) {
            return;
        }
        while !self.at_end() && !self.eat(Kind::CloseBrace) {
            let before = self.position();
            if self.eat(Kind::Semicolon) || self.eat(Kind::Comma) {
                continue;
            }
            if matches!(self.peek(), Kind::Name | Kind::Bang) {
                let claim = self.claim();
                claims.push(claim);
            } else {
                self.expected("a claim such as `d ≀ f` or `d ⊖ f`, or `}`");
                self.skip_statement();
            }
            if self.position() == before {
                break;
            }
        }
    }

    fn claim(&mut self) -> Claim {
        let start = self.span();
        let negative =
            self.eat(Kind::Bang) || (self.peek_after(1) == Kind::Name && self.eat_word("not"));
        let first = self.expect_name("a sub-operation");
        let kind = if self.eat(Kind::Orderable) || self.eat_word("before") {
            if negative { ClaimKind::NotOrderable } else { ClaimKind::Orderable }
        } else if self.eat(Kind::Reversible) || self.eat_word("reversible") {
            if negative { ClaimKind::NotReversible } else { ClaimKind::Reversible }
        } else {
            self.expected("`≀` (or `~`, `before`) or `⊖` (or `reversible`)");
            self.skip_statement();
            ClaimKind::Orderable
        };
        let second = self.expect_name("a sub-operation");
        let mut claim =
            Claim { first, second, kind, condition: None, boundary: false, span: start };
        if self.eat(Kind::OpenBracket) {
            if self.eat_word("if") {
                claim.condition = Some(self.condition());
            } else if self.eat_word("Boundary") {
                self.eat_word("case");
                claim.boundary = true;
            } else {
                self.expected("`if (condition)` or `Boundary case`");
            }
            self.expect(Kind::CloseBracket);
        } else if self.eat_word("if") {
            claim.condition = Some(self.condition());
        }
        claim.span = start.to(self.previous_span());
        claim
    }

    /// `spec NAME[(terms)] { Operation = method(terms) [-> [result ==] terms]; … }`
    fn spec(&mut self) -> Spec {
        self.bump();
        let name = self.expect_name("a specification");
        let mut initial = Vec::new();
        if self.eat(Kind::OpenParen) {
            initial = self.terms(Kind::CloseParen);
            self.expect(Kind::CloseParen);
        }
        let mut lines = Vec::new();
        if !self.expect(Kind::OpenBrace) {
            self.skip_statement();
            return Spec { name, initial, lines };
        }
        while !self.at_end() && !self.eat(Kind::CloseBrace) {
            if self.peek() != Kind::Name {
                let mistake = Diagnostic::new(
                    Code::Unexpected,
                    "expected a line such as `Enqueue = enqueue(val);`, or `}`",
                    self.span(),
                    "expected an operation's name",
                );
                self.report(mistake);
                let before = self.position();
                self.skip_statement();
                if self.position() == before {
                    break;
                }
                continue;
            }
            lines.push(self.spec_line());
        }
        Spec { name, initial, lines }
    }

    fn spec_line(&mut self) -> SpecLine {
        let operation = self.expect_name("an operation");
        self.expect(Kind::Equal);
        let method = self.expect_name("an operation of the specification");
        let mut arguments = Vec::new();
        if self.eat(Kind::OpenParen) {
            arguments = self.terms(Kind::CloseParen);
            self.expect(Kind::CloseParen);
        }
        let arrow = self.eat(Kind::Arrow);
        let whether = arrow && self.peek_after(1) == Kind::EqualEqual && self.eat_word("result");
        if whether {
            self.bump();
        }
        let response = arrow.then(|| self.terms(Kind::Semicolon));
        let span = operation.span.to(self.previous_span());
        self.semicolon();
        SpecLine { operation, method, arguments, response, whether, span }
    }

    fn terms(&mut self, close: Kind) -> Vec<Term> {
        let mut terms = Vec::new();
        while self.peek() != close && !self.at_end() {
            terms.push(self.term());
            if !self.eat(Kind::Comma) {
                break;
            }
        }
        terms
    }
}
