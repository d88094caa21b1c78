//! The program: a model as a control-flow graph whose edges are atomic steps.
//!
//! A [`Body`] is a graph of [`Node`]s. A node that *yields* is a point where other threads may run;
//! a step goes from one yielding node to the next (or to the return), along one or more edges. Each
//! [`Edge`] lists, in order, what happens: guards, local effects, shared accesses. Between two
//! yielding nodes there is at most one shared access, unless the model says `atomic { }`; the nodes
//! inside an atomic block, and the heads of loops that touch only local variables, are the ones
//! that do not yield.
//!
//! Start with [`Program`], then [`Edge`] and [`Action`].

use crate::persistence::Persistence;
use linchpin_spec::{Shape, Value};
use std::borrow::Cow;

/// A model, ready to execute: parameters and thread counts are fixed, functions inlined.
#[derive(Clone, Debug)]
pub struct Program {
    /// The heap object types.
    pub structs: Vec<Struct>,
    /// The shared variables.
    pub shared: Vec<Variable>,
    /// The variables that each thread keeps between its operations (`local` declarations).
    pub thread_locals: Vec<Variable>,
    /// Runs once, alone, before everything else. Its nodes never yield.
    pub init: Option<Body>,
    /// Calls that one thread makes alone before all others (`preload { }`). What looks at runs
    /// within bounds starts after them; a specification and a reference have none.
    pub preload: Vec<PreloadCall>,
    /// The operations.
    pub operations: Vec<Operation>,
    /// The threads: which operations each may call.
    pub threads: Vec<Thread>,
    /// The sequential object that the model must implement.
    pub spec: SpecSource,
    /// Whether the model uses the number of its threads: then it is another program for another
    /// number.
    pub counts_threads: bool,
    /// The sequential reference that the model gives (`reference { }`), if it gives one.
    ///
    /// INVARIANT: its structs are those of the model, with the same indexes, and its operations
    /// have the names, parameter types and answers of the model's, in the same order. Its shared
    /// variables and its `init` are its own. It has no threads, no thread-locals and no reference;
    /// its `spec` is the model's. Its bodies never yield, claim nothing, and neither `free` nor
    /// name the executing thread; what restricts the calls of clients (ranges, `requires`) stands
    /// in the model alone.
    pub reference: Option<Box<Program>>,
    /// What is persistent and what runs after a crash; `None` if nothing is. A specification and a
    /// reference have none.
    pub persistence: Option<Persistence>,
}

/// A call of `preload { }`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreloadCall {
    /// Which operation: index into [`Program::operations`].
    pub operation: usize,
    /// One value for each parameter that the model declares. Where the specification looks at the
    /// caller, the operation has one parameter more: the thread that calls.
    pub arguments: Vec<Value>,
}

impl Program {
    /// The calls of `preload { }` for people, such as `push(1); pop()`; `None` if there are none.
    pub fn preload_shown(&self) -> Option<String> {
        let call = |call: &PreloadCall| {
            let name = self.operations.get(call.operation).map_or("", |of| of.name.as_str());
            let arguments: Vec<String> = call.arguments.iter().map(ToString::to_string).collect();
            format!("{name}({})", arguments.join(", "))
        };
        let calls: Vec<String> = self.preload.iter().map(call).collect();
        (!calls.is_empty()).then(|| calls.join("; "))
    }

    /// The same program without its preload.
    pub fn from_init(&self) -> Cow<'_, Program> {
        match self.preload.is_empty() {
            true => Cow::Borrowed(self),
            false => Cow::Owned(Program { preload: Vec::new(), ..self.clone() }),
        }
    }
}

/// The specification of a model.
#[derive(Clone, Debug)]
pub enum SpecSource {
    /// A built-in one, by name, with its initial value.
    Builtin {
        /// Its name, as in [`linchpin_spec::BUILTINS`].
        name: String,
        /// The initial value, if the model gives one.
        init: Option<Value>,
    },
    /// A `spec { }` block: a program whose shared variables are the state and whose bodies never
    /// yield.
    Model(Box<Program>),
}

/// A heap object type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Struct {
    /// Its name.
    pub name: String,
    /// Its fields, in order.
    pub fields: Vec<Variable>,
}

/// A shared variable, a struct field, a thread-local or a local variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Its name; temporaries that the lowering made start with `$`.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// Its value before it is written.
    pub initial: Value,
}

