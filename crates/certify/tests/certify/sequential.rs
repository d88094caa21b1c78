//! Sequential executions, tried by the small interpreter here and by the one of `linchpin verify`:
//! they agree.

use linchpin_certify::try_sequential;
use linchpin_subop::Model;
use linchpin_subop::sequential::{Bounds, Sequential as Compared, check};
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

/// On small changes of the models, what is wrong for the small interpreter is wrong for the other
/// one, which tries more integers and longer executions.
#[test]
fn both_interpreters_agree_on_mutants() {
    let (mut wrong, mut right, mut only_theirs) = (0, 0, 0);
    for (name, model) in models() {
        for mutant in mutants(&model).into_iter().step_by(7) {
            let ours = try_sequential(&mutant.model, &[]);
            if let Ok(Sequential::NotTried { .. }) = ours {
                continue;
            }
            let calls = ours.as_ref().map_or_else(|found| found.0.len(), Sequential::calls);
            let bounds = Bounds { calls, steps: 400_000, ..Bounds::default() };
            let theirs = check(&mutant.model, &bounds);
            match (&ours, &theirs) {
                (Err(_), Compared::Violated { .. }) => wrong += 1,
                (Ok(_), Compared::Violated { .. }) => only_theirs += 1,
                (Ok(_), _) => right += 1,
                (Err(_), _) => {
                    let text = linchpin_subop::print(&mutant.model);
                    panic!("{name}: {text}: {ours:?} {theirs:?}")
                }
            }
        }
    }
    println!("{wrong} wrong, {right} right, {only_theirs} wrong only beyond what certify tries");
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
