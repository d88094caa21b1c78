//! Algorithm 1, corrected, over alias cases: whether every interleaving of complete operations can be rewritten to a sequential one.
//!
//! A *block* is a prefix executed without interruption. After a history was rewritten to blocks, the next sub-operation `s` of an
//! instance at prefix `x` is appended. Blocks after `x` that can be moved to its left are; those that cannot are in the
//! closure of `x`: irreversible with `x`, or with another member. `s` must be reversible with all of them.

use linchpin_subop::model::Condition;

use crate::context::Context;
use crate::lasting;
use crate::solver::Value;
use crate::search::explore;
use crate::world::{Env, Matters, Memory, Mode, Run, Stop, World};

/// A closure with more members is given up.
const MOST_MEMBERS: usize = 600;

/// A prefix executed without interruption, by an operation that goes on later or is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Block {
    pub prefix: usize,
    pub complete: bool,
}

impl Block {
    fn matters(self) -> Matters {
        if self.complete { Matters::Results } else { Matters::Everything }
    }
}

/// Which locals of two instances are known to be equal or different.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alias {
    /// Of the first instance, of the second, and whether they are equal.
    pub pairs: Vec<(usize, usize, bool)>,
}

/// How two blocks relate.
#[derive(Clone, Debug, Default)]
pub struct Relation {
    /// Some state lets the second follow the first.
    pub orderable: bool,
    /// The cases in which the order matters.
    pub irreversible: Vec<Alias>,
    /// What is known after each of them.
    pub known: Vec<Known>,
    /// Not all cases could be looked at.
    pub unknown: bool,
}

impl Relation {
    pub fn reversible(&self) -> bool {
        !self.unknown && self.irreversible.is_empty()
    }
}

/// A member of a closure, and why.
#[derive(Clone, Debug)]
pub struct Member {
    pub block: Block,
    /// The member that it is irreversible with; `None` for the prefix itself.
    pub after: Option<usize>,
    /// The cases that matter between the prefix and this block; `None` for all.
    pub cases: Option<Vec<Alias>>,
    /// Which [lasting](crate::lasting) conditions are true before the block is executed.
    pub before: Known,
    /// And after it.
    pub then: Known,
}

/// A set of lasting conditions of a prefix, by their numbers.
pub type Known = u64;

/// The closure of a proper prefix, and the first member that its next step is not reversible with.
#[derive(Clone, Debug)]
pub struct Closure {
    pub prefix: usize,
    /// The conditions that members are told apart by; none if that was not needed.
    pub lasting: Vec<Condition>,
    pub members: Vec<Member>,
    /// A member, the prefix with the next step, and whether it is only that there were too many cases.
    pub failure: Option<(usize, usize, bool)>,
}

/// All blocks that are not empty.
pub fn blocks(context: &Context) -> Vec<Block> {
    let mut blocks = Vec::new();
    for prefix in context.prefixes.nonempty() {
        if context.prefixes.is_proper(prefix) {
            blocks.push(Block { prefix, complete: false });
        }
        if context.prefixes.all[prefix].complete {
            blocks.push(Block { prefix, complete: true });
        }
    }
    blocks
}

/// Remembers how blocks relate.
pub struct Relations<'c> {
    context: &'c Context<'c>,
    pub blocks: Vec<Block>,
    known: rustc_hash::FxHashMap<(Block, Block), Relation>,
}

