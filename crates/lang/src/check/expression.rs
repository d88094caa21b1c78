//! Expressions: what each name means and which type comes out.

use super::Checker;
use super::scope::{Kind, Scope};
use super::types::{default_value, is_word};
use crate::diagnostic::{Diagnostic, Span};
use crate::hir::{Expr, ExprKind};
use crate::syntax::ast::{self, BinaryOp, Ident, UnaryOp};
use linchpin_ir::program::Type;
use linchpin_spec::Value;

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
        let fits = expr.ty == *expected
            || matches!(expected, Type::Option(inner) if **inner == expr.ty)
            || matches!((expected, &expr.ty), (Type::Seq(want), Type::Array(have, _)) if want == have);
        if fits {
            expr.ty = expected.clone();
            return Some(expr);
        }
        let message =
            format!("expected {}, found {}", self.type_name(expected), self.type_name(&expr.ty));
        let mut mistake = Diagnostic::new(message, span, format!("this is {}", self.type_name(&expr.ty)));
        if matches!(&expr.ty, Type::Option(inner) if **inner == *expected) {
            mistake = mistake.help("compare it with `none` first, then take the value with `unwrap(…)`");
        } else if *expected == Type::Bool && matches!(expr.ty, Type::Struct(_)) {
            mistake = mistake.help("compare it: `… != null`");
        } else if *expected == Type::Unit {
            mistake = mistake.help("say what is returned: `-> …` after the parameters");
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
                let item_type = match expected {
                    Some(Type::Array(item, _)) => Some(&**item),
                    _ => None,
                };
                let checked = self.expr(scope, item, item_type);
                let length = self.length(length);
                let (checked, length) = (checked?, length?);
                let ty = Type::Array(Box::new(checked.ty.clone()), length);
                self.reject_non_word(&checked.ty, item.span)?;
                make(fold_list(vec![checked; length]), ty)
            }
            ast::ExprKind::Tuple(items) => self.tuple(scope, items, expected, line),
            ast::ExprKind::If(condition, then, otherwise) => {
                let condition = self.expr(scope, condition, Some(&Type::Bool));
                let then = self.expr(scope, then, expected)?;
                let otherwise = self.expr(scope, otherwise, Some(&then.ty))?;
                let ty = then.ty.clone();
                let (c, a, b) = (Box::new(condition?), Box::new(then), Box::new(otherwise));
                make(ExprKind::If(c, a, b), ty)
            }
            ast::ExprKind::Range(_) => {
                let message = "a range is not a value";
                self.report(
                    Diagnostic::new(message, expr.span, "only in `choose(…)`, `for` and `in`"),
                );
                None
            }
            ast::ExprKind::Quantifier { .. } => {
                let message = "quantifiers are only for `#[base(…)]`";
                self.report(Diagnostic::new(message, expr.span, "cannot be executed"));
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
            ("null", Some(ty @ Type::Struct(_))) | ("none", Some(ty @ Type::Option(_))) => ty.clone(),
            (_, Some(other)) => {
                let message = format!("`{word}` is not {}", self.type_name(other));
                let help = match other {
                    Type::Option(_) => "an optional value is absent as `none`",
                    Type::Struct(_) => "a reference is absent as `null`",
                    _ => "only references can be `null`, and only optional values (`T?`) `none`",
                };
                self.report(Diagnostic::new(message, span, "does not fit here").help(help));
                return None;
            }
            (_, None) => {
                let message = format!("the type of this `{word}` is not known");
                self.report(
                    Diagnostic::new(message, span, "of which type?")
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
        if let Some(id) = scope.find(name) {
            return make(ExprKind::Local(id), scope.locals[id.0 as usize].ty.clone());
        }
        match name {
            "me" if self.in_spec || matches!(scope.kind, Kind::Constant | Kind::Init) => {
                let message = "`me` is the thread that calls an operation; there is none here";
                self.report(Diagnostic::new(message, span, "no caller"));
                return None;
            }
            "me" => return make(ExprKind::Me, Type::Tid),
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
            return make(ExprKind::ThreadLocal(at), self.globals.thread_locals[at].ty.clone());
        }
        Some(None)
    }

    fn not_constant(&mut self, name: &str, span: Span) {
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
            UnaryOp::Negate => Type::Int,
        };
        let inner = self.expr(scope, inner, Some(&ty))?;
        let folded = match (operator, inner.as_const()) {
            (UnaryOp::Not, Some(Value::Bool(b))) => Some(Value::Bool(!b)),
            (UnaryOp::Negate, Some(Value::Int(i))) => i.checked_neg().map(Value::Int),
            _ => None,
        };
        let kind = match folded {
            Some(value) => ExprKind::Const(value),
            None => ExprKind::Unary(operator, Box::new(inner)),
        };
        Some(Expr { kind, ty, line })
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
            _ => (Type::Int, Type::Int),
        };
        let left = self.expr(scope, left, Some(&operands));
        let right = self.expr(scope, right, Some(&operands));
        Some(fold_binary(operator, left?, right?, ty, line))
    }

    /// The two sides of an equality, brought to one type.
    fn comparable(
        &mut self,
        scope: &mut Scope,
        left: &ast::Expr,
        right: &ast::Expr,
    ) -> Option<(Expr, Expr)> {
        let untyped = |e: &ast::Expr| matches!(e.kind, ast::ExprKind::Null | ast::ExprKind::None);
        let (left, right, span) = if untyped(left) && !untyped(right) {
            let right_checked = self.expr(scope, right, None)?;
            let left_checked = self.expr(scope, left, Some(&right_checked.ty))?;
            (left_checked, right_checked, right.span)
        } else {
            let left_checked = self.expr(scope, left, None);
            let hint = left_checked.as_ref().map(|e| e.ty.clone()).filter(|_| untyped(right));
            let right_checked = self.expr(scope, right, hint.as_ref());
            (left_checked?, right_checked?, right.span)
        };
        let wrapped = |ty: &Type| Type::Option(Box::new(ty.clone()));
        if left.ty == right.ty || left.ty == wrapped(&right.ty) || right.ty == wrapped(&left.ty) {
            self.reject_non_word(&left.ty, span)?;
            return Some((left, right));
        }
        let message = format!(
            "{} cannot be compared with {}",
            self.type_name(&left.ty),
            self.type_name(&right.ty)
        );
        let label = format!("this is {}", self.type_name(&right.ty));
        self.report(Diagnostic::new(message, span, label));
        None
    }

    fn reject_non_word(&mut self, ty: &Type, span: Span) -> Option<()> {
        if (is_word(ty) && *ty != Type::Lock) || self.in_spec {
            return Some(());
        }
        let message = format!("{} is not one word", self.type_name(ty));
        self.report(Diagnostic::new(message, span, "only words can be used like this"));
        None
    }

    pub(super) fn reject_thread_local_in_init(
        &mut self,
        scope: &Scope,
        name: &str,
        span: Span,
    ) -> Option<()> {
        if scope.kind != Kind::Init {
            return Some(());
        }
        let message = format!("`{name}` belongs to a thread, and `init` runs before there are any");
        self.report(
            Diagnostic::new(message, span, "no thread here")
                .help("give it its value where it is declared: `local … = …;`"),
        );
        None
    }

    fn new_object(
        &mut self,
        scope: &mut Scope,
        name: &Ident,
        fields: &[(Ident, ast::Expr)],
        line: u32,
    ) -> Option<Expr> {
        let Some(at) = self.structs.iter().position(|known| known.name == name.name) else {
            let known: Vec<String> = self.structs.iter().map(|s| s.name.clone()).collect();
            if self.records.contains_key(&name.name) {
                let message = format!("`{}` is a record, not a struct", name.name);
                self.report(
                    Diagnostic::new(message, name.span, "records are values")
                        .help(format!("drop the `new`: `{} {{ … }}`", name.name)),
                );
            } else {
                self.unknown("struct", name, known.iter().map(String::as_str));
            }
            return None;
        };
        if self.in_spec || scope.kind == Kind::Constant {
            self.report(
                Diagnostic::new("there is no heap here", name.span, "cannot be allocated")
                    .help("allocate in `init { }` or in an operation"),
            );
            return None;
        }
        let declared: Vec<(String, Type)> =
            self.structs[at].fields.iter().map(|f| (f.name.clone(), f.ty.clone())).collect();
        let values = self.field_values(scope, name, &declared, fields)?;
        let missing = declared.iter().enumerate().find(|(index, (_, ty))| {
            default_value(ty).is_none() && values.iter().all(|(given, _)| given != index)
        });
        if let Some((_, (field, ty))) = missing {
            let message = format!("the field `{field}` must be given");
            let label = format!("{} has no default", self.type_name(ty));
            self.report(Diagnostic::new(message, name.span, label));
            return None;
        }
        Some(Expr { kind: ExprKind::New(at, values), ty: Type::Struct(at), line })
    }

    fn record_value(
        &mut self,
        scope: &mut Scope,
        name: &Ident,
        fields: &[(Ident, ast::Expr)],
        base: Option<&ast::Expr>,
        line: u32,
    ) -> Option<Expr> {
        let Some(ty) = self.records.get(&name.name).cloned() else {
            if self.structs.iter().any(|known| known.name == name.name) {
                let message = format!("`{}` is a struct, not a record", name.name);
                self.report(
                    Diagnostic::new(message, name.span, "structs live in the heap")
                        .help(format!("allocate it: `new {} {{ … }}`", name.name)),
                );
            } else {
                let known: Vec<String> = self.records.keys().cloned().collect();
                self.unknown("record", name, known.iter().map(String::as_str));
            }
            return None;
        };
        let Type::Record { fields: declared, .. } = &ty else { return None };
        let declared = declared.clone();
        let values = self.field_values(scope, name, &declared, fields);
        if let Some(base) = base {
            let base = self.expr(scope, base, Some(&ty))?;
            return Some(Expr { kind: ExprKind::RecordUpdate(values?, Box::new(base)), ty, line });
        }
        let mut values = values?;
        // In order of the fields; the order of evaluation matters only for accesses, and then the model says it.
        let in_order = values.windows(2).all(|pair| pair[0].0 < pair[1].0);
        for (at, (_, field)) in declared.iter().enumerate() {
            if values.iter().any(|(given, _)| *given == at) {
                continue;
            }
            let Some(value) = default_value(field) else {
                let message = format!("the component `{}` must be given", declared[at].0);
                self.report(Diagnostic::new(message, name.span, "a `tid` has no default"));
                return None;
            };
            values.push((at, Expr { kind: ExprKind::Const(value), ty: field.clone(), line }));
        }
        if in_order {
            values.sort_by_key(|(at, _)| *at);
            let items = values.into_iter().map(|(_, value)| value).collect();
            return Some(Expr { kind: fold_list(items), ty, line });
        }
        let base = default_value(&ty).unwrap_or_else(|| Value::list(vec![Value::Null; declared.len()]));
        let base = Box::new(Expr { kind: ExprKind::Const(base), ty: ty.clone(), line });
        Some(Expr { kind: ExprKind::RecordUpdate(values, base), ty, line })
    }

    fn field_values(
        &mut self,
        scope: &mut Scope,
        of: &Ident,
        declared: &[(String, Type)],
        given: &[(Ident, ast::Expr)],
    ) -> Option<Vec<(usize, Expr)>> {
        let mut values: Vec<(usize, Expr)> = Vec::new();
        let mut complete = true;
        for (field, value) in given {
            let Some(at) = declared.iter().position(|(name, _)| *name == field.name) else {
                let what = format!("field of `{}`:", of.name);
                self.unknown(&what, field, declared.iter().map(|(name, _)| name.as_str()));
                complete = false;
                continue;
            };
            if values.iter().any(|(known, _)| *known == at) {
                let message = format!("the field `{}` is given twice", field.name);
                self.report(Diagnostic::new(message, field.span, "given again"));
            }
            match self.expr(scope, value, Some(&declared[at].1)) {
                Some(value) => values.push((at, value)),
                None => complete = false,
            }
        }
        complete.then_some(values)
    }

    fn array(
        &mut self,
        scope: &mut Scope,
        items: &[ast::Expr],
        span: Span,
        expected: Option<&Type>,
    ) -> Option<Expr> {
        let line = self.line(span);
        let mut item_type = match expected {
            Some(Type::Array(item, _) | Type::Seq(item)) => Some((**item).clone()),
            Some(Type::Set(_)) if items.is_empty() => {
                let ty = expected.cloned()?;
                return Some(Expr { kind: ExprKind::Const(Value::Set(Default::default())), ty, line });
            }
            Some(Type::Map(..)) if items.is_empty() => {
                let ty = expected.cloned()?;
                return Some(Expr { kind: ExprKind::Const(Value::Map(Default::default())), ty, line });
            }
            _ => None,
        };
        let mut checked = Vec::new();
        for item in items {
            let item = self.expr(scope, item, item_type.as_ref())?;
            item_type.get_or_insert_with(|| item.ty.clone());
            checked.push(item);
        }
        let Some(item_type) = item_type else {
            self.report(Diagnostic::new("the type of this array is not known", span, "of what?"));
            return None;
        };
        self.reject_non_word(&item_type, span)?;
        let ty = Type::Array(Box::new(item_type), checked.len());
        Some(Expr { kind: fold_list(checked), ty, line })
    }

    fn tuple(
        &mut self,
        scope: &mut Scope,
        items: &[ast::Expr],
        expected: Option<&Type>,
        line: u32,
    ) -> Option<Expr> {
        let types = match expected {
            Some(Type::Tuple(types)) if types.len() == items.len() => Some(types.as_slice()),
            Some(Type::Option(inner)) => match &**inner {
                Type::Tuple(types) if types.len() == items.len() => Some(types.as_slice()),
                _ => None,
            },
            _ => None,
        };
        let mut checked = Vec::new();
        for (at, item) in items.iter().enumerate() {
            checked.push(self.expr(scope, item, types.map(|types| &types[at])));
        }
        let checked = checked.into_iter().collect::<Option<Vec<_>>>()?;
        if checked.is_empty() {
            return Some(Expr { kind: ExprKind::Const(Value::Null), ty: Type::Unit, line });
        }
        let ty = Type::Tuple(checked.iter().map(|item| item.ty.clone()).collect());
        Some(Expr { kind: fold_list(checked), ty, line })
    }
}

