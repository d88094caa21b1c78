//! All executions of a program: every read with every source, every order of writes, then the axioms.

use super::axioms::{Candidate, Event, Kind};
use super::program::{Instruction, Operand, Program};
use super::relation::Relation;
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

/// What the instructions of each thread answered; nothing for those that did not end. Then what the
/// locations hold in the end, if all threads have ended.
pub type Outcome = Vec<Vec<Option<u64>>>;

/// What a program does.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Behaviour {
    /// In how many executions each outcome occurs.
    pub outcomes: BTreeMap<Outcome, usize>,
    /// Whether there is a race.
    pub races: bool,
}

/// What one instruction does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Effect {
    /// Left out, or behind an instruction that waits.
    Skipped {
        waiting: bool,
    },
    Waits,
    Done {
        read: Option<u64>,
        wrote: Option<u64>,
    },
}

/// An instruction, by thread and place.
type Id = (usize, usize);

/// How many candidates of reads-from there are.
pub fn cost(program: &Program) -> usize {
    reads(program).iter().map(|read| sources(program, *read).len()).product()
}

/// What the program does by the axioms.
pub fn behaviour(program: &Program) -> Behaviour {
    let reads = reads(program);
    let choices: Vec<Vec<Option<Id>>> = reads.iter().map(|read| sources(program, *read)).collect();
    let mut behaviour = Behaviour::default();
    let mut counter = vec![0; reads.len()];
    loop {
        let from: BTreeMap<Id, Option<Id>> =
            reads.iter().zip(&counter).zip(&choices).map(|((r, c), s)| (*r, s[*c])).collect();
        if let Some(effects) = evaluate(program, &from) {
            orders(program, &from, &effects, &mut behaviour);
        }
        let Some(place) = (0..reads.len()).find(|i| counter[*i] + 1 < choices[*i].len()) else {
            return behaviour;
        };
        counter[place] += 1;
        counter[..place].fill(0);
    }
}

fn ids(program: &Program) -> impl Iterator<Item = (Id, Instruction)> {
    program.threads.iter().enumerate().flat_map(|(thread, steps)| {
        steps.iter().enumerate().map(move |(index, step)| ((thread, index), step.instruction))
    })
}

fn reads(program: &Program) -> Vec<Id> {
    ids(program).filter(|(_, instruction)| instruction.reads()).map(|(id, _)| id).collect()
}

/// What an instruction may read: the initial value, or another one.
fn sources(program: &Program, read: Id) -> Vec<Option<Id>> {
    let location = program.threads[read.0][read.1].instruction.location();
    let writes = ids(program).filter(|(id, instruction)| {
        instruction.writes() && *id != read && instruction.location() == location
    });
    std::iter::once(None).chain(writes.map(|(id, _)| Some(id))).collect()
}

/// What all instructions do, if reads read this; nothing if that is circular or impossible.
fn evaluate(program: &Program, from: &BTreeMap<Id, Option<Id>>) -> Option<BTreeMap<Id, Effect>> {
    let mut effects: BTreeMap<Id, Effect> = BTreeMap::new();
    let all: Vec<Id> = ids(program).map(|(id, _)| id).collect();
    while effects.len() < all.len() {
        let before = effects.len();
        for id in &all {
            if !effects.contains_key(id)
                && let Some(effect) = effect(program, from, &effects, *id)?
            {
                effects.insert(*id, effect);
            }
        }
        if effects.len() == before {
            return None;
        }
    }
    Some(effects)
}

