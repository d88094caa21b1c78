//! The engine against the oracle on random models.

use crate::compare::compare;
use crate::generator;
use crate::support::{PLAIN, Within, compiled};
use fastrand::Rng;
use std::collections::BTreeMap;

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
        let within = Within { threads: 2, calls: 1, values: 2 };
        let program = compiled(&source, within.threads).program;
        for as_printed in [true, false] {
            let Some(compared) = compare(&program, within, PLAIN, as_printed, 8_000) else {
                tally.entry("too large".into()).or_insert((0, seed)).0 += 1;
                continue;
            };
            let oracle = compared.oracle.rules();
            let key = if oracle == compared.engine {
                format!("same, {}", oracle.is_empty())
            } else {
                let only = |a: &std::collections::BTreeSet<_>, b: &std::collections::BTreeSet<_>| {
                    a.difference(b).copied().collect::<Vec<linchpin_engine::Rule>>()
                };
                let kind = match (oracle.is_empty(), compared.engine.is_empty()) {
                    (true, false) => "ENGINE ONLY",
                    (false, true) => "ORACLE ONLY",
                    _ => "both",
                };
                format!("{kind}: engine also {:?}, oracle also {:?}", only(&compared.engine, &oracle), only(&oracle, &compared.engine))
            };
            if first > 0 || cases == 1 {
                println!("{seed} {name} {key}\n{source}");
                for (rule, moves) in &compared.oracle.broken { println!("oracle {rule:?}: {moves:#?}"); }
                for finding in &compared.analysis.findings { println!("engine {finding:?}"); }
                println!("{:?}", compared.analysis.treatment);
            }
            let e = tally.entry(key).or_insert((0, seed));
            e.0 += 1;
        }
    }
    for (k, v) in tally { println!("{k} {v:?}"); }
}
