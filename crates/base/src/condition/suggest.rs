//! Suggesting base conditions: for each update step and each return, the simplest condition of the
//! grammar that fits all explored states, both ways.
//!
//! A condition is found on the explored states and on small well-formed ones. It is then tried on
//! states that were not used: larger well-formed ones, and those of a larger exploration.

use super::atoms::Grammar;
use super::claim::{Claim, Judgement, Sample, Verdict, integers_of_code, judge, rows};
use super::formula::Setting;
use super::report;
use super::runs::{Run, run};
use super::search::{Bits, Table};
use super::states::{WellFormed, explored, well_formed};
use super::target::{Target, is_in_state, is_nameable, targets};
use super::{Answer, At, FURTHER_VALUES};
use crate::analyse::{Analysis, Options, analyse};
use crate::outcome::Words;
use linchpin_ir::program::{Formula, LocalId, Type};
use linchpin_space::{Bounds, Flat, Space, Values, Workspace};
use linchpin_verdict::{Limits, StopReason};
use std::time::{Duration, Instant};
use thiserror::Error;

/// No more cases than this are used to find a condition.
const MOST_CASES: usize = 150_000;

/// No more well-formed states than this are used to find a condition.
const MOST_STATES: usize = 1_500;

/// A condition mentions no more locals than this.
const MOST_LOCALS: usize = 3;

/// How long a larger exploration may take.
const LARGER: Duration = Duration::from_secs(8);

/// A condition that was found.
#[derive(Clone, Debug)]
pub struct FoundCondition {
    /// The condition, and the step that it is of.
    pub claim: Claim,
    /// Its text in the language of models.
    pub text: String,
    /// In the shared states that were explored, from which it was found.
    pub explored: Judgement,
    /// In larger well-formed states, most of which were not used to find it.
    pub well_formed: Option<Judgement>,
    /// In the states of a larger exploration.
    pub larger: Option<Judgement>,
}

/// Why there is no suggestion for a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum NoCondition {
    /// No condition of the grammar fits all states.
    #[error("not expressible in the grammar")]
    NotExpressible,
    /// One fits the explored states, but not those of a larger exploration.
    #[error("what fits the explored states fails in a larger exploration")]
    FailsBeyond,
    /// A limit was reached.
    #[error("{0}")]
    Stopped(StopReason),
}

/// A step, and the condition that was found for it.
#[derive(Clone, Debug)]
pub struct SuggestedCondition {
    /// The operation.
    pub operation: usize,
    /// The source line of the step.
    pub line: u32,
    /// The step.
    pub at: At,
    /// What the step is, for people; none if its source line says it.
    pub step: Option<String>,
    /// The condition, or why there is none.
    pub found: Result<FoundCondition, NoCondition>,
}

/// The larger exploration on which conditions were tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Larger {
    /// Clients passed the integers from 1 to this one.
    pub values: i64,
    /// How many shared states it met.
    pub states: usize,
    /// Whether these were all within its bounds.
    pub complete: bool,
}

/// What was found.
pub struct Suggestions {
    /// For each step, in the order of the code.
    pub conditions: Vec<SuggestedCondition>,
    /// The larger exploration, if there was time for one and it says more.
    pub larger: Option<Larger>,
}

/// Finds a base condition for every update step and every return that a call alone takes.
pub fn suggest(analysis: &Analysis, limits: &Limits) -> Suggestions {
    let space = &analysis.space;
    let states = explored(analysis);
    let small = well_formed(analysis, &states, 0).ok();
    let beyond = well_formed(analysis, &states, FURTHER_VALUES).ok();
    let seen = Sample { space, calls: analysis.shared.calls(), states: &states };
    let mut finder = Finder { seen, small: small.as_ref(), beyond: beyond.as_ref(), limits };
    let mut conditions = Vec::new();
    for operation in 0..space.program().operations.len() {
        finder.operation(operation, &mut conditions);
    }
    let larger = try_larger(analysis, &mut conditions, limits);
    Suggestions { conditions, larger }
}

