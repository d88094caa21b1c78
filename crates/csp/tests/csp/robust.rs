//! No source makes the crate panic or run away: 50,000 mutants of the models, and some nasty ones
//! by hand. `LINCHPIN_SEED` and `LINCHPIN_CASES` make it a longer or another run.

use fastrand::Rng;
use linchpin_csp::{Failure, Options, parse, verify};
use linchpin_verdict::Outcome;
use std::path::Path;

const PIECES: &[&str] = &[
    "Stop",
    "Skip",
    "->",
    "[]",
    "|||",
    ";",
    "\\ {a}",
    "<|",
    "|>",
    "if",
    "ifa",
    "else",
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    "tau",
    "var",
    "const",
    "#define",
    "assert",
    "refines",
    "deadlockfree",
    "for",
    ":",
    "..",
    "@",
    "=",
    "==",
    "!=",
    "<",
    "&&",
    "||",
    "!",
    "-",
    "+",
    "*",
    "/",
    "%",
    ".",
    ",",
    "0",
    "1",
    "-1",
    "9223372036854775807",
    "99999999999999999999",
    "K",
    "i",
    "B[i]",
    "x",
    "P",
    "P(0)",
    "true",
    "τ",
    "→",
    "□",
    "\u{feff}",
    "é",
    "//",
    "/*",
    "*/",
    "\0",
    "\"",
    "\n",
    "P = P;",
    "P = a -> P ||| P;",
    "assert P refines P;",
    "|",
    "#",
];

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}

fn sources() -> Vec<String> {
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/csp");
    let mut sources: Vec<String> = [models.clone(), models.join("broken")]
        .iter()
        .flat_map(|directory| std::fs::read_dir(directory).unwrap())
        .filter_map(|entry| std::fs::read_to_string(entry.unwrap().path()).ok())
        .collect();
    sources.sort();
    sources
}

fn mutate(rng: &mut Rng, sources: &[String]) -> String {
    let mut source = sources[rng.usize(..sources.len())].clone();
    for _ in 0..rng.usize(1..4) {
        let place = |rng: &mut Rng, source: &str| {
            let mut at = rng.usize(..=source.len());
            while !source.is_char_boundary(at) {
                at -= 1;
            }
            at
        };
        let (from, to) = (place(rng, &source), place(rng, &source));
        let near = {
            let mut at = (from + rng.usize(..12)).min(source.len());
            while !source.is_char_boundary(at) {
                at -= 1;
            }
            at.max(from)
        };
        match rng.u8(..6) {
            0 => source.insert_str(from, PIECES[rng.usize(..PIECES.len())]),
            1 | 2 => source.replace_range(from..near, PIECES[rng.usize(..PIECES.len())]),
            3 => source.replace_range(from..near, ""),
            4 => source.truncate(from),
            _ => {
                let end = from.max(to).min(from.min(to) + 200);
                let copied = source.get(from.min(to)..end).unwrap_or("x").to_owned();
                source.insert_str(near, &copied);
            }
        }
    }
    source
}

fn bounded() -> Options {
    let mut options = Options::default();
    options.search.workers = 1;
    options.search.limits.memory = Some(200_000);
    options
}

#[test]
fn mutants_get_an_answer() {
    let (seed, cases) = (setting("LINCHPIN_SEED", 0x50b5), setting("LINCHPIN_CASES", 50_000));
    println!("LINCHPIN_SEED={seed} LINCHPIN_CASES={cases}");
    let sources = sources();
    let (mut wrong, mut right) = (0, 0);
    for at in 0..cases {
        let mut rng = Rng::with_seed(seed + at);
        let source = mutate(&mut rng, &sources);
        match parse(&source, &[]) {
            Ok(model) => {
                right += 1;
                // Executing all of them would take minutes.
                if right % 16 == 0 {
                    for report in verify(&model, &bounded(), &|_| {}) {
                        assert!(!report.to_string().is_empty());
                    }
                }
            }
            Err(mistakes) => {
                wrong += 1;
                assert!(!mistakes.is_empty(), "no mistake, no model: seed {}", seed + at);
                if wrong % 16 == 0 {
                    for mistake in mistakes {
                        assert!(!mistake.render("mutant.csp", &source, false).is_empty());
                    }
                }
            }
        }
    }
    println!("{right} models, {wrong} mistaken");
    assert!(cases < 1000 || (right > 0 && wrong > right));
}

