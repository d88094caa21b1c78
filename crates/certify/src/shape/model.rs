//! What the checker needs to know of a model, found again from its steps; and whether what the
//! argument rests on holds of it.

use super::state::{Class, Holder, Word};
use super::{ShapeError, refused};
use linchpin_ir::program::{Action, Body, Operation, Place, Program, SpecSource, Type, Variable};
use linchpin_spec::Value;

/// What a word of a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cell {
    /// A reference.
    Link(usize),
    /// A truth value.
    Truth(usize),
    /// A lock.
    Lock(usize),
    /// An integer that only `new` writes.
    Value(usize),
    /// The key of a node of a set.
    Key,
    /// Something that is not followed.
    Open,
}

/// What the model is compared with.
#[derive(Clone, Debug)]
pub enum Reference {
    /// A list with a first node.
    Stack(ListNode),
    /// A list with a dummy, a first and a last node.
    Queue(ListNode),
    /// Whether K is in the set.
    Bit,
    /// A sequential program.
    Program(Box<Program>),
}

/// The nodes of a built-in reference.
#[derive(Clone, Copy, Debug)]
pub struct ListNode {
    /// The struct.
    pub of: usize,
    /// The link.
    pub link: usize,
}

/// What an operation does, according to the specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Does {
    /// `push`, `enqueue`.
    Put,
    /// `pop`, `dequeue`.
    Take,
    /// `peek`.
    Peek,
    /// `add`.
    Add,
    /// `remove`.
    Remove,
    /// `contains`.
    Contains,
    /// What the reference program does.
    Other,
}

/// A model.
#[derive(Clone, Debug)]
pub struct Model {
    /// Its steps.
    pub program: Program,
    /// Whether integers are keys of a set; otherwise they are values that are only moved.
    pub keys: bool,
    /// What it is compared with.
    pub reference: Reference,
    /// What its operations do.
    pub does: Vec<Does>,
    /// The words of each struct.
    pub cells: Vec<Vec<Cell>>,
    /// The shared word from which the list of a set is walked, and the link that is followed.
    pub root: Option<(usize, usize)>,
    /// The operations that threads of each role call.
    pub roles: Vec<Vec<usize>>,
}

/// The components of a record or tuple.
pub fn components(ty: &Type) -> Option<Vec<&Type>> {
    match ty {
        Type::Record { fields, .. } => Some(fields.iter().map(|(_, ty)| ty).collect()),
        Type::Tuple(items) => Some(items.iter().collect()),
        _ => None,
    }
}

/// The types of the words of a value.
pub fn words_of(ty: &Type) -> Vec<&Type> {
    match components(ty) {
        Some(items) => items.into_iter().flat_map(words_of).collect(),
        None => vec![ty],
    }
}

/// How many words a value has.
pub fn width(ty: &Type) -> usize {
    words_of(ty).len()
}

/// How many words variables have.
pub fn total(variables: &[Variable]) -> usize {
    variables.iter().map(|variable| width(&variable.ty)).sum()
}

/// Where the words of a variable start.
pub fn start(variables: &[Variable], at: usize) -> usize {
    total(&variables[..at.min(variables.len())])
}

/// A constant as words.
pub fn constant(value: &Value, ty: Option<&Type>, keys: bool) -> Vec<Word> {
    vec![match value {
        Value::Null if ty == Some(&Type::Lock) => Word::Lock(Holder::Free),
        Value::Null => Word::Null,
        Value::Bool(truth) => Word::Bool(*truth),
        Value::Int(i64::MIN) if keys => Word::Key(Class::Min),
        Value::Int(i64::MAX) if keys => Word::Key(Class::Max),
        Value::Int(number) if i8::try_from(*number).is_ok() => Word::Int(*number),
        Value::List(items) => {
            let types = ty.and_then(components);
            let ty = |at: usize| types.as_ref().and_then(|types| types.get(at).copied());
            let items = items.iter().enumerate();
            return items.flat_map(|(at, item)| constant(item, ty(at), keys)).collect();
        }
        _ => Word::Any,
    }]
}

/// The words of variables before anything is assigned.
pub fn initial(variables: &[Variable], keys: bool) -> Vec<Word> {
    let mut words = Vec::new();
    for variable in variables {
        let count = width(&variable.ty);
        let mut own = constant(&variable.initial, Some(&variable.ty), keys);
        if let ([word], true) = (&own[..], count > 1) {
            own = vec![*word; count];
        }
        own.resize(count, Word::Null);
        words.extend(own);
    }
    words
}

