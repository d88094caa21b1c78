//! Linearization points: the annotations `#[lin …]`. Base conditions are in
//! [`formula`](super::formula).

use super::scope::{Kind, Scope};
use super::{Checker, Part};
use crate::hir::{Expr, ExprKind, Point};
use crate::syntax::ast::{self, AnnotationKind};
use linchpin_ir::program::Type;
use linchpin_spec::Value;
use linchpin_syntax::{Code, Diagnostic, Span};

impl Checker<'_> {
    /// A linearization point: `None` if the annotation is something else, the inner `None` if it is
    /// mistaken.
    pub(super) fn point(
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
                // In a function, what the operation returns is not known yet: its callers may
                // differ.
                let response = (scope.kind == Kind::Op).then(|| scope.response.clone());
                let of = match (&response, &value.kind) {
                    (None, ast::ExprKind::None) => Some(self.no_value(value.span)),
                    _ => self.local_expr(scope, value, response.as_ref()),
                };
                of.map(|of| Point::Returns(of, value.span.start))
            }
        };
        let forbidden = match statement {
            ast::StatementKind::While(..)
            | ast::StatementKind::Loop(_)
            | ast::StatementKind::For(..) => {
                Some("a loop is many steps: annotate the statement inside")
            }
            _ if self.part == Part::Spec => Some("a specification has no linearization points"),
            _ if self.part == Part::Reference => Some(
                "a reference has no linearization points: it runs in one go at those of the model",
            ),
            _ if scope.kind == Kind::Init => Some("`init` runs before there are operations"),
            _ if matches!(scope.kind, Kind::Recover | Kind::Resolve) => {
                Some("what runs after a crash is no operation")
            }
            _ => None,
        };
        if let Some(help) = forbidden {
            let message = "`#[lin]` cannot stand here";
            self.report(
                Diagnostic::new(Code::MisplacedAnnotation, message, annotation.span, "not a step")
                    .help(help),
            );
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
            Diagnostic::new(
                Code::AnnotationShared,
                message,
                expr.span,
                "would be a step of its own",
            )
            .help("use local variables, such as what the statement has just read"),
        );
        None
    }
}
