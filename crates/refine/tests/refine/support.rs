//! What the tests share: compiling, bounds, and histories as the oracle reads them.

use linchpin_ir::interpreter::Memory;
use linchpin_ir::model_spec::{ModelObject, spec_of};
use linchpin_ir::program::Program;
use linchpin_ir::run::{Event, EventKind};
use linchpin_lang::{Compiled, Config, Ops, compile};
use linchpin_oracle::{Operation, is_linearizable};
use linchpin_space::{Bounds, Calls, Values};
use linchpin_spec::Call;

pub fn compiled(source: &str) -> Compiled {
    compile(source, &Config::default()).unwrap_or_else(|mistakes| {
        let shown: Vec<String> =
            mistakes.iter().map(|mistake| mistake.render("model", source, false)).collect();
        panic!("{source}\n{}", shown.join("\n"))
    })
}

pub fn bounds(calls: usize, values: i64) -> Bounds {
    Bounds {
        calls: Calls::Each(calls as u32),
        values: Values::UpTo(values),
        objects: None,
        memory: Memory::Collected,
        crashes: 0,
        thread_crashes: 0,
    }
}

/// The bounds that a model asks for.
pub fn bounds_of(compiled: &Compiled) -> Bounds {
    let all = bounds(compiled.bounds.ops.or_few(), compiled.bounds.values.or_few());
    match compiled.bounds.ops {
        Ops::Each(_) => all,
        Ops::Unlimited => Bounds { calls: Calls::Unlimited, ..all },
    }
}

pub fn object(program: &Program) -> ModelObject {
    spec_of(program).unwrap()
}

/// A history, as the oracle reads it.
pub fn history(events: &[Event], object: &ModelObject) -> Vec<Operation> {
    let mut history: Vec<Operation> = Vec::new();
    for (at, event) in events.iter().enumerate() {
        match event.kind {
            EventKind::Invoke => history.push(Operation {
                process: event.process,
                call: Call {
                    operation: object.operations[event.operation],
                    argument: event.value.clone(),
                },
                response: None,
                invoked: at,
                returned: None,
            }),
            EventKind::Ok | EventKind::RecoveredOk => {
                let open = |operation: &&mut Operation| {
                    operation.process == event.process && operation.returned.is_none()
                };
                let operation = history.iter_mut().rev().find(open).expect("it was invoked");
                operation.response = Some(event.value.clone());
                operation.returned = Some(at);
            }
            EventKind::RecoveredFail => {
                let open = |operation: &Operation| {
                    operation.process == event.process && operation.returned.is_none()
                };
                let at = history.iter().rposition(open).expect("it was invoked");
                history.remove(at);
            }
        }
    }
    history
}

pub fn explained(events: &[Event], object: &ModelObject) -> bool {
    is_linearizable(&*object.spec, &history(events, object))
}