impl Model {
    /// Looks at a program. Refuses what the argument does not cover: memory that is given back,
    /// linked loads, arrays, variables that threads keep, the number of threads as a constant, a
    /// specification that does not start empty.
    pub fn new(
        program: Program,
        own_code: bool,
        roles: Vec<Vec<usize>>,
    ) -> Result<Model, ShapeError> {
        applicable(&program)?;
        if let Some(block) = &program.reference {
            applicable(block)?;
        }
        let builtin = match (&program.spec, &program.reference, own_code) {
            (_, Some(_), _) | (_, _, true) => None,
            (SpecSource::Builtin { name, init }, ..) => {
                if init.as_ref().is_some_and(|value| *value != Value::Null) {
                    return Err(refused("the specification does not start empty"));
                }
                Some(name.clone())
            }
            (SpecSource::Model(_), ..) => return Err(refused("there is no reference for it")),
        };
        let keys = builtin.as_deref() == Some("set");
        let cells = cells(&program, keys)?;
        let reference = match (builtin.as_deref(), &program.reference) {
            (Some("stack"), _) => Reference::Stack(list_node(&program, &cells)?),
            (Some("queue"), _) => Reference::Queue(list_node(&program, &cells)?),
            (Some("set"), _) => Reference::Bit,
            (Some(_), _) => return Err(refused("there is no reference for it")),
            (None, Some(block)) if !own_code => Reference::Program(block.clone()),
            (None, _) => {
                Reference::Program(Box::new(Program { reference: None, ..program.clone() }))
            }
        };
        let does = program.operations.iter().map(|operation| does(operation, builtin.as_deref()));
        let does = does.collect::<Option<Vec<Does>>>();
        let does = does.ok_or(refused("an operation is not one of the specification"))?;
        let root = if keys { Some(root(&program, &cells)?) } else { None };
        Ok(Model { program, keys, reference, does, cells, root, roles })
    }

    /// How many links a struct has.
    pub fn links(&self, of: usize) -> usize {
        let cells = self.cells.get(of).into_iter().flatten();
        cells.filter(|cell| matches!(cell, Cell::Link(_))).count()
    }

    /// The variables of the reference program.
    pub fn reference_variables(&self) -> &[Variable] {
        match &self.reference {
            Reference::Program(program) => &program.shared,
            _ => &[],
        }
    }

    /// How many words the reference has.
    pub fn reference_words(&self) -> usize {
        match &self.reference {
            Reference::Stack(_) | Reference::Bit => 1,
            Reference::Queue(_) => 2,
            Reference::Program(program) => total(&program.shared),
        }
    }
}

fn bodies(program: &Program) -> impl Iterator<Item = &Body> {
    program.init.iter().chain(program.operations.iter().map(|operation| &operation.body))
}

fn actions(program: &Program) -> impl Iterator<Item = &Action> {
    let nodes = bodies(program).flat_map(|body| &body.nodes);
    nodes.flat_map(|node| &node.edges).flat_map(|edge| &edge.actions).map(|(action, _)| action)
}

fn applicable(program: &Program) -> Result<(), ShapeError> {
    if !program.thread_locals.is_empty() || program.counts_threads {
        return Err(refused("threads keep variables, or their number is used"));
    }
    for action in actions(program) {
        match action {
            Action::Free(_) => return Err(refused("memory is given back")),
            Action::LoadLinked { .. } | Action::StoreConditional { .. } | Action::Update { .. } => {
                return Err(refused("linked loads and collections are not followed"));
            }
            _ => {}
        }
    }
    let fields = program.structs.iter().flat_map(|object| &object.fields);
    let locals = bodies(program).flat_map(|body| &body.locals);
    for variable in program.shared.iter().chain(fields).chain(locals) {
        let single = |ty: &&Type| match ty {
            Type::Unit | Type::Int | Type::Bool | Type::Tid | Type::Lock | Type::Struct(_) => true,
            Type::Option(inner) => matches!(**inner, Type::Int | Type::Bool | Type::Tid),
            _ => false,
        };
        if !words_of(&variable.ty).iter().all(single) {
            return Err(refused("arrays and collections are not followed"));
        }
    }
    Ok(())
}

