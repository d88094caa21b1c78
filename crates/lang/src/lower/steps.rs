//! Cutting a list of instructions into steps.
//!
//! A node is a place in the code. From each node, [`walk`] follows the code along every branch and
//! ends an edge where other threads get a turn: before the next shared access (or atomic block), or
//! at a return. Loops that never give a turn are cut at their heads by nodes that do not yield, so
//! every edge is finite.

use super::loops::components;
use super::{Instruction, Turns};
use linchpin_ir::program::{
    Action, Body, Edge, Expr, Formula, Node, NodeId, Point, Target, Variable,
};
use linchpin_spec::Value;
use std::collections::{HashMap, HashSet};

/// With more edges than this from one node, joins become nodes too: fewer paths, more nodes.
const MAX_EDGES: usize = 64;

/// The same if all edges together become larger than this, measured like
/// [`limits::SIZE`](crate::limits::SIZE).
const MAX_SIZE: usize = 100_000;

/// A place in the code: the instruction, and how many atomic blocks are open.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Position {
    at: usize,
    atomic: usize,
}

/// Cuts the code of a body into steps.
pub(super) fn cut(
    code: &[(Instruction, u32)],
    labels: &[usize],
    turns: Turns,
    locals: Vec<Variable>,
) -> Body {
    let sizes = code.iter().map(|(instruction, _)| instruction.size()).collect();
    let code = Code { code, sizes, labels, turns };
    let heads = code.local_loop_heads();
    if let Some(body) = Cutter::new(&code, heads, Some((MAX_EDGES, MAX_SIZE))).cut(&locals) {
        return body;
    }
    let joins = labels.iter().copied().filter(|at| *at != usize::MAX).collect();
    Cutter::new(&code, joins, None).cut(&locals).unwrap_or_else(|| Body {
        locals,
        entry: NodeId(0),
        nodes: Vec::new(),
    })
}

struct Code<'c> {
    code: &'c [(Instruction, u32)],
    /// The size of each instruction.
    sizes: Vec<usize>,
    labels: &'c [usize],
    turns: Turns,
}

impl Code<'_> {
    fn start(&self) -> Position {
        Position { at: 0, atomic: usize::from(self.turns == Turns::Never) }
    }

    /// Whether others get a turn before this instruction.
    fn is_turn(&self, position: Position) -> bool {
        position.atomic == 0
            && match &self.code[position.at].0 {
                Instruction::Act(action) => action.is_access(),
                Instruction::AtomicBegin => true,
                _ => false,
            }
    }

    /// Where the code goes on after this instruction.
    fn next(&self, position: Position) -> Vec<Position> {
        let Position { at, atomic } = position;
        match &self.code[at].0 {
            Instruction::Act(_) | Instruction::Point(_) | Instruction::Base(_) => {
                vec![Position { at: at + 1, atomic }]
            }
            Instruction::AtomicBegin => vec![Position { at: at + 1, atomic: atomic + 1 }],
            Instruction::AtomicEnd => {
                vec![Position { at: at + 1, atomic: atomic.saturating_sub(1) }]
            }
            Instruction::Goto(label) => vec![Position { at: self.labels[*label], atomic }],
            Instruction::Branch(_, then, otherwise) => [then, otherwise]
                .into_iter()
                .map(|label| Position { at: self.labels[*label], atomic })
                .collect(),
            Instruction::Return(_) => Vec::new(),
        }
    }

    /// The targets of backward jumps from which the code can come back without giving a turn.
    fn local_loop_heads(&self) -> HashSet<usize> {
        let (places, successors) = self.local_graph();
        let component = components(&successors);
        let mut heads = HashSet::new();
        for (from, next) in successors.iter().enumerate() {
            for to in next.iter().copied() {
                if places[to].at <= places[from].at && component[from] == component[to] {
                    heads.insert(places[to].at);
                }
            }
        }
        heads
    }

    /// The places that can be reached, and where each goes on without giving a turn.
    fn local_graph(&self) -> (Vec<Position>, Vec<Vec<usize>>) {
        let mut places = vec![self.start()];
        let mut ids = HashMap::from([(self.start(), 0)]);
        let mut successors = Vec::new();
        while let Some(position) = places.get(successors.len()).copied() {
            let mut local = Vec::new();
            for next in self.next(position) {
                let id = *ids.entry(next).or_insert_with(|| {
                    places.push(next);
                    places.len() - 1
                });
                local.push(id);
            }
            successors.push(if self.is_turn(position) { Vec::new() } else { local });
        }
        (places, successors)
    }
}

/// An edge on its way.
#[derive(Clone)]
struct Path {
    position: Position,
    size: usize,
    actions: Vec<(Action, u32)>,
    points: Vec<(usize, Point)>,
    bases: Vec<(usize, Formula)>,
}

struct Cutter<'c> {
    code: &'c Code<'c>,
    /// Places where edges end although others get no turn.
    cuts: HashSet<usize>,
    /// How many edges a node may have, and how large all edges together may be.
    limits: Option<(usize, usize)>,
    /// How large all edges together are so far.
    size: usize,
    ids: HashMap<Position, NodeId>,
    /// The nodes so far: where each starts and whether it yields.
    nodes: Vec<(Position, bool)>,
}

