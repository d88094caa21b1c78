//! One operation at a time, every model agrees with its specification on every sequence of calls up
//! to a length.

use crate::models::{Model, models, object};
use linchpin_ir::domain::{Domain, DomainBounds};
use linchpin_ir::interpreter::{Machine, Memory, Move, State, Status};
use linchpin_ir::model_spec::ModelObject;
use linchpin_ir::program::{Operation, Program};
use linchpin_spec::{Call, Value};
use std::collections::HashSet;

/// About how many sequences are tried for a model; their length follows from the number of calls
/// there are.
const SEQUENCES: f64 = 30_000.0;

/// Values that clients pass; two are enough to tell elements apart and to order them.
const VALUES: i64 = 2;

/// A call that a thread can make.
struct Client {
    thread: usize,
    operation: usize,
    arguments: Vec<Value>,
}

#[test]
fn every_model_agrees_with_its_specification_when_run_sequentially() {
    for model in models() {
        let compiled = model.compile();
        let machine = Machine::new(&compiled.program, Memory::Collected);
        let object = object(&model.name, &compiled);
        let clients = clients(&compiled.program);
        let length =
            (SEQUENCES.ln() / (clients.len() as f64).ln()).floor().clamp(3.0, 8.0) as usize;
        let start = machine.initial().unwrap_or_else(|fault| panic!("{}: {fault}", model.name));
        let mut explorer = Explorer {
            model: &model,
            machine: &machine,
            object: &object,
            clients,
            calls: Vec::new(),
            tried: 0,
            stuck: HashSet::new(),
        };
        let initial = object.spec.initial();
        explorer.explore(&start, &initial, length);
        println!("{}: {} calls in sequences of up to {length}", model.name, explorer.tried);
        let mut stuck: Vec<String> = explorer.stuck.into_iter().collect();
        stuck.sort();
        assert_eq!(stuck, model.header.partial, "{}: operations that never return", model.name);
    }
}

/// Every call of every thread, except that threads which can do the same are represented by two of
/// them.
fn clients(program: &Program) -> Vec<Client> {
    let bounds = DomainBounds { values: VALUES, threads: program.threads.len() };
    let mut clients = Vec::new();
    for (thread, client) in program.threads.iter().enumerate() {
        let alike = program.threads[..thread].iter().filter(|t| t.operations == client.operations);
        if alike.count() >= 2 {
            continue;
        }
        for &operation in &client.operations {
            let domain = Domain::of_arguments(&program.operations[operation], bounds);
            for arguments in domain.expect("clients can call every operation").values() {
                let arguments = arguments.as_list().expect("a list of arguments").to_vec();
                clients.push(Client { thread, operation, arguments });
            }
        }
    }
    clients
}

struct Explorer<'a> {
    model: &'a Model,
    machine: &'a Machine,
    object: &'a ModelObject,
    clients: Vec<Client>,
    /// The calls that led here, for messages.
    calls: Vec<String>,
    tried: u64,
    stuck: HashSet<String>,
}

impl Explorer<'_> {
    fn explore(&mut self, state: &State, specified: &Value, length: usize) {
        if length == 0 {
            return;
        }
        for at in 0..self.clients.len() {
            let Client { thread, operation, arguments } = &self.clients[at];
            let (thread, operation, arguments) = (*thread, *operation, arguments.clone());
            let allowed = self.machine.may_call(state, thread, operation, &arguments);
            if !allowed.expect("`requires` can be evaluated") {
                continue;
            }
            self.tried += 1;
            let called = &self.machine.program().operations[operation];
            let argument = Operation::argument(&arguments);
            self.calls.push(format!("{}({argument})", called.name));
            let call = Call { operation: self.object.operations[operation], argument };
            let ends = self.run_alone(state, Move::Invoke { thread, operation, arguments });
            if ends.is_empty() {
                self.stuck.insert(called.name.clone());
            }
            for (after, response) in ends {
                let outcomes = self.object.spec.apply(specified, &call, Some(&response));
                assert!(
                    !outcomes.is_empty(),
                    "{}: after {} the specification does not allow the answer {response}",
                    self.model.name,
                    self.calls.join(", ")
                );
                for outcome in outcomes {
                    self.explore(&after, &outcome.state, length - 1);
                }
            }
            self.calls.pop();
        }
    }

    /// Every way in which the call can end when no other thread moves.
    fn run_alone(&self, state: &State, invoke: Move) -> Vec<(State, Value)> {
        let thread = invoke.thread().expect("a call is of a thread");
        let mut seen = HashSet::new();
        let mut ends = Vec::new();
        let mut todo = self.after(state, &invoke);
        while let Some(state) = todo.pop() {
            if !seen.insert(state.clone()) {
                continue;
            }
            assert!(
                seen.len() < 10_000,
                "{}: {} takes too long",
                self.model.name,
                self.calls.join(", ")
            );
            match &state.threads[thread].status {
                Status::Returning { .. } => ends.extend(self.machine.respond(&state, thread)),
                _ => todo.extend(self.after(&state, &Move::Step { thread })),
            }
        }
        ends
    }

    fn after(&self, state: &State, what: &Move) -> Vec<State> {
        let successors = self.machine.successors(state, what).into_iter();
        let state = |result| match result {
            Ok(state) => state,
            Err(fault) => panic!("{}: {}: {fault}", self.model.name, self.calls.join(", ")),
        };
        successors.map(|successor| state(successor.result)).collect()
    }
}
