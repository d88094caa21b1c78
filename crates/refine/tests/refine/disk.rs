//! A search on disk answers as one in memory does: in one go, with little memory, level by level in
//! a new process each, and after a process that left its work unfinished.

use crate::models::models;
use crate::support::{bounds, compiled};
use crate::{crash_generator, generator};
use fastrand::Rng;
use linchpin_ir::program::Program;
use linchpin_refine::model::{ModelError, ModelProduct};
use linchpin_refine::product::{Product, To};
use linchpin_refine::search::{Exploration, SearchOptions};
use linchpin_refine::{
    DiskError, DiskOptions, Policy, Portable, Report, VerifyOptions, explore_on_disk,
    states_to_come, verify,
};
use linchpin_space::{Bounds, Reductions};
use linchpin_verdict::{CrashProperty, Inconclusive, Outcome};
use std::path::Path;
use tempfile::TempDir;

fn asked(bounds: Bounds) -> VerifyOptions {
    let mut options = VerifyOptions::new(bounds);
    options.stuck = false;
    options.repairs = false;
    // It is left out on disk, and looks at short runs with crashes later.
    options.reductions.covered_crashes = false;
    // The path that the search itself finds.
    options.shortest_budget = 0;
    options
}

fn report(program: &Program, options: &VerifyOptions) -> Report {
    verify(program, options, &|_| {}).expect("a report")
}

fn on_disk(program: &Program, options: &VerifyOptions, disk: DiskOptions) -> Report {
    report(program, &VerifyOptions { disk: Some(disk), ..options.clone() })
}

/// Goes on level by level, each time as a new process would.
fn level_by_level(program: &Program, options: &VerifyOptions, folder: &Path) -> Report {
    let mut disk = DiskOptions { levels: Some(1), ..DiskOptions::new(folder) };
    for _ in 0..2000 {
        let found = on_disk(program, options, disk);
        match found.outcome {
            Outcome::Inconclusive(Inconclusive::Stopped { .. }) => {}
            _ => return found,
        }
        disk = DiskOptions { levels: Some(1), ..DiskOptions::resume(folder) };
    }
    panic!("the search does not end");
}

/// All that is said about a model but its cost.
fn said(report: &Report) -> (String, String, Vec<String>, bool) {
    let outcome = match &report.outcome {
        Outcome::Holds(()) => "holds".to_owned(),
        Outcome::Violated(found) => format!("{:?}", std::mem::discriminant(&found.failure)),
        Outcome::Inconclusive(why) => format!("{why}"),
    };
    let unreached = report.unreached.iter().map(ToString::to_string).collect();
    let crash = report.crash.as_ref().map(|crash| (crash.property, crash.fails.clone()));
    (outcome, format!("{crash:?} {:?}", report.points), unreached, report.bounded)
}

/// How many states a search that is interrupted has beside one that is not.
#[derive(Clone, Copy, PartialEq)]
enum Counts {
    Same,
    /// A value that only configurations of the specification hold (the argument of an interrupted
    /// call) is named in the order of their numbers, and a new process numbers them anew. So of
    /// states that differ in such names alone, which the search takes for different ones, another
    /// one may be kept, or one more.
    Near,
}

/// Whether the same conditions were found not to hold. Once durability is violated there is an answer,
/// and a search that stops after each level does not go on to find out whether weaker ones hold.
fn fails_alike(how: &str, found: &Report, memory: &Report) -> bool {
    match (&found.crash, &memory.crash) {
        (Some(found), Some(memory)) if how == "levels" => {
            found.property == memory.property && memory.fails.starts_with(&found.fails)
        }
        _ => said(found).1 == said(memory).1,
    }
}

