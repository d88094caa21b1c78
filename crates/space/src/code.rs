//! The program, compiled: expressions over the words of a thread's region, actions over the words
//! of the state.

use crate::Unsupported;
use crate::layout::{Layout, Slot, flatten, flatten_local, kinds_of, routines_of, tagged, width};
use linchpin_ir::branch::{Branch, branches};
use linchpin_ir::program::{
    Action, BinaryOp, Body, Edge, Expr, LocalId, LocalTarget, Place, Point, Program, Target, Type,
    UnaryOp,
};

/// An expression and how many words its value has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Code {
    pub op: Op,
    pub width: usize,
}

/// What an expression does. Slots are relative to the thread's region.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    Const(Box<[i64]>),
    Slot(usize),
    Me,
    Not(Box<Code>),
    Negate(Box<Code>),
    Arithmetic(BinaryOp, Box<Code>, Box<Code>),
    Compare(BinaryOp, Box<Code>, Box<Code>),
    And(Box<Code>, Box<Code>),
    Or(Box<Code>, Box<Code>),
    Equal {
        left: Box<Code>,
        right: Box<Code>,
        negated: bool,
    },
    /// Some of the words of a value.
    Part(Box<Code>, usize),
    /// An element of a value of `length` elements.
    Element {
        of: Box<Code>,
        index: Box<Code>,
        length: usize,
    },
    List(Vec<Code>),
    If(Box<Code>, Box<Code>, Box<Code>),
    /// The value of an optional; `tagged` if a word of its own tells whether there is one.
    Unwrap {
        of: Box<Code>,
        tagged: bool,
    },
    /// A value as an optional with a tag.
    Wrap(Box<Code>),
    /// A thread id as a number, and back: what makes threads distinguishable.
    NumberOfTid(Box<Code>),
    TidOfNumber(Box<Code>),
}

impl Code {
    /// Whether one of two conditions holds wherever the other does not, as far as their form shows.
    pub fn is_opposite(&self, other: &Code) -> bool {
        let opposite = |operator: BinaryOp| match operator {
            BinaryOp::Less => Some(BinaryOp::GreaterEqual),
            BinaryOp::LessEqual => Some(BinaryOp::Greater),
            BinaryOp::Greater => Some(BinaryOp::LessEqual),
            BinaryOp::GreaterEqual => Some(BinaryOp::Less),
            _ => None,
        };
        match (&self.op, &other.op) {
            (Op::Not(inner), _) if **inner == *other => true,
            (_, Op::Not(inner)) if **inner == *self => true,
            (
                Op::Equal { left, right, negated },
                Op::Equal { left: same_left, right: same_right, negated: other },
            ) => negated != other && left == same_left && right == same_right,
            (Op::Compare(one, left, right), Op::Compare(other, same_left, same_right)) => {
                opposite(*one) == Some(*other) && left == same_left && right == same_right
            }
            _ => false,
        }
    }
}

/// A word, or several, of shared memory.
#[derive(Clone, Debug)]
pub(crate) struct Address {
    pub base: Base,
    /// The element, if the access is to one element of an array, and how many there are.
    pub element: Option<(Code, usize)>,
    /// How many words are accessed.
    pub width: usize,
    /// How many words are stored at once: fewer than all where a whole array is written.
    pub part: usize,
    /// The variable or field, for independence.
    pub class: Class,
}

/// Where an address starts.
#[derive(Clone, Debug)]
pub(crate) enum Base {
    /// At a word of the shared variables.
    Shared(usize),
    /// At a word of the object.
    Object { object: Code, of: usize, at: usize },
}

/// A shared variable, or a field of a struct: what two accesses must have in common to touch the
/// same word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Class {
    /// A shared variable.
    Shared(usize),
    /// A field: struct and field.
    Field(usize, usize),
}

/// A local that gets what was read: as it is, or as an optional with a tag.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Into {
    pub at: usize,
    pub wrap: bool,
}

