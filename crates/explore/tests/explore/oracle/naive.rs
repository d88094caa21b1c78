//! All interleavings of a program by a simple interpreter: no reduction, no clocks, no code shared
//! with what it judges.

use super::program::{ATOMICS, CELLS, Instruction, LOCKS, Outcome, Outcomes, Program};
use std::collections::HashSet;

/// Where an execution is.
#[derive(Clone)]
struct World {
    counters: Vec<usize>,
    logs: Vec<Vec<u64>>,
    /// Atomics, locks, tokens.
    memory: Vec<u64>,
    /// The event that wrote each of them.
    writers: Vec<Option<usize>>,
    /// Which thread did what.
    events: Vec<Event>,
    /// The last event of each thread.
    last_events: Vec<Option<usize>>,
    /// Whether each thread took its last step, which says that it ends.
    ended: Vec<bool>,
    started: Vec<bool>,
    /// A thread that was started and has done nothing yet.
    fresh: Option<usize>,
    last: Option<usize>,
    preemptions: usize,
    /// The turn of each thread in a loop that reads two words.
    turns: Vec<Turn>,
}

/// A turn of a loop that reads two words.
#[derive(Clone, Default)]
struct Turn {
    /// Whether the first word was read, and not yet the second.
    is_half: bool,
    /// What had written both words when the turn began: a turn like the last one changes nothing.
    began: Option<[Option<usize>; 2]>,
}

#[derive(Clone)]
struct Event {
    thread: usize,
    /// The events that happen before this one and are nearest.
    after: Vec<usize>,
    /// The cell that was accessed, and whether it was written.
    cell: Option<(usize, bool)>,
}

/// How all executions with at most so many preemptions end.
pub fn outcomes(program: &Program, preemptions: Option<usize>) -> Outcomes {
    let threads = program.0.len();
    let words = ATOMICS + LOCKS + threads;
    let world = World {
        counters: vec![0; threads],
        logs: vec![Vec::new(); threads],
        memory: vec![0; words],
        writers: vec![None; words],
        events: Vec::new(),
        last_events: vec![None; threads],
        ended: vec![false; threads],
        started: (0..threads).map(|thread| !program.is_spawned(thread)).collect(),
        fresh: None,
        last: None,
        preemptions: 0,
        turns: vec![Turn::default(); threads],
    };
    let mut outcomes = Outcomes::new();
    let forgets = preemptions.is_none() && program.is_forgetful();
    let seen = forgets.then(HashSet::new);
    let mut search = Search { program, most: preemptions, seen, outcomes: &mut outcomes };
    search.start(world, 0);
    outcomes
}

struct Search<'a> {
    program: &'a Program,
    most: Option<usize>,
    /// Where executions were, if how they came there does not matter.
    seen: Option<HashSet<Position>>,
    outcomes: &'a mut Outcomes,
}

/// Counters, logs, memory, and which threads have ended.
type Position = (Vec<usize>, Vec<Vec<u64>>, Vec<u64>, Vec<bool>);

impl Search<'_> {
    /// What threads do before their first access.
    fn start(&mut self, world: World, thread: usize) {
        if thread == self.program.0.len() {
            return self.go_on(world);
        }
        if !world.started[thread] {
            return self.start(world, thread + 1);
        }
        self.locals(world, thread, &mut |search, world| search.start(world, thread + 1));
    }

    /// What a thread does up to its next access.
    fn locals(
        &mut self,
        mut world: World,
        thread: usize,
        then: &mut dyn FnMut(&mut Search<'_>, World),
    ) {
        while let Some(&instruction) = self.program.0[thread].get(world.counters[thread]) {
            if instruction.is_access() {
                break;
            }
            world.counters[thread] += 1;
            let wrong = match instruction {
                Instruction::CellRead(cell) => {
                    world.access_cell(thread, cell, false).then_some(Outcome::Race)
                }
                Instruction::CellWrite(cell) => {
                    world.access_cell(thread, cell, true).then_some(Outcome::Race)
                }
                Instruction::PanicIf(value) => {
                    let panics = world.logs[thread].last() == Some(&value);
                    panics.then_some(Outcome::Panicked(thread))
                }
                Instruction::Choose(alternatives) => {
                    for taken in 0..alternatives {
                        let mut world = world.clone();
                        world.logs[thread].push(taken as u64);
                        self.locals(world, thread, then);
                    }
                    return;
                }
                Instruction::Spawn => {
                    let spawned = self.program.0.len() - 1;
                    world.last_events[spawned] = Some(world.event(thread, Vec::new(), None));
                    world.started[spawned] = true;
                    world.fresh = Some(spawned);
                    None
                }
                _ => None,
            };
            if let Some(wrong) = wrong {
                self.outcomes.insert(wrong);
                return;
            }
        }
        then(self, world);
    }

    fn go_on(&mut self, mut world: World) {
        if let Some(thread) = world.fresh.take() {
            return self.locals(world, thread, &mut |search, world| search.go_on(world));
        }
        if let Some(seen) = &mut self.seen
            && !seen.insert(world.position())
        {
            return;
        }
        let threads = self.program.0.len();
        let enabled: Vec<usize> =
            (0..threads).filter(|&t| world.is_enabled(self.program, t)).collect();
        if enabled.is_empty() {
            let all = world.ended == world.started;
            let make = if all { Outcome::Done } else { Outcome::Deadlock };
            self.outcomes.insert(make(world.logs, world.memory));
            return;
        }
        for &thread in &enabled {
            let mut world = world.clone();
            if world.last.is_some_and(|last| last != thread && enabled.contains(&last)) {
                world.preemptions += 1;
            }
            if self.most.is_some_and(|most| world.preemptions > most) {
                continue;
            }
            world.last = Some(thread);
            if world.counters[thread] == self.program.0[thread].len() {
                world.ended[thread] = true;
                self.go_on(world);
            } else {
                world.access(self.program, thread);
                self.locals(world, thread, &mut |search, world| search.go_on(world));
            }
        }
    }
}