/// Enough for processes that grow to be noticed, and little enough for values that grow.
const MUCH: usize = 64 << 20;
const LITTLE: usize = 200_000;

fn undecided(source: &str, memory: usize, reason: &str) {
    let model = parse(source, &[]).unwrap_or_else(|mistakes| {
        panic!("{}", mistakes[0].render("nasty.csp", source, false));
    });
    let mut options = bounded();
    options.search.limits.memory = Some(memory);
    for report in verify(&model, &options, &|_| {}) {
        match &report.outcome {
            Outcome::Inconclusive(said) => assert!(said.to_string().contains(reason), "{said}"),
            _ => panic!("{report}"),
        }
    }
}

#[test]
fn endless_processes_stop_with_a_reason() {
    undecided("P = P; assert P deadlockfree;", MUCH, "unfolds without end");
    undecided("P = P [] P; assert P refines P;", MUCH, "unfolds without end");
    undecided(
        "P(i) = ifa (true) { P(i + 1) [] P(i + 2) } else { Stop }; assert P(0) refines Stop;",
        MUCH,
        "unfolds without end",
    );
    undecided(
        "P = a -> (P ||| P); assert P deadlockfree;",
        MUCH,
        "its recursion seems to have no bound",
    );
    undecided(
        "P = (a -> P); c -> Skip; assert P refines P;",
        MUCH,
        "its recursion seems to have no bound",
    );
    undecided("var n = 0; P = a{n = n + 1;} -> P; assert P deadlockfree;", LITTLE, "memory limit");
    undecided("P(i) = a.i -> P(i + 1); assert P(0) refines P(0);", LITTLE, "memory limit");
    undecided("P = ||| i:{0..100000} @ a.i -> Stop; assert P deadlockfree;", MUCH, "more than");
    undecided(
        "var x = 0; P = a{for i:{0..999} {for j:{0..999} {for k:{0..999} {x = 1 - x;}}}} -> Stop; assert P deadlockfree;",
        MUCH,
        "assignments",
    );
}

#[test]
fn deep_and_long_sources_are_refused_in_words() {
    let deep = format!("P = {}Stop{};", "(".repeat(100_000), ")".repeat(100_000));
    let minus = format!("var x = {}1;", "-".repeat(100_000));
    let long = format!("P = {}Stop;", "a -> ".repeat(20_000));
    let sum = format!("const x = {}1;", "1 + ".repeat(20_000));
    let sequence = format!("P = {}Skip;", "Skip; ".repeat(20_000));
    let guards = format!("P = {}Skip;", "[true] ".repeat(20_000));
    let calls = format!("P = {}", "Skip; P(".repeat(20_000));
    let large = "x".repeat(300_000);
    for source in [deep, minus, long, sum, sequence, guards, calls, large] {
        let mistakes = parse(&source, &[]).unwrap_err();
        assert!(!mistakes.is_empty());
        let shown = &mistakes[0].message;
        assert!(shown.len() < 200, "{shown}");
    }
}

#[test]
fn faults_of_the_model_are_told_with_the_way_there() {
    for (source, message) in [
        (
            "var a[2]; P(i) = e{a[i] = 1;} -> P(i + 1); assert P(0) deadlockfree;",
            "`a[2]` does not exist",
        ),
        (
            "var x:{0..2}; P = e{x = x + 1;} -> P; assert P deadlockfree;",
            "`x` becomes 3, outside its range 0..2",
        ),
        ("var x = 1; P = e{x = 5 / (x - 1);} -> P; assert P deadlockfree;", "division by zero"),
        (
            "var x = 1; P = e{x = x * 9223372036854775807 + x;} -> P; assert P deadlockfree;",
            "leaves the range of 64 bits",
        ),
    ] {
        let model = parse(source, &[]).unwrap();
        match &verify(&model, &bounded(), &|_| {})[0].outcome {
            Outcome::Violated(Failure::Fault { message: said, place, .. }) => {
                assert!(said.contains(message), "{said}");
                assert_eq!(place.line, 1);
            }
            other => panic!("{other:?}"),
        }
    }
}
