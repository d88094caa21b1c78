//! Whether the analysis applies to a program, and the program as it sees it.
//!
//! What soundness rests on is checked here or, where it depends on the execution, at each step.

use crate::correlate::Machine;
use crate::execute::{Actor, Ended, Executor, Path};
use crate::failure::Failure;
use crate::heap::{Flags, Heap, Side};
use crate::list::is_below;
use crate::model::{
    Cell, Code, Does, ListNode, Model, Reference, actions, bodies, builtin, cells, initial_words,
    offsets,
};
use crate::state::{State, Thread};
use crate::value::{Class, Integers, NodeId, Scalar, Words, words_of};
use linchpin_ir::program::{Action, Expr, Operation, Program, Type, UnaryOp, Variable};
use linchpin_spec::Value;
use smallvec::{SmallVec, smallvec};
use thiserror::Error;

/// Which sequential object a model is compared with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReferenceChoice {
    /// The model's `reference` block if it has one, else the specification as a small structure.
    #[default]
    Specification,
    /// The model's own code, run alone, as the paper does.
    Own,
}

/// Why the analysis does not apply to a program.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NotApplicable {
    /// Memory is given back.
    #[error("it frees memory, and with that no node is known to stay what it is")]
    Frees,
    /// Linked loads.
    #[error("it uses `ll` and `sc`")]
    LinkedLoads,
    /// Arrays and collections.
    #[error("`{0}` is an array or collection: only nodes, records and single words are tracked")]
    Array(String),
    /// Variables that threads keep between operations.
    #[error("threads keep variables between operations")]
    ThreadLocals,
    /// Numbers of threads, and the bits of numbers.
    #[error("it counts with {0}")]
    Numbers(&'static str),
    /// The number of threads is used.
    #[error("it uses the number of its threads, so it is another program for another number")]
    CountsThreads,
    /// No reference for the specification.
    #[error(
        "there is no reference for this specification: stacks, queues and sets have one; others need a `reference` block"
    )]
    Specification,
    /// The specification does not start empty.
    #[error("the specification starts with content, and references start empty")]
    Content,
    /// An operation that the specification does not have, or of another type.
    #[error("`{0}` is not an operation of the specification")]
    Operation(String),
    /// No struct that can be a node of the reference.
    #[error("no struct has a value and a link to its own kind, as the nodes of the reference need")]
    NoNode,
    /// The list of a set is not found.
    #[error("there is not one shared variable from which a list of keys starts")]
    NoRoot,
    /// The list of a set does not have bounds.
    #[error("the list of keys does not start below every key and end above every key")]
    NoBounds,
    /// The model's own code as the reference of a set.
    #[error("a set is compared through one arbitrary key, not with its own code")]
    OwnSet,
    /// Any number of threads in the paper's domain.
    #[error("views are the fast domain's: the paper's is for a number of threads")]
    ViewsOfKleene,
    /// Too many cells.
    #[error("{0}")]
    Cells(String),
    /// `init` fails or gives no state.
    #[error("`init` cannot be executed: {0}")]
    Init(String),
}

