//! States as pictures: what paper 001 draws in Figure 3.1(d), as data that `report` draws.

use crate::analysis::{Analysis, Trace, TraceMove};
use crate::failure::Cause;
use crate::heap::{Flags, Heap, Kind, LINKS, Side};
use crate::model::{Cell, Code, Model, Reference};
use crate::state::{Phase, State, Thread};
use crate::targets::{NULL, Targets, nodes_in};
use crate::value::{Class, Holder, Integers, NodeId, Scalar, words_of};
use linchpin_engine::{
    Holds, KeyClass, LinkSide, LockHolder, Name, NodeKind, Picture, PictureLink, PictureMove,
    PictureNode, PictureThread, Scope, Stands,
};
use linchpin_ir::print::Names;
use linchpin_ir::program::{
    Action, Body, Expr, NodeId as At, Place as Cells, Target, Type, Variable,
};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// A trace or a proof is shown in at most so many pictures.
pub const MOST: usize = 30;

/// The answers for which there is a `seen` bit, by bit.
const SEEN: [&str; 3] = ["none", "false", "true"];

/// A heap that can be looked at.
pub trait Visible: Heap {
    /// What is definite about each node, and whether it is a summary.
    fn nodes(&self) -> Vec<(Flags, bool)>;

    /// Where a link of a node may go, null included; and whether it surely goes there.
    fn ways(&self, side: Side, node: usize, link: usize) -> Vec<(Option<usize>, bool)>;
}

impl Visible for Targets {
    fn nodes(&self) -> Vec<(Flags, bool)> {
        self.nodes.iter().map(|node| (node.flags, node.summary)).collect()
    }

    fn ways(&self, side: Side, node: usize, link: usize) -> Vec<(Option<usize>, bool)> {
        let mask = self.nodes[node].side(side)[link];
        let one = mask.count_ones() == 1 && !self.nodes[node].summary;
        let null = (mask & NULL != 0).then_some((None, one));
        let to = nodes_in(mask).map(|to| (Some(to), one && !self.nodes[to].summary));
        to.chain(null).collect()
    }
}

/// The pictures of a trace: the states from which a shared access is made, and the last one, with
/// what cannot be explained. Of a long trace, the last ones.
pub fn of_trace(analysis: &Analysis, trace: &Trace) -> Vec<Picture> {
    let model = &analysis.machine.model;
    let last = trace.moves.len().saturating_sub(1);
    let mut pictures: Vec<Picture> = Vec::new();
    for (at, made) in trace.moves.iter().enumerate() {
        if at != last && !is_shared(model, made) {
            continue;
        }
        let mut picture = of_state(model, &made.state);
        let called = match trace.moves.get(at + 1) {
            Some(after) => newly_called(made, after),
            None => Some(trace.failure.operation),
        };
        let mut next = the_move(model, made, called);
        if at == last {
            next.line = Some(trace.failure.line);
            if matches!(trace.failure.cause, Cause::WrongAnswer | Cause::NoPoint) {
                next.text += "; return";
            }
            picture.failure = Some(trace.failure.cause.to_string());
        }
        picture.next = Some(next);
        pictures.push(picture);
    }
    pictures.split_off(pictures.len().saturating_sub(MOST))
}

/// The pictures of a proof: of the states or views that it kept, some from every place of the code,
/// those with many nodes first, in the order of the code.
pub fn of_proof(analysis: &Analysis) -> Vec<Picture> {
    let model = &analysis.machine.model;
    let mut places: BTreeMap<Place, Vec<&State<Targets>>> = BTreeMap::new();
    for reached in &analysis.explored.states {
        let place = reached.state.threads.iter().map(|thread| thread.at).collect();
        places.entry(place).or_default().push(&reached.state);
    }
    let judged = |state: &State<Targets>| state.threads.iter().any(|at| !is_aside(model, at));
    for states in places.values_mut() {
        states.sort_by_key(|state| Reverse((judged(state), state.heap.nodes.len())));
    }
    // So many of each place that all together are not too many, but at least one.
    let shown = |each: usize| places.values().map(|of| of.len().min(each)).sum::<usize>();
    let each = (1..=MOST).take_while(|each| shown(*each) <= MOST).last().unwrap_or(1);
    let states = places.values().flat_map(|states| states.iter().take(each)).take(MOST);
    states.map(|state| of_state(model, state)).collect()
}

/// Where the threads of a state are.
type Place = Vec<Option<(u8, u16)>>;

/// Whether a call is not judged: it is about another key than K.
fn is_aside(model: &Model, thread: &Thread) -> bool {
    model.integers == Integers::Keys && thread.arguments.first() != Some(&Scalar::Key(Class::At))
}

