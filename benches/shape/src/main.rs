//! How the cost of a comparison under abstraction grows with the number of threads.
//!
//! ```console
//! $ cargo run --release --manifest-path benches/shape/Cargo.toml
//! $ cargo run --release --manifest-path benches/shape/Cargo.toml -- 120 lazy_set
//! ```
//!
//! For each model: 1, 2, 3 and 4 threads that call everything, in the fast domain (`targets`) and
//! in the paper's (`kleene`), and any number of threads by views. The first argument is how many
//! seconds a measurement may take (30 unless given); further ones name models. After a measurement
//! that took too long the larger ones of the same domain are left out.

use linchpin_ir::program::Program;
use linchpin_lang::{Config, Threads as Count, compile};
use linchpin_shape::{Domain, Found, Options, Threads, analyse};
use linchpin_verdict::{Limits, grouped};
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

const MODELS: [&str; 12] = [
    "treiber_stack",
    "two_lock_queue",
    "ms_queue",
    "dglm_queue",
    "elimination_stack",
    "pessimistic_set",
    "optimistic_set",
    "lazy_set",
    "orvyy_set",
    "vy_dcas_set",
    "vy_cas_set",
    "harris_michael_list",
];

/// Each is run so often if it is fast; the fastest counts.
const RUNS: usize = 3;

/// What takes longer than this is run once.
const FAST: Duration = Duration::from_secs(1);

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let patience = match arguments.first().map(|text| text.parse::<u64>()) {
        None => Duration::from_secs(30),
        Some(Ok(seconds)) => Duration::from_secs(seconds),
        Some(Err(_)) => {
            eprintln!("the first argument is a number of seconds");
            return ExitCode::from(2);
        }
    };
    println!(
        "{:<20} {:>7} {:<8} {:>11} {:>11} {:>11} {:>9} {:>8}  verdict",
        "model", "threads", "domain", "structures", "moves", "joins", "seconds", "MB"
    );
    for model in MODELS {
        if arguments.len() > 1 && !arguments[1..].iter().any(|named| named == model) {
            continue;
        }
        if let Err(error) = rows(model, patience) {
            eprintln!("{model}: {error}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

/// The rows of one model.
fn rows(model: &str, patience: Duration) -> Result<(), String> {
    let path = format!("models/{model}.lin");
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path);
    let source = std::fs::read_to_string(&file).map_err(|error| error.to_string())?;
    let program = |threads| -> Result<Program, String> {
        let config = Config { threads, ..Config::default() };
        Ok(compile(&source, &config).map_err(|_| "it has mistakes")?.program)
    };
    for (domain, name) in [(Domain::Targets, "targets"), (Domain::Kleene, "kleene")] {
        for threads in 1..=4 {
            let options = Options { threads: Threads::Those, domain, ..Options::default() };
            let went_on = row(
                model,
                &threads.to_string(),
                name,
                patience,
                &options,
                &program(Count::Count(threads))?,
            );
            if !went_on {
                break;
            }
        }
    }
    let options = Options { threads: Threads::Any, ..Options::default() };
    row(model, "any", "targets", patience, &options, &program(Count::AsDeclared)?);
    Ok(())
}

/// Prints one row. `false` if a larger number of threads is hopeless.
fn row(
    model: &str,
    threads: &str,
    domain: &str,
    patience: Duration,
    options: &Options,
    program: &Program,
) -> bool {
    let mut best = f64::INFINITY;
    let mut last = None;
    for _ in 0..RUNS {
        let start = Instant::now();
        let limits = Limits { deadline: Some(start + patience), ..Limits::default() };
        let workers = std::thread::available_parallelism().map_or(1, usize::from);
        let options = Options { limits, workers, ..options.clone() };
        last = Some(analyse(program, &options, &|_| {}));
        best = best.min(start.elapsed().as_secs_f64());
        if start.elapsed() > FAST {
            break;
        }
    }
    let analysis = match last {
        Some(Ok(analysis)) => analysis,
        Some(Err(why)) => {
            println!("{model:<20} {threads:>7} {domain:<8} does not apply: {why}");
            return false;
        }
        None => return false,
    };
    let (verdict, goes_on) = match &analysis.found {
        Found::Proved => ("proved".to_owned(), true),
        Found::Stopped(reason) => (reason.to_string(), false),
        Found::Failed(trace) => {
            let of = trace.failure;
            let name = program.operations.get(of.operation).map_or("init", |of| &of.name);
            (format!("not proved: {name}, line {}: {}", of.line, of.cause), false)
        }
    };
    let explored = &analysis.explored;
    println!(
        "{model:<20} {threads:>7} {domain:<8} {:>11} {:>11} {:>11} {best:>9.3} {:>8.1}  {verdict}",
        grouped(explored.states.len()),
        grouped(explored.moves),
        grouped(explored.joins),
        explored.bytes as f64 / 1e6,
    );
    goes_on
}
