//! Where every value lives: types as runs of machine words.
//!
//! All types of an implementation have a fixed size, so a state is a row of words: the shared
//! variables, one region for each thread, then the heap objects, each in a slot of the same size.
//! `null`, `none` and a free lock are 0; a reference is the number of the object plus 1, a thread
//! id or the owner of a lock the number of the thread plus 1.

use crate::Unsupported;
use linchpin_ir::program::{Body, Program, Struct, Type, Variable};
use linchpin_spec::Value;

/// What a word means, which decides how a renaming of objects, threads or values changes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A number or a truth value: stays as it is.
    Plain,
    /// An integer that the model only copies and compares: renamed with the values.
    Data,
    /// A reference: renamed with the objects.
    Ref,
    /// A thread (a `tid`, the owner of a lock) plus 1, or 0 for none: renamed with the threads.
    Tid,
}

/// A run of words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Slot {
    /// The first word.
    pub at: usize,
    /// How many.
    pub width: usize,
}

/// The words of a thread's region that have a fixed meaning: what it is doing, where, and how many
/// calls it has left.
pub const STATUS: usize = 0;
/// The node where a running thread is.
pub const NODE: usize = 1;
/// The calls that the thread may still make.
pub const CALLS: usize = 2;
/// Where the thread's variables start.
pub const VARIABLES: usize = 3;

/// The layout of a program's states.
#[derive(Clone, Debug)]
pub struct Layout {
    /// The shared variables, from the start of the state.
    pub shared: Vec<Slot>,
    /// How many words they take.
    pub shared_words: usize,
    /// The kinds of the shared words.
    pub shared_kinds: Vec<Kind>,
    /// The thread-local variables, from the start of the region.
    pub variables: Vec<Slot>,
    /// The kinds of their words.
    pub variable_kinds: Vec<Kind>,
    /// For each operation, its locals, from the start of the region.
    pub locals: Vec<Vec<Slot>>,
    /// For each operation, the kinds of the words of its locals.
    pub local_kinds: Vec<Vec<Kind>>,
    /// For each operation, the kinds of the words of its response.
    pub response_kinds: Vec<Vec<Kind>>,
    /// Where locals (or the response, while returning) start in a region.
    pub locals_at: usize,
    /// The size of a region.
    pub region: usize,
    /// How many threads there are. Where there is a `recover` to run there is one region more,
    /// for it; nothing of it is kept in a state.
    pub threads: usize,
    /// For each struct, its fields, from the start of the object.
    pub fields: Vec<Vec<Slot>>,
    /// For each struct, the kinds of the words of its fields.
    pub field_kinds: Vec<Vec<Kind>>,
    /// The size of an object: its head and the words of the largest struct.
    pub stride: usize,
    /// Where the heap starts.
    pub heap: usize,
}

impl Layout {
    /// The layout of a program; every integer is [`Kind::Plain`] until the analysis of symmetries
    /// says otherwise.
    pub fn of(program: &Program) -> Result<Layout, Unsupported> {
        let (shared, shared_kinds) = row(&program.shared, 0)?;
        let (variables, variable_kinds) = row(&program.thread_locals, VARIABLES)?;
        let locals_at = VARIABLES + variable_kinds.len();
        let mut region = locals_at;
        let (mut locals, mut local_kinds, mut response_kinds) = (vec![], vec![], vec![]);
        for (body, response) in routines_of(program) {
            let (slots, kinds) = row(&body.locals, locals_at)?;
            let answer = kinds_of(&response)?;
            region = region.max(locals_at + kinds.len().max(answer.len()));
            locals.push(slots);
            local_kinds.push(kinds);
            response_kinds.push(answer);
        }
        let (mut fields, mut field_kinds) = (vec![], vec![]);
        for Struct { fields: variables, .. } in &program.structs {
            let (slots, kinds) = row(variables, 1)?;
            fields.push(slots);
            field_kinds.push(kinds);
        }
        let stride = 1 + field_kinds.iter().map(Vec::len).max().unwrap_or(0);
        let threads = program.threads.len();
        let shared_words = shared_kinds.len();
        let recovers = program.persistence.as_ref().is_some_and(|of| of.recover.is_some());
        let heap = shared_words + (threads + usize::from(recovers)) * region;
        Ok(Layout {
            shared,
            shared_words,
            shared_kinds,
            variables,
            variable_kinds,
            locals,
            local_kinds,
            response_kinds,
            locals_at,
            region,
            threads,
            fields,
            field_kinds,
            stride,
            heap,
        })
    }

