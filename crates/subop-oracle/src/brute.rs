//! Linearizability by brute force: Definition 2 of the paper, for a few instances, operations that
//! never complete included.
//!
//! A *history* is what clients see of an interleaving: what each complete instance observed, which
//! ones are pending, and which one was complete before which other started. It is linearizable if
//! the complete instances, and some of the pending ones, can be executed one after the other, each
//! as a whole, in an order that respects that, so that each complete one observes the same.

use linchpin_subop::execute::{Instance, Machine, ObjectId, Progress, Shared, State, Value};
use linchpin_subop::model::{Model, SubOperationId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;
use std::rc::Rc;

/// What is executed.
#[derive(Clone, Debug, Default)]
pub struct Case {
    /// Executed first, one after the other.
    pub prologue: Vec<Instance>,
    /// Then these, concurrently. At most 8.
    pub concurrent: Vec<Instance>,
}

/// How an interleaving and a sequential run are compared, from the weakest to the strictest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Comparison {
    /// As clients do: what each operation returns or, without a `return`, all it saw.
    #[default]
    Observations,
    /// The same, and where every instance is complete, the final shared state too: no sequential
    /// execution that explains the history may leave anything else behind.
    Effects,
    /// As the method does (Definition 4): all locals, `READ`s and results of complete instances
    /// and, where every instance is complete, the final state too. Stricter.
    States,
}

/// What the brute force says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Judged {
    /// Every history has a linearization.
    Linearizable,
    /// This one has none.
    Violated(Counterexample),
    /// There are more states than allowed.
    TooLarge,
}

/// An interleaving whose history has no linearization. It is a shortest one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counterexample {
    /// Which instance executed which sub-operation; instances are numbered from 0, those of the
    /// prologue first.
    pub schedule: Vec<(usize, SubOperationId)>,
    /// The instances at the end.
    pub instances: Vec<Instance>,
    /// Whether an integer was guessed that might have been any: then a sequential run may exist
    /// that was not tried.
    pub open_guesses: bool,
}

/// What one instance shows at the end: nothing if it is not part of it.
type Shown = Option<Vec<Option<Value>>>;

/// One sequential run.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Run {
    /// The instances in their order, those of the prologue left out.
    order: Vec<u8>,
    shown: Vec<Shown>,
    shared: Option<Shared>,
}

/// What the brute force says, and what it has seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// What it says.
    pub verdict: Judged,
    /// How many states it visited.
    pub states: usize,
    /// The sub-operations that were executed concurrently; a verdict says nothing about the others.
    pub executed: BTreeSet<SubOperationId>,
}

/// Explores every interleaving, up to `limit` states.
pub fn judge(model: &Model, case: &Case, comparison: Comparison, limit: usize) -> Judged {
    explore(model, case, comparison, limit).verdict
}

/// As [`judge`], with what was seen on the way.
///
/// A guess may be any integer, and only some are tried. Those that a history without a
/// linearization shows are tried as well before it is called one.
pub fn explore(model: &Model, case: &Case, comparison: Comparison, limit: usize) -> Report {
    let mut integers: Vec<i64> = Vec::new();
    loop {
        let mut report = explore_with(model, case, comparison, limit, &integers);
        let Judged::Violated(found) = &report.verdict else { return report };
        let mut more: Vec<i64> = found
            .instances
            .iter()
            .flat_map(|instance| {
                let saw = instance.locals.iter().chain(&instance.reads).flatten();
                saw.chain(instance.result.iter().flatten()).filter_map(Value::as_int)
            })
            .filter(|value| !integers.contains(value))
            .collect();
        more.sort_unstable();
        more.dedup();
        if more.is_empty() {
            return report;
        }
        integers.extend(more);
        if integers.len() > MOST_INTEGERS {
            report.verdict = Judged::TooLarge;
            return report;
        }
    }
}

/// More integers than this are not tried as guesses.
const MOST_INTEGERS: usize = 40;

fn explore_with(
    model: &Model,
    case: &Case,
    comparison: Comparison,
    limit: usize,
    integers: &[i64],
) -> Report {
    let mut report = Report { verdict: Judged::TooLarge, states: 0, executed: BTreeSet::new() };
    let mut instances = case.prologue.clone();
    instances.extend(case.concurrent.iter().cloned());
    let passed = instances.iter().flat_map(|instance| instance.locals.iter().flatten());
    let machine = Machine::new(model)
        .with_integers(passed.filter_map(Value::as_int))
        .with_integers(integers.iter().copied());
    let first = case.prologue.len();
    let mut prepared = vec![machine.start(instances)];
    for me in 0..first {
        let mut next = Vec::new();
        for state in &prepared {
            let Some(complete) = alone(&machine, state, me, limit) else { return report };
            next.extend(complete);
        }
        dedup(&mut next);
        if next.len() > limit {
            return report;
        }
        prepared = next;
    }
    let mut judge = Judge { machine, first, comparison, limit, runs: FxHashSet::default() };
    for state in &prepared {
        if !judge.sequential(state, &mut Vec::new()) {
            return report;
        }
    }
    report.verdict = judge.interleavings(prepared, &mut report);
    report
}

