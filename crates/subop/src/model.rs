//! A resolved `.subop` file: every name is an index, every type is checked.
//!
//! # What a model means
//!
//! **Values** are integers, `NULL`, references to objects, and *poison*. A variable of type `int`
//! holds an integer, `NULL` or poison; one of struct type a reference, `NULL` or poison. Equality
//! is equality of values. `<`, `<=`, `>`, `>=` hold only between two integers. `t + n` of anything
//! but an integer is poison.
//!
//! **State**: the globals (an array is a total map from integers), the heap (objects with their
//! fields), and one record for every operation instance: which sub-operation it executed last, its
//! arguments and locals (each set or *unset*), what each of its `READ`s saw, what it returned. `ID`
//! is a positive integer, different for every instance and from every constant of the file.
//!
//! **Start**: integers are 0 and references `NULL`; a global that [is in place](GlobalKind::Place)
//! refers to an object of its own, its fields 0 and `NULL`; then `initially` is executed. An
//! instance starts with its arguments set by the client and its locals unset.
//!
//! **Enabledness**: an instance may execute a sub-operation that its last one allows next
//! ([`SubOperation::next`]; [`Operation::first`] at the start) in a state in which the
//! sub-operation is *defined* and its precondition holds, for some choice of the *guesses*: each
//! unset local that the sub-operation reads before writing is first set to any value of its type —
//! any integer, `NULL`, any published object. (The paper's operations guess what a later comparison
//! validates: `Z` in Figure 4. Choosing as late as the first use is the same as choosing at the
//! start, for no other instance sees a local; but then a `malloc` by anyone differs from every
//! value that any local holds at that time.) An object is *published* when a reference to it was
//! stored in a global, an element or a field, or it exists from the start. An atom of the
//! precondition that accesses a field of anything but an object, or an element at anything but an
//! integer, is false; conditions are in negation normal form, so the negation of such an atom is
//! false too. A body that does either is not defined: the instance waits.
//!
//! **Step**: the precondition is tested and the statements are executed one after the other, each
//! seeing the effects of those before it, all as one atomic step. `malloc` gives an object that no
//! variable ever referred to, fields 0 and `NULL`; memory is not reused. `free` writes poison to
//! every field. `READ t` stores the value of `t` in the anonymous destination
//! [`Statement::Read::slot`], which is part of the state: Definition 4 compares it. `return` stores
//! the results.
//!
//! **Completion**: the instance is complete when it executed a sub-operation whose `next` contains
//! [`Next::Return`] (with others beside it: it may stop there, or go on). It is *invoked* at its
//! first sub-operation and *returns* at its last. The mark does not restrict who executes a
//! sub-operation: an instance is not a thread (Section II.A). `*` says that helpers execute it too;
//! it still happens before the instance is complete.
//!
//! **Observation**: an operation with a `return` is observed through what it returns. One without
//! is observed through all it saw: its locals at the end and its `READ`s.

use linchpin_syntax::Span;

macro_rules! index {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub usize);
    )*};
}

index! {
    /// Index into [`Model::structs`].
    StructId;
    /// Index into [`Model::globals`].
    GlobalId;
    /// Index into [`Model::operations`].
    OperationId;
    /// Index into [`Operation::locals`].
    LocalId;
    /// Index into [`Struct::fields`].
    FieldId;
}

/// A whole `.subop` file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Model {
    /// The struct declarations.
    pub structs: Vec<Struct>,
    /// The shared variables.
    pub globals: Vec<Global>,
    /// The operations.
    pub operations: Vec<Operation>,
    /// How the globals start.
    pub initially: Initially,
    /// `invariant …;` lines: claims to be checked, never believed.
    pub invariants: Vec<Invariant>,
    /// The claims of `relations { }`.
    pub claims: Vec<Claim>,
    /// `spec NAME { … }`: what sequential executions must look like.
    pub spec: Option<SpecMapping>,
}

