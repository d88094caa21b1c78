//! The engine against the oracle on random models.

use crate::compare::{Compared, compare};
use crate::generator;
use crate::support::{PLAIN, Within, compiled};
use fastrand::Rng;
use linchpin_base::Detail;
use linchpin_engine::Rule;
use linchpin_space::Reductions;
use std::collections::{BTreeMap, BTreeSet};

/// How the two verdicts on one model compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Sort {
    /// All conditions hold.
    Hold,
    /// The same rules are broken.
    SameRules,
    /// Some rules are broken, and those on which the two differ are explained.
    Explained,
    /// One of the two gave up.
    TooLarge,
    /// Only the oracle finds a rule broken.
    OracleOnly,
    /// Only the engine finds a rule broken.
    EngineOnly,
    /// Both find rules broken, and not the same.
    Unexplained,
}

/// Both find that a condition fails. The engine follows a call only until a condition fails for
/// it, and it foresees what a call would do if it were left alone.
fn explained(compared: &Compared) -> bool {
    let oracle = compared.oracle.rules();
    let engine = &compared.engine;
    let findings = &compared.analysis.findings;
    // Nothing more is asked of a call that does not begin in a base point, or that is disturbed.
    let lost = engine.contains(&Rule::CriticalBasePoint) || engine.contains(&Rule::LastRead);
    let missed = oracle.difference(engine).next().is_some();
    // A call that is disturbed between its update steps may not take the next one after all: then
    // it was critical only as far as could be foreseen.
    let disturbed =
        findings.iter().any(|finding| matches!(finding.detail, Detail::Disturbed { .. }));
    let further = engine.difference(&oracle).next().is_some();
    (!missed || lost) && (!further || disturbed)
}

fn sort(compared: Option<&Compared>) -> Sort {
    let Some(compared) = compared else { return Sort::TooLarge };
    let oracle = compared.oracle.rules();
    match (compared.engine.is_empty(), oracle.is_empty()) {
        (true, true) => Sort::Hold,
        (true, false) => Sort::OracleOnly,
        (false, true) => Sort::EngineOnly,
        _ if oracle == compared.engine => Sort::SameRules,
        _ if explained(compared) => Sort::Explained,
        _ => Sort::Unexplained,
    }
}

const WITHIN: [(Within, usize); 4] = [
    (Within { threads: 2, calls: 1, values: 2 }, 8_000),
    (Within { threads: 2, calls: 1, values: 1 }, 8_000),
    (Within { threads: 2, calls: 2, values: 1 }, 20_000),
    (Within { threads: 3, calls: 1, values: 1 }, 20_000),
];

#[test]
fn probe() {
    let number = |name: &str, default: u64| {
        std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
    };
    let (first, cases) = (number("SEED", 0), number("CASES", 300));
    let mut tally: BTreeMap<String, (usize, u64)> = BTreeMap::new();
    for seed in first..first + cases {
        let mut random = Rng::with_seed(seed);
        let (name, source) = generator::model(&mut random);
        let (within, most) = WITHIN[random.usize(..WITHIN.len())];
        let reductions = if random.bool() { PLAIN } else { Reductions { partial_order: number("PO", 0) == 1 , ..Reductions::ALL} };
        let program = compiled(&source, within.threads).program;
        let as_printed = random.bool();
            let compared = compare(&program, within, reductions, as_printed, most);
            let sort = sort(compared.as_ref());
            let rules = compared.as_ref().map_or(BTreeSet::new(), |c| c.oracle.rules());
            if cases == 1 || sort > Sort::TooLarge {
                println!("{seed} {name} {sort:?} {within:?} {as_printed} {reductions:?}\n{source}");
                if let Some(compared) = &compared {
                for (rule, moves) in &compared.oracle.broken { println!("oracle {rule:?}: {moves:#?}"); }
                for finding in &compared.analysis.findings { println!("engine {finding:?}"); }
                println!("{:?}", compared.analysis.treatment);
                }
            }
            let _ = rules;
            let e = tally.entry(format!("{sort:?} {within:?}")).or_insert((0, seed));
            e.0 += 1;
    }
    for (k, v) in tally { println!("{k} {v:?}"); }
}

#[test]
fn first_step() {
    let source = "spec {\n    state x: int;\n    op f() -> bool { if x == 0 { x = 1; return true; } return false; }\n    op g() { x = 2; }\n    op get() -> int { return x; }\n}\nshared x: int;\nshared y: int;\n\
      shared l: lock;\nop f() -> bool { lock(l); let r = cas(x, 0, 1); if r { y = 1; } unlock(l); return r; }\nop g() { x = 2; }\nop get() -> int { return x; }\n";
    for calls in [1, 2] {
    let within = Within { threads: 2, calls, values: 1 };
    let program = compiled(source, 2).program;
    let compared = compare(&program, within, PLAIN, true, 200_000).unwrap();
    println!("{:?} {:?} holds {}", compared.engine, compared.oracle.rules(), compared.analysis.holds());
    for (rule, moves) in &compared.oracle.broken { println!("oracle {rule:?}: {moves:#?}"); }
    for finding in &compared.analysis.findings { println!("engine {finding:?}"); }
    }
}
