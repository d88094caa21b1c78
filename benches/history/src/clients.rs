//! Histories whose values repeat, by many clients at once, and recorded ones: the time in which
//! they are judged beside that of plain Wing–Gong–Lowe.

use crate::models;
use crate::wgl::Limit;
use crate::workload::{REPEATING, Workload};
use linchpin_history::search::SearchOptions;
use linchpin_history::{CheckOptions, History, Judgement, Object, check};
use linchpin_ingest::{ReadOptions, read_bytes};
use linchpin_verdict::Limits;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const CLIENTS: &[usize] = &[10, 20, 30];
/// So many histories a row, from the seed 0, unless `seeds=10..20` says otherwise.
const SEEDS: Range<u64> = 0..3;
/// Different values.
const VALUES: i64 = 4;
/// How long one judgement may take, unless `within=` says otherwise.
const LIMIT: Duration = Duration::from_secs(10);
/// A history is judged so often at most, and no more once that has taken so long.
const ROUNDS: usize = 201;
const ENOUGH: Duration = Duration::from_millis(200);
/// What the peer may keep.
const BYTES: usize = 4 << 30;

/// What both say about a history, and after how many seconds; nothing if the limit was reached.
struct Pair {
    ours: Option<(bool, f64)>,
    /// Ours, with a few operations that show the violation.
    with_core: Option<(bool, f64)>,
    peer: Option<(bool, f64)>,
}

impl Pair {
    fn of(spec: &str, text: &[u8], within: Duration) -> Pair {
        let object = Object::builtin(spec, None).expect("a built-in specification");
        let options = ReadOptions::new(spec, object.spec.operations());
        // Deadlines are set each time, to the same.
        let mut history = read_bytes(text, &options).expect("a history").history;
        let explained = SearchOptions::default();
        let (core_time, event_time) = (Duration::ZERO, Duration::ZERO);
        let unexplained = SearchOptions { core_time, event_time, ..SearchOptions::default() };
        let ours = median(|| judge(&object, &mut history, &unexplained, within));
        let with_core = median(|| judge(&object, &mut history, &explained, within));
        let limit = || Limit { deadline: Instant::now() + within, bytes: BYTES };
        let peer = median(|| models::judge(spec, &history, &limit()));
        if let (Some((ours, _)), Some((peer, _))) = (ours, peer) {
            assert_eq!(ours, peer, "two answers about the same history of a {spec}");
        }
        Pair { ours, with_core, peer }
    }

    /// The time of the peer divided by ours, where both have an answer.
    fn ratio(&self) -> Option<f64> {
        Some(self.peer?.1 / self.ours?.1)
    }
}

fn judge(
    object: &Object,
    history: &mut History,
    search: &SearchOptions,
    within: Duration,
) -> Option<bool> {
    let limits = Limits { deadline: Some(Instant::now() + within), ..Limits::default() };
    let options = CheckOptions { limits, search: search.clone(), ..CheckOptions::default() };
    match check(object, history, &options).ok()?.judgement {
        Judgement::Holds(_) => Some(true),
        Judgement::Violated(_) => Some(false),
        Judgement::Inconclusive(_) => None,
    }
}

/// The answer, and the median of the times that it takes: of many where it takes little.
fn median(mut judge: impl FnMut() -> Option<bool>) -> Option<(bool, f64)> {
    let begin = Instant::now();
    let mut times: Vec<f64> = Vec::new();
    loop {
        let start = Instant::now();
        let answer = judge()?;
        times.push(start.elapsed().as_secs_f64());
        if times.len() == ROUNDS || begin.elapsed() > ENOUGH {
            times.sort_by(f64::total_cmp);
            return Some((answer, times[times.len() / 2]));
        }
    }
}

/// What is compared.
struct Wanted {
    smallest: usize,
    /// The largest number of operations.
    largest: usize,
    seeds: Range<u64>,
    within: Duration,
    /// Whether there is a row for every history, instead of one for all of a kind.
    each: bool,
}

impl Wanted {
    fn new(arguments: &[String]) -> Wanted {
        let given = |name: &str| arguments.iter().find_map(|a| a.strip_prefix(name));
        let seconds = given("within=").and_then(|seconds| seconds.parse().ok());
        let seeds = given("seeds=").and_then(|seeds| {
            let (first, end) = seeds.split_once("..")?;
            Some(first.parse().ok()?..end.parse().ok()?)
        });
        Wanted {
            smallest: given("from=").and_then(|from| from.parse().ok()).unwrap_or(50),
            largest: arguments.iter().find_map(|a| a.parse().ok()).unwrap_or(3_200),
            seeds: seeds.unwrap_or(SEEDS),
            within: seconds.map_or(LIMIT, Duration::from_secs),
            each: arguments.iter().any(|a| a == "each"),
        }
    }
}

