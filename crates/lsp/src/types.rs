//! Types as people read them. What cannot be told is left open: the checker is the judge of types,
//! this is for hovers and for finding the fields of a value.

use linchpin_lang::syntax::ast::{TypeExpr, TypeKind};
use std::fmt;

/// A type, as far as it is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ty {
    /// `int`, `bool`, `tid`, `lock`, a struct or a record.
    Name(String),
    /// `T?`
    Option(Box<Ty>),
    /// `[T; N]`, with the length as it is written.
    Array(Box<Ty>, String),
    /// `(T, U)`
    Tuple(Vec<Ty>),
    /// `seq<T>`, `set<T>`, `map<K, V>`
    Collection(String, Vec<Ty>),
}

impl Ty {
    /// A type without parts.
    pub fn named(name: &str) -> Ty {
        Ty::Name(name.to_owned())
    }

    /// What is written; nothing where a part is missing.
    pub fn written(ty: &TypeExpr, source: &str) -> Option<Ty> {
        Some(match &ty.kind {
            TypeKind::Name(name) => Ty::named(name),
            TypeKind::Wrapping(modulus) => Ty::Name(format!("int % {}", modulus.span.text(source))),
            // In the function it is used like what it holds.
            TypeKind::Place(inner) => Ty::written(inner, source)?,
            TypeKind::Option(inner) => Ty::Option(Box::new(Ty::written(inner, source)?)),
            TypeKind::Array(item, length) => {
                let length = length.span.text(source).to_owned();
                Ty::Array(Box::new(Ty::written(item, source)?), length)
            }
            TypeKind::Tuple(parts) => Ty::Tuple(Ty::all(parts, source)?),
            TypeKind::Collection(name, parts) => {
                Ty::Collection(name.name.clone(), Ty::all(parts, source)?)
            }
            TypeKind::Missing => return None,
        })
    }

    fn all(types: &[TypeExpr], source: &str) -> Option<Vec<Ty>> {
        types.iter().map(|ty| Ty::written(ty, source)).collect()
    }

    /// What an element is, if there are any.
    pub fn item(&self) -> Option<Ty> {
        match self {
            Ty::Array(item, _) => Some((**item).clone()),
            Ty::Collection(name, parts) if name == "seq" => parts.first().cloned(),
            _ => None,
        }
    }

    /// What a method of a collection answers; nothing where it is not known or answers nothing.
    pub fn method(&self, method: &str) -> Option<Ty> {
        let Ty::Collection(name, parts) = self else {
            return (method == "len").then(|| Ty::named("int"));
        };
        let optional = |ty: &Ty| match ty {
            Ty::Option(_) => ty.clone(),
            other => Ty::Option(Box::new(other.clone())),
        };
        Some(match (name.as_str(), method) {
            (_, "len") => Ty::named("int"),
            (_, "contains") | ("set", "insert" | "remove") => Ty::named("bool"),
            ("seq" | "set", "first" | "last") | ("seq", "pop_back" | "pop_front") => {
                optional(parts.first()?)
            }
            ("seq", "remove_at") => parts.first()?.clone(),
            ("map", "get" | "remove" | "put") => optional(parts.get(1)?),
            _ => return None,
        })
    }
}

impl fmt::Display for Ty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let joined =
            |parts: &[Ty]| parts.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        match self {
            Ty::Name(name) => f.write_str(name),
            Ty::Option(inner) => write!(f, "{inner}?"),
            Ty::Array(item, length) => write!(f, "[{item}; {length}]"),
            Ty::Tuple(parts) => write!(f, "({})", joined(parts)),
            Ty::Collection(name, parts) => write!(f, "{name}<{}>", joined(parts)),
        }
    }
}