/// An action.
#[derive(Clone, Debug)]
pub(crate) enum Act {
    Guard(Code),
    Assert(Code),
    /// Words of the region.
    Assign {
        at: usize,
        value: Code,
    },
    /// An element of a local array.
    AssignElement {
        at: usize,
        length: usize,
        index: Code,
        value: Code,
    },
    Choose {
        into: usize,
        from: Code,
        to: Code,
    },
    New {
        into: usize,
        of: usize,
        fields: Vec<Code>,
        /// Which words type-stable memory leaves as they were.
        kept: Vec<bool>,
    },
    Free {
        object: Code,
        of: usize,
    },
    Read {
        into: Into,
        from: Address,
    },
    Write {
        to: Address,
        value: Code,
    },
    Cas {
        into: usize,
        cells: Vec<(Address, Code, Code)>,
    },
    Swap {
        into: Into,
        at: Address,
        value: Code,
    },
    FetchAdd {
        into: Into,
        at: Address,
        value: Code,
    },
    LoadLinked {
        into: Into,
        from: Address,
    },
    StoreConditional {
        into: usize,
        to: Address,
        value: Code,
    },
    Lock(Address),
    Unlock(Address),
    /// Notes the lines of a place for the next fence. Where there are no crashes, nothing changes,
    /// but the place must exist.
    Flush(Address),
    /// Takes away the images that the thread has flushed.
    Fence,
    /// A flush and a fence.
    Persist(Address),
}

/// A branch of a node's tree of edges, see [`linchpin_ir::branch`].
#[derive(Clone, Debug)]
pub(crate) struct Fork {
    pub edge: usize,
    pub acts: Vec<Act>,
    /// Linearization points before the act with this number; they belong to the edges that go on
    /// through here.
    pub points: Vec<(usize, Mark)>,
    pub then: Vec<Fork>,
}

/// A claimed linearization point.
#[derive(Clone, Debug)]
pub(crate) enum Mark {
    When(Code),
    Returns { value: Code, number: usize },
}

/// Where an edge ends.
#[derive(Clone, Debug)]
pub(crate) enum Goal {
    Node(usize),
    Return(Code),
}

/// A node.
#[derive(Clone, Debug)]
pub(crate) struct Junction {
    pub yields: bool,
    pub forks: Vec<Fork>,
    pub goals: Vec<Goal>,
}

/// An operation.
#[derive(Clone, Debug)]
pub(crate) struct Routine {
    pub nodes: Vec<Junction>,
    pub entry: usize,
    /// The words of the locals at the start: parameters are filled in.
    pub start: Vec<i64>,
    pub parameters: Vec<(Slot, Type)>,
    pub requires: Option<Code>,
    /// For each node, its place in an order that all edges follow but those that close a loop.
    pub ranks: Vec<usize>,
}

/// Compiles everything that is executed: operations, then recovery.
pub(crate) fn routines(program: &Program, layout: &Layout) -> Result<Vec<Routine>, Unsupported> {
    let bodies = routines_of(program).into_iter().enumerate();
    bodies.map(|(index, (body, answer))| routine(program, layout, index, body, answer)).collect()
}

/// Compiles one operation, or one of the bodies that run after a crash.
fn routine(
    program: &Program,
    layout: &Layout,
    operation: usize,
    body: &Body,
    answer: Type,
) -> Result<Routine, Unsupported> {
    let mut compiler = Compiler { program, layout, operation, body, answer, guesses: Vec::new() };
    let mut nodes = Vec::new();
    for node in &body.nodes {
        let forks = branches(node)
            .iter()
            .map(|branch| compiler.fork(&node.edges, branch))
            .collect::<Result<_, _>>()?;
        let goals = node.edges.iter().map(|edge| compiler.goal(edge)).collect::<Result<_, _>>()?;
        nodes.push(Junction { yields: node.yields, forks, goals });
    }
    let mut start = Vec::new();
    for local in &body.locals {
        flatten_local(&local.initial, &local.ty, &mut start)?;
    }
    let of = program.operations.get(operation);
    let parameters = of.map_or(&[][..], |of| &of.parameters).iter().enumerate();
    let requires = of.and_then(|of| of.requires.as_ref());
    Ok(Routine {
        nodes,
        entry: body.entry.0 as usize,
        start,
        parameters: parameters.map(|(i, p)| (layout.locals[operation][i], p.ty.clone())).collect(),
        requires: requires.map(|e| compiler.compile(e, &Type::Bool)).transpose()?,
        ranks: ranks(body),
    })
}

