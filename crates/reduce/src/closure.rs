//! Algorithm 1, corrected, over alias cases: whether every interleaving of complete operations can
//! be rewritten to a sequential one.
//!
//! A *block* is a prefix executed without interruption. After a history was rewritten to blocks,
//! the next sub-operation `s` of an instance at prefix `x` is appended. Blocks after `x` that can
//! be moved to its left are; those that cannot are in the closure of `x`: irreversible with `x`, or
//! with another member. `s` must be reversible with all of them.

use linchpin_subop::model::Condition;

use crate::context::Context;
use crate::lasting;
use crate::relate::{
    Alias, Block, Known, Relation, assume_after, block_stages, blocks, knowledge, relate,
    same_in_the_end,
};
use crate::search::{Stage, TooManyCases, explore_from, explore_stages};
use crate::symbolic::{Env, Memory, Mode, Run, Symbolic};

/// A closure with more members is given up.
const MOST_MEMBERS: usize = 600;

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

/// The closure of a proper prefix, and the first member that its next step is not reversible with.
#[derive(Clone, Debug)]
pub struct Closure {
    pub prefix: usize,
    /// The conditions that members are told apart by; none if that was not needed.
    pub lasting: Vec<Condition>,
    pub members: Vec<Member>,
    /// A member, the prefix with the next step, and whether it is only that there were too many
    /// cases.
    pub failure: Option<(usize, usize, bool)>,
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
        if !self.known.contains_key(&(first, second)) {
            let operation = |block: &Block| self.context.prefixes.all[block.prefix].operation;
            let together = |block: &&Block| operation(block) == operation(&second);
            let wanted: Vec<Block> = self.blocks.iter().filter(together).copied().collect();
            let found = relate(self.context, first, wanted.clone(), &[]);
            let keys = wanted.into_iter().map(|block| (first, block));
            self.known.extend(keys.zip(found));
        }
        self.known.entry((first, second)).or_insert_with(Relation::not_known)
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
        let mut entrances = Entrances::new(self.context, prefix);
        let (members, complete) = self.closure(prefix, &lasting, &mut entrances);
        let mut closure = Closure { prefix, lasting, members, failure: None };
        for (at, member) in closure.members.iter().enumerate() {
            for step in &self.context.prefixes.all[prefix].next {
                match passes(&mut entrances, member, *step, &closure.lasting) {
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
    fn closure(
        &mut self,
        prefix: usize,
        lasting: &[Condition],
        entrances: &mut Entrances<'c>,
    ) -> (Vec<Member>, bool) {
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
                let knowing = relate(self.context, start, vec![block], lasting)
                    .pop()
                    .unwrap_or_else(Relation::not_known);
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
                if let Some(then) = follow(entrances, block, known, lasting) {
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

fn assume_known(
    symbolic: &mut Symbolic,
    memory: &Memory,
    known: Known,
    lasting: &[Condition],
) -> Run<()> {
    for (at, condition) in lasting.iter().enumerate() {
        if known & (1 << at) != 0 {
            symbolic.assume(memory, Env::of(0), condition)?;
        }
    }
    Ok(())
}

/// The states in which a block may start while an instance waits at a prefix.
struct Entrances<'c> {
    context: &'c Context<'c>,
    prefix: usize,
    /// For each operation whose blocks were asked about; `None` if there are too many.
    of: Vec<Option<Option<Vec<Entrance<'c>>>>>,
}

/// A case of such a state.
struct Entrance<'c> {
    symbolic: Symbolic<'c>,
    memory: Memory,
}

impl<'c> Entrances<'c> {
    fn new(context: &'c Context<'c>, prefix: usize) -> Entrances<'c> {
        let of = context.model.operations.iter().map(|_| None).collect();
        Entrances { context, prefix, of }
    }

    fn of(&mut self, operation: usize) -> Option<&[Entrance<'c>]> {
        let (context, prefix) = (self.context, self.prefix);
        let found = self.of[operation].get_or_insert_with(|| {
            let live: [Stage<'_, 'c>; 1] =
                [Box::new(move |symbolic, memory| symbolic.assume_live(memory, 0, prefix))];
            let mut found = Vec::new();
            let starts = [prefix, context.prefixes.empty[operation]];
            let outcome = explore_stages(context, &starts, &live, &mut |symbolic, _, memory| {
                found.push(Entrance { symbolic: symbolic.clone(), memory: memory.clone() });
                Ok(true)
            });
            outcome.is_ok().then_some(found)
        });
        found.as_deref()
    }

    /// Visits every case in which a block is executed when `known` is true: the state before and
    /// the state after.
    fn explore(
        &mut self,
        block: Block,
        known: Known,
        lasting: &[Condition],
        visit: &mut dyn FnMut(&mut Symbolic<'c>, &Memory, &Memory) -> Run<bool>,
    ) -> Result<(), TooManyCases> {
        let (context, prefix) = (self.context, self.prefix);
        let operation = context.prefixes.all[block.prefix].operation.0;
        let entrances = self.of(operation).ok_or(TooManyCases)?;
        let mut stages: Vec<Stage<'_, 'c>> =
            vec![Box::new(move |symbolic, memory| assume_known(symbolic, memory, known, lasting))];
        stages.extend(block_stages(context, 1, block));
        stages.push(Box::new(move |symbolic, memory| {
            symbolic.assume_facts(memory, 0, prefix)?;
            symbolic.assume_live(memory, 0, prefix)
        }));
        for Entrance { symbolic, memory: begin } in entrances {
            let mut open = true;
            explore_from(symbolic, begin, &stages, &mut |symbolic, there| {
                open = visit(symbolic, begin, there)?;
                Ok(open)
            })?;
            if !open {
                break;
            }
        }
        Ok(())
    }
}

/// What is known after a block that starts when `known` is true; `None` if it cannot be executed
/// then.
fn follow(
    entrances: &mut Entrances,
    block: Block,
    known: Known,
    lasting: &[Condition],
) -> Option<Known> {
    if known == 0 {
        return Some(0);
    }
    let mut then: Option<Known> = None;
    let outcome = entrances.explore(block, known, lasting, &mut |symbolic, _, there| {
        let now = knowledge(symbolic, there, lasting)? | known;
        then = Some(then.map_or(now, |then| then & now));
        // What was known lasts: nothing less can come.
        Ok(then != Some(known))
    });
    if outcome.is_err() { Some(known) } else { then }
}

/// Whether this case of a later state may be one of the cases.
fn matches(symbolic: &Symbolic, memory: &Memory, cases: &Option<Vec<Alias>>) -> bool {
    let Some(cases) = cases else { return true };
    cases.iter().any(|case| {
        let mut solver = symbolic.solver.clone();
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

/// Line 20: whether `step`, the next one of an instance that waits, can be moved before the member.
fn passes(
    entrances: &mut Entrances,
    member: &Member,
    step: usize,
    lasting: &[Condition],
) -> Passes {
    let context = entrances.context;
    let Member { block, before, then, cases, .. } = member;
    let other = &context.prefixes.all[block.prefix];
    if !context.step_footprint(step).conflicts(&other.footprint) {
        return Passes::Yes;
    }
    let mut passes = true;
    let last = Block { prefix: step, complete: !context.prefixes.is_proper(step) };
    let outcome = entrances.explore(*block, *before, lasting, &mut |symbolic, begin, there| {
        // The aliases are compared before the step, which may assign locals.
        if !matches(symbolic, there, cases) {
            return Ok(true);
        }
        // The step has passed everything that came later, so it is executed in the state that the
        // member left.
        assume_known(symbolic, there, *then, lasting)?;
        let mut there = there.clone();
        symbolic.execute(&mut there, 0, step, Mode::Assume)?;
        assume_after(symbolic, &there, 0, last, true)?;
        assume_after(symbolic, &there, 1, *block, true)?;
        symbolic.assume_invariants(&there)?;
        let matters = [last.matters(), block.matters()];
        let same = same_in_the_end(symbolic, begin, &there, matters, &mut |symbolic, back| {
            symbolic.execute(back, 0, step, Mode::Require)?;
            symbolic.execute_all(back, 1, block.prefix, Mode::Require)
        })?;
        passes &= same;
        Ok(passes)
    });
    match (passes, outcome.is_ok()) {
        (_, false) => Passes::Unknown,
        (true, true) => Passes::Yes,
        (false, true) => Passes::No,
    }
}
