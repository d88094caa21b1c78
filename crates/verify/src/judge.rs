//! The history engine's opinion of a run of a model.

use linchpin_history::{Builder, CheckOptions, Judgement, Object, Origin, check};
use linchpin_ir::model_spec::spec_of;
use linchpin_ir::program::{Program, SpecSource};
use linchpin_ir::run::{EventKind, Run};
use linchpin_spec::Signature;
use linchpin_verdict::Limits;

/// Judges runs of one model.
pub struct Judge<'a> {
    program: &'a Program,
    object: Object,
    signatures: Vec<Signature>,
}

impl<'a> Judge<'a> {
    /// `None` if the model has no specification that histories can be held against.
    pub fn new(program: &'a Program) -> Option<Judge<'a>> {
        let object = match &program.spec {
            SpecSource::Builtin { name, init } => Object::builtin(name, init.clone()).ok()?,
            SpecSource::Model(_) => Object::custom("spec", spec_of(program).ok()?.spec),
        };
        let signatures = object.spec.operations().to_vec();
        Some(Judge { program, object, signatures })
    }

    /// Whether the history of the run is linearizable; operations that have not returned may or may
    /// not have taken effect. `None` if the history is not one of the specified object.
    pub fn judge(&self, run: &Run, limits: Limits) -> Option<Judgement> {
        let mut builder = Builder::new(&self.signatures);
        for event in &run.events {
            let process = event.process.to_string();
            let called = &self.program.operations[event.operation].name;
            let name = &self.signatures.iter().find(|of| of.is_called(called))?.name;
            match event.kind {
                EventKind::Invoke => builder.invoke(&process, name, event.value.clone()).ok()?,
                EventKind::Ok | EventKind::RecoveredOk => {
                    builder.ok(&process, event.value.clone()).ok()?
                }
                EventKind::RecoveredFail => {
                    let process = builder.process(&process);
                    builder.fail(process).ok()?
                }
            };
        }
        let mut history = builder.finish();
        history.origin = Origin::Model;
        let options = CheckOptions { limits, ..CheckOptions::default() };
        Some(check(&self.object, &mut history, &options).ok()?.judgement)
    }
}
