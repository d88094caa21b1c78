//! Reachable states that show something about a pair of sub-operations, and executions of an
//! interleaving that stopped a proof: a few instances, executed concretely.

use std::collections::HashSet;

use linchpin_subop::execute::{Instance, Machine, Progress, State, Value};
use linchpin_subop::model::{Claim, Model, OperationId, SubOperationId, Type};

use crate::Line;

/// How many operations are executed before an interleaving, at most.
const LONGEST_PROLOGUE: usize = 2;

/// Looks for an execution of an interleaving that stopped a proof: the operations to execute before
/// it, one after the other. `None`: none was found with few of them and all arguments 1; then it
/// may be an incompleteness of the method (Section VIII).
pub fn find_execution(model: &Model, lines: &[Line]) -> Option<Vec<String>> {
    let machine = Machine::new(model);
    let mut prologues: Vec<Vec<usize>> = vec![Vec::new()];
    let mut at = 0;
    while at < prologues.len() {
        let prologue = prologues[at].clone();
        if is_executable(&machine, &prologue, lines) == Some(true) {
            return Some(
                prologue
                    .iter()
                    .map(|operation| model.operations[*operation].name.clone())
                    .collect(),
            );
        }
        if prologue.len() < LONGEST_PROLOGUE {
            prologues
                .extend((0..model.operations.len()).map(|next| [&prologue[..], &[next]].concat()));
        }
        at += 1;
    }
    None
}

fn is_executable(machine: &Machine, prologue: &[usize], lines: &[Line]) -> Option<bool> {
    let model = machine.model();
    let mut instances: Vec<Instance> =
        prologue.iter().map(|operation| instance(model, OperationId(*operation))).collect();
    let count = lines.iter().map(|line| line.instance).max()?;
    for number in 1..=count {
        let line = lines.iter().find(|line| line.instance == number)?;
        instances.push(instance(model, model.operation(&line.operation)?));
    }
    let mut states = vec![machine.start(instances)];
    for who in 0..prologue.len() {
        let mut complete = Vec::new();
        while let Some(state) = states.pop() {
            if state.instances[who].progress == Progress::Complete {
                complete.push(state);
            } else {
                states.extend(machine.steps(&state, who).into_iter().map(|step| step.state));
            }
            if states.len() + complete.len() > MOST_STATES {
                return None;
            }
        }
        states = complete;
    }
    for line in lines {
        let who = prologue.len() + line.instance - 1;
        let operation = states.first()?.instances[who].operation;
        let steps = &model.operations[operation.0].sub_operations;
        for name in &line.steps {
            let index = steps.iter().position(|step| step.name == *name)?;
            let id = SubOperationId { operation, index };
            let next = states.iter().flat_map(|state| executed(machine, state, who, id));
            states = next.take(MOST_STATES).collect::<HashSet<_>>().into_iter().collect();
        }
    }
    Some(!states.is_empty())
}

/// How many states are looked at for one claim.
const MOST_STATES: usize = 4_000;

/// What reachable states show about a pair.
#[derive(Clone, Copy, Debug, Default)]
pub struct Shown {
    /// The second followed the first.
    pub orderable: bool,
    /// It did, and in the reverse order something else happens, or nothing.
    pub order_matters: bool,
}

/// Looks for states in which the claim's second sub-operation follows its first, by different
/// instances.
pub fn observe(model: &Model, claim: &Claim) -> Shown {
    let mut shown = Shown::default();
    if claim.condition.is_some() {
        // The condition may be about both instances: nothing is concluded from executions.
        return shown;
    }
    let machine = Machine::new(model);
    let (one, two) = (claim.first.operation, claim.second.operation);
    for helper in 0..model.operations.len() {
        let operations = [one, two, OperationId(helper)];
        let instances = operations.iter().map(|operation| instance(model, *operation)).collect();
        walk(&machine, machine.start(instances), claim, &mut shown);
        if shown.orderable && shown.order_matters {
            break;
        }
    }
    shown
}

fn instance(model: &Model, operation: OperationId) -> Instance {
    let body = &model.operations[operation.0];
    let mut arguments = Vec::new();
    for variable in &body.locals[..body.arguments] {
        if variable.ty != Type::Int {
            break;
        }
        arguments.push(Value::Int(1));
    }
    Instance::new(model, operation, &arguments)
}

fn walk(machine: &Machine, start: State, claim: &Claim, shown: &mut Shown) {
    let mut seen: HashSet<State> = HashSet::new();
    let mut open = vec![start];
    while let Some(state) = open.pop() {
        if seen.len() >= MOST_STATES || !seen.insert(state.clone()) {
            continue;
        }
        for after in executed(machine, &state, 0, claim.first) {
            for last in executed(machine, &after, 1, claim.second) {
                shown.orderable = true;
                let reversed = executed(machine, &state, 1, claim.second)
                    .iter()
                    .flat_map(|between| executed(machine, between, 0, claim.first))
                    .any(|end| end == last);
                shown.order_matters |= !reversed;
            }
        }
        for who in 0..state.instances.len() {
            open.extend(machine.steps(&state, who).into_iter().map(|step| step.state));
        }
    }
}

fn executed(machine: &Machine, state: &State, who: usize, id: SubOperationId) -> Vec<State> {
    let steps = machine.steps(state, who).into_iter();
    steps.filter(|step| step.sub_operation == id.index).map(|step| step.state).collect()
}