/// The program as the analysis sees it.
pub fn prepare(program: &Program, choice: ReferenceChoice) -> Result<Model, NotApplicable> {
    refuse(program)?;
    if !starts_empty(program) {
        return Err(NotApplicable::Content);
    }
    let block = program.reference.as_deref();
    if let Some(block) = block {
        refuse(block)?;
    }
    let is_set = builtin(program) == Some("set") && block.is_none();
    if is_set && choice == ReferenceChoice::Own {
        return Err(NotApplicable::OwnSet);
    }
    let integers = if is_set { Integers::Keys } else { Integers::Values };
    let (cells, fields) = cells(program, integers).map_err(NotApplicable::Cells)?;
    let does = program.operations.iter().map(|operation| does(program, operation, choice));
    let does: Vec<Does> = does.collect::<Result<_, _>>()?;
    let reference = match (choice, block, builtin(program)) {
        (ReferenceChoice::Own, _, _) => {
            let mut own = program.clone();
            own.reference = None;
            Reference::Program(Box::new(own))
        }
        (_, Some(block), _) => Reference::Program(Box::new(block.clone())),
        (_, None, Some("stack")) => Reference::Stack(list_node(program, &cells)?),
        (_, None, Some("queue")) => Reference::Queue(list_node(program, &cells)?),
        (_, None, Some("set")) => Reference::Bit,
        _ => return Err(NotApplicable::Specification),
    };
    let code = |operation: &Operation| {
        let parameters = operation.parameters.iter().map(|at| at.ty.clone()).collect();
        Code::new(&operation.body, parameters, operation.response.clone())
    };
    let (reference_operations, reference_shared) = match &reference {
        Reference::Program(program) => {
            (program.operations.iter().map(code).collect(), offsets(&program.shared))
        }
        _ => (Vec::new(), Vec::new()),
    };
    let shared = offsets(&program.shared);
    let root = match integers {
        Integers::Keys => Some(root(program, &cells, &shared)?),
        Integers::Values => None,
    };
    let mut roles: Vec<Vec<usize>> = Vec::new();
    let mut threads = Vec::new();
    for thread in &program.threads {
        let at = roles.iter().position(|role| *role == thread.operations).unwrap_or_else(|| {
            roles.push(thread.operations.clone());
            roles.len() - 1
        });
        threads.push(u8::try_from(at).unwrap_or(u8::MAX));
    }
    Ok(Model {
        program: program.clone(),
        integers,
        reference,
        does,
        operations: program.operations.iter().map(code).collect(),
        reference_operations,
        cells,
        fields,
        shared,
        reference_shared,
        root,
        roles,
        threads,
    })
}

impl Model {
    /// The variables of a reference program.
    pub fn reference_variables(&self) -> &[Variable] {
        match &self.reference {
            Reference::Program(program) => &program.shared,
            _ => &[],
        }
    }
}

fn refuse(program: &Program) -> Result<(), NotApplicable> {
    if !program.thread_locals.is_empty() {
        return Err(NotApplicable::ThreadLocals);
    }
    if program.counts_threads {
        return Err(NotApplicable::CountsThreads);
    }
    for action in bodies(program).flat_map(actions) {
        match action {
            Action::Free(_) => return Err(NotApplicable::Frees),
            Action::LoadLinked { .. } | Action::StoreConditional { .. } => {
                return Err(NotApplicable::LinkedLoads);
            }
            Action::Update { .. } => return Err(NotApplicable::Specification),
            _ => {}
        }
        for expr in action.expressions() {
            refuse_numbers(expr)?;
        }
    }
    let locals = bodies(program).flat_map(|body| &body.locals);
    let fields = program.structs.iter().flat_map(|object| &object.fields);
    for variable in program.shared.iter().chain(fields).chain(locals) {
        let mut words = Vec::new();
        words_of(&variable.ty, &mut words);
        if words.iter().any(|ty| matches!(ty, Type::Wrapping(_))) {
            return Err(NotApplicable::Numbers("integers that wrap"));
        }
        if !words.iter().all(|ty| is_word(ty)) {
            return Err(NotApplicable::Array(variable.name.clone()));
        }
    }
    Ok(())
}

fn refuse_numbers(expr: &Expr) -> Result<(), NotApplicable> {
    let mut found = None;
    expr.walk(&mut |inner| match inner {
        Expr::Unary(UnaryOp::ThreadNumber, _) => found = Some("the numbers of threads"),
        Expr::Binary(operator, ..) if operator.is_on_bits() => found = Some("bits"),
        _ => {}
    });
    found.map_or(Ok(()), |what| Err(NotApplicable::Numbers(what)))
}

fn is_word(ty: &Type) -> bool {
    match ty {
        Type::Unit | Type::Int | Type::Bool | Type::Tid | Type::Lock | Type::Struct(_) => true,
        Type::Option(inner) => matches!(**inner, Type::Int | Type::Bool | Type::Tid),
        _ => false,
    }
}

