//! The questions: one function for each rule of `docs/theory/reduce.md`.

use linchpin_subop::model::{Condition, LocalId, Place, Statement, SubOperation, Term, Var};

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use super::ReductionError;
use super::proof::{Block, Closure, Member, Proof, Replacement};
use super::question::{MOST, Question};
use super::symbolic::{Impossible, Run, State, Symbolic, V};

pub fn confirm(proof: &Proof, replaced: &[Replacement]) -> Result<usize, ReductionError> {
    let mut check = Check::new(proof);
    for (with, without, operation, step) in replaced {
        check.replaced(with, without, *operation, *step)?;
    }
    check.start()?;
    let steps: Vec<usize> =
        (0..proof.paths.len()).filter(|path| proof.paths[*path].parent.is_some()).collect();
    let proper: Vec<usize> =
        steps.iter().copied().filter(|path| !proof.paths[*path].next.is_empty()).collect();
    for path in &steps {
        check.established(*path)?;
    }
    check.in_parallel(&proper, &|check, path| {
        for other in &steps {
            check.stable(*path, *other)?;
        }
        check.live(*path, &steps)?;
        check.pending(*path, &steps)
    })?;
    let pairs = check.pairs(&proper);
    let sticky =
        check.in_parallel(&pairs, &|check, (first, second)| check.sticks(*first, *second))?;
    check.sticky =
        pairs.into_iter().zip(sticky).filter(|(_, sticks)| *sticks).map(|(pair, _)| pair).collect();
    check.in_parallel(&proper, &|check, path| {
        let closure = proof.closures.iter().find(|closure| closure.path == *path);
        let closure = closure.ok_or_else(|| check.refuse("a prefix has no closure", *path))?;
        check.closure(closure)
    })?;
    Ok(check.cases)
}

pub(super) struct Check<'p> {
    pub(super) proof: &'p Proof,
    pub(super) cases: usize,
    /// Which blocks may follow which others in a way that keeps them from being reversed.
    sticky: BTreeSet<(Block, Block)>,
}