impl<'c> Relations<'c> {
    pub fn new(context: &'c Context<'c>) -> Relations<'c> {
        Relations { context, blocks: blocks(context), known: Default::default() }
    }

    /// How `second` may follow `first`, both from their starts.
    pub fn get(&mut self, first: Block, second: Block) -> &Relation {
        let context = self.context;
        self.known.entry((first, second)).or_insert_with(|| relate(context, first, second, &[]))
    }

    /// Check(x) of Algorithm 1; if it fails, once more with what lasts.
    pub fn check(&mut self, prefix: usize) -> Closure {
        let closure = self.check_knowing(prefix, Vec::new());
        if closure.failure.is_none() {
            return closure;
        }
        let lasting = lasting::find(self.context, prefix);
        if lasting.is_empty() {
            return closure;
        }
        let refined = self.check_knowing(prefix, lasting);
        if refined.failure.is_none() { refined } else { closure }
    }

    fn check_knowing(&mut self, prefix: usize, lasting: Vec<Condition>) -> Closure {
        let (members, complete) = self.closure(prefix, &lasting);
        let mut closure = Closure { prefix, lasting, members, failure: None };
        for (at, member) in closure.members.iter().enumerate() {
            for step in &self.context.prefixes.all[prefix].next {
                match passes(self.context, prefix, member, *step, &closure.lasting) {
                    Passes::Yes => {}
                    other => {
                        closure.failure = Some((at, *step, other == Passes::Unknown));
                        return closure;
                    }
                }
            }
        }
        if !complete {
            let step = self.context.prefixes.all[prefix].next[0];
            closure.failure = Some((0, step, true));
        }
        closure
    }

    /// Closure(x) of Algorithm 1, as a worklist; and whether it is all of it.
    fn closure(&mut self, prefix: usize, lasting: &[Condition]) -> (Vec<Member>, bool) {
        let start = Block { prefix, complete: false };
        let mut members: Vec<Member> = Vec::new();
        for block in self.blocks.clone() {
            let relation = self.get(start, block);
            if !relation.orderable || relation.reversible() {
                continue;
            }
            if relation.unknown {
                members.push(Member { block, after: None, cases: None, before: 0, then: 0 });
            } else if lasting.is_empty() {
                let cases = Some(relation.irreversible.clone());
                members.push(Member { block, after: None, cases, before: 0, then: 0 });
            } else {
                let knowing = relate(self.context, start, block, lasting);
                if knowing.unknown {
                    members.push(Member { block, after: None, cases: None, before: 0, then: 0 });
                    continue;
                }
                for (then, cases) in by_knowledge(knowing) {
                    members.push(Member {
                        block,
                        after: None,
                        cases: Some(cases),
                        before: 0,
                        then,
                    });
                }
            }
        }
        let mut at = 0;
        while at < members.len() {
            if members.len() > MOST_MEMBERS {
                return (members, false);
            }
            let Member { block: from, then: known, .. } = members[at];
            for block in self.blocks.clone() {
                // A member in all cases, of which less is known, stands for this one.
                let covered = |member: &Member| {
                    member.block == block && member.cases.is_none() && member.before & !known == 0
                };
                if members.iter().any(covered) {
                    continue;
                }
                let relation = self.get(from, block);
                // Nothing that starts after a complete operation is moved before it.
                if !relation.orderable || (!from.complete && relation.reversible()) {
                    continue;
                }
                if let Some(then) = follow(self.context, prefix, block, known, lasting) {
                    members.push(Member {
                        block,
                        after: Some(at),
                        cases: None,
                        before: known,
                        then,
                    });
                }
            }
            at += 1;
        }
        (members, true)
    }
}

/// The irreversible cases, grouped by what is known after them.
fn by_knowledge(relation: Relation) -> Vec<(Known, Vec<Alias>)> {
    let mut groups: Vec<(Known, Vec<Alias>)> = Vec::new();
    for (alias, known) in relation.irreversible.into_iter().zip(relation.known) {
        match groups.iter_mut().find(|(group, _)| *group == known) {
            Some((_, cases)) => cases.push(alias),
            None => groups.push((known, vec![alias])),
        }
    }
    groups
}

/// Which of the lasting conditions of the first instance are known to be true.
fn knowledge(world: &mut World, memory: &Memory, lasting: &[Condition]) -> Run<Known> {
    let mut known = 0;
    for (at, condition) in lasting.iter().enumerate() {
        if world.require(memory, Env::of(0), condition)? {
            known |= 1 << at;
        }
    }
    Ok(known)
}

