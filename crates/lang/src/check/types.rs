//! Types: from what is written to what is meant, their defaults and their names.

use super::Checker;
use crate::diagnostic::{Diagnostic, Span};
use crate::syntax::ast::{self, TypeExpr, TypeKind};
use linchpin_ir::program::{Struct, Type, Variable};
use linchpin_spec::Value;
use std::collections::HashMap;

/// The longest array. States are copied at every step, so anything longer is a mistake.
pub(super) const MAX_LENGTH: i64 = 4096;

/// The most words in one record.
const MAX_WORDS: usize = 64;

impl Checker<'_> {
    /// Collects structs and records. Struct names come first, because fields refer to them in any order.
    pub(super) fn types(&mut self, model: &ast::Model) {
        let mut records: HashMap<&str, &ast::Fields> = HashMap::new();
        for item in &model.items {
            match item {
                ast::Item::Struct(fields) => {
                    self.structs.push(Struct { name: fields.name.name.clone(), fields: Vec::new() });
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
        for (name, ty) in &declared.fields {
            self.reject_repeated_field(name, fields.iter().map(|field| field.name.as_str()));
            let Some(resolved) = self.storable(ty) else { continue };
            // A `tid` has no default; `new` must give it, and checks that.
            let initial = default_value(&resolved).unwrap_or_default();
            fields.push(Variable { name: name.name.clone(), ty: resolved, initial });
        }
        fields
    }

    fn reject_repeated_field<'a>(
        &mut self,
        name: &ast::Ident,
        mut before: impl Iterator<Item = &'a str>,
    ) {
        if before.any(|known| known == name.name) && !name.name.is_empty() {
            let message = format!("the field `{}` is declared twice", name.name);
            self.report(Diagnostic::new(message, name.span, "declared again"));
        }
    }

    /// Resolves a record and, before it, the records inside it.
    fn record(
        &mut self,
        declared: &ast::Fields,
        all: &HashMap<&str, &ast::Fields>,
        open: &mut Vec<String>,
    ) {
        let name = &declared.name.name;
        if self.records.contains_key(name) {
            return;
        }
        if open.contains(name) {
            let message = format!("the record `{name}` contains itself");
            self.report(
                Diagnostic::new(message, declared.name.span, "would have no end")
                    .help("a record is a small value; use a `struct` for linked objects"),
            );
            self.records.insert(name.clone(), Type::Record { name: name.clone(), fields: Vec::new() });
            return;
        }
        open.push(name.clone());
        for (_, ty) in &declared.fields {
            if let Some(inner) = named(ty).and_then(|name| all.get(name)) {
                self.record(inner, all, open);
            }
        }
        open.pop();
        let mut fields: Vec<(String, Type)> = Vec::new();
        for (field, ty) in &declared.fields {
            self.reject_repeated_field(field, fields.iter().map(|(name, _)| name.as_str()));
            let Some(resolved) = self.ty(ty) else { continue };
            if !is_word(&resolved) || resolved == Type::Lock {
                let message = format!("a record cannot contain {}", self.type_name(&resolved));
                self.report(
                    Diagnostic::new(message, ty.span, "not one word")
                        .help("a record fits one word: use a `struct`"),
                );
                continue;
            }
            fields.push((field.name.clone(), resolved));
        }
        let record = Type::Record { name: name.clone(), fields };
        if words(&record) > MAX_WORDS {
            let message = format!("the record `{name}` has more than {MAX_WORDS} components");
            self.report(Diagnostic::new(message, declared.name.span, "too large for one word"));
            return;
        }
        self.records.entry(name.clone()).or_insert(record);
    }

    /// A type that a shared variable or a field can have: a word or an array of words.
    pub(super) fn storable(&mut self, ty: &TypeExpr) -> Option<Type> {
        let resolved = self.ty(ty)?;
        let fits = match &resolved {
            Type::Array(item, _) => is_word(item),
            other => is_word(other),
        };
        if !fits {
            let message = format!("{} cannot be shared", self.type_name(&resolved));
            self.report(
                Diagnostic::new(message, ty.span, "not a word or an array of words").help(
                    "shared variables and fields hold `int`, `bool`, `T?`, references, records, locks, or arrays of those",
                ),
            );
            return None;
        }
        Some(resolved)
    }

    /// Resolves a type.
    pub(super) fn ty(&mut self, ty: &TypeExpr) -> Option<Type> {
        match &ty.kind {
            TypeKind::Missing => None,
            TypeKind::Name(name) => self.named_type(name, ty.span),
            TypeKind::Option(inner) => self.option_type(inner, ty.span),
            TypeKind::Tuple(items) => {
                let items = items.iter().map(|item| self.ty(item)).collect::<Option<Vec<_>>>()?;
                Some(if items.is_empty() { Type::Unit } else { Type::Tuple(items) })
            }
            TypeKind::Array(item, length) => {
                let item_ty = self.ty(item);
                let length = self.length(length);
                let (item_ty, length) = (item_ty?, length?);
                if !is_word(&item_ty) {
                    let message = format!("an array cannot hold {}", self.type_name(&item_ty));
                    self.report(
                        Diagnostic::new(message, item.span, "not a word")
                            .help("arrays hold words; for more, use an array of references to a `struct`"),
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
        self.unknown("type", &ident, known.chain(structs.iter().chain(&records).map(String::as_str)));
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
        self.report(Diagnostic::new(message, span, "this `?`").help(advice));
        None
    }

    fn collection_type(
        &mut self,
        name: &ast::Ident,
        arguments: &[TypeExpr],
        span: Span,
    ) -> Option<Type> {
        if !self.in_spec {
            let message = format!("`{}` is only for specifications", name.name);
            self.report(
                Diagnostic::new(message, span, "not inside `spec { }`")
                    .help("models build their data from words, arrays and structs"),
            );
            return None;
        }
        let wanted = if name.name == "map" { 2 } else { 1 };
        if arguments.len() != wanted {
            let message = format!("`{}` takes {wanted} type(s), not {}", name.name, arguments.len());
            self.report(Diagnostic::new(message, span, "wrong number of types"));
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
        if !(0..=MAX_LENGTH).contains(&value) {
            let message = format!("an array cannot have {value} elements");
            self.report(
                Diagnostic::new(message, length.span, "out of range")
                    .help(format!("lengths go from 0 to {MAX_LENGTH}")),
            );
            return None;
        }
        Some(value as usize)
    }

    /// How a type is written, in backquotes.
    pub(super) fn type_name(&self, ty: &Type) -> String {
        format!("`{}`", self.bare_type_name(ty))
    }

    fn bare_type_name(&self, ty: &Type) -> String {
        match ty {
            Type::Unit => "()".to_owned(),
            Type::Int => "int".to_owned(),
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
        Type::Int | Type::Bool | Type::Tid | Type::Lock | Type::Struct(_) | Type::Record { .. } => true,
        Type::Option(inner) => is_word(inner),
        Type::Unit | Type::Tuple(_) | Type::Array(..) | Type::Seq(_) | Type::Set(_) | Type::Map(..) => {
            false
        }
    }
}

fn words(ty: &Type) -> usize {
    match ty {
        Type::Record { fields, .. } => fields.iter().map(|(_, ty)| words(ty)).sum::<usize>().max(1),
        Type::Option(inner) => words(inner),
        _ => 1,
    }
}

/// The value of a variable that nobody has written; a `tid` has none.
pub(super) fn default_value(ty: &Type) -> Option<Value> {
    Some(match ty {
        Type::Unit | Type::Lock | Type::Struct(_) | Type::Option(_) => Value::Null,
        Type::Int => Value::Int(0),
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
