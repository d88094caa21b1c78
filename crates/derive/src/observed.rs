//! A `spec { }` block that remembers which of its branches were taken.

use linchpin_ir::interpreter::{Machine, Memory, Move, State, Status};
use linchpin_ir::model_spec::{ModelSpec, SpecError};
use linchpin_ir::program::{NodeId, Program, Target};
use linchpin_spec::{BuiltinSpec, Call, Outcome, Outcomes, Signature, Spec, Value};
use linchpin_subop::model::SpecLine;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

/// Edges of operations: the operation, the node and the edge.
type Edges = BTreeSet<(usize, NodeId, usize)>;

/// Which branches of a specification were taken.
#[derive(Clone, Debug, Default)]
pub struct Coverage {
    taken: Arc<Mutex<Edges>>,
}

impl Coverage {
    fn take(&self, edges: impl Iterator<Item = (usize, NodeId, usize)>) {
        if let Ok(mut taken) = self.taken.lock() {
            taken.extend(edges);
        }
    }

    /// The lines of the operations named in `lines` that begin a branch which was not taken.
    pub fn not_taken(&self, spec: &Program, lines: &[SpecLine]) -> Vec<u32> {
        let Ok(taken) = self.taken.lock() else { return Vec::new() };
        let mut found = BTreeSet::new();
        for (number, operation) in spec.operations.iter().enumerate() {
            if !lines.iter().any(|line| line.method == operation.name) {
                continue;
            }
            for (at, node) in operation.body.nodes.iter().enumerate() {
                let Ok(id) = u32::try_from(at) else { continue };
                // Where there is one way on, it is taken if the branch that leads there is.
                if node.edges.len() < 2 {
                    continue;
                }
                for (edge, way) in node.edges.iter().enumerate() {
                    if taken.contains(&(number, NodeId(id), edge)) {
                        continue;
                    }
                    let last = way.actions.last().map_or(node.line, |(_, line)| *line);
                    found.insert(match way.target {
                        Target::Node(NodeId(to)) => {
                            let to = usize::try_from(to).ok();
                            let next = to.and_then(|to| operation.body.nodes.get(to));
                            next.map_or(last, |next| next.line)
                        }
                        Target::Return(_) => last,
                    });
                }
            }
        }
        found.into_iter().collect()
    }
}

/// A specification that notes the branches of every outcome that a caller asked for.
struct Observed {
    machine: Machine,
    start: State,
    plain: ModelSpec,
    coverage: Coverage,
}

/// The specification that a `spec { }` block describes, and the branches that it will take.
pub fn observed(program: &Program) -> Result<(BuiltinSpec, Coverage), SpecError> {
    // It refuses what is no sequential object.
    let plain = ModelSpec::new(program)?;
    let machine = Machine::new(program, Memory::Collected);
    let mut start = machine.initial()?;
    start.threads = vec![State::idle_thread(program)];
    let coverage = Coverage::default();
    let observed = Observed { machine, start, plain, coverage: coverage.clone() };
    Ok((Box::new(observed), coverage))
}

impl Spec for Observed {
    type State = Value;

    fn operations(&self) -> &[Signature] {
        self.plain.operations()
    }

    fn initial(&self) -> Value {
        self.plain.initial()
    }

    fn apply(&self, state: &Value, call: &Call, response: Option<&Value>) -> Outcomes<Value> {
        let Some(response) = response else { return self.plain.apply(state, call, None) };
        let mut outcomes = Outcomes::new();
        let operation = self.machine.program().operations.get(call.operation);
        let arguments = operation.and_then(|operation| operation.arguments(&call.argument));
        let (Some(variables), Some(arguments)) = (state.as_list(), arguments) else {
            return outcomes;
        };
        let before = State { shared: variables.to_vec(), ..self.start.clone() };
        let invoke = Move::Invoke { thread: 0, operation: call.operation, arguments };
        for successor in self.machine.successors(&before, &invoke) {
            let Ok(after) = successor.result else { continue };
            let Status::Returning { value, .. } = &after.threads[0].status else { continue };
            if value != response {
                continue;
            }
            let edges = successor.path.iter().map(|(node, edge)| (call.operation, *node, *edge));
            self.coverage.take(edges);
            let outcome =
                Outcome { response: value.clone(), state: Value::List(Arc::new(after.shared)) };
            if !outcomes.contains(&outcome) {
                outcomes.push(outcome);
            }
        }
        outcomes
    }
}
