//! Bodies and statements.

use super::place::Assignable;
use super::scope::{Kind, Scope};
use super::types::default_value;
use super::{Checker, RESERVED};
use crate::diagnostic::{Diagnostic, Span};
use crate::hir::{self, Expr, ExprKind, Point, Statement, StatementKind, Target};
use crate::syntax::ast::{self, AnnotationKind, BinaryOp, Ident};
use linchpin_ir::program::{LocalId, Type};
use linchpin_spec::Value;

impl Checker<'_> {
    pub(super) fn init(&mut self, block: &ast::Block, span: Span) -> Option<hir::Routine> {
        let mut scope = Scope::new(Kind::Init, Type::Unit);
        let body = self.block(&mut scope, block)?;
        Some(hir::Routine {
            name: "init".to_owned(),
            parameters: 0,
            ranges: Vec::new(),
            locals: scope.locals,
            response: Type::Unit,
            requires: None,
            body,
            line: self.line(span),
        })
    }

    pub(super) fn routine(&mut self, routine: &ast::Routine, kind: Kind) -> Option<hir::Routine> {
        let response = match &routine.response {
            Some(ty) => self.ty(ty)?,
            None => Type::Unit,
        };
        let mut scope = Scope::new(kind, response.clone());
        let names: Vec<&Ident> = routine.parameters.iter().map(|p| &p.name).collect();
        self.reject_repeated("parameter", &names, RESERVED);
        let mut ranges = Vec::new();
        for parameter in &routine.parameters {
            let ty = self.ty(&parameter.ty)?;
            if kind == Kind::Op {
                self.reject_private(&ty, parameter.ty.span, "a parameter");
            }
            ranges.push(self.parameter_range(parameter, &ty, kind));
            let initial = default_value(&ty).unwrap_or_default();
            scope.declare(&parameter.name.name, ty, initial);
        }
        if let (Kind::Op, Some(ty)) = (kind, &routine.response) {
            self.reject_private(&response, ty.span, "a result");
        }
        let requires = routine.requires.as_ref().and_then(|c| self.requires(&mut scope, c, kind));
        let body = self.block(&mut scope, &routine.body);
        if response != Type::Unit && body.as_ref().is_some_and(|body| !ends(body)) {
            let at = Span { start: routine.body.span.end.saturating_sub(1), end: routine.body.span.end };
            let message = format!("`{}` can end without returning a value", routine.name.name);
            self.report(
                Diagnostic::new(message, at, "gets here")
                    .related(routine.name.span, format!("returns {}", self.type_name(&response))),
            );
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

    /// Clients see arguments and results, and references mean nothing to them.
    fn reject_private(&mut self, ty: &Type, span: Span, what: &str) {
        if ty.shape().is_none() {
            let message = format!("{} cannot be {what} of an operation", self.type_name(ty));
            self.report(
                Diagnostic::new(message, span, "means nothing outside the object")
                    .help("histories show `int`, `bool`, `tid`, optionals, tuples, records and arrays of those"),
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
        if *ty != Type::Int || kind != Kind::Op {
            let message = "`in` is for `int` parameters of operations";
            self.report(Diagnostic::new(message, parameter.name.span, "cannot have a range"));
            return None;
        }
        let from = self.constant(&range.from, &Type::Int)?.as_int()?;
        let to = self.constant(&range.to, &Type::Int)?.as_int()?;
        let to = if range.inclusive { to.saturating_add(1) } else { to };
        if from >= to {
            let message = "this range is empty, so nobody could call the operation";
            let span = range.from.span.to(range.to.span);
            self.report(Diagnostic::new(message, span, "contains nothing"));
            return None;
        }
        Some((from, to))
    }

    fn requires(&mut self, scope: &mut Scope, condition: &ast::Expr, kind: Kind) -> Option<Expr> {
        let checked = self.expr(scope, condition, Some(&Type::Bool))?;
        if kind != Kind::Op || self.in_spec {
            let message = "`requires` is for operations that clients call";
            self.report(
                Diagnostic::new(message, condition.span, "not here")
                    .help("use `assume(…)` in a specification or function"),
            );
            return None;
        }
        if !checked.is_local() {
            let message = "`requires` is about the caller, not about shared memory";
            self.report(
                Diagnostic::new(message, condition.span, "touches shared memory")
                    .help("use parameters and `local` variables; use `assume(…)` to wait for shared memory"),
            );
            return None;
        }
        Some(checked)
    }

    fn block(&mut self, scope: &mut Scope, block: &ast::Block) -> Option<hir::Block> {
        scope.enter();
        let mut statements = Vec::new();
        let mut complete = true;
        for statement in &block.statements {
            complete &= self.statement(scope, statement, &mut statements).is_some();
        }
        scope.leave();
        complete.then_some(statements)
    }

    fn statement(
        &mut self,
        scope: &mut Scope,
        statement: &ast::Statement,
        out: &mut hir::Block,
    ) -> Option<()> {
        // Base conditions are about arriving here, points about what the statement does.
        let bases: Vec<_> = statement
            .annotations
            .iter()
            .filter_map(|annotation| match &annotation.kind {
                AnnotationKind::Base(formula) => Some(self.base(scope, formula)),
                _ => None,
            })
            .collect();
        let before = out.len();
        self.statement_kind(scope, statement, out)?;
        let points: Vec<_> = statement
            .annotations
            .iter()
            .filter_map(|annotation| self.point(scope, annotation, &statement.kind))
            .collect();
        let bases = bases.into_iter().collect::<Option<Vec<_>>>()?;
        let points = points.into_iter().collect::<Option<Vec<_>>>()?;
        if let Some(first) = out.get_mut(before) {
            first.bases = bases;
        }
        if let Some(last) = out.last_mut() {
            last.points = points;
        }
        Some(())
    }

    /// A linearization point: `None` if the annotation is something else, the inner `None` if it is mistaken.
    fn point(
        &mut self,
        scope: &mut Scope,
        annotation: &ast::Annotation,
        statement: &ast::StatementKind,
    ) -> Option<Option<Point>> {
        let point = match &annotation.kind {
            AnnotationKind::Base(_) => return None,
            AnnotationKind::Lin => Some(Point::Always),
            AnnotationKind::LinWhen(condition) => {
                self.local_expr(scope, condition, Some(&Type::Bool)).map(Point::When)
            }
            AnnotationKind::LinReturns(value) => {
                // In a function, what the operation returns is not known yet: its callers may differ.
                let response = (scope.kind == Kind::Op).then(|| scope.response.clone());
                match (&response, &value.kind) {
                    (None, ast::ExprKind::None) => Some(Point::Returns(self.no_value(value.span))),
                    _ => self.local_expr(scope, value, response.as_ref()).map(Point::Returns),
                }
            }
        };
        let forbidden = match statement {
            ast::StatementKind::While(..) | ast::StatementKind::Loop(_) | ast::StatementKind::For(..) => {
                Some("a loop is many steps: annotate the statement inside")
            }
            _ if self.in_spec => Some("a specification has no linearization points"),
            _ => None,
        };
        if let Some(help) = forbidden {
            let message = "`#[lin]` cannot stand here";
            self.report(Diagnostic::new(message, annotation.span, "not one step").help(help));
            return Some(None);
        }
        Some(point)
    }

    /// The absent value, of no matter what type.
    fn no_value(&self, span: Span) -> Expr {
        Expr { kind: ExprKind::Const(Value::Null), ty: Type::Unit, line: self.line(span) }
    }

    fn local_expr(
        &mut self,
        scope: &mut Scope,
        expr: &ast::Expr,
        ty: Option<&Type>,
    ) -> Option<Expr> {
        let checked = self.expr(scope, expr, ty)?;
        if checked.is_local() {
            return Some(checked);
        }
        let message = "an annotation cannot touch shared memory";
        self.report(
            Diagnostic::new(message, expr.span, "would be a step of its own")
                .help("use local variables, such as what the statement has just read"),
        );
        None
    }

    fn statement_kind(
        &mut self,
        scope: &mut Scope,
        statement: &ast::Statement,
        out: &mut hir::Block,
    ) -> Option<()> {
        let line = self.line(statement.span);
        let mut push = |kind| {
            out.push(Statement { kind, line, points: Vec::new(), bases: Vec::new() });
            Some(())
        };
        match &statement.kind {
            ast::StatementKind::Let(name, ty, value) => {
                let assign = self.let_statement(scope, name, ty.as_ref(), value.as_ref())?;
                push(assign)
            }
            ast::StatementKind::LetTuple(names, value) => {
                for assign in self.let_tuple(scope, names, value)? {
                    push(assign);
                }
                Some(())
            }
            ast::StatementKind::Assign(target, operator, value) => {
                let assign = self.assign(scope, target, *operator, value)?;
                push(assign)
            }
            ast::StatementKind::Expr(expr) => {
                let kind = self.effect(scope, expr)?;
                push(kind)
            }
            ast::StatementKind::If(condition, then, otherwise) => {
                let condition = self.expr(scope, condition, Some(&Type::Bool));
                let then = self.block(scope, then);
                let otherwise = match otherwise {
                    Some(block) => self.block(scope, block),
                    None => Some(Vec::new()),
                };
                push(StatementKind::If(condition?, then?, otherwise?))
            }
            ast::StatementKind::While(condition, body) => {
                let condition = self.expr(scope, condition, Some(&Type::Bool));
                let body = self.loop_body(scope, body);
                push(StatementKind::While(condition?, body?))
            }
            ast::StatementKind::Loop(body) => {
                let body = self.loop_body(scope, body)?;
                push(StatementKind::Loop(body))
            }
            ast::StatementKind::For(name, range, body) => {
                let kind = self.for_statement(scope, name, range, body)?;
                push(kind)
            }
            ast::StatementKind::Break | ast::StatementKind::Continue if scope.loops == 0 => {
                let message = "there is no loop to leave or continue";
                self.report(Diagnostic::new(message, statement.span, "outside any loop"));
                None
            }
            ast::StatementKind::Break => push(StatementKind::Break),
            ast::StatementKind::Continue => push(StatementKind::Continue),
            ast::StatementKind::Return(value) => {
                let kind = self.return_statement(scope, value.as_ref(), statement.span)?;
                push(kind)
            }
            ast::StatementKind::Atomic(body) => {
                if self.in_spec {
                    self.report(
                        Diagnostic::new("a specification is atomic already", statement.span, "not needed")
                            .help("write the statements without `atomic { }`"),
                    );
                }
                let body = self.block(scope, body)?;
                push(StatementKind::Atomic(body))
            }
        }
    }

    fn loop_body(&mut self, scope: &mut Scope, body: &ast::Block) -> Option<hir::Block> {
        scope.loops += 1;
        let body = self.block(scope, body);
        scope.loops -= 1;
        body
    }

    fn for_statement(
        &mut self,
        scope: &mut Scope,
        name: &Ident,
        range: &ast::Range,
        body: &ast::Block,
    ) -> Option<StatementKind> {
        let from = self.expr(scope, &range.from, Some(&Type::Int));
        let to = self.expr(scope, &range.to, Some(&Type::Int));
        scope.enter();
        let end = scope.temporary(&format!("$end_of_{}", name.name), Type::Int, Value::Int(0));
        let counter = self.declare(scope, name, Type::Int);
        let body = self.loop_body(scope, body);
        scope.leave();
        Some(StatementKind::For {
            counter: counter?,
            end,
            from: from?,
            to: to?,
            inclusive: range.inclusive,
            body: body?,
        })
    }

    fn declare(&mut self, scope: &mut Scope, name: &Ident, ty: Type) -> Option<LocalId> {
        if RESERVED.contains(&name.name.as_str()) && name.name != "_" {
            let message = format!("`{}` is built in and cannot be declared", name.name);
            self.report(Diagnostic::new(message, name.span, "choose another name"));
            return None;
        }
        let initial = default_value(&ty).unwrap_or_default();
        Some(scope.declare(&name.name, ty, initial))
    }

    fn let_statement(
        &mut self,
        scope: &mut Scope,
        name: &Ident,
        ty: Option<&ast::TypeExpr>,
        value: Option<&ast::Expr>,
    ) -> Option<StatementKind> {
        let declared = match ty {
            Some(ty) => Some(self.ty(ty)?),
            None => None,
        };
        let value = match (value, &declared) {
            (Some(value), _) => self.expr(scope, value, declared.as_ref()),
            (None, Some(ty)) => match default_value(ty) {
                Some(initial) => {
                    let line = self.line(name.span);
                    Some(Expr { kind: ExprKind::Const(initial), ty: ty.clone(), line })
                }
                None => {
                    let message = format!("`{}` needs a value", name.name);
                    self.report(Diagnostic::new(message, name.span, "a `tid` has no default"));
                    None
                }
            },
            (None, None) => {
                let message = format!("`{}` needs a type or a value", name.name);
                self.report(
                    Diagnostic::new(message, name.span, "of which type?")
                        .help(format!("write `let {}: int;` or `let {} = 0;`", name.name, name.name)),
                );
                None
            }
        };
        // A variable whose value is mistaken is declared all the same, so that its uses are not reported too.
        let ty = match (&value, declared) {
            (Some(value), _) => value.ty.clone(),
            (None, Some(ty)) => ty,
            (None, None) => return self.declare_mistaken(scope, name),
        };
        if matches!(ty, Type::Unit | Type::Lock) {
            let message = format!("`{}` would hold {}", name.name, self.type_name(&ty));
            self.report(Diagnostic::new(message, name.span, "not a value"));
            return None;
        }
        let id = self.declare(scope, name, ty)?;
        Some(StatementKind::Assign(Target::Local(id), value?))
    }

    /// Nothing is known of this variable; an `int` is the least surprising guess.
    fn declare_mistaken(&mut self, scope: &mut Scope, name: &Ident) -> Option<StatementKind> {
        self.declare(scope, name, Type::Int);
        None
    }

    fn let_tuple(
        &mut self,
        scope: &mut Scope,
        names: &[Ident],
        value: &ast::Expr,
    ) -> Option<Vec<StatementKind>> {
        let Some(checked) = self.expr(scope, value, None) else {
            for name in names {
                self.declare(scope, name, Type::Int);
            }
            return None;
        };
        let parts = match &checked.ty {
            Type::Tuple(parts) if parts.len() == names.len() => parts.clone(),
            other => {
                let message = format!("{} has not {} parts", self.type_name(other), names.len());
                let label = format!("this is {}", self.type_name(other));
                self.report(Diagnostic::new(message, value.span, label));
                return None;
            }
        };
        let ty = checked.ty.clone();
        let line = checked.line;
        let whole = scope.temporary("$tuple", ty.clone(), Value::Null);
        let mut assigns = vec![StatementKind::Assign(Target::Local(whole), checked)];
        for (at, (name, part)) in names.iter().zip(parts).enumerate() {
            if name.name == "_" {
                continue;
            }
            let id = self.declare(scope, name, part.clone())?;
            let tuple = Expr { kind: ExprKind::Local(whole), ty: ty.clone(), line };
            let kind = ExprKind::Component(Box::new(tuple), at);
            assigns.push(StatementKind::Assign(Target::Local(id), Expr { kind, ty: part, line }));
        }
        Some(assigns)
    }

    fn assign(
        &mut self,
        scope: &mut Scope,
        target: &ast::Expr,
        operator: Option<BinaryOp>,
        value: &ast::Expr,
    ) -> Option<StatementKind> {
        let assignable = self.assignable(scope, target);
        let ty = match &assignable {
            Some(Assignable::Local(_, ty) | Assignable::Shared(_, ty)) => Some(ty.clone()),
            None => None,
        };
        if let (Some(_), Some(ty)) = (operator, &ty)
            && *ty != Type::Int
        {
            let message = format!("{} cannot be added to", self.type_name(ty));
            self.report(Diagnostic::new(message, target.span, "not an `int`"));
            return None;
        }
        let value = self.expr(scope, value, ty.as_ref());
        let (assignable, value) = (assignable?, value?);
        let (line, ty) = (value.line, value.ty.clone());
        Some(match (assignable, operator) {
            (Assignable::Local(target, _), None) => StatementKind::Assign(target, value),
            (Assignable::Shared(place, _), None) => StatementKind::Write(place, value),
            (Assignable::Shared(place, _), Some(operator)) => {
                StatementKind::Modify(place, operator, value)
            }
            (Assignable::Local(target, _), Some(operator)) => {
                let old = self.local_value(scope, &target, ty, line);
                let kind = ExprKind::Binary(operator, Box::new(old), Box::new(value));
                StatementKind::Assign(target, Expr { kind, ty: Type::Int, line })
            }
        })
    }

    /// What a local target holds now.
    fn local_value(&self, scope: &Scope, target: &Target, ty: Type, line: u32) -> Expr {
        let variable = |id: LocalId| {
            let ty = scope.locals[id.0 as usize].ty.clone();
            Box::new(Expr { kind: ExprKind::Local(id), ty, line })
        };
        let kind = match target {
            Target::Local(id) => ExprKind::Local(*id),
            Target::ThreadLocal(at) => ExprKind::ThreadLocal(*at),
            Target::Element(id, index) => {
                ExprKind::Element(variable(*id), Box::new(index.clone()))
            }
            Target::Component(id, at) => ExprKind::Component(variable(*id), *at),
        };
        Expr { kind, ty, line }
    }

    /// An expression statement.
    fn effect(&mut self, scope: &mut Scope, expr: &ast::Expr) -> Option<StatementKind> {
        if let ast::ExprKind::Call(name, arguments) = &expr.kind
            && let [argument] = arguments.as_slice()
        {
            match name.name.as_str() {
                "assume" => return self.expr(scope, argument, Some(&Type::Bool)).map(StatementKind::Assume),
                "assert" => return self.expr(scope, argument, Some(&Type::Bool)).map(StatementKind::Assert),
                "free" => return self.free(scope, name, argument),
                "lock" | "unlock" => return self.lock(scope, name, argument),
                _ => {}
            }
        }
        let checked = self.expr(scope, expr, None)?;
        if checked.is_local() {
            self.report(
                Diagnostic::new("this statement does nothing", expr.span, "its value is not used")
                    .help("assign it (`x = …;`), or remove it"),
            );
            return None;
        }
        Some(StatementKind::Eval(checked))
    }

    fn free(&mut self, scope: &mut Scope, name: &Ident, argument: &ast::Expr) -> Option<StatementKind> {
        let object = self.expr(scope, argument, None)?;
        self.reject_in_spec(name, argument.span)?;
        if !matches!(object.ty, Type::Struct(_)) {
            let message = format!("{} cannot be freed", self.type_name(&object.ty));
            self.report(Diagnostic::new(message, argument.span, "not a reference"));
            return None;
        }
        Some(StatementKind::Free(object))
    }

    fn lock(&mut self, scope: &mut Scope, name: &Ident, argument: &ast::Expr) -> Option<StatementKind> {
        let (place, ty) = self.word(scope, argument)?;
        self.reject_in_spec(name, argument.span)?;
        if scope.kind == Kind::Init {
            let message = "`init` has no thread that could hold a lock";
            self.report(Diagnostic::new(message, name.span, "not here"));
            return None;
        }
        if ty != Type::Lock {
            let message = format!("{} is not a lock", self.type_name(&ty));
            self.report(
                Diagnostic::new(message, argument.span, "cannot be locked")
                    .help("declare it with the type `lock`"),
            );
            return None;
        }
        Some(match name.name.as_str() {
            "lock" => StatementKind::Lock(place),
            _ => StatementKind::Unlock(place),
        })
    }

    fn return_statement(
        &mut self,
        scope: &mut Scope,
        value: Option<&ast::Expr>,
        span: Span,
    ) -> Option<StatementKind> {
        let response = scope.response.clone();
        match value {
            Some(value) => {
                let value = self.expr(scope, value, Some(&response))?;
                Some(StatementKind::Return(Some(value)))
            }
            None if response == Type::Unit => Some(StatementKind::Return(None)),
            None => {
                let message = format!("expected {} to return", self.type_name(&response));
                self.report(Diagnostic::new(message, span, "returns nothing"));
                None
            }
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
