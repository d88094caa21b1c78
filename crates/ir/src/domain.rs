//! The arguments that clients pass: finite domains, counted and numbered.

use crate::program::{Operation, Program, Type};
use linchpin_spec::Value;

/// What decides the domains besides the types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DomainBounds {
    /// An `int` without a range is one of `1..=values`.
    pub values: i64,
    /// A `tid` is one of `0..threads`.
    pub threads: usize,
}

/// A finite set of values, numbered from 0.
///
/// ```
/// use linchpin_ir::domain::{Domain, DomainBounds};
/// use linchpin_ir::program::Type;
///
/// let bounds = DomainBounds { values: 2, threads: 1 };
/// let optional = Domain::of(&Type::Option(Box::new(Type::Int)), None, bounds).unwrap();
/// let all: Vec<String> = optional.values().map(|value| value.to_string()).collect();
/// assert_eq!(all, ["null", "1", "2"]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Domain {
    /// Integers in a row.
    Integers {
        /// The smallest.
        from: i64,
        /// How many.
        count: u64,
    },
    /// `false` and `true`.
    Booleans,
    /// `null`, then the inner domain.
    Optional(Box<Domain>),
    /// Lists with one element of each; the first element changes fastest.
    Product(Vec<Domain>),
}

impl Domain {
    /// The values of a type that clients pass; `range` restricts the integers in it. `None`:
    /// clients cannot make values of this type.
    pub fn of(ty: &Type, range: Option<(i64, i64)>, bounds: DomainBounds) -> Option<Domain> {
        let inner = |ty: &Type| Domain::of(ty, range, bounds);
        Some(match ty {
            Type::Int => match range {
                Some((from, to)) => Domain::Integers { from, count: count(from, to) },
                None => Domain::Integers { from: 1, count: bounds.values.max(0) as u64 },
            },
            Type::Wrapping(count) => Domain::Integers { from: 0, count: (*count).max(0) as u64 },
            Type::Tid => Domain::Integers { from: 0, count: bounds.threads as u64 },
            Type::Bool => Domain::Booleans,
            Type::Option(ty) => Domain::Optional(Box::new(inner(ty)?)),
            Type::Tuple(items) => Domain::Product(items.iter().map(inner).collect::<Option<_>>()?),
            Type::Record { fields, .. } => {
                Domain::Product(fields.iter().map(|(_, ty)| inner(ty)).collect::<Option<_>>()?)
            }
            Type::Array(item, length) => Domain::Product(vec![inner(item)?; *length]),
            Type::Unit
            | Type::Lock
            | Type::Struct(_)
            | Type::Seq(_)
            | Type::Set(_)
            | Type::Map(..) => return None,
        })
    }

    /// The lists of arguments of an operation.
    pub fn of_arguments(operation: &Operation, bounds: DomainBounds) -> Option<Domain> {
        let parameters = operation.parameters.iter();
        let domains =
            parameters.map(|parameter| Domain::of(&parameter.ty, parameter.range, bounds));
        Some(Domain::Product(domains.collect::<Option<_>>()?))
    }

    /// Whether the bound on values changes what clients pass to any operation.
    pub fn depends_on_values(program: &Program) -> bool {
        let arguments = |operation, values| {
            Domain::of_arguments(operation, DomainBounds { values, threads: 1 })
        };
        program
            .operations
            .iter()
            .any(|operation| arguments(operation, 1) != arguments(operation, 2))
    }

    /// How many values there are ([`u64::MAX`] if there are more).
    pub fn size(&self) -> u64 {
        match self {
            Domain::Integers { count, .. } => *count,
            Domain::Booleans => 2,
            Domain::Optional(inner) => inner.size().saturating_add(1),
            Domain::Product(parts) => {
                parts.iter().fold(1, |size: u64, part| size.saturating_mul(part.size()))
            }
        }
    }

    /// The value with this number; `None` if there are not that many.
    pub fn nth(&self, number: u64) -> Option<Value> {
        if number >= self.size() {
            return None;
        }
        match self {
            Domain::Integers { from, .. } => from.checked_add_unsigned(number).map(Value::Int),
            Domain::Booleans => Some(Value::Bool(number == 1)),
            Domain::Optional(inner) => match number.checked_sub(1) {
                None => Some(Value::Null),
                Some(number) => inner.nth(number),
            },
            Domain::Product(parts) => {
                let mut rest = number;
                let mut item = |part: &Domain| {
                    let number = rest % part.size();
                    rest /= part.size();
                    part.nth(number)
                };
                parts.iter().map(&mut item).collect::<Option<Vec<_>>>().map(Value::list)
            }
        }
    }

    /// Every value, in order.
    pub fn values(&self) -> impl Iterator<Item = Value> + '_ {
        (0..self.size()).map_while(|number| self.nth(number))
    }
}

fn count(from: i64, to: i64) -> u64 {
    if from < to { to.abs_diff(from) } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOUNDS: DomainBounds = DomainBounds { values: 2, threads: 3 };

    fn shown(ty: Type, range: Option<(i64, i64)>) -> String {
        let domain = Domain::of(&ty, range, BOUNDS).unwrap();
        assert_eq!(domain.values().count() as u64, domain.size());
        assert_eq!(domain.nth(domain.size()), None);
        domain.values().map(|value| value.to_string()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn every_value_once() {
        assert_eq!(shown(Type::Int, None), "1 2");
        assert_eq!(shown(Type::Int, Some((-1, 2))), "-1 0 1");
        assert_eq!(shown(Type::Int, Some((2, 2))), "");
        assert_eq!(shown(Type::Tid, Some((7, 9))), "0 1 2");
        assert_eq!(shown(Type::Wrapping(4), None), "0 1 2 3");
        assert_eq!(shown(Type::Bool, None), "false true");
        let pair = Type::Tuple(vec![Type::Bool, Type::Option(Box::new(Type::Int))]);
        let expected = "[false, null] [true, null] [false, 1] [true, 1] [false, 2] [true, 2]";
        assert_eq!(shown(pair, None), expected);
        assert_eq!(shown(Type::Tuple(vec![]), None), "[]");
    }

    #[test]
    fn huge_and_impossible_domains() {
        let all = Domain::of(&Type::Int, Some((i64::MIN, i64::MAX)), BOUNDS).unwrap();
        assert_eq!(all.size(), u64::MAX);
        assert_eq!(all.nth(0), Some(Value::Int(i64::MIN)));
        let many = Domain::Product(vec![all; 3]);
        assert_eq!(many.size(), u64::MAX);
        assert!(many.nth(u64::MAX - 1).is_some());
        assert_eq!(Domain::of(&Type::Struct(0), None, BOUNDS), None);
    }
}