/// `struct node { int value, node next };`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Struct {
    /// Its name.
    pub name: String,
    /// Its fields.
    pub fields: Vec<Variable>,
    /// Where its name stands.
    pub span: Span,
}

/// A field, an argument, a local variable, or a bound variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// Where its name stands.
    pub span: Span,
}

/// The type of a variable, a field or the elements of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Type {
    /// `int`: an integer or `NULL`.
    Int,
    /// A struct's name: a reference to such an object or `NULL`.
    Ref(StructId),
}

/// A shared variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Global {
    /// Its name.
    pub name: String,
    /// What it is.
    pub kind: GlobalKind,
    /// Where its name stands.
    pub span: Span,
}

/// What a shared variable is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GlobalKind {
    /// `int x;` or `node Top;`: a variable.
    Scalar(Type),
    /// `queue Q;`, never assigned as a whole: a structure in place, that is, a constant reference
    /// to an object that nothing else refers to at the start. [`Place::Field`] accesses it like any
    /// other object.
    Place(StructId),
    /// `int AR[];`: one element for every integer.
    Array(Type),
}

/// An operation: a loop-free graph of sub-operations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    /// Its name.
    pub name: String,
    /// The arguments, then the local variables.
    pub locals: Vec<Variable>,
    /// How many of `locals` are arguments.
    pub arguments: usize,
    /// How many anonymous destinations its `READ`s have.
    pub reads: usize,
    /// The sub-operations. INVARIANT: those in [`SubOperation::next`] stand after it, so there is
    /// no cycle.
    pub sub_operations: Vec<SubOperation>,
    /// Which sub-operations may come first. Never empty.
    pub first: Vec<usize>,
    /// Where its name stands.
    pub span: Span,
}

/// A sub-operation of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SubOperationId {
    /// The operation.
    pub operation: OperationId,
    /// Index into its [`Operation::sub_operations`].
    pub index: usize,
}

/// A guarded atomic action: `tmark < precondition > body`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubOperation {
    /// Its name, unique in the model: what `...d` gave it, or made from the operation's name and
    /// its number.
    pub name: String,
    /// Whether the name was made, not given.
    pub unnamed: bool,
    /// Who executes it.
    pub mark: Mark,
    /// The precondition; [`Condition::always`] if there is none.
    pub precondition: Condition,
    /// The statements, executed in this order, each seeing the effects of those before it.
    pub body: Vec<Statement>,
    /// `return …;`: what the operation answers if it ends here. Evaluated after the body.
    pub result: Option<Vec<Term>>,
    /// What may come next. Never empty; `[Next::Return]` for the last one.
    pub next: Vec<Next>,
    /// Where it stands, from its mark to its last semicolon.
    pub span: Span,
}

/// The `tmark` of Figure 6.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mark {
    /// `1`: the thread that invoked the operation.
    Invoker,
    /// `*`: any thread; it still happens before the operation returns.
    Anyone,
}

/// What may follow a sub-operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Next {
    /// Index into [`Operation::sub_operations`].
    SubOperation(usize),
    /// The operation is complete. Sorts last.
    Return,
}

/// A quantifier-free condition in negation normal form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// All of these; true if there are none.
    All(Vec<Condition>),
    /// At least one of these; false if there are none.
    Any(Vec<Condition>),
    /// A comparison; false if a term is not defined.
    Atom(Atom),
}

/// `left relation right`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Atom {
    /// The left side.
    pub left: Term,
    /// How they are compared.
    pub relation: Relation,
    /// The right side.
    pub right: Term,
    /// Where it stands.
    pub span: Span,
}

/// The `rop` of Figure 6.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs)] // the variants say it
pub enum Relation {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// A value to be computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Term {
    /// A constant, at most [`LARGEST_CONSTANT`] in size.
    Int(i64),
    /// `NULL`
    Null,
    /// `ID`, the identity of the operation instance.
    Id,
    /// The value of a variable, a field or an element.
    Place(Place),
    /// `place + n`; in practice `+ 1` and `- 1`.
    Plus(Place, i64),
}

