//! Sequential executions, tried by the small interpreter here and by the one of `linchpin verify`: they agree.

use linchpin_certify::try_sequential;
use linchpin_subop::Model;
use linchpin_subop::sequential::{Bounds, SequentialVerdict, check};
use linchpin_subop_oracle::mutants;
use linchpin_verdict::Sequential;

fn models() -> Vec<(String, Model)> {
    let folder = format!("{}/../../models/subop", env!("CARGO_MANIFEST_DIR"));
    let entries = std::fs::read_dir(folder).expect("the models are there");
    let paths = entries.map(|entry| entry.expect("it can be read").path());
    let mut models: Vec<(String, Model)> = paths
        .filter(|path| path.extension().is_some_and(|extension| extension == "subop"))
        .map(|path| {
            let source = std::fs::read_to_string(&path).expect("it can be read");
            let model = linchpin_subop::parse(&source).expect("it parses");
            (path.display().to_string(), model)
        })
        .collect();
    models.sort_by(|one, other| one.0.cmp(&other.0));
    models
}

/// The models are right, and something was tried of each that names a specification.
#[test]
fn the_models_are_sequentially_right() {
    for (name, model) in models() {
        let answer = try_sequential(&model, &[]);
        println!("{name}: {answer:?}");
        match answer {
            Ok(Sequential::Tried { calls, .. }) => assert!(calls >= 2, "{name}"),
            Ok(Sequential::NotTried { .. }) => assert!(model.spec.is_none(), "{name}"),
            Err(wrong) => panic!("{name}: {wrong}"),
        }
    }
}

/// On small changes of the models both say the same, with integers that both pass.
#[test]
fn both_interpreters_agree_on_mutants() {
    let (mut wrong, mut right, mut too_many) = (0, 0, 0);
    // All that a constant of the text may be near to.
    let wide: Vec<i64> = (-3..4).chain(97..104).collect();
    for (name, model) in models() {
        for mutant in mutants(&model).into_iter().step_by(7) {
            let ours = try_sequential(&mutant.model, &[]);
            let (tried, values) = match &ours {
                Ok(Sequential::Tried { calls, integers, .. }) => (*calls, integers),
                Ok(Sequential::NotTried { .. }) => continue,
                Err(found) => (found.0.len(), &wide),
            };
            let bounds = Bounds { calls: tried, values: values.clone(), steps: 400_000 };
            let theirs = check(&mutant.model, &bounds);
            match (&ours, &theirs) {
                (Err(_), SequentialVerdict::Violated { .. }) => wrong += 1,
                (Ok(_), SequentialVerdict::Holds { .. }) => right += 1,
                (_, SequentialVerdict::TooLarge) => too_many += 1,
                (Err(_), SequentialVerdict::Holds { calls, .. }) if *calls < tried => too_many += 1,
                _ => {
                    let text = linchpin_subop::print(&mutant.model);
                    panic!("{name}: {text}: {ours:?} {theirs:?}")
                }
            }
        }
    }
    println!("{wrong} wrong, {right} right, {too_many} with too many executions");
    assert!(wrong > 10 && right > 10, "{wrong} {right}");
}

/// An integer that only the text has is tried.
#[test]
fn integers_of_the_text_are_tried() {
    let source =
        "int x; Set(int v) 1 <v != 7000;> x = v; return; Skip(int v) 1 <v == 7000;> return;
        Get() 1 return x; spec register(0) { Set = write(v); Skip = write(v); Get = read(); }";
    let model = linchpin_subop::parse(source).expect("it parses");
    assert!(try_sequential(&model, &[]).is_err());
    // Clients that never pass it do not notice.
    let small = vec![Some((0, 3))];
    assert!(try_sequential(&model, &[small.clone(), small, Vec::new()]).is_ok());
}