/// `None` if it is impossible, `Some(None)` if it is not known yet.
fn effect(
    program: &Program,
    from: &BTreeMap<Id, Option<Id>>,
    effects: &BTreeMap<Id, Effect>,
    id: Id,
) -> Option<Option<Effect>> {
    let step = program.threads[id.0][id.1];
    let answer = |register: usize| match effects[&(id.0, register)] {
        Effect::Done { read, .. } => read.unwrap_or(0),
        _ => 0,
    };
    if id.1 > 0 {
        match effects.get(&(id.0, id.1 - 1)) {
            None => return Some(None),
            Some(Effect::Waits | Effect::Skipped { waiting: true }) => {
                return skipped(from, id, true);
            }
            Some(_) => {}
        }
    }
    if let Some(guard) = step.guard
        && (answer(guard.register) == guard.value) != guard.equal
    {
        return skipped(from, id, false);
    }
    let operand = |operand| match operand {
        Operand::Constant(value) => value,
        Operand::Register(register) => answer(register),
    };
    let read = match from.get(&id) {
        None | Some(None) => 0,
        Some(Some(source)) => match effects.get(source) {
            None => return Some(None),
            Some(Effect::Done { wrote: Some(value), .. }) => *value,
            Some(_) => return None,
        },
    };
    let done = |wrote| Effect::Done { read: Some(read), wrote };
    Some(Some(match step.instruction {
        Instruction::Load { .. } => done(None),
        Instruction::Store { value, .. } => {
            Effect::Done { read: None, wrote: Some(operand(value)) }
        }
        Instruction::Add { value, .. } => done(Some(read + value)),
        Instruction::Swap { value, .. } => done(Some(operand(value))),
        Instruction::Cas { expected, new, .. } => done((read == expected).then_some(new)),
        Instruction::Await { expected, .. } if read != expected => Effect::Waits,
        Instruction::Await { new, .. } => done((new != read).then_some(new)),
        Instruction::Fence(_) | Instruction::Cell { .. } => {
            Effect::Done { read: None, wrote: None }
        }
    }))
}

/// What is left out reads nothing: of all sources only the first counts.
fn skipped(from: &BTreeMap<Id, Option<Id>>, id: Id, waiting: bool) -> Option<Option<Effect>> {
    match from.get(&id) {
        Some(Some(_)) => None,
        _ => Some(Some(Effect::Skipped { waiting })),
    }
}

/// Tries all modification orders.
fn orders(
    program: &Program,
    from: &BTreeMap<Id, Option<Id>>,
    effects: &BTreeMap<Id, Effect>,
    behaviour: &mut Behaviour,
) {
    let built = Built::new(program, effects);
    let writes = |location| {
        let kind = Kind::Write(location);
        let events = built.events.iter().enumerate().skip(program.locations);
        events.filter(|(_, event)| event.kind == kind).map(|(index, _)| index).collect::<Vec<_>>()
    };
    let mut all: Vec<Vec<Vec<usize>>> = vec![Vec::new()];
    for location in 0..program.locations {
        let orders = permutations(&writes(location));
        all = all
            .iter()
            .flat_map(|before| {
                orders.iter().map(|order| {
                    let mut all = before.clone();
                    all.push(order.clone());
                    all
                })
            })
            .collect();
    }
    for orders in all {
        let candidate = built.candidate(program, from, &orders);
        if !candidate.is_consistent() {
            continue;
        }
        behaviour.races |= candidate.races();
        if is_fair(program, from, effects, &built, &orders) {
            let outcome = outcome(program, effects, &built, &orders);
            *behaviour.outcomes.entry(outcome).or_insert(0) += 1;
        }
    }
}

/// One who waits has read the newest.
fn is_fair(
    program: &Program,
    from: &BTreeMap<Id, Option<Id>>,
    effects: &BTreeMap<Id, Effect>,
    built: &Built,
    orders: &[Vec<usize>],
) -> bool {
    ids(program).filter(|(id, _)| effects[id] == Effect::Waits).all(|(id, instruction)| {
        let newest = orders[instruction.location().unwrap()].last();
        from[&id].map(|source| built.writes[&source]) == newest.copied()
    })
}

