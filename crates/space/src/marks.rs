//! Which integers of a value of the specification are values that clients pass and get back.

use linchpin_ir::program::{Operation, Program, SpecSource, Type};
use linchpin_spec::Value;
use std::sync::Arc;

/// Which integers in a value are data: a tree beside the value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Marks {
    /// All of them.
    All,
    /// None of them.
    None,
    /// Those of each part of a record, a tuple or a list of arguments.
    Parts(Vec<Marks>),
    /// Those of every element of an array, a sequence or a set.
    Each(Box<Marks>),
    /// Those of keys, and of what they stand for.
    Map(Box<Marks>, Box<Marks>),
}

impl Marks {
    /// The integers of a type, but not its thread ids.
    fn of_type(ty: &Type) -> Marks {
        match ty {
            Type::Int | Type::Wrapping(_) => Marks::All,
            Type::Option(inner) => Marks::of_type(inner),
            Type::Record { fields, .. } => {
                Marks::Parts(fields.iter().map(|(_, ty)| Marks::of_type(ty)).collect())
            }
            Type::Tuple(items) => Marks::Parts(items.iter().map(Marks::of_type).collect()),
            Type::Array(item, _) | Type::Seq(item) | Type::Set(item) => {
                Marks::Each(Box::new(Marks::of_type(item)))
            }
            Type::Map(key, value) => {
                Marks::Map(Box::new(Marks::of_type(key)), Box::new(Marks::of_type(value)))
            }
            Type::Unit | Type::Bool | Type::Tid | Type::Lock | Type::Struct(_) => Marks::None,
        }
    }

    /// The value with every marked integer replaced.
    pub fn replaced(&self, value: &Value, by: &mut dyn FnMut(i64) -> i64) -> Value {
        let all = |marks: &Marks, items: &[Value], by: &mut dyn FnMut(i64) -> i64| {
            items.iter().map(|item| marks.replaced(item, by)).collect::<Vec<Value>>()
        };
        match (self, value) {
            (Marks::None, _) => value.clone(),
            (Marks::All, Value::Int(i)) => Value::Int(by(*i)),
            (Marks::Parts(parts), Value::List(items)) => {
                Value::list(items.iter().enumerate().map(|(at, item)| match parts.get(at) {
                    Some(marks) => marks.replaced(item, by),
                    None => item.clone(),
                }))
            }
            (Marks::Each(_) | Marks::All, Value::List(items)) => {
                Value::list(all(self.item(), items, by))
            }
            (Marks::Each(_) | Marks::All, Value::Set(items)) => {
                let marks = self.item();
                Value::Set(Arc::new(items.iter().map(|item| marks.replaced(item, by)).collect()))
            }
            (Marks::Map(..) | Marks::All, Value::Map(items)) => {
                let (key, item) = self.entry();
                let pairs = items.iter().map(|(k, v)| (key.replaced(k, by), item.replaced(v, by)));
                Value::Map(Arc::new(pairs.collect()))
            }
            _ => value.clone(),
        }
    }

    /// Visits every marked integer of a value.
    pub fn visit(&self, value: &Value, visit: &mut dyn FnMut(i64)) {
        match (self, value) {
            (Marks::None, _) => {}
            (Marks::All, Value::Int(i)) => visit(*i),
            (Marks::Parts(parts), Value::List(items)) => {
                parts.iter().zip(items.iter()).for_each(|(marks, item)| marks.visit(item, visit));
            }
            (Marks::Each(_) | Marks::All, Value::List(items)) => {
                items.iter().for_each(|item| self.item().visit(item, visit));
            }
            (Marks::Each(_) | Marks::All, Value::Set(items)) => {
                items.iter().for_each(|item| self.item().visit(item, visit));
            }
            (Marks::Map(..) | Marks::All, Value::Map(items)) => {
                let (key, item) = self.entry();
                items.iter().for_each(|(k, v)| {
                    key.visit(k, visit);
                    item.visit(v, visit);
                });
            }
            _ => {}
        }
    }

    fn item(&self) -> &Marks {
        match self {
            Marks::Each(marks) => marks,
            other => other,
        }
    }

    fn entry(&self) -> (&Marks, &Marks) {
        match self {
            Marks::Map(key, item) => (key, item),
            other => (other, other),
        }
    }
}

/// The data of a specification: in its state, in calls and in answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpecMarks {
    /// In its state.
    pub state: Marks,
    /// In the argument of each of its operations.
    pub arguments: Vec<Marks>,
    /// In what each of its operations answers.
    pub responses: Vec<Marks>,
}

impl SpecMarks {
    /// Where every integer is data: the specifications that treat all of them alike.
    pub fn all() -> SpecMarks {
        SpecMarks { state: Marks::All, arguments: Vec::new(), responses: Vec::new() }
    }

    /// Of a specification of the model's own with these marks of its variables.
    pub(crate) fn of(spec: &Program, variables: Vec<Marks>) -> SpecMarks {
        let argument = |operation: &Operation| {
            let mut marks: Vec<Marks> =
                operation.parameters.iter().map(|of| Marks::of_type(&of.ty)).collect();
            match marks.len() {
                1 => marks.remove(0),
                _ => Marks::Parts(marks),
            }
        };
        SpecMarks {
            state: Marks::Parts(variables),
            arguments: spec.operations.iter().map(argument).collect(),
            responses: spec.operations.iter().map(|of| Marks::of_type(&of.response)).collect(),
        }
    }

    /// In the argument of an operation of the specification.
    pub fn argument(&self, operation: usize) -> &Marks {
        self.arguments.get(operation).unwrap_or(&Marks::All)
    }

    /// In the answer of an operation of the specification.
    pub fn response(&self, operation: usize) -> &Marks {
        self.responses.get(operation).unwrap_or(&Marks::All)
    }
}

/// The specification of the model's own, if it has one.
pub(crate) fn own_spec(program: &Program) -> Option<&Program> {
    match &program.spec {
        SpecSource::Model(spec) => Some(spec),
        SpecSource::Builtin { .. } => None,
    }
}
