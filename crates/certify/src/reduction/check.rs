//! The questions: one function for each rule of `docs/reduce.md`.

use linchpin_subop::model::{Condition, LocalId, Place, Statement, SubOperation, Term, Var};

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

use super::ReductionError;
use super::proof::{Block, Closure, Member, Proof, Replacement};
use super::world::{Impossible, Run, Script, State, V, World};

/// How many states one question may have.
const MOST: usize = 1_000_000;

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
            check.stable(path, *other)?;
        }
        check.live(path, &steps)?;
        check.pending(path, &steps)?;
        let closure = proof.closures.iter().find(|closure| closure.path == path);
        let closure = closure.ok_or_else(|| check.refuse("a prefix has no closure", path))?;
        check.closure(closure)
    })?;
    Ok(check.states)
}

pub(super) struct Check<'p> {
    pub(super) proof: &'p Proof,
    pub(super) states: usize,
    /// Which blocks keep which others from being reversed: the same for all closures.
    sticky: Arc<Mutex<BTreeMap<(Block, Block), bool>>>,
}

impl<'p> Check<'p> {
    pub(super) fn new(proof: &'p Proof) -> Check<'p> {
        Check { proof, states: 0, sticky: Arc::default() }
    }

    /// Asks the questions about each path, several paths at a time; of what is refused, what the first path is refused for is said.
    fn in_parallel(
        &mut self,
        paths: &[usize],
        ask: &(dyn Fn(&mut Check<'p>, usize) -> Result<(), ReductionError> + Sync),
    ) -> Result<(), ReductionError> {
        let (proof, sticky, next) = (self.proof, &self.sticky, AtomicUsize::new(0));
        let work = || {
            let mut check = Check { proof, states: 0, sticky: Arc::clone(sticky) };
            let mut answers = Vec::new();
            while let Some(path) = paths.get(next.fetch_add(1, Relaxed)) {
                answers.push((*path, ask(&mut check, *path)));
            }
            (check.states, answers)
        };
        let workers = std::thread::available_parallelism().map_or(1, NonZero::get).min(8);
        let ended = std::thread::scope(|scope| {
            let working: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
            working.into_iter().map(|worker| worker.join()).collect::<Vec<_>>()
        });
        let mut answers = BTreeMap::new();
        for worker in ended {
            let (states, some) = worker.map_err(|_| {
                ReductionError::NotConfirmed("a question could not be answered".to_owned())
            })?;
            self.states += states;
            answers.extend(some);
        }
        // INVARIANT: every path has its answer.
        paths.iter().try_for_each(|path| {
            answers.remove(path).unwrap_or_else(|| Err(self.refuse("nobody asked", *path)))
        })
    }

    fn refuse(&self, what: &str, path: usize) -> ReductionError {
        let path = &self.proof.paths[path];
        let steps = &self.proof.model.operations[path.operation].sub_operations;
        let names: Vec<&str> = path.steps.iter().map(|step| steps[*step].name.as_str()).collect();
        ReductionError::NotConfirmed(format!("{what} ({})", names.join(".")))
    }

    /// Whether `good` is true in every state of instances that executed these paths; `Err(Impossible)` leaves a state out.
    pub(super) fn all(
        &mut self,
        paths: &[usize],
        good: &mut dyn FnMut(&mut World<'p>, &State) -> Run<bool>,
    ) -> Result<bool, ReductionError> {
        let mut script = Script::default();
        for _ in 0..MOST {
            self.states += 1;
            let (mut world, state) = World::new(self.proof, paths, script);
            // Before it counts, all that the state must satisfy is looked at.
            if good(&mut world, &state) == Ok(false) && world.satisfies_premises(&state) == Ok(true)
            {
                return Ok(false);
            }
            script = world.script;
            if !script.advance() {
                return Ok(true);
            }
        }
        Err(ReductionError::TooLarge("a question has too many cases".to_owned()))
    }

    fn require(
        &mut self,
        what: &str,
        path: usize,
        paths: &[usize],
        good: &mut dyn FnMut(&mut World<'p>, &State) -> Run<bool>,
    ) -> Result<(), ReductionError> {
        if self.all(paths, good)? { Ok(()) } else { Err(self.refuse(what, path)) }
    }

    pub(super) fn empty(&self, path: usize) -> usize {
        let operation = self.proof.paths[path].operation;
        self.proof
            .paths
            .iter()
            .position(|path| path.operation == operation && path.steps.is_empty())
            .unwrap_or(0)
    }

    pub(super) fn chain(&self, path: usize) -> Vec<usize> {
        let mut chain = vec![path];
        while let Some(parent) = self.proof.paths[chain[chain.len() - 1]].parent {
            chain.push(parent);
        }
        chain.pop();
        chain.reverse();
        chain
    }

    fn parent(&self, path: usize) -> usize {
        self.proof.paths[path].parent.unwrap_or(path)
    }

    fn start(&mut self) -> Result<(), ReductionError> {
        let proof = self.proof;
        let Ok((mut world, state)) = World::start(proof, Script::default()) else {
            return if proof.invariants.is_empty() {
                Ok(())
            } else {
                Err(ReductionError::NotConfirmed("the start".to_owned()))
            };
        };
        for (bound, condition) in &proof.invariants {
            for objects in world.choices_of(bound, |_| true) {
                if world.holds(&state, 0, &objects, condition) != Ok(true) {
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
        let (proof, parent) = (self.proof, self.parent(path));
        let data = &proof.paths[path];
        let known = &proof.paths[parent];
        self.require("a step does not establish a fact", path, &[parent], &mut |world, before| {
            let mut after = before.clone();
            run(world, &mut after, 0, path)?;
            for fact in &data.facts {
                if !world.holds(&after, 0, &[], fact)? {
                    return Ok(false);
                }
            }
            for (local, places) in &data.reaches {
                let (then, now) =
                    (world.local(before, 0, *local)?, world.local(&after, 0, *local)?);
                let Some(V::Ref(object)) = now else { return Ok(false) };
                let before_this = known.private.contains(local)
                    || known.reaches.iter().any(|(other, from)| {
                        other == local && from.iter().all(|place| places.contains(place))
                    });
                if !(world.is_fresh(object) || then == now && before_this) {
                    return Ok(false);
                }
                for place in places {
                    if let Place::Field(Var::Local(LocalId(base)), ..) = place
                        && !world.is_fresh(object)
                        && known
                            .reaches
                            .iter()
                            .any(|(other, from)| other == local && from.contains(place))
                        && world.local(before, 0, *base)? != world.local(&after, 0, *base)?
                    {
                        return Ok(false);
                    }
                }
                if !reach(world, &after, 0, object, places)? {
                    return Ok(false);
                }
            }
            Ok(true)
        })?;
        // One at a time: what is chosen to look at one of them need not be combined with what is chosen for the others.
        for invariant in &proof.invariants {
            self.require("a step breaks an invariant", path, &[parent], &mut |world, before| {
                let mut after = before.clone();
                run(world, &mut after, 0, path)?;
                let (bound, condition) = invariant;
                let objects: Vec<usize> = bound.iter().map(|of| world.any_object(*of)).collect();
                world.holds(&after, 0, &objects, condition)
            })?;
        }
        Ok(())
    }

    /// A step of another instance keeps the facts of a path.
    fn stable(&mut self, path: usize, other: usize) -> Result<(), ReductionError> {
        let proof = self.proof;
        let data = &proof.paths[path];
        if !self.writes(other) {
            return Ok(());
        }
        let parent = self.parent(other);
        self.require("a fact is not stable", path, &[path, parent], &mut |world, before| {
            let mut after = before.clone();
            run(world, &mut after, 1, other)?;
            for fact in &data.facts {
                if !world.holds(&after, 0, &[], fact)? {
                    return Ok(false);
                }
            }
            for (local, places) in &data.reaches {
                let Some(V::Ref(object)) = world.local(&after, 0, *local)? else {
                    return Ok(false);
                };
                // Only places that stay where they are, whatever others do.
                let fixed = |place: &Place| match place {
                    Place::Variable(Var::Global(_)) | Place::Field(Var::Local(_), ..) => true,
                    Place::Field(Var::Global(global), ..) => {
                        matches!(
                            proof.model.globals[global.0].kind,
                            linchpin_subop::model::GlobalKind::Place(_)
                        )
                    }
                    _ => false,
                };
                if !places.iter().all(fixed) || !reach(world, &after, 0, object, places)? {
                    return Ok(false);
                }
            }
            Ok(true)
        })
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
        for child in &data.next {
            self.require("a live fact is not tested", path, &[path], &mut |world, before| {
                let mut after = before.clone();
                run(world, &mut after, 0, *child)?;
                assume_all(world, &after, 0, *child, true)?;
                all_hold(world, before, 0, &data.live)
            })?;
        }
        for other in steps.iter().copied() {
            if !self.writes(other) {
                continue;
            }
            let parent = self.parent(other);
            self.require(
                "a live fact is not live",
                path,
                &[path, parent],
                &mut |world, before| {
                    let mut after = before.clone();
                    run(world, &mut after, 1, other)?;
                    assume_all(world, &after, 0, path, true)?;
                    if !proof.paths[other].complete {
                        assume_all(world, &after, 1, other, true)?;
                    }
                    all_hold(world, before, 0, &data.live)
                },
            )?;
        }
        Ok(())
    }

    fn pending(&mut self, path: usize, steps: &[usize]) -> Result<(), ReductionError> {
        let data = &self.proof.paths[path];
        if data.complete {
            return Ok(());
        }
        if data.enabled {
            return self.require(
                "an operation cannot be completed",
                path,
                &[path],
                &mut |world, state| {
                    for child in &data.next {
                        if world.enabled(state, 0, *child)? {
                            return Ok(true);
                        }
                    }
                    Ok(false)
                },
            );
        }
        for step in self.chain(path) {
            if self.invisible(step) {
                continue;
            }
            for other in steps.iter().copied() {
                let start = [self.parent(step), self.parent(other)];
                self.require(
                    "an operation cannot be left out",
                    path,
                    &start,
                    &mut |world, state| {
                        let mut there = state.clone();
                        run(world, &mut there, 0, step)?;
                        assume_all(world, &there, 0, step, false)?;
                        run(world, &mut there, 1, other)?;
                        assume_all(world, &there, 0, step, false)?;
                        let mut back = state.clone();
                        if !world.execute(&mut back, 1, other)?
                            || !world.execute(&mut back, 0, step)?
                        {
                            return Ok(false);
                        }
                        world.same(&there, &back, [None, Some(true)])
                    },
                )?;
            }
        }
        Ok(())
    }

    /// Whether the last step of a path writes nothing but locals and fields of objects that were never stored.
    fn invisible(&self, path: usize) -> bool {
        let data = &self.proof.paths[path];
        let model = &self.proof.model;
        let Some(step) = data.last(model) else { return true };
        let mut private = self.proof.paths[self.parent(path)].private.clone();
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

    /// Executes a block, in executions in which all operations complete.
    fn block(&self, world: &mut World<'p>, state: &mut State, who: usize, block: Block) -> Run<()> {
        for path in self.chain(block.path) {
            run(world, state, who, path)?;
            assume_all(world, state, who, path, !(block.complete && path == block.path))?;
        }
        Ok(())
    }

    fn execute_block(
        &self,
        world: &mut World<'p>,
        state: &mut State,
        who: usize,
        block: Block,
    ) -> Run<bool> {
        for path in self.chain(block.path) {
            if !world.execute(state, who, path)? {
                return Ok(false);
            }
        }
        Ok(true)
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

    /// Whether `second` may follow `first` in a way that keeps them from being reversed.
    fn sticks(&mut self, first: Block, second: Block) -> Result<bool, ReductionError> {
        let known = self.sticky.lock().ok().and_then(|all| all.get(&(first, second)).copied());
        if let Some(known) = known {
            return Ok(known);
        }
        let starts = [self.empty(first.path), self.empty(second.path)];
        let this = Check::new(self.proof);
        let never = self.all(&starts, &mut |world, state| {
            let mut there = state.clone();
            this.block(world, &mut there, 0, first)?;
            this.block(world, &mut there, 1, second)?;
            if first.complete {
                return Ok(false);
            }
            assume_all(world, &there, 0, first.path, true)?;
            this.reverses(world, state, &there, first, second)
        })?;
        if let Ok(mut all) = self.sticky.lock() {
            all.insert((first, second), !never);
        }
        Ok(!never)
    }

    fn reverses(
        &self,
        world: &mut World<'p>,
        start: &State,
        there: &State,
        first: Block,
        second: Block,
    ) -> Run<bool> {
        let mut back = start.clone();
        if !self.execute_block(world, &mut back, 1, second)?
            || !self.execute_block(world, &mut back, 0, first)?
        {
            return Ok(false);
        }
        world.same(there, &back, [Some(!first.complete), Some(!second.complete)])
    }

    /// The members are all there are, and the next step passes each of them.
    fn closure(&mut self, closure: &Closure) -> Result<(), ReductionError> {
        let path = closure.path;
        let this = Check::new(self.proof);
        let first = Block { path, complete: false };
        for block in self.blocks() {
            let members: Vec<&Member> = closure
                .members
                .iter()
                .filter(|m| m.block == block && m.before.is_empty())
                .collect();
            let starts = [self.empty(path), self.empty(block.path)];
            self.require("a closure lacks a member", path, &starts, &mut |world, state| {
                let mut there = state.clone();
                this.block(world, &mut there, 0, first)?;
                this.block(world, &mut there, 1, block)?;
                assume_all(world, &there, 0, path, true)?;
                Ok(this.reverses(world, state, &there, first, block)?
                    || covered(world, &there, closure, &members)?)
            })?;
        }
        let lasting = &closure.lasting;
        for condition in lasting {
            self.lasting(path, condition)?;
        }
        let mut asked = BTreeSet::new();
        for member in &closure.members {
            for block in self.blocks() {
                if !self.sticks(member.block, block)? || !asked.insert((block, member.then.clone()))
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
                let starts = [path, self.empty(block.path)];
                self.require("a closure lacks a member", path, &starts, &mut |world, state| {
                    world.assume(state, 0, &self_live(world, path))?;
                    world.assume(state, 0, &chosen(lasting, &member.then))?;
                    let mut there = state.clone();
                    this.block(world, &mut there, 1, block)?;
                    assume_all(world, &there, 0, path, true)?;
                    covered(world, &there, closure, &members)
                })?;
            }
            self.passes(closure, member)?;
        }
        Ok(())
    }

    /// Once true, a lasting condition stays true.
    fn lasting(&mut self, path: usize, condition: &Condition) -> Result<(), ReductionError> {
        for other in 0..self.proof.paths.len() {
            if !self.writes(other) {
                continue;
            }
            let parent = self.parent(other);
            self.require(
                "a condition does not last",
                path,
                &[path, parent],
                &mut |world, before| {
                    world.assume(before, 0, std::slice::from_ref(condition))?;
                    let mut after = before.clone();
                    run(world, &mut after, 1, other)?;
                    assume_all(world, &after, 0, path, true)?;
                    world.holds(&after, 0, &[], condition)
                },
            )?;
        }
        Ok(())
    }

    /// Line 20 of Algorithm 1.
    fn passes(&mut self, closure: &Closure, member: &Member) -> Result<(), ReductionError> {
        let (path, proof) = (closure.path, self.proof);
        let this = Check::new(proof);
        let before = chosen(&closure.lasting, &member.before);
        let then = chosen(&closure.lasting, &member.then);
        for step in &proof.paths[path].next {
            let goes_on = !proof.paths[*step].next.is_empty();
            let starts = [path, self.empty(member.block.path)];
            self.require("a step does not pass a member", *step, &starts, &mut |world, state| {
                world.assume(state, 0, &self_live(world, path))?;
                world.assume(state, 0, &before)?;
                let mut there = state.clone();
                this.block(world, &mut there, 1, member.block)?;
                assume_all(world, &there, 0, path, true)?;
                if !in_cases(world, &there, member)? {
                    return Ok(true);
                }
                // The step has passed everything that came later, so it is executed in the state that the member left.
                world.assume(&there, 0, &then)?;
                run(world, &mut there, 0, *step)?;
                assume_all(world, &there, 0, *step, goes_on)?;
                assume_all(world, &there, 1, member.block.path, !member.block.complete)?;
                let mut back = state.clone();
                if !world.execute(&mut back, 0, *step)?
                    || !this.execute_block(world, &mut back, 1, member.block)?
                {
                    return Ok(false);
                }
                world.same(&there, &back, [Some(goes_on), Some(!member.block.complete)])
            })?;
        }
        Ok(())
    }
}

/// Executes a step; leaves out states in which that is not possible.
pub(super) fn run(world: &mut World, state: &mut State, who: usize, path: usize) -> Run<()> {
    world.must = true;
    let executed = world.execute(state, who, path);
    world.must = false;
    if executed? { Ok(()) } else { Err(Impossible) }
}

/// Leaves out states in which the facts of a path do not hold; and the live ones, if the instance goes on.
fn assume_all(world: &mut World, state: &State, who: usize, path: usize, goes_on: bool) -> Run<()> {
    let data = &world.proof.paths[path];
    world.assume(state, who, &data.facts)?;
    if goes_on { world.assume(state, who, &data.live) } else { Ok(()) }
}

fn self_live(world: &World, path: usize) -> Vec<Condition> {
    world.proof.paths[path].live.clone()
}

fn all_hold(world: &mut World, state: &State, who: usize, conditions: &[Condition]) -> Run<bool> {
    for condition in conditions {
        if !world.holds(state, who, &[], condition)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn chosen(conditions: &[Condition], which: &[usize]) -> Vec<Condition> {
    which.iter().map(|at| conditions[*at].clone()).collect()
}

/// Whether nothing but the places was written with the object.
fn reach(
    world: &mut World,
    state: &State,
    who: usize,
    object: usize,
    places: &[Place],
) -> Run<bool> {
    let mut allowed = Vec::new();
    for place in places {
        allowed.extend(world.find(state, who, place)?);
    }
    Ok(world.holders(state, object).iter().all(|location| allowed.contains(location)))
}

fn in_cases(world: &mut World, state: &State, member: &Member) -> Run<bool> {
    let Some(cases) = &member.cases else { return Ok(true) };
    for case in cases {
        let mut all = true;
        for (mine, theirs, equal) in case {
            let (mine, theirs) = (world.local(state, 0, *mine)?, world.local(state, 1, *theirs)?);
            all = all
                && (mine.is_none()
                    || theirs.is_none()
                    || world.agree(state, mine, theirs)? == *equal);
        }
        if all {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether one of the members stands for this state.
fn covered(world: &mut World, state: &State, closure: &Closure, members: &[&Member]) -> Run<bool> {
    for member in members {
        if in_cases(world, state, member)?
            && all_hold(world, state, 0, &chosen(&closure.lasting, &member.then))?
        {
            return Ok(true);
        }
    }
    Ok(false)
}