struct Finder<'a> {
    seen: Sample<'a>,
    small: Option<&'a WellFormed>,
    beyond: Option<&'a WellFormed>,
    limits: &'a Limits,
}

/// A run alone, with where it started.
struct Start<'a> {
    space: &'a Space,
    flat: &'a Flat,
    call: &'a crate::Call,
    run: Run,
}

fn sample_of(states: &WellFormed) -> Sample<'_> {
    Sample { space: &states.space, calls: &states.calls, states: &states.states }
}

/// The runs of an operation from all states of a sample.
fn runs_of<'a>(sample: Sample<'a>, operation: usize, most: usize) -> Vec<Start<'a>> {
    let mut workspace = Workspace::default();
    let Sample { space, calls, states } = sample;
    let mut all = Vec::new();
    for flat in states.iter().take(most) {
        for call in calls.iter().filter(|call| call.operation == operation) {
            let run = run(space, flat, call, &mut workspace);
            all.push(Start { space, flat, call, run });
        }
    }
    all
}

impl<'a> Finder<'a> {
    fn operation(&mut self, operation: usize, out: &mut Vec<SuggestedCondition>) {
        let mut runs = runs_of(self.seen, operation, usize::MAX);
        let all: Vec<&Run> = runs.iter().map(|start| &start.run).collect();
        let targets = targets(self.seen.space, operation, &all);
        let explored = runs.len();
        if let Some(small) = self.small {
            runs.extend(runs_of(sample_of(small), operation, MOST_STATES));
        }
        for target in targets {
            // Facts of the explored states may be too weak for a condition to fit all well-formed
            // ones: then the explored ones decide.
            let found = self
                .target(operation, &target, &runs)
                .or_else(|| self.target(operation, &target, &runs[..explored]));
            let found = found.ok_or_else(|| match self.limits.exceeded(0) {
                Some(reason) => NoCondition::Stopped(reason),
                None => NoCondition::NotExpressible,
            });
            let Target { at, line, returns, .. } = target;
            let step = returns
                .and_then(|value| report::return_text(self.seen.space, operation, &value, &at));
            out.push(SuggestedCondition { operation, line, at, step, found });
        }
    }

