//! Declarations and types.

use super::Parser;
use crate::diagnostic::Diagnostic;
use crate::syntax::ast::*;
use crate::syntax::token::TokenKind;

const ITEM_WORDS: &[&str] = &[
    "spec", "param", "struct", "record", "shared", "local", "init", "op", "fn", "role", "bounds",
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

    fn item(&mut self) -> Option<Item> {
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
            TokenKind::Op => Some(Item::Op(self.routine("a name for the operation"))),
            TokenKind::Fn => Some(Item::Fn(self.routine("a name for the function"))),
            TokenKind::Role => Some(self.role()),
            TokenKind::Bounds => Some(self.bounds()),
            _ => {
                self.no_item();
                None
            }
        }
    }

    fn no_item(&mut self) {
        let span = self.span();
        let found = self.found();
        let mistake =
            Diagnostic::new(format!("expected a declaration, found {found}"), span, "not a declaration");
        let mistake = match self.peek() {
            TokenKind::State => mistake.help("`state` belongs inside `spec { }`; here it is `shared`"),
            TokenKind::Let => mistake.help("shared variables are declared by `shared name: type = value;`"),
            TokenKind::CloseBrace => mistake.help("this brace closes nothing"),
            TokenKind::Name => {
                let advice = Self::did_you_mean(self.text(), ITEM_WORDS);
                mistake.help(advice.unwrap_or_else(|| {
                    "a declaration starts with `spec`, `struct`, `shared`, `op`, `fn`, …".to_owned()
                }))
            }
            _ => mistake.help("a declaration starts with `spec`, `struct`, `shared`, `op`, `fn`, …"),
        };
        self.report(mistake);
    }

    /// Skips to the next word that starts a declaration, at least one token.
    fn skip_to_item(&mut self) {
        self.bump();
        let mut open = 0usize;
        loop {
            match self.peek() {
                TokenKind::End => return,
                TokenKind::OpenBrace => open += 1,
                TokenKind::CloseBrace => {
                    open = open.saturating_sub(1);
                    if open == 0 {
                        self.bump();
                        return;
                    }
                }
                TokenKind::Spec
                | TokenKind::Param
                | TokenKind::Struct
                | TokenKind::Record
                | TokenKind::Shared
                | TokenKind::Local
                | TokenKind::Init
                | TokenKind::Op
                | TokenKind::Fn
                | TokenKind::Role
                | TokenKind::Bounds
                    if open == 0 =>
                {
                    return;
                }
                _ => {}
            }
            self.bump();
        }
    }

    fn spec(&mut self, span: crate::diagnostic::Span) -> Item {
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

    fn spec_block(&mut self, span: crate::diagnostic::Span) -> SpecBlock {
        let mut block =
            SpecBlock { state: Vec::new(), operations: Vec::new(), functions: Vec::new(), span };
        self.bump();
        loop {
            match self.peek() {
                TokenKind::CloseBrace => {
                    self.bump();
                    break;
                }
                TokenKind::State => block.state.push(self.variable("a name for the variable")),
                TokenKind::Op => block.operations.push(self.routine("a name for the operation")),
                TokenKind::Fn => block.functions.push(self.routine("a name for the function")),
                TokenKind::End => {
                    self.expected("`}`");
                    break;
                }
                _ => {
                    self.expected("`state`, `op`, `fn` or `}`");
                    self.bump();
                    self.skip_until(|kind| {
                        matches!(kind, TokenKind::State | TokenKind::Op | TokenKind::Fn)
                    });
                    if self.peek() == TokenKind::OpenBrace {
                        self.block();
                    }
                }
            }
        }
        block
    }

    fn variable(&mut self, what: &str) -> Variable {
        self.bump();
        let name = self.expect_name(what);
        self.expect(TokenKind::Colon);
        let ty = self.ty();
        let value = self.eat(TokenKind::Equal).then(|| self.expression());
        self.end_of_declaration();
        Variable { name, ty, value }
    }

    fn end_of_declaration(&mut self) {
        if !self.expect(TokenKind::Semicolon) {
            self.skip_until(|kind| {
                matches!(
                    kind,
                    TokenKind::Semicolon
                        | TokenKind::Op
                        | TokenKind::Fn
                        | TokenKind::Shared
                        | TokenKind::State
                        | TokenKind::Local
                        | TokenKind::Struct
                        | TokenKind::Record
                        | TokenKind::Init
                        | TokenKind::Spec
                        | TokenKind::Param
                        | TokenKind::Role
                        | TokenKind::Bounds
                )
            });
            self.eat(TokenKind::Semicolon);
        }
    }

    fn fields(&mut self, what: &str) -> Fields {
        self.bump();
        let name = self.expect_name(what);
        let mut fields = Vec::new();
        if self.expect(TokenKind::OpenBrace) {
            fields = self.separated(TokenKind::CloseBrace, |p| {
                let name = p.expect_name("a field name");
                p.expect(TokenKind::Colon);
                (name, p.ty())
            });
        }
        self.eat(TokenKind::Semicolon);
        Fields { name, fields }
    }

    fn routine(&mut self, what: &str) -> Routine {
        self.bump();
        let name = self.expect_name(what);
        let mut parameters = Vec::new();
        if self.expect(TokenKind::OpenParen) {
            parameters = self.separated(TokenKind::CloseParen, Self::parameter);
        }
        let response = self.eat(TokenKind::Arrow).then(|| self.ty());
        let requires = self.eat(TokenKind::Requires).then(|| self.condition());
        let body = self.block();
        Routine { name, parameters, response, requires, body }
    }

    fn parameter(&mut self) -> Parameter {
        let name = self.expect_name("a parameter name");
        self.expect(TokenKind::Colon);
        let ty = self.ty();
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
                let name = p.expect_name("`threads`, `ops`, `values`, `size` or a role");
                p.expect(TokenKind::Colon);
                (name, p.expression())
            });
        }
        Item::Bounds(bounds, span)
    }

    pub(super) fn ty(&mut self) -> TypeExpr {
        self.deeper(Self::ty_inner, |p| TypeExpr { kind: TypeKind::Missing, span: p.span() })
    }

    fn ty_inner(&mut self) -> TypeExpr {
        let start = self.span();
        let kind = match self.peek() {
            TokenKind::Name if matches!(self.text(), "seq" | "set" | "map") => self.collection(),
            TokenKind::Name => {
                let name = self.text().to_owned();
                self.bump();
                TypeKind::Name(name)
            }
            TokenKind::OpenBracket => {
                self.bump();
                let item = self.ty();
                self.expect(TokenKind::Semicolon);
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
        while self.eat(TokenKind::Question) {
            let span = start.to(self.previous_span());
            ty = TypeExpr { kind: TypeKind::Option(Box::new(ty)), span };
        }
        ty
    }

    fn collection(&mut self) -> TypeKind {
        let name = self.expect_name("a collection");
        let mut arguments = Vec::new();
        if self.expect(TokenKind::Less) {
            arguments = self.separated(TokenKind::Greater, Self::ty);
        }
        TypeKind::Collection(name, arguments)
    }
}
