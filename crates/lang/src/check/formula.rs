//! Base conditions: formulas about a whole shared state.

use super::scope::Scope;
use super::types::is_word;
use super::wrapping::erased;
use super::{Checker, Part};
use crate::syntax::ast::{self, BinaryOp, Ident, UnaryOp};
use linchpin_ir::program::{Expr as Local, Formula, Type};
use linchpin_spec::Value;
use linchpin_syntax::{Code, Diagnostic, Span};

/// A formula and its type.
type Typed = (Formula, Type);

impl Checker<'_> {
    /// Checks the formula of `#[base(…)]`.
    pub(super) fn base(&mut self, scope: &mut Scope, formula: &ast::Expr) -> Option<Formula> {
        let holder = match self.part {
            Part::Model => None,
            Part::Spec => Some("specification"),
            Part::Reference => Some("reference"),
        };
        if let Some(holder) = holder {
            let message = format!("a {holder} has no base conditions");
            let help = "they are about the steps of the operations of the model";
            self.report(
                Diagnostic::new(Code::MisplacedAnnotation, message, formula.span, "not here")
                    .help(help),
            );
            return None;
        }
        self.formula(scope, &mut Vec::new(), formula, Some(&Type::Bool)).map(|(formula, _)| formula)
    }

    /// `bound` are the names of the enclosing quantifiers, innermost last.
    fn formula(
        &mut self,
        scope: &mut Scope,
        bound: &mut Vec<(String, usize)>,
        expr: &ast::Expr,
        expected: Option<&Type>,
    ) -> Option<Typed> {
        let (formula, ty) = self.infer_formula(scope, bound, expr, expected)?;
        let ty = erased(&ty);
        match expected {
            Some(expected) if ty != *expected => {
                let message =
                    format!("expected {}, found {}", self.type_name(expected), self.type_name(&ty));
                let label = format!("this is {}", self.type_name(&ty));
                self.report(Diagnostic::new(Code::WrongType, message, expr.span, label));
                None
            }
            _ => Some((formula, ty)),
        }
    }

    fn infer_formula(
        &mut self,
        scope: &mut Scope,
        bound: &mut Vec<(String, usize)>,
        expr: &ast::Expr,
        expected: Option<&Type>,
    ) -> Option<Typed> {
        let constant = |value, ty| Some((Formula::Local(Local::Const(value)), ty));
        match &expr.kind {
            ast::ExprKind::Missing => None,
            ast::ExprKind::Int(value) => constant(Value::Int(*value), Type::Int),
            ast::ExprKind::Bool(value) => constant(Value::Bool(*value), Type::Bool),
            ast::ExprKind::Null | ast::ExprKind::None => match expected {
                Some(ty @ (Type::Struct(_) | Type::Option(_))) => constant(Value::Null, ty.clone()),
                _ => self.unsupported(expr.span),
            },
            ast::ExprKind::Name(name) => self.formula_name(scope, bound, name, expr.span),
            ast::ExprKind::Field(object, field) => self.formula_field(scope, bound, object, field),
            ast::ExprKind::Index(list, index) => self.formula_element(scope, bound, list, index),
            ast::ExprKind::Unary(operator, inner) => {
                let ty = if *operator == UnaryOp::Not { Type::Bool } else { Type::Int };
                let (inner, _) = self.formula(scope, bound, inner, Some(&ty))?;
                Some((Formula::Unary(*operator, Box::new(inner)), ty))
            }
            ast::ExprKind::Binary(operator, left, right) => {
                self.formula_binary(scope, bound, *operator, left, right)
            }
            ast::ExprKind::Call(name, arguments) if name.name == "reach" => {
                match arguments.as_slice() {
                    [from, field, to] => self.reach(scope, bound, from, field, to),
                    _ => {
                        self.wrong_count(
                            "reach",
                            super::access::usage("reach"),
                            arguments.len(),
                            expr.span,
                        );
                        None
                    }
                }
            }
            ast::ExprKind::Quantifier { forall, name, of, body } => {
                let at = self.struct_named(of)?;
                bound.push((name.name.clone(), at));
                let body = self.formula(scope, bound, body, Some(&Type::Bool));
                bound.pop();
                let body = Box::new(body?.0);
                let formula = match forall {
                    true => Formula::Forall(at, body),
                    false => Formula::Exists(at, body),
                };
                Some((formula, Type::Bool))
            }
            _ => self.unsupported(expr.span),
        }
    }

    fn unsupported(&mut self, span: Span) -> Option<Typed> {
        self.report(
            Diagnostic::new(Code::BaseCondition, "this cannot stand in a base condition", span, "not a condition on a state")
                .help("use variables, fields, operators, `reach(…)`, `forall n: Node { … }`, `exists n: Node { … }`"),
        );
        None
    }

    fn struct_named(&mut self, name: &Ident) -> Option<usize> {
        let found = self.structs.iter().position(|known| known.name == name.name);
        if found.is_none() {
            let known: Vec<String> = self.structs.iter().map(|s| s.name.clone()).collect();
            self.unknown("struct", name, known.iter().map(String::as_str));
        }
        found
    }

    fn formula_name(
        &mut self,
        scope: &mut Scope,
        bound: &[(String, usize)],
        name: &str,
        span: Span,
    ) -> Option<Typed> {
        let level = bound.iter().rev().position(|(known, _)| known == name);
        if let Some(level) = level {
            let of = bound[bound.len() - 1 - level].1;
            return Some((Formula::Bound(level), Type::Struct(of)));
        }
        if let Some(id) = scope.variable(name) {
            return Some((Formula::Local(Local::Local(id)), scope.type_of(id).clone()));
        }
        if let Some(at) = self.globals.shared.iter().position(|v| v.name == name) {
            return Some((Formula::Shared(at), self.globals.shared[at].ty.clone()));
        }
        let expr = ast::Expr { kind: ast::ExprKind::Name(name.to_owned()), span };
        let checked = self.expr(scope, &expr, None)?;
        let formula = match checked.kind {
            crate::hir::ExprKind::Const(value) => Formula::Local(Local::Const(value)),
            crate::hir::ExprKind::ThreadLocal(at) => Formula::Local(Local::ThreadLocal(at)),
            crate::hir::ExprKind::Me => Formula::Local(Local::Me),
            _ => return self.unsupported(span),
        };
        Some((formula, checked.ty))
    }

    fn formula_field(
        &mut self,
        scope: &mut Scope,
        bound: &mut Vec<(String, usize)>,
        object: &ast::Expr,
        field: &Ident,
    ) -> Option<Typed> {
        let (object, ty) = self.formula(scope, bound, object, None)?;
        let object = Box::new(object);
        let (known, what): (Vec<(String, Type)>, String) = match &ty {
            Type::Struct(of) => {
                let declared = &self.structs[*of];
                let fields = declared.fields.iter().map(|f| (f.name.clone(), f.ty.clone()));
                (fields.collect(), declared.name.clone())
            }
            Type::Record { name, fields } => (fields.clone(), name.clone()),
            _ => return self.unsupported(field.span),
        };
        let Some(at) = known.iter().position(|(name, _)| *name == field.name) else {
            self.unknown_field(&what, field, known.iter().map(|(name, _)| name.as_str()));
            return None;
        };
        let formula = match ty {
            Type::Struct(of) => Formula::Field(object, of, at),
            _ => Formula::Component(object, at),
        };
        Some((formula, known[at].1.clone()))
    }

    fn formula_element(
        &mut self,
        scope: &mut Scope,
        bound: &mut Vec<(String, usize)>,
        list: &ast::Expr,
        index: &ast::Expr,
    ) -> Option<Typed> {
        let (array, ty) = self.formula(scope, bound, list, None)?;
        let (index_formula, index_ty) = self.formula(scope, bound, index, None)?;
        match (array, ty) {
            (Formula::Shared(at), Type::Array(item, _))
                if is_word(&item) && matches!(index_ty, Type::Int | Type::Tid) =>
            {
                Some((Formula::SharedElement(at, Box::new(index_formula)), *item))
            }
            _ => self.unsupported(list.span.to(index.span)),
        }
    }

    fn formula_binary(
        &mut self,
        scope: &mut Scope,
        bound: &mut Vec<(String, usize)>,
        operator: BinaryOp,
        left: &ast::Expr,
        right: &ast::Expr,
    ) -> Option<Typed> {
        let (operands, ty) = match operator {
            BinaryOp::And | BinaryOp::Or => (Type::Bool, Type::Bool),
            BinaryOp::Equal | BinaryOp::NotEqual => {
                let (left, right) = self.formula_sides(scope, bound, left, right)?;
                let formula = Formula::Binary(operator, Box::new(left), Box::new(right));
                return Some((formula, Type::Bool));
            }
            BinaryOp::Less | BinaryOp::LessEqual | BinaryOp::Greater | BinaryOp::GreaterEqual => {
                (Type::Int, Type::Bool)
            }
            _ => (Type::Int, Type::Int),
        };
        let left = self.formula(scope, bound, left, Some(&operands));
        let right = self.formula(scope, bound, right, Some(&operands));
        Some((Formula::Binary(operator, Box::new(left?.0), Box::new(right?.0)), ty))
    }

    /// The two sides of an equality; `null` and `none` take their type from the other side.
    fn formula_sides(
        &mut self,
        scope: &mut Scope,
        bound: &mut Vec<(String, usize)>,
        left: &ast::Expr,
        right: &ast::Expr,
    ) -> Option<(Formula, Formula)> {
        if matches!(left.kind, ast::ExprKind::Null | ast::ExprKind::None) {
            let (right, ty) = self.formula(scope, bound, right, None)?;
            let (left, _) = self.formula(scope, bound, left, Some(&ty))?;
            return Some((left, right));
        }
        let (checked, ty) = self.formula(scope, bound, left, None)?;
        if matches!(right.kind, ast::ExprKind::Null | ast::ExprKind::None) {
            let (right, _) = self.formula(scope, bound, right, Some(&ty))?;
            return Some((checked, right));
        }
        let (other, other_ty) = self.formula(scope, bound, right, None)?;
        let wrapped = |ty: &Type| Type::Option(Box::new(ty.clone()));
        if ty != other_ty && ty != wrapped(&other_ty) && wrapped(&ty) != other_ty {
            let mistake = self.not_comparable((&ty, left.span), (&other_ty, right.span));
            self.report(mistake);
            return None;
        }
        Some((checked, other))
    }

    /// `reach(from, next, to)` or `reach(from, next.to, to)`.
    fn reach(
        &mut self,
        scope: &mut Scope,
        bound: &mut Vec<(String, usize)>,
        from: &ast::Expr,
        path: &ast::Expr,
        to: &ast::Expr,
    ) -> Option<Typed> {
        let (from_formula, from_ty) = self.formula(scope, bound, from, None)?;
        let Type::Struct(of) = from_ty else {
            let message =
                format!("`reach` starts at a reference, not at {}", self.type_name(&from_ty));
            self.report(Diagnostic::new(Code::WrongType, message, from.span, "not a reference"));
            return None;
        };
        let (field, inner) = match &path.kind {
            ast::ExprKind::Name(name) => (Ident { name: name.clone(), span: path.span }, None),
            ast::ExprKind::Field(field, inner) => match &field.kind {
                ast::ExprKind::Name(name) => {
                    (Ident { name: name.clone(), span: field.span }, Some(inner))
                }
                _ => return self.unsupported(path.span),
            },
            _ => return self.unsupported(path.span),
        };
        let fields = &self.structs[of].fields;
        let Some(at) = fields.iter().position(|f| f.name == field.name) else {
            let known: Vec<String> = fields.iter().map(|f| f.name.clone()).collect();
            let name = self.structs[of].name.clone();
            self.unknown_field(&name, &field, known.iter().map(String::as_str));
            return None;
        };
        let mut reached = fields[at].ty.clone();
        let mut component = None;
        if let (Type::Record { fields, name: record }, Some(inner)) = (&reached, inner) {
            let found = fields.iter().position(|(name, _)| *name == inner.name);
            let Some(found) = found else {
                let record = record.clone();
                self.unknown_field(&record, inner, fields.iter().map(|(name, _)| name.as_str()));
                return None;
            };
            component = Some(found);
            reached = fields[found].1.clone();
        }
        if reached != Type::Struct(of) || (inner.is_some() && component.is_none()) {
            let message = "following this does not lead from node to node";
            let label = format!("this is {}", self.type_name(&reached));
            self.report(Diagnostic::new(Code::BaseCondition, message, path.span, label));
            return None;
        }
        let (to, _) = self.formula(scope, bound, to, Some(&Type::Struct(of)))?;
        let (from, to) = (Box::new(from_formula), Box::new(to));
        Some((Formula::Reach { from, field: (of, at), component, to }, Type::Bool))
    }
}