/// Compares searches on disk with one in memory.
fn compare(program: &Program, options: &VerifyOptions, counts: Counts, at: &str) -> Report {
    let memory = report(program, options);
    let folder = TempDir::new().expect("a folder");
    let whole = on_disk(program, options, DiskOptions::new(folder.path().join("whole")));
    let tight =
        DiskOptions { memory: Some(40_000), ..DiskOptions::new(folder.path().join("tight")) };
    let tight = on_disk(program, options, tight);
    let levels = level_by_level(program, options, &folder.path().join("levels"));
    for (how, found) in [("whole", &whole), ("tight", &tight), ("levels", &levels)] {
        let at = format!("{how}, {at}");
        if memory.outcome.is_holds() {
            assert_eq!(said(found), said(&memory), "{at}");
        } else {
            assert_eq!(said(found).0, said(&memory).0, "{at}");
            assert!(fails_alike(how, found, &memory), "{:?}, {at}", said(found));
        }
        match memory.outcome.is_holds() {
            // Of what can do no more than others, more is left out on disk.
            true => assert!(found.stats.depth <= memory.stats.depth, "{at}"),
            // What goes wrong is found as soon.
            false => assert_eq!(found.stats.depth, memory.stats.depth, "{at}"),
        }
        assert!(found.stats.states <= memory.stats.states.max(1), "{at}");
    }
    // What is interrupted goes on where it was.
    let (one, other) = (&levels.stats, &whole.stats);
    let near = |one: u64, other: u64| one.abs_diff(other) <= 2 + other / 20;
    let states = [one, other].map(|stats| stats.states as u64);
    let is_right = match counts {
        Counts::Same => one.transitions == other.transitions && states[0] == states[1],
        Counts::Near => near(one.transitions, other.transitions) && near(states[0], states[1]),
    };
    assert!(is_right, "{one:?} and {other:?}, {at}");
    memory
}

fn seed_and_cases(cases: u64) -> (u64, u64) {
    let number = |name: &str| std::env::var(name).ok().map(|text| text.parse().expect("a number"));
    (number("LINCHPIN_SEED").unwrap_or(1), number("LINCHPIN_CASES").unwrap_or(cases))
}

#[test]
fn random_programs_are_judged_on_disk_as_in_memory() {
    let (seed, cases) = seed_and_cases(40);
    let (mut holding, mut violated) = (0, 0);
    for seed in seed..seed + cases {
        let source = generator::model(&mut Rng::with_seed(seed));
        let mut options = asked(bounds(2, 2));
        options.search.workers = 1;
        let at = format!("seed {seed}\n{source}");
        let found = compare(&compiled(&source).program, &options, Counts::Same, &at);
        match found.outcome {
            Outcome::Holds(()) => holding += 1,
            _ => violated += 1,
        }
    }
    assert!(holding * 5 > cases && violated * 5 > cases, "{holding} hold, {violated} do not");
}

#[test]
fn random_programs_with_crashes_are_judged_on_disk_as_in_memory() {
    let (seed, cases) = seed_and_cases(12);
    for seed in seed..seed + cases {
        let (source, memory) = crash_generator::model(&mut Rng::with_seed(seed));
        let mut options = asked(Bounds { crashes: 1, memory, ..bounds(1, 2) });
        options.search.workers = 1;
        for property in [None, Some(CrashProperty::Recoverable), Some(CrashProperty::Buffered)] {
            options.property = property;
            let at = format!("{property:?}, seed {seed}\n{source}");
            compare(&compiled(&source).program, &options, Counts::Near, &at);
        }
        // Where values keep their names there is no such difference.
        options.property = Some(CrashProperty::Recoverable);
        options.reductions.value_symmetry = false;
        compare(&compiled(&source).program, &options, Counts::Same, &format!("seed {seed}"));
    }
}

#[test]
fn models_are_judged_on_disk_as_in_memory() {
    let (mut holding, mut violated) = (0, 0);
    for model in models() {
        let compiled = compiled(&model.source);
        let mut options = asked(bounds(1, 2));
        if report(&compiled.program, &options).stats.states > 3000 {
            continue;
        }
        options.search.workers = 1;
        match compare(&compiled.program, &options, Counts::Same, &model.name).outcome {
            Outcome::Holds(()) => holding += 1,
            _ => violated += 1,
        }
    }
    assert!(holding >= 10 && violated >= 5, "{holding} hold, {violated} do not");
}

const QUEUE: &str = include_str!("../../../../models/ms_queue.lin");

/// With several workers, too, what is written does not depend on which of them found it.
#[test]
fn workers_do_not_change_what_is_found() {
    let program = compiled(QUEUE).program;
    let mut options = asked(bounds(2, 1));
    options.points = false;
    let mut counts = Vec::new();
    for workers in [1, 2, 4] {
        options.search.workers = workers;
        let folder = TempDir::new().expect("a folder");
        let memory = Some(200_000);
        let disk = DiskOptions { memory, ..DiskOptions::new(folder.path().join("search")) };
        let found = on_disk(&program, &options, disk);
        assert!(found.outcome.is_holds());
        counts.push((
            found.stats.states,
            found.stats.implementation_states,
            found.stats.transitions,
        ));
    }
    assert_eq!(counts[0], counts[1]);
    assert_eq!(counts[0], counts[2]);
}

