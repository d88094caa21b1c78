//! Operations, functions and `init`: what stands around their bodies.

use super::declare::has_rows;
use super::scope::{Kind, Scope};
use super::types::default_value;
use super::{Checker, Part, RESERVED};
use crate::hir::{self, Expr, ExprKind, StatementKind};
use crate::limits;
use crate::syntax::ast::{self, BinaryOp, Ident};
use crate::syntax::{Token, TokenKind};
use linchpin_ir::program::{LocalId, Type};
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
            depth: None,
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
            let depth = self.globals.functions[at].depth;
            checked.push(self.routine(function, Kind::Fn).map(|f| hir::Routine { depth, ..f }));
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
            if let (Kind::Fn, ast::TypeKind::Place(inner)) = (kind, &parameter.ty.kind) {
                let ty = self.passable(inner)?;
                scope.declare_place(&parameter.name.name, ty);
                continue;
            }
            let ty = self.ty(&parameter.ty)?;
            self.reject_parameter(&ty, parameter, kind);
            ranges.push(self.parameter_range(parameter, &ty, kind));
            self.charge(ty.words(), parameter.name.span)?;
            let initial = default_value(&ty).unwrap_or_default();
            scope.declare(&parameter.name.name, ty, initial);
        }
        let caller = self.caller(&mut scope, routine, kind);
        ranges.extend(caller.map(|_| None));
        let parameters = scope.locals.len();
        if let (Kind::Op, Some(ty)) = (kind, &routine.response) {
            self.reject_private(&response, ty.span, "a result");
        }
        let requires = routine.requires.as_ref().and_then(|c| self.requires(&mut scope, c, kind));
        let requires = match caller.filter(|_| self.part == Part::Model) {
            Some(caller) => Some(is_caller(caller, requires, self.line(routine.name.span))),
            None => requires,
        };
        let body = self.block(&mut scope, &routine.body);
        if response != Type::Unit && body.as_ref().is_some_and(|body| !ends(body)) {
            self.missing_return(routine, &response, body.as_ref().and_then(|body| body.last()));
        }
        Some(hir::Routine {
            name: routine.name.name.clone(),
            parameters,
            ranges,
            locals: scope.locals,
            response,
            requires,
            depth: None,
            body: body?,
            line: self.line(routine.name.span),
        })
    }

    /// The parameter that tells the specification which thread calls, if it looks at that.
    ///
    /// Specifications know calls, not threads. So the id of the caller is the last argument of the
    /// call: in the specification it is what `me` stands for, in the model it has no name, and
    /// clients can pass only their own.
    fn caller(&mut self, scope: &mut Scope, routine: &ast::Routine, kind: Kind) -> Option<LocalId> {
        let name = &routine.name.name;
        if kind != Kind::Op {
            return None;
        }
        if self.part == Part::Spec {
            if !mentions_caller(routine.body.span.text(self.source)) {
                return None;
            }
            self.seen_callers.insert(name.clone());
            return Some(scope.declare("me", Type::Tid, Value::Int(0)));
        }
        let seen = self.seen_callers.contains(name);
        seen.then(|| scope.temporary("me", Type::Tid, Value::Int(0)))
    }

    /// The type of what a place holds that is passed to a function: a word, or an array of words.
    pub(super) fn passable(&mut self, ty: &ast::TypeExpr) -> Option<Type> {
        let resolved = self.storable(ty)?;
        if !has_rows(&resolved) {
            return Some(resolved);
        }
        let message = "an array of arrays cannot be passed to a function";
        self.report(
            Diagnostic::new(Code::PlaceParameter, message, ty.span, "more than a row")
                .help("pass one element, or name the variable in the function"),
        );
        None
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

/// Whether the text of a body names `me`, and not as a field.
fn mentions_caller(body: &str) -> bool {
    let mut tokens = crate::syntax::tokenize(body);
    tokens.retain(|token| token.kind != TokenKind::Comment);
    let names = |token: &Token| token.kind == TokenKind::Name && token.span.text(body) == "me";
    tokens.windows(2).any(|pair| names(&pair[1]) && pair[0].kind != TokenKind::Dot)
}

/// `requires`, and that the thread passed is the one that calls.
fn is_caller(passed: LocalId, requires: Option<Expr>, line: u32) -> Expr {
    let make = |kind, ty| Box::new(Expr { kind, ty, line });
    let (passed, me) = (make(ExprKind::Local(passed), Type::Tid), make(ExprKind::Me, Type::Tid));
    let is_me = *make(ExprKind::Binary(BinaryOp::Equal, passed, me), Type::Bool);
    match requires {
        None => is_me,
        Some(requires) => {
            let both = ExprKind::Binary(BinaryOp::And, Box::new(requires), Box::new(is_me));
            Expr { kind: both, ty: Type::Bool, line }
        }
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
