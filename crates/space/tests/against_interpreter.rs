//! Every step of the compiled model is a step of the reference interpreter, and the other way
//! round: on random walks through every bundled model, the successors of each state are compared,
//! in canonical form.

use linchpin_ir::domain::{Domain, DomainBounds};
use linchpin_ir::interpreter::{Machine, Memory, Move, State, Status};
use linchpin_ir::program::Program;
use linchpin_lang::{Config, compile};
use linchpin_space::{Bounds, Calls, Reductions, Space, Stop, Successor, Values, Workspace};
use std::path::PathBuf;

const VALUES: i64 = 2;

fn models() -> Vec<(String, Program)> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../models");
    let mut files: Vec<PathBuf> = [root.clone(), root.join("broken")]
        .iter()
        .flat_map(|folder| std::fs::read_dir(folder).unwrap())
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "lin"))
        .collect();
    files.sort();
    let program = |path: &PathBuf| {
        let source = std::fs::read_to_string(path).unwrap();
        let compiled = compile(&source, &Config::default()).unwrap();
        (path.file_name().unwrap().to_string_lossy().into_owned(), compiled.program)
    };
    files.iter().map(program).collect()
}

/// Every move of a thread that the interpreter knows, with the calls that each thread has left
/// afterwards.
fn moves(machine: &Machine, state: &State, thread: usize, calls: &[i64]) -> Vec<(Move, Vec<i64>)> {
    let program = machine.program();
    let same = calls.to_vec();
    match &state.threads[thread].status {
        Status::Running { .. } => vec![(Move::Step { thread }, same)],
        Status::Interrupted { .. } | Status::Resolving { .. } | Status::Resolved { .. } => vec![],
        Status::Returning { .. } => vec![(Move::Respond { thread }, same)],
        Status::Idle if calls[thread] == 0 => vec![],
        Status::Idle => {
            let mut fewer = same;
            fewer[thread] -= 1;
            let mut all = Vec::new();
            for &operation in &program.threads[thread].operations {
                let bounds = DomainBounds { values: VALUES, threads: program.threads.len() };
                let domain = Domain::of_arguments(&program.operations[operation], bounds).unwrap();
                for arguments in domain.values() {
                    let arguments = arguments.as_list().unwrap().to_vec();
                    if machine.may_call(state, thread, operation, &arguments).unwrap() {
                        let call = Move::Invoke { thread, operation, arguments };
                        all.push((call, fewer.clone()));
                    }
                }
            }
            all
        }
    }
}

/// Walks at random, comparing all successors of every state; returns how many were compared and how
/// many were faults. If `repacked`, the compiled model goes on from what its form keeps of a state.
fn walk(space: &Space, repacked: bool, random: &mut fastrand::Rng, steps: usize) -> (usize, usize) {
    let machine = space.machine();
    let mut workspace = Workspace::default();
    let (mut compared, mut faults) = (0, 0);
    let mut state = machine.initial().unwrap();
    let mut calls = space.calls_at_start();
    for _ in 0..steps {
        let mut next = Vec::new();
        for thread in 0..machine.program().threads.len() {
            let (mut expected, mut expected_faults) = (Vec::new(), 0);
            for (what, calls) in moves(machine, &state, thread, &calls) {
                for successor in machine.successors(&state, &what) {
                    match successor.result {
                        Ok(after) => {
                            let flat = space.flatten(&after, &calls).unwrap();
                            let mut bytes = Vec::new();
                            space.pack(&flat, &mut workspace, &mut bytes);
                            expected.push(bytes);
                            next.push((after, calls.clone()));
                        }
                        Err(_) => expected_faults += 1,
                    }
                }
            }
            let (mut found, mut found_faults) = (Vec::new(), 0);
            let mut flat = space.flatten(&state, &calls).unwrap();
            if repacked {
                let mut bytes = Vec::new();
                space.pack(&flat, &mut workspace, &mut bytes);
                space.unpack(&bytes, &mut flat);
            }
            let mut packer = Workspace::default();
            let mut visit = |successor: Successor<'_>| {
                match successor.stop {
                    Stop::State(flat) => {
                        let mut bytes = Vec::new();
                        space.pack(flat, &mut packer, &mut bytes);
                        found.push(bytes);
                    }
                    Stop::Fault => found_faults += 1,
                }
                true
            };
            space.successors_of(&flat, thread, 0, &mut workspace, &mut visit);
            expected.sort();
            found.sort();
            assert_eq!(expected, found, "thread {thread} in {state:?}");
            assert_eq!(expected_faults, found_faults, "thread {thread} in {state:?}");
            compared += found.len();
            faults += found_faults;
        }
        if next.is_empty() {
            break;
        }
        (state, calls) = next.swap_remove(random.usize(..next.len()));
    }
    (compared, faults)
}