/// A type, with every size known.
///
/// Values of the types: `Int`/`Wrapping`/`Tid` are [`Value::Int`]; `Option` and `Struct` are
/// [`Value::Null`] or the inner value / a [`Value::Ref`]; `Lock` is `Null` when free, else the
/// `Int` of the owner; `Record`, `Tuple`, `Array` and `Seq` are [`Value::List`]; `Set` and `Map`
/// are their namesakes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Type {
    /// Nothing.
    Unit,
    /// An integer.
    Int,
    /// An integer from zero up to, and without, this number, which is at least 1.
    ///
    /// INVARIANT: what is stored in a word of this type is in range, because the program reduces it
    /// before it stores it.
    Wrapping(i64),
    /// A truth value.
    Bool,
    /// A thread id.
    Tid,
    /// A lock.
    Lock,
    /// A reference to a heap object, or null. Index into [`Program::structs`].
    Struct(usize),
    /// A small value that fits one word.
    Record {
        /// Its name.
        name: String,
        /// Field names and types.
        fields: Vec<(String, Type)>,
    },
    /// The inner type or `none`.
    Option(Box<Type>),
    /// Several values.
    Tuple(Vec<Type>),
    /// A fixed number of words.
    Array(Box<Type>, usize),
    /// A sequence (specifications only).
    Seq(Box<Type>),
    /// A set (specifications only).
    Set(Box<Type>),
    /// A map (specifications only).
    Map(Box<Type>, Box<Type>),
}

impl Type {
    /// How many words a value of this type holds.
    pub fn words(&self) -> usize {
        match self {
            Type::Record { fields, .. } => {
                fields.iter().map(|(_, ty)| ty.words()).sum::<usize>().max(1)
            }
            Type::Tuple(items) => items.iter().map(Type::words).sum(),
            Type::Array(item, length) => item.words().saturating_mul(*length),
            Type::Option(inner) => inner.words(),
            _ => 1,
        }
    }
}

/// A thread of the client.
#[derive(Clone, Debug)]
pub struct Thread {
    /// The role it plays, if the model has roles.
    pub role: Option<String>,
    /// The operations it may call: indexes into [`Program::operations`].
    pub operations: Vec<usize>,
    /// How many operations it calls, where the model says that for its role.
    pub calls: Option<RoleCalls>,
}

/// How many operations the threads of a role call, whatever the others do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoleCalls {
    /// So many.
    Each(u16),
    /// Without end.
    Unlimited,
}

/// An operation.
#[derive(Clone, Debug)]
pub struct Operation {
    /// Its name.
    pub name: String,
    /// Its parameters: the first locals of the body, in order, and the values that clients pass.
    pub parameters: Vec<Parameter>,
    /// What it answers.
    pub response: Type,
    /// A client may call it only where this holds (over parameters and thread-locals).
    pub requires: Option<Expr>,
    /// Its steps.
    pub body: Body,
    /// The source line of its declaration.
    pub line: u32,
}

/// A parameter of an operation.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Its type.
    pub ty: Type,
    /// `from..to` (to exclusive) if the model restricts it; otherwise the bound on values decides.
    pub range: Option<(i64, i64)>,
}

/// Index of a node in its body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u32);

/// Index of a local variable in its body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LocalId(pub u32);

/// The control-flow graph of an operation.
#[derive(Clone, Debug)]
pub struct Body {
    /// Parameters first, then variables, then temporaries.
    pub locals: Vec<Variable>,
    /// Where the invocation starts: a node that does not yield; the work up to the first yielding
    /// node belongs to the invocation.
    pub entry: NodeId,
    /// The nodes.
    pub nodes: Vec<Node>,
}

/// A point of a body.
#[derive(Clone, Debug)]
pub struct Node {
    /// Whether other threads may run here.
    pub yields: bool,
    /// The ways on.
    ///
    /// INVARIANT: apart from `Choose`, the guards of the edges exclude each other, and edges agree
    /// up to the guard in which they differ. So for given choices at most one edge can be taken; if
    /// none can, the thread is blocked.
    pub edges: Vec<Edge>,
    /// The source line of what happens next.
    pub line: u32,
}

