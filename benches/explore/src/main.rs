//! The same program explored by linchpin, loom and shuttle: executions and seconds.
//!
//! ```console
//! $ cargo run --release --manifest-path benches/explore/Cargo.toml            # all of it
//! $ cargo run --release --manifest-path benches/explore/Cargo.toml -- 60     # seconds a row
//! $ cargo run --release --manifest-path benches/explore/Cargo.toml -- cores stack 3 2 exhaustive
//! $ cargo run --release --manifest-path benches/explore/Cargo.toml -- cores stack 3 2 weak
//! $ cargo run --release --manifest-path benches/explore/Cargo.toml -- cores stack 3 2 preemptions=2
//! ```
//!
//! Every row is a process of its own that stops at the limit and says how far it came.

mod programs;

use linchpin_explore::{Options, Strategy, Together, explore};
use std::ops::ControlFlow;
use std::process::Command;
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Executions so far.
static EXECUTIONS: AtomicU64 = AtomicU64::new(0);

const EXPLORERS: &[&str] = &["linchpin", "loom", "shuttle"];

const PROGRAMS: &[(&str, usize, usize)] = &[
    ("stack", 2, 1),
    ("stack", 2, 2),
    ("stack", 2, 3),
    ("stack", 2, 4),
    ("stack", 3, 1),
    ("stack", 3, 2),
    ("queue", 2, 1),
    ("queue", 2, 2),
    ("queue", 2, 3),
    ("queue", 3, 1),
];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match &arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["one", explorer, structure, threads, calls, seconds] => {
            let number = |text: &str| text.parse().expect("a number");
            one(explorer, structure, number(threads), number(calls), number(seconds) as u64);
        }
        ["cores", structure, threads, calls, strategy] => {
            let number = |text: &str| text.parse().expect("a number");
            let strategy = match strategy.split_once('=') {
                None if *strategy == "exhaustive" => Strategy::Exhaustive,
                None if *strategy == "weak" => Strategy::Weak,
                Some(("preemptions", most)) => Strategy::Preemptions(number(most)),
                _ => panic!("exhaustive, weak, or preemptions=2"),
            };
            cores(structure, number(threads), number(calls), &strategy);
        }
        [] => table(20),
        [seconds] => table(seconds.parse().expect("how many seconds a row may take")),
        _ => panic!("how many seconds a row may take, or nothing"),
    }
}

/// All rows, each in a process of its own.
fn table(seconds: u64) {
    println!("Executions and seconds until all are explored; -: more than {seconds} seconds.");
    println!("linchpin: sequential consistency, a trace once. loom: also stale loads and joins.");
    println!("shuttle: all interleavings, depth first.\n");
    println!("{:<10} {:>7} {:>5}   {}", "program", "threads", "calls", EXPLORERS.join(", "));
    let this = std::env::current_exe().expect("this program has a path");
    for (structure, threads, calls) in PROGRAMS {
        print!("{structure:<10} {threads:>7} {calls:>5}");
        for explorer in EXPLORERS {
            let arguments = [
                "one",
                *explorer,
                *structure,
                &threads.to_string(),
                &calls.to_string(),
                &seconds.to_string(),
            ]
            .map(str::to_owned);
            let output = Command::new(&this).args(arguments).output().expect("it runs");
            print!("   {}", String::from_utf8_lossy(&output.stdout).trim());
        }
        println!();
    }
}

/// The same program by more and more threads of the system, each with a core of its own.
fn cores(structure: &str, threads: usize, calls: usize, strategy: &Strategy) {
    let program: fn(usize, usize) = match structure {
        "stack" => programs::linchpin::stack,
        "queue" => programs::linchpin::queue,
        _ => panic!("no such program"),
    };
    let most = std::thread::available_parallelism().map_or(1, usize::from);
    println!("{:>7} {:>10} {:>8}", "workers", "executions", "seconds");
    for workers in 1..=most {
        let start = Instant::now();
        let together = Together::new(strategy, Duration::ZERO).expect("it covers everything");
        let work = || {
            let body: Rc<dyn Fn()> = Rc::new(move || program(threads, calls));
            let options = Options::new(strategy.clone());
            together.work(&options, &body, &mut |_| ControlFlow::Continue(()));
        };
        std::thread::scope(|scope| (0..workers).for_each(|_| drop(scope.spawn(work))));
        let explored = together.explored();
        assert!(explored.complete);
        println!("{workers:>7} {:>10} {:>8.2}", explored.executions, start.elapsed().as_secs_f64());
    }
}

/// One row: prints executions and seconds.
fn one(explorer: &str, structure: &str, threads: usize, calls: usize, seconds: u64) {
    let start = Instant::now();
    std::thread::spawn(move || {
        std::thread::sleep(Duration::from_secs(seconds));
        println!("{:>10} (-)", EXECUTIONS.load(Ordering::Relaxed));
        std::process::exit(0);
    });
    let program: fn(usize, usize) = match (explorer, structure) {
        ("linchpin", "stack") => programs::linchpin::stack,
        ("linchpin", "queue") => programs::linchpin::queue,
        ("loom", "stack") => programs::with_loom::stack,
        ("loom", "queue") => programs::with_loom::queue,
        ("shuttle", "stack") => programs::with_shuttle::stack,
        ("shuttle", "queue") => programs::with_shuttle::queue,
        _ => panic!("no such row"),
    };
    let counted = move || {
        EXECUTIONS.fetch_add(1, Ordering::Relaxed);
        program(threads, calls);
    };
    match explorer {
        "linchpin" => {
            let body: Rc<dyn Fn()> = Rc::new(counted);
            let options = Options::new(Strategy::Exhaustive);
            let explored = explore(&options, &body, &mut |_| ControlFlow::Continue(()));
            assert!(explored.complete);
        }
        "loom" => {
            let mut builder = loom::model::Builder::new();
            builder.max_branches = 100_000;
            builder.check(counted);
        }
        _ => shuttle::check_dfs(counted, None),
    }
    println!("{:>10} ({:.2})", EXECUTIONS.load(Ordering::Relaxed), start.elapsed().as_secs_f64());
}