/// Constants beyond this are refused, so that no `ID` equals one.
pub const LARGEST_CONSTANT: i64 = 1 << 31;

/// The `lhs` of Figure 6: something that can be read and written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    /// `x`
    Variable(Var),
    /// `x.f`: the variable is of type [`Type::Ref`] to that struct, or [in
    /// place](GlobalKind::Place).
    Field(Var, StructId, FieldId),
    /// `A[i]`: the global is an [array](GlobalKind::Array).
    Element(GlobalId, Index),
}

/// The index of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Index {
    /// `A[3]`
    Int(i64),
    /// `A[i]`
    Variable(Var),
    /// `A[i + n]`; in practice `+ 1` and `- 1`.
    Plus(Var, i64),
}

/// A variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Var {
    /// A shared variable, never an array.
    Global(GlobalId),
    /// An argument or local of the operation in question; in a claim, of the first sub-operation's;
    /// in `initially`, of [`Initially::locals`].
    Local(LocalId),
    /// In a claim, a local of the second sub-operation's instance. Nowhere else.
    Peer(LocalId),
    /// In an invariant, one of [`Invariant::bound`]. Nowhere else.
    Bound(usize),
}

/// A statement of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Statement {
    /// `place = value;`
    Assign {
        /// What is written; never a structure [in place](GlobalKind::Place) as a whole.
        place: Place,
        /// The value.
        value: Term,
        /// Where it stands.
        span: Span,
    },
    /// `x = malloc node;`
    Malloc {
        /// What refers to the new object.
        var: Var,
        /// The struct.
        of: StructId,
        /// Where it stands.
        span: Span,
    },
    /// `free x;` poisons every field of the object.
    Free {
        /// What refers to the object.
        var: Var,
        /// Its struct.
        of: StructId,
        /// Where it stands.
        span: Span,
    },
    /// `READ place;`
    Read {
        /// What is read.
        place: Place,
        /// The anonymous destination, below [`Operation::reads`]; every `READ` of an operation has
        /// its own.
        slot: usize,
        /// Where it stands.
        span: Span,
    },
}

impl Statement {
    /// Where it stands.
    pub fn span(&self) -> Span {
        match self {
            Statement::Assign { span, .. }
            | Statement::Malloc { span, .. }
            | Statement::Free { span, .. }
            | Statement::Read { span, .. } => *span,
        }
    }
}

/// `initially { … }`: executed once, as one step, before anything else.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Initially {
    /// Its local variables, which start as 0 and `NULL`.
    pub locals: Vec<Variable>,
    /// Arrays whose elements all start as this, [`Term::Int`] or [`Term::Null`]; the others as 0 or
    /// `NULL`.
    pub fills: Vec<(GlobalId, Term)>,
    /// What is executed after the fills: no `READ`.
    pub statements: Vec<Statement>,
}

/// `invariant …;`: the condition holds in every reachable state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invariant {
    /// `for (node n; …)`: for all values of these; references range over all objects, never `NULL`.
    pub bound: Vec<Variable>,
    /// `after d:` for every instance whose last executed sub-operation is this one; its locals may
    /// be mentioned then.
    pub after: Option<SubOperationId>,
    /// What holds.
    pub condition: Condition,
    /// Where it stands.
    pub span: Span,
}

/// A claim of the paper's hand-made mode (Figure 5) about an ordered pair of sub-operations of
/// different instances.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The sub-operation that is executed first.
    pub first: SubOperationId,
    /// The one after it.
    pub second: SubOperationId,
    /// What is claimed.
    pub kind: ClaimKind,
    /// `[if (c)]`: only where this holds, before the two.
    pub condition: Option<Condition>,
    /// `[Boundary case]`: the first ends its operation and the second starts one.
    pub boundary: bool,
    /// Where it stands.
    pub span: Span,
}