impl World {
    fn position(&self) -> Position {
        (self.counters.clone(), self.logs.clone(), self.memory.clone(), self.ended.clone())
    }

    fn next(&self, program: &Program, thread: usize) -> Option<Instruction> {
        program.0[thread].get(self.counters[thread]).copied()
    }

    fn is_enabled(&self, program: &Program, thread: usize) -> bool {
        match self.next(program, thread) {
            _ if !self.started[thread] => false,
            None => !self.ended[thread],
            Some(Instruction::Lock(lock)) => self.memory[ATOMICS + lock] == 0,
            Some(Instruction::Park) => self.memory[ATOMICS + LOCKS + thread] == 1,
            Some(Instruction::SpinUntil(atomic, value)) => self.memory[atomic] == value,
            Some(Instruction::SpinLock(atomic)) => self.memory[atomic] == 0,
            Some(Instruction::SpinBoth(both)) => {
                let (atomic, value) = both[0];
                let turn = &self.turns[thread];
                let began = both.map(|(atomic, _)| self.writers[atomic]);
                turn.is_half || self.memory[atomic] == value && turn.began != Some(began)
            }
            Some(_) => true,
        }
    }

    fn access(&mut self, program: &Program, thread: usize) {
        let Some(instruction) = self.next(program, thread) else { return };
        self.counters[thread] += 1;
        match instruction {
            Instruction::Load(atomic) => self.word(thread, atomic, true, |_| None),
            Instruction::Store(atomic, value) => {
                self.word(thread, atomic, false, |_| Some(value));
            }
            Instruction::Cas(atomic, old, new) => {
                self.word(thread, atomic, true, |value| (value == old).then_some(new))
            }
            Instruction::Add(atomic, more) => {
                self.word(thread, atomic, true, |value| Some(value + more))
            }
            _ => self.access_unlogged(thread, instruction),
        }
    }

    fn access_unlogged(&mut self, thread: usize, instruction: Instruction) {
        let logged = self.logs[thread].len();
        match instruction {
            Instruction::Lock(lock) => self.word(thread, ATOMICS + lock, true, |_| Some(1)),
            Instruction::Unlock(lock) => self.word(thread, ATOMICS + lock, false, |_| Some(0)),
            Instruction::Park => self.word(thread, ATOMICS + LOCKS + thread, true, |_| Some(0)),
            Instruction::Unpark(other) => {
                self.word(thread, ATOMICS + LOCKS + other, false, |_| Some(1));
            }
            Instruction::SpinUntil(atomic, _) => self.word(thread, atomic, true, |_| None),
            Instruction::SpinLock(atomic) => self.word(thread, atomic, true, |_| Some(1)),
            Instruction::SpinBoth(both) if self.turns[thread].is_half => {
                let (atomic, value) = both[1];
                self.word(thread, atomic, true, |_| None);
                self.turns[thread].is_half = false;
                if self.memory[atomic] == value {
                    self.turns[thread].began = None;
                } else {
                    self.counters[thread] -= 1;
                }
            }
            Instruction::SpinBoth(both) => {
                let began = both.map(|(atomic, _)| self.writers[atomic]);
                self.turns[thread] = Turn { is_half: true, began: Some(began) };
                self.word(thread, both[0].0, true, |_| None);
                self.counters[thread] -= 1;
            }
            other => unreachable!("{other:?} is no access"),
        }
        self.logs[thread].truncate(logged);
    }

    /// Reads (which is logged), writes, or both.
    fn word(
        &mut self,
        thread: usize,
        word: usize,
        reads: bool,
        change: impl Fn(u64) -> Option<u64>,
    ) {
        let value = self.memory[word];
        let mut after = Vec::new();
        if reads {
            self.logs[thread].push(value);
            after.extend(self.writers[word]);
        }
        let event = self.event(thread, after, None);
        if let Some(new) = change(value) {
            self.memory[word] = new;
            self.writers[word] = Some(event);
        }
    }

    fn event(
        &mut self,
        thread: usize,
        mut after: Vec<usize>,
        cell: Option<(usize, bool)>,
    ) -> usize {
        after.extend(self.last_events[thread]);
        self.events.push(Event { thread, after, cell });
        self.last_events[thread] = Some(self.events.len() - 1);
        self.events.len() - 1
    }

    /// Accesses a cell: does that race?
    fn access_cell(&mut self, thread: usize, cell: usize, writes: bool) -> bool {
        assert!(cell < CELLS);
        let event = self.event(thread, Vec::new(), Some((cell, writes)));
        let mut before = vec![false; self.events.len()];
        let mut todo = vec![event];
        while let Some(event) = todo.pop() {
            if !std::mem::replace(&mut before[event], true) {
                todo.extend(&self.events[event].after);
            }
        }
        self.events.iter().enumerate().any(|(number, other)| {
            let conflict = other.cell.is_some_and(|(its, wrote)| its == cell && (wrote || writes));
            conflict && other.thread != thread && !before[number]
        })
    }
}
