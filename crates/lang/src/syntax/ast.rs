//! The syntax tree: what was written, before its names are resolved.

pub use linchpin_ir::program::{BinaryOp, UnaryOp};
pub use linchpin_syntax::Ident;
use linchpin_syntax::Span;

/// A whole model.
#[derive(Clone, Debug, Default)]
pub struct Model {
    /// Its declarations, in order.
    pub items: Vec<Item>,
}

/// A declaration.
#[derive(Clone, Debug)]
pub enum Item {
    /// `spec NAME;`, `spec NAME(init);`
    SpecName(Ident, Option<Expr>),
    /// `spec { … }`
    SpecBlock(SpecBlock),
    /// `param K: int = 3;`
    Param(Variable),
    /// `struct Node { … }`
    Struct(Fields),
    /// `record Mark { … }`
    Record(Fields),
    /// `shared x: T = e;`
    Shared(Variable),
    /// `local x: T = e;`
    Local(Variable),
    /// `init { … }`
    Init(Block, Span),
    /// `preload { push(1); … }`
    Preload(PreloadBlock),
    /// `op name(…) { … }`
    Op(Routine),
    /// `fn name(…) { … }`
    Fn(Routine),
    /// `reference { … }`
    Reference(ReferenceBlock),
    /// `role name: op, op;`
    Role(Ident, Vec<Ident>),
    /// `bounds { name: e, … }`
    Bounds(Vec<Bound>, Span),
    /// `recover { … }`
    Recover(Block, Span),
    /// `recover(t: tid) -> R? { … }`
    Resolve(Routine),
}

/// `name: e` or `name(role): e`, in `bounds { }`.
#[derive(Clone, Debug)]
pub struct Bound {
    /// What is bounded.
    pub name: Ident,
    /// The role for which, if it is not for all.
    pub role: Option<Ident>,
    /// By what.
    pub value: Expr,
}

/// A `spec { … }` block.
#[derive(Clone, Debug)]
pub struct SpecBlock {
    /// The state variables.
    pub state: Vec<Variable>,
    /// The operations.
    pub operations: Vec<Routine>,
    /// The functions.
    pub functions: Vec<Routine>,
    /// The word `spec`.
    pub span: Span,
}

/// A `preload { … }` block.
#[derive(Clone, Debug)]
pub struct PreloadBlock {
    /// Its calls, in order.
    pub calls: Vec<PreloadCall>,
    /// The word `preload`.
    pub span: Span,
}

/// A call in a `preload { … }` block.
#[derive(Clone, Debug)]
pub struct PreloadCall {
    /// What is called.
    pub operation: Ident,
    /// With what.
    pub arguments: Vec<Expr>,
}

/// A `reference { … }` block.
#[derive(Clone, Debug)]
pub struct ReferenceBlock {
    /// Its shared variables.
    pub shared: Vec<Variable>,
    /// Its `init` blocks, each with the word; there may be one.
    pub inits: Vec<(Block, Span)>,
    /// The operations.
    pub operations: Vec<Routine>,
    /// The word `reference`.
    pub span: Span,
}

/// `name: T = e`, of a shared, local, state or param declaration.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Its name.
    pub name: Ident,
    /// Its type.
    pub ty: TypeExpr,
    /// Its initial value.
    pub value: Option<Expr>,
    /// The word `persistent`, if it stands before.
    pub persistent: Option<Span>,
    /// `#[line(name)]`, if it stands before.
    pub line: Option<LineName>,
}

/// `#[line(name)]`
#[derive(Clone, Debug)]
pub struct LineName {
    /// The name of the line.
    pub name: Ident,
    /// From `#[` to `]`.
    pub span: Span,
}

/// A struct or record.
#[derive(Clone, Debug)]
pub struct Fields {
    /// Its name.
    pub name: Ident,
    /// Its fields.
    pub fields: Vec<(Ident, TypeExpr)>,
    /// For each field, `#[line(name)]`, if it stands before.
    pub lines: Vec<Option<LineName>>,
    /// The word `persistent`, if it stands before.
    pub persistent: Option<Span>,
}

/// An operation or function.
#[derive(Clone, Debug)]
pub struct Routine {
    /// Its name.
    pub name: Ident,
    /// Its parameters.
    pub parameters: Vec<Parameter>,
    /// What it returns; nothing if absent.
    pub response: Option<TypeExpr>,
    /// When a client may call it.
    pub requires: Option<Expr>,
    /// How many calls of it may be open at a time, if it may call itself.
    pub depth: Option<Expr>,
    /// What it does.
    pub body: Block,
}

/// A parameter.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Its name.
    pub name: Ident,
    /// Its type.
    pub ty: TypeExpr,
    /// The values that clients pass.
    pub range: Option<Range>,
}

