//! Operations, functions and `init`: what stands around their bodies.

use super::scope::{Kind, Scope};
use super::types::default_value;
use super::{Checker, Part, RESERVED};
use crate::hir::{self, Expr, ExprKind, StatementKind};
use crate::limits;
use crate::syntax::ast::{self, Ident};
use linchpin_ir::program::Type;
use linchpin_spec::Value;
use linchpin_syntax::{Code, Diagnostic, Span};

impl Checker<'_> {
    pub(super) fn init(&mut self, block: &ast::Block, span: Span) -> Option<hir::Routine> {
        self.block_alone("init", Kind::Init, block, span)
    }

    /// A block that runs alone.
    pub(super) fn block_alone(
        &mut self,
        name: &str,
        kind: Kind,
        block: &ast::Block,
        span: Span,
    ) -> Option<hir::Routine> {
        let mut scope = Scope::new(kind, Type::Unit);
        let body = self.block(&mut scope, block)?;
        Some(hir::Routine {
            name: name.to_owned(),
            parameters: 0,
            ranges: Vec::new(),
            locals: scope.locals,
            response: Type::Unit,
            requires: None,
            body,
            line: self.line(span),
        })
    }

    /// The functions, whose signatures are known. Reports recursion.
    pub(super) fn function_bodies(
        &mut self,
        functions: &[&ast::Routine],
    ) -> Option<Vec<hir::Routine>> {
        let mut checked = Vec::new();
        for (at, function) in functions.iter().enumerate() {
            self.globals.current = Some(at);
            checked.push(self.routine(function, Kind::Fn));
        }
        self.globals.current = None;
        self.reject_recursion();
        checked.into_iter().collect()
    }

    pub(super) fn routine(&mut self, routine: &ast::Routine, kind: Kind) -> Option<hir::Routine> {
        let response = match &routine.response {
            Some(ty) => self.ty(ty)?,
            None => Type::Unit,
        };
        let mut scope = Scope::new(kind, response.clone());
        let names: Vec<&Ident> = routine.parameters.iter().map(|p| &p.name).collect();
        self.reject_repeated("parameter", &names, RESERVED);
        if names.len() > limits::FIELDS {
            let message = format!("there are at most {} parameters", limits::FIELDS);
            self.report(Diagnostic::new(Code::TooLarge, message, routine.name.span, "has more"));
            return None;
        }
        let mut ranges = Vec::new();
        for parameter in &routine.parameters {
            let ty = self.ty(&parameter.ty)?;
            self.reject_parameter(&ty, parameter, kind);
            ranges.push(self.parameter_range(parameter, &ty, kind));
            self.charge(ty.words(), parameter.name.span)?;
            let initial = default_value(&ty).unwrap_or_default();
            scope.declare(&parameter.name.name, ty, initial);
        }
        if let (Kind::Op, Some(ty)) = (kind, &routine.response) {
            self.reject_private(&response, ty.span, "a result");
        }
        let requires = routine.requires.as_ref().and_then(|c| self.requires(&mut scope, c, kind));
        let body = self.block(&mut scope, &routine.body);
        if response != Type::Unit && body.as_ref().is_some_and(|body| !ends(body)) {
            self.missing_return(routine, &response, body.as_ref().and_then(|body| body.last()));
        }
        Some(hir::Routine {
            name: routine.name.name.clone(),
            parameters: routine.parameters.len(),
            ranges,
            locals: scope.locals,
            response,
            requires,
            body: body?,
            line: self.line(routine.name.span),
        })
    }

    fn missing_return(
        &mut self,
        routine: &ast::Routine,
        response: &Type,
        last: Option<&hir::Statement>,
    ) {
        let end = routine.body.span.end;
        let at = Span { start: end.saturating_sub(1), end };
        let message = format!("`{}` can end without returning a value", routine.name.name);
        let help = match last.map(|statement| &statement.kind) {
            Some(StatementKind::While(
                Expr { kind: ExprKind::Const(Value::Bool(true)), .. },
                _,
            )) => "write `loop { … }` for a loop that only `return` and `break` leave",
            _ => "end with `return …;`",
        };
        self.report(
            Diagnostic::new(Code::NoReturn, message, at, "gets here")
                .related(routine.name.span, format!("returns {}", self.type_name(response)))
                .help(help),
        );
    }

    fn reject_parameter(&mut self, ty: &Type, parameter: &ast::Parameter, kind: Kind) {
        if kind == Kind::Op {
            self.reject_private(ty, parameter.ty.span, "a parameter");
        } else if *ty == Type::Lock {
            let message = "a lock cannot be passed to a function";
            self.report(
                Diagnostic::new(Code::Lock, message, parameter.ty.span, "has no value")
                    .help("pass the object that has the lock, and name its field: `lock(x.l);`"),
            );
        }
    }

    /// Clients see arguments and results, and references mean nothing to them.
    fn reject_private(&mut self, ty: &Type, span: Span, what: &str) {
        if ty.shape().is_none() {
            let message = format!("{} cannot be {what} of an operation", self.type_name(ty));
            self.report(
                Diagnostic::new(Code::TypeNotHere, message, span, "means nothing outside the object").help(
                    "histories show `int`, `bool`, `tid`, optionals, tuples, records and arrays of those",
                ),
            );
        }
    }

    fn parameter_range(
        &mut self,
        parameter: &ast::Parameter,
        ty: &Type,
        kind: Kind,
    ) -> Option<(i64, i64)> {
        let range = parameter.range.as_ref()?;
        let span = range.from.span.to(range.to.span);
        if *ty != Type::Int || kind != Kind::Op || self.part != Part::Model {
            let message = "`in` is for `int` parameters of operations that clients call";
            let help = (self.part != Part::Model)
                .then_some("say it where the model declares the operation");
            self.report(
                Diagnostic::new(Code::Restriction, message, span, "cannot be restricted here")
                    .maybe_help(help.map(str::to_owned)),
            );
            return None;
        }
        let from = self.constant(&range.from, &Type::Int)?.as_int()?;
        let to = self.constant(&range.to, &Type::Int)?.as_int()?;
        let to = if range.inclusive { to.saturating_add(1) } else { to };
        if from >= to {
            let message = "this range is empty, so the operation could never be called";
            self.report(Diagnostic::new(Code::Restriction, message, span, "contains nothing"));
            return None;
        }
        Some((from, to))
    }

    fn requires(&mut self, scope: &mut Scope, condition: &ast::Expr, kind: Kind) -> Option<Expr> {
        let checked = self.expr(scope, condition, Some(&Type::Bool))?;
        if kind != Kind::Op || self.part != Part::Model {
            let message = "`requires` is for operations that clients call";
            let help = match self.part {
                Part::Reference => "say it where the model declares the operation",
                Part::Model | Part::Spec => "use `assume(…)` in a specification or function",
            };
            self.report(
                Diagnostic::new(Code::Restriction, message, condition.span, "not here").help(help),
            );
            return None;
        }
        if !checked.is_local() {
            let message = "`requires` is about the caller, not about shared memory";
            self.report(Diagnostic::new(Code::Restriction, message, condition.span, "touches shared memory").help(
                "use parameters and `local` variables; use `assume(…)` to wait for shared memory",
            ));
            return None;
        }
        Some(checked)
    }
}

/// Whether the end of the block is never reached.
fn ends(block: &hir::Block) -> bool {
    block.iter().any(|statement| match &statement.kind {
        StatementKind::Return(_) | StatementKind::Break | StatementKind::Continue => true,
        StatementKind::If(_, then, otherwise) => ends(then) && ends(otherwise),
        StatementKind::Loop(body) => !leaves(body),
        StatementKind::Atomic(body) => ends(body),
        _ => false,
    })
}

/// Whether a `break` leaves the loop with this body.
fn leaves(body: &hir::Block) -> bool {
    body.iter().any(|statement| match &statement.kind {
        StatementKind::Break => true,
        StatementKind::If(_, then, otherwise) => leaves(then) || leaves(otherwise),
        StatementKind::Atomic(body) => leaves(body),
        _ => false,
    })
}
