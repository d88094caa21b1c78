//! Every bundled model has the verdict that its header expects, and every counterexample is one for the oracle too.

use crate::support::{bounds, compiled, explained, object};
use linchpin_ir::interpreter::Memory;
use linchpin_ir::run::{End, replay};
use linchpin_refine::search::Wrong;
use linchpin_refine::{Points, Verdict, VerifyOptions, verify};
use std::path::PathBuf;

struct Model {
    name: String,
    source: String,
    expected: String,
}

fn models() -> Vec<Model> {
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

#[test]
fn every_model_has_the_expected_verdict() {
    let (mut holding, mut violated) = (0, 0);
    for model in models() {
        let compiled = compiled(&model.source);
        let mut options = VerifyOptions::new(bounds(compiled.bounds.ops, compiled.bounds.values));
        options.points = false;
        let report = verify(&compiled.program, &options, &|_| {}).unwrap();
        let linearizable = model.expected.starts_with("linearizable");
        match &report.verdict {
            Verdict::Holds => {
                assert!(linearizable, "{} holds", model.name);
                holding += 1;
            }
            Verdict::Inconclusive(reason) => panic!("{}: {reason}", model.name),
            Verdict::Violated(found) => {
                assert!(!linearizable, "{} is violated: {:?}", model.name, found.run.events);
                assert_eq!(found.wrong, Wrong::Unexplained, "{}", model.name);
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
        let options = VerifyOptions::new(bounds(compiled.bounds.ops, compiled.bounds.values));
        let report = verify(&compiled.program, &options, &|_| {}).unwrap();
        assert!(matches!(report.verdict, Verdict::Holds), "{}", model.name);
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
    let mut bounds = bounds(compiled.bounds.ops, compiled.bounds.values);
    bounds.memory = Memory::Reuse;
    let report = verify(&compiled.program, &VerifyOptions::new(bounds), &|_| {}).unwrap();
    let Verdict::Violated(found) = report.verdict else { panic!("{:?}", report.verdict) };
    assert_eq!(found.wrong, Wrong::Fault);
    assert!(matches!(found.run.end, End::Faulted(_)));
}

/// A model whose threads wait for each other holds, but not in silence.
#[test]
fn getting_stuck_is_noticed() {
    let source = "spec counter;\nshared a: lock;\nshared b: lock;\nshared n: int;\n\
        op add(k: int) { lock(a); lock(b); n = n + k; unlock(b); unlock(a); }\n\
        op read() -> int { lock(b); lock(a); let r = n; unlock(a); unlock(b); return r; }\n\
        bounds { threads: 2, ops: 1, values: 1 }\n";
    let compiled = compiled(source);
    let report = verify(&compiled.program, &VerifyOptions::new(bounds(1, 1)), &|_| {}).unwrap();
    assert!(matches!(report.verdict, Verdict::Holds) && report.stuck && report.exhausted);
    // An operation that waits for what never happens: nobody gets to a second call.
    let source = "spec counter;\nshared n: int;\nop add(k: int) { let r = n; assume(r == 9); n = k; }\n\
        bounds { threads: 1, ops: 2, values: 1 }\n";
    let program = crate::support::compiled(source).program;
    let report = verify(&program, &VerifyOptions::new(bounds(2, 1)), &|_| {}).unwrap();
    assert!(matches!(report.verdict, Verdict::Holds) && !report.exhausted);
    assert!(!report.unreached.is_empty());
}

/// A stack that reads its top node in one go never uses what it freed, but a node that comes back looks like the old
/// one to `cas`: the ABA problem.
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
    assert!(matches!(report.verdict, Verdict::Holds));
    let mut reused = collected;
    reused.bounds.memory = Memory::Reuse;
    let report = verify(&compiled.program, &reused, &|_| {}).unwrap();
    let Verdict::Violated(found) = report.verdict else { panic!("{:?}", report.verdict) };
    assert_eq!(found.wrong, Wrong::Unexplained);
    assert!(!explained(&found.run.events, &object(&compiled.program)));
}