#[test]
fn what_a_process_left_unfinished_is_thrown_away() {
    let program = compiled(QUEUE).program;
    let mut options = asked(bounds(1, 2));
    options.points = false;
    let folder = TempDir::new().expect("a folder");
    let search = folder.path().join("search");
    let stopped = DiskOptions { levels: Some(5), ..DiskOptions::new(&search) };
    assert!(!on_disk(&program, &options, stopped).outcome.is_holds());
    let part = search.join("justintime-durable");
    for name in ["level-6", "successors-1", "visited-99", "manifest.unfinished"] {
        std::fs::write(part.join(name), b"half of it").expect("written");
    }
    let found = on_disk(&program, &options, DiskOptions::resume(&search));
    assert!(found.outcome.is_holds(), "{:?}", found.outcome);
    assert!(!part.join("visited-99").exists());
    let again = on_disk(&program, &options, DiskOptions::resume(&search));
    assert_eq!(said(&again), said(&found), "what is decided stays decided");
    assert_eq!(again.stats.states, found.stats.states);
}

#[test]
fn a_folder_goes_on_only_with_its_own_search() {
    let program = compiled(QUEUE).program;
    let options = asked(bounds(1, 1));
    let folder = TempDir::new().expect("a folder");
    let search = folder.path().join("search");
    let ask = |program: &Program, options: &VerifyOptions, disk: DiskOptions| {
        let options = VerifyOptions { disk: Some(disk), ..options.clone() };
        match verify(program, &options, &|_| {}) {
            Err(ModelError::Disk(error)) => error,
            other => panic!("{other:?}"),
        }
    };
    let none = ask(&program, &options, DiskOptions::resume(&search));
    assert!(matches!(none, DiskError::NoSearch(_)), "{none}");
    on_disk(&program, &options, DiskOptions::new(&search));
    let twice = ask(&program, &options, DiskOptions::new(&search));
    assert!(matches!(twice, DiskError::NotEmpty(_)), "{twice}");
    let stack = compiled(include_str!("../../../../models/treiber_stack.lin")).program;
    let mut without = options.clone();
    without.reductions.thread_symmetry = false;
    for (program, options) in
        [(&stack, &options), (&program, &asked(bounds(2, 1))), (&program, &without)]
    {
        let another = ask(program, options, DiskOptions::resume(&search));
        assert!(matches!(another, DiskError::Another(_)), "{another}");
    }
    std::fs::write(folder.path().join("mine"), b"of a person").expect("written");
    let full = ask(&program, &options, DiskOptions::new(folder.path()));
    assert!(matches!(full, DiskError::NotEmpty(_)), "{full}");
}

#[test]
fn a_folder_that_cannot_be_written_is_inconclusive() {
    let program = compiled(QUEUE).program;
    let options = asked(bounds(1, 1));
    let folder = TempDir::new().expect("a folder");
    let file = folder.path().join("file");
    std::fs::write(&file, b"").expect("written");
    let found = on_disk(&program, &options, DiskOptions::new(file.join("search")));
    let Outcome::Inconclusive(reason) = &found.outcome else { panic!("{:?}", found.outcome) };
    assert!(reason.to_string().contains("cannot go on"), "{reason}");
}

/// Files cut short or overwritten end the search, and nothing else.
#[test]
fn damaged_files_are_noticed() {
    let program = compiled(QUEUE).program;
    let mut options = asked(bounds(1, 2));
    options.points = false;
    let mut random = Rng::with_seed(3);
    for case in 0..40 {
        let folder = TempDir::new().expect("a folder");
        let search = folder.path().join("search");
        let stopped = DiskOptions { levels: Some(8), ..DiskOptions::new(&search) };
        on_disk(&program, &options, stopped);
        let name = ["level-8", "level-7", "manifest"][case % 3];
        let path = search.join("justintime-durable").join(name);
        let mut bytes = std::fs::read(&path).expect("a file");
        let at = random.usize(..bytes.len());
        match random.bool() {
            true => bytes.truncate(at),
            false => bytes[at] = bytes[at].wrapping_add(random.u8(1..)),
        }
        std::fs::write(&path, bytes).expect("written");
        let found = on_disk(&program, &options, DiskOptions::resume(&search));
        let Outcome::Inconclusive(reason) = &found.outcome else { panic!("{:?}", found.outcome) };
        assert!(reason.to_string().contains("damaged"), "{reason}");
    }
}