/// For each node of a body its place in an order that all edges follow but those that close a loop:
/// nodes that no edge leads to come last.
fn ranks(body: &Body) -> Vec<usize> {
    let count = body.nodes.len();
    let targets = |node: usize| {
        let edges = body.nodes[node].edges.iter();
        edges.filter_map(|edge| match &edge.target {
            Target::Node(next) => Some(next.0 as usize),
            Target::Return(_) => None,
        })
    };
    let mut ranks = vec![usize::MAX; count];
    let mut entered = vec![false; count];
    let mut next = count;
    // Depth first; a node is numbered when all that follows it is, from the last number down.
    let mut stack = vec![(body.entry.0 as usize, false)];
    while let Some((node, done)) = stack.pop() {
        if done {
            next -= 1;
            ranks[node] = next;
        } else if node < count && !std::mem::replace(&mut entered[node], true) {
            stack.push((node, true));
            stack.extend(targets(node).map(|next| (next, false)));
        }
    }
    ranks
}

/// So many claims that depend on the answer of one operation can be told apart: those who keep them
/// beside answers have a byte for them.
const MOST_GUESSES: usize = 255;

struct Compiler<'a> {
    program: &'a Program,
    layout: &'a Layout,
    operation: usize,
    body: &'a Body,
    /// What the body answers.
    answer: Type,
    /// Where the source has the claims that depend on what it answers.
    guesses: Vec<u32>,
}

