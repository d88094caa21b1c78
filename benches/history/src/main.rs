//! Prints how long `linchpin check` takes for histories of every data type, beside the time of only
//! parsing the same file, with peak memory, growth, and other checkers on the sizes they survive.
//!
//! ```console
//! $ cargo run --release --manifest-path benches/history/Cargo.toml            # all of it
//! $ cargo run --release --manifest-path benches/history/Cargo.toml -- queue 100000
//! ```
//!
//! `-- formats` prints instead how fast each format is read, for 200,000 operations or as many as a
//! number after it says; a name after that restricts it to the formats that begin so. `-- ingest`
//! prints in the same way what each fast path of reading brings. `-- generate queue 1000000 16`
//! writes one of the histories to standard output instead, for trying things out.
//!
//! `-- clients` compares the judgement of histories whose values repeat with plain Wing–Gong–Lowe
//! (`wgl.rs`), at 10, 20 and 30 clients; names of specifications and `by=30` restrict it, a number
//! is the largest number of operations, `from=200` the smallest, `within=2` the seconds for one
//! judgement, `seeds=3..9` the histories, and `each` asks for a row for each of them. `-- recorded
//! DIRECTORY SPEC` does so for recorded histories.
//!
//! Arguments: names of specifications to restrict to, and a number: the largest number of
//! operations.

mod clients;
mod formats;
mod models;
mod peers;
mod wgl;
mod workload;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use workload::{SPECS, Workload};

const PROCESSES: &[usize] = &[4, 16, 64, 256];
const PEER_LIMIT: Duration = Duration::from_secs(10);

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [command, spec, operations, processes] = &arguments[..]
        && command == "generate"
    {
        return generate(spec, operations, processes);
    }
    if let [command, directory, spec] = &arguments[..]
        && command == "recorded"
    {
        return clients::print_recorded(Path::new(directory), spec);
    }
    if arguments.first().is_some_and(|command| command == "clients") {
        return clients::print(&arguments[1..]);
    }
    if let Some(command @ ("formats" | "ingest")) = arguments.first().map(String::as_str) {
        let operations = arguments.get(1).and_then(|a| a.parse().ok()).unwrap_or(200_000);
        let beginning = arguments.get(2).map_or("", String::as_str);
        return match command {
            "formats" => formats::print(operations, beginning),
            _ => formats::print_fast_paths(operations, beginning),
        };
    }
    let largest = arguments.iter().find_map(|a| a.parse().ok()).unwrap_or(1_000_000);
    let wanted: Vec<&str> =
        SPECS.iter().copied().filter(|spec| arguments.iter().any(|a| a == spec)).collect();
    let specs = if wanted.is_empty() { SPECS.to_vec() } else { wanted };
    let linchpin = build();
    let folder = tempfile::tempdir().expect("a folder for histories");

    print_own(&specs, largest, &linchpin, folder.path());
    print_peers(&specs, &linchpin, folder.path());
}

