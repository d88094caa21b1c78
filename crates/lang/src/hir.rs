//! The model after names and types are resolved: what the checker hands to the lowering.
//!
//! Types and sizes are those of the program ([`linchpin_ir::program::Type`]); expressions may still
//! touch shared state anywhere, and functions are not inlined yet.

use linchpin_ir::persistence::{ObjectLines, SharedLines};
use linchpin_ir::program::{
    BinaryOp, Formula, LocalId, Method, PreloadCall, Query, SpecSource, Struct, Type, UnaryOp,
    Variable,
};
use linchpin_spec::Value;

/// A checked model.
#[derive(Clone, Debug)]
pub struct Model {
    /// The heap object types.
    pub structs: Vec<Struct>,
    /// The shared variables, with their initial values.
    pub shared: Vec<Variable>,
    /// The variables that each thread keeps.
    pub thread_locals: Vec<Variable>,
    /// The `init` block.
    pub init: Option<Routine>,
    /// The calls that are made first.
    pub preload: Vec<PreloadCall>,
    /// The operations.
    pub operations: Vec<Routine>,
    /// The functions.
    pub functions: Vec<Routine>,
    /// What the model must implement.
    pub spec: Spec,
    /// The threads: the role of each, and the operations it may call.
    pub threads: Vec<linchpin_ir::program::Thread>,
    /// The bounds that the model asks for.
    pub bounds: Bounds,
    /// The `reference { }` block, as a model without threads: the structs, functions, spec and
    /// bounds are those of this model, and so is the order of the operations.
    pub reference: Option<Box<Model>>,
    /// What is persistent; `None` if nothing is.
    pub persistence: Option<Persistence>,
}

/// What is persistent in a model, and what runs after a crash.
#[derive(Clone, Debug)]
pub struct Persistence {
    /// For each shared variable, its lines.
    pub shared: Vec<Option<SharedLines>>,
    /// For each struct, the lines of its fields.
    pub structs: Vec<Option<ObjectLines>>,
    /// The names of the lines of shared variables.
    pub lines: Vec<String>,
    /// `recover { }`
    pub recover: Option<Routine>,
    /// `recover(t: tid) -> R? { }`
    pub resolve: Option<Routine>,
}

/// What a model must implement.
#[derive(Clone, Debug)]
pub enum Spec {
    /// A built-in; never [`SpecSource::Model`].
    Builtin(SpecSource),
    /// A `spec { }` block, as a model without threads whose shared variables are the state.
    Block(Box<Model>),
}

pub use linchpin_verdict::Values;

/// How many operations a thread calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ops {
    /// So many.
    Each(usize),
    /// Without end.
    Unlimited,
}

impl Ops {
    /// How many calls are tried where some number is needed: as asked, or a few.
    pub fn or_few(self) -> usize {
        match self {
            Ops::Each(count) => count,
            Ops::Unlimited => 3,
        }
    }
}

/// The bounds of a model, other than the threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Operations a thread calls.
    pub ops: Ops,
    /// Different values that clients pass.
    pub values: Values,
    /// Size of the object, for engines that let threads call for ever.
    pub size: Option<usize>,
    /// How often the system may crash.
    pub crashes: usize,
}

/// An operation, a function, the `init` block or a `recover` block.
#[derive(Clone, Debug)]
pub struct Routine {
    /// Its name.
    pub name: String,
    /// How many of the first locals are parameters.
    pub parameters: usize,
    /// The values that clients pass for each parameter.
    pub ranges: Vec<Option<(i64, i64)>>,
    /// All local variables.
    pub locals: Vec<Variable>,
    /// What it returns.
    pub response: Type,
    /// When a client may call it.
    pub requires: Option<Expr>,
    /// How many calls of it may be open at a time, if it may call itself.
    pub depth: Option<usize>,
    /// What it does.
    pub body: Block,
    /// The line of its declaration.
    pub line: u32,
}

/// Statements in order.
pub type Block = Vec<Statement>;

