//! Linchpin beside SPIN on Treiber's stack, the Michael–Scott queue and the Harris–Michael list.
//!
//! ```console
//! $ cargo run --release --manifest-path benches/spin/Cargo.toml
//! ```
//!
//! SPIN gets the easier question: its models (`promela/`) assert at given linearization points.
//! Linchpin is given no points and decides linearizability of `models/treiber_stack.lin`,
//! `models/ms_queue.lin` and `models/harris_michael_list.lin`. Same threads, operations and values;
//! in rows called `any`, any values, which is what `linchpin verify` asks about if it can.
//!
//! SPIN's partial order reduction is on, its verifier compiled with `-O2 -DSAFETY -DCOLLAPSE` and
//! ended after a minute (`minutes=`), its stack no deeper than it has to be; its seconds are those
//! of the verifier alone, without the compiler's. Each of our runs is a process of its own, so that
//! its peak memory is its own.
//!
//! With names of models as arguments, only those; `minutes=4` gives SPIN so many, in at most 16 GB.

mod ours;
mod peer;

use anyhow::Result;

/// What a run has cost.
#[derive(Clone, Debug)]
pub struct Cost {
    /// States stored.
    pub states: u64,
    /// Wall-clock seconds.
    pub seconds: f64,
    /// Peak memory in megabytes.
    pub megabytes: f64,
    /// What it said.
    pub verdict: String,
}

const MODELS: [(&str, &str); 3] = [
    ("treiber_stack", include_str!("../promela/treiber_stack.pml")),
    ("ms_queue", include_str!("../promela/ms_queue.pml")),
    ("harris_michael_list", include_str!("../promela/harris_michael_list.pml")),
];

const SIZES: [(usize, usize); 3] = [(2, 4), (3, 2), (3, 3)];

/// Each is run so often; the fastest counts, for both.
const RUNS: usize = 3;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [word, model, who, threads, operations] = arguments.as_slice()
        && word == "--ours"
    {
        return ours::run(model, who, threads.parse()?, operations.parse()?);
    }
    let version = peer::version();
    match &version {
        Some(version) => println!(
            "{version}, with linearization points, beside Linchpin without; best of {RUNS}\n"
        ),
        None => println!(
            "SPIN, or gcc to compile its verifiers, is not installed (on Debian: apt install spin gcc); ours alone; best of {RUNS}\n"
        ),
    }
    println!(
        "{:<20} {:<5} {:<9} {:>10} {:>9} {:>9} {:>12} {:>10} {:>7}  verdict",
        "model", "size", "", "states", "seconds", "MB", "states/s", "time ours/", "MB ours/"
    );
    let minutes = arguments.iter().find_map(|argument| argument.strip_prefix("minutes="));
    let minutes = minutes.map_or(Ok(1), str::parse)?;
    let names: Vec<&String> = arguments.iter().filter(|word| !word.contains('=')).collect();
    let asked = |name: &str| names.is_empty() || names.iter().any(|asked| *asked == name);
    for (model, promela) in MODELS.into_iter().filter(|(name, _)| asked(name)) {
        for (threads, operations) in SIZES {
            let size = format!("{threads}x{operations}");
            let spin = match &version {
                Some(_) => Some(peer::run(promela, (threads, operations), minutes)?),
                None => None,
            };
            if let Some(spin) = &spin {
                row(model, &size, "SPIN", spin, None);
            }
            for (who, _) in ours::VALUES {
                let ours = ours::in_a_process(model, who, (threads, operations))?;
                // Not all models treat all values alike.
                if who == "any" && !ours.verdict.ends_with("any values") {
                    continue;
                }
                row(model, &size, who, &ours, spin.as_ref());
            }
        }
    }
    Ok(())
}

fn row(model: &str, size: &str, who: &str, cost: &Cost, other: Option<&Cost>) {
    let Cost { states, seconds, megabytes, verdict } = cost;
    let rate = *states as f64 / seconds.max(1e-9);
    let ratio = |ours: f64, of: fn(&Cost) -> f64| {
        other.map_or(String::new(), |other| format!("{:.3}", ours / of(other).max(1e-9)))
    };
    let (time, memory) = (ratio(*seconds, |of| of.seconds), ratio(*megabytes, |of| of.megabytes));
    println!(
        "{model:<20} {size:<5} {who:<9} {states:>10} {seconds:>9.3} {megabytes:>9.1} {rate:>12.0} {time:>10} {memory:>7}  {verdict}"
    );
}
