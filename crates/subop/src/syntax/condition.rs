//! Conditions and terms: `cList`, `condition`, `lhs` and `rhs` of Figure 6, with `!`, `&&`, `||`
//! and `=>` added.

use super::ast::{Access, Condition, PlaceExpr, Relation, Term, TermKind};
use super::parse::Parser;
use super::token::Kind;
use linchpin_syntax::{Code, Diagnostic, Parser as _};

impl Parser<'_> {
    /// `< condition; … >`, the `<` being next. The last `;` may be missing, as in Figure 5.
    pub(super) fn guard(&mut self) -> Vec<Condition> {
        let open = self.span();
        self.bump();
        let mut conditions = Vec::new();
        loop {
            if self.eat(Kind::Greater) {
                break;
            }
            let before = self.position();
            conditions.push(self.condition());
            if self.eat(Kind::Semicolon) || self.eat(Kind::Comma) {
                continue;
            }
            if self.eat(Kind::Greater) {
                break;
            }
            let message = format!("expected `;` or `>`, found {}", self.found());
            let mistake =
                Diagnostic::new(Code::Unclosed, message, self.span(), "expected `;` or `>`")
                    .related(open, "this precondition does not end");
            self.report(mistake);
            self.skip_guard();
            if self.position() == before || !self.eat(Kind::Semicolon) {
                self.eat(Kind::Greater);
                break;
            }
        }
        conditions
    }

    /// Skips to the `;` or `>` that ends a condition, but not into something else.
    fn skip_guard(&mut self) {
        use Kind::*;
        while !matches!(
            self.peek(),
            Semicolon | Greater | OpenBrace | CloseBrace | End | Star | Struct | Either | Equal
        ) {
            self.bump();
        }
    }

    pub(super) fn condition(&mut self) -> Condition {
        let parsed = self.deeper(|p| {
            let left = p.disjunction();
            if !p.eat(Kind::Implies) {
                return left;
            }
            let right = p.condition();
            Condition::Any(vec![Condition::Not(Box::new(left)), right])
        });
        parsed.unwrap_or(Condition::All(Vec::new()))
    }

    fn disjunction(&mut self) -> Condition {
        let first = self.conjunction();
        if self.peek() != Kind::OrOr {
            return first;
        }
        let mut parts = vec![first];
        while self.eat(Kind::OrOr) {
            parts.push(self.conjunction());
        }
        Condition::Any(parts)
    }

    fn conjunction(&mut self) -> Condition {
        let first = self.negation();
        if self.peek() != Kind::AndAnd {
            return first;
        }
        let mut parts = vec![first];
        while self.eat(Kind::AndAnd) {
            parts.push(self.negation());
        }
        Condition::All(parts)
    }

    fn negation(&mut self) -> Condition {
        if self.eat(Kind::Bang) {
            let inner = self.deeper(|p| p.negation()).unwrap_or(Condition::All(Vec::new()));
            return Condition::Not(Box::new(inner));
        }
        if self.eat(Kind::OpenParen) {
            let inner = self.condition();
            self.expect(Kind::CloseParen);
            return inner;
        }
        self.comparison()
    }

    fn comparison(&mut self) -> Condition {
        let left = self.term();
        let relation = match self.peek() {
            Kind::EqualEqual => Relation::Equal,
            Kind::NotEqual => Relation::NotEqual,
            Kind::Less => Relation::Less,
            Kind::LessEqual => Relation::LessOrEqual,
            Kind::Greater => Relation::Greater,
            Kind::GreaterEqual => Relation::GreaterOrEqual,
            Kind::Equal => {
                let mistake = Diagnostic::new(
                    Code::OtherLanguage,
                    "`=` assigns; a condition compares",
                    self.span(),
                    "expected a comparison",
                );
                self.report(mistake.help("compare with `==`"));
                Relation::Equal
            }
            _ => {
                self.expected("a comparison");
                let missing = Term { kind: TermKind::Missing, span: self.span() };
                let span = left.span;
                return Condition::Compare(left, Relation::Equal, missing, span);
            }
        };
        self.bump();
        let right = self.term();
        let span = left.span.to(right.span);
        Condition::Compare(left, relation, right, span)
    }

    /// `rhs` of Figure 6, and `lhs + n`.
    pub(super) fn term(&mut self) -> Term {
        let start = self.span();
        let kind = match self.peek() {
            Kind::Int | Kind::Minus => TermKind::Int(self.integer()),
            Kind::Null => {
                self.bump();
                TermKind::Null
            }
            Kind::Id => {
                self.bump();
                TermKind::Id
            }
            Kind::Name => {
                let place = self.place();
                match self.peek() {
                    Kind::Plus => {
                        self.bump();
                        TermKind::Plus(place, self.integer())
                    }
                    Kind::Minus => {
                        self.bump();
                        TermKind::Plus(place, -self.integer())
                    }
                    _ => TermKind::Place(place),
                }
            }
            _ => {
                self.expected("a variable, a field, a number, `NULL` or `ID`");
                return Term { kind: TermKind::Missing, span: start };
            }
        };
        Term { kind, span: start.to(self.previous_span()) }
    }

    /// A number, perhaps with a sign.
    fn integer(&mut self) -> i64 {
        let negative = self.eat(Kind::Minus);
        if self.peek() != Kind::Int {
            self.expected("a number");
            return 0;
        }
        let value = self.number();
        if negative { -value } else { value }
    }

    /// `var`, `var.fname`, `var[index]`; also `var→fname`, as in Figures 2 and 3.
    pub(super) fn place(&mut self) -> PlaceExpr {
        let name = self.expect_name("a variable");
        let mut side = None;
        if self.eat(Kind::At) {
            side = match self.text() {
                "1" => Some(1),
                "2" => Some(2),
                _ => None,
            };
            if side.is_some() {
                self.bump();
            } else {
                self.expected("`1` or `2`");
            }
        }
        let access = if self.eat(Kind::Dot) || self.eat(Kind::Arrow) {
            Some(Access::Field(self.expect_name("a field")))
        } else if self.eat(Kind::OpenBracket) {
            let index = self.deeper(|p| p.term());
            self.expect(Kind::CloseBracket);
            index.map(|index| Access::Index(Box::new(index)))
        } else {
            None
        };
        PlaceExpr { name, side, access }
    }
}