    /// Whether any word can name a thread.
    pub fn names_threads(&self) -> bool {
        let all = [&self.shared_kinds, &self.variable_kinds];
        let all = all.into_iter().chain(&self.local_kinds).chain(&self.field_kinds);
        all.flatten().any(|kind| *kind == Kind::Tid)
    }

    /// Where the region of a thread starts.
    pub fn thread(&self, thread: usize) -> usize {
        self.shared_words + thread * self.region
    }

    /// Where an object starts.
    pub fn object(&self, object: usize) -> usize {
        self.heap + object * self.stride
    }

    /// How many objects there are in a state of so many words.
    pub fn objects(&self, words: usize) -> usize {
        words.saturating_sub(self.heap) / self.stride
    }
}

/// What is executed, and what it answers: the operations, then `recover` and `recover(t)` where the
/// program has them (see [`recover_at`] and [`resolve_at`]).
pub fn routines_of(program: &Program) -> Vec<(&Body, Type)> {
    let operations = program.operations.iter().map(|of| (&of.body, of.response.clone()));
    let recover = program.persistence.iter().flat_map(|of| &of.recover);
    let resolve = program.persistence.iter().flat_map(|of| &of.resolve);
    let recover = recover.map(|body| (body, Type::Unit));
    let resolve = resolve.map(|of| (&of.body, Type::Option(Box::new(of.response.clone()))));
    operations.chain(recover).chain(resolve).collect()
}

/// The number of `recover` among the routines.
pub fn recover_at(program: &Program) -> Option<usize> {
    program.persistence.as_ref()?.recover.as_ref()?;
    Some(program.operations.len())
}

/// The number of `recover(t)` among the routines.
pub fn resolve_at(program: &Program) -> Option<usize> {
    let persistence = program.persistence.as_ref()?;
    persistence.resolve.as_ref()?;
    Some(program.operations.len() + usize::from(persistence.recover.is_some()))
}

/// The slots and the kinds of a row of variables.
fn row(variables: &[Variable], start: usize) -> Result<(Vec<Slot>, Vec<Kind>), Unsupported> {
    let (mut slots, mut kinds) = (Vec::new(), Vec::new());
    for variable in variables {
        let of = kinds_of(&variable.ty)?;
        slots.push(Slot { at: start + kinds.len(), width: of.len() });
        kinds.extend(of);
    }
    Ok((slots, kinds))
}

/// Whether `null` is a value of the type, so that an optional of it needs no tag.
fn nullable(ty: &Type) -> bool {
    matches!(ty, Type::Struct(_) | Type::Lock | Type::Option(_))
}

/// The kinds of the words of a type.
pub fn kinds_of(ty: &Type) -> Result<Vec<Kind>, Unsupported> {
    Ok(match ty {
        Type::Unit => vec![],
        Type::Int | Type::Wrapping(_) | Type::Bool => vec![Kind::Plain],
        Type::Tid | Type::Lock => vec![Kind::Tid],
        Type::Struct(_) => vec![Kind::Ref],
        Type::Option(inner) if nullable(inner) => kinds_of(inner)?,
        Type::Option(inner) => {
            let mut kinds = vec![Kind::Plain];
            kinds.extend(kinds_of(inner)?);
            kinds
        }
        Type::Record { fields, .. } => {
            let mut kinds = vec![];
            for (_, ty) in fields {
                kinds.extend(kinds_of(ty)?);
            }
            kinds
        }
        Type::Tuple(items) => {
            let mut kinds = vec![];
            for ty in items {
                kinds.extend(kinds_of(ty)?);
            }
            kinds
        }
        Type::Array(item, length) => kinds_of(item)?.repeat(*length),
        Type::Seq(_) | Type::Set(_) | Type::Map(..) => {
            return Err(Unsupported("a collection in the state of an implementation".to_owned()));
        }
    })
}