/// Every state in which instance `me` is complete, having been executed without interruption;
/// nothing if that takes more than `limit` steps.
fn alone(machine: &Machine<'_>, state: &State, me: usize, limit: usize) -> Option<Vec<State>> {
    let mut complete = Vec::new();
    let mut open = vec![state.clone()];
    let mut visited = 0;
    while let Some(state) = open.pop() {
        visited += 1;
        if visited > limit {
            return None;
        }
        for step in machine.steps(&state, me) {
            if step.state.instances[me].progress == Progress::Complete {
                complete.push(step.state);
            } else {
                open.push(step.state);
            }
        }
    }
    dedup(&mut complete);
    Some(complete)
}

fn dedup(states: &mut Vec<State>) {
    let mut seen = FxHashSet::default();
    states.retain(|state| seen.insert(state.clone()));
}

/// A state and which instances were complete when each one started, as bits.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Node {
    state: State,
    before: Vec<u8>,
}

/// How a state came about: from which one, by which instance, with which sub-operation.
type Parent = (usize, usize, SubOperationId);

/// A history: what clients see of an interleaving.
#[derive(PartialEq, Eq, Hash)]
struct Seen {
    /// What each complete instance shows.
    shown: Vec<Shown>,
    /// Which concurrent instances were complete when each one started.
    before: Vec<u8>,
    /// Which ones have not started.
    waiting: u8,
    /// The final state, if it is compared.
    shared: Option<Shared>,
}

struct Judge<'m> {
    machine: Machine<'m>,
    /// The number of the first concurrent instance.
    first: usize,
    comparison: Comparison,
    limit: usize,
    runs: FxHashSet<Run>,
}

impl Judge<'_> {
    /// Collects the sequential runs that go on from `state` after `order`. False if there are too
    /// many.
    fn sequential(&mut self, state: &State, order: &mut Vec<u8>) -> bool {
        let shown = state.instances.iter().map(|instance| self.shown(instance)).collect();
        let all = order.len() == state.instances.len() - self.first;
        let shared =
            (all && self.comparison != Comparison::Observations).then(|| state.shared.clone());
        self.runs.insert(Run { order: order.clone(), shown, shared });
        if self.runs.len() > self.limit {
            return false;
        }
        for me in self.first..state.instances.len() {
            if state.instances[me].progress != Progress::Waiting {
                continue;
            }
            order.push((me - self.first) as u8);
            let Some(complete) = alone(&self.machine, state, me, self.limit) else {
                return false;
            };
            for after in complete {
                if !self.sequential(&after, order) {
                    return false;
                }
            }
            order.pop();
        }
        true
    }

    fn shown(&self, instance: &Instance) -> Shown {
        if instance.progress != Progress::Complete {
            return None;
        }
        Some(match self.comparison {
            Comparison::Observations | Comparison::Effects => instance.observation(),
            Comparison::States => {
                let result = instance.result.iter().flatten().copied().map(Some);
                let saw = instance.locals.iter().chain(&instance.reads).copied();
                saw.chain(result).collect()
            }
        })
    }

    /// Breadth first, so that the first history without a linearization is a shortest one.
    fn interleavings(&self, prepared: Vec<State>, report: &mut Report) -> Judged {
        let mut nodes: Vec<Rc<Node>> = Vec::new();
        let mut parents: Vec<Option<Parent>> = Vec::new();
        let mut seen: FxHashSet<Rc<Node>> = FxHashSet::default();
        let mut judged: FxHashMap<Seen, bool> = FxHashMap::default();
        for state in prepared {
            let before = vec![0; state.instances.len() - self.first];
            let node = Rc::new(Node { state, before });
            if seen.insert(node.clone()) {
                nodes.push(node);
                parents.push(None);
            }
        }
        let mut at = 0;
        while at < nodes.len() {
            let node = nodes[at].clone();
            report.states = at + 1;
            for me in self.first..node.state.instances.len() {
                let before = self.precedence(&node, me);
                for step in self.machine.steps(&node.state, me) {
                    let operation = node.state.instances[me].operation;
                    let id = SubOperationId { operation, index: step.sub_operation };
                    report.executed.insert(id);
                    let next = Node { state: step.state, before: before.clone() };
                    let completed = next.state.instances[me].progress == Progress::Complete;
                    // Only a completion can make a linearizable history one that is not.
                    if completed && !self.linearizable(&next, &mut judged) {
                        let schedule = schedule(&parents, at, (me, id));
                        let instances = next.state.instances;
                        let open_guesses = self.machine.has_open_guesses();
                        return Judged::Violated(Counterexample {
                            schedule,
                            instances,
                            open_guesses,
                        });
                    }
                    let next = Rc::new(next);
                    if seen.insert(next.clone()) {
                        if nodes.len() >= self.limit {
                            return Judged::TooLarge;
                        }
                        nodes.push(next);
                        parents.push(Some((at, me, id)));
                    }
                }
            }
            at += 1;
        }
        Judged::Linearizable
    }

    /// The precedence after instance `me` takes a step: if it is its first, all that is complete
    /// came before it.
    fn precedence(&self, node: &Node, me: usize) -> Vec<u8> {
        let mut before = node.before.clone();
        let concurrent = &node.state.instances[self.first..];
        if node.state.instances[me].progress == Progress::Waiting {
            before[me - self.first] = bits(concurrent, Progress::Complete);
        }
        before
    }

    fn linearizable(&self, node: &Node, judged: &mut FxHashMap<Seen, bool>) -> bool {
        let concurrent = &node.state.instances[self.first..];
        let all = concurrent.iter().all(|instance| instance.progress == Progress::Complete);
        let compared = all && self.comparison != Comparison::Observations;
        let seen = Seen {
            shown: node.state.instances.iter().map(|instance| self.shown(instance)).collect(),
            before: node.before.clone(),
            waiting: bits(concurrent, Progress::Waiting),
            shared: compared.then(|| node.state.shared.clone()),
        };
        if let Some(known) = judged.get(&seen) {
            return *known;
        }
        let explained = self.runs.iter().any(|run| seen.is_explained_by(run, self.comparison));
        judged.insert(seen, explained);
        explained
    }
}

