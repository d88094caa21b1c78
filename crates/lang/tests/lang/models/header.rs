//! What the header of a model promises.
//!
//! ```text
//! //! Expected: not linearizable
//! //! Shown by: --schedule pct --seed 7
//! //! Partial: dequeue
//! ```

use linchpin_ir::interpreter::Memory;
use linchpin_ir::run::Scheduler;

/// The promises.
pub struct Header {
    /// The first sentence.
    pub title: String,
    /// What stands after `Expected:`.
    pub verdict: String,
    /// What stands after `Shown by:`.
    pub run: Option<String>,
    pub expected: Expected,
    /// The run that shows what is wrong, for a model in which something is.
    pub shown_by: Option<ShownBy>,
    /// What is promised of runs with crashes: the words after `With crashes:`.
    pub with_crashes: Option<String>,
    /// Operations that never return in some states, even alone.
    pub partial: Vec<String>,
}

/// The verdict.
#[derive(Clone, Copy)]
pub struct Expected {
    pub linearizable: bool,
    pub points_wrong: bool,
    /// What is promised with `--memory reuse`, if it is said.
    pub with_reuse: Option<WithMemory>,
    /// What is promised with `--memory type-stable`, if it is said.
    pub with_type_stable: Option<WithMemory>,
}

/// What is promised with another memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WithMemory {
    Fault,
    NotLinearizable,
    Linearizable,
}

impl Expected {
    /// Whether something goes wrong with another memory.
    pub fn goes_wrong(&self) -> bool {
        [self.with_reuse, self.with_type_stable]
            .into_iter()
            .flatten()
            .any(|with| with != WithMemory::Linearizable)
    }
}

/// Flags of `linchpin run`.
#[derive(Clone, Copy, Debug)]
pub struct ShownBy {
    pub scheduler: Scheduler,
    pub memory: Memory,
    pub seed: u64,
    pub crashes: usize,
}

impl Header {
    pub fn parse(source: &str) -> Result<Header, String> {
        let lines = || source.lines().map_while(|line| line.strip_prefix("//!")).map(str::trim);
        let entry = |key: &str| lines().find_map(|line| line.strip_prefix(key)).map(str::trim);
        if lines().next().is_none_or(str::is_empty) {
            return Err("the header starts with a title".to_owned());
        }
        entry("Source:").filter(|source| !source.is_empty()).ok_or("no `Source:` in the header")?;
        let expected = expected(entry("Expected:").ok_or("no `Expected:` in the header")?)?;
        let with_crashes = entry("With crashes:").map(str::to_owned);
        let breaks = with_crashes.as_ref().is_some_and(|words| words.starts_with("not "));
        let partial = entry("Partial:").map(|list| list.split(", ").map(str::to_owned).collect());
        let shown_by = entry("Shown by:").map(shown_by).transpose()?;
        if (!expected.linearizable || expected.goes_wrong() || breaks) && shown_by.is_none() {
            // While one is being searched for there is none yet.
            if std::env::var("LINCHPIN_SEARCH").is_err() {
                return Err("no `Shown by:` in the header: which run shows it?".to_owned());
            }
        }
        let title: Vec<&str> = lines().take_while(|line| !line.is_empty()).collect();
        Ok(Header {
            title: title.join(" "),
            verdict: entry("Expected:").unwrap_or_default().to_owned(),
            run: entry("Shown by:").map(str::to_owned),
            expected,
            shown_by,
            with_crashes,
            partial: partial.unwrap_or_default(),
        })
    }
}

fn expected(text: &str) -> Result<Expected, String> {
    let mut parts = text.split("; ");
    let linearizable = match parts.next() {
        Some("linearizable") => true,
        Some("not linearizable") => false,
        _ => return Err(format!("`Expected: {text}` is not a verdict")),
    };
    let mut expected =
        Expected { linearizable, points_wrong: false, with_reuse: None, with_type_stable: None };
    let with = |text: &str| match text {
        "fault" => Some(WithMemory::Fault),
        "not linearizable" => Some(WithMemory::NotLinearizable),
        "linearizable" => Some(WithMemory::Linearizable),
        _ => None,
    };
    for part in parts {
        match part.split_once(": ") {
            None if part == "points wrong" => expected.points_wrong = true,
            Some(("with reuse", text)) if with(text).is_some() => {
                expected.with_reuse = with(text);
            }
            Some(("with type-stable", text)) if with(text).is_some() => {
                expected.with_type_stable = with(text);
            }
            _ => return Err(format!("`{part}` means nothing in `Expected:`")),
        }
    }
    Ok(expected)
}

fn shown_by(text: &str) -> Result<ShownBy, String> {
    let (scheduler, memory) = (Scheduler::Random, Memory::Collected);
    let mut shown = ShownBy { scheduler, memory, seed: 0, crashes: 0 };
    let mut words = text.split(' ');
    while let (Some(flag), value) = (words.next(), words.next()) {
        match (flag, value.unwrap_or_default()) {
            ("--schedule", "pct") => shown.scheduler = Scheduler::Pct { depth: 3 },
            ("--depth", depth) => {
                let depth = depth.parse().map_err(|_| format!("depth {depth}"))?;
                shown.scheduler = Scheduler::Pct { depth };
            }
            ("--crashes", count) => {
                shown.crashes = count.parse().map_err(|_| format!("crashes {count}"))?;
            }
            ("--memory", "reuse") => shown.memory = Memory::Reuse,
            ("--memory", "type-stable") => shown.memory = Memory::TypeStable,
            ("--seed", seed) => shown.seed = seed.parse().map_err(|_| format!("seed {seed}"))?,
            (flag, value) => return Err(format!("`{flag} {value}` in `Shown by:`")),
        }
    }
    Ok(shown)
}
