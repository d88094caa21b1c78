//! The same programs as real code, explored by the engine.

use super::program::{Op, Outcome, Program, Thread};
use linchpin_explore::crash::{Crashable, Cut};
use linchpin_explore::{EventKind, Execution, Options, Strategy, explore};
use linchpin_sync::persistent::simulation::{Simulation, Start};
use linchpin_sync::persistent::{self, AtomicU64, Line, Ordering::SeqCst, Pool};
use linchpin_sync::{runtime, thread};
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::rc::Rc;
use std::sync::{Arc, Mutex};

linchpin_sync::persistent! {
    struct Root {
        first: Line<Pair>,
        third: Line<AtomicU64>,
        fourth: Line<AtomicU64>,
    }
    struct Pair {
        one: AtomicU64,
        two: AtomicU64,
    }
}

fn cell(pool: &Pool, number: usize) -> &AtomicU64 {
    let root = pool.root::<Root>();
    [&root.first.one, &root.first.two, &root.third, &root.fourth][number]
}

fn step(pool: &Pool, op: Op) -> Option<u64> {
    match op {
        Op::Load(at) => return Some(cell(pool, at).load(SeqCst)),
        Op::Store(at, value) => cell(pool, at).store(value, SeqCst),
        Op::Cas(at, old, new) => {
            let result = cell(pool, at).compare_exchange(old, new, SeqCst, SeqCst);
            return Some(result.unwrap_or_else(|seen| seen));
        }
        Op::Add(at, value) => return Some(cell(pool, at).fetch_add(value, SeqCst)),
        Op::Flush(at) => persistent::flush(cell(pool, at)),
        Op::Fence => persistent::fence(),
        Op::Persist(at) => persistent::persist(cell(pool, at)),
    }
    None
}

const READY: u64 = 0;

fn mark(word: u64) {
    runtime::with(|runtime| runtime.mark(word));
}

/// The answers of each thread, call by call.
type Answers = Arc<Mutex<Vec<Vec<Vec<u64>>>>>;

/// Called: odd, returned: even, READY apart; the thread in the high half.
fn word(thread: usize, call: usize, returns: bool) -> u64 {
    (thread as u64) << 32 | (1 + 2 * call as u64 + u64::from(returns))
}

fn threads(program: &Program, pool: &Pool, answers: &Answers) {
    *answers.lock().unwrap() = vec![Vec::new(); program.threads.len()];
    let spawn = |(number, calls): (usize, &Vec<Vec<Op>>)| {
        let (calls, pool, answers) = (calls.clone(), pool.clone(), Arc::clone(answers));
        thread::spawn(move || {
            for (call, steps) in calls.iter().enumerate() {
                mark(word(number, call, false));
                let answer = steps.iter().filter_map(|op| step(&pool, *op)).collect();
                answers.lock().unwrap()[number].push(answer);
                mark(word(number, call, true));
            }
        })
    };
    let handles: Vec<_> = program.threads.iter().enumerate().map(spawn).collect();
    handles.into_iter().for_each(|handle| handle.join().unwrap());
    mark(READY);
}

/// What is seen of threads before a crash.
fn seen(
    program: &Program,
    execution: &Execution,
    is_before: impl Fn(usize) -> bool,
    answers: &[Vec<Vec<u64>>],
) -> Vec<Thread> {
    let mut threads = vec![Thread::default(); program.threads.len()];
    for (at, event) in execution.events.iter().enumerate() {
        let EventKind::Mark(word) = event.kind else { continue };
        if word == READY || !is_before(at) {
            continue;
        }
        let number = (word >> 32) as usize;
        match word % 2 {
            1 => threads[number].called += 1,
            _ => {
                let call = threads[number].answers.len();
                threads[number].answers.push(answers[number][call].clone());
            }
        }
    }
    threads
}

/// Explores the executions of an era.
fn era(body: impl Fn() + 'static, mut observe: impl FnMut(&Execution)) {
    let body: Rc<dyn Fn()> = Rc::new(body);
    let explored = explore(&Options::new(Strategy::Exhaustive), &body, &mut |execution| {
        assert_eq!(execution.problem, None);
        observe(execution);
        ControlFlow::Continue(())
    });
    assert!(explored.complete);
}

pub fn outcomes(program: &Program) -> BTreeSet<Outcome> {
    let simulation = Rc::new(Simulation::new(true));
    let answers = Answers::default();
    let mut found: BTreeSet<(Vec<Thread>, Start)> = BTreeSet::new();
    let first = Rc::new((program.clone(), Arc::clone(&answers), Rc::clone(&simulation)));
    let body = move || {
        let (program, answers, simulation) = &*first;
        simulation.begin(&Start::default());
        simulation.pool().root::<Root>();
        threads(program, simulation.pool(), answers);
    };
    let mut starts = Vec::new();
    era(body, |execution| {
        let crashable = Crashable::new(execution, &simulation, &Start::default(), None, None);
        let is_call = |event: &linchpin_explore::Event| match event.kind {
            EventKind::Mark(word) => word % 2 == 1,
            _ => false,
        };
        let (none, all) = (Cut(vec![0; execution.threads]), crashable.whole());
        let answers = answers.lock().unwrap().clone();
        for cut in crashable.cuts(&none, &all, &is_call).expect("few cuts") {
            let before = |at: usize| crashable.is_before(&cut, at);
            let threads = seen(program, execution, before, &answers);
            starts.push((threads, crashable.after(&cut).start));
        }
    });
    let mut outcomes = BTreeSet::new();
    for (threads, start) in starts {
        if found.insert((threads.clone(), start.clone())) {
            recovered(program, &simulation, &threads, &start, &mut outcomes);
        }
    }
    outcomes
}

fn recovered(
    program: &Program,
    simulation: &Rc<Simulation>,
    threads: &[Thread],
    start: &Start,
    outcomes: &mut BTreeSet<Outcome>,
) {
    let read = |start: &Start, outcomes: &mut BTreeSet<Outcome>| {
        let (theirs, from, cells) = (Rc::clone(simulation), start.clone(), program.read.clone());
        let seen = Arc::new(Mutex::new(Vec::new()));
        let out = Arc::clone(&seen);
        let body = move || {
            theirs.begin(&from);
            let load = |at: &usize| cell(theirs.pool(), *at).load(SeqCst);
            *out.lock().unwrap() = cells.iter().map(load).collect();
        };
        era(body, |_| {
            let seen = seen.lock().unwrap().clone();
            outcomes.insert(Outcome { threads: threads.to_vec(), seen });
        });
    };
    let Some(steps) = program.recovery.clone() else { return read(start, outcomes) };
    let (theirs, from) = (Rc::clone(simulation), start.clone());
    let body = move || {
        theirs.begin(&from);
        for op in &steps {
            step(theirs.pool(), *op);
        }
    };
    let mut starts = BTreeSet::new();
    era(body, |execution| {
        let crashable = Crashable::new(execution, simulation, start, None, None);
        let (none, all) = (Cut(vec![0; execution.threads]), crashable.whole());
        for cut in crashable.cuts(&none, &all, &|_| false).expect("few cuts") {
            starts.insert(crashable.after(&cut).start);
        }
    });
    starts.iter().for_each(|start| read(start, outcomes));
}