fn does(operation: &Operation, builtin: Option<&str>) -> Option<Does> {
    let parameters: Vec<&Type> = operation.parameters.iter().map(|at| &at.ty).collect();
    let Some(builtin) = builtin else { return Some(Does::Other) };
    let does = match (builtin, operation.name.as_str()) {
        ("stack", "push") | ("queue", "enqueue") => Does::Put,
        ("stack", "pop") | ("queue", "dequeue") => Does::Take,
        ("stack" | "queue", "peek") => Does::Peek,
        ("set", "add") => Does::Add,
        ("set", "remove") => Does::Remove,
        ("set", "contains") => Does::Contains,
        _ => return None,
    };
    let fits = match does {
        Does::Put => parameters == [&Type::Int] && operation.response == Type::Unit,
        Does::Take | Does::Peek => {
            parameters.is_empty() && operation.response == Type::Option(Box::new(Type::Int))
        }
        _ => parameters == [&Type::Int] && operation.response == Type::Bool,
    };
    fits.then_some(does)
}

/// Whether something other than `new` writes a field, in the model or in its reference.
fn is_written(program: &Program, of: usize, field: usize) -> bool {
    let all = actions(program).chain(program.reference.iter().flat_map(|block| actions(block)));
    let is = |place: &&Place| match place {
        Place::Field { of: o, field: f, .. } | Place::FieldElement { of: o, field: f, .. } => {
            (*o, *f) == (of, field)
        }
        _ => false,
    };
    let mut writes = all.filter(|action| !matches!(action, Action::Read { .. }));
    writes.any(|action| action.places().iter().any(is))
}

fn cells(program: &Program, keys: bool) -> Result<Vec<Vec<Cell>>, ShapeError> {
    let mut all = Vec::new();
    for (of, object) in program.structs.iter().enumerate() {
        let (mut links, mut truths, mut locks, mut values, mut key) = (0, 0, 0, 0, false);
        let next = |counter: &mut usize| {
            *counter += 1;
            *counter - 1
        };
        let mut cells = Vec::new();
        for (field, variable) in object.fields.iter().enumerate() {
            for ty in words_of(&variable.ty) {
                cells.push(match ty {
                    Type::Struct(_) => Cell::Link(next(&mut links)),
                    Type::Bool => Cell::Truth(next(&mut truths)),
                    Type::Lock => Cell::Lock(next(&mut locks)),
                    Type::Int if is_written(program, of, field) => Cell::Open,
                    Type::Int if keys && key => return Err(refused("a node has two keys")),
                    Type::Int if keys => {
                        key = true;
                        Cell::Key
                    }
                    Type::Int => Cell::Value(next(&mut values)),
                    _ => Cell::Open,
                });
            }
        }
        all.push(cells);
    }
    Ok(all)
}

/// The links of a struct to its own kind, by number.
fn own_links(program: &Program, cells: &[Vec<Cell>], of: usize) -> Vec<usize> {
    let types = program.structs[of].fields.iter().flat_map(|field| words_of(&field.ty));
    let links = types.zip(&cells[of]).filter_map(|(ty, cell)| match (ty, cell) {
        (Type::Struct(to), Cell::Link(link)) if *to == of => Some(*link),
        _ => None,
    });
    links.collect()
}

fn list_node(program: &Program, cells: &[Vec<Cell>]) -> Result<ListNode, ShapeError> {
    for of in 0..program.structs.len() {
        let values = cells[of].iter().filter(|cell| matches!(cell, Cell::Value(_))).count();
        if let (Some(link), 1) = (own_links(program, cells, of).first(), values) {
            return Ok(ListNode { of, link: *link });
        }
    }
    Err(refused("no struct can be a node of the reference"))
}

fn root(program: &Program, cells: &[Vec<Cell>]) -> Result<(usize, usize), ShapeError> {
    let mut found = Vec::new();
    for (at, variable) in program.shared.iter().enumerate() {
        let Type::Struct(of) = variable.ty else { continue };
        if let ([link], true) = (&own_links(program, cells, of)[..], cells[of].contains(&Cell::Key))
        {
            found.push((start(&program.shared, at), *link));
        }
    }
    match found[..] {
        [root] => Ok(root),
        _ => Err(refused("there is not one variable from which a list of keys starts")),
    }
}
