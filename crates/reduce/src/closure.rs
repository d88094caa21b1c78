//! Algorithm 1, corrected, over alias cases: whether every interleaving of complete operations can be rewritten to a sequential one.
//!
//! A *block* is a prefix executed without interruption. After a history was rewritten to blocks, the next sub-operation `s` of an
//! instance at prefix `x` is appended. Blocks after `x` that can be moved to its left are; those that cannot are in the
//! closure of `x`: irreversible with `x`, or with another member. `s` must be reversible with all of them.

use crate::context::Context;
use crate::solver::Value;
use crate::world::{Memory, Mode, Run, Stop, World, explore};

/// A prefix executed without interruption, by an operation that goes on later or is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Block {
    pub prefix: usize,
    pub complete: bool,
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
}

/// The closure of a proper prefix, and the first member that its next step is not reversible with.
#[derive(Clone, Debug)]
pub struct Closure {
    pub prefix: usize,
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
    known: std::collections::HashMap<(Block, Block), Relation>,
}

impl<'c> Relations<'c> {
    pub fn new(context: &'c Context<'c>) -> Relations<'c> {
        Relations { context, blocks: blocks(context), known: Default::default() }
    }

    /// How `second` may follow `first`, both from their starts.
    pub fn get(&mut self, first: Block, second: Block) -> &Relation {
        let context = self.context;
        self.known.entry((first, second)).or_insert_with(|| relate(context, first, second))
    }

    /// Check(x) of Algorithm 1.
    pub fn check(&mut self, prefix: usize) -> Closure {
        let members = self.closure(prefix);
        let mut closure = Closure { prefix, members, failure: None };
        for (at, member) in closure.members.iter().enumerate() {
            for step in &self.context.prefixes.all[prefix].next {
                match passes(self.context, prefix, member, *step) {
                    Passes::Yes => {}
                    other => {
                        closure.failure = Some((at, *step, other == Passes::Unknown));
                        return closure;
                    }
                }
            }
        }
        closure
    }

    /// Closure(x) of Algorithm 1, as a worklist.
    fn closure(&mut self, prefix: usize) -> Vec<Member> {
        let start = Block { prefix, complete: false };
        let mut members: Vec<Member> = Vec::new();
        for block in self.blocks.clone() {
            let relation = self.get(start, block);
            if relation.orderable && !relation.reversible() {
                let cases = if relation.unknown { None } else { Some(relation.irreversible.clone()) };
                members.push(Member { block, after: None, cases });
            }
        }
        let mut at = 0;
        while at < members.len() {
            let from = members[at].block;
            for block in self.blocks.clone() {
                let known = members.iter().position(|member| member.block == block);
                if known.is_some_and(|known| members[known].cases.is_none()) {
                    continue;
                }
                let relation = self.get(from, block);
                // Nothing that starts after a complete operation is moved before it.
                if relation.orderable && (from.complete || !relation.reversible()) {
                    match known {
                        // Now in every case; what it brought into the closure stays the same.
                        Some(known) => members[known] = Member { block, after: Some(at), cases: None },
                        None => members.push(Member { block, after: Some(at), cases: None }),
                    }
                }
            }
            at += 1;
        }
        members
    }
}

/// After a step: what holds of the instance there, if it goes on.
fn assume_after(world: &mut World, memory: &Memory, who: usize, block: Block, last: bool) -> Run<()> {
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

fn relate(context: &Context, first: Block, second: Block) -> Relation {
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
            Ok(()) => world.same_state(&there, &back, None)?,
            Err(Stop::Blocked) => false,
            Err(Stop::Prune) => return Err(Stop::Prune),
        };
        if !same {
            let alias = alias(world, &there);
            if !relation.irreversible.contains(&alias) {
                relation.irreversible.push(alias);
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
            let (Some(left), Some(right)) = (memory.instances[0].locals[*one], memory.instances[1].locals[*two]) else {
                return true;
            };
            let asserted = if *equal { solver.assert_same(left, right) } else { solver.assert_different(left, right) };
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
fn passes(context: &Context, prefix: usize, member: &Member, step: usize) -> Passes {
    let other = &context.prefixes.all[member.block.prefix];
    if !context.step_footprint(step).conflicts(&other.footprint) {
        return Passes::Yes;
    }
    let mut passes = true;
    let start = context.prefixes.empty[other.operation.0];
    let last = Block { prefix: step, complete: !context.prefixes.is_proper(step) };
    let outcome = explore(context, &[prefix, start], &mut |world, begin| {
        world.assume_live(begin, 0, prefix)?;
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
            Ok(()) => world.same_state(&there, &back, None)?,
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
