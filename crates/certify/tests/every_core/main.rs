//! Every core that the history engine finds is confirmed, every witness too, and the event from
//! which on nothing explains the history is what brute force says: for all built-in specifications,
//! on small random histories with values that repeat, operations that never returned or did not
//! happen, and keys.

mod formats;
mod random;
mod written;

use linchpin_certify::{Operation, confirm_core, confirm_witness};
use linchpin_history::{
    CheckOptions, Checked, History, Judgement, NEVER, Object, OpId, ValueId, Violation, check,
};
use linchpin_spec::BUILTINS;
use std::time::{Duration, Instant};

/// The operations of one key, and which of the whole they are.
fn part(history: &History, key: ValueId) -> (Vec<OpId>, Vec<Operation>) {
    let ids: Vec<OpId> = history.ids().filter(|id| history[*id].key == key).collect();
    let operation = |id: &OpId| Operation {
        call: history.call(*id),
        response: history.response(*id),
        invoked: history[*id].invoked.into(),
        returned: match history[*id].returned {
            NEVER => u64::MAX,
            returned => returned.into(),
        },
    };
    let operations = ids.iter().map(operation).collect();
    (ids, operations)
}

/// Whether some order explains what the events before `end` show.
fn holds(object: &Object, operations: &[Operation], end: u64) -> bool {
    let known = operations.iter().filter(|operation| operation.invoked < end);
    let known = known.enumerate().map(|(id, operation)| {
        let in_time = operation.returned < end;
        linchpin_oracle::Operation {
            process: id,
            call: operation.call.clone(),
            response: operation.response.clone().filter(|_| in_time),
            invoked: operation.invoked as usize,
            returned: in_time.then_some(operation.returned as usize),
        }
    });
    linchpin_oracle::is_linearizable(&*object.spec, &known.collect::<Vec<_>>())
}

fn keys(history: &History) -> Vec<ValueId> {
    let mut keys: Vec<ValueId> = history.ids().map(|id| history[id].key).collect();
    keys.sort_unstable();
    keys.dedup();
    keys
}

/// What is wrong with an answer, if anything is.
fn mistake(object: &Object, history: &History, checked: &Checked) -> Option<String> {
    match &checked.judgement {
        Judgement::Inconclusive(reason) => Some(reason.to_string()),
        Judgement::Holds(witness) => keys(history).into_iter().find_map(|key| {
            let (ids, operations) = part(history, key);
            let order = witness.order.iter().filter_map(|id| ids.binary_search(id).ok());
            let order: Vec<usize> = order.collect();
            confirm_witness(&*object.spec, &operations, &order).err().map(|error| error.to_string())
        }),
        Judgement::Violated(violation) => wrong_violation(object, history, violation),
    }
}

fn wrong_violation(object: &Object, history: &History, violation: &Violation) -> Option<String> {
    let core = &violation.core;
    let Some(first) = core.first() else { return Some("the core is empty".to_owned()) };
    if !core.is_sorted() || core.windows(2).any(|pair| pair[0] == pair[1]) {
        return Some(format!("the core {core:?} is not in order"));
    }
    let (ids, operations) = part(history, history[*first].key);
    let places: Option<Vec<usize>> = core.iter().map(|id| ids.binary_search(id).ok()).collect();
    let Some(places) = places else { return Some("the core is not of one key".to_owned()) };
    let at = violation.at.map(u64::from);
    let start = Instant::now();
    let confirmed = confirm_core(&*object.spec, &object.name, &operations, &places, at);
    if start.elapsed() > Duration::from_secs(2) {
        println!("{}: {:?} to confirm {places:?} of {operations:?}", object.name, start.elapsed());
    }
    if let Err(error) = confirmed {
        return Some(format!("core {places:?}, at {at:?}: {error}"));
    }
    if holds(object, &operations, u64::MAX) {
        return Some("it holds".to_owned());
    }
    let Some(at) = at else { return Some("the first wrong event is not known".to_owned()) };
    if holds(object, &operations, at + 1) {
        return Some(format!("{at} and what comes before can be explained"));
    }
    (!holds(object, &operations, at)).then(|| format!("what comes before {at} cannot be explained"))
}

fn number(name: &str, usual: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

#[test]
fn every_core_is_confirmed() {
    let (seed, cases) = (number("LINCHPIN_SEED", 5), number("LINCHPIN_CASES", 150));
    let only = std::env::var("LINCHPIN_SPEC").unwrap_or_default();
    println!("LINCHPIN_SEED={seed} LINCHPIN_CASES={cases}");
    let mut mistakes = Vec::new();
    for info in BUILTINS.iter().filter(|info| only.is_empty() || info.name == only) {
        let (mut violated, mut held, mut wrong) = (0, 0, 0);
        for case in 0..cases {
            let mut random = fastrand::Rng::with_seed(seed.wrapping_mul(1_000_003) + case);
            let object = random::object(info.builtin, &mut random);
            let original = random::history(&object, &mut random);
            for monitors in [true, false] {
                let mut history = original.clone();
                let options = CheckOptions { monitors, ..CheckOptions::default() };
                let checked = check(&object, &mut history, &options).expect("there is no crash");
                match &checked.judgement {
                    Judgement::Violated(_) => violated += 1,
                    _ => held += 1,
                }
                if let Some(mistake) = mistake(&object, &history, &checked) {
                    wrong += 1;
                    let all = random::words(&object, &history);
                    let (name, method) = (&object.name, &checked.method);
                    mistakes.push(format!("{name}, case {case}, {method}: {mistake}\n{all}"));
                }
            }
        }
        println!("{}: {violated} violated, {held} hold, {wrong} wrong", info.name);
        // Random calls of etcd mean nothing to it, so that they only wait.
        assert!(
            info.name == "etcd" || cases < 100 || violated > cases / 6 && held > cases / 6,
            "{}",
            info.name
        );
    }
    let shown = mistakes.iter().take(12).cloned().collect::<Vec<_>>().join("\n");
    assert!(mistakes.is_empty(), "{} mistakes:\n{shown}", mistakes.len());
}
