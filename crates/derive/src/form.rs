//! The forms of derived sub-operations: each leaves out some of the steps that only observe.

use crate::derivation::{Derivation, DerivedPath, options};
use crate::path::Path;
use crate::{build, text, uninterrupted};
use linchpin_subop::model::{
    LocalId, Model, OperationId, SpecLine, SpecMapping, SpecResponse, SpecTerm,
};

/// Forms that are tried.
const MOST_FORMS: usize = 24;

/// A step of a derived path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PathStep {
    path: usize,
    step: usize,
}

/// Sub-operations, ready to be proved.
#[derive(Clone, Debug)]
pub struct Form {
    /// The model. Its `spec` is set if the program names a built-in one.
    pub model: Model,
    /// Which operation of the specification each operation performs.
    pub lines: Vec<SpecLine>,
    /// For each operation, the reasons for what was merged and left out.
    pub reasons: Vec<Vec<String>>,
    /// Reasons that concern several operations.
    pub notes: Vec<String>,
    /// The steps that are left out.
    left_out: Vec<PathStep>,
    /// For each operation, the derived paths that it stands for.
    paths: Vec<Vec<usize>>,
}

impl Derivation {
    /// The forms to be tried, the ones with the fewest sub-operations first.
    pub fn forms(&self) -> Vec<Form> {
        let all: Vec<PathStep> = self
            .paths
            .iter()
            .enumerate()
            .flat_map(|(path, data)| {
                data.merged.optional.iter().map(move |step| PathStep { path, step: *step })
            })
            .collect();
        let mut choices: Vec<Vec<PathStep>> = vec![all.clone(), Vec::new()];
        for one in &all {
            choices.push(all.iter().filter(|other| *other != one).copied().collect());
            choices.push(vec![*one]);
        }
        choices.truncate(MOST_FORMS);
        let mut forms: Vec<Form> = Vec::new();
        for left_out in choices {
            let form = self.form(&left_out);
            if !forms.iter().any(|known| known.model == form.model) {
                forms.push(form);
            }
        }
        forms
    }

    /// The form with all steps.
    pub fn whole(&self) -> Form {
        self.form(&[])
    }

    fn form(&self, left_out: &[PathStep]) -> Form {
        let mut form = Form {
            model: self.skeleton.clone(),
            lines: Vec::new(),
            reasons: Vec::new(),
            notes: self.notes.clone(),
            left_out: left_out.to_vec(),
            paths: Vec::new(),
        };
        for (at, path) in self.paths.iter().enumerate() {
            self.add(&mut form, at, path);
        }
        if let Some((name, init)) = &self.builtin
            && let Some(initial) = text::initial(init.as_ref())
        {
            let (name, lines) = (name.clone(), form.lines.clone());
            form.model.spec = Some(SpecMapping { name, initial, lines, span: Default::default() });
        }
        form
    }

    /// Adds a path as an operation, unless the same sub-operations are one already.
    fn add(&self, form: &mut Form, at: usize, derived: &DerivedPath) {
        let method = &self.program_operations[derived.operation];
        let mine = steps_of(&form.left_out, at);
        let path = derived.merged.without(&mine);
        let helped: Vec<usize> =
            (0..path.steps.len()).filter(|step| path.steps[*step].attempt.is_some()).collect();
        let operation = build::pruned(build::operation(&form.model, &derived.name, &path, &helped));
        let known =
            form.model.operations.iter().zip(&form.lines).position(|(other, line)| {
                line.method == *method && text::is_same(other, &operation)
            });
        let lines = text::lines(&derived.lines);
        if let Some(known) = known {
            form.paths[known].push(at);
            form.reasons[known].push(format!("also lines {lines}"));
            return;
        }
        let mut notes = vec![format!("lines {lines}")];
        notes.extend(derived.merged.notes.iter().cloned());
        for step in &mine {
            notes.push(format!(
                "line {}: left out: it only observes, and the proof does not need what it sees",
                derived.merged.path.steps[*step].line
            ));
        }
        form.lines.push(SpecLine {
            operation: OperationId(form.model.operations.len()),
            method: method.clone(),
            arguments: (0..path.arguments).map(|at| SpecTerm::Argument(LocalId(at))).collect(),
            response: SpecResponse::Returned,
            span: Default::default(),
        });
        form.model.operations.push(operation);
        form.reasons.push(notes);
        form.paths.push(vec![at]);
    }

    /// An operation whose sub-operations, executed without interruption, may do more than its code.
    pub(crate) fn beyond_the_code(&self, form: &Form) -> Option<String> {
        let mut paths: Vec<Path> = Vec::new();
        let mut code: Vec<&[Path]> = Vec::new();
        for (at, path) in self.paths.iter().enumerate() {
            paths.push(path.merged.without(&steps_of(&form.left_out, at)));
            code.push(&path.code);
        }
        let fits = uninterrupted::as_the_code(&self.skeleton, &options(), &paths, &code);
        let beyond = form.paths.iter().position(|paths| !paths.iter().any(|path| fits[*path]))?;
        Some(form.model.operations[beyond].name.clone())
    }
}

/// The steps of a path that are left out.
fn steps_of(left_out: &[PathStep], path: usize) -> Vec<usize> {
    left_out.iter().filter(|step| step.path == path).map(|step| step.step).collect()
}

impl Form {
    /// The `.subop` file, with the reasons as comments.
    pub fn text(&self) -> String {
        text::print(self)
    }
}
