//! Small programs as data.

use std::sync::atomic::Ordering;

/// A program: the instructions of each thread. Locations and cells are numbers; all hold 0 at first.
#[derive(Clone, Debug)]
pub struct Program {
    pub threads: Vec<Vec<Step>>,
    pub locations: usize,
    pub cells: usize,
}

/// An instruction that may be left out.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    pub guard: Option<Guard>,
    pub instruction: Instruction,
}

/// Only if the answer of an earlier instruction of the thread is, or is not, this. An instruction
/// that was left out answers 0.
#[derive(Clone, Copy, Debug)]
pub struct Guard {
    pub register: usize,
    pub value: u64,
    pub equal: bool,
}

#[derive(Clone, Copy, Debug)]
pub enum Operand {
    Constant(u64),
    Register(usize),
}

#[derive(Clone, Copy, Debug)]
pub enum Instruction {
    Load {
        location: usize,
        order: Ordering,
    },
    Store {
        location: usize,
        value: Operand,
        order: Ordering,
    },
    Add {
        location: usize,
        value: u64,
        order: Ordering,
    },
    Swap {
        location: usize,
        value: Operand,
        order: Ordering,
    },
    Cas {
        location: usize,
        expected: u64,
        new: u64,
        success: Ordering,
        failure: Ordering,
    },
    /// Waits for a value, and replaces it.
    Await {
        location: usize,
        expected: u64,
        new: u64,
        order: Ordering,
    },
    Fence(Ordering),
    Cell {
        cell: usize,
        writes: bool,
    },
}

impl Instruction {
    pub fn location(self) -> Option<usize> {
        match self {
            Instruction::Load { location, .. }
            | Instruction::Store { location, .. }
            | Instruction::Add { location, .. }
            | Instruction::Swap { location, .. }
            | Instruction::Cas { location, .. }
            | Instruction::Await { location, .. } => Some(location),
            _ => None,
        }
    }

    pub fn reads(self) -> bool {
        self.location().is_some() && !matches!(self, Instruction::Store { .. })
    }

    /// Whether it may write.
    pub fn writes(self) -> bool {
        self.location().is_some() && !matches!(self, Instruction::Load { .. })
    }
}

/// What random programs are made of.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    pub threads: usize,
    pub steps: usize,
    pub total: usize,
    pub locations: usize,
    pub awaits: bool,
    pub cells: bool,
    /// Every second order is `SeqCst`, so that the axiom for it has much to say.
    pub sequential: bool,
}

pub const LOADS: [Ordering; 3] = [Ordering::Relaxed, Ordering::Acquire, Ordering::SeqCst];
pub const STORES: [Ordering; 3] = [Ordering::Relaxed, Ordering::Release, Ordering::SeqCst];
pub const UPDATES: [Ordering; 5] =
    [Ordering::Relaxed, Ordering::Acquire, Ordering::Release, Ordering::AcqRel, Ordering::SeqCst];
pub const FENCES: [Ordering; 4] =
    [Ordering::Acquire, Ordering::Release, Ordering::AcqRel, Ordering::SeqCst];

impl Program {
    pub fn random(rng: &mut fastrand::Rng, shape: Shape) -> Program {
        let mut left = shape.total;
        let threads = (0..shape.threads).map(|_| {
            let len = rng.usize(1..=shape.steps).min(left.max(1));
            left = left.saturating_sub(len);
            (0..len).map(|index| Step::random(rng, shape, index)).collect()
        });
        Program { threads: threads.collect(), locations: shape.locations, cells: 1 }
    }
}

impl Step {
    fn random(rng: &mut fastrand::Rng, shape: Shape, index: usize) -> Step {
        let is_guarded = index > 0 && rng.u8(0..6) == 0;
        let guard = is_guarded.then(|| Guard {
            register: rng.usize(0..index),
            value: rng.u64(0..2),
            equal: rng.bool(),
        });
        Step { guard, instruction: Instruction::random(rng, shape, index) }
    }
}

