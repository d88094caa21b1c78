//! How blocks relate: whether one may follow another, and in which cases the order matters
//! (Definitions 3 and 4 for prefixes).
//!
//! Blocks of one operation share their first steps. So all that may follow a block are asked about
//! together, along the tree of the operation's prefixes: a step is executed once in each case,
//! however many blocks it is a part of.

use linchpin_subop::model::Condition;

use crate::context::Context;
use crate::footprint::Kind;
use crate::search::{Stage, explore_from, explore_stages};
use crate::solver::{Value, flag};
use crate::symbolic::{Env, Matters, Memory, Mode, Run, Stop, Symbolic};

/// A prefix executed without interruption, by an operation that goes on later or is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Block {
    pub prefix: usize,
    pub complete: bool,
}

impl Block {
    pub fn matters(self) -> Matters {
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

    fn add(&mut self, case: Alias, known: Known) {
        let mut found = self.irreversible.iter().zip(&self.known);
        if !found.any(|(other, group)| *other == case && *group == known) {
            self.irreversible.push(case);
            self.known.push(known);
        }
    }

    fn give_up(&mut self) {
        self.unknown = true;
        self.orderable = true;
    }

    /// Nothing is known.
    pub fn not_known() -> Relation {
        Relation { orderable: true, unknown: true, ..Relation::default() }
    }
}

/// A set of lasting conditions of a prefix, by their numbers.
pub type Known = u64;

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

/// Which of the lasting conditions of the first instance are known to be true.
pub fn knowledge(symbolic: &mut Symbolic, memory: &Memory, lasting: &[Condition]) -> Run<Known> {
    let mut known = 0;
    for (at, condition) in lasting.iter().enumerate() {
        if symbolic.require(memory, Env::of(0), condition)? {
            known |= 1 << at;
        }
    }
    Ok(known)
}

/// Whether the condition compares by order. Whether it is true may be open in a case, for cases
/// tell apart what is equal.
fn is_order(condition: &Condition) -> bool {
    use linchpin_subop::model::Relation::{Equal, NotEqual};
    matches!(condition, Condition::Atom(atom) if !matches!(atom.relation, Equal | NotEqual))
}

/// Whether the blocks, executed in the other order from `begin`, lead to the same state.
fn is_reversed(
    symbolic: &mut Symbolic,
    begin: &Memory,
    there: &Memory,
    first: Block,
    second: Block,
) -> Run<bool> {
    let matters = [first.matters(), second.matters()];
    same_in_the_end(symbolic, begin, there, matters, &mut |symbolic, back| {
        symbolic.execute_all(back, 1, second.prefix, Mode::Require)?;
        symbolic.execute_all(back, 0, first.prefix, Mode::Require)
    })
}

/// Whether executing `other` from `begin` is possible and leads to the same state.
pub fn same_in_the_end(
    symbolic: &mut Symbolic,
    begin: &Memory,
    there: &Memory,
    matters: [Matters; 2],
    other: &mut dyn FnMut(&mut Symbolic, &mut Memory) -> Run<()>,
) -> Run<bool> {
    let mut once = |symbolic: &mut Symbolic| {
        let mut back = begin.clone();
        match other(symbolic, &mut back) {
            Ok(()) => symbolic.same_state(there, &back, matters),
            Err(Stop::Blocked) => Ok(false),
            Err(Stop::Prune) => Err(Stop::Prune),
        }
    };
    if once(symbolic)? {
        return Ok(true);
    }
    // An invariant may keep objects apart that were only written to, or brought together by what
    // was decided since.
    if !symbolic.context.facts.about_pairs() {
        return Ok(false);
    }
    for cell in &there.writes {
        // A guess may be an object of this run, of which nothing held before.
        if let Kind::Field(of, _) = cell.kind
            && symbolic.solver.has(cell.base, flag::OLD)
        {
            symbolic.instantiate(of, cell.base)?;
        }
    }
    symbolic.pair_up()?;
    once(symbolic)
}

/// After a step: what holds of the instance there, if it goes on.
pub fn assume_after(
    symbolic: &mut Symbolic,
    memory: &Memory,
    who: usize,
    block: Block,
    last: bool,
) -> Run<()> {
    let prefix = memory.instances[who].prefix;
    symbolic.assume_facts(memory, who, prefix)?;
    if !(last && block.complete) {
        symbolic.assume_live(memory, who, prefix)?;
    }
    Ok(())
}

/// The steps of a block, each with what holds after it.
pub fn block_stages<'c>(context: &'c Context<'c>, who: usize, block: Block) -> Vec<Stage<'c, 'c>> {
    let path = context.path(block.prefix).into_iter();
    path.map(|prefix| -> Stage<'c, 'c> {
        Box::new(move |symbolic, memory| {
            symbolic.execute(memory, who, prefix, Mode::Assume)?;
            assume_after(symbolic, memory, who, block, prefix == block.prefix)
        })
    })
    .collect()
}

/// How the wanted blocks, all of one operation, may follow `first`, both from their starts.
pub fn relate<'c>(
    context: &'c Context<'c>,
    first: Block,
    wanted: Vec<Block>,
    lasting: &[Condition],
) -> Vec<Relation> {
    let Some(Block { prefix, .. }) = wanted.first() else { return Vec::new() };
    let start = |prefix: usize| context.prefixes.empty[context.prefixes.all[prefix].operation.0];
    let starts = [start(first.prefix), start(*prefix)];
    let found = vec![Relation::default(); wanted.len()];
    let mut followers = Followers { context, first, wanted, found, lasting };
    let stages = block_stages(context, 0, first);
    let outcome = explore_stages(context, &starts, &stages, &mut |symbolic, begin, there| {
        followers.descend(symbolic, begin, there, starts[1]);
        Ok(followers.is_open(starts[1]))
    });
    if outcome.is_err() {
        followers.give_up(starts[1]);
    }
    followers.found
}

