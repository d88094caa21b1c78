//! Reads that a proof replaces by guesses.

use linchpin_subop::Model;
use linchpin_subop::model::{Place, Statement, Term, Var};

use super::ReductionError;
use super::check::Check;
use super::nature::{Holder, Natures};
use super::proof::{Proof, identities, paths};
use super::question::{Question, run};

impl Check<'_> {
    /// A read that is replaced by a guess would have read what is guessed.
    pub(super) fn replaced(
        &mut self,
        with: &Model,
        without: &Model,
        operation: usize,
        step: usize,
    ) -> Result<(), ReductionError> {
        let refuse =
            || ReductionError::NotConfirmed("a read cannot be replaced by a guess".to_owned());
        let read = &with.operations[operation].sub_operations[step];
        let mut targets = Vec::new();
        for statement in &read.body {
            match statement {
                Statement::Assign {
                    place: Place::Variable(Var::Local(local)),
                    value: Term::Place(from),
                    ..
                } if local.0 >= with.operations[operation].arguments
                    && !matches!(from, Place::Variable(Var::Local(_))) =>
                {
                    targets.push((local.0, *from));
                }
                _ => return Err(refuse()),
            }
        }
        let all = with.operations[operation].sub_operations.iter().flat_map(|step| &step.body);
        let assigned: Vec<usize> = all
            .filter_map(|statement| match statement {
                Statement::Assign { place: Place::Variable(Var::Local(to)), .. }
                | Statement::Malloc { var: Var::Local(to), .. } => Some(to.0),
                _ => None,
            })
            .collect();
        let once = |(target, _): &(usize, Place)| {
            assigned.iter().filter(|local| *local == target).count() == 1
        };
        let natures = Natures::of(without, paths(without)?)?;
        let with_natures = Natures::of(with, paths(with)?)?;
        let poison = |target: &(usize, Place)| {
            with_natures.poison.contains(&Holder::Local(operation, target.0))
        };
        if targets.is_empty()
            || read.result.is_some()
            || !targets.iter().all(once)
            || targets.iter().any(poison)
        {
            return Err(refuse());
        }
        let whole = Proof {
            model: without.clone(),
            paths: paths(without)?,
            invariants: Vec::new(),
            closures: Vec::new(),
            identities: identities(with),
            natures,
        };
        let mut check = Check::new(&whole);
        for path in paths(with)?
            .iter()
            .filter(|path| path.operation == operation && path.steps.contains(&step))
        {
            if path.complete && path.steps.last() == Some(&step) {
                return Err(refuse());
            }
            if !path.complete {
                continue;
            }
            let upto = path.steps.iter().position(|at| *at == step).map_or(0, |at| at + 1);
            let at_read = paths(with)?
                .into_iter()
                .find(|known| known.operation == operation && known.steps == path.steps[..upto]);
            let guessed = at_read.map_or_else(Vec::new, |known| known.guessed);
            let position = path.steps.iter().position(|at| *at == step).unwrap_or(0);
            let rest: Vec<usize> = path.steps.iter().copied().filter(|at| *at != step).collect();
            let target = whole
                .paths
                .iter()
                .position(|known| known.operation == operation && known.steps == rest);
            let target = target.ok_or_else(refuse)?;
            let chain = whole.chain(target);
            let question =
                Question::about(&whole, &[whole.empty(target)]).must(|symbolic, begin, _| {
                    let mut state = begin.clone();
                    let mut there = begin.clone();
                    for (at, path) in chain.iter().enumerate() {
                        run(symbolic, &mut state, 0, *path)?;
                        if at + 1 == position {
                            there = state.clone();
                        }
                    }
                    symbolic.would_read(&there, &state, read, &targets, (&guessed, &assigned))
                });
            if !check.ask(&question)? {
                return Err(refuse());
            }
        }
        self.cases += check.cases;
        Ok(())
    }
}