impl Instruction {
    fn random(rng: &mut fastrand::Rng, shape: Shape, index: usize) -> Instruction {
        let location = rng.usize(0..shape.locations);
        let operand = |rng: &mut fastrand::Rng| match index {
            1.. if rng.u8(0..5) == 0 => Operand::Register(rng.usize(0..index)),
            _ => Operand::Constant(rng.u64(1..3)),
        };
        let pick =
            |rng: &mut fastrand::Rng, orders: &[Ordering]| pick(rng, orders, shape.sequential);
        match rng.u8(0..16) {
            0 | 1 if shape.awaits => Instruction::Await {
                location,
                expected: rng.u64(0..2),
                new: rng.u64(0..2),
                order: pick(rng, &UPDATES),
            },
            2 | 3 if shape.cells => Instruction::Cell { cell: 0, writes: rng.bool() },
            0..5 => Instruction::Load { location, order: pick(rng, &LOADS) },
            5..10 => {
                Instruction::Store { location, value: operand(rng), order: pick(rng, &STORES) }
            }
            10 => Instruction::Add { location, value: 1, order: pick(rng, &UPDATES) },
            11 => Instruction::Swap { location, value: operand(rng), order: pick(rng, &UPDATES) },
            12 | 13 => Instruction::Cas {
                location,
                expected: rng.u64(0..2),
                new: rng.u64(1..3),
                success: pick(rng, &UPDATES),
                failure: pick(rng, &LOADS),
            },
            _ => Instruction::Fence(pick(rng, &FENCES)),
        }
    }
}

fn pick(rng: &mut fastrand::Rng, orders: &[Ordering], sequential: bool) -> Ordering {
    match sequential && rng.bool() {
        true => Ordering::SeqCst,
        false => orders[rng.usize(0..orders.len())],
    }
}

/// How the last access of a thread is related to the first one of the next thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Communication {
    ReadsFrom,
    ReadsBefore,
    ModifiedBefore,
}

impl Program {
    /// A cycle of accesses, as the tool `diy` makes litmus tests (Alglave et al., TACAS 2011): whether
    /// it is allowed is what memory models differ in. Two accesses a thread with something between
    /// them, or one access; accesses of neighbours at one location, one of which writes.
    pub fn cycle(rng: &mut fastrand::Rng) -> Program {
        use Communication::{ModifiedBefore, ReadsBefore, ReadsFrom};
        let threads = rng.usize(2..=4);
        let relations: Vec<Communication> = (0..threads)
            .map(|_| [ReadsFrom, ReadsBefore, ModifiedBefore][rng.usize(0..3)])
            .collect();
        let enters = |thread: usize| relations[(thread + threads - 1) % threads] != ReadsFrom;
        let leaves = |thread: usize| relations[thread] != ReadsBefore;
        let single: Vec<bool> =
            (0..threads).map(|it| it > 0 && enters(it) == leaves(it) && rng.bool()).collect();
        let mut location = 0;
        let mut written = 0;
        let mut program = Program { threads: Vec::new(), locations: 1, cells: 1 };
        for thread in 0..threads {
            let mut access = |rng: &mut fastrand::Rng, location: usize, writes: bool| {
                written += u64::from(writes);
                Instruction::access(rng, location, writes.then_some(written))
            };
            let mut steps = vec![access(rng, location, enters(thread))];
            if !single[thread] {
                steps.extend(Instruction::between(rng, location));
                // The cycle is closed at the first location.
                let is_last = single[thread + 1..].iter().all(|single| *single);
                location = if is_last { 0 } else { location + 1 };
                program.locations = program.locations.max(location + 1);
                steps.push(access(rng, location, leaves(thread)));
            }
            let step = |instruction| Step { guard: None, instruction };
            program.threads.push(steps.into_iter().map(step).collect());
        }
        program
    }
}

impl Instruction {
    /// An access that writes this, or reads.
    fn access(rng: &mut fastrand::Rng, location: usize, write: Option<u64>) -> Instruction {
        let is_update = rng.u8(0..6) == 0;
        match write {
            Some(value) if is_update => Instruction::Swap {
                location,
                value: Operand::Constant(value),
                order: pick(rng, &UPDATES, true),
            },
            Some(value) => Instruction::Store {
                location,
                value: Operand::Constant(value),
                order: pick(rng, &STORES, true),
            },
            None if is_update => Instruction::Cas {
                location,
                expected: 99,
                new: 98,
                success: pick(rng, &UPDATES, true),
                failure: pick(rng, &LOADS, true),
            },
            None => Instruction::Load { location, order: pick(rng, &LOADS, true) },
        }
    }

    /// Something between two accesses of a thread, or nothing.
    fn between(rng: &mut fastrand::Rng, location: usize) -> Option<Instruction> {
        match rng.u8(0..4) {
            0 => Some(Instruction::Fence(pick(rng, &FENCES, true))),
            1 => Some(Instruction::Load { location, order: pick(rng, &LOADS, true) }),
            _ => None,
        }
    }
}
