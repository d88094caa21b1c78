//! `let` and assignment.

use super::place::Assignable;
use super::scope::Scope;
use super::types::default_value;
use super::wrapping::wrapped;
use super::{Checker, RESERVED};
use crate::hir::{Expr, ExprKind, StatementKind, Target};
use crate::limits;
use crate::syntax::ast::{self, BinaryOp, Ident};
use linchpin_ir::program::{LocalId, Type};
use linchpin_spec::Value;
use linchpin_syntax::{Code, Diagnostic};

impl Checker<'_> {
    /// Declares a local variable. If that is a mistake, its uses are not reported too.
    pub(super) fn declare(&mut self, scope: &mut Scope, name: &Ident, ty: Type) -> Option<LocalId> {
        let declared = self.new_local(scope, name, ty);
        if declared.is_none() {
            scope.declare_mistaken(&name.name);
        }
        declared
    }

    fn new_local(&mut self, scope: &mut Scope, name: &Ident, ty: Type) -> Option<LocalId> {
        if RESERVED.contains(&name.name.as_str()) && name.name != "_" {
            let message = format!("`{}` is built in and cannot be declared", name.name);
            self.report(Diagnostic::new(Code::BuiltIn, message, name.span, "choose another name"));
            return None;
        }
        if matches!(ty, Type::Unit | Type::Lock) {
            let message = format!("`{}` would hold {}", name.name, self.type_name(&ty));
            self.report(Diagnostic::new(Code::NoValue, message, name.span, "not a value"));
            return None;
        }
        if scope.locals.len() >= limits::LOCALS {
            if scope.locals.len() == limits::LOCALS {
                let message = format!("there are more than {} variables here", limits::LOCALS);
                self.report(Diagnostic::new(Code::TooLarge, message, name.span, "one too many"));
                // One more, so that it is said once.
                scope.temporary("$", Type::Int, Value::Int(0));
            }
            return None;
        }
        self.charge(ty.words(), name.span)?;
        let initial = default_value(&ty).unwrap_or_default();
        Some(scope.declare(&name.name, ty, initial))
    }

    pub(super) fn let_statement(
        &mut self,
        scope: &mut Scope,
        name: &Ident,
        ty: Option<&ast::TypeExpr>,
        value: Option<&ast::Expr>,
    ) -> Option<StatementKind> {
        let declared = ty.map(|ty| self.ty(ty));
        let value = match (value, &declared) {
            (Some(value), Some(Some(ty))) => self.expr(scope, value, Some(ty)),
            (Some(value), None) => self.expr(scope, value, None),
            (None, Some(Some(ty))) => self.default_of(name, ty),
            (_, Some(None)) => None,
            (None, None) => {
                let message = format!("`{}` needs a type or a value", name.name);
                self.report(
                    Diagnostic::new(Code::TypeNotKnown, message, name.span, "of which type?")
                        .help(format!("write `let {0}: int;` or `let {0} = 0;`", name.name)),
                );
                None
            }
        };
        let ty = match &value {
            Some(value) => Some(value.ty.clone()),
            None => declared.flatten(),
        };
        let Some(ty) = ty else {
            scope.declare_mistaken(&name.name);
            return None;
        };
        let id = self.declare(scope, name, ty)?;
        Some(StatementKind::Assign(Target::Local(id), value?))
    }

    /// What a variable holds that is declared without a value.
    fn default_of(&mut self, name: &Ident, ty: &Type) -> Option<Expr> {
        let Some(initial) = default_value(ty) else {
            let message = format!("`{}` needs a value", name.name);
            self.report(Diagnostic::new(
                Code::NoDefault,
                message,
                name.span,
                "a `tid` has no default",
            ));
            return None;
        };
        Some(Expr { kind: ExprKind::Const(initial), ty: ty.clone(), line: self.line(name.span) })
    }

    pub(super) fn let_tuple(
        &mut self,
        scope: &mut Scope,
        names: &[Ident],
        value: &ast::Expr,
    ) -> Option<Vec<StatementKind>> {
        let checked = self.expr(scope, value, None);
        let parts = match checked.as_ref().map(|checked| &checked.ty) {
            Some(Type::Tuple(parts)) if parts.len() == names.len() => Some(parts.clone()),
            Some(other) => {
                self.report(self.wrong_parts(other, names.len(), value));
                None
            }
            None => None,
        };
        let named: Vec<&Ident> = names.iter().filter(|name| name.name != "_").collect();
        self.reject_repeated("variable", &named, &[]);
        let (Some(checked), Some(parts)) = (checked, parts) else {
            names.iter().for_each(|name| scope.declare_mistaken(&name.name));
            return None;
        };
        let (ty, line) = (checked.ty.clone(), checked.line);
        let name = match &value.kind {
            ast::ExprKind::Call(function, _) => format!("${}_answer", function.name),
            _ => "$tuple".to_owned(),
        };
        let whole = scope.temporary(&name, ty.clone(), Value::Null);
        let mut assigns = vec![StatementKind::Assign(Target::Local(whole), checked)];
        let mut complete = true;
        for (at, (name, part)) in names.iter().zip(parts).enumerate() {
            if name.name == "_" {
                continue;
            }
            let Some(id) = self.declare(scope, name, part.clone()) else {
                complete = false;
                continue;
            };
            let tuple = Expr { kind: ExprKind::Local(whole), ty: ty.clone(), line };
            let kind = ExprKind::Component(Box::new(tuple), at);
            assigns.push(StatementKind::Assign(Target::Local(id), Expr { kind, ty: part, line }));
        }
        complete.then_some(assigns)
    }

    fn wrong_parts(&self, ty: &Type, names: usize, value: &ast::Expr) -> Diagnostic {
        let message = match ty {
            Type::Tuple(parts) => format!("{names} names for {} values", parts.len()),
            _ => "only a tuple can be taken apart".to_owned(),
        };
        let label = format!("this is {}", self.type_name(ty));
        let help = matches!(ty, Type::Tuple(_)).then(|| "write `_` for a part that is not needed");
        Diagnostic::new(Code::Parts, message, value.span, label).maybe_help(help.map(str::to_owned))
    }

    pub(super) fn assign(
        &mut self,
        scope: &mut Scope,
        target: &ast::Expr,
        operator: Option<BinaryOp>,
        value: &ast::Expr,
    ) -> Option<Vec<StatementKind>> {
        let (assignable, ty) = match self.assignable(scope, target)? {
            Assignable::Local(target, ty) => (Assignable::Local(target, ty.clone()), ty),
            Assignable::Shared(place, ty) => (Assignable::Shared(place, ty.clone()), ty),
        };
        if operator.is_some() && !matches!(ty, Type::Int | Type::Wrapping(_)) {
            let message = format!("{} cannot be added to", self.type_name(&ty));
            self.report(Diagnostic::new(Code::WrongType, message, target.span, "not an `int`"));
            return None;
        }
        let value = self.expr(scope, value, Some(&ty))?;
        Some(match (assignable, operator) {
            (Assignable::Local(target, _), None) => vec![StatementKind::Assign(target, value)],
            (Assignable::Shared(place, _), None) => vec![StatementKind::Write(place, value)],
            (Assignable::Shared(place, _), Some(operator)) => {
                let modulus = match ty {
                    Type::Wrapping(modulus) => Some(modulus),
                    _ => None,
                };
                vec![StatementKind::Modify(place, operator, value, modulus)]
            }
            (Assignable::Local(target, _), Some(operator)) => {
                self.modify_local(scope, target, operator, value, &ty)
            }
        })
    }

    /// `target += value`, the index of the target evaluated once.
    fn modify_local(
        &self,
        scope: &mut Scope,
        target: Target,
        operator: BinaryOp,
        value: Expr,
        ty: &Type,
    ) -> Vec<StatementKind> {
        let line = value.line;
        let mut statements = Vec::new();
        let mut once = |index: Expr| match index.kind {
            ExprKind::Const(_) | ExprKind::Local(_) | ExprKind::Me => index,
            _ => {
                let ty = index.ty.clone();
                let kept = scope.temporary("$index", ty.clone(), Value::Int(0));
                statements.push(StatementKind::Assign(Target::Local(kept), index));
                Expr { kind: ExprKind::Local(kept), ty, line }
            }
        };
        let target = match target {
            Target::Element(id, index) => Target::Element(id, once(index)),
            Target::ThreadLocalElement(at, index) => Target::ThreadLocalElement(at, once(index)),
            other => other,
        };
        let old = self.local_value(scope, &target, line);
        let sum = match ty {
            Type::Wrapping(modulus) => wrapped(operator, old, value, *modulus, line),
            _ => {
                let kind = ExprKind::Binary(operator, Box::new(old), Box::new(value));
                Expr { kind, ty: Type::Int, line }
            }
        };
        statements.push(StatementKind::Assign(target, sum));
        statements
    }

    /// What a local target of type `int` holds now.
    fn local_value(&self, scope: &Scope, target: &Target, line: u32) -> Expr {
        let variable = |id: LocalId| {
            Box::new(Expr { kind: ExprKind::Local(id), ty: scope.type_of(id).clone(), line })
        };
        let thread_local = |at: usize| {
            let ty = self.globals.thread_locals[at].ty.clone();
            Box::new(Expr { kind: ExprKind::ThreadLocal(at), ty, line })
        };
        let kind = match target {
            Target::Local(id) => ExprKind::Local(*id),
            Target::ThreadLocal(at) => ExprKind::ThreadLocal(*at),
            Target::Element(id, index) => ExprKind::Element(variable(*id), Box::new(index.clone())),
            Target::ThreadLocalElement(at, index) => {
                ExprKind::Element(thread_local(*at), Box::new(index.clone()))
            }
            Target::Component(id, at) => ExprKind::Component(variable(*id), *at),
            Target::ThreadLocalComponent(variable, at) => {
                ExprKind::Component(thread_local(*variable), *at)
            }
        };
        Expr { kind, ty: Type::Int, line }
    }
}
