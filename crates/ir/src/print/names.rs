//! Expressions, places and actions with the names of the model.

use super::operators::{is_equality, level, levels, negated, parenthesize};
use crate::interpreter::{Line, Location, Root};
use crate::program::{
    Action, Body, Cell, Expr, LocalId, LocalTarget, Place, Point, Program, Type, UnaryOp,
};
use linchpin_spec::Value;

/// A body of a program, whose variables have names.
#[derive(Clone, Copy, Debug)]
pub struct Names<'a> {
    /// The program.
    pub program: &'a Program,
    /// The body whose locals are meant.
    pub body: &'a Body,
}

impl<'a> Names<'a> {
    /// The name of a local variable.
    pub fn local(&self, local: LocalId) -> &'a str {
        self.body.locals.get(local.0 as usize).map_or("?", |variable| &variable.name)
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

    /// An expression of a known type: a constant is printed as the type says (`none` and not
    /// `null`).
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
            Expr::Local(local) => self.local_within(*local, outer),
            Expr::ThreadLocal(variable) => self.thread_local(*variable).to_owned(),
            Expr::Me => "me".to_owned(),
            Expr::Unary(UnaryOp::ThreadNumber, inner) => {
                format!("int({})", self.expr_within(inner, level::ANY))
            }
            Expr::Unary(operator, inner) => {
                let inner = self.expr_within(inner, level::UNARY);
                parenthesize(format!("{operator}{inner}"), level::UNARY, outer)
            }
            Expr::Binary(operator, left, right) => {
                let (here, [on_left, on_right]) = levels(*operator);
                let side = |expr: &Expr, other: &Expr, level| match expr {
                    Expr::Const(_) if is_equality(*operator) => {
                        self.expr_as(expr, self.type_of(other))
                    }
                    _ => self.expr_within(expr, level),
                };
                let (left, right) = (side(left, right, on_left), side(right, left, on_right));
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

    /// A condition; `!(a == b)`, which is how the other branch of `if a == b` begins, is printed as
    /// `a != b`.
    fn condition(&self, condition: &Expr) -> String {
        if let Expr::Unary(UnaryOp::Not, inner) = condition
            && let Expr::Binary(operator, left, right) = &**inner
            && let Some(negated) = negated(*operator)
        {
            return self.expr(&Expr::Binary(negated, left.clone(), right.clone()));
        }
        if let Expr::Unary(UnaryOp::Not, inner) = condition
            && self.is_success(inner)
        {
            return "it fails".to_owned();
        }
        if self.is_success(condition) { "it succeeds".to_owned() } else { self.expr(condition) }
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

    /// A word of memory and its type: `top`, `slot[3]`, `@2.next`. `of` tells the struct of an
    /// object.
    pub fn location(
        &self,
        at: Location,
        of: impl Fn(u32) -> Option<usize>,
    ) -> (String, Option<&'a Type>) {
        let (name, ty) = match at.root {
            Root::Shared(variable) => {
                let ty = self.program.shared.get(variable).map(|variable| &variable.ty);
                (self.shared(variable).to_owned(), ty)
            }
            Root::Field { object, field } => {
                let of = of(object).unwrap_or(usize::MAX);
                (format!("@{object}.{}", self.field(of, field)), self.field_type(of, field))
            }
        };
        match (at.element, ty) {
            (Some(index), Some(Type::Array(item, _))) => (format!("{name}[{index}]"), Some(item)),
            (Some(index), _) => (format!("{name}[{index}]"), None),
            (None, ty) => (name, ty),
        }
    }

    /// A line of persistent memory: `top`, `slot[3]`, `@2`, `@2 (links)`.
    pub fn line(&self, line: Line, of: impl Fn(u32) -> Option<usize>) -> String {
        let persistence = self.program.persistence.as_ref();
        match line {
            Line::Shared(line) => persistence
                .and_then(|persistence| persistence.lines.get(line))
                .map_or("?".to_owned(), String::clone),
            Line::Element { variable, index } => format!("{}[{index}]", self.shared(variable)),
            Line::Object { object, line } => {
                let lines = persistence
                    .zip(of(object))
                    .and_then(|(persistence, of)| persistence.structs.get(of)?.as_ref());
                match lines.and_then(|lines| lines.names.get(line)?.as_ref()) {
                    Some(name) => format!("@{object} ({name})"),
                    None => format!("@{object}"),
                }
            }
        }
    }

    /// What a local assignment assigns.
    pub fn local_target(&self, target: &LocalTarget) -> String {
        match target {
            LocalTarget::Local(local) => self.local_within(*local, level::ANY),
            LocalTarget::ThreadLocal(variable) => self.thread_local(*variable).to_owned(),
            LocalTarget::Element(local, index) => {
                let local = self.local_within(*local, level::POSTFIX);
                format!("{local}[{}]", self.expr(index))
            }
            LocalTarget::Component(local, component) => {
                let ty = self.type_of(&Expr::Local(*local));
                let local = self.local_within(*local, level::POSTFIX);
                format!("{local}.{}", component_name(ty, *component))
            }
        }
    }

    /// An action.
    pub fn action(&self, action: &Action) -> String {
        let done = self.done(action);
        let into = match action {
            Action::Assign { local: LocalTarget::Local(local), .. } => Some(*local),
            // A part of a variable is named where it is assigned.
            Action::Assign { .. } => None,
            other => other.answer(),
        };
        match (action, into.map(|local| self.answer(local))) {
            (_, None) => done,
            (_, Some(Some(into))) => into + &done,
            (Action::Read { .. }, Some(None)) => format!("read {done}"),
            (Action::Assign { .. }, Some(None)) => format!("evaluate {done}"),
            (_, Some(None)) => done,
        }
    }

    /// What an action does, without where its answer goes.
    pub(super) fn done(&self, action: &Action) -> String {
        let value_at = |value: &Expr, place: &Place| self.expr_as(value, self.type_at(place));
        match action {
            Action::Guard(condition) => format!("when {}", self.condition(condition)),
            Action::Assign { local: local @ LocalTarget::Local(_), value } => {
                self.expr_as(value, self.type_of_target(local))
            }
            Action::Assign { local, value } => {
                let ty = self.type_of_target(local);
                format!("{} := {}", self.local_target(local), self.expr_as(value, ty))
            }
            Action::Choose { from, to, .. } => {
                format!("choose({}..{})", self.expr(from), self.expr(to))
            }
            Action::Assert(condition) => format!("assert({})", self.expr(condition)),
            Action::New { object, fields, .. } => {
                let field =
                    |i: usize, value: &Expr| self.expr_as(value, self.field_type(*object, i));
                let fields = fields.iter().enumerate().map(|(i, value)| field(i, value)).collect();
                format!("new {}", self.object_with(*object, fields))
            }
            Action::Free(object) => format!("free({})", self.expr(object)),
            Action::Read { place, .. } => self.place(place),
            Action::Write { place, value } => {
                format!("{} := {}", self.place(place), value_at(value, place))
            }
            Action::Cas { cells, .. } => self.cas(cells),
            Action::Swap { place, value, .. } => {
                format!("swap({}, {})", self.place(place), value_at(value, place))
            }
            Action::FetchAdd { place, value, .. } => {
                format!("faa({}, {})", self.place(place), self.expr(value))
            }
            Action::LoadLinked { place, .. } => format!("ll({})", self.place(place)),
            Action::StoreConditional { place, value, .. } => {
                format!("sc({}, {})", self.place(place), value_at(value, place))
            }
            Action::Lock(place) => format!("lock({})", self.place(place)),
            Action::Unlock(place) => format!("unlock({})", self.place(place)),
            Action::Flush(place) => format!("flush({})", self.place(place)),
            Action::Fence => "fence".to_owned(),
            Action::Persist(place) => format!("persist({})", self.place(place)),
            Action::Update { place, method, arguments, .. } => {
                format!("{}.{method}({})", self.place(place), self.exprs(arguments))
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
            Point::Returns { value, .. } => {
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
        Some(Type::Record { fields, .. }) if component < fields.len() => {
            fields[component].0.clone()
        }
        _ => component.to_string(),
    }
}