fn assume_known(
    world: &mut World,
    memory: &Memory,
    known: Known,
    lasting: &[Condition],
) -> Run<()> {
    for (at, condition) in lasting.iter().enumerate() {
        if known & (1 << at) != 0 {
            world.assume(memory, Env::of(0), condition)?;
        }
    }
    Ok(())
}

/// What is known after a block that starts when `known` is true; `None` if it cannot be executed then.
fn follow(
    context: &Context,
    prefix: usize,
    block: Block,
    known: Known,
    lasting: &[Condition],
) -> Option<Known> {
    if known == 0 {
        return Some(0);
    }
    let start = context.prefixes.empty[context.prefixes.all[block.prefix].operation.0];
    let mut then: Option<Known> = None;
    let outcome = explore(context, &[prefix, start], &mut |world, begin| {
        world.assume_live(begin, 0, prefix)?;
        assume_known(world, begin, known, lasting)?;
        let mut there = begin.clone();
        run_block(world, &mut there, 1, block)?;
        world.assume_facts(&there, 0, prefix)?;
        world.assume_live(&there, 0, prefix)?;
        let now = knowledge(world, &there, lasting)? | known;
        then = Some(then.map_or(now, |then| then & now));
        // What was known lasts: nothing less can come.
        Ok(then != Some(known))
    });
    if outcome.is_err() { Some(known) } else { then }
}

/// After a step: what holds of the instance there, if it goes on.
fn assume_after(
    world: &mut World,
    memory: &Memory,
    who: usize,
    block: Block,
    last: bool,
) -> Run<()> {
    let prefix = memory.instances[who].prefix;
    world.assume_facts(memory, who, prefix)?;
    if !(last && block.complete) {
        world.assume_live(memory, who, prefix)?;
    }
    Ok(())
}

fn run_block(world: &mut World, memory: &mut Memory, who: usize, block: Block) -> Run<()> {
    let path = world.context.path(block.prefix);
    for prefix in &path {
        world.execute(memory, who, *prefix, Mode::Assume)?;
        assume_after(world, memory, who, block, *prefix == block.prefix)?;
    }
    Ok(())
}

fn relate(context: &Context, first: Block, second: Block, lasting: &[Condition]) -> Relation {
    let (one, two) = (&context.prefixes.all[first.prefix], &context.prefixes.all[second.prefix]);
    let mut relation = Relation::default();
    let starts = [context.prefixes.empty[one.operation.0], context.prefixes.empty[two.operation.0]];
    let independent = !one.footprint.conflicts(&two.footprint);
    let outcome = explore(context, &starts, &mut |world, start| {
        let mut there = start.clone();
        run_block(world, &mut there, 0, first)?;
        run_block(world, &mut there, 1, second)?;
        assume_after(world, &there, 0, first, true)?;
        world.assume_invariants(&there)?;
        relation.orderable = true;
        if first.complete || independent {
            // Only whether they can follow each other is of interest.
            return Ok(false);
        }
        let mut back = start.clone();
        let reversed = |world: &mut World, back: &mut Memory| -> Run<()> {
            world.execute_all(back, 1, second.prefix, Mode::Require)?;
            world.execute_all(back, 0, first.prefix, Mode::Require)
        };
        let same = match reversed(world, &mut back) {
            Ok(()) => world.same_state(&there, &back, [first.matters(), second.matters()])?,
            Err(Stop::Blocked) => false,
            Err(Stop::Prune) => return Err(Stop::Prune),
        };
        if !same {
            let known = knowledge(world, &there, lasting)?;
            let alias = alias(world, &there);
            let mut found = relation.irreversible.iter().zip(&relation.known);
            if !found.any(|(case, group)| *case == alias && *group == known) {
                relation.irreversible.push(alias);
                relation.known.push(known);
            }
        }
        Ok(true)
    });
    if outcome.is_err() {
        relation.unknown = true;
        relation.orderable = true;
    }
    relation
}