/// A way from one node to the next.
#[derive(Clone, Debug)]
pub struct Edge {
    /// What happens, in order; with the source line of each.
    pub actions: Vec<(Action, u32)>,
    /// Where it ends.
    pub target: Target,
    /// The source line of the `return` that it ends with, if the source has one.
    pub returns_at: Option<u32>,
    /// The linearization points that the model claims, each with the number of actions of this edge
    /// that come before it (its expressions mean what they mean there).
    pub points: Vec<(usize, Point)>,
    /// The base conditions that the model claims, placed in the same way.
    pub bases: Vec<(usize, Formula)>,
}

/// Where an edge ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// At a node.
    Node(NodeId),
    /// The operation returns this.
    Return(Expr),
}

/// A claimed linearization point (`#[lin …]`).
#[derive(Clone, Debug)]
pub enum Point {
    /// `#[lin]`, and `#[lin(when c)]` where `c` holds.
    When(Expr),
    /// `#[lin(when returns e)]`: it was one if the operation returns `e` before it passes here
    /// again.
    Returns {
        /// What the operation returns then.
        value: Expr,
        /// Where the source has it: a claim that stands on several edges is one claim.
        place: u32,
    },
}

/// A part of an edge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// The edge can be taken only if this holds.
    Guard(Expr),
    /// A local effect: `local := value`.
    Assign {
        /// What is assigned.
        local: LocalTarget,
        /// The new value.
        value: Expr,
    },
    /// `into :=` any of `from..to`.
    Choose {
        /// Where the choice goes.
        into: LocalId,
        /// Smallest choice.
        from: Expr,
        /// One past the largest.
        to: Expr,
    },
    /// Fails the run if this does not hold.
    Assert(Expr),
    /// `into :=` a new object.
    New {
        /// Where the reference goes.
        into: LocalId,
        /// Index into [`Program::structs`].
        object: usize,
        /// The value of every field.
        fields: Vec<Expr>,
        /// For each field, whether the source gives it. The values of the others are defaults, and
        /// memory that is type-stable leaves them as they were.
        given: Vec<bool>,
    },
    /// Gives an object back.
    Free(Expr),
    /// `into := place`.
    Read {
        /// Where the value goes.
        into: LocalId,
        /// What is read.
        place: Place,
    },
    /// `place := value`.
    Write {
        /// What is written.
        place: Place,
        /// The value.
        value: Expr,
    },
    /// `into :=` whether every cell held its expected value; if so, all get their new values.
    Cas {
        /// Where success goes.
        into: LocalId,
        /// The cells: one for `cas`, several for the multi-word form.
        cells: Vec<Cell>,
    },
    /// `into :=` old value of `place`; `place := value`.
    Swap {
        /// Where the old value goes.
        into: LocalId,
        /// What is swapped.
        place: Place,
        /// The new value.
        value: Expr,
    },
    /// `into :=` old value of `place`; `place := place + value`.
    FetchAdd {
        /// Where the old value goes.
        into: LocalId,
        /// What is incremented.
        place: Place,
        /// By how much.
        value: Expr,
    },
    /// `into := place`, and link the thread to the place until a thread writes it.
    LoadLinked {
        /// Where the value goes.
        into: LocalId,
        /// What is read.
        place: Place,
    },
    /// `into :=` whether the link still holds; if so, `place := value`.
    StoreConditional {
        /// Where success goes.
        into: LocalId,
        /// What is written.
        place: Place,
        /// The new value.
        value: Expr,
    },
    /// Takes a lock; cannot be taken while a thread holds it.
    Lock(Place),
    /// Gives a lock back; fails the run if this thread does not hold it.
    Unlock(Place),
    /// Notes, for the executing thread, the line of this place and its pending stores, so that the
    /// next fence guarantees them.
    Flush(Place),
    /// Guarantees what the executing thread has flushed.
    Fence,
    /// A flush of this place and a fence, in one step.
    Persist(Place),
    /// Changes a collection of a specification's state in place.
    Update {
        /// Where the answer goes.
        into: LocalId,
        /// The collection.
        place: Place,
        /// How.
        method: Method,
        /// With what.
        arguments: Vec<Expr>,
    },
}

/// What a local assignment assigns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LocalTarget {
    /// A local variable.
    Local(LocalId),
    /// A thread-local variable: index into [`Program::thread_locals`].
    ThreadLocal(usize),
    /// An element of a local array.
    Element(LocalId, Expr),
    /// A component of a local record.
    Component(LocalId, usize),
}

/// One word of a compare-and-swap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    /// The word.
    pub place: Place,
    /// What it must hold.
    pub expected: Expr,
    /// What it gets.
    pub new: Expr,
}