/// The number of words of a type.
pub fn width(ty: &Type) -> Result<usize, Unsupported> {
    kinds_of(ty).map(|kinds| kinds.len())
}

/// Whether an optional of this type has a word that tells whether there is a value.
pub fn tagged(ty: &Type) -> bool {
    matches!(ty, Type::Option(inner) if !nullable(inner))
}

/// The words of a value of a type, appended to `out`.
pub fn flatten(value: &Value, ty: &Type, out: &mut Vec<i64>) -> Result<(), Unsupported> {
    let misfit = || Unsupported(format!("the value {value} where {ty:?} is expected"));
    match (ty, value) {
        (Type::Unit, _) => {}
        (Type::Int | Type::Wrapping(_), Value::Int(i)) => out.push(*i),
        (Type::Bool, Value::Bool(b)) => out.push(i64::from(*b)),
        (Type::Lock, Value::Null) | (Type::Struct(_), Value::Null) => out.push(0),
        (Type::Tid | Type::Lock, Value::Int(thread)) => {
            out.push(thread.checked_add(1).ok_or_else(misfit)?);
        }
        (Type::Struct(_), Value::Ref(object)) => out.push(i64::from(*object) + 1),
        (Type::Option(inner), value) if nullable(inner) => flatten(value, inner, out)?,
        (Type::Option(inner), Value::Null) => {
            let words = 1 + width(inner)?;
            out.extend(std::iter::repeat_n(0, words));
        }
        (Type::Option(inner), value) => {
            out.push(1);
            flatten(value, inner, out)?;
        }
        (Type::Record { fields, .. }, Value::List(items)) if items.len() == fields.len() => {
            for ((_, ty), item) in fields.iter().zip(items.iter()) {
                flatten(item, ty, out)?;
            }
        }
        (Type::Tuple(types), Value::List(items)) if items.len() == types.len() => {
            for (ty, item) in types.iter().zip(items.iter()) {
                flatten(item, ty, out)?;
            }
        }
        (Type::Array(ty, length), Value::List(items)) if items.len() == *length => {
            for item in items.iter() {
                flatten(item, ty, out)?;
            }
        }
        _ => return Err(misfit()),
    }
    Ok(())
}

/// The words of a local variable: one that has no value yet is all zeros.
pub fn flatten_local(value: &Value, ty: &Type, out: &mut Vec<i64>) -> Result<(), Unsupported> {
    if value.is_null() {
        let words = width(ty)?;
        out.extend(std::iter::repeat_n(0, words));
        return Ok(());
    }
    flatten(value, ty, out)
}

/// The value that the words of a type mean; takes them from the front of `words`.
pub fn unflatten(words: &mut &[i64], ty: &Type) -> Value {
    let mut take = || {
        let (first, rest) =
            words.split_first().map_or((0, &[][..]), |(first, rest)| (*first, rest));
        *words = rest;
        first
    };
    match ty {
        Type::Unit | Type::Seq(_) | Type::Set(_) | Type::Map(..) => Value::Null,
        Type::Int | Type::Wrapping(_) => Value::Int(take()),
        Type::Tid => Value::Int(take() - 1),
        Type::Bool => Value::Bool(take() != 0),
        Type::Lock => match take() {
            0 => Value::Null,
            owner => Value::Int(owner - 1),
        },
        Type::Struct(_) => match take() {
            0 => Value::Null,
            object => Value::Ref((object - 1) as u32),
        },
        Type::Option(inner) if nullable(inner) => unflatten(words, inner),
        Type::Option(inner) => {
            let some = take() != 0;
            let value = unflatten(words, inner);
            if some { value } else { Value::Null }
        }
        Type::Record { fields, .. } => {
            Value::list(fields.iter().map(|(_, ty)| unflatten(words, ty)).collect::<Vec<_>>())
        }
        Type::Tuple(items) => {
            Value::list(items.iter().map(|ty| unflatten(words, ty)).collect::<Vec<_>>())
        }
        Type::Array(item, length) => {
            Value::list((0..*length).map(|_| unflatten(words, item)).collect::<Vec<_>>())
        }
    }
}