fn does(
    program: &Program,
    operation: &Operation,
    choice: ReferenceChoice,
) -> Result<Does, NotApplicable> {
    if choice == ReferenceChoice::Own || program.reference.is_some() {
        return Ok(Does::Other);
    }
    let parameters: Vec<&Type> = operation.parameters.iter().map(|at| &at.ty).collect();
    let optional = Type::Option(Box::new(Type::Int));
    let known = match (builtin(program), operation.name.as_str()) {
        (Some("stack"), "push") | (Some("queue"), "enqueue") => Does::Put,
        (Some("stack"), "pop") | (Some("queue"), "dequeue") => Does::Take,
        (Some("stack" | "queue"), "peek") => Does::Peek,
        (Some("set"), "add") => Does::Add,
        (Some("set"), "remove") => Does::Remove,
        (Some("set"), "contains") => Does::Contains,
        (Some("stack" | "queue" | "set"), _) => {
            return Err(NotApplicable::Operation(operation.name.clone()));
        }
        _ => return Err(NotApplicable::Specification),
    };
    let fits = match known {
        Does::Put => parameters == [&Type::Int] && operation.response == Type::Unit,
        Does::Take | Does::Peek => parameters.is_empty() && operation.response == optional,
        _ => parameters == [&Type::Int] && operation.response == Type::Bool,
    };
    match fits {
        true => Ok(known),
        false => Err(NotApplicable::Operation(operation.name.clone())),
    }
}

/// The nodes of a built-in reference: the struct with one value and a link to its own kind.
fn list_node(program: &Program, cells: &[Vec<Cell>]) -> Result<ListNode, NotApplicable> {
    for (of, object) in program.structs.iter().enumerate() {
        let mut types = Vec::new();
        object.fields.iter().for_each(|field| words_of(&field.ty, &mut types));
        let link = types.iter().zip(&cells[of]).find_map(|(ty, cell)| match (ty, cell) {
            (Type::Struct(to), Cell::Link(link)) if *to == of => Some(*link),
            _ => None,
        });
        let values = cells[of].iter().filter(|cell| matches!(cell, Cell::Value(_))).count();
        if let (Some(link), 1) = (link, values) {
            let of = u8::try_from(of).map_err(|_| NotApplicable::NoNode)?;
            return Ok(ListNode { of, link, value: 0 });
        }
    }
    Err(NotApplicable::NoNode)
}

/// The shared variable from which the list of keys starts, and the link that is followed.
fn root(
    program: &Program,
    cells: &[Vec<Cell>],
    shared: &[usize],
) -> Result<(usize, u8), NotApplicable> {
    let mut found = Vec::new();
    for (at, variable) in program.shared.iter().enumerate() {
        let Type::Struct(of) = variable.ty else { continue };
        let mut types = Vec::new();
        program.structs[of].fields.iter().for_each(|field| words_of(&field.ty, &mut types));
        let links = types.iter().zip(&cells[of]).filter_map(|(ty, cell)| match (ty, cell) {
            (Type::Struct(to), Cell::Link(link)) if *to == of => Some(*link),
            _ => None,
        });
        let links: Vec<u8> = links.collect();
        if let ([link], true) = (&links[..], cells[of].contains(&Cell::Key)) {
            found.push((shared[at], *link));
        }
    }
    match found[..] {
        [root] => Ok(root),
        _ => Err(NotApplicable::NoRoot),
    }
}

/// The states before the first call, with threads of these kinds.
pub fn initial<H: Heap>(machine: &Machine, roles: &[u8]) -> Result<Vec<State<H>>, NotApplicable> {
    let model = &machine.model;
    let words = |variables: &[Variable]| {
        let mut words = Words::new();
        variables.iter().for_each(|at| initial_words(at, model.integers, &mut words));
        words
    };
    let blank = State {
        shared: words(&model.program.shared).into_iter().collect(),
        reference: words(model.reference_variables()).into_iter().collect(),
        edge: None,
        threads: roles.iter().map(|role| Thread::idle(*role)).collect(),
        heap: H::empty(),
    };
    let path = Path { state: blank, locals: smallvec![], visible: false, allocated: smallvec![] };
    let mut states = Vec::new();
    for path in run_init(model, &model.program, Side::Candidate, path)? {
        for path in reference_init(model, path)? {
            let mut state = path.state;
            find_list(model, &mut state)?;
            state.canonical();
            states.push(state);
        }
    }
    Ok(states)
}

