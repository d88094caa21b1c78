//! Types, and values as their types say: `none`, `Mark { to: @2, dead: false }`, `held by thread
//! 1`.

use super::Names;
use crate::program::{Expr, LocalTarget, Operation, Place, Type};
use linchpin_spec::Value;

impl<'a> Names<'a> {
    /// A type.
    pub fn ty(&self, ty: &Type) -> String {
        match ty {
            Type::Unit => "()".to_owned(),
            Type::Int => "int".to_owned(),
            Type::Wrapping(count) => format!("int % {count}"),
            Type::Bool => "bool".to_owned(),
            Type::Tid => "tid".to_owned(),
            Type::Lock => "lock".to_owned(),
            Type::Struct(of) => self.structure(*of).to_owned(),
            Type::Record { name, .. } => name.clone(),
            Type::Option(inner) => format!("{}?", self.ty(inner)),
            Type::Tuple(items) => {
                let items: Vec<String> = items.iter().map(|item| self.ty(item)).collect();
                format!("({})", items.join(", "))
            }
            Type::Array(item, length) => format!("[{}; {length}]", self.ty(item)),
            Type::Seq(item) => format!("seq<{}>", self.ty(item)),
            Type::Set(item) => format!("set<{}>", self.ty(item)),
            Type::Map(key, value) => format!("map<{}, {}>", self.ty(key), self.ty(value)),
        }
    }

    /// A value of a type.
    pub fn value(&self, value: &Value, ty: &Type) -> String {
        self.typed(value, Some(ty))
    }

    /// A value of a type that is perhaps known.
    pub(crate) fn typed(&self, value: &Value, ty: Option<&Type>) -> String {
        match (ty, value) {
            (_, Value::Int(i64::MAX)) => "MAX".to_owned(),
            (_, Value::Int(i64::MIN)) => "MIN".to_owned(),
            (Some(Type::Option(_)), Value::Null) => "none".to_owned(),
            (Some(Type::Option(inner)), _) => self.value(value, inner),
            (Some(Type::Lock), Value::Null) => "free".to_owned(),
            (Some(Type::Lock), Value::Int(thread)) => format!("held by thread {thread}"),
            (Some(Type::Record { name, fields }), Value::List(items)) => {
                let component = |((field, ty), item): (&(String, Type), &Value)| {
                    format!("{field}: {}", self.value(item, ty))
                };
                let components: Vec<String> =
                    fields.iter().zip(items.iter()).map(component).collect();
                format!("{name} {{ {} }}", components.join(", "))
            }
            (Some(Type::Tuple(types)), Value::List(items)) => {
                let items = types.iter().zip(items.iter()).map(|(ty, item)| self.value(item, ty));
                format!("({})", items.collect::<Vec<_>>().join(", "))
            }
            (Some(Type::Array(ty, _) | Type::Seq(ty)), Value::List(items)) => {
                let items: Vec<String> = items.iter().map(|item| self.value(item, ty)).collect();
                format!("[{}]", items.join(", "))
            }
            _ => value.to_string(),
        }
    }

    /// A value that the place holds or gets.
    pub(crate) fn value_at(&self, place: &Place, value: &Value) -> String {
        self.typed(value, self.type_at(place))
    }

    /// `Node { val: 1, next: null }`.
    pub fn object(&self, of: usize, fields: &[Value]) -> String {
        let field = |(i, value): (usize, &Value)| self.typed(value, self.field_type(of, i));
        self.object_with(of, fields.iter().enumerate().map(field).collect())
    }

    pub(super) fn object_with(&self, of: usize, fields: Vec<String>) -> String {
        let field = |(i, value): (usize, String)| format!("{}: {value}", self.field(of, i));
        let fields: Vec<String> = fields.into_iter().enumerate().map(field).collect();
        match fields.as_slice() {
            [] => format!("{} {{}}", self.structure(of)),
            _ => format!("{} {{ {} }}", self.structure(of), fields.join(", ")),
        }
    }

    /// The arguments of a call, between commas.
    pub(crate) fn arguments(&self, operation: &Operation, arguments: &[Value]) -> String {
        let types = operation.parameters.iter().map(|parameter| Some(&parameter.ty));
        let types = types.chain(std::iter::repeat(None));
        let shown = arguments.iter().zip(types).map(|(value, ty)| self.typed(value, ty));
        shown.collect::<Vec<_>>().join(", ")
    }

    /// The type of an expression, where it is easy to tell.
    pub fn type_of(&self, expr: &Expr) -> Option<&'a Type> {
        match expr {
            Expr::Local(local) => Some(&self.body.locals.get(local.0 as usize)?.ty),
            Expr::ThreadLocal(variable) => Some(&self.program.thread_locals.get(*variable)?.ty),
            Expr::Component(record, component) => component_type(self.type_of(record)?, *component),
            Expr::Element(list, _) => element_type(self.type_of(list)?),
            Expr::Unwrap(inner) => match self.type_of(inner)? {
                Type::Option(inner) => Some(inner),
                _ => None,
            },
            Expr::If(_, yes, no) => self.type_of(yes).or_else(|| self.type_of(no)),
            _ => None,
        }
    }

    /// The type of a place.
    pub fn type_at(&self, place: &Place) -> Option<&'a Type> {
        let shared = |variable: &usize| Some(&self.program.shared.get(*variable)?.ty);
        match place {
            Place::Shared(variable) => shared(variable),
            Place::SharedElement(variable, _) => element_type(shared(variable)?),
            Place::Field { of, field, .. } => self.field_type(*of, *field),
            Place::FieldElement { of, field, .. } => element_type(self.field_type(*of, *field)?),
        }
    }

    pub(super) fn field_type(&self, of: usize, field: usize) -> Option<&'a Type> {
        Some(&self.program.structs.get(of)?.fields.get(field)?.ty)
    }

    /// The type of what a local assignment assigns.
    pub(crate) fn type_of_target(&self, target: &LocalTarget) -> Option<&'a Type> {
        match target {
            LocalTarget::Local(local) => self.type_of(&Expr::Local(*local)),
            LocalTarget::ThreadLocal(variable) => self.type_of(&Expr::ThreadLocal(*variable)),
            LocalTarget::Element(local, _) => element_type(self.type_of(&Expr::Local(*local))?),
            LocalTarget::Component(local, component) => {
                component_type(self.type_of(&Expr::Local(*local))?, *component)
            }
        }
    }
}

fn element_type(ty: &Type) -> Option<&Type> {
    match ty {
        Type::Array(item, _) | Type::Seq(item) => Some(item),
        _ => None,
    }
}

pub(super) fn component_type(ty: &Type, component: usize) -> Option<&Type> {
    match ty {
        Type::Record { fields, .. } => fields.get(component).map(|(_, ty)| ty),
        Type::Tuple(items) => items.get(component),
        _ => None,
    }
}
