//! Expressions, places and actions with the names of the model.

use crate::interpreter::Location;
use crate::program::{
    Action, BinaryOp, Body, Cell, Expr, LocalId, LocalTarget, Method, Place, Point, Program, Query,
    Type, UnaryOp,
};
use linchpin_spec::Value;
use std::fmt;

/// A body of a program, whose variables have names.
#[derive(Clone, Copy, Debug)]
pub struct Names<'a> {
    /// The program.
    pub program: &'a Program,
    /// The body whose locals are meant.
    pub body: &'a Body,
}

/// How tightly the operators bind, from loosest to tightest.
pub(super) mod level {
    pub const ANY: u8 = 0;
    pub const UNARY: u8 = 6;
    pub const POSTFIX: u8 = 7;
}

impl<'a> Names<'a> {
    /// The name of a local variable.
    pub fn local(&self, local: LocalId) -> &'a str {
        self.body.locals.get(local.0 as usize).map_or("?", |variable| &variable.name)
    }

    /// Whether the lowering made this variable.
    pub fn is_temporary(&self, local: LocalId) -> bool {
        self.local(local).starts_with('$')
    }

    /// `t := ` if the answer goes to a variable that the model names.
    pub(crate) fn answer(&self, into: LocalId) -> Option<String> {
        (!self.is_temporary(into)).then(|| format!("{} := ", self.local(into)))
    }

    /// The name of a variable that each thread keeps.
    pub fn thread_local(&self, variable: usize) -> &'a str {
        self.program.thread_locals.get(variable).map_or("?", |variable| &variable.name)
    }

    /// The name of a shared variable.
    pub fn shared(&self, variable: usize) -> &'a str {
        self.program.shared.get(variable).map_or("?", |variable| &variable.name)
    }

    /// The name of a struct.
    pub fn structure(&self, of: usize) -> &'a str {
        self.program.structs.get(of).map_or("?", |object| &object.name)
    }

    /// The name of a field.
    pub fn field(&self, of: usize, field: usize) -> &'a str {
        let fields = self.program.structs.get(of).map(|object| &object.fields);
        fields.and_then(|fields| fields.get(field)).map_or("?", |field| &field.name)
    }

    /// An expression.
    pub fn expr(&self, expr: &Expr) -> String {
        self.expr_within(expr, level::ANY)
    }

    /// An expression of a known type: a constant is printed as the type says (`none` and not `null`).
    pub fn expr_as(&self, expr: &Expr, ty: Option<&Type>) -> String {
        match expr {
            Expr::Const(value) => self.typed(value, ty),
            _ => self.expr(expr),
        }
    }

    /// An expression, in parentheses if its operator binds less tightly than `outer`.
    pub(super) fn expr_within(&self, expr: &Expr, outer: u8) -> String {
        match expr {
            Expr::Const(value) => self.typed(value, None),
            Expr::Local(local) => self.local(*local).to_owned(),
            Expr::ThreadLocal(variable) => self.thread_local(*variable).to_owned(),
            Expr::Me => "me".to_owned(),
            Expr::Unary(operator, inner) => {
                let inner = self.expr_within(inner, level::UNARY);
                parenthesize(format!("{operator}{inner}"), level::UNARY, outer)
            }
            Expr::Binary(operator, left, right) => {
                let (here, right_level) = levels(*operator);
                let side = |expr: &Expr, other: &Expr, level| match expr {
                    Expr::Const(_) if is_equality(*operator) => {
                        self.expr_as(expr, self.type_of(other))
                    }
                    _ => self.expr_within(expr, level),
                };
                let (left, right) = (side(left, right, here), side(right, left, right_level));
                parenthesize(format!("{left} {operator} {right}"), here, outer)
            }
            Expr::Component(record, component) => {
                let of = self.expr_within(record, level::POSTFIX);
                format!("{of}.{}", component_name(self.type_of(record), *component))
            }
            Expr::Element(list, index) => {
                format!("{}[{}]", self.expr_within(list, level::POSTFIX), self.expr(index))
            }
            Expr::List(items) => format!("[{}]", self.exprs(items)),
            Expr::If(condition, yes, no) => {
                let [condition, yes, no] = [condition, yes, no].map(|expr| self.expr(expr));
                parenthesize(format!("if {condition} {{ {yes} }} else {{ {no} }}"), 0, outer)
            }
            Expr::Unwrap(inner) => format!("unwrap({})", self.expr(inner)),
            Expr::Query(query, of, arguments) => {
                let of = self.expr_within(of, level::POSTFIX);
                format!("{of}.{query}({})", self.exprs(arguments))
            }
        }
    }

    fn exprs(&self, exprs: &[Expr]) -> String {
        exprs.iter().map(|expr| self.expr(expr)).collect::<Vec<_>>().join(", ")
    }

    /// A place.
    pub fn place(&self, place: &Place) -> String {
        let index = match place {
            Place::SharedElement(_, index) | Place::FieldElement { index, .. } => self.expr(index),
            Place::Shared(_) | Place::Field { .. } => String::new(),
        };
        self.place_with(place, index)
    }

    /// A place whose index has this value: `slot[3]` and not `slot[i]`.
    pub(crate) fn place_at(&self, place: &Place, at: Location) -> String {
        self.place_with(place, at.element.map_or(String::new(), |index| index.to_string()))
    }

    fn place_with(&self, place: &Place, index: String) -> String {
        let object = |object: &Expr| self.expr_within(object, level::POSTFIX);
        match place {
            Place::Shared(variable) => self.shared(*variable).to_owned(),
            Place::SharedElement(variable, _) => format!("{}[{index}]", self.shared(*variable)),
            Place::Field { object: of, of: ty, field } => {
                format!("{}.{}", object(of), self.field(*ty, *field))
            }
            Place::FieldElement { object: of, of: ty, field, .. } => {
                format!("{}.{}[{index}]", object(of), self.field(*ty, *field))
            }
        }
    }

    /// What a local assignment assigns.
    pub fn local_target(&self, target: &LocalTarget) -> String {
        match target {
            LocalTarget::Local(local) => self.local(*local).to_owned(),
            LocalTarget::ThreadLocal(variable) => self.thread_local(*variable).to_owned(),
            LocalTarget::Element(local, index) => {
                format!("{}[{}]", self.local(*local), self.expr(index))
            }
            LocalTarget::Component(local, component) => {
                let ty = self.type_of(&Expr::Local(*local));
                format!("{}.{}", self.local(*local), component_name(ty, *component))
            }
        }
    }

    /// An action.
    pub fn action(&self, action: &Action) -> String {
        let into = |local: &LocalId| self.local(*local);
        let value_at = |value: &Expr, place: &Place| self.expr_as(value, self.type_at(place));
        match action {
            Action::Guard(condition) => format!("when {}", self.expr(condition)),
            Action::Assign { local, value } => {
                let ty = self.type_of_target(local);
                format!("{} := {}", self.local_target(local), self.expr_as(value, ty))
            }
            Action::Choose { into: to_local, from, to } => {
                format!("{} := choose({}..{})", into(to_local), self.expr(from), self.expr(to))
            }
            Action::Assert(condition) => format!("assert({})", self.expr(condition)),
            Action::New { into: local, object, fields } => {
                let field = |i: usize, value: &Expr| self.expr_as(value, self.field_type(*object, i));
                let fields = fields.iter().enumerate().map(|(i, value)| field(i, value)).collect();
                format!("{} := new {}", into(local), self.object_with(*object, fields))
            }
            Action::Free(object) => format!("free({})", self.expr(object)),
            Action::Read { into: local, place } => format!("{} := {}", into(local), self.place(place)),
            Action::Write { place, value } => {
                format!("{} := {}", self.place(place), value_at(value, place))
            }
            Action::Cas { into: local, cells } => format!("{} := {}", into(local), self.cas(cells)),
            Action::Swap { into: local, place, value } => {
                format!("{} := swap({}, {})", into(local), self.place(place), value_at(value, place))
            }
            Action::FetchAdd { into: local, place, value } => {
                format!("{} := faa({}, {})", into(local), self.place(place), self.expr(value))
            }
            Action::LoadLinked { into: local, place } => {
                format!("{} := ll({})", into(local), self.place(place))
            }
            Action::StoreConditional { into: local, place, value } => {
                format!("{} := sc({}, {})", into(local), self.place(place), value_at(value, place))
            }
            Action::Lock(place) => format!("lock({})", self.place(place)),
            Action::Unlock(place) => format!("unlock({})", self.place(place)),
            Action::Update { into: local, place, method, arguments } => {
                let arguments = self.exprs(arguments);
                format!("{} := {}.{method}({arguments})", into(local), self.place(place))
            }
        }
    }

    fn cas(&self, cells: &[Cell]) -> String {
        let column = |show: &dyn Fn(&Cell) -> String| {
            let shown: Vec<String> = cells.iter().map(show).collect();
            if cells.len() == 1 { shown.concat() } else { format!("[{}]", shown.join(", ")) }
        };
        let ty = |cell: &Cell| self.type_at(&cell.place);
        let places = column(&|cell| self.place(&cell.place));
        let expected = column(&|cell| self.expr_as(&cell.expected, ty(cell)));
        let new = column(&|cell| self.expr_as(&cell.new, ty(cell)));
        format!("cas({places}, {expected}, {new})")
    }

    /// A claimed linearization point, as the model writes it.
    pub fn point(&self, point: &Point, response: &Type) -> String {
        match point {
            Point::When(Expr::Const(Value::Bool(true))) => "#[lin]".to_owned(),
            Point::When(condition) => format!("#[lin(when {})]", self.expr(condition)),
            Point::Returns(value) => {
                format!("#[lin(when returns {})]", self.expr_as(value, Some(response)))
            }
        }
    }

    /// `return`, `return t`.
    pub fn returned(&self, value: &Expr, response: &Type) -> String {
        match response {
            Type::Unit => "return".to_owned(),
            _ => format!("return {}", self.expr_as(value, Some(response))),
        }
    }
}

