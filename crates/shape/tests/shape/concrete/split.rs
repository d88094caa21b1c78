//! A body in which every claimed linearization point has a node of its own.
//!
//! The interpreter runs a step as a whole and does not say what the locals were in the middle of
//! it. So each edge is cut where a `Point::When` stands, and a new node that *yields* is put in
//! between: the interpreter then stops exactly there, with the state that the condition is about.
//! The explorer goes on at once, before any other thread runs, so the steps stay what they were.

use linchpin_ir::program::{Body, Edge, Expr, Node, NodeId, Point, Target};

/// An edge of the body as the model has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EdgeId {
    /// The node that it leaves.
    pub node: NodeId,
    /// Which of the node's edges it is.
    pub index: usize,
}

/// A claim of an edge: the operation takes effect here where this holds.
#[derive(Clone, Debug)]
pub struct Claim {
    /// The claim counts only if the step goes on along this edge.
    pub edge: EdgeId,
    /// The condition.
    pub when: Expr,
}

/// What the cuts were.
#[derive(Clone, Debug)]
pub struct Split {
    /// How many nodes the body had: those from here on are cuts.
    nodes: usize,
    /// The claims at each node (none at nodes that are not cuts).
    claims: Vec<Vec<Claim>>,
    /// For each edge of each node of the new body, the whole edge of the model that ends with it;
    /// none if it ends at a cut.
    ends: Vec<Vec<Option<EdgeId>>>,
}

impl Split {
    /// Whether this node was put in.
    pub fn is_cut(&self, node: NodeId) -> bool {
        node.0 as usize >= self.nodes
    }

    /// What is claimed at a node.
    pub fn claims(&self, node: NodeId) -> &[Claim] {
        self.claims.get(node.0 as usize).map_or(&[], Vec::as_slice)
    }

    /// The edge of the model that ends with this edge of the new body.
    pub fn ended(&self, node: NodeId, edge: usize) -> Option<EdgeId> {
        *self.ends.get(node.0 as usize)?.get(edge)?
    }

    /// Whether the body claims any point at all.
    pub fn has_claims(&self) -> bool {
        self.claims.iter().any(|claims| !claims.is_empty())
    }
}

/// Cuts the edges of a body at its `#[lin]` and `#[lin(when c)]`.
pub fn split(body: &Body) -> (Body, Split) {
    let count = body.nodes.len();
    let split =
        Split { nodes: count, claims: vec![Vec::new(); count], ends: vec![Vec::new(); count] };
    let mut cutter = Cutter { body, nodes: body.nodes.clone(), split };
    for (number, node) in (0..).zip(&body.nodes) {
        let node_id = NodeId(number);
        let edge = |index| Rest { edge: EdgeId { node: node_id, index }, from: 0, claims: 0 };
        cutter.place(node_id, (0..node.edges.len()).map(edge).collect());
    }
    let Cutter { nodes, split, .. } = cutter;
    (Body { locals: body.locals.clone(), entry: body.entry, nodes }, split)
}

/// The part of an edge that is still to be placed.
#[derive(Clone, Copy)]
struct Rest {
    edge: EdgeId,
    /// Its first action.
    from: usize,
    /// The first place whose claims are not cut out yet.
    claims: usize,
}

struct Cutter<'a> {
    body: &'a Body,
    nodes: Vec<Node>,
    split: Split,
}

impl<'a> Cutter<'a> {
    fn edge(&self, id: EdgeId) -> &'a Edge {
        &self.body.nodes[id.node.0 as usize].edges[id.index]
    }

    /// The first cut that a rest needs.
    fn next_cut(&self, rest: &Rest) -> Option<usize> {
        let points = self.edge(rest.edge).points.iter();
        let when = points.filter(|(_, point)| matches!(point, Point::When(_)));
        when.map(|(at, _)| *at).filter(|at| *at >= rest.claims).min()
    }

    /// Gives a node its edges. The edges that agree up to a cut go to it together: only one of them
    /// can be taken, and which one shows behind it.
    ///
    /// INVARIANT: all rests start at the same action.
    fn place(&mut self, at: NodeId, mut rests: Vec<Rest>) {
        let mut edges = Vec::new();
        let mut ends = Vec::new();
        while let Some((cut, first)) =
            rests.iter().filter_map(|rest| Some((self.next_cut(rest)?, *rest))).min_by_key(|c| c.0)
        {
            let agrees = |rest: &Rest| {
                let (one, other) = (self.edge(first.edge), self.edge(rest.edge));
                let range = first.from..cut;
                match (one.actions.get(range.clone()), other.actions.get(range)) {
                    (Some(a), Some(b)) => a.iter().map(|x| &x.0).eq(b.iter().map(|x| &x.0)),
                    _ => false,
                }
            };
            let (group, others): (Vec<Rest>, Vec<Rest>) =
                rests.iter().copied().partition(|rest| agrees(rest) || rest.edge == first.edge);
            rests = others;
            let target = self.cut(at, cut, &group);
            let actions = self.edge(first.edge).actions[first.from..cut].to_vec();
            edges.push(plain(actions, Target::Node(target)));
            ends.push(None);
        }
        for rest in &rests {
            let edge = self.edge(rest.edge);
            edges.push(plain(edge.actions[rest.from..].to_vec(), edge.target.clone()));
            ends.push(Some(rest.edge));
        }
        self.nodes[at.0 as usize].edges = edges;
        self.split.ends[at.0 as usize] = ends;
    }

    /// A new node where the edges of `group` go on behind their first `cut` actions.
    fn cut(&mut self, from: NodeId, cut: usize, group: &[Rest]) -> NodeId {
        let node = NodeId(u32::try_from(self.nodes.len()).unwrap_or(u32::MAX));
        let line = self.nodes[from.0 as usize].line;
        self.nodes.push(Node { yields: true, edges: Vec::new(), line });
        let mut claims = Vec::new();
        for rest in group {
            for (at, point) in &self.edge(rest.edge).points {
                if let (true, Point::When(when)) = (*at == cut, point) {
                    claims.push(Claim { edge: rest.edge, when: when.clone() });
                }
            }
        }
        self.split.claims.push(claims);
        self.split.ends.push(Vec::new());
        let on = group.iter().map(|rest| Rest { from: cut, claims: cut + 1, ..*rest });
        self.place(node, on.collect());
        node
    }
}

fn plain(actions: Vec<(linchpin_ir::program::Action, u32)>, target: Target) -> Edge {
    Edge { actions, target, returns_at: None, points: Vec::new(), bases: Vec::new() }
}