#[test]
fn every_step_is_a_step_of_the_interpreter() {
    let seed = 7;
    println!("seed {seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    let (mut compared, mut faults) = (0, 0);
    for (name, program) in models() {
        for memory in [Memory::Collected, Memory::Reuse, Memory::TypeStable] {
            for canonical in [false, true] {
                // Reused objects are found by their number: without canonical names the two sides
                // may number them differently.
                if memory == Memory::Reuse && !canonical {
                    continue;
                }
                let bounds = Bounds {
                    calls: Calls::Each(4),
                    values: Values::UpTo(VALUES),
                    objects: None,
                    memory,
                    crashes: 0,
                    thread_crashes: 0,
                };
                let reductions = Reductions {
                    canonical_heap: canonical,
                    dead_locals: canonical,
                    thread_symmetry: canonical,
                    ..Reductions::NONE
                };
                let space = Space::new(&program, bounds, reductions)
                    .unwrap_or_else(|error| panic!("{name}: {error}"));
                for _ in 0..6 {
                    let (more, wrong) = walk(&space, false, &mut random, 150);
                    compared += more;
                    faults += wrong;
                }
            }
        }
    }
    println!("{compared} successors compared, {faults} faults");
    assert!(compared > 50_000 && faults > 0);
}

/// What the form of a state forgets, garbage, dead locals and dead fields, makes no difference to
/// any step.
#[test]
fn what_is_forgotten_is_never_read() {
    let mut random = fastrand::Rng::with_seed(5);
    let (mut compared, mut shorter) = (0, 0);
    for (name, program) in models() {
        let bounds = Bounds {
            calls: Calls::Each(6),
            values: Values::UpTo(VALUES),
            objects: None,
            memory: Memory::Collected,
            crashes: 0,
            thread_crashes: 0,
        };
        let with = |dead_fields: bool| {
            let reductions = Reductions {
                canonical_heap: true,
                dead_locals: true,
                dead_fields,
                ..Reductions::NONE
            };
            Space::new(&program, bounds, reductions).unwrap_or_else(|e| panic!("{name}: {e}"))
        };
        let (space, whole) = (with(true), with(false));
        for _ in 0..8 {
            compared += walk(&space, true, &mut random, 250).0;
        }
        shorter += usize::from(forgets(&space, &whole, &mut random));
    }
    println!("{compared} successors compared, {shorter} models have dead fields");
    assert!(compared > 50_000 && shorter > 20, "{compared}, {shorter}");
}

/// Whether some state on a walk is shorter in one space than in the other.
fn forgets(space: &Space, whole: &Space, random: &mut fastrand::Rng) -> bool {
    let machine = space.machine();
    let mut workspace = Workspace::default();
    let mut length = |of: &Space, state: &State, calls: &[i64]| {
        let mut bytes = Vec::new();
        of.pack(&of.flatten(state, calls).unwrap(), &mut workspace, &mut bytes);
        let mut flat = Default::default();
        of.unpack(&bytes, &mut flat);
        flat.words.iter().filter(|word| **word != 0).count()
    };
    let (mut state, mut calls) = (machine.initial().unwrap(), space.calls_at_start());
    for _ in 0..400 {
        if length(space, &state, &calls) < length(whole, &state, &calls) {
            return true;
        }
        let mut next = Vec::new();
        for thread in 0..machine.program().threads.len() {
            for (what, calls) in moves(machine, &state, thread, &calls) {
                let ways = machine.successors(&state, &what).into_iter();
                next.extend(ways.filter_map(|way| Some((way.result.ok()?, calls.clone()))));
            }
        }
        if next.is_empty() {
            return false;
        }
        (state, calls) = next.swap_remove(random.usize(..next.len()));
    }
    false
}

/// What a packed state unpacks to packs to the same bytes.
#[test]
fn packing_is_a_normal_form() {
    let mut random = fastrand::Rng::with_seed(11);
    for (name, program) in models() {
        let bounds = Bounds {
            calls: Calls::Each(3),
            values: Values::UpTo(VALUES),
            objects: None,
            memory: Memory::Collected,
            crashes: 0,
            thread_crashes: 0,
        };
        let space = Space::new(&program, bounds, Reductions::ALL).unwrap();
        let mut workspace = Workspace::default();
        let mut bytes = Vec::new();
        space.pack(&space.initial().unwrap(), &mut workspace, &mut bytes);
        for _ in 0..60 {
            let mut next: Vec<Vec<u8>> = Vec::new();
            let mut packer = Workspace::default();
            let mut visit = |successor: Successor<'_>| {
                if let Stop::State(flat) = successor.stop {
                    let mut bytes = Vec::new();
                    space.pack(flat, &mut packer, &mut bytes);
                    next.push(bytes);
                }
                true
            };
            space.successors(&bytes, VALUES as usize, &mut workspace, &mut visit);
            for bytes in &next {
                let (mut flat, mut again) = (Default::default(), Vec::new());
                space.unpack(bytes, &mut flat);
                space.pack(&flat, &mut workspace, &mut again);
                assert_eq!(*bytes, again, "{name}");
            }
            if next.is_empty() {
                break;
            }
            bytes = next.swap_remove(random.usize(..next.len()));
        }
    }
}

