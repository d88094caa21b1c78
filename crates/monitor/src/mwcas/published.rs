//! The precedence graph as it was published, for comparison: Cepeda et al., *Toward Linearizability
//! Testing for Multi-Word Persistent Synchronization Primitives*, OPODIS 2019.
//!
//! Vertices, edges and properties are built literally, section by section, happens-before edges
//! included, so that this file can be read beside the publication, and its experiments made again.
//! It is slower than [`check`](super::check), shares nothing with it, knows only what the
//! publication knows (an unsuccessful swap names a location or answers what it read), and **keeps
//! rule 2 of Section 5.3, which is wrong**: see [`judge`].

use linchpin_history_data::crash::Interrupted;
use linchpin_history_data::{Argument, History, NEVER, OpId, Rank, ValueId};
use linchpin_spec::{Mwcas, Value};
use rustc_hash::{FxHashMap, FxHashSet};

/// Which happens-before edges there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HappensBefore {
    /// Those of `ReduceHB`, Figure 3.
    Reduced,
    /// All of them: what Figure 9 compares with.
    All,
}

/// How many edges of each kind the graph has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Edges {
    /// One operation returned before the other was called.
    pub happens_before: usize,
    /// One operation read what the other wrote.
    pub reads_from: usize,
    /// Any other precedence constraint.
    pub auxiliary: usize,
}

impl Edges {
    /// All of them.
    pub fn total(self) -> usize {
        self.happens_before + self.reads_from + self.auxiliary
    }
}

/// What the published procedure says about a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Published {
    /// Assumption 1, 2 or another one of the publication does not hold.
    NotCovered,
    /// Properties i to iii hold.
    Linearizable,
    /// Property i does not hold: there is a cycle.
    Cycle,
    /// Property ii does not hold: an operation without its reads-from or auxiliary edge.
    MissingEdge,
    /// Property iii does not hold: the reads-from edges of a location are not one path over all
    /// swaps there.
    Fork,
}

/// A vertex of the precedence graph: 0 is the genesis vertex, `i + 1` is operation `i`.
type VertexId = u32;

/// The precedence graph, its edges apart by their kind.
#[derive(Debug, Default)]
struct Graph {
    happens_before: Vec<(VertexId, VertexId)>,
    /// With the location.
    reads_from: Vec<(VertexId, VertexId, ValueId)>,
    auxiliary: Vec<(VertexId, VertexId)>,
}

impl Graph {
    fn edges(&self) -> impl Iterator<Item = (VertexId, VertexId)> + '_ {
        let reads_from = self.reads_from.iter().map(|(from, to, _)| (*from, *to));
        self.happens_before.iter().copied().chain(reads_from).chain(self.auxiliary.iter().copied())
    }

    fn count(&self) -> Edges {
        Edges {
            happens_before: self.happens_before.len(),
            reads_from: self.reads_from.len(),
            auxiliary: self.auxiliary.len(),
        }
    }
}

const GENESIS: VertexId = 0;

/// The vertex of an operation.
fn vertex_of(operation: usize) -> VertexId {
    // INVARIANT: operations are numbered by 32 bits.
    VertexId::try_from(operation + 1).unwrap_or(VertexId::MAX)
}

/// What an operation is to the graph.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Vertex {
    /// Excluded by rule 1 or 2 of Section 5.3.
    Excluded,
    /// A multi-word read (or an unsuccessful swap that answers what it read): locations and values.
    Read(Vec<(ValueId, ValueId)>),
    /// A successful swap: locations, expected and new values.
    Swap(Vec<[ValueId; 3]>),
    /// An unsuccessful swap: the location responsible and the value expected there.
    Failed(ValueId, ValueId),
}

/// The published decision, with the edges of `interrupted` for recoverable linearizability.
///
/// `init` is the initial value of every location.
///
/// Rule 2 of Section 5.3 excludes an incomplete swap "provided that none of the new values it was
/// attempting to swap in has been read". An unsuccessful swap that reports only a location reads no
/// value, and yet may have been made to fail by the incomplete one: read x = 0; an incomplete swap
/// of x from 0 to 2; an unsuccessful swap of x from 0, at x. With the incomplete swap excluded
/// nothing explains the failure, and the answer is [`Published::MissingEdge`], though the history
/// is linearizable. [`check`](super::check) answers such histories correctly.
pub fn judge(history: &History, interrupted: &[Interrupted], init: ValueId) -> Published {
    analyse(history, interrupted, init, HappensBefore::Reduced).0
}

