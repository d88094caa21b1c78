//! How long a million operations take: `cargo test --release -p linchpin-history --test mwcas -- --ignored --nocapture`.

use linchpin_history::monitor::mwcas;
use linchpin_history::{Builder, History, Limits, ValueId, Verdict};
use linchpin_spec::{Mwcas, Spec, Value};
use std::time::{SystemTime, UNIX_EPOCH};

#[derive(Clone)]
enum Doing {
    Nothing,
    Waiting(bool, [usize; 2], [i64; 2]),
    Answering(u16, Vec<[ValueId; 3]>, ValueId),
}

/// Processes read two locations and then swap both, over and over. With `quiet`, locations are few and swaps often fail.
pub fn long_history(operations: usize, processes: usize, locations: usize, seed: u64) -> History {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut builder = Builder::new(Mwcas::default().operations());
    let names: Vec<u32> = (0..processes).map(|at| builder.process(&at.to_string())).collect();
    let addresses: Vec<ValueId> =
        (0..locations).map(|at| builder.values().intern(Value::str(&format!("m{at}")))).collect();
    let failures: Vec<ValueId> = (0..locations)
        .map(|at| {
            let address = Value::str(&format!("m{at}"));
            builder.values().intern(Value::map([("failed".into(), address)]))
        })
        .collect();
    let mut memory = vec![0i64; locations];
    let mut seen: Vec<([usize; 2], [i64; 2])> = vec![([0, 1], [0, 0]); processes];
    let mut turn = vec![true; processes];
    let mut doing = vec![Doing::Nothing; processes];
    let (mut invoked, mut open, mut fresh) = (0, 0, 0);
    while invoked < operations || open > 0 {
        let process = random.usize(..processes);
        doing[process] = match std::mem::replace(&mut doing[process], Doing::Nothing) {
            Doing::Nothing if invoked == operations => Doing::Nothing,
            Doing::Nothing => {
                invoked += 1;
                open += 1;
                let read = turn[process];
                turn[process] = !read;
                let (places, news) = if read {
                    let first = random.usize(..locations);
                    ([first, (first + random.usize(1..locations)) % locations], [0, 0])
                } else {
                    fresh += 2;
                    (seen[process].0, [fresh - 1, fresh])
                };
                let values = seen[process].1;
                let words = [0, 1].map(|at| {
                    let values = match read {
                        true => [ValueId::NULL; 2],
                        false => [values[at], news[at]].map(|int| builder.values().intern_int(int)),
                    };
                    [addresses[places[at]], values[0], values[1]]
                });
                let argument = builder.words(&words, if read { 2 } else { 3 });
                builder
                    .invoke_compact(names[process], u16::from(!read), ValueId::NULL, argument)
                    .unwrap();
                Doing::Waiting(read, places, news)
            }
            Doing::Waiting(true, places, _) => {
                seen[process] = (places, places.map(|at| memory[at]));
                let words = places.map(|at| {
                    [addresses[at], builder.values().intern_int(memory[at]), ValueId::NULL]
                });
                Doing::Answering(0, words.to_vec(), ValueId::NULL)
            }
            Doing::Waiting(false, places, news) => {
                let expected = seen[process].1;
                let miss = (0..2).find(|&at| memory[places[at]] != expected[at]);
                if miss.is_none() {
                    (0..2).for_each(|at| memory[places[at]] = news[at]);
                }
                let answer = miss.map_or(ValueId::TRUE, |at| failures[places[at]]);
                Doing::Answering(1, Vec::new(), answer)
            }
            Doing::Answering(operation, words, answer) => {
                let response = if operation == 0 {
                    builder.words(&words, 2)
                } else {
                    linchpin_history::Argument::One(answer)
                };
                builder.ok_compact(names[process], response).unwrap();
                open -= 1;
                Doing::Nothing
            }
        };
    }
    builder.finish()
}

/// The time this thread has run, where the system tells; else the time of day.
fn cpu_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = text.split(' ').next().and_then(|field| field.parse::<f64>().ok());
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
    nanoseconds.map_or_else(now, |nanoseconds| nanoseconds / 1e9)
}

#[test]
#[ignore = "a measurement"]
fn a_million_operations() {
    for (processes, locations) in [(4, 64), (64, 1024), (256, 4096), (256, 64)] {
        let history = long_history(1_000_000, processes, locations, 7);
        let succeeded = history
            .operations
            .iter()
            .filter(|op| op.response == linchpin_history::Argument::One(ValueId::TRUE));
        let succeeded = succeeded.count();
        let mut best = f64::MAX;
        for _ in 0..3 {
            let start = cpu_seconds();
            let verdict = mwcas::check(&history, Some(&0.into()), &Limits::default());
            best = best.min(cpu_seconds() - start);
            assert!(matches!(verdict, Ok(Verdict::Holds(_))), "{verdict:?}");
        }
        println!(
            "{processes} processes, {locations} locations, {succeeded} swaps succeeded: {best:.3} s"
        );
    }
}

/// One stale read in the middle of a long history is found, with a core of two operations.
#[test]
fn a_needle_in_a_haystack() {
    find_needle(20_000);
}

#[test]
#[ignore = "a measurement"]
fn a_needle_among_a_million() {
    let start = cpu_seconds();
    find_needle(1_000_000);
    println!("made and judged in {:.3} s", cpu_seconds() - start);
}

fn find_needle(operations: usize) {
    let mut history = long_history(operations, 16, 256, 3);
    let reads: Vec<usize> =
        (0..history.operations.len()).filter(|&id| history.operations[id].operation == 0).collect();
    let late = reads[reads.len() / 2];
    // It sees what some read far earlier saw at the same location.
    let (location, word) = {
        let linchpin_history::Argument::Words { start, .. } = history.operations[late].response
        else {
            panic!()
        };
        (history.words[start as usize][0], start as usize)
    };
    let old = reads.iter().find_map(|&id| {
        let words = history.words(history.operations[id].response);
        words.iter().find(|word| word[0] == location).map(|word| word[1])
    });
    history.words[word][1] = old.unwrap();
    let start = cpu_seconds();
    let verdict = mwcas::check(&history, Some(&0.into()), &Limits::default());
    println!("judged in {:.3} s", cpu_seconds() - start);
    match verdict {
        Ok(Verdict::Violated(violation)) => {
            assert_eq!(violation.core.len(), 2, "{violation:?}");
            assert!(violation.core.contains(&(late as u32)));
        }
        other => panic!("{other:?}"),
    }
}
