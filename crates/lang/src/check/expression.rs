//! Expressions: what each name means and which type comes out.

use super::constant::{fold_binary, fold_if, fold_unary};
use super::reference::{ALONE, NeedKind};
use super::scope::{Binding, Kind, Scope};
use super::types::is_word;
use super::wrapping::{erased, reduced};
use super::{Checker, Part};
use crate::hir::{Expr, ExprKind};
use crate::syntax::ast::{self, BinaryOp, Ident, UnaryOp};
use linchpin_ir::program::Type;
use linchpin_spec::Value;
use linchpin_syntax::{Code, Diagnostic, Span};

/// Threads have no numbers unless a model asks for them, so that none prefers one by accident.
const TID_IS_NO_NUMBER: &str = "a `tid` is no number: compare it with another `tid`; threads that do different things have \
     different roles (`role writer: write;`); `int(t)` is the number of a thread";

impl Checker<'_> {
    /// Checks an expression that must have the type `expected`; a `T` is accepted for a `T?`.
    pub(super) fn expr(
        &mut self,
        scope: &mut Scope,
        expr: &ast::Expr,
        expected: Option<&Type>,
    ) -> Option<Expr> {
        let checked = self.infer(scope, expr, expected)?;
        match expected {
            Some(expected) => self.coerce(checked, expected, expr.span),
            None => Some(checked),
        }
    }

    /// The expression as an `expected`, or a report that it is something else.
    pub(super) fn coerce(&mut self, mut expr: Expr, expected: &Type, span: Span) -> Option<Expr> {
        let wanted = match expected {
            Type::Option(inner) if !matches!(expr.ty, Type::Option(_)) => inner,
            other => other,
        };
        match (wanted, &expr.ty) {
            (Type::Int, Type::Wrapping(_)) => expr.ty = Type::Int,
            (Type::Wrapping(modulus), Type::Int) => expr = reduced(expr, *modulus),
            (Type::Wrapping(to), Type::Wrapping(from)) if to < from => expr = reduced(expr, *to),
            (Type::Wrapping(_), Type::Wrapping(_)) => expr.ty = wanted.clone(),
            _ => {}
        }
        let fits = expr.ty == *expected
            || matches!(expected, Type::Option(inner) if **inner == expr.ty)
            || matches!((expected, &expr.ty), (Type::Seq(want), Type::Array(have, _)) if want == have);
        if fits {
            expr.ty = expected.clone();
            return Some(expr);
        }
        let message =
            format!("expected {}, found {}", self.type_name(expected), self.type_name(&expr.ty));
        let mut mistake = Diagnostic::new(
            Code::WrongType,
            message,
            span,
            format!("this is {}", self.type_name(&expr.ty)),
        );
        if matches!(&expr.ty, Type::Option(inner) if **inner == *expected) {
            mistake =
                mistake.help("compare it with `none` first, then take the value with `unwrap(…)`");
        } else if *expected == Type::Int && expr.ty == Type::Bool {
            mistake = mistake.help("the operators on `bool` are `&&`, `||` and `!`");
        } else if *expected == Type::Int && expr.ty == Type::Tid {
            mistake = mistake.help(TID_IS_NO_NUMBER);
        } else if *expected == Type::Bool && matches!(expr.ty, Type::Struct(_)) {
            mistake = mistake.help("compare it: `… != null`");
        }
        self.report(mistake);
        None
    }

    fn infer(
        &mut self,
        scope: &mut Scope,
        expr: &ast::Expr,
        expected: Option<&Type>,
    ) -> Option<Expr> {
        let line = self.line(expr.span);
        let make = |kind, ty| Some(Expr { kind, ty, line });
        let constant = |value, ty| make(ExprKind::Const(value), ty);
        match &expr.kind {
            ast::ExprKind::Missing => None,
            ast::ExprKind::Int(value) => constant(Value::Int(*value), Type::Int),
            ast::ExprKind::Bool(value) => constant(Value::Bool(*value), Type::Bool),
            ast::ExprKind::Null => self.nothing(expr.span, line, expected, "null"),
            ast::ExprKind::None => self.nothing(expr.span, line, expected, "none"),
            ast::ExprKind::Name(_) | ast::ExprKind::Field(..) | ast::ExprKind::Index(..) => {
                self.read(scope, expr)
            }
            ast::ExprKind::Unary(operator, inner) => self.unary(scope, *operator, inner, line),
            ast::ExprKind::Binary(operator, left, right) => {
                self.binary(scope, *operator, left, right, line)
            }
            ast::ExprKind::Call(name, arguments) => {
                self.call(scope, name, arguments, expr.span, expected)
            }
            ast::ExprKind::MethodCall(object, name, arguments) => {
                self.method(scope, object, name, arguments, line)
            }
            ast::ExprKind::New(name, fields) => self.new_object(scope, name, fields, line),
            ast::ExprKind::Record(name, fields, base) => {
                self.record_value(scope, name, fields, base.as_deref(), line)
            }
            ast::ExprKind::Array(items) => self.array(scope, items, expr.span, expected),
            ast::ExprKind::Repeat(item, length) => {
                self.repeat(scope, item, length, expr.span, expected)
            }
            ast::ExprKind::Tuple(items) => self.tuple(scope, items, expr.span, expected),
            ast::ExprKind::If(condition, then, otherwise) => {
                let condition = self.expr(scope, condition, Some(&Type::Bool));
                let then = self.expr(scope, then, expected)?;
                let otherwise = self.expr(scope, otherwise, Some(&then.ty))?;
                let ty = then.ty.clone();
                make(fold_if(condition?, then, otherwise), ty)
            }
            ast::ExprKind::Range(_) => {
                let message = "a range is not a value";
                self.report(Diagnostic::new(
                    Code::NoValue,
                    message,
                    expr.span,
                    "only in `choose(…)`, `for` and `in`",
                ));
                None
            }
            ast::ExprKind::Quantifier { .. } => {
                let message = "quantifiers are only for `#[base(…)]`";
                self.report(Diagnostic::new(
                    Code::BaseCondition,
                    message,
                    expr.span,
                    "cannot be executed",
                ));
                None
            }
        }
    }

    /// `null` and `none` take their type from where they stand.
    fn nothing(
        &mut self,
        span: Span,
        line: u32,
        expected: Option<&Type>,
        word: &str,
    ) -> Option<Expr> {
        let ty = match (word, expected) {
            ("null", Some(ty @ Type::Struct(_))) | ("none", Some(ty @ Type::Option(_))) => {
                ty.clone()
            }
            (_, Some(other)) => {
                let message = format!("`{word}` is not {}", self.type_name(other));
                let help = match other {
                    Type::Option(_) => "an optional value is absent as `none`",
                    Type::Struct(_) => "a reference is absent as `null`",
                    _ => "only references can be `null`, and only optional values (`T?`) `none`",
                };
                self.report(
                    Diagnostic::new(Code::WrongType, message, span, "does not fit here").help(help),
                );
                return None;
            }
            (_, None) => {
                let message = format!("the type of this `{word}` is not known");
                self.report(
                    Diagnostic::new(Code::TypeNotKnown, message, span, "of which type?")
                        .help(format!("declare the type: `let x: T = {word};`")),
                );
                return None;
            }
        };
        Some(Expr { kind: ExprKind::Const(Value::Null), ty, line })
    }

    /// The value of a name that is not shared; `Some(None)` if it may be shared.
    pub(super) fn name(
        &mut self,
        scope: &mut Scope,
        name: &str,
        span: Span,
    ) -> Option<Option<Expr>> {
        let line = self.line(span);
        let make = |kind, ty| Some(Some(Expr { kind, ty, line }));
        match scope.find(name) {
            Some(Binding::Variable(id)) => {
                return make(ExprKind::Local(id), scope.type_of(id).clone());
            }
            Some(Binding::Place(_)) => return Some(None),
            Some(Binding::Mistaken) => return None,
            None => {}
        }
        match name {
            "me" if self.part == Part::Spec && scope.kind == Kind::Fn => {
                let message = "`me` is the thread that calls an operation; this is a function";
                let help = "the operations of a `spec { }` know their caller: pass it, as `t: tid`";
                self.report(Diagnostic::new(Code::NoThread, message, span, "no caller").help(help));
                return None;
            }
            "me" if self.part != Part::Model
                || matches!(scope.kind, Kind::Constant | Kind::Init | Kind::Recover) =>
            {
                let message = "`me` is the thread that calls an operation; there is none here";
                let help = (self.part == Part::Reference).then(|| ALONE.to_owned());
                self.report(
                    Diagnostic::new(Code::NoThread, message, span, "no caller").maybe_help(help),
                );
                return None;
            }
            "me" => {
                self.note_need(NeedKind::Me, span);
                return make(ExprKind::Me, Type::Tid);
            }
            "threads" => {
                self.reject_threads(span)?;
                self.note_need(NeedKind::Threads, span);
            }
            "MIN" => return make(ExprKind::Const(Value::Int(i64::MIN)), Type::Int),
            "MAX" => return make(ExprKind::Const(Value::Int(i64::MAX)), Type::Int),
            _ => {}
        }
        if let Some((value, ty)) = self.constants.get(name) {
            return make(ExprKind::Const(value.clone()), ty.clone());
        }
        if scope.kind == Kind::Constant {
            self.not_constant(name, span);
            return None;
        }
        if let Some(at) = self.globals.thread_locals.iter().position(|v| v.name == name) {
            self.reject_thread_local_in_init(scope, name, span)?;
            self.note_need(NeedKind::Local(name.to_owned()), span);
            return make(ExprKind::ThreadLocal(at), self.globals.thread_locals[at].ty.clone());
        }
        Some(None)
    }

    fn not_constant(&mut self, name: &str, span: Span) {
        if self.mistaken.contains(name) {
            return;
        }
        if self.variables.contains(name) && self.part != Part::Spec {
            let message = format!("`{name}` is not a constant");
            self.report(
                Diagnostic::new(Code::NotConstant, message, span, "known only during the run")
                    .help("give the variable its value in `init { }`"),
            );
            return;
        }
        if self.reject_outside(name, span).is_none() {
            return;
        }
        let ident = Ident { name: name.to_owned(), span };
        let known: Vec<String> = self.constants.keys().cloned().collect();
        self.unknown("constant", &ident, known.iter().map(String::as_str).chain(["MIN", "MAX"]));
    }

    fn unary(
        &mut self,
        scope: &mut Scope,
        operator: UnaryOp,
        inner: &ast::Expr,
        line: u32,
    ) -> Option<Expr> {
        let ty = match operator {
            UnaryOp::Not => Type::Bool,
            UnaryOp::Negate | UnaryOp::ThreadNumber => Type::Int,
        };
        let inner = self.expr(scope, inner, Some(&ty))?;
        Some(fold_unary(operator, inner, ty, line))
    }

    fn binary(
        &mut self,
        scope: &mut Scope,
        operator: BinaryOp,
        left: &ast::Expr,
        right: &ast::Expr,
        line: u32,
    ) -> Option<Expr> {
        let (operands, ty) = match operator {
            BinaryOp::And | BinaryOp::Or => (Type::Bool, Type::Bool),
            BinaryOp::Equal | BinaryOp::NotEqual => {
                let (left, right) = self.comparable(scope, left, right)?;
                return Some(fold_binary(operator, left, right, Type::Bool, line));
            }
            BinaryOp::Less | BinaryOp::LessEqual | BinaryOp::Greater | BinaryOp::GreaterEqual => {
                (Type::Int, Type::Bool)
            }
            BinaryOp::Add | BinaryOp::Subtract | BinaryOp::Multiply => {
                let (left_span, right_span) = (left.span, right.span);
                let (left, right) = (self.operand(scope, left), self.operand(scope, right));
                return self.arithmetic(operator, (left?, left_span), (right?, right_span), line);
            }
            _ => (Type::Int, Type::Int),
        };
        let left = self.expr(scope, left, Some(&operands));
        let right = self.expr(scope, right, Some(&operands));
        Some(fold_binary(operator, left?, right?, ty, line))
    }

    /// An operand of arithmetic: a number, plain or wrapping.
    fn operand(&mut self, scope: &mut Scope, expr: &ast::Expr) -> Option<Expr> {
        let checked = self.infer(scope, expr, Some(&Type::Int))?;
        match checked.ty {
            Type::Wrapping(_) => Some(checked),
            _ => self.coerce(checked, &Type::Int, expr.span),
        }
    }

    /// The two sides of an equality, brought to one type.
    fn comparable(
        &mut self,
        scope: &mut Scope,
        left: &ast::Expr,
        right: &ast::Expr,
    ) -> Option<(Expr, Expr)> {
        let untyped = |e: &ast::Expr| matches!(e.kind, ast::ExprKind::Null | ast::ExprKind::None);
        let (left_span, right_span) = (left.span, right.span);
        let (left, right) = if untyped(left) && !untyped(right) {
            let right = self.expr(scope, right, None)?;
            (self.expr(scope, left, Some(&right.ty))?, right)
        } else if untyped(right) {
            let left = self.expr(scope, left, None)?;
            let right = self.expr(scope, right, Some(&left.ty))?;
            (left, right)
        } else {
            let (left, right) = (self.expr(scope, left, None), self.expr(scope, right, None));
            (left?, right?)
        };
        let wrapped = |ty: &Type| Type::Option(Box::new(ty.clone()));
        let (a, b) = (erased(&left.ty), erased(&right.ty));
        if a == b || a == wrapped(&b) || b == wrapped(&a) {
            self.reject_non_word(&left.ty, left_span)?;
            return Some((left, right));
        }
        let mistake = self.not_comparable((&left.ty, left_span), (&right.ty, right_span));
        self.report(mistake);
        None
    }

    pub(super) fn not_comparable(&self, left: (&Type, Span), right: (&Type, Span)) -> Diagnostic {
        let (left_name, right_name) = (self.type_name(left.0), self.type_name(right.0));
        let message = format!("{left_name} cannot be compared with {right_name}");
        let mistake =
            Diagnostic::new(Code::NotComparable, message, right.1, format!("this is {right_name}"))
                .related(left.1, format!("this is {left_name}"));
        let other = match (left.0, right.0) {
            (other, Type::Int) | (Type::Int, other) => other,
            _ => return mistake,
        };
        match other {
            Type::Struct(_) => {
                mistake.help("a reference is compared with `null`, or with another of its type")
            }
            Type::Option(inner) if **inner == Type::Tid => mistake.help(TID_IS_NO_NUMBER),
            Type::Tid => mistake.help(TID_IS_NO_NUMBER),
            _ => mistake,
        }
    }

    pub(super) fn reject_non_word(&mut self, ty: &Type, span: Span) -> Option<()> {
        if (is_word(ty) && *ty != Type::Lock) || self.part == Part::Spec {
            return Some(());
        }
        let message = format!("{} is not one word", self.type_name(ty));
        self.report(Diagnostic::new(
            Code::NotOneWord,
            message,
            span,
            "only words can be used like this",
        ));
        None
    }

    pub(super) fn reject_thread_local_in_init(
        &mut self,
        scope: &Scope,
        name: &str,
        span: Span,
    ) -> Option<()> {
        let message = match scope.kind {
            Kind::Init => {
                format!("`{name}` belongs to a thread, and `init` runs before there are any")
            }
            Kind::Recover => {
                format!("`{name}` belongs to a thread, and `recover` runs while there are none")
            }
            _ => return Some(()),
        };
        self.report(
            Diagnostic::new(Code::NoThread, message, span, "no thread here")
                .help("give it its value where it is declared: `local … = …;`"),
        );
        None
    }
}