/// As [`judge`], with the happens-before edges that are asked for; also how many edges there are
/// (none if the answer came before the graph was there).
pub fn analyse(
    history: &History,
    interrupted: &[Interrupted],
    init: ValueId,
    happens_before: HappensBefore,
) -> (Published, Edges) {
    let covered =
        |vertices: &Vec<Vertex>| assumption_1(vertices, init) && assumption_2(history, vertices);
    let Some(vertices) = vertices(history).filter(covered) else {
        return (Published::NotCovered, Edges::default());
    };
    match graph(history, &vertices, interrupted, init, happens_before) {
        Ok(graph) => {
            let published = match () {
                () if !is_acyclic(&graph, vertices.len() + 1) => Published::Cycle,
                () if !has_paths(&graph, &vertices) => Published::Fork,
                () => Published::Linearizable,
            };
            (published, graph.count())
        }
        Err(published) => (published, Edges::default()),
    }
}

/// Section 5.3: incomplete operations are excluded or get a response.
fn vertices(history: &History) -> Option<Vec<Vertex>> {
    let mut vertices = Vec::new();
    for operation in &history.operations {
        let words = history.words(operation.argument);
        vertices.push(match (usize::from(operation.operation), operation.completed) {
            // Rule 1.
            (Mwcas::MWREAD, false) => Vertex::Excluded,
            (Mwcas::MWREAD, true) => Vertex::Read(
                history.words(operation.response).iter().map(|w| (w[0], w[1])).collect(),
            ),
            (_, false) => Vertex::Swap(words.to_vec()),
            (_, true) => answered(history, words, operation.response)?,
        });
    }
    // Rule 3: incomplete swaps whose values were read succeeded. Rule 2: the others are excluded.
    let observed = observed(history, &vertices);
    for (id, vertex) in vertices.iter_mut().enumerate() {
        if !history.operations[id].completed && !observed.contains(&id) {
            *vertex = Vertex::Excluded;
        }
    }
    Some(vertices)
}

fn answered(history: &History, words: &[[ValueId; 3]], answer: Argument) -> Option<Vertex> {
    match history.value(answer) {
        Value::Bool(true) => Some(Vertex::Swap(words.to_vec())),
        Value::Map(fields) => {
            if let Some(address) = fields.get(&"failed".into()) {
                let address = history.values.find(address)?;
                let word = words.iter().find(|word| word[0] == address)?;
                return Some(Vertex::Failed(address, word[1]));
            }
            let pair = |pair: &Value| {
                let [address, value] = pair.as_list()? else { return None };
                Some((history.values.find(address)?, history.values.find(value)?))
            };
            let pairs = fields.get(&"read".into())?.as_list()?.iter().map(pair);
            let pairs: Vec<(ValueId, ValueId)> = pairs.collect::<Option<_>>()?;
            // Section 5.2 means all the values read, one of which is not the expected one.
            let unexpected =
                words.iter().any(|word| pairs.iter().any(|p| p.0 == word[0] && p.1 != word[1]));
            (unexpected && pairs.len() == words.len()).then_some(Vertex::Read(pairs))
        }
        _ => None,
    }
}

/// The incomplete swaps one of whose new values was read, by an operation that took effect.
fn observed(history: &History, vertices: &[Vertex]) -> FxHashSet<usize> {
    let mut observed: FxHashSet<usize> = FxHashSet::default();
    loop {
        let effective = |id: usize| history.operations[id].completed || observed.contains(&id);
        let read: FxHashSet<(ValueId, ValueId)> = (0..vertices.len())
            .filter(|&id| effective(id))
            .flat_map(|id| read_by(&vertices[id]))
            .collect();
        let is_read = |word: &[ValueId; 3]| read.contains(&(word[0], word[2]));
        let more: Vec<usize> = (0..vertices.len())
            .filter(|&id| !effective(id))
            .filter(|&id| matches!(&vertices[id], Vertex::Swap(words) if words.iter().any(is_read)))
            .collect();
        if more.is_empty() {
            return observed;
        }
        observed.extend(more);
    }
}

