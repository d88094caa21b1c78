//! A program as real code under control.

use super::super::word::Word;
use super::program::{ATOMICS, CELLS, Instruction, LOCKS, Outcome, Program};
use linchpin_explore::{Execution, Problem};
use linchpin_sync::runtime::{self, CellAccess, Identity, Memory, Site};
use linchpin_sync::thread;
use std::panic::Location;
use std::sync::{Arc, Mutex};

/// What the threads share.
struct Shared {
    /// Atomics, locks, tokens.
    words: Vec<Word>,
    cells: Vec<Identity>,
}

/// What an execution leaves behind for the observer, whichever way it ends.
#[derive(Default)]
pub struct Left {
    logs: Mutex<Vec<Vec<u64>>>,
    shared: Mutex<Option<Arc<Shared>>>,
}

/// The code of a program.
pub fn code(program: &Program, left: &Arc<Left>) -> impl Fn() + use<> {
    let (program, left) = (Arc::new(program.clone()), Arc::clone(left));
    move || {
        let threads = program.0.len();
        let shared = Arc::new(Shared {
            words: (0..ATOMICS + LOCKS + threads).map(|_| Word::new(0)).collect(),
            cells: (0..CELLS).map(|_| Identity::new()).collect(),
        });
        *left.logs.lock().unwrap() = vec![Vec::new(); threads];
        *left.shared.lock().unwrap() = Some(Arc::clone(&shared));
        let started = (0..threads).filter(|&thread| !program.is_spawned(thread));
        let handles: Vec<_> =
            started.map(|thread| spawn(thread, &program, &shared, &left)).collect();
        handles.into_iter().for_each(|handle| handle.join().unwrap());
    }
}

fn spawn(
    thread: usize,
    program: &Arc<Program>,
    shared: &Arc<Shared>,
    left: &Arc<Left>,
) -> thread::JoinHandle<()> {
    let (program, shared, left) = (Arc::clone(program), Arc::clone(shared), Arc::clone(left));
    thread::spawn(move || {
        for (counter, &instruction) in program.0[thread].iter().enumerate() {
            match instruction {
                Instruction::Spawn => drop(spawn(program.0.len() - 1, &program, &shared, &left)),
                _ => execute(thread, instruction, site(counter), &shared, &left),
            }
        }
    })
}

fn execute(thread: usize, instruction: Instruction, site: Site, shared: &Shared, left: &Left) {
    let log = |value| left.logs.lock().unwrap()[thread].push(value);
    let cell = |cell: usize, access| {
        runtime::with(|runtime| runtime.cell(&shared.cells[cell], access, site));
    };
    let pause = || runtime::with(|runtime| runtime.pause(site));
    let words = &shared.words;
    match instruction {
        Instruction::Load(atomic) => log(words[atomic].load(site)),
        Instruction::Store(atomic, value) => words[atomic].store(value, site),
        Instruction::Cas(atomic, old, new) => {
            log(words[atomic].update(&|value| (value == old).then_some(new), site));
        }
        Instruction::Add(atomic, more) => {
            log(words[atomic].update(&|value| Some(value + more), site));
        }
        Instruction::Lock(lock) => words[ATOMICS + lock].wait(0, 1, site),
        Instruction::Unlock(lock) => words[ATOMICS + lock].store(0, site),
        Instruction::Park => words[ATOMICS + LOCKS + thread].wait(1, 0, site),
        Instruction::Unpark(other) => words[ATOMICS + LOCKS + other].store(1, site),
        Instruction::SpinUntil(atomic, wanted) => {
            while words[atomic].load(site) != wanted {
                pause();
            }
        }
        Instruction::SpinBoth(both) => {
            while both.iter().any(|&(atomic, wanted)| words[atomic].load(site) != wanted) {
                pause();
            }
        }
        Instruction::SpinLock(atomic) => {
            while words[atomic].update(&|value| (value == 0).then_some(1), site) != 0 {
                pause();
            }
        }
        Instruction::CellRead(index) => cell(index, CellAccess::Read),
        Instruction::CellWrite(index) => cell(index, CellAccess::Write),
        Instruction::PanicIf(value) => {
            let last = left.logs.lock().unwrap()[thread].last().copied();
            if last == Some(value) {
                // No message: thousands of programs panic.
                std::panic::resume_unwind(Box::new("as told"));
            }
        }
        Instruction::Choose(alternatives) => {
            log(runtime::with(|runtime| runtime.choose(alternatives, site)).unwrap() as u64);
        }
        Instruction::Yield => {
            pause();
        }
        Instruction::Spawn => unreachable!("threads are started by `spawn`"),
    }
}

/// Another place in the source for every instruction of a thread.
#[rustfmt::skip]
fn site(counter: usize) -> Site {
    let sites: [Site; 32] = [
        Location::caller(), Location::caller(), Location::caller(), Location::caller(),
        Location::caller(), Location::caller(), Location::caller(), Location::caller(),
        Location::caller(), Location::caller(), Location::caller(), Location::caller(),
        Location::caller(), Location::caller(), Location::caller(), Location::caller(),
        Location::caller(), Location::caller(), Location::caller(), Location::caller(),
        Location::caller(), Location::caller(), Location::caller(), Location::caller(),
        Location::caller(), Location::caller(), Location::caller(), Location::caller(),
        Location::caller(), Location::caller(), Location::caller(), Location::caller(),
    ];
    sites[counter]
}

/// How an execution ended.
pub fn outcome(execution: &Execution, left: &Left) -> Outcome {
    let logs = || left.logs.lock().unwrap().clone();
    let memory = || {
        let shared = left.shared.lock().unwrap();
        shared.as_ref().unwrap().words.iter().map(Memory::get).collect::<Vec<_>>()
    };
    match &execution.problem {
        None => Outcome::Done(logs(), memory()),
        Some(Problem::Deadlock { .. }) => Outcome::Deadlock(logs(), memory()),
        Some(Problem::Race { .. }) => Outcome::Race,
        // The first thread only starts the others.
        Some(Problem::Panicked { thread, .. }) => Outcome::Panicked(thread - 1),
        Some(other) => panic!("{other}"),
    }
}