/// What is known about the locals of the two instances.
pub fn alias(world: &World, memory: &Memory) -> Alias {
    let mut pairs = Vec::new();
    for (one, left, right) in local_pairs(world, memory) {
        if let Some(equal) = world.solver.same(left, right) {
            pairs.push((one.0, one.1, equal));
        }
    }
    Alias { pairs }
}

/// Pairs of set locals of the same type, of the first instance and of the second.
fn local_pairs(world: &World, memory: &Memory) -> Vec<((usize, usize), Value, Value)> {
    let operation = |who: usize| {
        let prefix = memory.instances[who].prefix;
        &world.context.model.operations[world.context.prefixes.all[prefix].operation.0]
    };
    let mut pairs = Vec::new();
    for (one, left) in memory.instances[0].locals.iter().enumerate() {
        for (two, right) in memory.instances[1].locals.iter().enumerate() {
            if let (Some(left), Some(right)) = (left, right)
                && operation(0).locals[one].ty == operation(1).locals[two].ty
            {
                pairs.push(((one, two), *left, *right));
            }
        }
    }
    pairs
}

/// Whether this case of a later state may be one of the cases.
fn matches(world: &World, memory: &Memory, cases: &Option<Vec<Alias>>) -> bool {
    let Some(cases) = cases else { return true };
    cases.iter().any(|case| {
        let mut solver = world.solver.clone();
        case.pairs.iter().all(|(one, two, equal)| {
            let (Some(left), Some(right)) =
                (memory.instances[0].locals[*one], memory.instances[1].locals[*two])
            else {
                return true;
            };
            let asserted = if *equal {
                solver.assert_same(left, right)
            } else {
                solver.assert_different(left, right)
            };
            asserted.is_ok()
        })
    })
}

/// Whether the next step can be moved before a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Passes {
    Yes,
    No,
    Unknown,
}

/// Line 20: whether `step`, the next one of an instance at `prefix`, can be moved before the member.
fn passes(
    context: &Context,
    prefix: usize,
    member: &Member,
    step: usize,
    lasting: &[Condition],
) -> Passes {
    let other = &context.prefixes.all[member.block.prefix];
    if !context.step_footprint(step).conflicts(&other.footprint) {
        return Passes::Yes;
    }
    let mut passes = true;
    let start = context.prefixes.empty[other.operation.0];
    let last = Block { prefix: step, complete: !context.prefixes.is_proper(step) };
    let outcome = explore(context, &[prefix, start], &mut |world, begin| {
        world.assume_live(begin, 0, prefix)?;
        assume_known(world, begin, member.before, lasting)?;
        let mut there = begin.clone();
        run_block(world, &mut there, 1, member.block)?;
        world.assume_facts(&there, 0, prefix)?;
        world.assume_live(&there, 0, prefix)?;
        // The aliases are compared before the step, which may assign locals.
        if !matches(world, &there, &member.cases) {
            return Ok(true);
        }
        world.execute(&mut there, 0, step, Mode::Assume)?;
        assume_after(world, &there, 0, last, true)?;
        assume_after(world, &there, 1, member.block, true)?;
        world.assume_invariants(&there)?;
        let mut back = begin.clone();
        let reversed = |world: &mut World, back: &mut Memory| -> Run<()> {
            world.execute(back, 0, step, Mode::Require)?;
            world.execute_all(back, 1, member.block.prefix, Mode::Require)
        };
        let same = match reversed(world, &mut back) {
            Ok(()) => world.same_state(&there, &back, [last.matters(), member.block.matters()])?,
            Err(Stop::Blocked) => false,
            Err(Stop::Prune) => return Err(Stop::Prune),
        };
        passes &= same;
        Ok(passes)
    });
    match (passes, outcome.is_ok()) {
        (_, false) => Passes::Unknown,
        (true, true) => Passes::Yes,
        (false, true) => Passes::No,
    }
}
