//! The shared state of a program as the words of a `.subop` model: records fall apart into
//! components, truth values become 0 and 1, a lock is 0 or the `ID` of its holder.

use crate::Refusal;
use linchpin_ir::interpreter::{Machine, Memory};
use linchpin_ir::program::{Program, Type};
use linchpin_spec::Value;
use linchpin_subop::model::{
    FieldId, Global, GlobalId, GlobalKind, Index, Initially, LocalId, Model, Place, Statement,
    Struct, StructId, Term, Type as WordType, Var, Variable,
};
use linchpin_syntax::Span;

/// More objects than this at the start are not written down.
const MOST_OBJECTS: usize = 60;

/// What a word holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An integer, or `NULL` for `none`.
    Int,
    /// 0 or 1.
    Bool,
    /// A reference to such an object, or `NULL`.
    Ref(usize),
    /// 0, or the `ID` of the holder.
    Lock,
}

impl Kind {
    pub fn word_type(self) -> WordType {
        match self {
            Kind::Ref(of) => WordType::Ref(StructId(of)),
            Kind::Int | Kind::Bool | Kind::Lock => WordType::Int,
        }
    }

    /// What `malloc` and an undeclared start leave in such a word.
    pub fn blank(self) -> Term {
        match self {
            Kind::Ref(_) => Term::Null,
            Kind::Int | Kind::Bool | Kind::Lock => Term::Int(0),
        }
    }
}

/// Where a shared variable or a field went: consecutive globals or fields, one for each word.
#[derive(Clone, Debug)]
pub struct Home {
    pub first: usize,
    pub kinds: Vec<Kind>,
    /// Whether it is an array: each word is then an array of its own.
    pub array: bool,
}

#[derive(Clone, Debug)]
pub struct Layout {
    pub shared: Vec<Home>,
    pub fields: Vec<Vec<Home>>,
}

/// The words of a type, each with the path of component names that leads to it.
pub fn words(ty: &Type) -> Result<Vec<(String, Kind)>, String> {
    let plain = |kind| Ok(vec![(String::new(), kind)]);
    match ty {
        Type::Unit => Ok(Vec::new()),
        Type::Int => plain(Kind::Int),
        Type::Bool => plain(Kind::Bool),
        Type::Lock => plain(Kind::Lock),
        Type::Struct(of) => plain(Kind::Ref(*of)),
        Type::Option(inner) if **inner == Type::Int => plain(Kind::Int),
        Type::Option(_) => Err("optional values other than `int?`".to_owned()),
        Type::Record { fields, .. } => {
            let mut all = Vec::new();
            for (name, ty) in fields {
                all.extend(
                    words(ty)?.into_iter().map(|(rest, kind)| (format!("_{name}{rest}"), kind)),
                );
            }
            Ok(all)
        }
        Type::Tuple(parts) => {
            let mut all = Vec::new();
            for (at, ty) in parts.iter().enumerate() {
                all.extend(
                    words(ty)?.into_iter().map(|(rest, kind)| (format!("_{at}{rest}"), kind)),
                );
            }
            Ok(all)
        }
        Type::Wrapping(_) => Err("integers that wrap".to_owned()),
        Type::Tid => Err("thread ids".to_owned()),
        Type::Array(..) => Err("arrays other than shared ones".to_owned()),
        Type::Seq(_) | Type::Set(_) | Type::Map(..) => Err("collections".to_owned()),
    }
}

/// The structs, shared variables and initial values; no operations yet.
pub fn skeleton(program: &Program) -> Result<(Model, Layout), Refusal> {
    let refuse = |what: String, name: &str| {
        Refusal::of_model(format!("`{name}` holds {what}, which sub-operations do not have"))
    };
    let mut model = Model::default();
    let mut fields = Vec::new();
    for structure in &program.structs {
        let mut homes = Vec::new();
        let mut variables = Vec::new();
        for field in &structure.fields {
            let parts = words(&field.ty).map_err(|what| refuse(what, &field.name))?;
            if parts.is_empty() {
                return Err(refuse("nothing".to_owned(), &field.name));
            }
            homes.push(home(variables.len(), &parts, false));
            for (suffix, kind) in &parts {
                let taken =
                    |name: &str| variables.iter().any(|known: &Variable| known.name == name);
                let name = free_name(format!("{}{suffix}", field.name), &taken);
                variables.push(Variable { name, ty: kind.word_type(), span: Span::default() });
            }
        }
        fields.push(homes);
        let taken = |name: &str| model.structs.iter().any(|known| known.name == name);
        let name = free_name(lower(&structure.name), &taken);
        model.structs.push(Struct { name, fields: variables, span: Span::default() });
    }
    let mut shared = Vec::new();
    for variable in &program.shared {
        let (element, array) = match &variable.ty {
            Type::Array(element, _) => (&**element, true),
            other => (other, false),
        };
        let parts = words(element).map_err(|what| refuse(what, &variable.name))?;
        if parts.is_empty() {
            return Err(refuse("nothing".to_owned(), &variable.name));
        }
        shared.push(home(model.globals.len(), &parts, array));
        for (suffix, kind) in &parts {
            let taken = |name: &str| {
                model.globals.iter().any(|known| known.name == name)
                    || model.structs.iter().any(|known| known.name == name)
            };
            let name = free_name(format!("{}{suffix}", variable.name), &taken);
            let ty = kind.word_type();
            let kind = if array { GlobalKind::Array(ty) } else { GlobalKind::Scalar(ty) };
            model.globals.push(Global { name, kind, span: Span::default() });
        }
    }
    let layout = Layout { shared, fields };
    model.initially = initially(program, &layout)?;
    Ok((model, layout))
}

