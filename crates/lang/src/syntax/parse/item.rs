//! Declarations and types.

use super::foreign::{declares_routine, short};
use super::{Parser, did_you_mean};
use crate::syntax::ast::*;
use crate::syntax::token::TokenKind;
use linchpin_syntax::{Code, Diagnostic, Language, Parser as _, Span};

const ITEM_WORDS: &[&str] = &[
    "spec",
    "param",
    "struct",
    "record",
    "shared",
    "local",
    "init",
    "preload",
    "op",
    "fn",
    "reference",
    "role",
    "bounds",
    "persistent",
    "recover",
];

impl Parser<'_> {
    pub(super) fn model(&mut self) -> Model {
        let mut items = Vec::new();
        while !self.at_end() {
            match self.item() {
                Some(item) => items.push(item),
                None => self.skip_to_item(),
            }
        }
        Model { items }
    }

    pub(super) fn item(&mut self) -> Option<Item> {
        let start = self.span();
        match self.peek() {
            TokenKind::Spec => {
                self.bump();
                Some(self.spec(start))
            }
            TokenKind::Param => Some(Item::Param(self.variable("a name for the parameter"))),
            TokenKind::Struct => Some(Item::Struct(self.fields("a name for the struct"))),
            TokenKind::Record => Some(Item::Record(self.fields("a name for the record"))),
            TokenKind::Shared => Some(Item::Shared(self.variable("a name for the variable"))),
            TokenKind::Local => Some(Item::Local(self.variable("a name for the variable"))),
            TokenKind::Init => {
                self.bump();
                Some(Item::Init(self.block(), start))
            }
            TokenKind::Op | TokenKind::Fn => Some(self.op_or_fn()),
            TokenKind::Reference => Some(Item::Reference(self.reference_block())),
            TokenKind::Role => Some(self.role()),
            TokenKind::Bounds => Some(self.bounds()),
            TokenKind::Name if self.at_preload() => {
                self.bump();
                Some(Item::Preload(self.preload(start)))
            }
            _ if self.at_persistence() => self.persistence(),
            _ if self.type_before_operation() => Some(self.op_or_fn()),
            _ => {
                self.no_item();
                None
            }
        }
    }

    /// `op name(…) { … }` or `fn name(…) { … }`; without either word, an operation.
    fn op_or_fn(&mut self) -> Item {
        match self.peek() {
            TokenKind::Fn => Item::Fn(self.routine("a name for the function")),
            _ => Item::Op(self.routine("a name for the operation")),
        }
    }

    fn no_item(&mut self) {
        let span = self.span();
        let found = self.found();
        let mistake = Diagnostic::new(
            Code::Unexpected,
            format!("expected a declaration, found {found}"),
            span,
            "not a declaration",
        );
        let mistake = match self.peek() {
            TokenKind::Name if self.at_state() => {
                mistake.help("`state` belongs inside `spec { }`; here it is `shared`")
            }
            TokenKind::Let => {
                mistake.help("shared variables are declared by `shared name: type = value;`")
            }
            TokenKind::CloseBrace => mistake.help("this brace closes nothing"),
            TokenKind::Slash => mistake.help("comments are `// …` and `/* … */`"),
            TokenKind::Name => {
                let declares = declares_routine(self.text()).map(str::to_owned);
                let advice = declares.or_else(|| did_you_mean(self.text(), ITEM_WORDS));
                mistake.help(advice.unwrap_or_else(|| {
                    "a declaration starts with `spec`, `struct`, `shared`, `op`, `fn`, …".to_owned()
                }))
            }
            _ => {
                mistake.help("a declaration starts with `spec`, `struct`, `shared`, `op`, `fn`, …")
            }
        };
        self.report(mistake);
    }

    /// Skips to the next word that starts a declaration, or to the next line that is not indented;
    /// at least one token.
    fn skip_to_item(&mut self) {
        let mut open = 0usize;
        loop {
            match self.peek() {
                TokenKind::OpenBrace => open += 1,
                TokenKind::CloseBrace => open = open.saturating_sub(1),
                _ => {}
            }
            self.bump();
            let found = self.peek().starts_item() || self.starts_line();
            if self.at_end() || (open == 0 && found && self.peek() != TokenKind::OpenBrace) {
                return;
            }
        }
    }

    /// Whether the next token stands at the very start of a line.
    fn starts_line(&self) -> bool {
        let before = &self.source()[..self.span().range().start];
        before.ends_with('\n')
    }

    fn spec(&mut self, span: Span) -> Item {
        if self.peek() == TokenKind::OpenBrace {
            return Item::SpecBlock(self.spec_block(span));
        }
        let mut name = self.expect_name("the name of a specification or `{`");
        // `priority-queue` is several tokens.
        while self.peek() == TokenKind::Minus && self.peek_after(1) == TokenKind::Name {
            self.bump();
            name.name = format!("{}-{}", name.name, self.text());
            name.span = name.span.to(self.span());
            self.bump();
        }
        let init = self.eat(TokenKind::OpenParen).then(|| {
            let value = self.expression();
            self.expect(TokenKind::CloseParen);
            value
        });
        self.expect(TokenKind::Semicolon);
        Item::SpecName(name, init)
    }

    fn spec_block(&mut self, span: Span) -> SpecBlock {
        let mut block =
            SpecBlock { state: Vec::new(), operations: Vec::new(), functions: Vec::new(), span };
        self.bump();
        loop {
            match self.peek() {
                TokenKind::CloseBrace => {
                    self.bump();
                    break;
                }
                TokenKind::Name if self.at_state() => {
                    block.state.push(self.variable("a name for the variable"))
                }
                TokenKind::Op => block.operations.push(self.routine("a name for the operation")),
                TokenKind::Fn => block.functions.push(self.routine("a name for the function")),
                _ if self.misplaced_persistent("specification") => {}
                TokenKind::End => {
                    self.expected("`}`");
                    break;
                }
                TokenKind::Shared | TokenKind::Local => {
                    let message = format!("{} has no place in a specification", self.found());
                    let mistake =
                        Diagnostic::new(Code::NotInSpec, message, self.span(), "not in `spec { }`")
                            .help("the variables of a specification are declared by `state`");
                    self.report(mistake);
                    block.state.push(self.variable("a name for the variable"));
                }
                _ => {
                    self.expected("`state`, `op`, `fn` or `}`");
                    self.bump();
                    self.skip_in_spec();
                    if self.peek() == TokenKind::OpenBrace {
                        self.block();
                    }
                }
            }
        }
        block
    }

    /// Whether a declaration `state x: T` is next; `state` is a name everywhere else.
    pub(super) fn at_state(&self) -> bool {
        self.at_word("state") && self.peek_after(1) == TokenKind::Name
    }

    /// After a mistake in a `spec { }`: on to what can stand there.
    fn skip_in_spec(&mut self) {
        loop {
            self.skip_until(|kind| matches!(kind, TokenKind::Name | TokenKind::Op | TokenKind::Fn));
            if self.peek() != TokenKind::Name || self.at_state() {
                return;
            }
            self.bump();
        }
    }

    /// `name: T`
    fn typed_name(&mut self, what: &str) -> (Ident, TypeExpr) {
        let name = self.expect_name(what);
        if self.at_name_after_type(&name) {
            let kind = TypeKind::Name(name.name.clone());
            let ty = TypeExpr { kind, span: name.span };
            return (self.name_after_type(&name), ty);
        }
        if !self.eat(TokenKind::Colon) {
            let span = self.span();
            let message = format!("expected `:` and a type, found {}", self.found());
            let mut mistake = Diagnostic::new(Code::Unexpected, message, span, "expected `:`");
            if !name.name.is_empty() {
                let name = short(&name.name);
                let ty = if self.peek() == TokenKind::Name { short(self.text()) } else { "int" };
                mistake = mistake.help(format!("say of which type `{name}` is: `{name}: {ty}`"));
            }
            self.report(mistake);
            return (name, TypeExpr { kind: TypeKind::Missing, span });
        }
        (name, self.ty())
    }

    pub(super) fn variable(&mut self, what: &str) -> Variable {
        self.bump();
        let (name, ty) = self.typed_name(what);
        let value = self.eat(TokenKind::Equal).then(|| self.expression());
        self.end_of_declaration();
        Variable { name, ty, value, persistent: None, line: None }
    }

    fn end_of_declaration(&mut self) {
        if !self.expect(TokenKind::Semicolon) {
            self.skip_until(|kind| kind == TokenKind::Semicolon || kind.starts_item());
            self.eat(TokenKind::Semicolon);
        }
    }

    pub(super) fn fields(&mut self, what: &str) -> Fields {
        self.bump();
        let name = self.expect_name(what);
        let mut fields = Vec::new();
        if self.expect(TokenKind::OpenBrace) {
            fields = self.separated(TokenKind::CloseBrace, |p| {
                let at_line = p.peek() == TokenKind::HashBracket;
                let line = if at_line { p.line_annotation() } else { None };
                (line, p.typed_name("a field name"))
            });
        }
        self.eat(TokenKind::Semicolon);
        let (lines, fields) = fields.into_iter().unzip();
        Fields { name, fields, lines, persistent: None }
    }

    pub(super) fn routine(&mut self, what: &str) -> Routine {
        if matches!(self.peek(), TokenKind::Op | TokenKind::Fn) {
            self.bump();
        }
        let name = self.expect_name(what);
        let mut parameters = Vec::new();
        if self.expect(TokenKind::OpenParen) {
            parameters = self.separated(TokenKind::CloseParen, Self::parameter);
        }
        if self.peek() == TokenKind::Colon {
            let message = "expected `->`, found `:`";
            let mistake = Diagnostic::new(Code::Unexpected, message, self.span(), "expected `->`")
                .help("the type of the result stands after `->`");
            self.report(mistake);
        }
        let arrow = self.eat(TokenKind::Arrow) || self.eat(TokenKind::Colon);
        let response = arrow.then(|| self.ty());
        let requires = self.eat(TokenKind::Requires).then(|| self.condition());
        let depth = self.eat_word("depth").then(|| self.condition());
        if self.peek() != TokenKind::OpenBrace {
            self.expected("`{`");
            self.skip_until(TokenKind::starts_item);
        }
        let body = self.block();
        Routine { name, parameters, response, requires, depth, body }
    }

    fn parameter(&mut self) -> Parameter {
        let (name, ty) = self.typed_name("a parameter name");
        let range = self.eat(TokenKind::In).then(|| self.range());
        Parameter { name, ty, range }
    }

    fn role(&mut self) -> Item {
        self.bump();
        let name = self.expect_name("a name for the role");
        self.expect(TokenKind::Colon);
        let mut operations = vec![self.expect_name("an operation")];
        while self.eat(TokenKind::Comma) {
            operations.push(self.expect_name("an operation"));
        }
        self.end_of_declaration();
        Item::Role(name, operations)
    }

    fn bounds(&mut self) -> Item {
        let span = self.span();
        self.bump();
        let mut bounds = Vec::new();
        if self.expect(TokenKind::OpenBrace) {
            bounds = self.separated(TokenKind::CloseBrace, |p| {
                let name = p.expect_name("`threads`, `ops`, `values`, `size`, `crashes` or a role");
                let role = p.eat(TokenKind::OpenParen).then(|| {
                    let role = p.expect_name("a role");
                    p.expect(TokenKind::CloseParen);
                    role
                });
                p.expect(TokenKind::Colon);
                Bound { name, role, value: p.expression() }
            });
        }
        Item::Bounds(bounds, span)
    }

    pub(super) fn ty(&mut self) -> TypeExpr {
        let span = self.span();
        self.deeper(Self::ty_inner).unwrap_or(TypeExpr { kind: TypeKind::Missing, span })
    }

    fn ty_inner(&mut self) -> TypeExpr {
        let start = self.span();
        let kind = match self.peek() {
            TokenKind::Name if matches!(self.text(), "seq" | "set" | "map") => self.collection(),
            TokenKind::Name if self.text() == "int" && self.peek_after(1) == TokenKind::Percent => {
                self.bump();
                self.bump();
                TypeKind::Wrapping(Box::new(self.modulus()))
            }
            TokenKind::Name => TypeKind::Name(self.expect_name("a type").name),
            TokenKind::Ampersand => {
                self.bump();
                if matches!(self.peek(), TokenKind::Ampersand | TokenKind::AndAnd) {
                    self.expected("a type");
                    return TypeExpr { kind: TypeKind::Missing, span: start };
                }
                let inner = self.ty();
                return TypeExpr {
                    kind: TypeKind::Place(Box::new(inner)),
                    span: start.to(self.previous_span()),
                };
            }
            TokenKind::OpenBracket => {
                self.bump();
                let item = self.ty();
                if !self.eat(TokenKind::Semicolon) {
                    self.expected("`;` and a length");
                }
                let length = self.expression();
                self.expect(TokenKind::CloseBracket);
                TypeKind::Array(Box::new(item), Box::new(length))
            }
            TokenKind::OpenParen => {
                self.bump();
                TypeKind::Tuple(self.separated(TokenKind::CloseParen, Self::ty))
            }
            _ => {
                self.expected("a type");
                return TypeExpr { kind: TypeKind::Missing, span: start };
            }
        };
        let mut ty = TypeExpr { kind, span: start.to(self.previous_span()) };
        // A second `?` is a mistake about types, which the checker explains; more of them say
        // nothing more.
        for _ in 0..2 {
            if self.eat(TokenKind::Question) {
                let span = start.to(self.previous_span());
                ty = TypeExpr { kind: TypeKind::Option(Box::new(ty)), span };
            }
        }
        while self.eat(TokenKind::Question) {}
        ty
    }

    fn collection(&mut self) -> TypeKind {
        let name = self.expect_name("a collection");
        let mut arguments = Vec::new();
        let open = self.span().start;
        if self.expect(TokenKind::Less) {
            arguments = self.separated(TokenKind::Greater, Self::ty);
            self.type_brackets.extend([open, self.previous_span().start]);
        }
        TypeKind::Collection(name, arguments)
    }
}
