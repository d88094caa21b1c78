//! With sleep sets the same model states are found, by fewer transitions, and what goes wrong is found
//! as soon.

use crate::naive::{random_reductions, seed_and_cases};
use crate::support::{bounds, compiled};
use crate::{generator, references};
use fastrand::Rng;
use linchpin_ir::program::Program;
use linchpin_lang::{Config, Threads, compile};
use linchpin_refine::Policy;
use linchpin_refine::model::ModelProduct;
use linchpin_refine::search::{Exploration, SearchOptions, Stats, explore};
use linchpin_space::Reductions;
use linchpin_verdict::Limits;

/// Larger searches are not compared.
const MOST: u64 = 40_000;

/// How often what was compared.
#[derive(Debug, Default)]
struct Counts {
    complete: usize,
    wrong: usize,
    /// Where the same states were found.
    same: usize,
    too_large: usize,
    slept: usize,
    among_three: usize,
}

fn search(
    program: &Program,
    calls: usize,
    (reductions, policy): (Reductions, Policy),
    options: &SearchOptions,
) -> (Exploration, Stats) {
    let product = ModelProduct::new(program, bounds(calls, 2), reductions, policy).unwrap();
    explore(&product, options, &|_| {})
}

/// How an exploration ended: how long the way is to what goes wrong, if something does.
fn ending(of: &Exploration) -> Option<usize> {
    match of {
        Exploration::Complete => None,
        Exploration::Found { path, .. } => Some(path.len()),
        Exploration::Stopped(reason) => panic!("{reason}"),
    }
}

#[test]
fn what_sleeps_is_found_otherwise() {
    // For a long run: LINCHPIN_SEED=7 LINCHPIN_CASES=10000 cargo test --release -p linchpin-refine
    // what_sleeps
    let (seed, cases) = seed_and_cases(400);
    let mut counts = Counts::default();
    for number in 0..cases {
        let seed = seed.wrapping_add(number);
        let mut random = Rng::with_seed(seed);
        let source = match random.bool() {
            true => generator::model(&mut random),
            false => references::program(&mut random),
        };
        let threads = random.usize(2..4);
        let config = Config { threads: Threads::Count(threads), ..Config::default() };
        let Ok(compiled) = compile(&source, &config) else { panic!("{source}") };
        let calls = if threads == 3 { 1 } else { random.usize(1..3) };
        for combination in 0..4 {
            let reductions = match combination {
                0 => Reductions::ALL,
                1 => Reductions::ALL.one_thread_at_a_time(),
                2 => random_reductions(&mut random),
                _ => Reductions {
                    thread_symmetry: false,
                    ..random_reductions(&mut random).one_thread_at_a_time()
                },
            };
            let policy = if random.u8(..4) == 0 { Policy::Eager } else { Policy::JustInTime };
            let mut awake = SearchOptions {
                workers: 1,
                calls: random.bool(),
                sleep_sets: false,
                limits: Limits { configurations: Some(MOST), ..Limits::default() },
                ..SearchOptions::default()
            };
            let (expected, plain) = search(&compiled.program, calls, (reductions, policy), &awake);
            if matches!(expected, Exploration::Stopped(_)) {
                counts.too_large += 1;
                continue;
            }
            awake.sleep_sets = true;
            awake.workers = random.usize(1..3);
            awake.limits = Limits::default();
            let (found, stats) = search(&compiled.program, calls, (reductions, policy), &awake);
            let case = format!("seed {seed} {combination} {policy:?} {reductions:?}\n{source}");
            assert_eq!(ending(&found), ending(&expected), "{case}");
            if found == Exploration::Complete {
                counts.complete += 1;
                // Where steps of others are taken along, it may be in another order; and states that
                // differ only in the names of threads may be told apart.
                let more = reductions.ample_steps || reductions.doomed_attempts;
                if !(more || reductions.thread_symmetry) {
                    let states = |of: Stats| (of.implementation_states, of.depth, of.is_closed);
                    assert_eq!(states(stats), states(plain), "{case}");
                    counts.same += 1;
                } else if !more {
                    assert!(stats.implementation_states <= plain.implementation_states, "{case}");
                    assert_eq!(stats.is_closed, plain.is_closed, "{case}");
                }
                let slept = stats.transitions < plain.transitions;
                counts.slept += usize::from(slept);
                counts.among_three += usize::from(slept && threads == 3);
            } else {
                counts.wrong += 1;
            }
        }
    }
    println!("seed {seed}: {counts:?}");
    if cases >= 200 {
        let least = usize::try_from(cases / 4).unwrap();
        assert!(counts.complete > least && counts.wrong > least, "{counts:?}");
        assert!(
            counts.slept > least && counts.same > least / 4 && counts.among_three > 0,
            "{counts:?}"
        );
    }
}