    /// The simplest condition that holds beyond the cases from which it was found.
    fn target(
        &self,
        operation: usize,
        target: &Target,
        runs: &[Start<'_>],
    ) -> Option<FoundCondition> {
        let mut second = None;
        for clauses in [false, true] {
            for locals in self.choices(operation, target, runs) {
                if self.limits.exceeded(0).is_some() {
                    return second;
                }
                let Some(formula) = self.fit(operation, target, runs, &locals, clauses) else {
                    continue;
                };
                let Some(found) = self.judged(operation, target, formula) else { continue };
                match found.well_formed.as_ref().is_none_or(|of| of.exact != Some(false)) {
                    true => return Some(found),
                    false => second = second.or(Some(found)),
                }
            }
        }
        second
    }

    /// The condition with what is known of it; none if it is no base condition after all.
    fn judged(
        &self,
        operation: usize,
        target: &Target,
        formula: Formula,
    ) -> Option<FoundCondition> {
        let text = report::text(self.seen.space.program(), operation, &formula);
        let claim = Claim { operation, formula, at: target.at.clone() };
        let judged =
            |sample| judge(sample, std::slice::from_ref(&claim), self.limits).into_iter().next();
        let explored = judged(self.seen)?;
        let well_formed = self.beyond.and_then(|beyond| judged(sample_of(beyond)));
        let is_refuted = |of: &Judgement| matches!(of.verdict, Verdict::Refuted(_));
        let holds = matches!(explored.verdict, Verdict::Holds { .. });
        if !holds || well_formed.as_ref().is_some_and(is_refuted) {
            return None;
        }
        Some(FoundCondition { claim, text, explored, well_formed, larger: None })
    }

    /// Sets of locals to try, few and obvious ones first.
    fn choices(&self, operation: usize, target: &Target, runs: &[Start<'_>]) -> Vec<Vec<LocalId>> {
        let program = self.seen.space.program();
        let code = &program.operations[operation];
        let is_usable = |local: &LocalId| {
            let at = local.0 as usize;
            let ty = &code.body.locals[at].ty;
            let is_mentioned = target.mentioned.contains(local);
            let is_kind = matches!(ty, Type::Struct(_))
                || (is_mentioned && matches!(ty, Type::Int | Type::Bool));
            is_kind
                && at >= code.parameters.len()
                && is_nameable(program, operation, *local)
                && self.is_known(operation, target, runs, *local)
        };
        let all = (0..code.body.locals.len() as u32).map(LocalId).filter(is_usable);
        let (mentioned, others): (Vec<LocalId>, Vec<LocalId>) =
            all.partition(|local| target.mentioned.contains(local));
        let mut sets: Vec<Vec<LocalId>> = Vec::new();
        // What a return answers is decided by the state; an update is of the objects it names.
        if target.returns.is_some() {
            sets.push(Vec::new());
            sets.extend(mentioned.iter().map(|local| vec![*local]));
        }
        sets.push(mentioned.clone());
        for (at, first) in others.iter().enumerate() {
            sets.push(mentioned.iter().chain([first]).copied().collect());
            for second in &others[at + 1..] {
                sets.push(mentioned.iter().chain([first, second]).copied().collect());
            }
        }
        // A condition that leaves open what is answered would say too little.
        let decides = |set: &[LocalId], local: &LocalId| {
            let is_parameter = (local.0 as usize) < code.parameters.len();
            is_parameter || set.contains(local)
        };
        let is_any = matches!(target.at, At::Return(_, Answer::Any));
        let required = |set: &[LocalId]| {
            let mut asked = target.answered.iter();
            asked.all(|local| decides(set, local) || !(is_any || mentioned.contains(local)))
        };
        sets.retain(|set| set.len() <= MOST_LOCALS && required(set));
        sets.iter_mut().for_each(|set| set.sort_unstable());
        sets.sort_by_key(Vec::len);
        sets.dedup();
        sets
    }

    /// Whether a local has a value that the state has wherever the step is reached, and not always
    /// null.
    fn is_known(
        &self,
        operation: usize,
        target: &Target,
        runs: &[Start<'_>],
        local: LocalId,
    ) -> bool {
        let program = self.seen.space.program();
        let ty = &program.operations[operation].body.locals[local.0 as usize].ty;
        let mut is_set = !matches!(ty, Type::Struct(_));
        for Start { space, flat, run, .. } in runs {
            let Ok(visits) = target.at.visits(space, operation, &[local], run) else {
                return false;
            };
            for values in visits {
                if !is_in_state(space, flat, ty, &values[0]) {
                    return false;
                }
                is_set |= values[0].iter().any(|word| *word != 0);
            }
        }
        is_set
    }

    /// A condition over these locals that holds just where the step is reached.
    fn fit(
        &self,
        operation: usize,
        target: &Target,
        runs: &[Start<'_>],
        locals: &[LocalId],
        clauses: bool,
    ) -> Option<Formula> {
        let program = self.seen.space.program();
        let code = &program.operations[operation];
        let parameters = (0..code.parameters.len() as u32).map(LocalId);
        let names: Vec<LocalId> = parameters.chain(locals.iter().copied()).collect();
        let grammar = Grammar { program, body: &code.body, locals: &names };
        let atoms = grammar.atoms();
        let cases = self.cases(operation, target, runs, &names)?;
        let accepted = cases.iter().filter(|case| case.reached).count();
        let count = cases.len() - accepted;
        let mut wrong = vec![Bits::new(accepted); atoms.len()];
        let mut rejects = vec![Bits::new(count); atoms.len()];
        let slots: Vec<Vec<usize>> = atoms
            .iter()
            .map(|atom| {
                let slot = |local| names.iter().position(|name| name == local).unwrap_or(0);
                atom.condition.locals.iter().map(slot).collect()
            })
            .collect();
        let (mut yes, mut no) = (0, 0);
        for case in &cases {
            let Start { space, flat, call, .. } = case.start;
            let setting = Setting { space, flat, thread: call.thread };
            for (at, atom) in atoms.iter().enumerate() {
                let values: Vec<Words> =
                    slots[at].iter().map(|slot| case.values[*slot].clone()).collect();
                if !atom.condition.holds(setting, &values) {
                    match case.reached {
                        true => wrong[at].insert(yes),
                        false => rejects[at].insert(no),
                    }
                }
            }
            yes += usize::from(case.reached);
            no += usize::from(!case.reached);
        }
        Table { atoms, wrong, rejects, count }.separate(clauses)
    }

    /// The cases: every state, call and choice of values of these locals, with whether the call
    /// reaches the step with them.
    fn cases<'s>(
        &self,
        operation: usize,
        target: &Target,
        runs: &'s [Start<'a>],
        names: &[LocalId],
    ) -> Option<Vec<Case<'s, 'a>>> {
        let program = self.seen.space.program();
        let integers = integers_of_code(program, &program.operations[operation].body);
        let mut cases = Vec::new();
        for start in runs {
            let Start { space, flat, call, run } = start;
            let visits = target.at.visits(space, operation, names, run).ok()?;
            let rows = rows(space, flat, call, names, &integers, &visits)?;
            super::values::each_choice(&rows, &mut |values| {
                let reached = visits.iter().any(|visit| visit == values);
                cases.push(Case { start, values: values.to_vec(), reached });
            });
            if cases.len() > MOST_CASES {
                break;
            }
        }
        Some(cases)
    }
}

/// A state, a call and values of some locals.
struct Case<'s, 'a> {
    start: &'s Start<'a>,
    values: Vec<Words>,
    /// Whether the call alone reaches the step with these values.
    reached: bool,
}

/// Tries the conditions on the shared states of an exploration with one more value.
fn try_larger(
    analysis: &Analysis,
    conditions: &mut [SuggestedCondition],
    limits: &Limits,
) -> Option<Larger> {
    let space = &analysis.space;
    let mut parameters = space.program().operations.iter().flat_map(|of| &of.parameters);
    if !parameters.any(|parameter| parameter.ty == Type::Int && parameter.range.is_none()) {
        return None;
    }
    if limits.exceeded(0).is_some() {
        return None;
    }
    let values = space.last_value() + 1;
    let bounds = Bounds { values: Values::UpTo(values), ..*space.bounds() };
    let deadline = Instant::now() + LARGER;
    let deadline = limits.deadline.map_or(deadline, |other| other.min(deadline));
    let limited = Limits { deadline: Some(deadline), ..limits.clone() };
    let options = Options { limits: limited, ..Options::new(bounds) };
    let larger = analyse(space.program(), &options, &|_| {}).ok()?;
    let states = explored(&larger);
    let sample = Sample { space: &larger.space, calls: larger.shared.calls(), states: &states };
    for condition in conditions.iter_mut() {
        let Ok(found) = &mut condition.found else { continue };
        let claim = std::slice::from_ref(&found.claim);
        found.larger = judge(sample, claim, limits).into_iter().next();
        // A condition that does not stand the test is not suggested.
        if matches!(&found.larger, Some(Judgement { verdict: Verdict::Refuted(_), .. })) {
            condition.found = Err(NoCondition::FailsBeyond);
        }
    }
    Some(Larger { values, states: states.len(), complete: larger.stopped.is_none() })
}
