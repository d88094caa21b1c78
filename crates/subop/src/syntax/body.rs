//! Operations: `op`, `opBody`, `subOp` and `stmnt` of Figure 6, with `either`, `return` and names
//! for sub-operations added.

use super::ast::{
    Declaration, Ident, Item, Mark, Operation, Statement, StatementKind, SubOperation,
};
use super::parse::Parser;
use super::token::Kind;
use linchpin_syntax::{Code, Diagnostic, Parser as _, Span};

/// Where the declarations and the first `then` of an operation go.
type Head<'a> = (&'a mut Vec<Declaration>, &'a mut Option<Vec<Ident>>);

impl Parser<'_> {
    /// Whether an operation's name is next: followed by its arguments, its body in braces, its
    /// first declaration or its first sub-operation.
    pub(super) fn at_operation(&self) -> bool {
        use Kind::*;
        let (one, two) = (self.peek_after(1), self.peek_after(2));
        self.peek() == Name
            && match one {
                OpenParen | OpenBrace | Int | Star | Less => true,
                Name | IntType => two == Name,
                _ => false,
            }
    }

    /// Whether a declaration is next.
    pub(super) fn at_declaration(&self) -> bool {
        matches!(self.peek(), Kind::Name | Kind::IntType) && self.peek_after(1) == Kind::Name
    }

    /// Consumes a line label such as `E3.` of Figure 4; they say nothing.
    pub(super) fn line_label(&mut self) {
        use Kind::*;
        let label = self.peek() == Name && self.peek_after(1) == Dot;
        let starts = match self.peek_after(2) {
            Int | Star | Less | Struct | Either | Return | Read | Free | IntType => true,
            Name => self.peek_after(3) == Name,
            _ => false,
        };
        if label && starts {
            self.bump();
            self.bump();
        }
    }

    /// `type var;` or `type var[];`, without the end.
    pub(super) fn declaration(&mut self) -> Declaration {
        let span = self.span();
        let ty = if self.eat(Kind::IntType) {
            Ident { name: "int".to_owned(), span }
        } else {
            self.expect_name("a type")
        };
        let name = self.expect_name("a variable");
        let array = self.eat(Kind::OpenBracket);
        if array && !self.eat(Kind::CloseBracket) {
            let mistake = Diagnostic::new(
                Code::Unexpected,
                "arrays have no length",
                self.span(),
                "expected `]`",
            );
            self.report(mistake.help("write `int A[];`: there is an element for every integer"));
            if self.peek() == Kind::Int {
                self.bump();
            }
            self.eat(Kind::CloseBracket);
        }
        Declaration { ty, name, array }
    }

    /// `oname(dList) opBody`, with or without braces around the body.
    pub(super) fn operation(&mut self) -> Operation {
        let name = self.expect_name("an operation's name");
        let arguments = if self.eat(Kind::OpenParen) { self.parameters() } else { Vec::new() };
        let open = self.span();
        let braces = self.eat(Kind::OpenBrace);
        let mut locals = Vec::new();
        let mut start = None;
        let items = self.items(&mut Some((&mut locals, &mut start)), braces);
        if braces && !self.eat(Kind::CloseBrace) {
            let mistake = Diagnostic::new(
                Code::Unexpected,
                "expected a sub-operation or `}`",
                self.span(),
                "expected a sub-operation or `}`",
            );
            self.report(mistake.related(open, "this `{` has no `}`"));
        }
        Operation { name, arguments, locals, start, items }
    }

    /// Declarations separated by `,` or `;` up to `)`.
    pub(super) fn parameters(&mut self) -> Vec<Declaration> {
        let mut declarations = Vec::new();
        while !self.eat(Kind::CloseParen) {
            if !matches!(self.peek(), Kind::Name | Kind::IntType) {
                self.expected("an argument such as `int v`, or `)`");
                break;
            }
            declarations.push(self.declaration());
            if !self.eat(Kind::Comma) && !self.eat(Kind::Semicolon) {
                if !self.eat(Kind::CloseParen) {
                    self.expected("`,` or `)`");
                }
                break;
            }
        }
        declarations
    }

    /// Declarations, sub-operations and choices, up to something else. `head` is where the
    /// declarations and the first `then` go; it is absent inside a choice.
    fn items(&mut self, head: &mut Option<Head<'_>>, braces: bool) -> Vec<Item> {
        use Kind::*;
        let mut items = Vec::new();
        loop {
            self.line_label();
            let before = self.position();
            match self.peek() {
                End | CloseBrace | Struct | Initially | Invariant | Relations | Spec => break,
                Int | Star | Less => items.push(Item::Step(Box::new(self.sub_operation()))),
                Then => {
                    let span = self.span();
                    let names = self.then();
                    match head {
                        Some((_, start)) if items.is_empty() && start.is_none() => {
                            **start = Some(names);
                        }
                        _ => {
                            let message = "`then` stands after a sub-operation's `;` or name, once";
                            self.report(Diagnostic::new(
                                Code::Next,
                                message,
                                span,
                                "nothing to follow",
                            ));
                        }
                    }
                }
                Either => match self.deeper(|p| p.either()) {
                    Some(choice) => items.push(choice),
                    None => break,
                },
                _ if self.at_operation() && !braces => break,
                _ if self.at_declaration() => {
                    let declaration = self.declaration();
                    let span = declaration.ty.span.to(declaration.name.span);
                    match head {
                        Some((locals, _)) if items.is_empty() => locals.push(declaration),
                        _ => {
                            let message = "declarations come before the sub-operations";
                            let help = "move it up; shared variables are declared before the first operation";
                            self.report(
                                Diagnostic::new(Code::Misplaced, message, span, "too late")
                                    .help(help),
                            );
                        }
                    }
                    self.semicolon();
                }
                Free | Read | Return | Name => {
                    let message = "a sub-operation starts with its mark";
                    let help = "write `1` in front if the invoking thread executes it, `*` if any thread may";
                    let mistake =
                        Diagnostic::new(Code::Mark, message, self.span(), "expected `1` or `*`");
                    self.report(mistake.help(help));
                    items.push(Item::Step(Box::new(self.sub_operation())));
                }
                _ => {
                    self.expected("a sub-operation: `1 <condition;> statements`");
                    self.skip_statement();
                }
            }
            if self.position() == before {
                self.bump();
            }
        }
        items
    }

    /// `either { … } or { … }`
    fn either(&mut self) -> Item {
        let start = self.span();
        self.bump();
        let mut branches = Vec::new();
        loop {
            if !self.expect(Kind::OpenBrace) {
                break;
            }
            branches.push(self.items(&mut None, true));
            if !self.expect(Kind::CloseBrace) || !self.eat(Kind::Or) {
                break;
            }
        }
        Item::Either(branches, start)
    }

    /// `tmark <cList> subOpBody`; a mark may be missing before a precondition, as in Figure 3.
    fn sub_operation(&mut self) -> SubOperation {
        let start = self.span();
        let mark = if self.eat(Kind::Star) { Mark::Anyone } else { Mark::Invoker };
        if self.peek() == Kind::Int {
            if self.text() != "1" {
                let mistake =
                    Diagnostic::new(Code::Mark, "unknown mark", self.span(), "expected `1` or `*`");
                self.report(mistake.help("`1`: the invoking thread; `*`: any thread"));
            }
            self.bump();
        }
        let mut sub_operation = SubOperation {
            name: None,
            mark,
            precondition: Vec::new(),
            statements: Vec::new(),
            result: None,
            then: None,
            span: start,
        };
        let guarded = self.peek() == Kind::Less;
        if guarded {
            sub_operation.precondition = self.guard();
        }
        let mut end = self.previous_span();
        while let Some(span) = self.statement_or_return(&mut sub_operation) {
            end = span;
        }
        sub_operation.span = start.to(end);
        if !guarded && sub_operation.statements.is_empty() && sub_operation.result.is_none() {
            self.expected("a statement or a precondition");
            self.skip_statement();
        }
        if self.eat(Kind::Dots) {
            sub_operation.name = Some(self.expect_name("the sub-operation's name"));
        }
        if self.peek() == Kind::Then {
            sub_operation.then = Some(self.then());
        }
        sub_operation
    }

    /// `then a, b, return;`
    fn then(&mut self) -> Vec<Ident> {
        self.bump();
        let mut names = Vec::new();
        loop {
            let span = self.span();
            if self.eat(Kind::Return) {
                names.push(Ident { name: "return".to_owned(), span });
            } else {
                names.push(self.expect_name("a sub-operation or `return`"));
            }
            if !self.eat(Kind::Comma) {
                break;
            }
        }
        self.semicolon();
        names
    }

    /// Parses one statement into `sub_operation` and says where it stood, or finds that none is
    /// next.
    fn statement_or_return(&mut self, sub_operation: &mut SubOperation) -> Option<Span> {
        self.line_label();
        if self.peek() == Kind::Return {
            let start = self.span();
            self.bump();
            let mut terms = Vec::new();
            while self.peek() != Kind::Semicolon && !self.at_end() {
                terms.push(self.term());
                if !self.eat(Kind::Comma) {
                    break;
                }
            }
            self.semicolon();
            let span = start.to(self.previous_span());
            if sub_operation.result.is_some() {
                let message = "a sub-operation returns once";
                self.report(Diagnostic::new(Code::Unreachable, message, span, "returned already"));
            }
            sub_operation.result = Some((terms, span));
            return Some(span);
        }
        if !self.at_statement() {
            return None;
        }
        let statement = self.statement();
        let span = statement.span;
        if let Some((_, returned)) = &sub_operation.result {
            let mistake = Diagnostic::new(
                Code::Unreachable,
                "nothing comes after `return`",
                span,
                "never executed",
            );
            let mistake = mistake.related(*returned, "returned here");
            self.report(mistake);
        }
        sub_operation.statements.push(statement);
        Some(span)
    }

    pub(super) fn at_statement(&self) -> bool {
        use Kind::*;
        match self.peek() {
            Free | Read => true,
            Name => matches!(self.peek_after(1), Equal | Dot | Arrow | OpenBracket | Assign),
            _ => false,
        }
    }

    /// `stmnt;`
    pub(super) fn statement(&mut self) -> Statement {
        let start = self.span();
        let kind = match self.peek() {
            Kind::Free => {
                self.bump();
                StatementKind::Free(self.expect_name("a variable"))
            }
            Kind::Read => {
                self.bump();
                StatementKind::Read(self.term())
            }
            _ => self.assignment(),
        };
        let span = start.to(self.previous_span());
        self.semicolon();
        Statement { kind, span }
    }

    fn assignment(&mut self) -> StatementKind {
        if self.peek_after(1) == Kind::OpenBracket && self.peek_after(2) == Kind::CloseBracket {
            let array = self.expect_name("an array");
            self.bump();
            self.bump();
            self.expect(Kind::Equal);
            return StatementKind::Fill(array, self.term());
        }
        let target = self.term();
        if self.peek() == Kind::Assign {
            let mistake = Diagnostic::new(
                Code::OtherLanguage,
                "expected `=`, found `:=`",
                self.span(),
                "expected `=`",
            );
            self.report(mistake.help("assignment is written `=`"));
            self.bump();
        } else if self.peek() == Kind::EqualEqual {
            let mistake = Diagnostic::new(
                Code::OtherLanguage,
                "expected `=`, found `==`",
                self.span(),
                "expected `=`",
            );
            self.report(mistake.help("conditions stand in `< … >` before the statements"));
            self.bump();
        } else {
            self.expect(Kind::Equal);
        }
        if self.eat(Kind::Malloc) {
            let of = self.expect_name("a struct");
            let name = match &target.kind {
                super::ast::TermKind::Place(place) if place.access.is_none() => place.name.clone(),
                _ => {
                    let message = "`malloc` gives its object to a variable";
                    let help = "`x = malloc node;` first, then `y.next = x;`";
                    self.report(
                        Diagnostic::new(Code::NotAssignable, message, target.span, "no variable")
                            .help(help),
                    );
                    Ident { name: String::new(), span: target.span }
                }
            };
            return StatementKind::Malloc(name, of);
        }
        let value = self.term();
        StatementKind::Assign(target, value)
    }
}