/// A state as a picture.
pub fn of_state<H: Visible>(model: &Model, state: &State<H>) -> Picture {
    let mut picture = Picture::default();
    let nodes = state.heap.nodes();
    picture.nodes.extend(nodes.iter().map(|(flags, summary)| node(model, *flags, *summary)));
    for (at, (flags, _)) in nodes.iter().enumerate() {
        links(model, state, at, *flags, &mut picture.links);
    }
    picture.names = common_names(model, state);
    for (number, thread) in state.threads.iter().enumerate() {
        picture.threads.push(the_thread(model, state, number, thread));
        thread_names(model, state, number, thread, &mut picture.names);
    }
    picture
}

fn node(model: &Model, flags: Flags, summary: bool) -> PictureNode {
    let of = usize::from(flags.of);
    let mut marks = Vec::new();
    let mut locks = Vec::new();
    for (cell, name) in model.cells[of].iter().zip(cell_names(model, of)) {
        match cell {
            Cell::Flag(bit) => marks.push((name, flags.bools >> bit & 1 == 1)),
            Cell::Lock(lock) => {
                let holder = match flags.locks.get(usize::from(*lock)) {
                    Some(Holder::Thread(thread)) => LockHolder::Thread(usize::from(*thread)),
                    Some(Holder::Other) => LockHolder::Another,
                    Some(Holder::Reference) => LockHolder::Reference,
                    Some(Holder::Free) | None => continue,
                };
                locks.push((name, holder));
            }
            _ => {}
        }
    }
    PictureNode {
        kind: match flags.kind {
            Kind::Uniform => NodeKind::Uniform,
            Kind::Nonuniform => NodeKind::Nonuniform,
            Kind::Candidate => NodeKind::Candidate,
            Kind::Reference => NodeKind::Reference,
        },
        summary,
        of: model.program.structs[of].name.clone(),
        key: match flags.class {
            Class::None => None,
            Class::Min => Some(KeyClass::Least),
            Class::Below => Some(KeyClass::Below),
            Class::At => Some(KeyClass::Equal),
            Class::Above => Some(KeyClass::Above),
            Class::Max => Some(KeyClass::Greatest),
        },
        values: Vec::new(),
        marks,
        locks,
        in_list: flags.reach,
        private_to: flags.owner.map(usize::from),
    }
}

fn links<H: Visible>(
    model: &Model,
    state: &State<H>,
    from: usize,
    flags: Flags,
    out: &mut Vec<PictureLink>,
) {
    let sides: &[(LinkSide, Side)] = match flags.kind {
        Kind::Uniform => &[(LinkSide::Both, Side::Candidate)],
        Kind::Candidate => &[(LinkSide::Candidate, Side::Candidate)],
        Kind::Reference => &[(LinkSide::Reference, Side::Reference)],
        Kind::Nonuniform => {
            &[(LinkSide::Candidate, Side::Candidate), (LinkSide::Reference, Side::Reference)]
        }
    };
    let of = usize::from(flags.of);
    for (cell, field) in model.cells[of].iter().zip(cell_names(model, of)) {
        let Cell::Link(link) = cell else { continue };
        let link = usize::from(*link);
        if link >= LINKS {
            continue;
        }
        for (shown, side) in sides {
            for (to, certain) in state.heap.ways(*side, from, link) {
                let (side, field) = (*shown, field.clone());
                out.push(PictureLink { from, side, field, to, certain });
            }
        }
    }
}

/// The variables that all threads share, those of the reference, and where K belongs.
fn common_names<H: Heap>(model: &Model, state: &State<H>) -> Vec<Name> {
    let mut names = Vec::new();
    let mut add = |scope: Scope, name: String, ty: Option<&Type>, word: Scalar| {
        if let Some(holds) = holds(model, state, word, ty) {
            names.push(Name { scope, name, holds });
        }
    };
    for ((name, ty), word) in word_names(&model.program.shared).into_iter().zip(&state.shared) {
        add(Scope::Shared, name, Some(ty), *word);
    }
    let fixed: &[&str] = match &model.reference {
        Reference::Stack(_) => &["topʳ"],
        Reference::Queue(_) => &["headʳ", "tailʳ"],
        Reference::Bit => &["K in the set"],
        Reference::Program(_) => &[],
    };
    for (name, word) in fixed.iter().zip(&state.reference) {
        add(Scope::Reference, (*name).to_owned(), None, *word);
    }
    let variables = word_names(model.reference_variables());
    for ((name, ty), word) in variables.into_iter().zip(&state.reference) {
        add(Scope::Reference, format!("{name}ʳ"), Some(ty), *word);
    }
    if let Some((before, after)) = state.edge {
        add(Scope::Key, "last below K".to_owned(), None, Scalar::Node(before));
        add(Scope::Key, "next".to_owned(), None, Scalar::Node(after));
    }
    names
}

