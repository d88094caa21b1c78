//! Bodies and statements.

use super::reference::NeedKind;
use super::scope::Scope;
use super::{Checker, Part};
use crate::hir::{self, Statement, StatementKind};
use crate::syntax::ast::{self, AnnotationKind, Ident};
use linchpin_ir::program::Type;
use linchpin_spec::Value;
use linchpin_syntax::{Code, Diagnostic, Span};

impl Checker<'_> {
    pub(super) fn block(&mut self, scope: &mut Scope, block: &ast::Block) -> Option<hir::Block> {
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
                AnnotationKind::Base(formula) => {
                    Some(self.claimed(|checker| checker.base(scope, formula)))
                }
                _ => None,
            })
            .collect();
        let before = out.len();
        self.statement_kind(scope, statement, out)?;
        let points: Vec<_> = statement
            .annotations
            .iter()
            .filter_map(|annotation| {
                self.claimed(|checker| checker.point(scope, annotation, &statement.kind))
            })
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
                for assign in self.assign(scope, target, *operator, value)? {
                    push(assign);
                }
                Some(())
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
                self.report(Diagnostic::new(
                    Code::OutsideLoop,
                    message,
                    statement.span,
                    "not in a loop",
                ));
                None
            }
            ast::StatementKind::Break => push(StatementKind::Break),
            ast::StatementKind::Continue => push(StatementKind::Continue),
            ast::StatementKind::Return(value) => {
                let kind = self.return_statement(scope, value.as_ref(), statement.span)?;
                push(kind)
            }
            ast::StatementKind::Atomic(body) => {
                if self.part == Part::Spec {
                    self.report(
                        Diagnostic::new(
                            Code::NotInSpec,
                            "a specification is atomic already",
                            statement.span,
                            "not needed",
                        )
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

    /// An expression statement.
    fn effect(&mut self, scope: &mut Scope, expr: &ast::Expr) -> Option<StatementKind> {
        if let ast::ExprKind::Call(name, arguments) = &expr.kind
            && let [argument] = arguments.as_slice()
        {
            match name.name.as_str() {
                "assume" => {
                    return self
                        .expr(scope, argument, Some(&Type::Bool))
                        .map(StatementKind::Assume);
                }
                "assert" => {
                    return self
                        .expr(scope, argument, Some(&Type::Bool))
                        .map(StatementKind::Assert);
                }
                "free" => return self.free(scope, name, argument),
                "lock" | "unlock" => return self.lock(scope, name, argument),
                "flush" | "persist" if self.is_persistence(name) => {
                    return self.flush(scope, name, argument);
                }
                _ => {}
            }
        }
        if let Some(fence) = self.fence(scope, expr) {
            return fence;
        }
        let checked = self.expr(scope, expr, None)?;
        if checked.is_local() {
            self.report(
                Diagnostic::new(
                    Code::NoEffect,
                    "this statement does nothing",
                    expr.span,
                    "its value is not used",
                )
                .help("assign it (`x = …;`), or remove it"),
            );
            return None;
        }
        Some(StatementKind::Eval(checked))
    }

    fn free(
        &mut self,
        scope: &mut Scope,
        name: &Ident,
        argument: &ast::Expr,
    ) -> Option<StatementKind> {
        let object = self.expr(scope, argument, None)?;
        self.reject_in_spec(name, argument.span)?;
        self.reject_free(name.span)?;
        self.note_need(NeedKind::Free, name.span);
        if !matches!(object.ty, Type::Struct(_)) {
            let message = format!("{} cannot be freed", self.type_name(&object.ty));
            self.report(Diagnostic::new(
                Code::WrongType,
                message,
                argument.span,
                "not a reference",
            ));
            return None;
        }
        Some(StatementKind::Free(object))
    }

    fn lock(
        &mut self,
        scope: &mut Scope,
        name: &Ident,
        argument: &ast::Expr,
    ) -> Option<StatementKind> {
        let (place, ty) = self.word(scope, argument)?;
        self.reject_in_spec(name, argument.span)?;
        if let Some(block) = scope.without_threads() {
            let message = format!("`{block}` has no thread that could hold a lock");
            self.report(Diagnostic::new(Code::NoThread, message, name.span, "not here"));
            return None;
        }
        if ty != Type::Lock {
            let message = format!("{} is not a lock", self.type_name(&ty));
            self.report(
                Diagnostic::new(Code::WrongType, message, argument.span, "cannot be locked")
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
            Some(value) if response == Type::Unit => {
                let checked = self.expr(scope, value, None)?;
                if checked.ty != Type::Unit {
                    let ty = self.bare_type_name(&checked.ty);
                    let message = "a result is returned, but none is declared";
                    self.report(
                        Diagnostic::new(
                            Code::ResultDiffers,
                            message,
                            value.span,
                            format!("this is `{ty}`"),
                        )
                        .help(format!("declare it after the parameters: `-> {ty}`")),
                    );
                    return None;
                }
                Some(StatementKind::Return(Some(checked)))
            }
            Some(value) => {
                let value = self.expr(scope, value, Some(&response))?;
                Some(StatementKind::Return(Some(value)))
            }
            None if response == Type::Unit => Some(StatementKind::Return(None)),
            None => {
                let ty = self.type_name(&response);
                let message = format!("expected {ty}, found `return` without a value");
                self.report(
                    Diagnostic::new(Code::ResultDiffers, message, span, "returns nothing")
                        .help("write `return …;`"),
                );
                None
            }
        }
    }
}