/// The name of a component: of a record its name, of a tuple its position.
pub(super) fn component_name(ty: Option<&Type>, component: usize) -> String {
    match ty {
        Some(Type::Record { fields, .. }) if component < fields.len() => fields[component].0.clone(),
        _ => component.to_string(),
    }
}

pub(super) fn parenthesize(text: String, level: u8, outer: u8) -> String {
    if level < outer { format!("({text})") } else { text }
}

pub(super) fn is_equality(operator: BinaryOp) -> bool {
    matches!(operator, BinaryOp::Equal | BinaryOp::NotEqual)
}

/// How tightly an operator binds, and what its right side must bind at least: operators of the same level group to the
/// left, comparisons do not group.
pub(super) fn levels(operator: BinaryOp) -> (u8, u8) {
    match operator {
        BinaryOp::Or => (1, 2),
        BinaryOp::And => (2, 3),
        BinaryOp::Equal
        | BinaryOp::NotEqual
        | BinaryOp::Less
        | BinaryOp::LessEqual
        | BinaryOp::Greater
        | BinaryOp::GreaterEqual => (3, 4),
        BinaryOp::Add | BinaryOp::Subtract => (4, 5),
        BinaryOp::Multiply | BinaryOp::Divide | BinaryOp::Remainder => (5, 6),
    }
}

impl fmt::Display for UnaryOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            UnaryOp::Not => "!",
            UnaryOp::Negate => "-",
        })
    }
}

impl fmt::Display for BinaryOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            BinaryOp::Add => "+",
            BinaryOp::Subtract => "-",
            BinaryOp::Multiply => "*",
            BinaryOp::Divide => "/",
            BinaryOp::Remainder => "%",
            BinaryOp::Equal => "==",
            BinaryOp::NotEqual => "!=",
            BinaryOp::Less => "<",
            BinaryOp::LessEqual => "<=",
            BinaryOp::Greater => ">",
            BinaryOp::GreaterEqual => ">=",
            BinaryOp::And => "&&",
            BinaryOp::Or => "||",
        })
    }
}

impl fmt::Display for Query {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Query::Len => "len",
            Query::Contains => "contains",
            Query::Get => "get",
            Query::First => "first",
            Query::Last => "last",
        })
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Method::PushBack => "push_back",
            Method::PushFront => "push_front",
            Method::PopBack => "pop_back",
            Method::PopFront => "pop_front",
            Method::Insert => "insert",
            Method::Remove => "remove",
            Method::Put => "put",
            Method::RemoveAt => "remove_at",
        })
    }
}
