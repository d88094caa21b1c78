//! Objects, records, arrays and tuples: values made of several others.

use super::constant::fold_list;
use super::scope::{Kind, Scope};
use super::types::default_value;
use super::{Checker, Part};
use crate::hir::{Expr, ExprKind};
use crate::syntax::ast::{self, Ident};
use linchpin_ir::program::Type;
use linchpin_spec::Value;
use linchpin_syntax::{Code, Diagnostic, Span};

impl Checker<'_> {
    pub(super) fn new_object(
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
                    Diagnostic::new(Code::StructOrRecord, message, name.span, "records are values")
                        .help(format!("drop the `new`: `{} {{ … }}`", name.name)),
                );
            } else {
                self.unknown("struct", name, known.iter().map(String::as_str));
            }
            return None;
        };
        if self.part == Part::Spec {
            self.report(
                Diagnostic::new(
                    Code::NotInSpec,
                    "a specification has no heap",
                    name.span,
                    "cannot be allocated",
                )
                .help("its state is made of values: `seq`, `set`, `map`, records"),
            );
            return None;
        }
        if scope.kind == Kind::Constant {
            self.report(
                Diagnostic::new(
                    Code::NotConstant,
                    "`new` is not a constant",
                    name.span,
                    "known only during the run",
                )
                .help("give the variable its value in `init { }`"),
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
            self.report(Diagnostic::new(Code::NoDefault, message, name.span, label));
            return None;
        }
        Some(Expr { kind: ExprKind::New(at, values), ty: Type::Struct(at), line })
    }

    pub(super) fn record_value(
        &mut self,
        scope: &mut Scope,
        name: &Ident,
        fields: &[(Ident, ast::Expr)],
        base: Option<&ast::Expr>,
        line: u32,
    ) -> Option<Expr> {
        let Some(ty) = self.records.get(&name.name).cloned() else {
            self.no_record(name);
            return None;
        };
        let Type::Record { fields: declared, .. } = &ty else { return None };
        let values = self.field_values(scope, name, declared, fields);
        if let Some(base) = base {
            let base = self.expr(scope, base, Some(&ty))?;
            return Some(Expr { kind: ExprKind::RecordUpdate(values?, Box::new(base)), ty, line });
        }
        let mut values = values?;
        // The order in which components are evaluated matters only if that can be noticed.
        let reorder = values.iter().all(|(_, value)| value.is_local());
        let in_order = reorder || values.windows(2).all(|pair| pair[0].0 < pair[1].0);
        for (at, (component, field)) in declared.iter().enumerate() {
            if values.iter().any(|(given, _)| *given == at) {
                continue;
            }
            let Some(value) = default_value(field) else {
                let message = format!("the component `{component}` must be given");
                self.report(Diagnostic::new(
                    Code::NoDefault,
                    message,
                    name.span,
                    "a `tid` has no default",
                ));
                return None;
            };
            values.push((at, Expr { kind: ExprKind::Const(value), ty: field.clone(), line }));
        }
        if in_order {
            values.sort_by_key(|(at, _)| *at);
            let items = values.into_iter().map(|(_, value)| value).collect();
            return Some(Expr { kind: fold_list(items), ty, line });
        }
        // Every component is given, so nothing of the base is used.
        let base = Value::list(vec![Value::Null; declared.len()]);
        let base = Box::new(Expr { kind: ExprKind::Const(base), ty: ty.clone(), line });
        Some(Expr { kind: ExprKind::RecordUpdate(values, base), ty, line })
    }

    fn no_record(&mut self, name: &Ident) {
        if self.structs.iter().any(|known| known.name == name.name) {
            let message = format!("`{}` is a struct, not a record", name.name);
            self.report(
                Diagnostic::new(
                    Code::StructOrRecord,
                    message,
                    name.span,
                    "structs live in the heap",
                )
                .help(format!("allocate it: `new {} {{ … }}`", name.name)),
            );
        } else {
            let known: Vec<String> = self.records.keys().cloned().collect();
            self.unknown("record", name, known.iter().map(String::as_str));
        }
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
                self.unknown_field(&of.name, field, declared.iter().map(|(name, _)| name.as_str()));
                complete = false;
                continue;
            };
            if values.iter().any(|(known, _)| *known == at) {
                let message = format!("the field `{}` is given twice", field.name);
                self.report(Diagnostic::new(Code::Repeated, message, field.span, "given again"));
                complete = false;
                continue;
            }
            match self.expr(scope, value, Some(&declared[at].1)) {
                Some(value) => values.push((at, value)),
                None => complete = false,
            }
        }
        complete.then_some(values)
    }

    /// `[a, b, c]`
    pub(super) fn array(
        &mut self,
        scope: &mut Scope,
        items: &[ast::Expr],
        span: Span,
        expected: Option<&Type>,
    ) -> Option<Expr> {
        let line = self.line(span);
        let mut item_type = match expected {
            Some(Type::Array(item, _) | Type::Seq(item)) => Some((**item).clone()),
            Some(ty @ (Type::Set(_) | Type::Map(..))) if items.is_empty() => {
                let kind = ExprKind::Const(default_value(ty)?);
                return Some(Expr { kind, ty: ty.clone(), line });
            }
            _ => None,
        };
        if items.len() > crate::limits::LENGTH {
            self.too_long(items.len(), span);
            return None;
        }
        let mut checked = Vec::new();
        for item in items {
            let item = self.expr(scope, item, item_type.as_ref())?;
            item_type.get_or_insert_with(|| item.ty.clone());
            checked.push(item);
        }
        let Some(item_type) = item_type else {
            self.report(Diagnostic::new(
                Code::TypeNotKnown,
                "the type of this array is not known",
                span,
                "of what?",
            ));
            return None;
        };
        self.reject_row(scope, &item_type, span)?;
        let ty = self.array_type(item_type, checked.len(), span)?;
        Some(Expr { kind: fold_list(checked), ty, line })
    }

    /// `[e; N]`: `e` is evaluated once.
    pub(super) fn repeat(
        &mut self,
        scope: &mut Scope,
        item: &ast::Expr,
        length: &ast::Expr,
        span: Span,
        expected: Option<&Type>,
    ) -> Option<Expr> {
        let item_type = match expected {
            Some(Type::Array(item, _) | Type::Seq(item)) => Some(&**item),
            _ => None,
        };
        let checked = self.expr(scope, item, item_type);
        let length = self.length(length);
        let (checked, length) = (checked?, length?);
        self.reject_row(scope, &checked.ty, item.span)?;
        let ty = self.array_type(checked.ty.clone(), length, span)?;
        let kind = match checked.as_const() {
            Some(value) => ExprKind::Const(Value::list(vec![value.clone(); length])),
            None => ExprKind::Repeat(Box::new(checked), length),
        };
        Some(Expr { kind, ty, line: self.line(span) })
    }

    /// Arrays hold words; arrays of arrays are only initial values of shared variables.
    fn reject_row(&mut self, scope: &Scope, item: &Type, span: Span) -> Option<()> {
        match item {
            Type::Array(..) if scope.kind == Kind::Constant => Some(()),
            other => self.reject_non_word(other, span),
        }
    }

    /// The type of an array literal, whose words are counted.
    fn array_type(&mut self, item: Type, length: usize, span: Span) -> Option<Type> {
        let ty = Type::Array(Box::new(item), length);
        self.charge(ty.words(), span)?;
        self.reject_large_type(&ty, span)?;
        Some(ty)
    }

    /// `(a, b)`; `(a)` and `(a,)` are `a`.
    pub(super) fn tuple(
        &mut self,
        scope: &mut Scope,
        items: &[ast::Expr],
        span: Span,
        expected: Option<&Type>,
    ) -> Option<Expr> {
        if let [only] = items {
            return self.expr(scope, only, expected);
        }
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
        let line = self.line(span);
        let checked = checked.into_iter().collect::<Option<Vec<_>>>()?;
        if checked.is_empty() {
            return Some(Expr { kind: ExprKind::Const(Value::Null), ty: Type::Unit, line });
        }
        let ty = Type::Tuple(checked.iter().map(|item| item.ty.clone()).collect());
        self.reject_large_type(&ty, span)?;
        Some(Expr { kind: fold_list(checked), ty, line })
    }
}