/// What a claim says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClaimKind {
    /// `a ≀ b`: Definition 3.
    Orderable,
    /// `¬ a ≀ b`
    NotOrderable,
    /// `a ⊖ b`: Definition 4.
    Reversible,
    /// `¬ a ⊖ b`
    NotReversible,
}

/// `spec queue { … }`: which operation of a built-in specification each operation performs (for
/// Assumption 1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpecMapping {
    /// The name of the built-in specification.
    pub name: String,
    /// `spec snapshot(0, 0)`: its initial value, a list if there are several; its default if there
    /// is none. No arguments.
    pub initial: Vec<SpecTerm>,
    /// One line for each operation.
    pub lines: Vec<SpecLine>,
    /// Where the name stands.
    pub span: Span,
}

/// `Enqueue = enqueue(val);` or `Dequeue_empty = dequeue() -> NULL;`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpecLine {
    /// The operation of the model.
    pub operation: OperationId,
    /// The operation of the specification.
    pub method: String,
    /// What is passed: arguments of the operation or constants.
    pub arguments: Vec<SpecTerm>,
    /// What is answered.
    pub response: SpecResponse,
    /// Where it stands.
    pub span: Span,
}

/// What an operation answers, as its specification sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SpecResponse {
    /// What it returns: nothing, a value, or a list of values.
    Returned,
    /// `-> NULL`, `-> true`: always this.
    Always(Vec<SpecTerm>),
    /// `-> result == k, 0`: whether it returns these.
    Whether(Vec<SpecTerm>),
}

/// A value passed to or answered by a specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpecTerm {
    /// An argument of the operation.
    Argument(LocalId),
    /// A number.
    Int(i64),
    /// `true`, `false`
    Bool(bool),
    /// `NULL`
    Null,
}

impl Condition {
    /// The condition that always holds.
    pub fn always() -> Condition {
        Condition::All(Vec::new())
    }

    /// Every atom in it, from left to right.
    pub fn atoms(&self) -> Vec<&Atom> {
        match self {
            Condition::All(parts) | Condition::Any(parts) => {
                parts.iter().flat_map(Condition::atoms).collect()
            }
            Condition::Atom(atom) => vec![atom],
        }
    }

    /// Its negation in negation normal form. Where a term is not defined, neither holds.
    pub fn negated(&self) -> Condition {
        match self {
            Condition::All(parts) => Condition::Any(parts.iter().map(Condition::negated).collect()),
            Condition::Any(parts) => Condition::All(parts.iter().map(Condition::negated).collect()),
            Condition::Atom(atom) => {
                Condition::Atom(Atom { relation: atom.relation.negated(), ..atom.clone() })
            }
        }
    }
}

impl Relation {
    /// The relation that holds between two integers when this one does not.
    pub fn negated(self) -> Relation {
        match self {
            Relation::Equal => Relation::NotEqual,
            Relation::NotEqual => Relation::Equal,
            Relation::Less => Relation::GreaterOrEqual,
            Relation::LessOrEqual => Relation::Greater,
            Relation::Greater => Relation::LessOrEqual,
            Relation::GreaterOrEqual => Relation::Less,
        }
    }
}

impl Model {
    /// The sub-operation with this identity.
    pub fn sub_operation(&self, id: SubOperationId) -> &SubOperation {
        &self.operations[id.operation.0].sub_operations[id.index]
    }

    /// Every sub-operation of every operation, in order.
    pub fn sub_operations(&self) -> impl Iterator<Item = SubOperationId> + '_ {
        self.operations.iter().enumerate().flat_map(|(operation, body)| {
            let operation = OperationId(operation);
            (0..body.sub_operations.len()).map(move |index| SubOperationId { operation, index })
        })
    }

    /// The operation called `name`.
    pub fn operation(&self, name: &str) -> Option<OperationId> {
        self.operations.iter().position(|operation| operation.name == name).map(OperationId)
    }

    /// The type of a field.
    pub fn field(&self, of: StructId, field: FieldId) -> &Variable {
        &self.structs[of.0].fields[field.0]
    }
}