impl Compiler<'_> {
    fn fork(&mut self, edges: &[Edge], branch: &Branch) -> Result<Fork, Unsupported> {
        let edge = &edges[branch.edge];
        let actions = &edge.actions[branch.actions.clone()];
        let acts = actions.iter().map(|(action, _)| self.act(action)).collect::<Result<_, _>>()?;
        // A point belongs to an edge. Where several edges share the actions around it, all of them
        // carry it; a point at the very end of a shared stretch belongs to the stretch in which its
        // edge goes on alone.
        let mut points = Vec::new();
        for (at, point) in &edge.points {
            let last = branch.then.is_empty() && *at == branch.actions.end;
            if branch.actions.contains(at) || last {
                let mark = match point {
                    Point::When(condition) => Mark::When(self.compile(condition, &Type::Bool)?),
                    Point::Returns { value, place } => {
                        let known = self.guesses.iter().position(|guess| guess == place);
                        let number = known.unwrap_or_else(|| {
                            self.guesses.push(*place);
                            self.guesses.len() - 1
                        });
                        if number >= MOST_GUESSES {
                            let what = format!("more than {MOST_GUESSES} claims `when returns`");
                            return Err(Unsupported(what));
                        }
                        Mark::Returns { value: self.compile(value, &self.answer)?, number }
                    }
                };
                points.push((*at - branch.actions.start, mark));
            }
        }
        let then =
            branch.then.iter().map(|next| self.fork(edges, next)).collect::<Result<_, _>>()?;
        Ok(Fork { edge: branch.edge, acts, points, then })
    }

    fn goal(&self, edge: &Edge) -> Result<Goal, Unsupported> {
        Ok(match &edge.target {
            Target::Node(node) => Goal::Node(node.0 as usize),
            Target::Return(_) if self.answer == Type::Unit => {
                Goal::Return(Code { op: Op::Const(Box::new([])), width: 0 })
            }
            Target::Return(value) => Goal::Return(self.compile(value, &self.answer)?),
        })
    }

    fn local(&self, local: LocalId) -> Result<(Slot, &Type), Unsupported> {
        let slots = &self.layout.locals[self.operation];
        match (slots.get(local.0 as usize), self.body.locals.get(local.0 as usize)) {
            (Some(slot), Some(variable)) => Ok((*slot, &variable.ty)),
            _ => Err(Unsupported("a local variable that does not exist".to_owned())),
        }
    }

    fn act(&self, action: &Action) -> Result<Act, Unsupported> {
        let into = |local: &LocalId| self.local(*local).map(|(slot, _)| slot.at);
        Ok(match action {
            Action::Guard(condition) => Act::Guard(self.compile(condition, &Type::Bool)?),
            Action::Assert(condition) => Act::Assert(self.compile(condition, &Type::Bool)?),
            Action::Assign { local, value } => self.assign(local, value)?,
            Action::Choose { into: local, from, to } => Act::Choose {
                into: into(local)?,
                from: self.compile(from, &Type::Int)?,
                to: self.compile(to, &Type::Int)?,
            },
            Action::New { into: local, object, fields, given } => {
                let types = &self.program.structs[*object].fields;
                let mut kept = Vec::new();
                for (field, given) in types.iter().zip(given) {
                    kept.extend(vec![!given; width(&field.ty)?]);
                }
                let fields = fields.iter().zip(types);
                let fields = fields.map(|(value, field)| self.compile(value, &field.ty));
                Act::New {
                    into: into(local)?,
                    of: *object,
                    fields: fields.collect::<Result<_, _>>()?,
                    kept,
                }
            }
            Action::Free(object) => match self.infer(object) {
                Some(ty @ Type::Struct(of)) => Act::Free { object: self.compile(object, &ty)?, of },
                _ => return Err(Unsupported("`free` of something else than an object".to_owned())),
            },
            Action::Read { into: local, place } => {
                let (from, ty) = self.address(place)?;
                Act::Read { into: self.receive(*local, &ty)?, from }
            }
            Action::Write { place, value } => {
                let (to, ty) = self.address(place)?;
                Act::Write { to, value: self.compile(value, &ty)? }
            }
            Action::Cas { into: local, cells } => {
                let cell = |cell: &linchpin_ir::program::Cell| {
                    let (at, ty) = self.address(&cell.place)?;
                    Ok((at, self.compile(&cell.expected, &ty)?, self.compile(&cell.new, &ty)?))
                };
                let cells = cells.iter().map(cell).collect::<Result<_, Unsupported>>()?;
                Act::Cas { into: into(local)?, cells }
            }
            Action::Swap { into: local, place, value } => {
                let (at, ty) = self.address(place)?;
                let value = self.compile(value, &ty)?;
                Act::Swap { into: self.receive(*local, &ty)?, at, value }
            }
            Action::FetchAdd { into: local, place, value } => Act::FetchAdd {
                into: self.receive(*local, &Type::Int)?,
                at: self.address(place)?.0,
                value: self.compile(value, &Type::Int)?,
            },
            Action::LoadLinked { into: local, place } => {
                let (from, ty) = self.address(place)?;
                Act::LoadLinked { into: self.receive(*local, &ty)?, from }
            }
            Action::StoreConditional { into: local, place, value } => {
                let (to, ty) = self.address(place)?;
                Act::StoreConditional { into: into(local)?, to, value: self.compile(value, &ty)? }
            }
            Action::Lock(place) => Act::Lock(self.address(place)?.0),
            Action::Unlock(place) => Act::Unlock(self.address(place)?.0),
            Action::Flush(place) => Act::Flush(self.address(place)?.0),
            Action::Persist(place) => Act::Persist(self.address(place)?.0),
            Action::Fence => Act::Fence,
            Action::Update { .. } => {
                return Err(Unsupported("a collection in an implementation".to_owned()));
            }
        })
    }

    /// How a local receives a value of this type from shared memory.
    fn receive(&self, local: LocalId, ty: &Type) -> Result<Into, Unsupported> {
        let (slot, of) = self.local(local)?;
        let same = kinds_of(ty)? == kinds_of(of)?;
        let wrap = match of {
            Type::Option(inner) if !same && tagged(of) => kinds_of(inner)? == kinds_of(ty)?,
            _ => false,
        };
        if same || wrap {
            Ok(Into { at: slot.at, wrap })
        } else {
            Err(Unsupported(format!("a {ty:?} read into a {of:?}")))
        }
    }

    fn assign(&self, target: &LocalTarget, value: &Expr) -> Result<Act, Unsupported> {
        Ok(match target {
            LocalTarget::Local(local) => {
                let (slot, ty) = self.local(*local)?;
                Act::Assign { at: slot.at, value: self.compile(value, ty)? }
            }
            LocalTarget::ThreadLocal(variable) => {
                let ty = &self.program.thread_locals[*variable].ty;
                let at = self.layout.variables[*variable].at;
                Act::Assign { at, value: self.compile(value, ty)? }
            }
            LocalTarget::Element(local, index) => match self.local(*local)? {
                (slot, Type::Array(item, length)) => Act::AssignElement {
                    at: slot.at,
                    length: *length,
                    index: self.compile(index, &Type::Int)?,
                    value: self.compile(value, item)?,
                },
                _ => return Err(Unsupported("an element of something else than an array".into())),
            },
            LocalTarget::Component(local, component) => {
                let (slot, ty) = self.local(*local)?;
                let (at, ty) = component_of(ty, *component)?;
                Act::Assign { at: slot.at + at, value: self.compile(value, &ty)? }
            }
        })
    }

    fn address(&self, place: &Place) -> Result<(Address, Type), Unsupported> {
        let (base, class, ty, index) = match place {
            Place::Shared(v) => (self.shared(*v)?, Class::Shared(*v), self.shared_type(*v), None),
            Place::SharedElement(v, index) => {
                (self.shared(*v)?, Class::Shared(*v), self.shared_type(*v), Some(index))
            }
            Place::Field { object, of, field } => {
                let (base, ty) = self.field(object, *of, *field)?;
                (base, Class::Field(*of, *field), ty, None)
            }
            Place::FieldElement { object, of, field, index } => {
                let (base, ty) = self.field(object, *of, *field)?;
                (base, Class::Field(*of, *field), ty, Some(index))
            }
        };
        let (element, ty) = match (index, ty) {
            (None, ty) => (None, ty),
            (Some(index), Type::Array(item, length)) => {
                (Some((self.compile(index, &Type::Int)?, length)), *item)
            }
            _ => return Err(Unsupported("an element of something else than an array".to_owned())),
        };
        let part = match &ty {
            Type::Array(item, _) => width(item)?,
            other => width(other)?,
        };
        Ok((Address { base, element, width: width(&ty)?, part, class }, ty))
    }

    fn shared(&self, variable: usize) -> Result<Base, Unsupported> {
        let slot = self.layout.shared.get(variable);
        slot.map(|slot| Base::Shared(slot.at))
            .ok_or_else(|| Unsupported("a shared variable".into()))
    }

    fn shared_type(&self, variable: usize) -> Type {
        self.program.shared[variable].ty.clone()
    }

    fn field(&self, object: &Expr, of: usize, field: usize) -> Result<(Base, Type), Unsupported> {
        let object = self.compile(object, &Type::Struct(of))?;
        let at = self.layout.fields[of][field].at;
        Ok((Base::Object { object, of, at }, self.program.structs[of].fields[field].ty.clone()))
    }

    /// An expression whose words are laid out as those of the type.
    fn compile(&self, expr: &Expr, expected: &Type) -> Result<Code, Unsupported> {
        let words = width(expected)?;
        let code = |op: Op| Code { op, width: words };
        match (expr, expected) {
            (Expr::Const(value), _) => {
                let mut out = Vec::new();
                flatten(value, expected, &mut out)?;
                return Ok(code(Op::Const(out.into())));
            }
            (Expr::If(condition, yes, no), _) => {
                let condition = self.compile(condition, &Type::Bool)?;
                let (yes, no) = (self.compile(yes, expected)?, self.compile(no, expected)?);
                return Ok(code(Op::If(condition.into(), yes.into(), no.into())));
            }
            (Expr::List(_), Type::Option(inner)) => {
                let inner_code = self.compile(expr, inner)?;
                return Ok(if tagged(expected) {
                    code(Op::Wrap(inner_code.into()))
                } else {
                    inner_code
                });
            }
            (Expr::List(items), _) => {
                let types: Vec<Type> = match expected {
                    Type::Record { fields, .. } => {
                        fields.iter().map(|(_, ty)| ty.clone()).collect()
                    }
                    Type::Tuple(types) => types.clone(),
                    Type::Array(item, length) => vec![(**item).clone(); *length],
                    _ => return Err(Unsupported(format!("a list where {expected:?} is expected"))),
                };
                if types.len() != items.len() {
                    return Err(Unsupported("a list of another length".to_owned()));
                }
                let items = items.iter().zip(&types).map(|(item, ty)| self.compile(item, ty));
                return Ok(code(Op::List(items.collect::<Result<_, _>>()?)));
            }
            _ => {}
        }
        let ty =
            self.infer(expr).ok_or_else(|| Unsupported("an expression of no type".to_owned()))?;
        let native = self.native(expr, &ty)?;
        coerce(native, &ty, expected)
    }

    /// An expression that is no constant, list or `if`, laid out as its own type.
    fn native(&self, expr: &Expr, ty: &Type) -> Result<Code, Unsupported> {
        let words = width(ty)?;
        let op = match expr {
            Expr::Local(local) => Op::Slot(self.local(*local)?.0.at),
            Expr::ThreadLocal(variable) => Op::Slot(self.layout.variables[*variable].at),
            Expr::Me => Op::Me,
            Expr::Unary(UnaryOp::Not, inner) => Op::Not(self.compile(inner, &Type::Bool)?.into()),
            Expr::Unary(UnaryOp::Negate, inner) => {
                Op::Negate(self.compile(inner, &Type::Int)?.into())
            }
            Expr::Unary(UnaryOp::ThreadNumber, inner) => {
                Op::NumberOfTid(self.compile(inner, &Type::Tid)?.into())
            }
            Expr::Binary(operator, left, right) => self.binary(*operator, left, right)?,
            Expr::Component(record, component) => {
                let of = self.typed(record)?;
                let (at, _) = component_of(&of, *component)?;
                match self.compile(record, &of)? {
                    Code { op: Op::Slot(start), .. } => Op::Slot(start + at),
                    whole => Op::Part(whole.into(), at),
                }
            }
            Expr::Element(list, index) => {
                let of = self.typed(list)?;
                let Type::Array(_, length) = &of else {
                    return Err(Unsupported("an element of something else than an array".into()));
                };
                let index = self.compile(index, &Type::Int)?;
                Op::Element {
                    length: *length,
                    of: self.compile(list, &of)?.into(),
                    index: index.into(),
                }
            }
            Expr::Unwrap(inner) => {
                let of = self.typed(inner)?;
                Op::Unwrap { tagged: tagged(&of), of: self.compile(inner, &of)?.into() }
            }
            Expr::Query(..) => return Err(Unsupported("a question to a collection".to_owned())),
            Expr::Const(_) | Expr::List(_) | Expr::If(..) => return self.compile(expr, ty),
        };
        Ok(Code { op, width: words })
    }

    fn binary(&self, operator: BinaryOp, left: &Expr, right: &Expr) -> Result<Op, Unsupported> {
        let both = |ty: &Type| -> Result<(Box<Code>, Box<Code>), Unsupported> {
            Ok((self.compile(left, ty)?.into(), self.compile(right, ty)?.into()))
        };
        Ok(match operator {
            BinaryOp::And => both(&Type::Bool).map(|(left, right)| Op::And(left, right))?,
            BinaryOp::Or => both(&Type::Bool).map(|(left, right)| Op::Or(left, right))?,
            BinaryOp::Equal | BinaryOp::NotEqual => {
                let negated = operator == BinaryOp::NotEqual;
                match common(self.infer(left), self.infer(right)) {
                    Some(ty) => {
                        let (left, right) = both(&ty)?;
                        Op::Equal { left, right, negated }
                    }
                    None => match (left, right) {
                        (Expr::Const(left), Expr::Const(right)) => {
                            Op::Const(Box::new([i64::from((left == right) != negated)]))
                        }
                        _ => return Err(Unsupported("a comparison of values of no type".into())),
                    },
                }
            }
            BinaryOp::Less | BinaryOp::LessEqual | BinaryOp::Greater | BinaryOp::GreaterEqual => {
                both(&Type::Int).map(|(left, right)| Op::Compare(operator, left, right))?
            }
            BinaryOp::Add
            | BinaryOp::Subtract
            | BinaryOp::Multiply
            | BinaryOp::Divide
            | BinaryOp::Remainder
            | BinaryOp::BitAnd
            | BinaryOp::BitOr
            | BinaryOp::BitXor
            | BinaryOp::ShiftLeft
            | BinaryOp::ShiftRight => {
                both(&Type::Int).map(|(left, right)| Op::Arithmetic(operator, left, right))?
            }
        })
    }

    fn typed(&self, expr: &Expr) -> Result<Type, Unsupported> {
        self.infer(expr).ok_or_else(|| Unsupported("an expression of no type".to_owned()))
    }

    /// The type of an expression; `None` for a constant that has many (`null`).
    fn infer(&self, expr: &Expr) -> Option<Type> {
        use linchpin_spec::Value;
        Some(match expr {
            Expr::Const(Value::Int(_)) => Type::Int,
            Expr::Const(Value::Bool(_)) => Type::Bool,
            Expr::Const(Value::List(items)) => {
                let items = items.iter().map(|item| self.infer(&Expr::Const(item.clone())));
                Type::Tuple(items.collect::<Option<_>>()?)
            }
            Expr::Const(_) => return None,
            Expr::Local(local) => self.local(*local).ok()?.1.clone(),
            Expr::ThreadLocal(variable) => self.program.thread_locals.get(*variable)?.ty.clone(),
            Expr::Me => Type::Tid,
            Expr::Unary(UnaryOp::Not, _) => Type::Bool,
            Expr::Unary(UnaryOp::Negate | UnaryOp::ThreadNumber, _) => Type::Int,
            Expr::Binary(operator, ..) => match operator {
                BinaryOp::Add
                | BinaryOp::Subtract
                | BinaryOp::Multiply
                | BinaryOp::Divide
                | BinaryOp::Remainder
                | BinaryOp::BitAnd
                | BinaryOp::BitOr
                | BinaryOp::BitXor
                | BinaryOp::ShiftLeft
                | BinaryOp::ShiftRight => Type::Int,
                _ => Type::Bool,
            },
            Expr::Component(record, component) => {
                component_of(&self.infer(record)?, *component).ok()?.1
            }
            Expr::Element(list, _) => match self.infer(list)? {
                Type::Array(item, _) => *item,
                Type::Tuple(items) => items.first()?.clone(),
                _ => return None,
            },
            Expr::List(items) => {
                Type::Tuple(items.iter().map(|item| self.infer(item)).collect::<Option<_>>()?)
            }
            Expr::If(_, yes, no) => match (self.infer(yes), self.infer(no)) {
                (Some(some), None) | (None, Some(some)) => match some {
                    Type::Option(_) | Type::Struct(_) => some,
                    some => Type::Option(Box::new(some)),
                },
                (yes, no) => common(yes, no)?,
            },
            Expr::Unwrap(inner) => match self.infer(inner)? {
                Type::Option(inner) => *inner,
                other => other,
            },
            Expr::Query(..) => return None,
        })
    }
}