/// The blocks that may follow another, and what was found of each.
struct Followers<'l, 'c> {
    context: &'c Context<'c>,
    first: Block,
    wanted: Vec<Block>,
    found: Vec<Relation>,
    lasting: &'l [Condition],
}

impl<'c> Followers<'_, 'c> {
    /// Executes one more step of the second instance, in every way, and the rest from there.
    fn descend(&mut self, symbolic: &Symbolic<'c>, begin: &Memory, there: &Memory, at: usize) {
        for child in self.context.prefixes.all[at].next.iter().copied() {
            if !self.is_open(child) {
                continue;
            }
            let step: [Stage<'_, 'c>; 1] = [Box::new(move |symbolic, memory| {
                symbolic.execute(memory, 1, child, Mode::Assume)?;
                symbolic.assume_facts(memory, 1, child)
            })];
            let outcome = explore_from(symbolic, there, &step, &mut |symbolic, there| {
                self.compare(symbolic, begin, there, Block { prefix: child, complete: true });
                self.go_on(symbolic, begin, there, child);
                Ok(self.is_open(child))
            });
            if outcome.is_err() {
                self.give_up(child);
            }
        }
    }

    /// The second instance goes on after a prefix: its live facts hold.
    fn go_on(&mut self, symbolic: &Symbolic<'c>, begin: &Memory, there: &Memory, at: usize) {
        let goes_on = |block: &Block| !(block.prefix == at && block.complete);
        if !self.open(at).any(|at| goes_on(&self.wanted[at])) {
            return;
        }
        let live: [Stage<'_, 'c>; 1] =
            [Box::new(move |symbolic, memory| symbolic.assume_live(memory, 1, at))];
        let outcome = explore_from(symbolic, there, &live, &mut |symbolic, there| {
            self.compare(symbolic, begin, there, Block { prefix: at, complete: false });
            self.descend(symbolic, begin, there, at);
            Ok(self.open(at).any(|at| goes_on(&self.wanted[at])))
        });
        if outcome.is_err() {
            self.give_up(at);
        }
    }

    /// Compares the two orders in one case.
    fn compare(&mut self, symbolic: &Symbolic<'c>, begin: &Memory, there: &Memory, second: Block) {
        let Some(at) = self.wanted.iter().position(|wanted| *wanted == second) else { return };
        if self.is_answered(at) {
            return;
        }
        let (first, lasting, order_matters) =
            (self.first, self.lasting, self.order_may_matter(second));
        let relation = &mut self.found[at];
        let end: [Stage<'_, 'c>; 1] = [Box::new(move |symbolic, memory| {
            assume_after(symbolic, memory, 0, first, true)?;
            symbolic.assume_invariants(memory)
        })];
        let outcome = explore_from(symbolic, there, &end, &mut |symbolic, there| {
            relation.orderable = true;
            if !order_matters {
                return Ok(false);
            }
            if is_reversed(symbolic, begin, there, first, second)? {
                return Ok(true);
            }
            let orders: Vec<_> = lasting.iter().filter(|condition| is_order(condition)).collect();
            for condition in &orders {
                symbolic.decide(there, Env::of(0), condition)?;
            }
            if !orders.is_empty() && is_reversed(symbolic, begin, there, first, second)? {
                return Ok(true);
            }
            let known = knowledge(symbolic, there, lasting)?;
            relation.add(alias(symbolic, there), known);
            Ok(true)
        });
        if outcome.is_err() {
            relation.give_up();
        }
    }

    /// Whether more than that the blocks can follow each other is of interest.
    fn order_may_matter(&self, second: Block) -> bool {
        let footprint = |block: Block| &self.context.prefixes.all[block.prefix].footprint;
        !self.first.complete && footprint(self.first).conflicts(footprint(second))
    }

    fn is_answered(&self, at: usize) -> bool {
        let Relation { orderable, unknown, .. } = self.found[at];
        unknown || (orderable && !self.order_may_matter(self.wanted[at]))
    }

    /// The wanted blocks that start with a prefix and are not answered.
    fn open(&self, prefix: usize) -> impl Iterator<Item = usize> {
        let starts_with = move |at: &usize| {
            let (all, shorter) = (&self.context.prefixes.all, &self.context.prefixes.all[prefix]);
            all[self.wanted[*at].prefix].steps.starts_with(&shorter.steps)
        };
        (0..self.wanted.len()).filter(starts_with).filter(|at| !self.is_answered(*at))
    }

    fn is_open(&self, prefix: usize) -> bool {
        self.open(prefix).next().is_some()
    }

    /// Not all cases of what starts with a prefix could be looked at.
    fn give_up(&mut self, prefix: usize) {
        for at in self.open(prefix).collect::<Vec<_>>() {
            self.found[at].give_up();
        }
    }
}

/// What is known about the locals of the two instances.
pub fn alias(symbolic: &Symbolic, memory: &Memory) -> Alias {
    let mut pairs = Vec::new();
    for (one, left, right) in local_pairs(symbolic, memory) {
        if let Some(equal) = symbolic.solver.same(left, right) {
            pairs.push((one.0, one.1, equal));
        }
    }
    Alias { pairs }
}

/// Pairs of set locals of the same type, of the first instance and of the second.
fn local_pairs(symbolic: &Symbolic, memory: &Memory) -> Vec<((usize, usize), Value, Value)> {
    let operation = |who: usize| {
        let prefix = memory.instances[who].prefix;
        &symbolic.context.model.operations[symbolic.context.prefixes.all[prefix].operation.0]
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
