//! Types: from what is written to what is meant, their defaults and their names.

use super::{Checker, Part, counted};
use crate::limits;
use crate::syntax::ast::{self, TypeExpr, TypeKind};
use linchpin_ir::program::{Struct, Type, Variable};
use linchpin_spec::Value;
use linchpin_syntax::{Code, Diagnostic, Span};
use std::collections::HashMap;

impl Checker<'_> {
    /// Collects structs and records. Struct names come first, because fields refer to them in any
    /// order.
    pub(super) fn types(&mut self, model: &ast::Model) {
        let mut records: HashMap<&str, &ast::Fields> = HashMap::new();
        for item in &model.items {
            match item {
                ast::Item::Struct(fields) => {
                    self.structs
                        .push(Struct { name: fields.name.name.clone(), fields: Vec::new() });
                }
                ast::Item::Record(fields) => {
                    records.insert(&fields.name.name, fields);
                }
                _ => {}
            }
        }
        for item in &model.items {
            if let ast::Item::Record(fields) = item {
                self.record(fields, &records, &mut Vec::new());
            }
        }
        let mut at = 0;
        for item in &model.items {
            if let ast::Item::Struct(fields) = item {
                let fields = self.struct_fields(fields);
                self.structs[at].fields = fields;
                at += 1;
            }
        }
    }

    fn struct_fields(&mut self, declared: &ast::Fields) -> Vec<Variable> {
        let mut fields: Vec<Variable> = Vec::new();
        self.reject_repeated_fields(declared);
        if declared.fields.len() > limits::FIELDS {
            let message = format!("a struct has at most {} fields", limits::FIELDS);
            self.report(Diagnostic::new(Code::TooLarge, message, declared.name.span, "has more"));
        }
        for (name, ty) in declared.fields.iter().take(limits::FIELDS) {
            let resolved = self.storable(ty);
            let resolved = resolved.filter(|ty_| self.charge(ty_.words(), ty.span).is_some());
            let Some(resolved) = resolved else {
                self.mistaken.insert(format!("{}.{}", declared.name.name, name.name));
                continue;
            };
            // A `tid` has no default; `new` must give it, and checks that.
            let initial = default_value(&resolved).unwrap_or_default();
            fields.push(Variable { name: name.name.clone(), ty: resolved, initial });
        }
        fields
    }

    fn reject_repeated_fields(&mut self, declared: &ast::Fields) {
        let names: Vec<&ast::Ident> = declared.fields.iter().map(|(name, _)| name).collect();
        self.reject_repeated("field", &names, &[]);
    }

    /// Resolves a record and, before it, the records inside it.
    fn record(
        &mut self,
        declared: &ast::Fields,
        all: &HashMap<&str, &ast::Fields>,
        open: &mut Vec<String>,
    ) {
        let name = &declared.name.name;
        if self.records.contains_key(name) || self.mistaken.contains(name) {
            return;
        }
        if open.contains(name) {
            let message = format!("the record `{name}` contains itself");
            self.report(
                Diagnostic::new(
                    Code::RecordContents,
                    message,
                    declared.name.span,
                    "would have no end",
                )
                .help("a record is a small value; use a `struct` for linked objects"),
            );
            self.mistaken.insert(name.clone());
            return;
        }
        open.push(name.clone());
        for (_, ty) in &declared.fields {
            if let Some(inner) = named(ty).and_then(|name| all.get(name)) {
                self.record(inner, all, open);
            }
        }
        open.pop();
        self.reject_repeated_fields(declared);
        match self.components(declared) {
            Some(fields) => {
                self.records.insert(name.clone(), Type::Record { name: name.clone(), fields });
            }
            None => {
                self.mistaken.insert(name.clone());
            }
        }
    }

    fn components(&mut self, declared: &ast::Fields) -> Option<Vec<(String, Type)>> {
        let mut fields: Vec<(String, Type)> = Vec::new();
        let mut complete = true;
        let mut count = 0;
        for (field, ty) in &declared.fields {
            let Some(resolved) = self.ty(ty) else {
                complete = false;
                continue;
            };
            if !is_word(&resolved) || resolved == Type::Lock {
                let message = format!("a record cannot contain {}", self.type_name(&resolved));
                self.report(
                    Diagnostic::new(
                        Code::RecordContents,
                        message,
                        ty.span,
                        "not allowed in one word",
                    )
                    .help("a record fits one word: use a `struct`"),
                );
                complete = false;
                continue;
            }
            count += resolved.words();
            if count > limits::RECORD_WORDS {
                let message = format!("a record has at most {} components", limits::RECORD_WORDS);
                self.report(Diagnostic::new(
                    Code::TooLarge,
                    message,
                    field.span,
                    "too large for one word",
                ));
                return None;
            }
            fields.push((field.name.clone(), resolved));
        }
        complete.then_some(fields)
    }

    /// A type that a shared variable or a field can have: a word or an array of words.
    pub(super) fn storable(&mut self, ty: &TypeExpr) -> Option<Type> {
        let resolved = self.rows(ty)?;
        let mut fits = is_word(&resolved);
        let mut inside = &resolved;
        while let Type::Array(item, _) = inside {
            fits = is_word(item);
            inside = item;
        }
        if !fits {
            let message = format!("{} cannot be shared", self.type_name(&resolved));
            self.report(
                Diagnostic::new(Code::TypeNotHere, message, ty.span, "not a word or an array of words").help(
                    "shared variables and fields hold `int`, `bool`, `T?`, references, records, locks, or arrays of those",
                ),
            );
            return None;
        }
        Some(resolved)
    }

    /// Resolves a type that may be an array of arrays.
    fn rows(&mut self, ty: &TypeExpr) -> Option<Type> {
        let TypeKind::Array(item, length) = &ty.kind else { return self.ty(ty) };
        if !matches!(item.kind, TypeKind::Array(..)) {
            return self.ty(ty);
        }
        let (item, count) = (self.rows(item), self.length(length));
        let rows = Type::Array(Box::new(item?), count?);
        if rows.words() > limits::LENGTH {
            self.too_long(rows.words(), ty.span);
            return None;
        }
        Some(rows)
    }

    /// Resolves a type.
    pub(super) fn ty(&mut self, ty: &TypeExpr) -> Option<Type> {
        let resolved = self.resolve_type(ty)?;
        self.reject_large_type(&resolved, ty.span)?;
        Some(resolved)
    }

    /// Types are copied with everything that has them.
    pub(super) fn reject_large_type(&mut self, ty: &Type, span: Span) -> Option<()> {
        if parts(ty) <= limits::TYPE_PARTS {
            return Some(());
        }
        let message = format!("this type has more than {} parts", limits::TYPE_PARTS);
        self.report(Diagnostic::new(Code::TooLarge, message, span, "too large"));
        None
    }

    fn resolve_type(&mut self, ty: &TypeExpr) -> Option<Type> {
        match &ty.kind {
            TypeKind::Missing => None,
            TypeKind::Name(name) => self.named_type(name, ty.span),
            TypeKind::Wrapping(modulus) => self.wrapping_type(modulus),
            TypeKind::Place(_) => {
                let message = "only a parameter of a function can be a place";
                self.report(
                    Diagnostic::new(Code::PlaceParameter, message, ty.span, "not here")
                        .help("write `fn f(p: &int) { … }`, and call it as `f(x)`"),
                );
                None
            }
            TypeKind::Option(inner) => self.option_type(inner, ty.span),
            TypeKind::Tuple(items) => {
                let items: Vec<_> = items.iter().map(|item| self.ty(item)).collect();
                let mut items = items.into_iter().collect::<Option<Vec<_>>>()?;
                Some(match items.len() {
                    0 => Type::Unit,
                    1 => items.remove(0),
                    _ => Type::Tuple(items),
                })
            }
            TypeKind::Array(item, length) => {
                let item_ty = self.ty(item);
                let length = self.length(length);
                let (item_ty, length) = (item_ty?, length?);
                if !is_word(&item_ty) {
                    let message = format!("an array cannot hold {}", self.type_name(&item_ty));
                    self.report(
                        Diagnostic::new(Code::TypeNotHere, message, item.span, "not a word").help(
                            "arrays hold words; only those of `shared` variables and fields hold arrays too",
                        ),
                    );
                    return None;
                }
                Some(Type::Array(Box::new(item_ty), length))
            }
            TypeKind::Collection(name, arguments) => self.collection_type(name, arguments, ty.span),
        }
    }

    fn named_type(&mut self, name: &str, span: Span) -> Option<Type> {
        match name {
            "int" => return Some(Type::Int),
            "bool" => return Some(Type::Bool),
            "tid" => return Some(Type::Tid),
            "lock" => return Some(Type::Lock),
            _ => {}
        }
        if let Some(at) = self.structs.iter().position(|known| known.name == name) {
            return Some(Type::Struct(at));
        }
        if let Some(record) = self.records.get(name) {
            return Some(record.clone());
        }
        let ident = ast::Ident { name: name.to_owned(), span };
        let structs: Vec<String> = self.structs.iter().map(|known| known.name.clone()).collect();
        let records: Vec<String> = self.records.keys().cloned().collect();
        let known = ["int", "bool", "tid", "lock"].into_iter();
        self.unknown(
            "type",
            &ident,
            known.chain(structs.iter().chain(&records).map(String::as_str)),
        );
        None
    }

    fn option_type(&mut self, inner: &TypeExpr, span: Span) -> Option<Type> {
        let resolved = self.ty(inner)?;
        let advice = match &resolved {
            Type::Struct(_) => "a reference can be `null` already: drop the `?`",
            Type::Option(_) => "one `?` is enough",
            Type::Lock | Type::Unit => "only values can be optional",
            _ => return Some(Type::Option(Box::new(resolved))),
        };
        let message = format!("{} cannot be optional", self.type_name(&resolved));
        let question = Span { start: span.end.saturating_sub(1), end: span.end };
        self.report(Diagnostic::new(Code::TypeNotHere, message, question, "not here").help(advice));
        None
    }

    fn collection_type(
        &mut self,
        name: &ast::Ident,
        arguments: &[TypeExpr],
        span: Span,
    ) -> Option<Type> {
        if self.part != Part::Spec {
            let message = format!("`{}` is only for specifications", name.name);
            self.report(
                Diagnostic::new(Code::TypeNotHere, message, span, "not inside `spec { }`")
                    .help("models build their data from words, arrays and structs"),
            );
            return None;
        }
        let wanted = if name.name == "map" { 2 } else { 1 };
        if arguments.len() != wanted {
            let wanted = counted(wanted, "type");
            let message = format!("`{}` takes {wanted}, not {}", name.name, arguments.len());
            self.report(Diagnostic::new(
                Code::ArgumentCount,
                message,
                span,
                "wrong number of types",
            ));
            return None;
        }
        let arguments = arguments.iter().map(|ty| self.ty(ty)).collect::<Option<Vec<_>>>()?;
        let mut arguments = arguments.into_iter().map(Box::new);
        let first = arguments.next()?;
        Some(match name.name.as_str() {
            "seq" => Type::Seq(first),
            "set" => Type::Set(first),
            _ => Type::Map(first, arguments.next()?),
        })
    }

    /// The length of an array.
    pub(super) fn length(&mut self, length: &ast::Expr) -> Option<usize> {
        let value = self.constant(length, &Type::Int)?.as_int()?;
        let possible = usize::try_from(value).ok().filter(|length| *length <= limits::LENGTH);
        if possible.is_none() {
            self.too_long(value, length.span);
        }
        possible
    }

    pub(super) fn too_long(&mut self, length: impl std::fmt::Display, span: Span) {
        let message = format!("an array cannot have {length} elements");
        self.report(
            Diagnostic::new(Code::ArrayLength, message, span, "out of range")
                .help(format!("lengths go from 0 to {}", limits::LENGTH)),
        );
    }

    /// How a type is written, in backquotes.
    pub(super) fn type_name(&self, ty: &Type) -> String {
        format!("`{}`", self.bare_type_name(ty))
    }

    pub(super) fn bare_type_name(&self, ty: &Type) -> String {
        match ty {
            Type::Unit => "()".to_owned(),
            Type::Int => "int".to_owned(),
            Type::Wrapping(modulus) => format!("int % {modulus}"),
            Type::Bool => "bool".to_owned(),
            Type::Tid => "tid".to_owned(),
            Type::Lock => "lock".to_owned(),
            Type::Struct(at) => self.structs.get(*at).map_or_else(String::new, |s| s.name.clone()),
            Type::Record { name, .. } => name.clone(),
            Type::Option(inner) => format!("{}?", self.bare_type_name(inner)),
            Type::Tuple(items) => {
                let items: Vec<String> = items.iter().map(|ty| self.bare_type_name(ty)).collect();
                format!("({})", items.join(", "))
            }
            Type::Array(item, length) => format!("[{}; {length}]", self.bare_type_name(item)),
            Type::Seq(item) => format!("seq<{}>", self.bare_type_name(item)),
            Type::Set(item) => format!("set<{}>", self.bare_type_name(item)),
            Type::Map(key, value) => {
                format!("map<{}, {}>", self.bare_type_name(key), self.bare_type_name(value))
            }
        }
    }
}