/// A shared word. Evaluating the expressions inside touches only local variables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A shared variable: index into [`Program::shared`].
    Shared(usize),
    /// An element of a shared array.
    SharedElement(usize, Expr),
    /// A field of a heap object.
    Field {
        /// The object.
        object: Expr,
        /// Its type: index into [`Program::structs`].
        of: usize,
        /// The field.
        field: usize,
    },
    /// An element of an array field.
    FieldElement {
        /// The object.
        object: Expr,
        /// Its type: index into [`Program::structs`].
        of: usize,
        /// The field.
        field: usize,
        /// The element.
        index: Expr,
    },
}

/// A pure expression over local variables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expr {
    /// A constant.
    Const(Value),
    /// A local variable.
    Local(LocalId),
    /// A thread-local variable.
    ThreadLocal(usize),
    /// The id of the executing thread.
    Me,
    /// Negation of a truth value or a number.
    Unary(UnaryOp, Box<Expr>),
    /// A binary operator; `And` and `Or` evaluate the right side only if they must.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// A component of a record or tuple.
    Component(Box<Expr>, usize),
    /// An element of a list: a local array, a sequence. Out of range fails the run.
    Element(Box<Expr>, Box<Expr>),
    /// A record, tuple, array or sequence.
    List(Vec<Expr>),
    /// `if c { a } else { b }`.
    If(Box<Expr>, Box<Expr>, Box<Expr>),
    /// The value of an optional; fails the run if there is none.
    Unwrap(Box<Expr>),
    /// A question to a collection value.
    Query(Query, Box<Expr>, Vec<Expr>),
}

/// Unary operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnaryOp {
    /// `!`
    Not,
    /// `-`; overflow fails the run.
    Negate,
    /// `int(t)`: the number of a thread.
    ThreadNumber,
}

/// Binary operators. Overflow and division by zero fail the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinaryOp {
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`, rounding toward zero
    Divide,
    /// `%`, with the sign of the dividend
    Remainder,
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterEqual,
    /// `&&`
    And,
    /// `||`
    Or,
    /// `&`
    BitAnd,
    /// `|`
    BitOr,
    /// `^`
    BitXor,
    /// `<<`; a shift by less than 0 or more than 63, and one that loses bits, fails the run
    ShiftLeft,
    /// `>>`, keeping the sign; a shift by less than 0 or more than 63 fails the run
    ShiftRight,
}

impl BinaryOp {
    /// What an operator on bits makes of two numbers; `None` for other operators, and where the run
    /// fails.
    ///
    /// ```
    /// use linchpin_ir::program::BinaryOp;
    /// assert_eq!(BinaryOp::BitAnd.on_bits(6, 3), Some(2));
    /// assert_eq!(BinaryOp::ShiftLeft.on_bits(1, 62), Some(1 << 62));
    /// assert_eq!(BinaryOp::ShiftLeft.on_bits(1, 63), None);
    /// assert_eq!(BinaryOp::ShiftRight.on_bits(-3, 1), Some(-2));
    /// ```
    pub fn on_bits(self, left: i64, right: i64) -> Option<i64> {
        let by = u32::try_from(right).ok().filter(|by| *by < i64::BITS);
        match self {
            BinaryOp::BitAnd => Some(left & right),
            BinaryOp::BitOr => Some(left | right),
            BinaryOp::BitXor => Some(left ^ right),
            BinaryOp::ShiftLeft => by
                .map(|by| (left << by, by))
                .and_then(|(shifted, by)| (shifted >> by == left).then_some(shifted)),
            BinaryOp::ShiftRight => by.map(|by| left >> by),
            _ => None,
        }
    }

    /// Whether this works on the bits of numbers.
    pub fn is_on_bits(self) -> bool {
        use BinaryOp::{BitAnd, BitOr, BitXor, ShiftLeft, ShiftRight};
        matches!(self, BitAnd | BitOr | BitXor | ShiftLeft | ShiftRight)
    }
}

/// Questions that leave a collection as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Query {
    /// `len()`: of a sequence, set or map.
    Len,
    /// `contains(x)`: of a sequence or set; of a map, whether the key is there.
    Contains,
    /// `get(k)`: of a map; `none` if absent.
    Get,
    /// `first()`: of a sequence, or the smallest of a set; `none` if empty.
    First,
    /// `last()`: of a sequence, or the largest of a set; `none` if empty.
    Last,
}

