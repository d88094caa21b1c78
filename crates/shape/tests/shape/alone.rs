//! What operations do alone, for any number of threads, against what they do within bounds.

mod brute;
mod locked;
mod random;
mod traps;

use crate::judge::compiled;
use brute::{Refuted, brute};
use linchpin_ir::program::Program;
use linchpin_shape::alone::is_read_only;
use linchpin_shape::{AloneClaim, AloneRule, AloneStatus, GapCause, alone_claims};
use linchpin_verdict::Limits;
use locked::Parts;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use traps::{False, stack, traps};

fn limits(seconds: u64) -> Limits {
    let deadline = Some(Instant::now() + Duration::from_secs(seconds));
    Limits { deadline, ..Limits::default() }
}

fn readers(program: &Program) -> Vec<usize> {
    let all = program.operations.iter().enumerate();
    all.filter(|(_, of)| is_read_only(&of.body)).map(|(at, _)| at).collect()
}

fn shown(claims: &[AloneClaim], rule: AloneRule, operation: usize) -> bool {
    let mut all = claims.iter().filter(|claim| claim.rule == rule);
    all.any(|claim| claim.operation == operation && claim.status.is_shown())
}

/// Whether all claims about what readers answer are shown.
fn all_of_reads(claims: &[AloneClaim]) -> bool {
    claims.iter().all(|claim| claim.rule == AloneRule::OneUpdate || claim.status.is_shown())
}

/// A claim that is shown and yet false within bounds.
fn contradiction(claims: &[AloneClaim], refuted: &Refuted) -> Option<String> {
    let is_false = |claim: &&AloneClaim| {
        let of = &claim.operation;
        claim.status.is_shown()
            && match claim.rule {
                AloneRule::AnswersAlone => refuted.ends.contains(of),
                AloneRule::ReadBasePoint => refuted.read_base_point.contains(of),
                AloneRule::OneStep => refuted.one_step.contains(of),
                AloneRule::OneUpdate => refuted.two_updates.contains(of),
            }
    };
    claims.iter().find(is_false).map(|claim| format!("{claim:?}"))
}

#[test]
fn no_trap_is_shown() {
    for trap in traps() {
        let name = trap.name;
        let program = compiled(&trap.source, 2).unwrap_or_else(|| panic!("{name}")).program;
        let reads = readers(&program);
        let refuted = brute(&program, 2, 2, &reads, &[], 200_000).unwrap();
        match trap.what {
            False::Ends => assert!(!refuted.ends.is_empty(), "{name}: {refuted:?}"),
            False::OneStep => assert!(!refuted.one_step.is_empty(), "{name}: {refuted:?}"),
            False::ReadBasePoint => {
                assert!(!refuted.read_base_point.is_empty(), "{name}: {refuted:?}")
            }
            False::Points => {}
        }
        let claims = alone_claims(&program, &[], &limits(60)).unwrap();
        let proved = !claims.iter().any(|claim| match &claim.status {
            AloneStatus::Open(gap) => matches!(gap.cause, GapCause::NotProved(_)),
            AloneStatus::Shown => false,
        });
        assert_eq!(proved, trap.proved, "{name}: {claims:?}");
        for reader in reads {
            assert!(!shown(&claims, AloneRule::AnswersAlone, reader), "{name}");
            assert!(!shown(&claims, AloneRule::ReadBasePoint, reader), "{name}");
        }
        let is_about_reads = |claim: &&AloneClaim| claim.rule != AloneRule::OneUpdate;
        let mut about_reads = claims.iter().filter(is_about_reads);
        assert!(!about_reads.any(|claim| claim.status.is_shown()), "{name}: {claims:?}");
        assert_eq!(contradiction(&claims, &refuted), None, "{name}");
    }
}