/// A statement with its annotations.
#[derive(Clone, Debug)]
pub struct Statement {
    /// What it is.
    pub kind: StatementKind,
    /// Its line.
    pub line: u32,
    /// The linearization points claimed for it.
    pub points: Vec<Point>,
    /// The base conditions claimed for reaching it.
    pub bases: Vec<Formula>,
}

/// A claimed linearization point.
#[derive(Clone, Debug)]
pub enum Point {
    /// `#[lin]`
    Always,
    /// `#[lin(when c)]`
    When(Expr),
    /// `#[lin(when returns e)]`, and where the source has it.
    Returns(Expr, u32),
}

/// The forms of statements.
#[derive(Clone, Debug)]
pub enum StatementKind {
    /// Assigns a local variable.
    Assign(Target, Expr),
    /// Writes shared memory.
    Write(Place, Expr),
    /// `place += e`: reads, evaluates, writes; with where the number wraps, if it does.
    Modify(Place, BinaryOp, Expr, Option<i64>),
    /// Evaluates for the effect.
    Eval(Expr),
    /// `if`
    If(Expr, Block, Block),
    /// `while`
    While(Expr, Block),
    /// `loop`
    Loop(Block),
    /// `for`: the counter, the first value, the end and whether it is included.
    For {
        /// The counter.
        counter: LocalId,
        /// A local that keeps the end.
        end: LocalId,
        /// The first value.
        from: Expr,
        /// The end.
        to: Expr,
        /// Whether the end is included.
        inclusive: bool,
        /// The body.
        body: Block,
    },
    /// `break`
    Break,
    /// `continue`
    Continue,
    /// `return`
    Return(Option<Expr>),
    /// `atomic`
    Atomic(Block),
    /// `assume(c)`
    Assume(Expr),
    /// `assert(c)`
    Assert(Expr),
    /// `free(e)`
    Free(Expr),
    /// `lock(l)`
    Lock(Place),
    /// `unlock(l)`
    Unlock(Place),
    /// `flush(p)`
    Flush(Place),
    /// `fence`
    Fence,
    /// `persist(p)`
    Persist(Place),
}

/// What a local assignment assigns.
#[derive(Clone, Debug)]
pub enum Target {
    /// A local variable.
    Local(LocalId),
    /// A thread-local variable.
    ThreadLocal(usize),
    /// An element of a local array.
    Element(LocalId, Expr),
    /// A component of a local record.
    Component(LocalId, usize),
    /// An element of a thread-local array.
    ThreadLocalElement(usize, Expr),
    /// A component of a thread-local record: the variable and the component.
    ThreadLocalComponent(usize, usize),
}

/// A shared word.
#[derive(Clone, Debug)]
pub enum Place {
    /// A shared variable.
    Shared(usize),
    /// An element of a shared array.
    SharedElement(usize, Box<Expr>),
    /// What was passed to the function for a parameter that is a place.
    Parameter {
        /// Which of the places passed.
        at: usize,
        /// The element, if it is an array.
        index: Option<Box<Expr>>,
    },
    /// A field of an object.
    Field {
        /// The object.
        object: Box<Expr>,
        /// Its struct.
        of: usize,
        /// The field.
        field: usize,
        /// The element, if the field is an array.
        index: Option<Box<Expr>>,
    },
}

/// What is passed to a function.
#[derive(Clone, Debug)]
pub enum Argument {
    /// A value.
    Value(Expr),
    /// A place.
    Place(Place),
}

/// A typed expression.
#[derive(Clone, Debug)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Its type.
    pub ty: Type,
    /// Its line.
    pub line: u32,
}

/// One word of a compare-and-swap.
#[derive(Clone, Debug)]
pub struct Cell {
    /// The word.
    pub place: Place,
    /// What it must hold.
    pub expected: Expr,
    /// What it gets.
    pub new: Expr,
}