/// What is known of a state makes no difference to the bytes of those that come of it, nor to their
/// renaming; and it is often known that a part of them is as it was.
#[test]
fn packing_does_not_depend_on_what_is_known() {
    let mut random = fastrand::Rng::with_seed(13);
    let (mut compared, mut kept) = (0, 0);
    for (name, program) in models() {
        for reductions in [
            Reductions::ALL,
            Reductions { dead_fields: false, ..Reductions::ALL },
            Reductions { thread_symmetry: false, ..Reductions::ALL },
            Reductions { value_symmetry: false, partial_order: false, ..Reductions::ALL },
        ] {
            for memory in [Memory::Collected, Memory::Reuse] {
                let bounds = Bounds {
                    calls: Calls::Each(4),
                    values: Values::UpTo(VALUES),
                    objects: None,
                    memory,
                    crashes: 0,
                    thread_crashes: 0,
                };
                let space = Space::new(&program, bounds, reductions).unwrap();
                let (more, same) = walk_packing(&space, &mut random, &name);
                compared += more;
                kept += same;
            }
        }
    }
    println!("{compared} states packed twice, {kept} with a shared part as it was");
    assert!(compared > 50_000 && kept > compared / 4, "{compared}, {kept}");
}

/// Walks at random and packs every successor with and without what is known; how many, and how many
/// have the last part of their bytes from the state before.
fn walk_packing(space: &Space, random: &mut fastrand::Rng, name: &str) -> (usize, usize) {
    let (mut workspace, mut packer) = (Workspace::default(), Workspace::default());
    let (mut bytes, mut compared, mut kept) = (Vec::new(), 0, 0);
    space.pack(&space.initial().unwrap(), &mut workspace, &mut bytes);
    for _ in 0..120 {
        let mut next: Vec<Vec<u8>> = Vec::new();
        let mut visit = |successor: Successor<'_>| {
            if let Stop::State(flat) = successor.stop {
                let (mut known, mut anew) = (Vec::new(), Vec::new());
                let one = space.pack_after(successor.before, flat, &mut packer, &mut known);
                let other = space.pack(flat, &mut packer, &mut anew);
                assert_eq!((&known, one), (&anew, other), "{name}: {flat:?}");
                next.push(known);
            }
            true
        };
        space.successors(&bytes, VALUES as usize, &mut workspace, &mut visit);
        let shared = |bytes: &[u8]| bytes[space.parts(bytes).1..].to_vec();
        compared += next.len();
        kept += next.iter().filter(|next| shared(next) == shared(&bytes)).count();
        if next.is_empty() {
            break;
        }
        bytes = next.swap_remove(random.usize(..next.len()));
    }
    (compared, kept)
}

/// Long thread parts, many objects that only one thread reaches, and words of several bytes.
#[test]
fn large_states_are_packed() {
    let source = "
        spec stack;
        struct Node { val: int, next: Node }
        shared top: Node = null;
        op push(v: int) {
            let marks: [int; 150] = [v; 150];
            let x: Node = null;
            let n = 0;
            while n < 140 {
                x = new Node { val: 1000 + v, next: x };
                n = n + 1;
            }
            let t = top;
            x.next = t;
            top = x;
            assert(marks[n] == v);
        }
        op pop() -> int? {
            let t = top;
            if t == null { return none; }
            top = t.next;
            return t.val;
        }";
    let program = compile(source, &Config::default()).unwrap().program;
    let mut random = fastrand::Rng::with_seed(17);
    let bounds = Bounds {
        calls: Calls::Each(2),
        values: Values::UpTo(VALUES),
        objects: None,
        memory: Memory::Collected,
        crashes: 0,
        thread_crashes: 0,
    };
    let reductions = Reductions { canonical_heap: true, dead_locals: true, ..Reductions::NONE };
    let space = Space::new(&program, bounds, reductions).unwrap();
    let compared = walk(&space, true, &mut random, 40).0;
    let space = Space::new(&program, bounds, Reductions::ALL).unwrap();
    let packed = walk_packing(&space, &mut random, "large").0;
    assert!(compared > 20 && packed > 20, "{compared}, {packed}");
}