/// A set that is read is the one that was written, here and in another product.
#[test]
fn sets_mean_the_same_elsewhere() {
    let (seed, cases) = seed_and_cases(30);
    for seed in seed..seed + cases {
        let crashes = seed % 2 == 0;
        let source = match crashes {
            true => crash_generator::model(&mut Rng::with_seed(seed)).0,
            false => generator::model(&mut Rng::with_seed(seed)),
        };
        let program = compiled(&source).program;
        let of = Bounds { crashes: u8::from(crashes), ..bounds(2, 2) };
        let property = match seed % 6 {
            0 => CrashProperty::Buffered,
            2 => CrashProperty::Recoverable,
            _ => CrashProperty::Durable,
        };
        let product = |policy| {
            let product =
                ModelProduct::new(&program, of, Reductions::ALL, policy).expect("a product");
            product.asking(property)
        };
        let policy = [Policy::JustInTime, Policy::Eager][usize::from(seed % 5 == 0)];
        let (here, there) = (product(policy), product(policy));
        let mut worker = here.worker();
        let mut states = vec![here.initial()];
        let mut at = 0;
        while at < states.len() && states.len() < 2000 {
            let (bytes, set) = states[at].clone();
            here.expand(&mut worker, &bytes, set, &mut |step| {
                if let To::State { bytes, set, .. } = step.to {
                    states.push((bytes.to_vec(), set));
                }
            });
            at += 1;
        }
        let mut sets: Vec<u32> = states.iter().map(|(_, set)| *set).collect();
        sets.sort_unstable();
        sets.dedup();
        let mut all = Vec::new();
        // Backwards, so that numbers are others there.
        for set in sets.into_iter().rev() {
            let (mut bytes, mut again) = (Vec::new(), Vec::new());
            here.write_set(set, &mut bytes);
            assert_eq!(here.read_set(&bytes), Some(set), "seed {seed}\n{source}");
            let other = there.read_set(&bytes).expect("a set");
            there.write_set(other, &mut again);
            assert_eq!(again, bytes, "seed {seed}\n{source}");
            for end in 0..bytes.len() {
                assert_eq!(there.read_set(&bytes[..end]), None, "seed {seed}, cut at {end}");
            }
            all.push(bytes);
        }
        let count = all.len();
        all.sort();
        all.dedup();
        assert_eq!(all.len(), count, "different sets have different bytes, seed {seed}");
        there.forget_sets();
        for bytes in &all {
            let (set, mut again) = (there.read_set(bytes).expect("a set"), Vec::new());
            there.write_set(set, &mut again);
            assert_eq!(&again, bytes, "after forgetting, seed {seed}\n{source}");
        }
    }
}

/// Deep and narrow: many levels, so that runs of visited states are merged more than once.
#[test]
fn many_levels() {
    let source = "spec counter; shared c: int = 0; \
                  op add(n: int) { loop { let x = c; if cas(c, x, x + n) { return; } } } \
                  op read() -> int { return c; } bounds { threads: 2, ops: 60, values: 1 }";
    let program = compiled(source).program;
    let mut options = asked(bounds(60, 1));
    options.search.workers = 1;
    let product = ModelProduct::new(&program, options.bounds, Reductions::ALL, Policy::JustInTime);
    let product = product.expect("a product");
    let folder = TempDir::new().expect("a folder");
    let disk = DiskOptions::new(folder.path());
    let search = SearchOptions { workers: 1, ..SearchOptions::default() };
    let (outcome, stats) = explore_on_disk(&product, "part", &disk, &search, &|_| {});
    assert_eq!(outcome, Exploration::Complete);
    assert!(stats.depth > 100, "{stats:?}");
    let memory = report(&program, &options).stats;
    assert!(stats.depth <= memory.depth);
    assert!(stats.states <= memory.states);
    assert_eq!(stats.implementation_states, memory.implementation_states);
}

#[test]
fn what_is_to_come_is_guessed_from_levels_that_rise_and_fall() {
    let size = |at: i32| (1e6 * (-(f64::from(at - 20) / 6.0).powi(2)).exp()) as u64 + 1;
    let sizes: Vec<u64> = (0..40).map(size).collect();
    for seen in [15, 20, 25, 30] {
        let truth: u64 = sizes[seen..].iter().sum();
        let guess = states_to_come(&sizes[..seen]).expect("a guess");
        assert!(guess > truth / 3 && guess < truth * 3, "{seen}: {guess} for {truth}");
    }
    assert_eq!(states_to_come(&[1, 2, 4, 8, 16, 32]), None, "growth that does not slow down");
    assert_eq!(states_to_come(&[]), None);
    assert_eq!(states_to_come(&[1, 5]), None);
}
