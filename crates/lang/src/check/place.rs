//! Places: what can be read and written, in shared memory or locally.

use super::Checker;
use super::scope::{Kind, Scope};
use crate::diagnostic::{Diagnostic, Span};
use crate::hir::{Expr, ExprKind, Place, Target};
use crate::syntax::ast::{self, Ident};
use linchpin_ir::program::Type;

/// Something that can be assigned.
pub(super) enum Assignable {
    /// Local to the thread.
    Local(Target, Type),
    /// A shared word: assigning it is a step.
    Shared(Place, Type),
}

/// What a name, field or index expression stands for.
enum Resolved {
    /// Shared memory: reading it is a step.
    Shared(Place, Type),
    /// A value.
    Value(Expr),
}

impl Checker<'_> {
    /// The value of a variable, field, component or element.
    pub(super) fn read(&mut self, scope: &mut Scope, expr: &ast::Expr) -> Option<Expr> {
        let resolved = self.resolve(scope, expr)?;
        self.value(resolved, expr.span)
    }

    /// Reads what was resolved.
    fn value(&mut self, resolved: Resolved, span: Span) -> Option<Expr> {
        let (place, ty) = match resolved {
            Resolved::Shared(place, ty) => (place, ty),
            Resolved::Value(expr) => return Some(expr),
        };
        if ty == Type::Lock {
            self.report(
                Diagnostic::new("a lock has no value", span, "cannot be read")
                    .help("use `lock(…)` and `unlock(…)`"),
            );
            return None;
        }
        if matches!(ty, Type::Array(..)) && !self.in_spec {
            self.report(
                Diagnostic::new("a whole array cannot be read at once", span, "many words")
                    .help("read the elements one by one, each a step: `a[i]`"),
            );
            return None;
        }
        Some(Expr { kind: ExprKind::Read(place), ty, line: self.line(span) })
    }

    /// What a name, field or index expression stands for.
    fn resolve(&mut self, scope: &mut Scope, expr: &ast::Expr) -> Option<Resolved> {
        match &expr.kind {
            ast::ExprKind::Name(name) => match self.name(scope, name, expr.span)? {
                Some(value) => Some(Resolved::Value(value)),
                None => {
                    let (place, ty) = self.shared_variable(scope, name, expr.span)?;
                    Some(Resolved::Shared(place, ty))
                }
            },
            ast::ExprKind::Field(object, field) => {
                let object = self.expr(scope, object, None)?;
                match object.ty {
                    Type::Struct(of) => self.field(object, of, field),
                    _ => self.component(object, field, self.line(expr.span)).map(Resolved::Value),
                }
            }
            ast::ExprKind::Index(list, index) => self.element(scope, list, index),
            _ => self.expr(scope, expr, None).map(Resolved::Value),
        }
    }

    fn element(
        &mut self,
        scope: &mut Scope,
        list: &ast::Expr,
        index: &ast::Expr,
    ) -> Option<Resolved> {
        let resolved = self.resolve(scope, list)?;
        let (place, item) = match resolved {
            Resolved::Shared(place, Type::Array(item, _)) => (place, item),
            other => {
                let list_value = self.value(other, list.span)?;
                let (Type::Array(item, _) | Type::Seq(item)) = list_value.ty.clone() else {
                    let message = format!("{} has no elements", self.type_name(&list_value.ty));
                    self.report(Diagnostic::new(message, list.span, "not an array"));
                    return None;
                };
                let index = self.index(scope, index)?;
                let kind = ExprKind::Element(Box::new(list_value), Box::new(index));
                let line = self.line(list.span);
                return Some(Resolved::Value(Expr { kind, ty: *item, line }));
            }
        };
        let index = Box::new(self.index(scope, index)?);
        let place = match place {
            Place::Field { object, of, field, .. } => {
                Place::Field { object, of, field, index: Some(index) }
            }
            // Arrays hold words, so an element is never indexed again.
            Place::Shared(at) | Place::SharedElement(at, _) => Place::SharedElement(at, index),
        };
        Some(Resolved::Shared(place, *item))
    }

    fn field(&mut self, object: Expr, of: usize, field: &Ident) -> Option<Resolved> {
        let Some(at) = self.structs[of].fields.iter().position(|f| f.name == field.name) else {
            let known: Vec<String> = self.structs[of].fields.iter().map(|f| f.name.clone()).collect();
            let what = format!("field of `{}`:", self.structs[of].name);
            self.unknown(&what, field, known.iter().map(String::as_str));
            return None;
        };
        let ty = self.structs[of].fields[at].ty.clone();
        let place = Place::Field { object: Box::new(object), of, field: at, index: None };
        Some(Resolved::Shared(place, ty))
    }

    /// The component of a record (or, to explain the mistake, of something else).
    fn component(&mut self, object: Expr, field: &Ident, line: u32) -> Option<Expr> {
        let Type::Record { fields, name } = &object.ty else {
            if field.name.is_empty() {
                return None;
            }
            let message = format!("{} has no field `{}`", self.type_name(&object.ty), field.name);
            let mistake = Diagnostic::new(message, field.span, "no such field");
            let mistake = match &object.ty {
                Type::Option(_) => mistake.help("it may be `none`: take the value with `unwrap(…)` first"),
                Type::Tuple(_) => mistake.help("take it apart: `let (a, b) = …;`"),
                _ => mistake,
            };
            self.report(mistake);
            return None;
        };
        let Some(at) = fields.iter().position(|(known, _)| *known == field.name) else {
            let known: Vec<String> = fields.iter().map(|(name, _)| name.clone()).collect();
            let what = format!("field of `{name}`:");
            self.unknown(&what, field, known.iter().map(String::as_str));
            return None;
        };
        let ty = fields[at].1.clone();
        Some(Expr { kind: ExprKind::Component(Box::new(object), at), ty, line })
    }

    pub(super) fn index(&mut self, scope: &mut Scope, index: &ast::Expr) -> Option<Expr> {
        let checked = self.expr(scope, index, None)?;
        if matches!(checked.ty, Type::Int | Type::Tid) {
            return Some(checked);
        }
        let message = format!("an index is an `int` or a `tid`, not {}", self.type_name(&checked.ty));
        self.report(Diagnostic::new(message, index.span, "cannot be an index"));
        None
    }

    fn shared_variable(&mut self, scope: &Scope, name: &str, span: Span) -> Option<(Place, Type)> {
        if let Some(at) = self.globals.shared.iter().position(|v| v.name == name) {
            return Some((Place::Shared(at), self.globals.shared[at].ty.clone()));
        }
        let ident = Ident { name: name.to_owned(), span };
        let shared = self.globals.shared.iter().map(|v| v.name.clone());
        let locals = self.globals.thread_locals.iter().map(|v| v.name.clone());
        let constants = self.constants.keys().cloned();
        let mut known: Vec<String> = scope.names().map(str::to_owned).collect();
        known.extend(shared.chain(locals).chain(constants));
        known.retain(|name| !name.starts_with('$'));
        self.unknown("variable", &ident, known.iter().map(String::as_str));
        None
    }

    /// A shared word, for `cas` and its kin.
    pub(super) fn word(&mut self, scope: &mut Scope, expr: &ast::Expr) -> Option<(Place, Type)> {
        if scope.kind == Kind::Constant {
            self.report(Diagnostic::new("nothing is shared here", expr.span, "must be constant"));
            return None;
        }
        let Resolved::Shared(place, ty) = self.resolve(scope, expr)? else {
            self.report(
                Diagnostic::new("expected a shared variable or a field", expr.span, "not shared memory")
                    .help("a place is `x`, `array[i]`, `object.field` or `object.field[i]`"),
            );
            return None;
        };
        if matches!(ty, Type::Array(..)) {
            self.report(
                Diagnostic::new("this is a whole array", expr.span, "many words")
                    .help("name one element: `a[i]`"),
            );
            return None;
        }
        Some((place, ty))
    }

    /// What stands on the left of `=`.
    pub(super) fn assignable(&mut self, scope: &mut Scope, expr: &ast::Expr) -> Option<Assignable> {
        match &expr.kind {
            ast::ExprKind::Name(name) => {
                if let Some(id) = scope.find(name) {
                    let ty = scope.locals[id.0 as usize].ty.clone();
                    return Some(Assignable::Local(Target::Local(id), ty));
                }
                if let Some(at) = self.globals.thread_locals.iter().position(|v| v.name == *name) {
                    self.reject_thread_local_in_init(scope, name, expr.span)?;
                    let ty = self.globals.thread_locals[at].ty.clone();
                    return Some(Assignable::Local(Target::ThreadLocal(at), ty));
                }
                if self.constants.contains_key(name) {
                    let message = format!("`{name}` is a constant");
                    self.report(Diagnostic::new(message, expr.span, "cannot be assigned"));
                    return None;
                }
            }
            ast::ExprKind::Field(object, field) => {
                if let Some(found) = self.local_component(scope, object, field)? {
                    return Some(found);
                }
            }
            ast::ExprKind::Index(list, index) => {
                if let ast::ExprKind::Name(name) = &list.kind
                    && let Some(id) = scope.find(name)
                    && let Type::Array(item, _) = &scope.locals[id.0 as usize].ty
                {
                    let item = (**item).clone();
                    let index = self.index(scope, index)?;
                    return Some(Assignable::Local(Target::Element(id, index), item));
                }
            }
            _ => {}
        }
        let Resolved::Shared(place, ty) = self.resolve(scope, expr)? else {
            return self.not_assignable(expr);
        };
        let whole = matches!(ty, Type::Array(..)) && !self.in_spec;
        if whole || ty == Type::Lock {
            let (message, help) = match ty {
                Type::Lock => ("a lock cannot be assigned", "use `lock(…)` and `unlock(…)`"),
                _ => ("a whole array cannot be written at once", "write one element: `a[i] = …;`"),
            };
            self.report(Diagnostic::new(message, expr.span, "not one word").help(help));
            return None;
        }
        Some(Assignable::Shared(place, ty))
    }

    /// `x.f` where `x` is a local record.
    fn local_component(
        &mut self,
        scope: &mut Scope,
        object: &ast::Expr,
        field: &Ident,
    ) -> Option<Option<Assignable>> {
        let ast::ExprKind::Name(name) = &object.kind else { return Some(None) };
        let Some(id) = scope.find(name) else { return Some(None) };
        let ty = &scope.locals[id.0 as usize].ty;
        if !matches!(ty, Type::Record { .. }) {
            return Some(None);
        }
        let line = self.line(object.span);
        let record = Expr { kind: ExprKind::Local(id), ty: ty.clone(), line };
        let component = self.component(record, field, line)?;
        let ExprKind::Component(_, at) = component.kind else { return Some(None) };
        Some(Some(Assignable::Local(Target::Component(id, at), component.ty)))
    }

    fn not_assignable(&mut self, expr: &ast::Expr) -> Option<Assignable> {
        let mut mistake = Diagnostic::new("this cannot be assigned", expr.span, "not a variable or field");
        if let ast::ExprKind::Field(..) = &expr.kind {
            mistake = mistake.help(
                "a record in shared memory is one word: write it whole, as in `p.next = Mark { dead: true, ..old };`",
            );
        }
        self.report(mistake);
        None
    }
}