/// The same on bundled models, also where only claimed points count.
#[test]
fn bundled_models_have_the_same_states() {
    const MODELS: [&str; 7] = [
        include_str!("../../../../models/treiber_stack.lin"),
        include_str!("../../../../models/ms_queue.lin"),
        include_str!("../../../../models/two_lock_queue.lin"),
        include_str!("../../../../models/lazy_set.lin"),
        include_str!("../../../../models/k_register.lin"),
        include_str!("../../../../models/broken/treiber_stack_split_pop_cas.lin"),
        include_str!("../../../../models/broken/shann_huang_chen_queue.lin"),
    ];
    for source in MODELS {
        let program = compiled(source).program;
        let mut slept = false;
        for policy in [Policy::JustInTime, Policy::Points] {
            for calls in [true, false] {
                let named = Reductions { thread_symmetry: false, ..Reductions::ALL };
                let reductions = named.one_thread_at_a_time();
                let sleeping = SearchOptions { calls, ..SearchOptions::default() };
                let awake = SearchOptions { sleep_sets: false, ..sleeping.clone() };
                let (found, stats) = search(&program, 2, (reductions, policy), &sleeping);
                let (expected, plain) = search(&program, 2, (reductions, policy), &awake);
                assert_eq!(ending(&found), ending(&expected), "{policy:?}\n{source}");
                if found == Exploration::Complete {
                    let states = |of: Stats| (of.implementation_states, of.depth, of.is_closed);
                    assert_eq!(states(stats), states(plain), "{policy:?}\n{source}");
                    slept |= stats.transitions < plain.transitions;
                } else {
                    slept = true;
                }
            }
        }
        assert!(slept, "{source}");
    }
}

/// Claimed points in steps that touch different words do not commute.
#[test]
fn points_keep_their_order() {
    // `f` and `g` overlap, and then `h` answers which point it takes to be the last.
    for last in [1, 2] {
        let source = format!(
            "spec {{ state s: int; op f() {{ s = 1; }} op g() {{ s = 2; }} op h() -> int {{ return s; }} }}
            shared a: int = 0; shared b: int = 0; shared x: int = 0; shared y: int = 0;
            op f() {{ a = 1; let o = b; assume(o == 1); #[lin] x = 1; }}
            op g() {{ b = 1; let o = a; assume(o == 1); #[lin] y = 1; }}
            op h() -> int {{ let p = x; assume(p == 1); let q = y; assume(q == 1); #[lin] let r = x; return {last}; }}
            role first: f;
            role second: g;
            role reader: h;
            bounds {{ first: 1, second: 1, reader: 1, ops: 1, values: 1 }}"
        );
        let program = compiled(&source).program;
        for sleep_sets in [true, false] {
            let options = SearchOptions { sleep_sets, ..SearchOptions::default() };
            let (found, _) = search(&program, 1, (Reductions::ALL, Policy::Points), &options);
            assert!(ending(&found).is_some(), "{last} {sleep_sets}");
        }
    }
}