/// A list; a constant if every item is.
fn fold_list(items: Vec<Expr>) -> ExprKind {
    let constants: Option<Vec<Value>> = items.iter().map(|item| item.as_const().cloned()).collect();
    match constants {
        Some(values) => ExprKind::Const(Value::list(values)),
        None => ExprKind::List(items),
    }
}

/// An operator; a constant if both sides are. What would be a fault is left for the run.
fn fold_binary(operator: BinaryOp, left: Expr, right: Expr, ty: Type, line: u32) -> Expr {
    let folded = match (left.as_const(), right.as_const()) {
        (Some(a), Some(b)) => fold(operator, a, b),
        _ => None,
    };
    let kind = match folded {
        Some(value) => ExprKind::Const(value),
        None => ExprKind::Binary(operator, Box::new(left), Box::new(right)),
    };
    Expr { kind, ty, line }
}

fn fold(operator: BinaryOp, left: &Value, right: &Value) -> Option<Value> {
    match operator {
        BinaryOp::Equal => return Some(Value::Bool(left == right)),
        BinaryOp::NotEqual => return Some(Value::Bool(left != right)),
        BinaryOp::And => return Some(Value::Bool(left.as_bool()? && right.as_bool()?)),
        BinaryOp::Or => return Some(Value::Bool(left.as_bool()? || right.as_bool()?)),
        _ => {}
    }
    let (a, b) = (left.as_int()?, right.as_int()?);
    Some(match operator {
        BinaryOp::Add => Value::Int(a.checked_add(b)?),
        BinaryOp::Subtract => Value::Int(a.checked_sub(b)?),
        BinaryOp::Multiply => Value::Int(a.checked_mul(b)?),
        BinaryOp::Divide => Value::Int(a.checked_div(b)?),
        BinaryOp::Remainder => Value::Int(a.checked_rem(b)?),
        BinaryOp::Less => Value::Bool(a < b),
        BinaryOp::LessEqual => Value::Bool(a <= b),
        BinaryOp::Greater => Value::Bool(a > b),
        BinaryOp::GreaterEqual => Value::Bool(a >= b),
        _ => return None,
    })
}
