//! The history engine's opinion of a run.

use linchpin_history::{Builder, CheckOptions, Object, Verdict, check};
use linchpin_ir::model_spec::spec_of;
use linchpin_ir::program::{Program, SpecSource};
use linchpin_ir::run::{EventKind, Run};
use linchpin_verdict::{Inconclusive, Outcome};

/// Why no order explains a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unexplained {
    /// Operations that conspire, numbered by their invocations from 0.
    pub core: Vec<usize>,
    /// Why, in a sentence.
    pub explanation: String,
}

/// Whether the events of a run are linearizable; `None` if its specification cannot judge them.
pub fn judge_run(program: &Program, run: &Run) -> Option<Outcome<(), Unexplained>> {
    let object = match &program.spec {
        SpecSource::Builtin { name, init } => Object::builtin(name, init.clone()).ok()?,
        SpecSource::Model(_) => Object::custom("spec", spec_of(program).ok()?.spec),
    };
    let signatures = object.spec.operations().to_vec();
    let mut builder = Builder::new(&signatures);
    for event in &run.events {
        let process = event.process.to_string();
        let name = &program.operations[event.operation].name;
        let name = signatures.iter().find(|signature| signature.is_called(name))?.name.clone();
        match event.kind {
            EventKind::Invoke => builder.invoke(&process, &name, event.value.clone()).ok()?,
            EventKind::Ok => builder.ok(&process, event.value.clone()).ok()?,
        };
    }
    let mut history = builder.finish();
    let judged = check(&object, &mut history, &CheckOptions::default()).ok()?.verdict;
    Some(match judged {
        Verdict::Holds(_) => Outcome::Holds(()),
        Verdict::Violated(violation) => Outcome::Violated(Unexplained {
            core: violation.core.iter().map(|operation| *operation as usize).collect(),
            explanation: violation.explanation,
        }),
        Verdict::Inconclusive(reason) => Outcome::Inconclusive(Inconclusive::Undecided(reason)),
    })
}