/// The name, or one like it that is neither taken nor a word of the language.
pub fn free_name(wanted: String, taken: &dyn Fn(&str) -> bool) -> String {
    let mut name = wanted.clone();
    let mut number = 2;
    while RESERVED.contains(&name.as_str()) || taken(&name) {
        name = format!("{wanted}{number}");
        number += 1;
    }
    name
}

/// Words that nothing may be called.
const RESERVED: &[&str] = &[
    "either",
    "free",
    "ID",
    "initially",
    "int",
    "invariant",
    "malloc",
    "NULL",
    "or",
    "READ",
    "relations",
    "return",
    "spec",
    "struct",
    "then",
    "for",
    "after",
    "if",
    "not",
    "before",
    "reversible",
    "result",
];

/// Structs are called `node`, as in the paper, so that a variable may be called `Node`.
fn lower(name: &str) -> String {
    name.chars().flat_map(char::to_lowercase).collect()
}

fn home(first: usize, parts: &[(String, Kind)], array: bool) -> Home {
    Home { first, kinds: parts.iter().map(|(_, kind)| *kind).collect(), array }
}

/// The state after `init`, written down as statements.
fn initially(program: &Program, layout: &Layout) -> Result<Initially, Refusal> {
    let state = Machine::new(program, Memory::Collected)
        .initial()
        .map_err(|fault| Refusal::of_model(format!("`init` fails: {fault}")))?;
    if state.heap.len() > MOST_OBJECTS {
        return Err(Refusal::of_model("there are too many objects at the start".to_owned()));
    }
    let mut start = Initially::default();
    let span = Span::default();
    for (at, object) in state.heap.iter().enumerate() {
        let of = StructId(object.of);
        start.locals.push(Variable { name: format!("o{at}"), ty: WordType::Ref(of), span });
        start.statements.push(Statement::Malloc { var: Var::Local(LocalId(at)), of, span });
    }
    let mut assign = |place: Place, kind: Kind, value: &Value| {
        let value = constant(kind, value);
        // A variable that no step assigns is a structure in place unless something says that it
        // starts as NULL.
        let is_variable = matches!((place, kind), (Place::Variable(_), Kind::Ref(_)));
        if value != kind.blank() || is_variable {
            start.statements.push(Statement::Assign { place, value, span });
        }
    };
    for (at, object) in state.heap.iter().enumerate() {
        let of = StructId(object.of);
        for (home, value) in layout.fields[object.of].iter().zip(&object.fields) {
            for (word, (kind, value)) in home.kinds.iter().zip(flat(value)).enumerate() {
                let field = FieldId(home.first + word);
                assign(Place::Field(Var::Local(LocalId(at)), of, field), *kind, &value);
            }
        }
    }
    for (home, value) in layout.shared.iter().zip(&state.shared) {
        if let (true, Value::List(elements)) = (home.array, value) {
            for (index, element) in elements.iter().enumerate() {
                for (word, (kind, value)) in home.kinds.iter().zip(flat(element)).enumerate() {
                    let index = Index::Int(index as i64);
                    assign(Place::Element(GlobalId(home.first + word), index), *kind, &value);
                }
            }
        } else {
            for (word, (kind, value)) in home.kinds.iter().zip(flat(value)).enumerate() {
                let global = Var::Global(GlobalId(home.first + word));
                assign(Place::Variable(global), *kind, &value);
            }
        }
    }
    Ok(start)
}

/// The words of a value.
pub fn flat(value: &Value) -> Vec<Value> {
    match value {
        Value::List(parts) => parts.iter().flat_map(flat).collect(),
        other => vec![other.clone()],
    }
}

/// A constant as a term; references are the objects of `initially`.
pub fn constant(kind: Kind, value: &Value) -> Term {
    match value {
        Value::Int(value) => Term::Int(*value),
        Value::Bool(value) => Term::Int(i64::from(*value)),
        Value::Ref(at) => Term::Place(Place::Variable(Var::Local(LocalId(*at as usize)))),
        _ if kind == Kind::Lock => Term::Int(0),
        _ => Term::Null,
    }
}
