//! Prints how long the monitor of key-value stores takes as histories grow: 50 processes, one key
//! or ten, right or with one stale get, all pieces different or some repeated.
//!
//! ```console
//! $ cargo run --release -p linchpin-monitor --example kv_growth -- 100000
//! ```

use fastrand::Rng;
use linchpin_history_data::{Builder, History, Judgement};
use linchpin_monitor::kv;
use linchpin_spec::{Kv, Spec, Value};
use linchpin_verdict::Limits;
use std::time::Instant;

const PROCESSES: usize = 50;

struct Load {
    operations: usize,
    keys: usize,
    /// How many of a thousand pieces were written before.
    repeated: u32,
    violated: bool,
}

#[derive(Clone)]
enum Activity {
    Idle,
    Called(&'static str, usize, String),
    Done(String),
}

fn history(load: &Load) -> History {
    let mut rng = Rng::with_seed(7);
    let mut builder = Builder::new(Kv::default().operations());
    let mut activities = vec![Activity::Idle; PROCESSES];
    let mut texts = vec![String::new(); load.keys];
    let (mut called, mut returned, mut stale) = (0, 0, load.violated);
    while returned < load.operations {
        let process = rng.usize(..PROCESSES);
        let name = process.to_string();
        activities[process] = match std::mem::replace(&mut activities[process], Activity::Idle) {
            Activity::Idle if called == load.operations => Activity::Idle,
            Activity::Idle => {
                called += 1;
                let key = rng.usize(..load.keys);
                let operation = ["get", "get", "get", "get", "append", "append", "append", "put"]
                    [rng.usize(..8)];
                let number = match rng.u32(..1000) < load.repeated {
                    true => rng.usize(called.saturating_sub(1000)..called),
                    false => called,
                };
                let piece = format!("x {} {number} y", number % PROCESSES);
                let argument = match operation {
                    "get" => Value::str(&key.to_string()),
                    _ => Value::list([Value::str(&key.to_string()), Value::str(&piece)]),
                };
                builder.invoke(&name, operation, argument).expect("well-formed");
                Activity::Called(operation, key, piece)
            }
            Activity::Called(operation, key, piece) => match operation {
                "get" if stale && returned > load.operations * 95 / 100 => {
                    stale = false;
                    Activity::Done(String::new())
                }
                "get" => Activity::Done(texts[key].clone()),
                "put" => {
                    texts[key] = piece;
                    Activity::Done(String::new())
                }
                _ => {
                    texts[key].push_str(&piece);
                    Activity::Done(String::new())
                }
            },
            Activity::Done(text) => {
                returned += 1;
                builder.ok(&name, Value::str(&text)).expect("well-formed");
                Activity::Idle
            }
        };
    }
    builder.finish()
}

fn main() {
    let largest = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(100_000);
    println!("operations  keys  repeated  history      seconds  verdict");
    for (keys, repeated, violated) in [
        (1, 0, false),
        (1, 0, true),
        (10, 0, false),
        (10, 0, true),
        (1, 20, false),
        (1, 20, true),
        (10, 20, false),
        (10, 20, true),
    ] {
        for operations in [largest / 10, largest] {
            let load = Load { operations, keys, repeated, violated };
            let history = history(&load);
            let start = Instant::now();
            let verdict = match kv::check(&history, &Value::map([]), &Limits::default()) {
                Ok(Judgement::Holds(_)) => "holds".to_owned(),
                Ok(Judgement::Violated(violation)) => {
                    format!("violated, core of {}, at {:?}", violation.core.len(), violation.at)
                }
                Ok(Judgement::Inconclusive(why)) => why.to_string(),
                Err(refused) => refused.reason,
            };
            println!(
                "{operations:>10}{keys:>6}{:>9.1}%  {:<8}{:>12.3}  {verdict}",
                f64::from(repeated) / 10.0,
                if violated { "stale" } else { "good" },
                start.elapsed().as_secs_f64()
            );
        }
    }
}
