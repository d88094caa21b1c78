//! Random updates and readers under one lock: what is shown must be so within bounds.

use super::locked::{LINK, Parts, UNLINK};
use super::{all_of_reads, contradiction, limits, readers};
use crate::alone::brute::brute;
use crate::judge::compiled;
use linchpin_shape::alone_claims;

const SEED: u64 = 4;

/// The steps of an update: its effect, and writes of flags around it; one of them is the point.
fn steps(random: &mut fastrand::Rng, effect: &str, flags: &[&str]) -> Vec<String> {
    let mut steps = vec![effect.to_owned()];
    for _ in 0..random.usize(0..4) {
        let flag = flags[random.usize(..flags.len())];
        let step = format!("{flag} = {};", random.bool());
        steps.insert(random.usize(..=steps.len()), step);
    }
    // Most often the effect is the point: else hardly anything is proved.
    let effect = steps.iter().position(|step| step.contains("next")).unwrap_or_default();
    let point = if random.u8(..4) == 0 { random.usize(..steps.len()) } else { effect };
    steps[point] = format!("#[lin] {}", steps[point]);
    steps
}

fn parts(random: &mut fastrand::Rng) -> Parts {
    let conditions =
        ["k == e", "k == e && !m", "k == e && !b", "k == e && (!b || !m)", "k == e && m == o"];
    let condition = conditions[random.usize(..conditions.len())];
    let reads = "let m = c.mark; let o = c.other; let b = busy; let k = c.val;";
    let waits = if random.u8(..8) == 0 { "while busy {}" } else { "" };
    Parts {
        add: steps(random, LINK, &["busy"]),
        remove: steps(random, UNLINK, &["busy", "c.mark", "c.other"]),
        contains: format!("{waits} {reads} return {condition};"),
        locks: random.u8(..4) != 0,
    }
}

#[test]
fn what_is_shown_is_so() {
    let mut random = fastrand::Rng::with_seed(SEED);
    let (mut all_shown, mut refuted_ones, mut programs) = (0, 0, 0);
    for number in 0..80 {
        let source = parts(&mut random).source();
        let Some(compiled) = compiled(&source, 2) else { panic!("{source}") };
        let program = compiled.program;
        let reads = readers(&program);
        let quiet: Vec<usize> = match random.u8(..3) {
            0 => (0..program.operations.len()).filter(|of| !reads.contains(of)).collect(),
            _ => Vec::new(),
        };
        let claims = alone_claims(&program, &quiet, &limits(60)).unwrap();
        let Some(refuted) = brute(&program, 2, 2, &reads, &quiet, 20_000) else { continue };
        let wrong = contradiction(&claims, &refuted);
        assert_eq!(wrong, None, "seed {SEED}, program {number}:\n{source}\n{refuted:?}");
        programs += 1;
        all_shown += usize::from(all_of_reads(&claims));
        let is_false = !refuted.ends.is_empty()
            || !refuted.one_step.is_empty()
            || !refuted.read_base_point.is_empty();
        refuted_ones += usize::from(is_false);
    }
    println!("{programs} programs, {all_shown} shown, {refuted_ones} refuted");
    assert!(all_shown >= 12 && refuted_ones >= 12, "{all_shown} {refuted_ones} of {programs}");
}
