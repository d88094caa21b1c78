//! Asking a question: something is executed, and then something must be true, in all states of one
//! or two instances.
//!
//! What is executed comes in stages. For each choice that a stage makes it is repeated, from a copy
//! of how the stage before it left things; so what was chosen earlier is not executed again. What
//! must be true at the end is looked at one by one: what is chosen to look at one of them need not
//! be combined with what is chosen for the others.

use linchpin_subop::model::Condition;

use super::ReductionError;
use super::proof::{Block, Proof};
use super::symbolic::{Impossible, Run, Script, State, Symbolic};

/// So many cases one question may have: that is how often a stage, or the end, is executed.
pub const MOST: usize = 1_000_000;

/// Goes on from a state, or leaves it out.
type Stage<'q, 'p> = Box<dyn Fn(&mut Symbolic<'p>, &mut State) -> Run<()> + 'q>;

/// Whether something is true of the state before all stages and the one after them. What it leaves
/// out, with [`Impossible`], does not matter.
type Goal<'q, 'p> = Box<dyn Fn(&mut Symbolic<'p>, &State, &State) -> Run<bool> + 'q>;

pub struct Question<'q, 'p> {
    proof: &'p Proof,
    paths: Vec<usize>,
    stages: Vec<Stage<'q, 'p>>,
    goals: Vec<Goal<'q, 'p>>,
}

impl<'q, 'p: 'q> Question<'q, 'p> {
    /// About instances that executed these paths.
    pub fn about(proof: &'p Proof, paths: &[usize]) -> Question<'q, 'p> {
        Question { proof, paths: paths.to_vec(), stages: Vec::new(), goals: Vec::new() }
    }

    pub fn then(mut self, stage: impl Fn(&mut Symbolic<'p>, &mut State) -> Run<()> + 'q) -> Self {
        self.stages.push(Box::new(stage));
        self
    }

    /// An instance executes the last step of a path; states in which it cannot are left out.
    pub fn run(self, who: usize, path: usize) -> Self {
        self.then(move |symbolic, state| run(symbolic, state, who, path))
    }

    /// Only states in which these hold of an instance.
    pub fn assume(self, who: usize, conditions: impl IntoIterator<Item = &'p Condition>) -> Self {
        let conditions: Vec<&Condition> = conditions.into_iter().collect();
        if conditions.is_empty() {
            return self;
        }
        self.then(move |symbolic, state| {
            conditions.iter().try_for_each(|condition| symbolic.assume(state, who, condition))
        })
    }

    /// Only states in which the facts of a path hold of an instance that is there; and the live
    /// ones, if it goes on.
    pub fn facts(self, who: usize, path: usize, goes_on: bool) -> Self {
        let data = &self.proof.paths[path];
        let live = data.live.iter().filter(|_| goes_on);
        self.assume(who, data.facts.iter().chain(live))
    }

    /// An instance executes a block, in executions in which all operations complete.
    pub fn block(mut self, who: usize, block: Block) -> Self {
        for path in self.proof.chain(block.path) {
            self = self.run(who, path).facts(who, path, !(block.complete && path == block.path));
        }
        self
    }

    pub fn must(
        mut self,
        goal: impl Fn(&mut Symbolic<'p>, &State, &State) -> Run<bool> + 'q,
    ) -> Self {
        self.goals.push(Box::new(goal));
        self
    }

    /// Whether all that must be true is, in all states; and how many cases there were.
    pub fn ask(&self) -> Result<(bool, usize), ReductionError> {
        let (symbolic, start) = Symbolic::new(self.proof, &self.paths);
        let mut cases = Cases(0);
        let mut open =
            vec![Point { stage: 0, symbolic, state: start.clone(), script: Script::default() }];
        while let Some(mut point) = open.pop() {
            let Some(stage) = self.stages.get(point.stage) else {
                for goal in &self.goals {
                    if !reached(&mut cases, &point.symbolic, &start, &point.state, goal)? {
                        return Ok((false, cases.0));
                    }
                }
                continue;
            };
            cases.count()?;
            let mut symbolic = point.symbolic.with(std::mem::take(&mut point.script));
            let mut state = point.state.clone();
            let possible = stage(&mut symbolic, &mut state).is_ok();
            point.script = std::mem::take(&mut symbolic.script);
            let stage = point.stage + 1;
            if point.script.advance() {
                open.push(point);
            }
            if possible {
                open.push(Point { stage, symbolic, state, script: Script::default() });
            }
        }
        Ok((true, cases.0))
    }
}

/// Where a stage begins, and the choices with which it is to be executed next.
struct Point<'p> {
    stage: usize,
    symbolic: Symbolic<'p>,
    state: State,
    script: Script,
}

fn reached<'p>(
    cases: &mut Cases,
    symbolic: &Symbolic<'p>,
    start: &State,
    end: &State,
    goal: &Goal<'_, 'p>,
) -> Result<bool, ReductionError> {
    let mut script = Script::default();
    loop {
        cases.count()?;
        let mut symbolic = symbolic.with(script);
        // Before it counts, all that the state must satisfy is looked at.
        if goal(&mut symbolic, start, end) == Ok(false)
            && symbolic.satisfies_premises(start) == Ok(true)
        {
            return Ok(false);
        }
        script = symbolic.script;
        if !script.advance() {
            return Ok(true);
        }
    }
}

struct Cases(usize);

impl Cases {
    fn count(&mut self) -> Result<(), ReductionError> {
        self.0 += 1;
        if self.0 > MOST {
            return Err(ReductionError::TooLarge(format!("a question has more than {MOST} cases")));
        }
        Ok(())
    }
}

/// Executes the last step of a path; leaves out states in which that is not possible.
pub fn run(symbolic: &mut Symbolic, state: &mut State, who: usize, path: usize) -> Run<()> {
    symbolic.must = true;
    let executed = symbolic.execute(state, who, path);
    symbolic.must = false;
    if executed? { Ok(()) } else { Err(Impossible) }
}