/// What the traps are made of: all of it is shown.
#[test]
fn what_is_right_is_shown() {
    let mut sources: Vec<(String, String)> = vec![
        ("locked".to_owned(), Parts::right(true).source()),
        ("stack".to_owned(), stack("", "#[lin] top = x;").source),
    ];
    let two_steps = Parts {
        remove: vec!["#[lin] c.mark = true;".to_owned(), locked::UNLINK.to_owned()],
        contains: "let m = c.mark; let k = c.val; return k == e && !m;".to_owned(),
        locks: true,
        ..Parts::right(true)
    };
    sources.push(("marked".to_owned(), two_steps.source()));
    for (name, source) in sources {
        let program = compiled(&source, 2).unwrap().program;
        let claims = alone_claims(&program, &[], &limits(60)).unwrap();
        assert!(all_of_reads(&claims), "{name}: {claims:?}");
        let refuted = brute(&program, 2, 2, &readers(&program), &[], 200_000).unwrap();
        assert_eq!(contradiction(&claims, &refuted), None, "{name}");
        assert!(refuted.states.is_some(), "{name}");
    }
}

/// What is known of a bundled model: what is shown of its readers, and of calls that change
/// nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Known {
    /// Everything that is claimed.
    All,
    /// All of the readers, but not of update operations whose calls that change nothing are taken
    /// for readers: alone, some of them go round for ever.
    Readers,
    /// Nothing.
    Nothing,
}

fn model(name: &str) -> Program {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../models");
    let source = std::fs::read_to_string(root.join(format!("{name}.lin"))).unwrap();
    compiled(&source, 2).unwrap().program
}

/// The bundled models, held against what is tried within bounds.
#[test]
fn bundled_models() {
    let known = [
        ("lazy_set", Known::Readers),
        ("orvyy_set", Known::All),
        ("vy_dcas_set", Known::All),
        ("pessimistic_set", Known::Readers),
        ("treiber_stack", Known::Readers),
        ("two_lock_queue", Known::Readers),
        ("broken/lazy_set_ignores_mark", Known::Nothing),
        ("broken/lazy_set_no_mark", Known::Nothing),
        ("broken/orvyy_set_no_mark_test", Known::Nothing),
        ("broken/pessimistic_set_wrong_points", Known::Nothing),
    ];
    for (name, known) in known {
        let program = model(name);
        let reads = readers(&program);
        let updates: Vec<usize> =
            (0..program.operations.len()).filter(|of| !reads.contains(of)).collect();
        for (quiet, expected) in
            [(Vec::new(), known != Known::Nothing), (updates, known == Known::All)]
        {
            let claims = alone_claims(&program, &quiet, &limits(100)).unwrap();
            assert_eq!(all_of_reads(&claims), expected, "{name} {quiet:?}: {claims:?}");
            let refuted = brute(&program, 2, 1, &reads, &quiet, 20_000).unwrap();
            assert_eq!(contradiction(&claims, &refuted), None, "{name} {quiet:?}");
        }
    }
}

/// Which calls take one update step at most.
#[test]
fn calls_with_one_update_step() {
    let known: [(&str, &[bool]); 7] = [
        // `contains` is none; the removals of the first mark, then unlink.
        ("lazy_set", &[true, false]),
        ("orvyy_set", &[true, true]),
        ("vy_dcas_set", &[true, true]),
        ("pessimistic_set", &[true, true]),
        ("treiber_stack", &[true, true]),
        // An enqueue links its node, then moves the tail.
        ("two_lock_queue", &[false, true]),
        // The tail is moved after the node is linked.
        ("ms_queue", &[false, false]),
    ];
    for (name, expected) in known {
        let program = model(name);
        let claims = alone_claims(&program, &[], &limits(100)).unwrap();
        let single = claims.iter().filter(|claim| claim.rule == AloneRule::OneUpdate);
        let single: Vec<bool> = single.map(|claim| claim.status.is_shown()).collect();
        let refuted = brute(&program, 2, 1, &[], &[], 20_000).unwrap();
        assert_eq!(contradiction(&claims, &refuted), None, "{name}");
        assert_eq!(single, expected, "{name}: {claims:?}");
    }
}
