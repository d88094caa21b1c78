//! The oracle on models whose verdict is known, and on itself with calls and responses apart.

use crate::generator;
use crate::oracle::{Asked, judge};
use fastrand::Rng;
use linchpin_lang::{Config, compile};
use std::collections::BTreeMap;

fn asked(calls: usize, merged: bool) -> Asked {
    Asked {
        calls,
        values: 2,
        most: 20_000,
        read_only: Default::default(),
        merged,
        dead_locals: true,
    }
}

#[test]
fn probe() {
    let mut tally: BTreeMap<(&str, String), usize> = BTreeMap::new();
    let cases = std::env::var("CASES").ok().and_then(|x| x.parse().ok()).unwrap_or(200);
    for seed in 0..cases {
        let mut random = Rng::with_seed(seed);
        let (name, source) = generator::model(&mut random);
        let compiled = match compile(&source, &Config::default()) {
            Ok(compiled) => compiled,
            Err(mistakes) => {
                let shown: Vec<String> =
                    mistakes.iter().map(|m| m.render("model", &source, false)).collect();
                panic!("{seed} {source}\n{}", shown.join("\n"))
            }
        };
        let start = std::time::Instant::now();
        let judged = judge(&compiled.program, &asked(1, true));
        let what = match &judged {
            None => "too large".to_owned(),
            Some(judged) => format!("{:?} {}", judged.rules(), if judged.faults {"faults"} else {""}),
        };
        let took = start.elapsed().as_millis();
        if took > 100 { println!("{seed} {name} {took} ms {what} {:?}", judged.map(|j| j.executions)); }
        *tally.entry((name, what)).or_default() += 1;
    }
    for (k, v) in tally { println!("{k:?} {v}"); }
}
