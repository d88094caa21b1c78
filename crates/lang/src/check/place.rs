//! Places: what can be read and written, in shared memory or locally.

use super::reference::NeedKind;
use super::scope::{Binding, Kind, Scope};
use super::{Checker, Part};
use crate::hir::{Expr, ExprKind, Place, Target};
use crate::syntax::ast::{self, Ident};
use linchpin_ir::program::{LocalId, Type};
use linchpin_syntax::{Code, Diagnostic, Span};

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
                Diagnostic::new(Code::Lock, "a lock has no value", span, "cannot be read")
                    .help("use `lock(…)` and `unlock(…)`"),
            );
            return None;
        }
        if matches!(ty, Type::Array(..)) && self.part != Part::Spec {
            self.report(
                Diagnostic::new(
                    Code::NotOneWord,
                    "a whole array cannot be read at once",
                    span,
                    "many words",
                )
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
                    _ => {
                        let (at, ty) = self.component_of(&object.ty, field)?;
                        let kind = ExprKind::Component(Box::new(object), at);
                        Some(Resolved::Value(Expr { kind, ty, line: self.line(expr.span) }))
                    }
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
        let (place, item, length) = match resolved {
            Resolved::Shared(place, Type::Array(item, length)) => (place, item, length),
            other => {
                let list_value = self.value(other, list.span)?;
                let (Type::Array(item, _) | Type::Seq(item)) = list_value.ty.clone() else {
                    let message = format!("{} has no elements", self.type_name(&list_value.ty));
                    self.report(Diagnostic::new(
                        Code::WrongType,
                        message,
                        list.span,
                        "not an array",
                    ));
                    return None;
                };
                let index = self.index(scope, index)?;
                let kind = ExprKind::Element(Box::new(list_value), Box::new(index));
                let line = self.line(list.span);
                return Some(Resolved::Value(Expr { kind, ty: *item, line }));
            }
        };
        let index = self.index(scope, index)?;
        // Of an array of arrays, a row has been chosen before its element.
        let within = |row: Option<Box<Expr>>| match row {
            None => Box::new(index),
            Some(row) => Box::new(Expr {
                line: index.line,
                ty: Type::Int,
                kind: ExprKind::Within { row, column: Box::new(index), length },
            }),
        };
        let place = match place {
            Place::Field { object, of, field, index } => {
                Place::Field { object, of, field, index: Some(within(index)) }
            }
            Place::Parameter { at, index } => Place::Parameter { at, index: Some(within(index)) },
            Place::Shared(at) => Place::SharedElement(at, within(None)),
            Place::SharedElement(at, row) => Place::SharedElement(at, within(Some(row))),
        };
        Some(Resolved::Shared(place, *item))
    }

    fn field(&mut self, object: Expr, of: usize, field: &Ident) -> Option<Resolved> {
        let Some(at) = self.structs[of].fields.iter().position(|f| f.name == field.name) else {
            let known: Vec<String> =
                self.structs[of].fields.iter().map(|f| f.name.clone()).collect();
            let name = self.structs[of].name.clone();
            self.unknown_field(&name, field, known.iter().map(String::as_str));
            return None;
        };
        let ty = self.structs[of].fields[at].ty.clone();
        let place = Place::Field { object: Box::new(object), of, field: at, index: None };
        Some(Resolved::Shared(place, ty))
    }

    /// The component of a record: its index and type.
    fn component_of(&mut self, ty: &Type, field: &Ident) -> Option<(usize, Type)> {
        let Type::Record { fields, name } = ty else {
            let message = format!("{} has no field `{}`", self.type_name(ty), field.name);
            let mistake = Diagnostic::new(Code::UnknownField, message, field.span, "no such field");
            self.report(match ty {
                Type::Option(_) => {
                    mistake.help("it may be `none`: take the value with `unwrap(…)` first")
                }
                Type::Tuple(_) => mistake.help("take it apart: `let (a, b) = …;`"),
                _ => mistake,
            });
            return None;
        };
        let Some(at) = fields.iter().position(|(known, _)| *known == field.name) else {
            self.unknown_field(name, field, fields.iter().map(|(name, _)| name.as_str()));
            return None;
        };
        Some((at, fields[at].1.clone()))
    }

    pub(super) fn index(&mut self, scope: &mut Scope, index: &ast::Expr) -> Option<Expr> {
        let checked = self.expr(scope, index, None)?;
        if matches!(checked.ty, Type::Int | Type::Wrapping(_) | Type::Tid) {
            return Some(checked);
        }
        let message =
            format!("an index is an `int` or a `tid`, not {}", self.type_name(&checked.ty));
        self.report(Diagnostic::new(Code::WrongType, message, index.span, "cannot be an index"));
        None
    }

    fn shared_variable(&mut self, scope: &Scope, name: &str, span: Span) -> Option<(Place, Type)> {
        if let Some(Binding::Place(at)) = scope.find(name) {
            return Some((Place::Parameter { at, index: None }, scope.places[at].clone()));
        }
        if let Some(at) = self.globals.shared.iter().position(|v| v.name == name) {
            self.note_need(NeedKind::Shared(name.to_owned()), span);
            return Some((Place::Shared(at), self.globals.shared[at].ty.clone()));
        }
        self.reject_outside(name, span)?;
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

    /// What is passed for a parameter that is a place with a value of this type.
    pub(super) fn passed_place(
        &mut self,
        scope: &mut Scope,
        expr: &ast::Expr,
        expected: &Type,
    ) -> Option<Place> {
        let resolved = self.resolve(scope, expr)?;
        let (message, label) = match resolved {
            Resolved::Shared(place, ty) if ty == *expected => return Some(place),
            Resolved::Shared(_, ty) => (
                format!(
                    "expected a place with {}, found one with {}",
                    self.type_name(expected),
                    self.type_name(&ty)
                ),
                "another type",
            ),
            Resolved::Value(_) => {
                let ty = self.type_name(expected);
                (format!("expected a place with {ty}, found a value"), "not shared memory")
            }
        };
        self.report(
            Diagnostic::new(Code::PlaceParameter, message, expr.span, label)
                .help("pass a shared variable, `array[i]`, `object.field` or `object.field[i]`"),
        );
        None
    }

    /// A shared word, for `cas` and its kin.
    pub(super) fn word(&mut self, scope: &mut Scope, expr: &ast::Expr) -> Option<(Place, Type)> {
        if scope.kind == Kind::Constant {
            self.report(Diagnostic::new(
                Code::NotConstant,
                "nothing is shared here",
                expr.span,
                "must be constant",
            ));
            return None;
        }
        let Resolved::Shared(place, ty) = self.resolve(scope, expr)? else {
            self.report(
                Diagnostic::new(
                    Code::NotShared,
                    "expected a shared variable or a field",
                    expr.span,
                    "not shared memory",
                )
                .help("a place is `x`, `array[i]`, `object.field` or `object.field[i]`"),
            );
            return None;
        };
        if matches!(ty, Type::Array(..)) {
            self.report(
                Diagnostic::new(Code::NotOneWord, "this is a whole array", expr.span, "many words")
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
                if let Some((root, ty)) = self.own(scope, name, expr.span)? {
                    return Some(Assignable::Local(root.whole(), ty));
                }
                if self.constants.contains_key(name) {
                    let message = format!("`{name}` is a constant");
                    self.report(Diagnostic::new(
                        Code::NotAssignable,
                        message,
                        expr.span,
                        "cannot be assigned",
                    ));
                    return None;
                }
            }
            ast::ExprKind::Field(object, field) => {
                if let ast::ExprKind::Name(name) = &object.kind
                    && let Some((root, ty @ Type::Record { .. })) =
                        self.own(scope, name, object.span)?
                {
                    let (at, ty) = self.component_of(&ty, field)?;
                    return Some(Assignable::Local(root.component(at), ty));
                }
            }
            ast::ExprKind::Index(list, index) => {
                if let ast::ExprKind::Name(name) = &list.kind
                    && let Some((root, Type::Array(item, _))) = self.own(scope, name, list.span)?
                {
                    let index = self.index(scope, index)?;
                    return Some(Assignable::Local(root.element(index), *item));
                }
            }
            _ => {}
        }
        let (place, ty) = match self.resolve(scope, expr)? {
            Resolved::Shared(place, ty) => (place, ty),
            Resolved::Value(value) => {
                self.report(not_assignable(&value, expr.span));
                return None;
            }
        };
        let whole = matches!(ty, Type::Array(..)) && self.part != Part::Spec;
        if whole || ty == Type::Lock {
            let (code, message, help) = match ty {
                Type::Lock => {
                    (Code::Lock, "a lock cannot be assigned", "use `lock(…)` and `unlock(…)`")
                }
                _ => (
                    Code::NotOneWord,
                    "a whole array cannot be written at once",
                    "write one element: `a[i] = …;`",
                ),
            };
            self.report(Diagnostic::new(code, message, expr.span, "not one word").help(help));
            return None;
        }
        Some(Assignable::Shared(place, ty))
    }

    /// The local or thread-local variable of this name, if it is one.
    fn own(&mut self, scope: &Scope, name: &str, span: Span) -> Option<Option<(Root, Type)>> {
        match scope.find(name) {
            Some(Binding::Variable(id)) => {
                return Some(Some((Root::Local(id), scope.type_of(id).clone())));
            }
            Some(Binding::Place(_)) => return Some(None),
            Some(Binding::Mistaken) => return None,
            None => {}
        }
        let Some(at) = self.globals.thread_locals.iter().position(|v| v.name == *name) else {
            return Some(None);
        };
        self.reject_thread_local_in_init(scope, name, span)?;
        self.note_need(NeedKind::Local(name.to_owned()), span);
        Some(Some((Root::ThreadLocal(at), self.globals.thread_locals[at].ty.clone())))
    }
}

/// Why a value cannot be assigned.
fn not_assignable(value: &Expr, span: Span) -> Diagnostic {
    let mut outermost = value;
    while let ExprKind::Component(inner, _) | ExprKind::Element(inner, _) = &outermost.kind {
        outermost = inner;
    }
    match (&value.kind, &outermost.kind) {
        (ExprKind::Component(..), ExprKind::Read(_)) => {
            let message = "a component of a record in shared memory cannot be written alone";
            Diagnostic::new(Code::NotOneWord, message, span, "part of one word")
                .help("write the word, as in `p.next = Mark { dead: true, ..old };`, or use `cas`")
        }
        (ExprKind::Component(..) | ExprKind::Element(..), _) => {
            let message = "only elements and components of a variable itself can be assigned";
            Diagnostic::new(Code::NotAssignable, message, span, "further inside")
                .help("make the inner value first, then assign it whole")
        }
        _ => Diagnostic::new(
            Code::NotAssignable,
            "this cannot be assigned",
            span,
            "not a variable or field",
        ),
    }
}

/// A variable that belongs to the thread.
enum Root {
    Local(LocalId),
    ThreadLocal(usize),
}

impl Root {
    fn whole(self) -> Target {
        match self {
            Root::Local(id) => Target::Local(id),
            Root::ThreadLocal(at) => Target::ThreadLocal(at),
        }
    }

    fn component(self, component: usize) -> Target {
        match self {
            Root::Local(id) => Target::Component(id, component),
            Root::ThreadLocal(at) => Target::ThreadLocalComponent(at, component),
        }
    }

    fn element(self, index: Expr) -> Target {
        match self {
            Root::Local(id) => Target::Element(id, index),
            Root::ThreadLocal(at) => Target::ThreadLocalElement(at, index),
        }
    }
}