/// What a read or successful swap reads.
fn read_by(vertex: &Vertex) -> Vec<(ValueId, ValueId)> {
    match vertex {
        Vertex::Read(pairs) => pairs.clone(),
        Vertex::Swap(words) => words.iter().map(|word| (word[0], word[1])).collect(),
        Vertex::Excluded | Vertex::Failed(..) => Vec::new(),
    }
}

/// Assumption 1: every value is written to a location once, and is not the initial one.
fn assumption_1(vertices: &[Vertex], init: ValueId) -> bool {
    let mut written: FxHashSet<(ValueId, ValueId)> = FxHashSet::default();
    vertices.iter().all(|vertex| match vertex {
        Vertex::Swap(words) => {
            words.iter().all(|word| word[2] != init && written.insert((word[0], word[2])))
        }
        _ => true,
    })
}

/// Assumption 2: what a swap expects was read by an operation that happened before it.
fn assumption_2(history: &History, vertices: &[Vertex]) -> bool {
    let operations = &history.operations;
    // When the first operation returned that had read this.
    let mut first: FxHashMap<(ValueId, ValueId), Rank> = FxHashMap::default();
    for (operation, vertex) in operations.iter().zip(vertices) {
        for read in read_by(vertex) {
            let returned = first.entry(read).or_insert(operation.returned);
            *returned = operation.returned.min(*returned);
        }
    }
    let read_before = |id: usize, expected: (ValueId, ValueId)| {
        first.get(&expected).is_some_and(|returned| *returned < operations[id].invoked)
    };
    (0..vertices.len()).all(|id| match &vertices[id] {
        Vertex::Swap(words) => words.iter().all(|word| read_before(id, (word[0], word[1]))),
        Vertex::Failed(location, value) => read_before(id, (*location, *value)),
        Vertex::Read(_) | Vertex::Excluded => true,
    })
}

/// Sections 4 and 5: all edges. An error if property ii or iii cannot hold.
fn graph(
    history: &History,
    vertices: &[Vertex],
    interrupted: &[Interrupted],
    init: ValueId,
    happens_before: HappensBefore,
) -> Result<Graph, Published> {
    let happens_before = hb_edges(history, vertices, happens_before);
    let mut graph = Graph { happens_before, ..Graph::default() };
    let mut writer: FxHashMap<(ValueId, ValueId), VertexId> = FxHashMap::default();
    let mut successor: FxHashMap<(ValueId, ValueId), VertexId> = FxHashMap::default();
    for (id, vertex) in vertices.iter().enumerate() {
        if let Vertex::Swap(words) = vertex {
            for &[location, expected, new] in words {
                writer.insert((location, new), vertex_of(id));
                // A fork in the path of reads-from edges.
                if successor.insert((location, expected), vertex_of(id)).is_some() {
                    return Err(Published::Fork);
                }
            }
        }
    }
    for (id, vertex) in vertices.iter().enumerate() {
        // Section 5.1: reads-from edges, and from a read to the successor of what it read.
        for (location, value) in read_by(vertex) {
            let from = writer.get(&(location, value)).copied();
            let from = from.or((value == init).then_some(GENESIS)).ok_or(Published::MissingEdge)?;
            graph.reads_from.push((from, vertex_of(id), location));
            if let (Vertex::Read(_), Some(&next)) = (vertex, successor.get(&(location, value))) {
                graph.auxiliary.push((vertex_of(id), next));
            }
        }
        // Section 5.2: from the successor of what it expected to an unsuccessful swap.
        if let Vertex::Failed(location, value) = vertex {
            let next = successor.get(&(*location, *value)).ok_or(Published::MissingEdge)?;
            graph.auxiliary.push((*next, vertex_of(id)));
        }
    }
    // Section 5.3: for recoverable linearizability, to the next operation of the same process.
    for Interrupted { operation, mut next } in interrupted.iter().copied() {
        let follow = |id: OpId| interrupted.iter().find(|other| other.operation == id);
        while vertices[next.index()] == Vertex::Excluded
            && let Some(later) = follow(next)
        {
            next = later.next;
        }
        if vertices[operation.index()] != Vertex::Excluded
            && vertices[next.index()] != Vertex::Excluded
        {
            graph.auxiliary.push((vertex_of(operation.index()), vertex_of(next.index())));
        }
    }
    Ok(graph)
}