fn thread_names<H: Heap>(
    model: &Model,
    state: &State<H>,
    number: usize,
    thread: &Thread,
    names: &mut Vec<Name>,
) {
    let scope = Scope::Thread(number);
    let Some((operation, _)) = thread.at else { return };
    let code = &model.operations[usize::from(operation)];
    for ((name, ty), word) in word_names(&code.body.locals).into_iter().zip(&thread.locals) {
        let hidden = name.starts_with('$') && word.node().is_none();
        let argument = matches!(word, Scalar::Argument(_));
        if let (false, Some(holds)) = (hidden || argument, holds(model, state, *word, Some(ty))) {
            names.push(Name { scope, name, holds });
        }
    }
    if let Phase::Post(Scalar::ValueOf(node, cell)) = thread.phase {
        let of = usize::from(state.heap.flags(node).of);
        let holds = Holds::Field(node.index(), value_name(model, of, cell));
        names.push(Name { scope, name: "answerʳ".to_owned(), holds });
    }
}

/// What a word is, if anything is known of it.
fn holds<H: Heap>(
    model: &Model,
    state: &State<H>,
    word: Scalar,
    ty: Option<&Type>,
) -> Option<Holds> {
    Some(match word {
        Scalar::Node(node) => Holds::Node(node.index()),
        Scalar::ValueOf(node, cell) => {
            let of = usize::from(state.heap.flags(node).of);
            Holds::Field(node.index(), value_name(model, of, cell))
        }
        word => Holds::Word(constant(word, ty)?),
    })
}

/// A word that names no node.
fn constant(word: Scalar, ty: Option<&Type>) -> Option<String> {
    Some(match word {
        Scalar::Null if matches!(ty, Some(Type::Option(_))) => "none".to_owned(),
        Scalar::Null => "null".to_owned(),
        Scalar::Bool(truth) => truth.to_string(),
        Scalar::Int(number) => number.to_string(),
        Scalar::Key(class) => key_words(class).to_owned(),
        Scalar::Lock(Holder::Free) => "free".to_owned(),
        Scalar::Lock(Holder::Thread(thread)) => format!("held by thread {thread}"),
        Scalar::Lock(Holder::Other) => "held by another thread".to_owned(),
        Scalar::Lock(Holder::Reference) => "held by the reference".to_owned(),
        Scalar::Me => "me".to_owned(),
        Scalar::Argument(_) => "an argument".to_owned(),
        Scalar::Dead | Scalar::Any | Scalar::AnyBool => return None,
        Scalar::Node(_) | Scalar::ValueOf(..) => return None,
    })
}

fn key_words(class: Class) -> &'static str {
    match class {
        Class::None => "a key",
        Class::Min => "-∞",
        Class::Below => "below K",
        Class::At => "K",
        Class::Above => "above K",
        Class::Max => "+∞",
    }
}

fn the_thread<H: Heap>(
    model: &Model,
    state: &State<H>,
    number: usize,
    thread: &Thread,
) -> PictureThread {
    let at = thread.at.map(|(operation, node)| {
        let operation = usize::from(operation);
        let line = model.operations[operation].body.nodes.get(usize::from(node));
        (called(model, operation, thread), line.map_or(0, |node| node.line))
    });
    let stands = match thread.phase {
        _ if is_aside(model, thread) => Stands::Aside,
        Phase::Pre => Stands::Before,
        Phase::Post(Scalar::ValueOf(node, cell)) => {
            let of = usize::from(state.heap.flags(node).of);
            Stands::After(Some(format!("@{}.{}", node.0, value_name(model, of, cell))))
        }
        Phase::Post(Scalar::Null) => Stands::After(Some("none".to_owned())),
        Phase::Post(word) => Stands::After(constant(word, None)),
    };
    let may = SEEN.iter().enumerate().filter(|(bit, _)| thread.seen >> bit & 1 == 1);
    let may_answer = match stands {
        Stands::Before => may.map(|(_, answer)| (*answer).to_owned()).collect(),
        _ => Vec::new(),
    };
    PictureThread { thread: number, at, stands, may_answer }
}

/// `push(v)`, `add(K)`.
fn called(model: &Model, operation: usize, thread: &Thread) -> String {
    let code: &Code = &model.operations[operation];
    let names = code.body.locals.iter().take(code.parameters.len());
    let argument = |(variable, word): (&Variable, &Scalar)| match word {
        Scalar::Key(class) => key_words(*class).to_owned(),
        _ => variable.name.clone(),
    };
    let arguments: Vec<String> = names.zip(&thread.arguments).map(argument).collect();
    format!("{}({})", model.program.operations[operation].name, arguments.join(", "))
}