/// `from..to` or `from..=to`.
#[derive(Clone, Debug)]
pub struct Range {
    /// The first.
    pub from: Box<Expr>,
    /// The end.
    pub to: Box<Expr>,
    /// Whether the end is part of it.
    pub inclusive: bool,
}

/// A type as written.
#[derive(Clone, Debug)]
pub struct TypeExpr {
    /// What it is.
    pub kind: TypeKind,
    /// Where it stands.
    pub span: Span,
}

/// The forms of types.
#[derive(Clone, Debug)]
pub enum TypeKind {
    /// `int`, `bool`, `tid`, `lock`, a struct or a record.
    Name(String),
    /// `int % N`
    Wrapping(Box<Expr>),
    /// `&T`: a place that holds a `T`
    Place(Box<TypeExpr>),
    /// `T?`
    Option(Box<TypeExpr>),
    /// `[T; N]`
    Array(Box<TypeExpr>, Box<Expr>),
    /// `(T, U)`
    Tuple(Vec<TypeExpr>),
    /// `seq<T>`, `set<T>`, `map<K, V>`
    Collection(Ident, Vec<TypeExpr>),
    /// The parser found no type here and has said so.
    Missing,
}

/// `{ … }`
#[derive(Clone, Debug, Default)]
pub struct Block {
    /// What is in it.
    pub statements: Vec<Statement>,
    /// From brace to brace.
    pub span: Span,
}

/// A statement with its annotations.
#[derive(Clone, Debug)]
pub struct Statement {
    /// What it is.
    pub kind: StatementKind,
    /// Where it stands, without the annotations.
    pub span: Span,
    /// The annotations before it.
    pub annotations: Vec<Annotation>,
}

/// An annotation.
#[derive(Clone, Debug)]
pub struct Annotation {
    /// What it is.
    pub kind: AnnotationKind,
    /// From `#[` to `]`.
    pub span: Span,
}

/// The annotations there are.
#[derive(Clone, Debug)]
pub enum AnnotationKind {
    /// `#[lin]`
    Lin,
    /// `#[lin(when c)]`
    LinWhen(Expr),
    /// `#[lin(when returns e)]`
    LinReturns(Expr),
    /// `#[base(f)]`
    Base(Expr),
}

/// The forms of statements.
#[derive(Clone, Debug)]
pub enum StatementKind {
    /// `let x: T = e;`
    Let(Ident, Option<TypeExpr>, Option<Expr>),
    /// `let (a, b) = e;`
    LetTuple(Vec<Ident>, Expr),
    /// `place = e;`; with an operator, `place += e;`
    Assign(Expr, Option<BinaryOp>, Expr),
    /// `e;`
    Expr(Expr),
    /// `if c { … } else { … }`
    If(Expr, Block, Option<Block>),
    /// `while c { … }`
    While(Expr, Block),
    /// `loop { … }`
    Loop(Block),
    /// `for i in a..b { … }`
    For(Ident, Range, Block),
    /// `break;`
    Break,
    /// `continue;`
    Continue,
    /// `return e;`
    Return(Option<Expr>),
    /// `atomic { … }`
    Atomic(Block),
}

/// An expression.
#[derive(Clone, Debug)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Where it stands.
    pub span: Span,
}

/// The forms of expressions.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// A number.
    Int(i64),
    /// `true`, `false`
    Bool(bool),
    /// `null`
    Null,
    /// `none`
    None,
    /// A variable or constant.
    Name(String),
    /// `e.f`
    Field(Box<Expr>, Ident),
    /// `e[i]`
    Index(Box<Expr>, Box<Expr>),
    /// `!e`, `-e`
    Unary(UnaryOp, Box<Expr>),
    /// `a + b`
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `f(a, b)`
    Call(Ident, Vec<Expr>),
    /// `e.f(a, b)`
    MethodCall(Box<Expr>, Ident, Vec<Expr>),
    /// `new Node { f: e }`
    New(Ident, Vec<(Ident, Expr)>),
    /// `Mark { f: e, ..base }`
    Record(Ident, Vec<(Ident, Expr)>, Option<Box<Expr>>),
    /// `[a, b]`
    Array(Vec<Expr>),
    /// `[e; N]`
    Repeat(Box<Expr>, Box<Expr>),
    /// `(a, b)`
    Tuple(Vec<Expr>),
    /// `if c { a } else { b }`
    If(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `a..b`: only as the argument of `choose`
    Range(Range),
    /// `forall n: Node { f }` or `exists n: Node { f }`: only in `#[base(…)]`
    Quantifier {
        /// Whether it is `forall`.
        forall: bool,
        /// The variable.
        name: Ident,
        /// The struct whose objects it ranges over.
        of: Ident,
        /// The formula.
        body: Box<Expr>,
    },
    /// The parser found no expression here and has said so.
    Missing,
}