/// Figure 3: a minimal set of happens-before edges whose transitive closure is the whole relation;
/// or the whole relation.
fn hb_edges(
    history: &History,
    vertices: &[Vertex],
    which: HappensBefore,
) -> Vec<(VertexId, VertexId)> {
    let start = |id: usize| history.operations[id].invoked;
    let finish = |id: usize| history.operations[id].returned;
    let mut edges = Vec::new();
    // Operations are in the order of their invocations.
    let list: Vec<usize> =
        (0..vertices.len()).filter(|&id| vertices[id] != Vertex::Excluded).collect();
    for &id in &list {
        let first = list.partition_point(|&other| start(other) <= finish(id));
        let mut earliest_finish = NEVER;
        for &other in &list[first..] {
            if which == HappensBefore::Reduced && start(other) > earliest_finish {
                break;
            }
            edges.push((vertex_of(id), vertex_of(other)));
            earliest_finish = earliest_finish.min(finish(other));
        }
    }
    edges
}

/// What each vertex leads to: all targets in a row, and where those of each vertex start.
fn successors(graph: &Graph, vertices: usize) -> (Vec<VertexId>, Vec<usize>) {
    let mut starts = vec![0; vertices + 1];
    for (from, _) in graph.edges() {
        starts[from as usize + 1] += 1;
    }
    for vertex in 0..vertices {
        starts[vertex + 1] += starts[vertex];
    }
    let mut next = starts.clone();
    let mut targets = vec![GENESIS; starts[vertices]];
    for (from, to) in graph.edges() {
        targets[next[from as usize]] = to;
        next[from as usize] += 1;
    }
    (targets, starts)
}

/// Property i, by depth-first search.
fn is_acyclic(graph: &Graph, vertices: usize) -> bool {
    let (targets, starts) = successors(graph, vertices);
    #[derive(Clone, Copy, PartialEq)]
    enum Color {
        White,
        Gray,
        Black,
    }
    let mut colors = vec![Color::White; vertices];
    for root in 0..vertices {
        if colors[root] != Color::White {
            continue;
        }
        colors[root] = Color::Gray;
        let mut stack = vec![(root, starts[root])];
        while let Some((vertex, at)) = stack.last_mut() {
            let vertex = *vertex;
            match (*at < starts[vertex + 1]).then(|| targets[*at] as usize) {
                Some(next) => {
                    *at += 1;
                    match colors[next] {
                        Color::Gray => return false,
                        Color::White => {
                            colors[next] = Color::Gray;
                            stack.push((next, starts[next]));
                        }
                        Color::Black => {}
                    }
                }
                None => {
                    colors[vertex] = Color::Black;
                    stack.pop();
                }
            }
        }
    }
    true
}

/// Property iii: from the genesis vertex, the reads-from edges of each location lead over all
/// successful swaps there.
fn has_paths(graph: &Graph, vertices: &[Vertex]) -> bool {
    let swaps_at = |vertex: VertexId, location: ValueId| match &vertices[vertex as usize - 1] {
        Vertex::Swap(words) => words.iter().any(|word| word[0] == location),
        _ => false,
    };
    let mut follows: FxHashMap<(VertexId, ValueId), VertexId> = FxHashMap::default();
    for &(from, to, location) in &graph.reads_from {
        if swaps_at(to, location) {
            follows.insert((from, location), to);
        }
    }
    let mut count: FxHashMap<ValueId, usize> = FxHashMap::default();
    for vertex in vertices {
        if let Vertex::Swap(words) = vertex {
            words.iter().for_each(|word| *count.entry(word[0]).or_default() += 1);
        }
    }
    count.into_iter().all(|(location, count)| {
        let mut at = GENESIS;
        (0..count).all(|_| {
            let next = follows.get(&(at, location)).copied();
            at = next.unwrap_or(at);
            next.is_some()
        })
    })
}
