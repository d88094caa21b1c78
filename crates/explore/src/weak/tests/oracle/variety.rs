//! What the programs of a comparison were made of, and how many of them show weak memory.

use super::enumerate;
use super::program::{Instruction, Program};
use std::collections::BTreeMap;
use std::sync::atomic::Ordering::{self, SeqCst};

/// Of every so many programs, it is asked whether weak memory shows.
const ASKED: u64 = 4;

#[derive(Default)]
pub struct Variety {
    instructions: BTreeMap<String, u64>,
    /// Programs with outcomes that they do not have if all orders are `SeqCst`, and others.
    weak: u64,
    strong: u64,
}

impl Variety {
    pub fn add(&mut self, program: &Program, case: u64) {
        for step in program.threads.iter().flatten() {
            *self.instructions.entry(name(step.instruction)).or_default() += 1;
        }
        if case.is_multiple_of(ASKED) {
            let outcomes = enumerate::behaviour(program).outcomes;
            let sequential = enumerate::behaviour(&sequential(program)).outcomes;
            match outcomes.keys().any(|outcome| !sequential.contains_key(outcome)) {
                true => self.weak += 1,
                false => self.strong += 1,
            }
        }
    }

    /// Prints it, and fails if something never came up in a comparison of this length.
    pub fn told(&self, kinds: usize) {
        let all: Vec<String> =
            self.instructions.iter().map(|(name, count)| format!("{name} {count}")).collect();
        println!("{}", all.join(", "));
        let (weak, strong) = (self.weak, self.strong);
        println!("of {} programs {weak} have outcomes that SeqCst forbids", weak + strong);
        if std::env::var_os("LINCHPIN_CASES").is_none() {
            assert!(self.instructions.len() >= kinds, "{} kinds", self.instructions.len());
            assert!(weak > 0 && strong > 0, "{weak} and {strong}");
        }
    }
}

/// What an instruction is, with its orders.
fn name(instruction: Instruction) -> String {
    match instruction {
        Instruction::Load { order, .. } => format!("load {order:?}"),
        Instruction::Store { order, .. } => format!("store {order:?}"),
        Instruction::Add { order, .. } => format!("add {order:?}"),
        Instruction::Swap { order, .. } => format!("swap {order:?}"),
        Instruction::Cas { success, .. } => format!("compare-exchange {success:?}"),
        Instruction::Await { order, .. } => format!("await {order:?}"),
        Instruction::Fence(order) => format!("fence {order:?}"),
        Instruction::Cell { writes: true, .. } => "cell written".to_owned(),
        Instruction::Cell { writes: false, .. } => "cell read".to_owned(),
    }
}

/// The program with `SeqCst` everywhere.
fn sequential(program: &Program) -> Program {
    let mut program = program.clone();
    for step in program.threads.iter_mut().flatten() {
        for order in orders(&mut step.instruction) {
            *order = SeqCst;
        }
    }
    program
}

fn orders(instruction: &mut Instruction) -> Vec<&mut Ordering> {
    match instruction {
        Instruction::Load { order, .. }
        | Instruction::Store { order, .. }
        | Instruction::Add { order, .. }
        | Instruction::Swap { order, .. }
        | Instruction::Await { order, .. }
        | Instruction::Fence(order) => vec![order],
        Instruction::Cas { success, failure, .. } => vec![success, failure],
        Instruction::Cell { .. } => Vec::new(),
    }
}
