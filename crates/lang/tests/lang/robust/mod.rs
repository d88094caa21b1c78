//! No source makes the front end panic, overflow the stack, hang, or say
//! something about a place that is not in the source; and what `format` lays out stays the same
//! model.
//!
//! [`mutate`] makes models out of those in `models/` and in the fuzzing corpus, [`nasty`] writes
//! the worst that people could think of, [`judge`](mod@judge) looks at what the front end does with
//! them. A case is made of one number: `LINCHPIN_SEED=n LINCHPIN_CASES=1` repeats the case that
//! failed.

mod judge;
mod mutate;
mod nasty;

use expect_test::expect_file;
use judge::{Outcome, judge};
use linchpin_lang::{Config, compile};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// The stack of a test thread; the binary has more.
const STACK: usize = 2 << 20;

/// No source may take longer than this.
const PATIENCE: Duration = Duration::from_secs(5);

/// What takes longer than this will not end. More than [`PATIENCE`], because the machine may have
/// other things to do.
const FOR_EVER: Duration = Duration::from_secs(60);

/// How many cases share a thread.
const BATCH: u64 = 1000;

/// Every `.lin` file of the project: the models and the fuzzing corpus.
fn sources() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut folders = vec![root.join("models"), root.join("fuzz/corpus")];
    let mut files: Vec<PathBuf> = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten() {
            let path = entry.expect("the folder can be read").path();
            match path.extension() {
                _ if path.is_dir() => folders.push(path),
                Some(extension) if extension == "lin" => files.push(path),
                _ => {}
            }
        }
    }
    files.sort();
    let read = |path: &PathBuf| {
        String::from_utf8_lossy(&std::fs::read(path).expect("the model can be read")).into_owned()
    };
    files.iter().map(read).collect()
}

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Runs `work` on a thread with a small stack; fails, naming what it was doing, if it gives no sign
/// of life for too long.
fn watched<T: Send + 'static>(
    name: &str,
    work: impl FnOnce(&mut dyn FnMut(&str)) -> T + Send + 'static,
) -> T {
    let (sender, signs) = channel();
    let mut alive = move |doing: &str| sender.send(doing.to_owned()).expect("the watchdog listens");
    // A stack overflow ends the process at once: all that is left is the name of the thread.
    let worker = std::thread::Builder::new().name(name.to_owned()).stack_size(STACK);
    let worker = worker.spawn(move || work(&mut alive)).expect("a thread can be started");
    let mut doing = name.to_owned();
    loop {
        match signs.recv_timeout(FOR_EVER) {
            Ok(now) => doing = now,
            Err(RecvTimeoutError::Timeout) => panic!("{doing}: more than {FOR_EVER:?}"),
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    worker.join().unwrap_or_else(|_| panic!("{doing}: panicked"))
}

/// Judges the source, and the time that it takes.
fn timed(source: &str, case: u64) -> Outcome {
    let (started, used) = (Instant::now(), processor_time());
    let outcome = judge(source, case);
    let mut took = started.elapsed();
    if took > PATIENCE {
        took = processor_time().zip(used).map_or(took, |(now, before)| now - before);
    }
    assert!(took < PATIENCE, "took {took:?}");
    outcome
}

/// How long this thread has been executing, where the system says so.
fn processor_time() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split(' ').next()?.parse().ok().map(Duration::from_nanos)
}

/// Judges the cases from `first` on; how many had each outcome.
fn run(first: u64, count: u64, sources: Arc<Vec<String>>) -> [u64; 3] {
    watched(&format!("LINCHPIN_SEED={first} LINCHPIN_CASES={count}"), move |alive| {
        let mut outcomes = [0u64; 3];
        for case in first..first + count {
            alive(&format!("LINCHPIN_SEED={case} LINCHPIN_CASES=1"));
            let source = mutate::case(case, &sources);
            let outcome = std::panic::catch_unwind(|| timed(&source, case))
                .unwrap_or_else(|_| panic!("the source was:\n{source}"));
            outcomes[outcome as usize] += 1;
        }
        outcomes
    })
}

#[test]
fn mutated_models_are_survived() {
    let seed = number("LINCHPIN_SEED", fastrand::u64(..1 << 48));
    let cases = number("LINCHPIN_CASES", 100_000);
    eprintln!("LINCHPIN_SEED={seed} LINCHPIN_CASES={cases}");
    let sources = Arc::new(sources());
    assert!(sources.len() > 20, "the models are missing");
    let mut outcomes = [0; 3];
    for first in (seed..seed + cases).step_by(BATCH as usize) {
        let count = BATCH.min(seed + cases - first);
        let batch = run(first, count, sources.clone());
        outcomes.iter_mut().zip(batch).for_each(|(sum, count)| *sum += count);
    }
    let [unreadable, mistaken, compiled] = outcomes;
    eprintln!("{unreadable} do not parse, {mistaken} do not check, {compiled} compile");
    if cases >= 10_000 {
        assert!(outcomes.iter().all(|count| *count > cases / 10), "too much of the same");
    }
}

#[test]
fn the_models_themselves_compile() {
    for source in sources() {
        if source.starts_with("//! ") {
            assert_eq!(judge(&source, 0), Outcome::Compiled, "{source}");
        }
    }
}

#[test]
fn the_worst_that_people_thought_of_is_survived() {
    let answers = watched("the worst", |alive| {
        let mut answers = String::new();
        for (name, source) in nasty::all() {
            alive(name);
            let started = Instant::now();
            timed(&source, 0);
            eprintln!("{name}: {:?}", started.elapsed());
            answers += &format!("{name}: {}\n", answer(&source));
        }
        answers
    });
    expect_file!["nasty.txt"].assert_eq(&answers);
}

/// What the front end says about a source, in one line.
fn answer(source: &str) -> String {
    let mistakes = match compile(source, &Config::default()) {
        Ok(_) => return "accepted".to_owned(),
        Err(mistakes) => mistakes,
    };
    let more = if mistakes.len() > 1 { format!(" … {}", mistakes.len()) } else { String::new() };
    format!("{}{more}", mistakes[0].message)
}