impl<'c> Cutter<'c> {
    fn new(code: &'c Code<'c>, cuts: HashSet<usize>, limits: Option<(usize, usize)>) -> Cutter<'c> {
        Cutter { code, cuts, limits, size: 0, ids: HashMap::new(), nodes: Vec::new() }
    }

    /// The body, or nothing if it exceeds the limits.
    fn cut(mut self, locals: &[Variable]) -> Option<Body> {
        // The invocation may start right before an access, and that access is still a step of its
        // own: the entry is a node apart from the one that stands at the same place.
        self.nodes.push((self.code.start(), false));
        let mut nodes = Vec::new();
        while let Some((position, yields)) = self.nodes.get(nodes.len()).copied() {
            let edges = self.walk(position, yields)?;
            let line = self.code.code[position.at].1;
            nodes.push(Node { yields, edges, line });
        }
        Some(Body { locals: locals.to_vec(), entry: NodeId(0), nodes })
    }

    fn node(&mut self, position: Position, yields: bool) -> NodeId {
        *self.ids.entry(position).or_insert_with(|| {
            self.nodes.push((position, yields));
            NodeId(self.nodes.len() as u32 - 1)
        })
    }

    /// Whether so many edges from one node, the last so large, are too many.
    fn exceeded(&self, edges: usize, last: usize) -> bool {
        self.limits.is_some_and(|(most, largest)| edges > most || self.size + last > largest)
    }

    /// All edges from a node.
    fn walk(&mut self, start: Position, yields: bool) -> Option<Vec<Edge>> {
        let mut edges = Vec::new();
        let mut open = vec![(Path::new(start), true)];
        while let Some((mut path, at_start)) = open.pop() {
            // Every open path becomes at least one edge.
            if self.exceeded(edges.len() + open.len() + 1, path.size) {
                return None;
            }
            let position = path.position;
            let turn = self.code.is_turn(position) && !(at_start && yields);
            let cut = self.cuts.contains(&position.at) && !at_start;
            if turn || cut {
                let target = Target::Node(self.node(position, turn));
                self.size += path.size;
                edges.push(path.end(target, None));
                continue;
            }
            path.size += self.code.sizes[position.at];
            let (instruction, line) = &self.code.code[position.at];
            match instruction {
                Instruction::Return(value) => {
                    self.size += path.size;
                    // The return at the end of the code, which the source need not have, has the
                    // line of the declaration.
                    let at = (position.at + 1 < self.code.code.len()).then_some(*line);
                    edges.push(path.end(Target::Return(value.clone()), at));
                    continue;
                }
                Instruction::Branch(condition, ..) => {
                    let ways = self.code.next(position);
                    // The last pushed is walked first, so the edge for "yes" comes first.
                    for (way, holds) in ways.into_iter().zip([true, false]).rev() {
                        if let Some(next) = path.through(condition, holds, way, *line) {
                            open.push((next, false));
                        }
                    }
                    continue;
                }
                Instruction::Act(action) => path.actions.push((action.clone(), *line)),
                Instruction::Point(point) => path.points.push((path.actions.len(), point.clone())),
                Instruction::Base(base) => path.bases.push((path.actions.len(), base.clone())),
                Instruction::Goto(_) | Instruction::AtomicBegin | Instruction::AtomicEnd => {}
            }
            if let Some(next) = self.code.next(position).first() {
                path.position = *next;
                open.push((path, false));
            }
        }
        Some(edges)
    }
}

impl Path {
    fn new(position: Position) -> Path {
        Path { position, size: 0, actions: vec![], points: vec![], bases: vec![] }
    }

    fn end(self, target: Target, returns_at: Option<u32>) -> Edge {
        let Path { actions, points, bases, .. } = self;
        Edge { actions, target, returns_at, points, bases }
    }

    /// The path that goes on where the condition has this value; none if it never has.
    fn through(&self, condition: &Expr, holds: bool, way: Position, line: u32) -> Option<Path> {
        let mut path = self.clone();
        path.position = way;
        match condition {
            Expr::Const(Value::Bool(constant)) if *constant != holds => return None,
            Expr::Const(_) => {}
            _ if holds => path.actions.push((Action::Guard(condition.clone()), line)),
            _ => path.actions.push((Action::Guard(negate(condition)), line)),
        }
        Some(path)
    }
}

/// The opposite condition, in the form that people would write.
fn negate(condition: &Expr) -> Expr {
    use linchpin_ir::program::{BinaryOp, UnaryOp};
    match condition {
        Expr::Unary(UnaryOp::Not, inner) => (**inner).clone(),
        Expr::Binary(operator, left, right) => {
            let opposite = match operator {
                BinaryOp::Equal => BinaryOp::NotEqual,
                BinaryOp::NotEqual => BinaryOp::Equal,
                BinaryOp::Less => BinaryOp::GreaterEqual,
                BinaryOp::LessEqual => BinaryOp::Greater,
                BinaryOp::Greater => BinaryOp::LessEqual,
                BinaryOp::GreaterEqual => BinaryOp::Less,
                _ => return Expr::Unary(UnaryOp::Not, Box::new(condition.clone())),
            };
            Expr::Binary(opposite, left.clone(), right.clone())
        }
        _ => Expr::Unary(UnaryOp::Not, Box::new(condition.clone())),
    }
}