/// Runs the `init` of either side.
fn run_init<H: Heap>(
    model: &Model,
    program: &Program,
    side: Side,
    path: Path<H>,
) -> Result<Vec<Path<H>>, NotApplicable> {
    let Some(body) = &program.init else { return Ok(vec![path]) };
    let code = Code::new(body, Vec::new(), Type::Unit);
    let executor =
        Executor { model, code: &code, actor: Actor::Init(side), operation: 0, machine: None };
    let path = Path { locals: code.initial(model.integers), ..path };
    let stopped =
        |failure: Failure| NotApplicable::Init(format!("line {}: {}", failure.line, failure.cause));
    let mut out = Vec::new();
    for ended in executor.run(path, body.entry).map_err(stopped)? {
        match ended {
            Ended::Returned(path, ..) => out.push(path),
            Ended::At(..) => return Err(NotApplicable::Init("it yields".to_owned())),
        }
    }
    Ok(out)
}

fn reference_init<H: Heap>(
    model: &Model,
    mut path: Path<H>,
) -> Result<Vec<Path<H>>, NotApplicable> {
    match &model.reference {
        Reference::Program(program) => return run_init(model, program, Side::Reference, path),
        Reference::Stack(_) => path.state.reference = smallvec![Scalar::Null],
        Reference::Bit => path.state.reference = smallvec![Scalar::Bool(false)],
        Reference::Queue(list) => {
            // Its dummy is the node that `init` made, if it made one.
            let flags = Flags::of_reference(list.of);
            let like = |node: &NodeId| path.state.heap.flags(*node).of == list.of;
            let made = path.allocated.iter().map(|made| made.node).find(like);
            let dummy = match made {
                Some(node) => {
                    path.state.heap.correlate(node);
                    node
                }
                None => path
                    .state
                    .heap
                    .allocate(flags)
                    .map_err(|lost| NotApplicable::Init(lost.to_string()))?,
            };
            path.state.reference = smallvec![Scalar::Node(dummy), Scalar::Node(dummy)];
        }
    }
    Ok(vec![path])
}

/// Marks the nodes of the walked list, and finds where the arbitrary key belongs.
fn find_list<H: Heap>(model: &Model, state: &mut State<H>) -> Result<(), NotApplicable> {
    let Some((root, link)) = model.root else { return Ok(()) };
    let mut at = state.shared[root].node().ok_or(NotApplicable::NoBounds)?;
    let mut seen: SmallVec<[NodeId; 8]> = smallvec![];
    if state.heap.flags(at).class != Class::Min {
        return Err(NotApplicable::NoBounds);
    }
    loop {
        if seen.contains(&at) {
            return Err(NotApplicable::NoBounds);
        }
        seen.push(at);
        let mut flags = state.heap.flags(at);
        flags.reach = true;
        state.heap.set_flags(at, flags);
        match state.heap.definite(Side::Candidate, at, link) {
            Some(Some(next)) => {
                let (first, second) = (flags.class, state.heap.flags(next).class);
                if !crate::coerce::may_follow(first, second) {
                    return Err(NotApplicable::NoBounds);
                }
                if is_below(first) && !is_below(second) {
                    state.edge = Some((at, next));
                }
                at = next;
            }
            Some(None) if flags.class == Class::Max => break,
            _ => return Err(NotApplicable::NoBounds),
        }
    }
    match state.edge {
        Some(_) => Ok(()),
        None => Err(NotApplicable::NoBounds),
    }
}

/// Whether a specification starts empty, as the references here do.
fn starts_empty(program: &Program) -> bool {
    match &program.spec {
        linchpin_ir::program::SpecSource::Builtin { init, .. } => {
            init.as_ref().is_none_or(|value| matches!(value, Value::Null))
        }
        linchpin_ir::program::SpecSource::Model(_) => true,
    }
}