impl<'p> Check<'p> {
    pub(super) fn new(proof: &'p Proof) -> Check<'p> {
        Check { proof, cases: 0, sticky: BTreeSet::new() }
    }

    /// Asks about each of these, several at a time; of what is refused, what the first one is
    /// refused for is said.
    fn in_parallel<T: Sync, A: Send>(
        &mut self,
        all: &[T],
        ask: &(dyn Fn(&mut Check<'p>, &T) -> Result<A, ReductionError> + Sync),
    ) -> Result<Vec<A>, ReductionError> {
        let (proof, sticky, next) = (self.proof, &self.sticky, AtomicUsize::new(0));
        let work = || {
            let mut check = Check { proof, cases: 0, sticky: sticky.clone() };
            let mut answers = Vec::new();
            loop {
                let at = next.fetch_add(1, Relaxed);
                let Some(one) = all.get(at) else { return (check.cases, answers) };
                answers.push((at, ask(&mut check, one)));
            }
        };
        let workers = std::thread::available_parallelism().map_or(1, NonZero::get).min(8);
        let ended = std::thread::scope(|scope| {
            // Where no thread can be made, this one does all the work.
            let made = |_| std::thread::Builder::new().spawn_scoped(scope, work).ok();
            let working: Vec<_> = (1..workers).map_while(made).collect();
            let mine = Ok(work());
            working.into_iter().map(|worker| worker.join()).chain([mine]).collect::<Vec<_>>()
        });
        let unanswered =
            || ReductionError::NotConfirmed("a question could not be answered".to_owned());
        let mut answers = BTreeMap::new();
        for worker in ended {
            let (cases, some) = worker.map_err(|_| unanswered())?;
            self.cases += cases;
            answers.extend(some);
        }
        // INVARIANT: each has its answer.
        (0..all.len()).map(|at| answers.remove(&at).ok_or_else(unanswered)?).collect()
    }

    fn refuse(&self, what: &str, path: usize) -> ReductionError {
        let path = &self.proof.paths[path];
        let steps = &self.proof.model.operations[path.operation].sub_operations;
        let names: Vec<&str> = path.steps.iter().map(|step| steps[*step].name.as_str()).collect();
        ReductionError::NotConfirmed(format!("{what} ({})", names.join(".")))
    }

    pub(super) fn ask(&mut self, question: &Question<'_, 'p>) -> Result<bool, ReductionError> {
        let (answer, cases) = question.ask()?;
        self.cases += cases;
        Ok(answer)
    }

    fn require(
        &mut self,
        what: &str,
        path: usize,
        question: Question<'_, 'p>,
    ) -> Result<(), ReductionError> {
        if self.ask(&question)? { Ok(()) } else { Err(self.refuse(what, path)) }
    }

    fn start(&mut self) -> Result<(), ReductionError> {
        let proof = self.proof;
        let Ok((mut symbolic, state)) = Symbolic::start(proof) else {
            return if proof.invariants.is_empty() {
                Ok(())
            } else {
                Err(ReductionError::NotConfirmed("the start".to_owned()))
            };
        };
        for (bound, condition) in &proof.invariants {
            for objects in symbolic.choices_of(bound, |_| true) {
                self.cases += 1;
                if self.cases > MOST {
                    return Err(ReductionError::TooLarge("there are too many objects".to_owned()));
                }
                if symbolic.holds(&state, 0, &objects, condition) != Ok(true) {
                    return Err(ReductionError::NotConfirmed(
                        "an invariant does not hold at the start".to_owned(),
                    ));
                }
            }
        }
        Ok(())
    }

    /// The last step establishes the facts of its path and keeps the invariants.
    fn established(&mut self, path: usize) -> Result<(), ReductionError> {
        let (proof, parent) = (self.proof, self.proof.parent(path));
        let data = &proof.paths[path];
        let known = &proof.paths[parent];
        let executed = || Question::about(proof, &[parent]).run(0, path);
        let mut question = executed();
        for fact in &data.facts {
            question = question.must(move |symbolic, _, after| symbolic.holds(after, 0, &[], fact));
        }
        for (local, places) in &data.reaches {
            question = question.must(move |symbolic, before, after| {
                let (then, now) =
                    (symbolic.local(before, 0, *local)?, symbolic.local(after, 0, *local)?);
                let Some(V::Ref(object)) = now else { return Ok(false) };
                let before_this = known.private.contains(local)
                    || known.reaches.iter().any(|(other, from)| {
                        other == local && from.iter().all(|place| places.contains(place))
                    });
                if !(symbolic.is_fresh(object) || then == now && before_this) {
                    return Ok(false);
                }
                for place in places {
                    if let Place::Field(Var::Local(LocalId(base)), ..) = place
                        && !symbolic.is_fresh(object)
                        && known
                            .reaches
                            .iter()
                            .any(|(other, from)| other == local && from.contains(place))
                        && symbolic.local(before, 0, *base)? != symbolic.local(after, 0, *base)?
                    {
                        return Ok(false);
                    }
                }
                reach(symbolic, after, 0, object, places)
            });
        }
        self.require("a step does not establish a fact", path, question)?;
        let mut question = executed();
        for (bound, condition) in &proof.invariants {
            question = question.must(move |symbolic, _, after| {
                let objects: Vec<usize> = bound.iter().map(|of| symbolic.any_object(*of)).collect();
                symbolic.holds(after, 0, &objects, condition)
            });
        }
        self.require("a step breaks an invariant", path, question)
    }

    /// A step of another instance keeps the facts of a path.
    fn stable(&mut self, path: usize, other: usize) -> Result<(), ReductionError> {
        let proof = self.proof;
        let data = &proof.paths[path];
        if !self.writes(other) {
            return Ok(());
        }
        let mut question = Question::about(proof, &[path, proof.parent(other)]).run(1, other);
        for fact in &data.facts {
            question = question.must(move |symbolic, _, after| symbolic.holds(after, 0, &[], fact));
        }
        for (local, places) in &data.reaches {
            question = question.must(move |symbolic, _, after| {
                let Some(V::Ref(object)) = symbolic.local(after, 0, *local)? else {
                    return Ok(false);
                };
                reach(symbolic, after, 0, object, places)
            });
        }
        self.require("a fact is not stable", path, question)
    }

    fn writes(&self, path: usize) -> bool {
        let step = self.proof.paths[path].last(&self.proof.model);
        step.is_some_and(|step| {
            step.body.iter().any(|statement| match statement {
                Statement::Assign { place, .. } => !matches!(place, Place::Variable(Var::Local(_))),
                Statement::Malloc { var, .. } => !matches!(var, Var::Local(_)),
                Statement::Free { .. } => true,
                Statement::Read { .. } => false,
            })
        })
    }

    /// What is false of an instance that is to complete stays false.
    fn live(&mut self, path: usize, steps: &[usize]) -> Result<(), ReductionError> {
        let proof = self.proof;
        let data = &proof.paths[path];
        if data.live.is_empty() {
            return Ok(());
        }
        if data.complete {
            return Err(self.refuse("a complete operation has live facts", path));
        }
        let all_live = |mut question: Question<'p, 'p>| {
            for fact in &data.live {
                question =
                    question.must(move |symbolic, before, _| symbolic.holds(before, 0, &[], fact));
            }
            question
        };
        for child in &data.next {
            let question = Question::about(proof, &[path]).run(0, *child).facts(0, *child, true);
            self.require("a live fact is not tested", path, all_live(question))?;
        }
        for other in steps.iter().copied() {
            if !self.writes(other) {
                continue;
            }
            let mut question = Question::about(proof, &[path, proof.parent(other)])
                .run(1, other)
                .facts(0, path, true);
            if !proof.paths[other].complete {
                question = question.facts(1, other, true);
            }
            self.require("a live fact is not live", path, all_live(question))?;
        }
        Ok(())
    }

    fn pending(&mut self, path: usize, steps: &[usize]) -> Result<(), ReductionError> {
        let proof = self.proof;
        let data = &proof.paths[path];
        if data.complete {
            return Ok(());
        }
        if data.enabled {
            // Facts first: they may say that an object was stored, which can be guessed then.
            let question = Question::about(proof, &[path]).facts(0, path, false);
            let question = question.must(|symbolic, state, _| {
                for child in &data.next {
                    if symbolic.enabled(state, 0, *child)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            });
            return self.require("an operation cannot be completed", path, question);
        }
        for step in proof.chain(path) {
            if self.invisible(step) {
                continue;
            }
            for other in steps.iter().copied() {
                let question = Question::about(proof, &[proof.parent(step), proof.parent(other)])
                    .run(0, step)
                    .facts(0, step, false)
                    .run(1, other)
                    .facts(0, step, false)
                    .must(|symbolic, start, there| {
                        let mut back = start.clone();
                        if !symbolic.execute(&mut back, 1, other)?
                            || !symbolic.execute(&mut back, 0, step)?
                        {
                            return Ok(false);
                        }
                        symbolic.same(there, &back, [None, Some(true)])
                    });
                self.require("an operation cannot be left out", path, question)?;
            }
        }
        Ok(())
    }

    /// Whether the last step of a path writes nothing but locals and fields of objects that were
    /// never stored.
    fn invisible(&self, path: usize) -> bool {
        let data = &self.proof.paths[path];
        let model = &self.proof.model;
        let Some(step) = data.last(model) else { return true };
        let mut private = self.proof.paths[self.proof.parent(path)].private.clone();
        let operation = &model.operations[data.operation];
        let copied = |local: &LocalId| {
            let bodies = operation.sub_operations.iter().flat_map(|step: &SubOperation| &step.body);
            let mut bodies = bodies.filter(|statement| match statement {
                Statement::Malloc { var, .. } => *var == Var::Local(*local),
                Statement::Assign {
                    place,
                    value: Term::Place(Place::Variable(Var::Local(_))),
                    ..
                } => *place == Place::Variable(Var::Local(*local)),
                _ => false,
            });
            bodies.next().is_some()
        };
        step.body.iter().all(|statement| match statement {
            Statement::Assign { place, value, .. } => {
                let source = match value {
                    Term::Place(Place::Variable(Var::Local(source))) => Some(source),
                    _ => None,
                };
                private.retain(|local| source.is_none_or(|source| source.0 != *local));
                match place {
                    Place::Variable(Var::Local(local)) => {
                        private.retain(|known| *known != local.0);
                        true
                    }
                    Place::Field(Var::Local(base), ..) => {
                        private.contains(&base.0) && !source.is_some_and(copied)
                    }
                    _ => false,
                }
            }
            Statement::Malloc { var: Var::Local(local), .. } => {
                private.push(local.0);
                true
            }
            Statement::Malloc { .. } => false,
            Statement::Free { var, .. } => {
                matches!(var, Var::Local(local) if private.contains(&local.0))
            }
            Statement::Read { .. } => true,
        })
    }

    fn blocks(&self) -> Vec<Block> {
        let mut blocks = Vec::new();
        for (path, data) in
            self.proof.paths.iter().enumerate().filter(|(_, data)| !data.steps.is_empty())
        {
            if !data.next.is_empty() {
                blocks.push(Block { path, complete: false });
            }
            if data.complete {
                blocks.push(Block { path, complete: true });
            }
        }
        blocks
    }

    /// The pairs of blocks that closures are about: a prefix, or a member, and what may follow it.
    fn pairs(&self, proper: &[usize]) -> Vec<(Block, Block)> {
        let mut firsts: BTreeSet<Block> =
            proper.iter().map(|path| Block { path: *path, complete: false }).collect();
        let members = self.proof.closures.iter().flat_map(|closure| &closure.members);
        firsts.extend(members.map(|member| member.block));
        let seconds = self.blocks();
        firsts.iter().flat_map(|first| seconds.iter().map(|second| (*first, *second))).collect()
    }

    /// Two blocks of different instances, one after the other, in executions in which all
    /// operations complete.
    fn following(&self, first: Block, second: Block) -> Question<'p, 'p> {
        let starts = [self.proof.empty(first.path), self.proof.empty(second.path)];
        let question = Question::about(self.proof, &starts).block(0, first).block(1, second);
        if first.complete { question } else { question.facts(0, first.path, true) }
    }

    /// Whether `second` may follow `first` in a way that keeps them from being reversed.
    fn sticks(&mut self, first: Block, second: Block) -> Result<bool, ReductionError> {
        let proof = self.proof;
        let question = self.following(first, second).must(move |symbolic, start, there| {
            Ok(!first.complete && reverses(proof, symbolic, start, there, first, second)?)
        });
        Ok(!self.ask(&question)?)
    }

    /// The members are all there are, and the next step passes each of them.
    fn closure(&mut self, closure: &'p Closure) -> Result<(), ReductionError> {
        let (path, proof) = (closure.path, self.proof);
        let first = Block { path, complete: false };
        for block in self.blocks() {
            if !self.sticky.contains(&(first, block)) {
                continue;
            }
            let members: Vec<&Member> = closure
                .members
                .iter()
                .filter(|m| m.block == block && m.before.is_empty())
                .collect();
            let question = self.following(first, block).must(|symbolic, start, there| {
                Ok(reverses(proof, symbolic, start, there, first, block)?
                    || covered(symbolic, there, closure, &members)?)
            });
            self.require("a closure lacks a member", path, question)?;
        }
        for condition in &closure.lasting {
            self.lasting(path, condition)?;
        }
        let mut asked = BTreeSet::new();
        for member in &closure.members {
            for block in self.blocks() {
                if !self.sticky.contains(&(member.block, block))
                    || !asked.insert((block, member.then.clone()))
                {
                    continue;
                }
                let weaker = |other: &&Member| {
                    other.block == block
                        && other.cases.is_none()
                        && other.before.iter().all(|at| member.then.contains(at))
                };
                let members: Vec<&Member> = closure.members.iter().filter(weaker).collect();
                if members.iter().any(|member| member.then.is_empty()) {
                    continue;
                }
                let question = Question::about(proof, &[path, proof.empty(block.path)])
                    .assume(0, &proof.paths[path].live)
                    .assume(0, closure.chosen(&member.then))
                    .block(1, block)
                    .facts(0, path, true)
                    .must(|symbolic, _, there| covered(symbolic, there, closure, &members));
                self.require("a closure lacks a member", path, question)?;
            }
            self.passes(closure, member)?;
        }
        Ok(())
    }

    /// Once true, a lasting condition stays true.
    fn lasting(&mut self, path: usize, condition: &'p Condition) -> Result<(), ReductionError> {
        let proof = self.proof;
        for other in 0..proof.paths.len() {
            if !self.writes(other) {
                continue;
            }
            let question = Question::about(proof, &[path, proof.parent(other)])
                .assume(0, [condition])
                .run(1, other)
                .facts(0, path, true)
                .must(|symbolic, _, after| symbolic.holds(after, 0, &[], condition));
            self.require("a condition does not last", path, question)?;
        }
        Ok(())
    }

    /// Line 20 of Algorithm 1.
    fn passes(&mut self, closure: &'p Closure, member: &'p Member) -> Result<(), ReductionError> {
        let (path, proof, block) = (closure.path, self.proof, member.block);
        for step in proof.paths[path].next.iter().copied() {
            let goes_on = !proof.paths[step].next.is_empty();
            let question = Question::about(proof, &[path, proof.empty(block.path)])
                .assume(0, &proof.paths[path].live)
                .assume(0, closure.chosen(&member.before))
                .block(1, block)
                .facts(0, path, true)
                .then(
                    |symbolic, there| {
                        if in_cases(symbolic, there, member)? { Ok(()) } else { Err(Impossible) }
                    },
                )
                // The step has passed everything that came later, so it is executed in the state
                // that the member left.
                .assume(0, closure.chosen(&member.then))
                .run(0, step)
                .facts(0, step, goes_on)
                .facts(1, block.path, !block.complete)
                .must(|symbolic, start, there| {
                    let mut back = start.clone();
                    if !symbolic.execute(&mut back, 0, step)?
                        || !execute_block(proof, symbolic, &mut back, 1, block)?
                    {
                        return Ok(false);
                    }
                    symbolic.same(there, &back, [Some(goes_on), Some(!block.complete)])
                });
            self.require("a step does not pass a member", step, question)?;
        }
        Ok(())
    }
}

fn execute_block(
    proof: &Proof,
    symbolic: &mut Symbolic,
    state: &mut State,
    who: usize,
    block: Block,
) -> Run<bool> {
    for path in proof.chain(block.path) {
        if !symbolic.execute(state, who, path)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether the blocks, which led from the one state to the other, can be executed the other way
/// round and lead to the same.
fn reverses(
    proof: &Proof,
    symbolic: &mut Symbolic,
    start: &State,
    there: &State,
    first: Block,
    second: Block,
) -> Run<bool> {
    let mut back = start.clone();
    if !execute_block(proof, symbolic, &mut back, 1, second)?
        || !execute_block(proof, symbolic, &mut back, 0, first)?
    {
        return Ok(false);
    }
    symbolic.same(there, &back, [Some(!first.complete), Some(!second.complete)])
}

/// Whether nothing but the places was written with the object.
fn reach(
    symbolic: &mut Symbolic,
    state: &State,
    who: usize,
    object: usize,
    places: &[Place],
) -> Run<bool> {
    let mut allowed = Vec::new();
    for place in places {
        allowed.extend(symbolic.find(state, who, place)?);
    }
    Ok(symbolic.holders(state, object).iter().all(|location| allowed.contains(location)))
}

fn in_cases(symbolic: &mut Symbolic, state: &State, member: &Member) -> Run<bool> {
    let Some(cases) = &member.cases else { return Ok(true) };
    for case in cases {
        let mut all = true;
        for (mine, theirs, equal) in case {
            let (mine, theirs) =
                (symbolic.local(state, 0, *mine)?, symbolic.local(state, 1, *theirs)?);
            all = all
                && (mine.is_none()
                    || theirs.is_none()
                    || symbolic.agree(state, mine, theirs)? == *equal);
        }
        if all {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether one of the members stands for this state.
fn covered(
    symbolic: &mut Symbolic,
    state: &State,
    closure: &Closure,
    members: &[&Member],
) -> Run<bool> {
    for member in members {
        if in_cases(symbolic, state, member)?
            && all_hold(symbolic, state, closure.chosen(&member.then))?
        {
            return Ok(true);
        }
    }
    Ok(false)
}

fn all_hold<'c>(
    symbolic: &mut Symbolic,
    state: &State,
    conditions: impl Iterator<Item = &'c Condition>,
) -> Run<bool> {
    for condition in conditions {
        if !symbolic.holds(state, 0, &[], condition)? {
            return Ok(false);
        }
    }
    Ok(true)
}
