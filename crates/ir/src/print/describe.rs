//! The steps of a program as plain data.

use super::Names;
use crate::persistence::{Persistence, Resolve};
use crate::program::{Body, Edge, LocalId, NodeId, Operation, Program, Target, Type};

/// The steps of an operation, of `init` or of recovery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperationSteps {
    /// Its name.
    pub operation: String,
    /// How it is called: `pop() -> int?`, and what it requires.
    pub signature: String,
    /// The source line of its declaration.
    pub line: u32,
    /// Its steps, in the order in which a reader meets them.
    pub steps: Vec<StepDescription>,
}

/// A node with its ways on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepDescription {
    /// Where a step begins: `1`, `2`, …; `call` for what belongs to the invocation. A node inside a
    /// step has the id of the step that first gets there, and a number: `2.1`.
    pub id: String,
    /// The node: an index into the body.
    pub node: usize,
    /// Whether other threads may run before this.
    pub yields: bool,
    /// The source line.
    pub line: u32,
    /// The ways on.
    pub edges: Vec<EdgeDescription>,
}

/// A way on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EdgeDescription {
    /// What happens, in order; `when …` are conditions.
    pub actions: Vec<String>,
    /// The claimed linearization points, as the model writes them.
    pub points: Vec<String>,
    /// The claimed base conditions, as the model writes them.
    pub bases: Vec<String>,
    /// The id of the next step, or `return …`.
    pub target: String,
}

/// The steps of `init`, if there is one, of every operation, and of recovery. Nodes that cannot be
/// reached are left out. The reference is a program of its own: describe
/// [`Program::reference`](crate::program::Program::reference) for its steps.
pub fn describe(program: &Program) -> Vec<OperationSteps> {
    let mut all = Vec::new();
    if let Some(body) = &program.init {
        let line = body.nodes.get(body.entry.0 as usize).map_or(0, |node| node.line);
        all.push(OperationSteps {
            operation: "init".to_owned(),
            signature: "init".to_owned(),
            line,
            steps: describe_body(Names { program, body }, &Type::Unit),
        });
    }
    all.extend(program.operations.iter().map(|operation| {
        let names = Names { program, body: &operation.body };
        OperationSteps {
            operation: operation.name.clone(),
            signature: signature(names, operation),
            line: operation.line,
            steps: describe_body(names, &operation.response),
        }
    }));
    all.extend(program.persistence.iter().flat_map(|persistence| recovery(program, persistence)));
    all
}

/// The steps of `recover` and of `recover(t)`, if there are such.
fn recovery(program: &Program, persistence: &Persistence) -> Vec<OperationSteps> {
    let recover = persistence.recover.iter().map(|body| OperationSteps {
        operation: "recover".to_owned(),
        signature: "recover".to_owned(),
        line: body.nodes.get(body.entry.0 as usize).map_or(0, |node| node.line),
        steps: describe_body(Names { program, body }, &Type::Unit),
    });
    let resolve = persistence.resolve.iter().map(|Resolve { body, response, line }| {
        let names = Names { program, body };
        let thread = names.local(LocalId(0));
        let answer = Type::Option(Box::new(response.clone()));
        OperationSteps {
            operation: format!("recover({thread})"),
            signature: format!("recover({thread}: tid) -> {}", names.ty(&answer)),
            line: *line,
            steps: describe_body(names, &answer),
        }
    });
    recover.chain(resolve).collect()
}

/// `op pop() -> int?`
fn signature(names: Names, operation: &Operation) -> String {
    let parameter = |(i, parameter): (usize, &crate::program::Parameter)| {
        let name = names.local(crate::program::LocalId(i as u32));
        let range = parameter.range.map_or(String::new(), |(from, to)| format!(" in {from}..{to}"));
        format!("{name}: {}{range}", names.ty(&parameter.ty))
    };
    let parameters: Vec<String> = operation.parameters.iter().enumerate().map(parameter).collect();
    let mut text = format!("{}({})", operation.name, parameters.join(", "));
    if operation.response != Type::Unit {
        text += &format!(" -> {}", names.ty(&operation.response));
    }
    if let Some(requires) = &operation.requires {
        text += &format!(" requires {}", names.expr(requires));
    }
    text
}

fn describe_body(names: Names, response: &Type) -> Vec<StepDescription> {
    let order = numbered(names.body);
    let id = |node: NodeId| {
        let found = order.iter().find(|(numbered, _)| *numbered == node);
        found.map_or_else(|| "?".to_owned(), |(_, id)| id.clone())
    };
    let describe_edge = |edge: &Edge| EdgeDescription {
        actions: edge.actions.iter().map(|(action, _)| names.action(action)).collect(),
        points: edge.points.iter().map(|(_, point)| names.point(point, response)).collect(),
        bases: edge
            .bases
            .iter()
            .map(|(_, base)| format!("#[base({})]", names.formula(base)))
            .collect(),
        target: match &edge.target {
            Target::Node(node) => id(*node),
            Target::Return(value) => names.returned(value, response),
        },
    };
    let describe_node = |(node, id): &(NodeId, String)| {
        let described = &names.body.nodes[node.0 as usize];
        StepDescription {
            id: id.clone(),
            node: node.0 as usize,
            yields: described.yields,
            line: described.line,
            edges: described.edges.iter().map(describe_edge).collect(),
        }
    };
    order.iter().map(describe_node).collect()
}

/// The nodes that can be reached, with their ids, in reading order: each step followed by the nodes
/// inside it, and what comes first on the way of the first edges before what comes later.
fn numbered(body: &Body) -> Vec<(NodeId, String)> {
    let mut order: Vec<(NodeId, String)> = Vec::new();
    let mut starts = vec![body.entry];
    let mut steps = 0;
    while let Some(start) = starts.pop() {
        if order.iter().any(|(node, _)| *node == start) {
            continue;
        }
        let step = if start == body.entry { "call".to_owned() } else { steps.to_string() };
        steps += 1;
        let mut next_starts = Vec::new();
        let mut inside = vec![start];
        let mut count = 0;
        while let Some(node) = inside.pop() {
            let Some(found) = body.nodes.get(node.0 as usize) else { continue };
            if order.iter().any(|(numbered, _)| *numbered == node) {
                continue;
            }
            let id = if count == 0 { step.clone() } else { format!("{step}.{count}") };
            count += 1;
            order.push((node, id));
            for edge in found.edges.iter().rev() {
                if let Target::Node(target) = edge.target {
                    let yields = body.nodes.get(target.0 as usize).is_some_and(|node| node.yields);
                    if yields { next_starts.push(target) } else { inside.push(target) }
                }
            }
        }
        starts.extend(next_starts);
    }
    order
}