/// Changes of a collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// `push_back(x)` of a sequence.
    PushBack,
    /// `push_front(x)` of a sequence.
    PushFront,
    /// `pop_back()` of a sequence: the element or `none`.
    PopBack,
    /// `pop_front()` of a sequence: the element or `none`.
    PopFront,
    /// `insert(x)` of a set: whether it was new.
    Insert,
    /// `remove(x)` of a set: whether it was there; of a map: the old value or `none`.
    Remove,
    /// `put(k, v)` of a map: the old value or `none`.
    Put,
    /// `remove_at(i)` of a sequence: the element; out of range fails the run.
    RemoveAt,
}

/// A formula about a shared state (`#[base(…)]`): expressions that may look anywhere in the heap.
///
/// Its variables are the operation's locals and the nodes that the quantifiers bind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Formula {
    /// A local expression.
    Local(Expr),
    /// A node bound by the enclosing quantifier this many levels out (0 is the innermost).
    Bound(usize),
    /// A shared variable.
    Shared(usize),
    /// An element of a shared array.
    SharedElement(usize, Box<Formula>),
    /// A field of an object; false comparisons where the object is null.
    Field(Box<Formula>, usize, usize),
    /// A component of a record.
    Component(Box<Formula>, usize),
    /// Negation.
    Unary(UnaryOp, Box<Formula>),
    /// An operator.
    Binary(BinaryOp, Box<Formula>, Box<Formula>),
    /// `reach(from, field, to)`: following the field (and the component path inside it) zero or
    /// more times.
    Reach {
        /// Where the walk starts.
        from: Box<Formula>,
        /// The struct and the field followed.
        field: (usize, usize),
        /// The component of a record field that holds the reference, if it is one.
        component: Option<usize>,
        /// Where it must arrive.
        to: Box<Formula>,
    },
    /// For every live object of the struct.
    Forall(usize, Box<Formula>),
    /// For some live object of the struct.
    Exists(usize, Box<Formula>),
}

impl Type {
    /// The shape of this type in a history; `None` if it cannot appear there.
    pub fn shape(&self) -> Option<Shape> {
        Some(match self {
            Type::Unit => Shape::Unit,
            Type::Int | Type::Wrapping(_) | Type::Tid => Shape::Int,
            Type::Bool => Shape::Bool,
            Type::Option(inner) => inner.shape()?.or_null(),
            Type::Tuple(items) => {
                Shape::Tuple(items.iter().map(Type::shape).collect::<Option<_>>()?)
            }
            Type::Record { fields, .. } => {
                Shape::Tuple(fields.iter().map(|(_, ty)| ty.shape()).collect::<Option<_>>()?)
            }
            Type::Array(item, _) | Type::Seq(item) => Shape::List(Box::new(item.shape()?)),
            Type::Lock | Type::Struct(_) | Type::Set(_) | Type::Map(..) => return None,
        })
    }
}

impl Operation {
    /// The argument of a call, as histories and specifications have it: nothing, the one value, or
    /// the list of them.
    pub fn argument(arguments: &[Value]) -> Value {
        match arguments {
            [] => Value::Null,
            [one] => one.clone(),
            several => Value::list(several.iter().cloned()),
        }
    }

    /// One value for each parameter, from the argument of a call; `None` if they are not as many.
    /// What a recorder wrote as the argument of an operation without parameters is ignored.
    pub fn arguments(&self, argument: &Value) -> Option<Vec<Value>> {
        match (self.parameters.len(), argument) {
            (0, _) => Some(Vec::new()),
            (1, one) => Some(vec![one.clone()]),
            (count, several) => {
                several.as_list().filter(|items| items.len() == count).map(<[Value]>::to_vec)
            }
        }
    }
}

impl Action {
    /// Whether this touches shared state, so that it needs a step of its own.
    pub fn is_access(&self) -> bool {
        !matches!(
            self,
            Action::Guard(_)
                | Action::Assign { .. }
                | Action::Choose { .. }
                | Action::Assert(_)
                | Action::New { .. }
        )
    }

    /// Whether this can change memory; locks and giving objects back do not count.
    pub fn is_write(&self) -> bool {
        matches!(
            self,
            Action::Write { .. }
                | Action::Cas { .. }
                | Action::Swap { .. }
                | Action::FetchAdd { .. }
                | Action::StoreConditional { .. }
                | Action::Update { .. }
        )
    }
}