/// Every object, with and without a late error, by more and more processes and operations.
fn print_own(specs: &[&'static str], largest: usize, linchpin: &Path, folder: &Path) {
    println!("One row a history. parse: only reading the file; total: reading and judging it;");
    println!(
        "ratio: total / parse; B/op: peak memory beyond the file; grow: total against the row"
    );
    println!("with a tenth of the operations.\n");
    println!(
        "spec                  ops procs  history          MB   parse s   total s  ratio    \
         ns/op   B/op   grow  method"
    );
    for spec in specs {
        for violated in [false, true] {
            for processes in PROCESSES {
                let load = |operations| Workload {
                    spec,
                    operations,
                    processes: *processes,
                    violated,
                    seed: 7,
                    values: None,
                };
                print_growth(load, largest, linchpin, folder);
            }
        }
    }
}

/// One history of each size.
fn print_growth(load: impl Fn(usize) -> Workload, largest: usize, linchpin: &Path, folder: &Path) {
    // The hard case is exponential in the processes: 20,000 operations show it.
    let most = if load(0).spec == "cas-register" { 20_000 } else { usize::MAX };
    let path = folder.join("history.jsonl");
    let mut before: Option<f64> = None;
    let mut operations = 1_000;
    while operations <= largest {
        let load = load(operations.min(most));
        std::fs::write(&path, load.generate()).expect("written");
        before = Some(row(linchpin, &path, load, before));
        if operations > most {
            break;
        }
        operations *= 10;
    }
}

fn print_peers(specs: &[&'static str], linchpin: &Path, folder: &Path) {
    let limit = PEER_LIMIT.as_secs();
    println!("\nOther checkers, linearizable histories, seconds (-: more than {limit} s):\n");
    println!(
        "{:<15}{:>8}{:>7}{:>12}{:>12}{:>12}",
        "spec", "ops", "procs", "linchpin", "todc-utils", "stateright"
    );
    for spec in specs.iter().filter(|spec| ["register", "queue"].contains(spec)) {
        for (operations, processes) in [(100, 4), (1_000, 4), (10_000, 4), (1_000, 16)] {
            peer_row(linchpin, folder, spec, operations, processes);
        }
    }
}

/// Writes one history to standard output.
fn generate(spec: &str, operations: &str, processes: &str) {
    let spec = SPECS.iter().copied().find(|known| *known == spec);
    let (Some(spec), Ok(operations), Ok(processes)) = (spec, operations.parse(), processes.parse())
    else {
        eprintln!("generate SPEC OPERATIONS PROCESSES");
        std::process::exit(2);
    };
    let text =
        Workload { spec, operations, processes, violated: false, seed: 7, values: None }.generate();
    // The reader of the pipe may stop early.
    let _ = std::io::Write::write_all(&mut std::io::stdout(), text.as_bytes());
}

/// Builds the command that is measured.
fn build() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let status = Command::new("cargo")
        .args(["build", "--release", "--quiet", "-p", "linchpin-cli"])
        .current_dir(&root)
        .status()
        .expect("cargo runs");
    assert!(status.success(), "linchpin builds");
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or(root.join("target"), PathBuf::from);
    target.join("release/linchpin")
}

struct Measured {
    parse: f64,
    total: f64,
    peak: f64,
    method: String,
    verdict: String,
}

fn check(linchpin: &Path, history: &Path, spec: &str) -> Measured {
    let mut command = Command::new(linchpin);
    command.args(["check", "--json", "--quiet", "--time-limit", "30", "--spec", spec]).arg(history);
    if spec == "mwcas" {
        command.args(["--init", "0"]);
    }
    let output = command.output().expect("linchpin runs");
    let text = String::from_utf8_lossy(&output.stdout);
    // Without an answer it was ended, two seconds after the limit.
    let json: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
    let stats = &json["engines"][0]["stats"];
    Measured {
        parse: stats["parse_seconds"].as_f64().unwrap_or(f64::NAN),
        total: stats["seconds"].as_f64().unwrap_or(f64::NAN),
        peak: stats["peak_bytes"].as_f64().unwrap_or(f64::NAN),
        method: json["engines"][0]["method"].as_str().unwrap_or("").to_owned(),
        verdict: json["verdict"].as_str().unwrap_or("?").to_owned(),
    }
}

/// Prints a row; answers the total time, for the growth of the next one.
fn row(linchpin: &Path, path: &Path, load: Workload, before: Option<f64>) -> f64 {
    let bytes = std::fs::metadata(path).expect("written").len() as f64;
    let measured = check(linchpin, path, load.spec);
    let wanted = if load.violated { "violated" } else { "holds" };
    let judged = match measured.verdict == wanted {
        true => String::new(),
        false => format!("  ({})", measured.verdict),
    };
    let operations = load.operations as f64;
    println!(
        "{:<15}{:>10}{:>6}  {:<11}{:>8.1}{:>10.4}{:>10.4}{:>7.2}{:>9.0}{:>7.0}{:>7}  {}{judged}",
        load.spec,
        load.operations,
        load.processes,
        if load.violated { "late error" } else { "good" },
        bytes / 1e6,
        measured.parse,
        measured.total,
        measured.total / measured.parse,
        measured.total / operations * 1e9,
        (measured.peak - bytes).max(0.0) / operations,
        before.map_or("-".to_owned(), |before| format!("{:.1}x", measured.total / before)),
        measured.method,
    );
    measured.total
}

fn peer_row(
    linchpin: &Path,
    folder: &Path,
    spec: &'static str,
    operations: usize,
    processes: usize,
) {
    let load = Workload { spec, operations, processes, violated: false, seed: 7, values: None };
    let text = load.generate();
    let path = folder.join("peers.jsonl");
    std::fs::write(&path, &text).expect("written");
    let ours = check(linchpin, &path, spec);
    let events = peers::events(&text).expect("a queue or register history");
    let seconds = |time: Option<f64>| time.map_or("-".to_owned(), |time| format!("{time:.4}"));
    println!(
        "{spec:<15}{operations:>8}{processes:>7}{:>12.4}{:>12}{:>12}",
        ours.total,
        seconds(peers::measure(peers::todc, &events, PEER_LIMIT)),
        seconds(peers::measure(peers::stateright, &events, PEER_LIMIT)),
    );
}
