//! What an operation takes and answers, precisely enough to check a model or a history against it.

use std::fmt;

/// An operation of a specification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// Its name, as histories write it.
    pub name: String,
    /// The shape of the argument.
    pub argument: Shape,
    /// The shape of the response.
    pub response: Shape,
}

/// The shape of an argument or a response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Nothing (`null` in a history; whatever a recorder echoes there is ignored).
    Unit,
    /// `true` or `false`.
    Bool,
    /// An integer.
    Int,
    /// A string.
    Str,
    /// One of these strings.
    Word(&'static [&'static str]),
    /// Any one value.
    Any,
    /// A value of the inner shape, or `null`.
    Optional(Box<Shape>),
    /// A list with exactly these elements.
    Tuple(Vec<Shape>),
    /// A list with these elements. In a history also a map with these names.
    Record(Vec<(&'static str, Shape)>),
    /// A list of any length. In a history, a map is a list of its pairs.
    List(Box<Shape>),
}

impl Signature {
    /// Builds a signature.
    pub fn new(name: &str, argument: Shape, response: Shape) -> Signature {
        Signature { name: name.to_owned(), argument, response }
    }

    /// Whether `name` names this operation; `-` and `_` are the same letter.
    pub fn is_called(&self, name: &str) -> bool {
        same_name(&self.name, name)
    }
}

/// Whether two names are equal, `-` and `_` being the same letter.
pub(crate) fn same_name(one: &str, other: &str) -> bool {
    let plain = |c: char| if c == '-' { '_' } else { c };
    one.chars().map(plain).eq(other.chars().map(plain))
}

impl Shape {
    /// A value of this shape or `null`.
    pub fn or_null(self) -> Shape {
        Shape::Optional(Box::new(self))
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Shape::Unit => f.write_str("nothing"),
            Shape::Bool => f.write_str("bool"),
            Shape::Int => f.write_str("int"),
            Shape::Str => f.write_str("string"),
            Shape::Word(words) => f.write_str(&words.join("|")),
            Shape::Any => f.write_str("value"),
            Shape::Optional(inner) => write!(f, "{inner} or null"),
            Shape::Tuple(items) => {
                f.write_str("[")?;
                for (i, item) in items.iter().enumerate() {
                    let comma = if i == 0 { "" } else { ", " };
                    match item {
                        Shape::Unit => write!(f, "{comma}null")?,
                        item => write!(f, "{comma}{item}")?,
                    }
                }
                f.write_str("]")
            }
            Shape::Record(fields) => {
                let field = |(name, shape): &(&str, Shape)| format!("{name}: {shape}");
                let fields: Vec<String> = fields.iter().map(field).collect();
                write!(f, "{{{}}}", fields.join(", "))
            }
            Shape::List(item) => write!(f, "[{item}, …]"),
        }
    }
}

/// `enqueue value`, `dequeue → value or null`.
impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        if self.argument != Shape::Unit {
            write!(f, " {}", self.argument)?;
        }
        if self.response != Shape::Unit {
            write!(f, " → {}", self.response)?;
        }
        Ok(())
    }
}
