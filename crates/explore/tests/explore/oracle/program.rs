//! Small programs as data, and how to make them at random.

use fastrand::Rng;
use std::collections::BTreeSet;

/// What a thread does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Instruction {
    /// Reads an atomic; what was read is logged.
    Load(usize),
    Store(usize, u64),
    /// Compares and exchanges; what was read is logged.
    Cas(usize, u64, u64),
    /// Adds; what was read is logged.
    Add(usize, u64),
    /// Waits until a lock is free, and takes it.
    Lock(usize),
    Unlock(usize),
    /// Waits for the token of this thread, and takes it.
    Park,
    /// Gives a thread its token.
    Unpark(usize),
    /// Reads an atomic in a loop with pauses until it holds this.
    SpinUntil(usize, u64),
    /// Reads two atomics, the second if the first holds what it should, in a loop with pauses until
    /// both do.
    SpinBoth([(usize, u64); 2]),
    /// Takes an atomic from 0 to 1 in a loop with pauses.
    SpinLock(usize),
    CellRead(usize),
    CellWrite(usize),
    /// Panics if the last value of the log is this.
    PanicIf(u64),
    /// One of so many alternatives, which is logged.
    Choose(usize),
    /// A pause outside of a loop.
    Yield,
    /// Starts the last thread, which is started with the others otherwise.
    Spawn,
}

impl Instruction {
    /// Whether it is a step of its own; what is none is done together with the step before.
    pub fn is_access(self) -> bool {
        use Instruction::{CellRead, CellWrite, Choose, PanicIf, Spawn, Yield};
        !matches!(self, CellRead(_) | CellWrite(_) | PanicIf(_) | Choose(_) | Yield | Spawn)
    }
}

/// How many atomics, locks and cells there are at most.
pub const ATOMICS: usize = 3;
pub const LOCKS: usize = 2;
pub const CELLS: usize = 2;

/// What each thread does.
#[derive(Clone, Debug)]
pub struct Program(pub Vec<Vec<Instruction>>);

/// How an execution ends.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// All threads end: the log of each, and memory: atomics, locks, tokens.
    Done(Vec<Vec<u64>>, Vec<u64>),
    /// No thread can go on.
    Deadlock(Vec<Vec<u64>>, Vec<u64>),
    Race,
    Panicked(usize),
}

/// How executions of a program end.
pub type Outcomes = BTreeSet<Outcome>;

/// Which instructions a program has.
#[derive(Clone, Copy, Debug)]
pub struct Taste {
    pub locks: bool,
    pub parks: bool,
    pub cells: bool,
    pub spins: bool,
    pub panics: bool,
    pub choices: bool,
    pub yields: bool,
}

impl Taste {
    pub fn any(random: &mut Rng) -> Taste {
        let cells = random.bool();
        Taste {
            locks: random.bool(),
            parks: random.u8(..3) == 0,
            cells,
            // Which write a turn of a loop reads decides about races, and turns are not counted.
            spins: !cells && random.bool(),
            panics: random.u8(..3) == 0,
            choices: random.u8(..8) == 0,
            yields: random.u8(..4) == 0,
        }
    }
}

impl Program {
    /// A program with not too many interleavings.
    pub fn random(random: &mut Rng, taste: Taste) -> Program {
        loop {
            let threads = random.usize(2..=3);
            let atomics = random.usize(1..=ATOMICS);
            let thread = |random: &mut Rng| thread(random, taste, threads, atomics);
            let mut program = Program((0..threads).map(|_| thread(random)).collect());
            if random.u8(..4) == 0 {
                let first = &mut program.0[0];
                first.insert(random.usize(..=first.len()), Instruction::Spawn);
            }
            let most = if program.is_forgetful() && random.u8(..4) == 0 { 40_000 } else { 2000 };
            if program.interleavings() <= most {
                return program;
            }
        }
    }

    /// Whether a thread is started by another one.
    pub fn is_spawned(&self, thread: usize) -> bool {
        thread + 1 == self.0.len() && self.0[0].contains(&Instruction::Spawn)
    }

    /// Whether what follows depends on counters, logs and memory alone, and not on what happened
    /// before what.
    pub fn is_forgetful(&self) -> bool {
        use Instruction::{CellRead, CellWrite, SpinBoth};
        let forgets = |i: &Instruction| !matches!(i, CellRead(_) | CellWrite(_) | SpinBoth(_));
        self.0.iter().flatten().all(forgets)
    }

    /// About how many interleavings there are.
    fn interleavings(&self) -> u64 {
        let lengths = self.0.iter().map(|thread| thread.iter().filter(|i| i.is_access()).count());
        let (mut total, mut result) = (0, 1);
        for length in lengths {
            for number in 1..=length as u64 {
                total += 1;
                result = result * total / number;
            }
        }
        result
    }
}

fn thread(random: &mut Rng, taste: Taste, threads: usize, atomics: usize) -> Vec<Instruction> {
    let mut instructions = Vec::new();
    let length = random.usize(1..=4);
    while instructions.len() < length {
        let instruction = instruction(random, taste, threads, atomics);
        // Mostly a lock is given back, with something in between.
        if let Instruction::Lock(lock) = instruction
            && random.u8(..5) > 0
        {
            instructions.push(instruction);
            for _ in 0..random.usize(..=2) {
                instructions.push(self::instruction(random, taste, threads, atomics));
            }
            instructions.push(Instruction::Unlock(lock));
        } else {
            instructions.push(instruction);
        }
    }
    instructions
}

fn instruction(random: &mut Rng, taste: Taste, threads: usize, atomics: usize) -> Instruction {
    loop {
        let atomic = random.usize(..atomics);
        let value = random.u64(..3);
        return match random.u8(..22) {
            0..3 => Instruction::Load(atomic),
            3..5 => Instruction::Store(atomic, value),
            5..7 => Instruction::Cas(atomic, value, random.u64(..3)),
            7..9 => Instruction::Add(atomic, 1),
            9..11 if taste.locks => Instruction::Lock(random.usize(..LOCKS)),
            11 if taste.parks => Instruction::Park,
            12 if taste.parks => Instruction::Unpark(random.usize(..threads)),
            13 if taste.spins => Instruction::SpinUntil(atomic, value),
            14 if taste.spins => Instruction::SpinLock(atomic),
            21 if taste.spins => {
                Instruction::SpinBoth([(atomic, value), (random.usize(..atomics), random.u64(..3))])
            }
            15 if taste.cells => Instruction::CellRead(random.usize(..CELLS)),
            16 | 17 if taste.cells => Instruction::CellWrite(random.usize(..CELLS)),
            18 if taste.panics => Instruction::PanicIf(value),
            19 if taste.choices => Instruction::Choose(2),
            20 if taste.yields => Instruction::Yield,
            _ => continue,
        };
    }
}