/// Prints a row for every object, number of clients and size.
pub fn print(arguments: &[String]) {
    let wanted = Wanted::new(arguments);
    let is_wanted = |spec: &&str| arguments.iter().any(|a| a == spec);
    let any = REPEATING.iter().any(|spec| is_wanted(spec));
    let only: Option<usize> = arguments.iter().find_map(|a| a.strip_prefix("by=")?.parse().ok());
    let limit = wanted.within.as_secs();
    println!(
        "{VALUES} different values, {} histories a row; wrong: one late answer is another",
        if wanted.each { 1 } else { wanted.seeds.clone().count() }
    );
    println!(
        "value. Medians in seconds; -: more than {limit} s or {} GB. ratio: Wing–Gong–Lowe /",
        BYTES >> 30
    );
    println!(
        "linchpin, the least and the greatest of the histories that both judge. with core: and"
    );
    println!(
        "with a few operations that show the violation, for which it takes up to two seconds.\n"
    );
    println!(
        "{:<16}{:>8}{:>7}  {:<8}{:>9}{:>12}{:>12}{:>12}  {:>9}{:>11}",
        "spec",
        "clients",
        "ops",
        "history",
        "violated",
        "linchpin",
        "with core",
        "WGL",
        "ratio",
        ""
    );
    for spec in REPEATING.iter().filter(|spec| !any || is_wanted(spec)) {
        for clients in CLIENTS.iter().filter(|clients| only.is_none_or(|only| only == **clients)) {
            for violated in [false, true] {
                print_growth(spec, *clients, violated, &wanted);
            }
        }
    }
}

/// More and more operations, until the peer is lost.
fn print_growth(spec: &'static str, processes: usize, violated: bool, wanted: &Wanted) {
    let kind = if violated { "wrong" } else { "right" };
    let mut operations = wanted.smallest;
    while operations <= wanted.largest {
        let name = format!("{spec:<16}{processes:>8}{operations:>7}");
        let mut pairs: Vec<Pair> = Vec::new();
        for seed in wanted.seeds.clone() {
            let values = Some(VALUES);
            let load = Workload { spec, operations, processes, violated, seed, values };
            pairs.push(Pair::of(spec, load.generate().as_bytes(), wanted.within));
            if wanted.each {
                print_row(&name, kind, &pairs[pairs.len() - 1..]);
            }
        }
        if !wanted.each {
            print_row(&name, kind, &pairs);
        }
        if pairs.iter().all(|pair| pair.peer.is_none()) {
            return;
        }
        operations *= 2;
    }
}

fn print_row(name: &str, kind: &str, pairs: &[Pair]) {
    let median = |times: Vec<Option<f64>>| {
        let mut times: Vec<f64> = times.into_iter().map(|time| time.unwrap_or(f64::MAX)).collect();
        times.sort_by(f64::total_cmp);
        match times[times.len() / 2] {
            f64::MAX => "-".to_owned(),
            time => format!("{time:.6}"),
        }
    };
    let violated = |pair: &&Pair| pair.ours.or(pair.peer).is_some_and(|(holds, _)| !holds);
    let mut ratios: Vec<f64> = pairs.iter().filter_map(Pair::ratio).collect();
    ratios.sort_by(f64::total_cmp);
    let ratio = |at: Option<&f64>| at.map_or("-".to_owned(), |ratio| format!("{ratio:.2}"));
    println!(
        "{name}  {kind:<8}{:>9}{:>12}{:>12}{:>12}  {:>9}{:>11}",
        format!("{}/{}", pairs.iter().filter(violated).count(), pairs.len()),
        median(pairs.iter().map(|pair| pair.ours.map(|(_, time)| time)).collect()),
        median(pairs.iter().map(|pair| pair.with_core.map(|(_, time)| time)).collect()),
        median(pairs.iter().map(|pair| pair.peer.map(|(_, time)| time)).collect()),
        ratio(ratios.first()),
        ratio(ratios.last()),
    );
}

/// Prints a row for every recorded history of a directory, and one for all of them.
pub fn print_recorded(directory: &Path, spec: &str) {
    let entries = std::fs::read_dir(directory).expect("a directory");
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    println!("Seconds; ratio: Wing–Gong–Lowe / linchpin.\n");
    println!(
        "{:<30}{:>10}{:>12}{:>12}{:>12}{:>10}",
        "history", "", "linchpin", "with core", "WGL", "ratio"
    );
    let mut pairs = Vec::new();
    for path in paths {
        let pair = Pair::of(spec, &std::fs::read(&path).expect("a file"), LIMIT);
        let seconds = |answer: Option<(bool, f64)>| {
            answer.map_or("-".to_owned(), |(_, time)| format!("{time:.6}"))
        };
        println!(
            "{:<30}{:>10}{:>12}{:>12}{:>12}{:>10}",
            path.file_name().unwrap_or_default().to_string_lossy(),
            match pair.ours {
                Some((true, _)) => "holds",
                Some((false, _)) => "violated",
                None => "?",
            },
            seconds(pair.ours),
            seconds(pair.with_core),
            seconds(pair.peer),
            pair.ratio().map_or("-".to_owned(), |ratio| format!("{ratio:.2}")),
        );
        pairs.push(pair);
    }
    let sum = |times: Vec<Option<(bool, f64)>>| -> f64 {
        times.into_iter().flatten().map(|(_, time)| time).sum()
    };
    let ours = sum(pairs.iter().map(|pair| pair.ours).collect());
    let with_core = sum(pairs.iter().map(|pair| pair.with_core).collect());
    let peer = sum(pairs.iter().map(|pair| pair.peer).collect());
    println!("{:<40}{ours:>12.6}{with_core:>12.6}{peer:>12.6}{:>10.2}", "sum", peer / ours);
    let ahead = pairs.iter().filter_map(Pair::ratio).filter(|ratio| *ratio >= 1.0).count();
    println!("\nahead in {ahead} of {}", pairs.len());
}
