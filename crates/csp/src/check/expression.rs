//! Expressions and assignments.

use super::Checker;
use crate::limits;
use crate::program::*;
use crate::syntax::ast::{self, BinaryOp};
use linchpin_syntax::{Code, Diagnostic, Span};

impl Checker<'_> {
    /// An expression with its type, or nothing after a mistake.
    pub(super) fn expression(&mut self, expr: &ast::Expr) -> Option<(Expr, Type)> {
        let span = expr.span;
        let (kind, of) = match &expr.kind {
            ast::ExprKind::Missing => return None,
            ast::ExprKind::Int(value) => (ExprKind::Value(*value), Type::Int),
            ast::ExprKind::Bool(value) => (ExprKind::Value(i64::from(*value)), Type::Bool),
            ast::ExprKind::Name(name) => self.name(name, span)?,
            ast::ExprKind::Index(name, index) => {
                let index = self.typed(index, Type::Int);
                let variable = self.variable(name, true)?;
                let of = self.model.variables[variable as usize].of;
                (ExprKind::Element(variable, Box::new(index?)), of)
            }
            ast::ExprKind::Not(inner) => {
                (ExprKind::Not(Box::new(self.typed(inner, Type::Bool)?)), Type::Bool)
            }
            ast::ExprKind::Negate(inner) => {
                (ExprKind::Negate(Box::new(self.typed(inner, Type::Int)?)), Type::Int)
            }
            ast::ExprKind::Binary(operator, left, right) => {
                return self.binary(*operator, left, right, span);
            }
        };
        Some((Expr { kind, span }, of))
    }

    fn name(&mut self, name: &str, span: Span) -> Option<(ExprKind, Type)> {
        if let Some((_, slot)) = self.scope.iter().rev().find(|(bound, _)| bound == name) {
            return Some((ExprKind::Slot(*slot), Type::Int));
        }
        if let Some(constant) = self.constants.get(name) {
            return Some((ExprKind::Value(constant.value), constant.of));
        }
        let Some(variable) = self.variables.get(name).copied() else {
            self.unknown("name", name, span);
            return None;
        };
        let Variable { length, of, .. } = self.model.variables[variable as usize];
        if length.is_some() {
            let mistake = Diagnostic::new(
                Code::NotOneWord,
                format!("`{name}` is an array"),
                span,
                "an array",
            )
            .help(format!("name an element: `{name}[0]`"));
            self.report(mistake);
            return None;
        }
        Some((ExprKind::Variable(variable), of))
    }

    fn binary(
        &mut self,
        operator: BinaryOp,
        left: &ast::Expr,
        right: &ast::Expr,
        span: Span,
    ) -> Option<(Expr, Type)> {
        use BinaryOp::*;
        let operands = match operator {
            Or | And => Some(Type::Bool),
            Equal | NotEqual => None,
            _ => Some(Type::Int),
        };
        let result = match operator {
            Add | Subtract | Multiply | Divide | Remainder => Type::Int,
            _ => Type::Bool,
        };
        let (left, right) = match operands {
            Some(of) => (self.typed(left, of), self.typed(right, of)),
            None => {
                let (first, second) = (self.expression(left), self.expression(right));
                if let (Some((_, one)), Some((_, other))) = (&first, &second)
                    && one != other
                {
                    self.mismatch(right.span, *one, *other);
                }
                (first.map(|(expr, _)| expr), second.map(|(expr, _)| expr))
            }
        };
        let kind = ExprKind::Binary(operator, Box::new(left?), Box::new(right?));
        Some((Expr { kind, span }, result))
    }

    /// An expression that must have this type.
    pub(super) fn typed(&mut self, expr: &ast::Expr, of: Type) -> Option<Expr> {
        let (checked, found) = self.expression(expr)?;
        if found != of {
            self.mismatch(expr.span, of, found);
            return None;
        }
        Some(checked)
    }

    pub(super) fn mismatch(&mut self, span: Span, expected: Type, found: Type) {
        let message = format!("expected {}, found {}", expected.describe(), found.describe());
        let help = match expected {
            Type::Int => None,
            Type::Bool => Some("write a comparison, such as `x == 1`".to_owned()),
        };
        self.report(
            Diagnostic::new(Code::WrongType, message, span, found.describe()).maybe_help(help),
        );
    }

    fn variable(&mut self, name: &ast::Ident, indexed: bool) -> Option<u32> {
        let what = if indexed { "array" } else { "variable" };
        let Some(variable) = self.variables.get(&name.name).copied() else {
            let bound = self.scope.iter().any(|(bound, _)| *bound == name.name);
            if bound || self.constants.contains_key(&name.name) {
                let message = format!("`{}` is no shared {what}", name.name);
                let help = "only what `var` declares can be assigned or indexed";
                self.report(
                    Diagnostic::new(Code::NotAssignable, message, name.span, "fixed").help(help),
                );
            } else {
                self.unknown(what, &name.name, name.span);
            }
            return None;
        };
        let is_array = self.model.variables[variable as usize].length.is_some();
        if is_array != indexed {
            let (message, help) = if is_array {
                (
                    format!("`{}` is an array", name.name),
                    format!("name an element: `{}[0]`", name.name),
                )
            } else {
                (format!("`{}` is no array", name.name), "leave the index out".to_owned())
            };
            self.report(
                Diagnostic::new(Code::NotOneWord, message, name.span, "declared otherwise")
                    .help(help),
            );
            return None;
        }
        Some(variable)
    }

    pub(super) fn statements(&mut self, statements: &[ast::Statement]) -> Vec<Statement> {
        statements.iter().filter_map(|statement| self.statement(statement)).collect()
    }

    fn statement(&mut self, statement: &ast::Statement) -> Option<Statement> {
        Some(match statement {
            ast::Statement::Assign { name, index, value } => {
                let variable = self.variable(name, index.is_some());
                let index = match index {
                    None => None,
                    Some(index) => Some(self.typed(index, Type::Int)?),
                };
                let Some(variable) = variable else {
                    self.expression(value);
                    return None;
                };
                let of = self.model.variables[variable as usize].of;
                let value = self.typed(value, of)?;
                Statement::Assign { variable, index, value, span: name.span }
            }
            ast::Statement::If { condition, then, otherwise } => {
                let condition = self.typed(condition, Type::Bool);
                let then = self.statements(then);
                let otherwise = self.statements(otherwise);
                Statement::If { condition: condition?, then, otherwise }
            }
            ast::Statement::For { name, domain, body } => {
                let domain = self.domain(domain);
                let slot = self.bind(name);
                let body = self.statements(body);
                self.scope.pop();
                Statement::For { slot, domain: domain?, body, span: name.span }
            }
        })
    }

    /// The values of a bound name: over constants and parameters only, so that they do not change
    /// under way.
    pub(super) fn domain(&mut self, domain: &ast::Domain) -> Option<Domain> {
        let variables = std::mem::take(&mut self.variables);
        let checked = match domain {
            ast::Domain::Range(from, to) => {
                let (from, to) = (self.typed(from, Type::Int), self.typed(to, Type::Int));
                from.zip(to).map(|(from, to)| Domain::Range(from, to))
            }
            ast::Domain::List(values) => {
                let values: Vec<_> =
                    values.iter().map(|value| self.typed(value, Type::Int)).collect();
                values.into_iter().collect::<Option<_>>().map(Domain::List)
            }
        };
        self.variables = variables;
        checked
    }

    /// A new name in scope. INVARIANT: the caller pops it.
    pub(super) fn bind(&mut self, name: &ast::Ident) -> Slot {
        let slot = self.frame as Slot;
        if self.frame < 2 * limits::PARAMETERS {
            self.frame += 1;
        } else {
            let message = format!("a process binds at most {} names", limits::PARAMETERS);
            self.report(Diagnostic::new(Code::TooLarge, message, name.span, "too many"));
        }
        self.scope.push((name.name.clone(), slot));
        slot
    }
}
