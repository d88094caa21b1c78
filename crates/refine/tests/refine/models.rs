//! Every bundled model has the verdict that its header expects, and every counterexample is one for
//! the oracle too.

use crate::support::{bounds, bounds_of, compiled, explained, object};
use linchpin_ir::interpreter::Memory;
use linchpin_ir::run::{End, replay};
use linchpin_refine::{Failure, NotMade, Points, StuckCheck, VerifyOptions, verify};
use linchpin_verdict::Outcome;
use std::path::PathBuf;

pub struct Model {
    pub name: String,
    pub source: String,
    expected: String,
}

pub fn models() -> Vec<Model> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../models");
    let mut files: Vec<PathBuf> = [root.clone(), root.join("broken")]
        .iter()
        .flat_map(|folder| std::fs::read_dir(folder).unwrap())
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "lin"))
        .collect();
    files.sort();
    let read = |path: &PathBuf| {
        let source = std::fs::read_to_string(path).unwrap();
        let expected = source.lines().find_map(|line| line.strip_prefix("//! Expected: "));
        Model {
            name: path.file_stem().unwrap().to_string_lossy().into_owned(),
            expected: expected.expect("every model says what is expected").to_owned(),
            source,
        }
    };
    files.iter().map(read).collect()
}

/// Models of which it is not decided whether operations get stuck: a removal that another thread
/// disturbs between its two `cas` comes back to a node that it has marked itself, and cannot mark it
/// again. It searches by keys, and whether keys that clients did not pass would help is open.
const OPEN: [&str; 1] = ["vy_cas_set"];

#[test]
fn every_model_has_the_expected_verdict() {
    let (mut holding, mut violated) = (0, 0);
    for model in models() {
        let compiled = compiled(&model.source);
        let mut options = VerifyOptions::new(bounds_of(&compiled));
        options.points = false;
        let report = verify(&compiled.program, &options, &|_| {}).unwrap();
        let linearizable = model.expected.starts_with("linearizable");
        match &report.outcome {
            Outcome::Holds(()) => {
                assert!(linearizable, "{} holds", model.name);
                let passed = match &report.stuck {
                    StuckCheck::Passed { .. } => true,
                    StuckCheck::NotMade(NotMade::FurtherCalls) => false,
                    other => panic!("{}: {other:?}", model.name),
                };
                assert_eq!(passed, !OPEN.contains(&model.name.as_str()), "{}", model.name);
                holding += 1;
            }
            Outcome::Inconclusive(reason) => panic!("{}: {reason}", model.name),
            Outcome::Violated(found) => {
                assert!(!linearizable, "{} is violated: {:?}", model.name, found.run.events);
                assert!(matches!(found.failure, Failure::Unexplained { .. }), "{}", model.name);
                let again = replay(&compiled.program, Memory::Collected, &found.schedule).unwrap();
                assert_eq!(again.events, found.run.events, "{}", model.name);
                let object = object(&compiled.program);
                assert!(!explained(&again.events, &object), "{}", model.name);
                // The counterexample ends with the response that nothing explains.
                let before = &again.events[..again.events.len() - 1];
                assert!(explained(before, &object), "{}", model.name);
                violated += 1;
            }
        }
    }
    assert!(holding >= 24 && violated >= 40, "{holding} hold, {violated} do not");
}

/// The claimed points suffice for the correct models that claim any, but for those that say so.
#[test]
fn claimed_points_are_judged() {
    let (mut suffice, mut fail) = (Vec::new(), Vec::new());
    let all = models();
    for model in all.iter().filter(|model| model.expected.starts_with("linearizable")) {
        let compiled = compiled(&model.source);
        let mut options = VerifyOptions::new(bounds_of(&compiled));
        options.stuck = false;
        let report = verify(&compiled.program, &options, &|_| {}).unwrap();
        assert!(matches!(report.outcome, Outcome::Holds(())), "{}", model.name);
        match report.points {
            Points::Suffice => suffice.push(model.name.as_str()),
            Points::Fail => fail.push(model.name.as_str()),
            Points::NotUsed => {}
        }
        if model.expected.contains("points wrong") {
            assert_eq!(report.points, Points::Fail, "{}", model.name);
        }
    }
    println!("points suffice: {suffice:?}\npoints fail: {fail:?}");
    assert!(suffice.contains(&"treiber_stack") && suffice.contains(&"ms_queue"), "{suffice:?}");
}

/// With memory that is reused, Treiber's stack uses what it has freed.
#[test]
fn reuse_finds_use_after_free() {
    let all = models();
    let model = all.iter().find(|model| model.name == "treiber_stack_reclaim").unwrap();
    let compiled = compiled(&model.source);
    let mut bounds = bounds_of(&compiled);
    bounds.memory = Memory::Reuse;
    let report = verify(&compiled.program, &VerifyOptions::new(bounds), &|_| {}).unwrap();
    let Outcome::Violated(found) = report.outcome else { panic!("{:?}", report.outcome) };
    assert_eq!(found.failure, Failure::Fault);
    assert!(matches!(found.run.end, End::Faulted(_)));
}

/// A stack that reads its top node in one go never uses what it freed, but a node that comes back
/// looks like the old one to `cas`: the ABA problem.
#[test]
fn reuse_finds_aba() {
    let source = "spec stack;\nstruct Node { val: int, next: Node }\nshared top: Node = null;\n\
        op push(v: int) {\n    let x = new Node { val: v };\n    loop {\n        let t = top;\n        \
        x.next = t;\n        if cas(top, t, x) { return; }\n    }\n}\n\
        op pop() -> int? {\n    loop {\n        let t = top;\n        let s = t;\n        let r = 0;\n        \
        atomic { t = top; if t != null { s = t.next; r = t.val; } }\n        \
        if t == null { return none; }\n        if cas(top, t, s) { free(t); return r; }\n    }\n}\n\
        bounds { threads: 2, ops: 2, values: 2 }\n";
    let compiled = compiled(source);
    let collected = VerifyOptions::new(bounds(2, 2));
    let report = verify(&compiled.program, &collected, &|_| {}).unwrap();
    assert!(matches!(report.outcome, Outcome::Holds(())));
    let mut reused = collected;
    reused.bounds.memory = Memory::Reuse;
    let report = verify(&compiled.program, &reused, &|_| {}).unwrap();
    let Outcome::Violated(found) = report.outcome else { panic!("{:?}", report.outcome) };
    assert!(matches!(found.failure, Failure::Unexplained { .. }));
    assert!(!explained(&found.run.events, &object(&compiled.program)));
}