impl Seen {
    /// Whether a sequential run is a linearization of this history.
    fn is_explained_by(&self, run: &Run, comparison: Comparison) -> bool {
        // Every complete instance is part of the run and shows the same; no instance is that has
        // not started.
        let mut renamed = Vec::new();
        let mut pairs = self.shown.iter().zip(&run.shown);
        let same = pairs.all(|(seen, run)| match (seen, run) {
            (None, _) => true,
            (Some(seen), Some(run)) if comparison == Comparison::Observations => {
                seen.len() == run.len()
                    && seen.iter().zip(run).all(|(seen, run)| is_same(*seen, *run, &mut renamed))
            }
            _ => seen == run,
        });
        let mut done = 0u8;
        same && (self.shared.is_none() || self.shared == run.shared)
            && run.order.iter().all(|&me| {
                let started = self.waiting & (1 << me) == 0;
                // What came before it must be done; only complete instances come before anything.
                let respected = self.before[me as usize] & !done == 0;
                done |= 1 << me;
                started && respected
            })
    }
}

/// Whether two values are the same to clients: they can tell whether two new objects are one, not
/// which of its own objects an operation returned.
fn is_same(
    seen: Option<Value>,
    run: Option<Value>,
    renamed: &mut Vec<(ObjectId, ObjectId)>,
) -> bool {
    let (Some(Value::Ref(seen)), Some(Value::Ref(run))) = (seen, run) else { return seen == run };
    if seen.owner == ObjectId::START || run.owner == ObjectId::START {
        return seen == run;
    }
    let known = renamed.iter().find(|(one, other)| *one == seen || *other == run);
    match known {
        Some(pair) => *pair == (seen, run),
        None => {
            renamed.push((seen, run));
            true
        }
    }
}

/// The instances that are this far, as bits.
fn bits(instances: &[Instance], progress: Progress) -> u8 {
    let is = |(me, instance): (usize, &Instance)| u8::from(instance.progress == progress) << me;
    instances.iter().enumerate().map(is).sum()
}

fn schedule(
    parents: &[Option<Parent>],
    mut at: usize,
    last: (usize, SubOperationId),
) -> Vec<(usize, SubOperationId)> {
    let mut steps = vec![last];
    while let Some((parent, me, id)) = parents[at] {
        steps.push((me, id));
        at = parent;
    }
    steps.reverse();
    steps
}

impl Counterexample {
    /// The interleaving, one step a line.
    pub fn render(&self, model: &Model) -> String {
        let mut text = String::new();
        for (me, id) in &self.schedule {
            let operation = &model.operations[id.operation.0];
            let names = linchpin_subop::Names::of(model, operation);
            let step = names.sub_operation(model.sub_operation(*id));
            text += &format!("{me} {}: {step}\n", operation.name);
        }
        for (me, instance) in self.instances.iter().enumerate() {
            let name = &model.operations[instance.operation.0].name;
            let progress = instance.progress;
            text += &format!("{me} {name}: {progress:?}, saw {:?}\n", instance.observation());
        }
        text
    }
}