/// The name, if the type is a plain or optional name.
fn named(ty: &TypeExpr) -> Option<&str> {
    match &ty.kind {
        TypeKind::Name(name) => Some(name),
        TypeKind::Option(inner) => named(inner),
        _ => None,
    }
}

/// Whether values of this type fit one word.
pub(super) fn is_word(ty: &Type) -> bool {
    match ty {
        Type::Int
        | Type::Wrapping(_)
        | Type::Bool
        | Type::Tid
        | Type::Lock
        | Type::Struct(_)
        | Type::Record { .. } => true,
        Type::Option(inner) => is_word(inner),
        Type::Unit
        | Type::Tuple(_)
        | Type::Array(..)
        | Type::Seq(_)
        | Type::Set(_)
        | Type::Map(..) => false,
    }
}

/// How many types this type is made of.
fn parts(ty: &Type) -> usize {
    1 + match ty {
        Type::Record { fields, .. } => fields.iter().map(|(_, ty)| parts(ty)).sum(),
        Type::Tuple(items) => items.iter().map(parts).sum(),
        Type::Array(inner, _) | Type::Option(inner) | Type::Seq(inner) | Type::Set(inner) => {
            parts(inner)
        }
        Type::Map(key, value) => parts(key) + parts(value),
        _ => 0,
    }
}

/// The value of a variable that has not been written; a `tid` has none.
pub(super) fn default_value(ty: &Type) -> Option<Value> {
    Some(match ty {
        Type::Unit | Type::Lock | Type::Struct(_) | Type::Option(_) => Value::Null,
        Type::Int | Type::Wrapping(_) => Value::Int(0),
        Type::Bool => Value::Bool(false),
        Type::Tid => return None,
        Type::Record { fields, .. } => {
            Value::list(fields.iter().map(|(_, ty)| default_value(ty)).collect::<Option<Vec<_>>>()?)
        }
        Type::Tuple(items) => {
            Value::list(items.iter().map(default_value).collect::<Option<Vec<_>>>()?)
        }
        Type::Array(item, length) => Value::list(vec![default_value(item)?; *length]),
        Type::Seq(_) => Value::list([]),
        Type::Set(_) => Value::Set(Default::default()),
        Type::Map(..) => Value::Map(Default::default()),
    })
}