/// The forms of expressions.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// A constant.
    Const(Value),
    /// A local variable.
    Local(LocalId),
    /// A thread-local variable.
    ThreadLocal(usize),
    /// The caller's thread id.
    Me,
    /// Reads shared memory.
    Read(Place),
    /// An operator.
    Unary(UnaryOp, Box<Expr>),
    /// An operator; `&&` and `||` evaluate the right side only if they must.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// A component of a record or tuple.
    Component(Box<Expr>, usize),
    /// An element of a local array or a sequence.
    Element(Box<Expr>, Box<Expr>),
    /// A record, tuple or array.
    List(Vec<Expr>),
    /// `[e; N]`: an array of copies of one value.
    Repeat(Box<Expr>, usize),
    /// `Mark { f: e, ..base }`: these components replaced, the expressions before the base.
    RecordUpdate(Vec<(usize, Expr)>, Box<Expr>),
    /// `if c { a } else { b }`
    If(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `unwrap(e)`
    Unwrap(Box<Expr>),
    /// A question to a collection.
    Query(Query, Box<Expr>, Vec<Expr>),
    /// A change of a collection.
    Update(Place, Method, Vec<Expr>),
    /// A call of a function.
    Call(usize, Vec<Argument>),
    /// The index of an element of an array of arrays: of which row, of which column, and how many
    /// columns there are.
    Within {
        /// The row.
        row: Box<Expr>,
        /// The column.
        column: Box<Expr>,
        /// The length of a row.
        length: usize,
    },
    /// `choose(a..b)`, end excluded.
    Choose(Box<Expr>, Box<Expr>),
    /// `new`: the struct and the value of each field, in the order written.
    New(usize, Vec<(usize, Expr)>),
    /// `cas`
    Cas(Vec<Cell>),
    /// `swap`
    Swap(Place, Box<Expr>),
    /// `faa`, with where the number wraps, if it does
    FetchAdd(Place, Box<Expr>, Option<i64>),
    /// `ll`
    LoadLinked(Place),
    /// `sc`
    StoreConditional(Place, Box<Expr>),
}

impl Expr {
    /// The value, if this is a constant.
    pub fn as_const(&self) -> Option<&Value> {
        match &self.kind {
            ExprKind::Const(value) => Some(value),
            _ => None,
        }
    }

    /// Whether this is a local expression: it touches only local variables, always ends the same
    /// way, and lowers to an expression without any instruction. No access, call or choice is one.
    pub fn is_local(&self) -> bool {
        match &self.kind {
            ExprKind::Const(_) | ExprKind::Local(_) | ExprKind::ThreadLocal(_) | ExprKind::Me => {
                true
            }
            ExprKind::Unary(_, a) | ExprKind::Component(a, _) | ExprKind::Unwrap(a) => a.is_local(),
            ExprKind::Binary(_, a, b) | ExprKind::Element(a, b) => a.is_local() && b.is_local(),
            ExprKind::List(items) => items.iter().all(Expr::is_local),
            // These use a value several times, so anything longer gets a variable first.
            ExprKind::Repeat(item, _) => item.is_path(),
            ExprKind::RecordUpdate(fields, base) => {
                base.is_path() && fields.iter().all(|(_, e)| e.is_local())
            }
            ExprKind::Within { row, column, .. } => row.is_path() && column.is_path(),
            ExprKind::If(c, a, b) => c.is_local() && a.is_local() && b.is_local(),
            ExprKind::Query(_, a, args) => a.is_local() && args.iter().all(Expr::is_local),
            ExprKind::Read(_)
            | ExprKind::Update(..)
            | ExprKind::Call(..)
            | ExprKind::Choose(..)
            | ExprKind::New(..)
            | ExprKind::Cas(_)
            | ExprKind::Swap(..)
            | ExprKind::FetchAdd(..)
            | ExprKind::LoadLinked(_)
            | ExprKind::StoreConditional(..) => false,
        }
    }

    /// Whether this is a constant, a local variable or a component of one: it can be evaluated any
    /// number of times, for it never faults and is short.
    pub fn is_path(&self) -> bool {
        match &self.kind {
            ExprKind::Const(_) | ExprKind::Local(_) | ExprKind::ThreadLocal(_) | ExprKind::Me => {
                true
            }
            ExprKind::Component(of, _) => of.is_path(),
            _ => false,
        }
    }
}