/// The type in which two values can be compared.
fn common(left: Option<Type>, right: Option<Type>) -> Option<Type> {
    match (left, right) {
        (Some(left), Some(right)) => Some(match (&left, &right) {
            (Type::Option(_), _) => left,
            (_, Type::Option(_)) => right,
            (Type::Tid, Type::Int | Type::Wrapping(_)) => Type::Int,
            (Type::Tuple(_), Type::Record { .. } | Type::Array(..)) => right,
            _ => left,
        }),
        (left, right) => left.or(right),
    }
}

/// Where a component of a record or tuple starts, and its type.
fn component_of(ty: &Type, component: usize) -> Result<(usize, Type), Unsupported> {
    let types: Vec<&Type> = match ty {
        Type::Record { fields, .. } => fields.iter().map(|(_, ty)| ty).collect(),
        Type::Tuple(items) => items.iter().collect(),
        _ => return Err(Unsupported("a component of something else than a record".to_owned())),
    };
    let mut at = 0;
    for before in types.iter().take(component) {
        at += width(before)?;
    }
    match types.get(component) {
        Some(ty) => Ok((at, (*ty).clone())),
        None => Err(Unsupported("a component that the record does not have".to_owned())),
    }
}

/// A value of one type, laid out as one of another that it can stand for.
fn coerce(code: Code, from: &Type, to: &Type) -> Result<Code, Unsupported> {
    let words = width(to)?;
    match (from, to) {
        (Type::Tid, Type::Int | Type::Wrapping(_)) => {
            Ok(Code { op: Op::NumberOfTid(code.into()), width: 1 })
        }
        (Type::Int | Type::Wrapping(_), Type::Tid) => {
            Ok(Code { op: Op::TidOfNumber(code.into()), width: 1 })
        }
        (Type::Option(_), Type::Option(_)) if kinds_of(from)? == kinds_of(to)? => Ok(code),
        (from, Type::Option(inner)) if !matches!(from, Type::Option(_)) => {
            let inner = coerce(code, from, inner)?;
            Ok(if tagged(to) { Code { op: Op::Wrap(inner.into()), width: words } } else { inner })
        }
        _ if kinds_of(from)? == kinds_of(to)? => Ok(code),
        _ => Err(Unsupported(format!("a {from:?} where {to:?} is expected"))),
    }
}