/// What a move does: of a call, the first step with it. If it is a call of an operation that is
/// known, `called` is that operation.
fn the_move(model: &Model, made: &TraceMove, called: Option<usize>) -> PictureMove {
    let thread = made.thread.map(usize::from);
    let Some((operation, node)) = made.at else {
        let Some(operation) = called else {
            let text = "makes a call, and its first step".to_owned();
            return PictureMove { thread, operation: None, line: None, text };
        };
        let declared = &model.program.operations[operation];
        let first = text_of(model, operation, declared.body.entry).map(|(text, _)| text);
        let text = first.map_or("call".to_owned(), |first| format!("call; {first}"));
        let (operation, line) = (Some(declared.name.clone()), Some(declared.line));
        return PictureMove { thread, operation, line, text };
    };
    let operation = usize::from(operation);
    let (text, line) = text_of(model, operation, At(u32::from(node))).unzip();
    let name = Some(model.program.operations[operation].name.clone());
    PictureMove { thread, operation: name, line, text: text.unwrap_or_default() }
}

/// The operation of which a thread is in the second state and none was in the first.
fn newly_called(made: &TraceMove, after: &TraceMove) -> Option<usize> {
    let mut before: Vec<_> = made.state.threads.iter().filter_map(|thread| thread.at).collect();
    let mut new = None;
    for at in after.state.threads.iter().filter_map(|thread| thread.at) {
        match before.iter().position(|other| *other == at) {
            Some(known) => drop(before.swap_remove(known)),
            None => new = Some(usize::from(at.0)),
        }
    }
    made.thread.and(new)
}

/// The first access of the step from a node, and its line; of a step that accesses nothing, its
/// first action.
fn text_of(model: &Model, operation: usize, from: At) -> Option<(String, u32)> {
    let body = &model.program.operations[operation].body;
    let names = Names { program: &model.program, body };
    let (action, line) = first_access(body, from)?;
    Some((names.action(action), line))
}

/// The first access on the way from a node.
fn first_access(body: &Body, from: At) -> Option<(&Action, u32)> {
    let mut at = from;
    for _ in 0..=body.nodes.len() {
        let node = body.nodes.get(usize::try_from(at.0).ok()?)?;
        let edge = node.edges.first()?;
        let access = edge.actions.iter().find(|(action, _)| !action.places().is_empty());
        match (access, &edge.target) {
            (Some((action, line)), _) => return Some((action, *line)),
            (None, Target::Node(next)) => at = *next,
            (None, Target::Return(_)) => return None,
        }
    }
    None
}

/// Whether a move is a shared access: not of a node that only the thread can reach.
fn is_shared(model: &Model, made: &TraceMove) -> bool {
    let (Some((operation, node)), Some(thread)) = (made.at, made.thread) else { return true };
    let code = &model.operations[usize::from(operation)];
    let Some((action, _)) = first_access(&code.body, At(u32::from(node))) else { return false };
    let locals = &made.state.threads[usize::from(thread)].locals;
    let private = |place: &&Cells| {
        let Cells::Field { object: Expr::Local(local), .. } = place else { return false };
        let offset = usize::try_from(local.0).ok().and_then(|local| code.offsets.get(local));
        let word = offset.and_then(|offset| locals.get(*offset));
        let owner = |node: NodeId| made.state.heap.flags(node).owner;
        word.and_then(|word| word.node()).is_some_and(|node| owner(node).is_some())
    };
    !action.places().iter().all(private)
}

/// The name of each word of some variables: `top`, `link.mark`.
fn word_names(variables: &[Variable]) -> Vec<(String, &Type)> {
    let mut names = Vec::new();
    for variable in variables {
        let mut types = Vec::new();
        words_of(&variable.ty, &mut types);
        match &variable.ty {
            Type::Record { fields, .. } if fields.len() == types.len() => {
                let of = |component: &str| format!("{}.{component}", variable.name);
                names.extend(fields.iter().map(|(name, ty)| (of(name), ty)));
            }
            _ if types.len() == 1 => names.push((variable.name.clone(), &variable.ty)),
            _ => {
                let of = |(at, ty)| (format!("{}.{at}", variable.name), ty);
                names.extend(types.into_iter().enumerate().map(of));
            }
        }
    }
    names
}

fn cell_names(model: &Model, of: usize) -> Vec<String> {
    word_names(&model.program.structs[of].fields).into_iter().map(|(name, _)| name).collect()
}

/// The name of an integer cell by its number.
fn value_name(model: &Model, of: usize, number: u8) -> String {
    let mut cells = model.cells[of].iter().zip(cell_names(model, of));
    let found = cells.find(|(cell, _)| **cell == Cell::Value(number));
    found.map_or_else(|| "value".to_owned(), |(_, name)| name)
}