fn outcome(
    program: &Program,
    effects: &BTreeMap<Id, Effect>,
    built: &Built,
    orders: &[Vec<usize>],
) -> Outcome {
    let answer = |effect| match effect {
        Effect::Done { read, .. } => Some(read.unwrap_or(0)),
        Effect::Skipped { waiting: false } => Some(0),
        _ => None,
    };
    let threads = program.threads.iter().enumerate();
    let mut outcome: Outcome = threads
        .map(|(thread, steps)| (0..steps.len()).map(|i| answer(effects[&(thread, i)])).collect())
        .collect();
    let is_over = outcome.iter().flatten().all(Option::is_some);
    let newest = orders.iter().map(|order| {
        let Some(event) = order.last() else { return Some(0) };
        let (id, _) = built.writes.iter().find(|(_, write)| *write == event)?;
        match effects[id] {
            Effect::Done { wrote, .. } => wrote,
            _ => None,
        }
    });
    outcome.push(newest.map(|value| value.filter(|_| is_over)).collect());
    outcome
}

fn permutations(items: &[usize]) -> Vec<Vec<usize>> {
    if items.is_empty() {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for (index, first) in items.iter().enumerate() {
        let mut rest = items.to_vec();
        rest.remove(index);
        for mut order in permutations(&rest) {
            order.insert(0, *first);
            all.push(order);
        }
    }
    all
}

/// Events of a candidate: initial writes first.
struct Built {
    events: Vec<Event>,
    reads: BTreeMap<Id, usize>,
    writes: BTreeMap<Id, usize>,
}

impl Built {
    fn new(program: &Program, effects: &BTreeMap<Id, Effect>) -> Built {
        let initial = |location| Event {
            thread: None,
            kind: Kind::Write(location),
            order: Ordering::Relaxed,
        };
        let mut built = Built {
            events: (0..program.locations).map(initial).collect(),
            reads: BTreeMap::new(),
            writes: BTreeMap::new(),
        };
        for (id, instruction) in ids(program) {
            let (read, wrote) = match effects[&id] {
                Effect::Skipped { .. } => continue,
                Effect::Waits => (true, false),
                Effect::Done { read, wrote } => (read.is_some(), wrote.is_some()),
            };
            let order = match instruction {
                Instruction::Load { order, .. }
                | Instruction::Store { order, .. }
                | Instruction::Add { order, .. }
                | Instruction::Swap { order, .. }
                | Instruction::Await { order, .. }
                | Instruction::Fence(order) => order,
                Instruction::Cas { success, failure, .. } => {
                    if wrote {
                        success
                    } else {
                        failure
                    }
                }
                Instruction::Cell { .. } => Ordering::Relaxed,
            };
            let mut add = |kind| {
                built.events.push(Event { thread: Some(id.0), kind, order });
                built.events.len() - 1
            };
            match instruction {
                Instruction::Fence(_) => {
                    add(Kind::Fence);
                }
                Instruction::Cell { cell, writes } => {
                    add(Kind::Cell { cell, writes });
                }
                _ => {
                    let location = instruction.location().unwrap();
                    if read {
                        let event = add(Kind::Read(location));
                        built.reads.insert(id, event);
                    }
                    if wrote {
                        let kind = Kind::Write(location);
                        built.events.push(Event { thread: Some(id.0), kind, order });
                        built.writes.insert(id, built.events.len() - 1);
                    }
                }
            }
        }
        built
    }

    fn candidate(
        &self,
        program: &Program,
        from: &BTreeMap<Id, Option<Id>>,
        orders: &[Vec<usize>],
    ) -> Candidate {
        let n = self.events.len();
        let mut reads_from = Relation::new(n);
        let mut updates = Relation::new(n);
        let mut modification = Relation::new(n);
        for (id, read) in &self.reads {
            let location = program.threads[id.0][id.1].instruction.location().unwrap();
            let source = from[id].map_or(location, |source| self.writes[&source]);
            reads_from.add(source, *read);
            if let Some(write) = self.writes.get(id) {
                updates.add(*read, *write);
            }
        }
        for (location, order) in orders.iter().enumerate() {
            let all: Vec<usize> = std::iter::once(location).chain(order.iter().copied()).collect();
            for (place, first) in all.iter().enumerate() {
                for second in &all[place + 1..] {
                    modification.add(*first, *second);
                }
            }
        }
        Candidate { events: self.events.clone(), updates, reads_from, modification }
    }
}
