//! The types of generated programs.

/// A type. Structs and records are the ones that [`DECLARATIONS`] declares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ty {
    Unit,
    Int,
    Bool,
    Tid,
    Node,
    Info,
    /// `Mark`, which has a reference in it.
    Mark,
    /// `Pair`, which clients may see.
    Pair,
    /// `Whose`, which has a component without default.
    Whose,
    Option(Box<Ty>),
    Array(Box<Ty>, usize),
    Tuple(Vec<Ty>),
    /// Specifications only.
    Seq(Box<Ty>),
    Set(Box<Ty>),
    Map(Box<Ty>, Box<Ty>),
}

/// The structs and records of every generated program.
pub const DECLARATIONS: &str = "\
param K: int = 3;
param B: bool = true;
record Mark { to: Node, dead: bool, stamp: int }
record Pair { a: int, b: bool, c: int? }
record Whose { n: int, who: tid }
persistent struct Node { val: int, next: Node, mark: Mark, opt: int?, slots: [int; 2], peers: [Node; 2], guard: lock }
persistent struct Info { id: tid, node: Node, pair: Pair }
persistent shared tick: int % 4 = 7;
persistent shared ticks: [int % 3; 2];
persistent shared grid: [[int; 3]; 2] = [[1, 2, 3], [4; 3]];
fn bump(p: &int, by: int) -> int {
    let old = faa(p, by);
    p += 1;
    return old ^ p;
}
fn exchange(p: &int, q: &int) -> bool {
    let (a, b) = (p, q);
    return cas([p, q], [a, b], [b, a]);
}
fn down(p: &int, k: int) -> int depth 4 {
    if k <= 0 { return p; }
    p += 1;
    return 1 + down(p, k - 1);
}
";

impl Ty {
    pub fn option(inner: Ty) -> Ty {
        Ty::Option(Box::new(inner))
    }

    pub fn array(item: Ty, length: usize) -> Ty {
        Ty::Array(Box::new(item), length)
    }

    pub fn seq(item: Ty) -> Ty {
        Ty::Seq(Box::new(item))
    }

    /// How it is written.
    pub fn text(&self) -> String {
        match self {
            Ty::Unit => "()".to_owned(),
            Ty::Int => "int".to_owned(),
            Ty::Bool => "bool".to_owned(),
            Ty::Tid => "tid".to_owned(),
            Ty::Node => "Node".to_owned(),
            Ty::Info => "Info".to_owned(),
            Ty::Mark => "Mark".to_owned(),
            Ty::Pair => "Pair".to_owned(),
            Ty::Whose => "Whose".to_owned(),
            Ty::Option(inner) => format!("{}?", inner.text()),
            Ty::Array(item, length) => format!("[{}; {length}]", item.text()),
            Ty::Tuple(items) => {
                let items: Vec<String> = items.iter().map(Ty::text).collect();
                format!("({})", items.join(", "))
            }
            Ty::Seq(item) => format!("seq<{}>", item.text()),
            Ty::Set(item) => format!("set<{}>", item.text()),
            Ty::Map(key, value) => format!("map<{}, {}>", key.text(), value.text()),
        }
    }

    pub fn has_default(&self) -> bool {
        match self {
            Ty::Tid | Ty::Whose => false,
            Ty::Array(item, _) => item.has_default(),
            Ty::Tuple(items) => items.iter().all(Ty::has_default),
            _ => true,
        }
    }

    /// The components of a record.
    pub fn components(&self) -> Vec<(&'static str, Ty)> {
        match self {
            Ty::Mark => vec![("to", Ty::Node), ("dead", Ty::Bool), ("stamp", Ty::Int)],
            Ty::Pair => vec![("a", Ty::Int), ("b", Ty::Bool), ("c", Ty::option(Ty::Int))],
            Ty::Whose => vec![("n", Ty::Int), ("who", Ty::Tid)],
            _ => Vec::new(),
        }
    }

    /// The fields of a struct that are words, other than locks.
    pub fn fields(&self) -> Vec<(&'static str, Ty)> {
        match self {
            Ty::Node => vec![
                ("val", Ty::Int),
                ("next", Ty::Node),
                ("mark", Ty::Mark),
                ("opt", Ty::option(Ty::Int)),
            ],
            Ty::Info => vec![("id", Ty::Tid), ("node", Ty::Node), ("pair", Ty::Pair)],
            _ => Vec::new(),
        }
    }

    /// Whether a client may pass it or see it.
    pub fn for_clients() -> Vec<Ty> {
        vec![
            Ty::Int,
            Ty::Int,
            Ty::Bool,
            Ty::option(Ty::Int),
            Ty::Pair,
            Ty::Tuple(vec![Ty::Int, Ty::Bool]),
            Ty::array(Ty::Int, 2),
            Ty::option(Ty::Tid),
        ]
    }
}

/// A variable that generated code can name.
#[derive(Clone, Debug)]
pub struct Variable {
    pub name: String,
    pub ty: Ty,
    /// Whether it is known to hold something other than `null` and `none`; such a variable is not
    /// assigned.
    pub safe: bool,
    /// Whether generated code must leave it alone: the counter of a loop.
    pub fixed: bool,
}

impl Variable {
    pub fn new(name: &str, ty: Ty) -> Variable {
        Variable { name: name.to_owned(), ty, safe: false, fixed: false }
    }
}

/// The shared variables of a generated model, other than locks.
pub fn shared() -> Vec<Variable> {
    vec![
        Variable::new("n", Ty::Int),
        Variable::new("m", Ty::Int),
        Variable::new("flag", Ty::Bool),
        Variable::new("head", Ty::Node),
        Variable::new("tail", Ty::Node),
        Variable::new("mark", Ty::Mark),
        Variable::new("pair", Ty::Pair),
        Variable::new("opt", Ty::option(Ty::Int)),
        Variable::new("best", Ty::option(Ty::Pair)),
        Variable::new("owner", Ty::option(Ty::Tid)),
        Variable::new("cells", Ty::array(Ty::Int, 3)),
        Variable::new("nodes", Ty::array(Ty::Node, 2)),
        Variable::new("marks", Ty::array(Ty::Mark, 2)),
    ]
}

/// The variables of each thread.
pub fn thread_locals() -> Vec<Variable> {
    vec![
        Variable::new("t_int", Ty::Int),
        Variable::new("t_flag", Ty::Bool),
        Variable::new("t_node", Ty::Node),
        Variable::new("t_pair", Ty::Pair),
        Variable::new("t_opt", Ty::option(Ty::Int)),
        Variable::new("t_cells", Ty::array(Ty::Int, 2)),
    ]
}

/// The state of a generated specification.
pub fn state() -> Vec<Variable> {
    vec![
        Variable::new("n", Ty::Int),
        Variable::new("flag", Ty::Bool),
        Variable::new("opt", Ty::option(Ty::Int)),
        Variable::new("pair", Ty::Pair),
        Variable::new("cells", Ty::array(Ty::Int, 3)),
        Variable::new("items", Ty::seq(Ty::Int)),
        Variable::new("pairs", Ty::seq(Ty::Pair)),
        Variable::new("bag", Ty::Set(Box::new(Ty::Int))),
        Variable::new("table", Ty::Map(Box::new(Ty::Int), Box::new(Ty::option(Ty::Int)))),
        Variable::new("names", Ty::Map(Box::new(Ty::Pair), Box::new(Ty::Int))),
    ]
}
