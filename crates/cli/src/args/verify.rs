//! The arguments of `linchpin verify`.

use super::values::{any_or_values, calls, duration, setting, size, threads};
use super::{Common, LimitArgs, MemoryArg};
use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Args, ValueEnum};
use linchpin_engine::{Reduction, SearchAsked};
use linchpin_lang::{Config, MOST_CRASHES, Threads};
use linchpin_progress::Property;
use linchpin_space::Calls;
use linchpin_spec::Value;
use linchpin_verdict::{CrashProperty, Values};
use linchpin_verify::{Client, Free};
use std::path::PathBuf;
use std::time::Duration;

/// How many ordering constraints `--search pct` aims at, as `linchpin run` does.
const PCT_DEPTH: usize = 3;

#[derive(Args, Clone, Debug)]
pub struct VerifyArgs {
    /// The models: `.lin` files, `.subop` files (operations as lists of sub-operations), `.csp`
    /// files (processes), or folders of them. Of several, a table says what came of each.
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    /// Only this engine. May be repeated.
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(engines()))]
    pub engine: Vec<String>,
    /// How many threads: `3`, one number a role: `writer=1,reader=2`, or `any`. With a number,
    /// `shape` looks at exactly that many; without, or with `any`, at any number of each kind,
    /// while engines that need a number take the model's own.
    #[arg(long, value_name = "N", value_parser = threads_or_any)]
    pub threads: Option<ThreadsArg>,
    /// Threads that call only some operations, of a model without roles: `push=2,pop=1` for two
    /// producers and one consumer, `push,pop=3` for three threads that call both.
    #[arg(long, value_name = "OPS=N", value_parser = clients)]
    pub client: Option<Clients>,
    /// Give a parameter of the model another value: `K=4`. May be repeated.
    #[arg(long, value_name = "NAME=VALUE", value_parser = setting)]
    pub set: Vec<(String, Value)>,
    /// How many operations each thread calls, or `unlimited`. [default: the model's bounds]
    #[arg(long, value_name = "N", value_parser = calls)]
    pub ops: Option<Calls>,
    /// How many different values clients pass for an `int`: 1, 2, …, N, or `any`, where the model
    /// only moves and compares them. [default: the model's bounds, or any, where that can be shown]
    #[arg(long, value_name = "N", value_parser = any_or_values)]
    pub values: Option<Values>,
    /// Calls that one thread makes alone before all others, such as `push(1); push(2)`: runs start
    /// after them. Engines that prove something for all runs ignore them. [default: the model's
    /// `preload { }`]
    #[arg(long, value_name = "CALLS")]
    pub preload: Option<String>,
    /// At most so many heap objects at a time; without `--ops`, threads then call without end.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub size: Option<u16>,
    /// What `free` means: nothing, or that the object may come back.
    #[arg(long, value_enum, default_value_t = MemoryArg::Collected)]
    pub memory: MemoryArg,
    /// How often the system may crash: what is persistent is left as lines may leave it, then
    /// `recover` runs, then the threads go on. [default: the model's bounds]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(0..=MOST_CRASHES))]
    pub crashes: Option<u8>,
    /// How often a thread may crash by itself: memory stays as it is.
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u8).range(0..=MOST_CRASHES))]
    pub thread_crashes: u8,
    /// What is asked of runs with crashes. Without it the strongest of `strict`, `recoverable`,
    /// `durable` and `buffered` that holds is named, and `durable` must hold.
    #[arg(long, value_enum, value_name = "PROPERTY")]
    pub property: Option<CrashPropertyArg>,
    /// With crashes: say which flushes, fences and persists can be left out; each is tried.
    #[arg(long)]
    pub superfluous: bool,
    /// Do not try the claimed linearization points first.
    #[arg(long)]
    pub no_points: bool,
    /// Do not look for operations that get stuck: only for wrong answers and steps that fail.
    #[arg(long)]
    pub safety_only: bool,
    /// Say for each operation where linearization points could be, and look for them so long:
    /// `--suggest-points=10s`. What is known then is said (exit code 3). [default: 60s]
    #[arg(long, value_name = "TIME", value_parser = duration, num_args = 0..=1, require_equals = true, default_missing_value = "60s")]
    pub suggest_points: Option<Duration>,
    /// Check this progress property of a `.lin` model instead of linearizability: `no-deadlock`,
    /// `obstruction-free`, `lock-free`, `wait-free`, `livelock-free` or `starvation-free`.
    #[arg(long, value_name = "PROPERTY")]
    pub progress: Option<Property>,
    /// Check this formula of linear temporal logic over events instead, such as
    /// `always (read_inv implies eventually read_res)`.
    #[arg(long, value_name = "FORMULA", conflicts_with = "progress")]
    pub ltl: Option<String>,
    /// For `--ltl`: only runs in which every thread that can always move does move.
    #[arg(long, requires = "ltl")]
    pub fair: bool,
    /// For `shape`: what the model is compared with.
    #[arg(long, value_enum, default_value_t = ReferenceArg::Spec)]
    pub reference: ReferenceArg,
    /// For `shape`: how heaps are abstracted.
    #[arg(long, value_enum, default_value_t = DomainArg::Targets)]
    pub domain: DomainArg,
    /// For `shape`: how answers that change nothing are explained, such as that of a `pop` that
    /// finds nothing. Without it `seen`, or `claimed` for the domain of the paper.
    #[arg(long, value_enum)]
    pub answers: Option<AnswersArg>,
    /// For `reduce`: print which pairs of sub-operations are orderable and reversible, and in which
    /// alias cases.
    #[arg(long)]
    pub table: bool,
    /// For `reduce`: print the facts that were found, and what killed the candidates that are none.
    #[arg(long)]
    pub facts: bool,
    /// For `reduce`: write the questions about pairs of sub-operations to this folder, one SMT-LIB
    /// file each; its comment says the answer that was found.
    #[arg(long, value_name = "FOLDER")]
    pub smt2: Option<PathBuf>,
    /// For `reduce`: write the proof to this file, for `linchpin certify`.
    #[arg(long, value_name = "FILE")]
    pub certificate: Option<PathBuf>,
    /// Leave out a reduction of the state space. May be repeated.
    #[arg(long, value_enum, value_name = "REDUCTION")]
    pub without: Vec<ReductionArg>,
    /// Search with a table of this size instead of remembering states: finds violations in huge
    /// spaces, proves nothing.
    #[arg(long, value_name = "SIZE", value_parser = size, num_args = 0..=1, default_missing_value = "1G")]
    pub lossy: Option<u64>,
    /// Keep the states of `refine` in this folder, level by level, instead of in memory: for spaces
    /// that are larger than `--memory-limit`. Asks `refine` only.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["lossy", "search", "watch", "progress", "ltl"])]
    pub disk: Option<PathBuf>,
    /// Go on with the search that is in the folder of `--disk`, after Ctrl-C, a limit or a crash.
    #[arg(long, requires = "disk")]
    pub resume: bool,
    /// Search with `refine` on several machines: HOSTS is a list `host:port,host:port,…`, or a file
    /// with one a line. Every one of them runs this command, each with its own `--process`. Asks
    /// `refine` only. Needs a build with `--features cluster`.
    #[arg(long, value_name = "HOSTS", requires = "process", conflicts_with_all = ["disk", "lossy", "search", "watch", "progress", "ltl", "suggest_points"])]
    pub cluster: Option<String>,
    /// Which of the processes of `--cluster` this is: the first is 0, and says the verdict.
    #[arg(long, value_name = "I", requires = "cluster")]
    pub process: Option<usize>,
    /// How `refine` looks at runs: `breadth-first`, `depth-first` (all of them, within bounds),
    /// `random`, `pct` (some, by chance), or `context-bound=K` (those in which operations
    /// are interrupted at most K times). Asks `refine` only.
    #[arg(long, value_name = "HOW", value_parser = search)]
    pub search: Option<SearchArg>,
    /// For `--search random` and `pct`: decides everything random.
    #[arg(long, value_name = "S", default_value_t = 0, requires = "search")]
    pub seed: u64,
    /// For `--search random` and `pct`: at most so many runs.
    #[arg(long, value_name = "N", default_value_t = 1_000_000, requires = "search")]
    pub runs: u64,
    /// How many cores to use. [default: all]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub workers: Option<u16>,
    /// Verify again whenever a file changes, until Ctrl-C.
    #[arg(long)]
    pub watch: bool,
    /// Do not use results of earlier runs, and do not remember these.
    #[arg(long)]
    pub no_cache: bool,
    /// With `--json`: add the counterexample step by step, with every state along it.
    #[arg(long, requires = "json")]
    pub with_run: bool,
    /// Write a self-contained page about the verdict; a counterexample is stepped through on it.
    /// For several models, one with a table, and theirs in a folder beside it.
    #[arg(long, value_name = "FILE.html")]
    pub report: Option<PathBuf>,
    /// For `shape`: write the abstract states to this folder, one SVG file each: those on the way to
    /// what stopped the proof, or some of those that the proof kept.
    #[arg(long, value_name = "FOLDER")]
    pub pictures: Option<PathBuf>,
    #[arg(skip)]
    pub limits: LimitArgs,
    #[arg(skip)]
    pub common: Common,
}

/// What `--engine` takes: one engine may read several languages under one name.
fn engines() -> Vec<&'static str> {
    let mut names: Vec<&str> =
        linchpin_verify::ENGINES.iter().map(|engine| engine.name()).collect();
    names.dedup();
    names
}

impl VerifyArgs {
    pub fn config(&self) -> Config {
        let threads = match &self.threads {
            Some(ThreadsArg::These(threads)) => threads.clone(),
            Some(ThreadsArg::Any) | None => Threads::AsDeclared,
        };
        Config { params: self.set.clone(), threads, preload: self.preload.clone() }
    }

    /// The engines that are named; a way to search is one of refinement.
    pub fn engines_named(&self) -> Vec<String> {
        match &self.engine[..] {
            [] if self.search.is_some() || self.disk.is_some() || self.cluster.is_some() => {
                vec!["refine".to_owned()]
            }
            named => named.to_vec(),
        }
    }

    /// How `refine` looks at runs.
    pub fn search_asked(&self) -> SearchAsked {
        let (seed, runs) = (self.seed, self.runs);
        match self.search {
            None | Some(SearchArg::BreadthFirst) => SearchAsked::BreadthFirst,
            Some(SearchArg::DepthFirst) => SearchAsked::DepthFirst,
            Some(SearchArg::Random) => SearchAsked::Random { seed, runs },
            Some(SearchArg::Pct) => SearchAsked::Pct { seed, runs, depth: PCT_DEPTH },
            Some(SearchArg::ContextBound(most)) => SearchAsked::ContextBound(most),
        }
    }

    /// The bounds that may be raised: those that the command line leaves to the model.
    pub fn free(&self) -> Free {
        Free {
            threads: !self.fixes_threads(),
            calls: self.ops.is_none() && self.size.is_none(),
            values: self.values.is_none(),
        }
    }

    /// Whether details of engines are asked for that a verdict does not need: then all are asked.
    pub fn wants_details(&self) -> bool {
        self.table
            || self.facts
            || self.smt2.is_some()
            || self.certificate.is_some()
            || self.pictures.is_some()
            || self.suggest_points.is_some()
    }

    /// Whether the command line says how many threads there are.
    pub fn fixes_threads(&self) -> bool {
        match &self.threads {
            Some(ThreadsArg::These(_)) => true,
            Some(ThreadsArg::Any) => false,
            None => self.client.is_some(),
        }
    }
}

/// What `--threads` takes.
#[derive(Clone, Debug)]
pub enum ThreadsArg {
    /// Any number of each kind.
    Any,
    /// These.
    These(Threads),
}

/// What `--client` takes.
#[derive(Clone, Debug)]
pub struct Clients(pub Vec<Client>);

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ReferenceArg {
    /// Its `reference` block if it has one, else the specification as a small list.
    Spec,
    /// Its own code, run alone.
    Own,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DomainArg {
    /// Links as sets of targets: the fast one.
    Targets,
    /// Three-valued structures with instrumentation predicates: as the paper has it.
    Kleene,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum AnswersArg {
    /// At some instant since the call the reference would have answered so.
    Seen,
    /// At the claimed linearization points, which are judged by that.
    Claimed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CrashPropertyArg {
    /// An interrupted operation takes effect before the crash, or never.
    Strict,
    /// … before the next operation of the same thread takes effect, or never.
    Recoverable,
    /// … at any later time, or never; what returned before a crash survives it.
    Durable,
    /// A crash may lose operations that had returned, but only the end of the time before it.
    Buffered,
    /// Durable, and `recover(t)` tells what became of each interrupted operation.
    Detectable,
}

impl From<CrashPropertyArg> for CrashProperty {
    fn from(of: CrashPropertyArg) -> CrashProperty {
        match of {
            CrashPropertyArg::Strict => CrashProperty::Strict,
            CrashPropertyArg::Recoverable => CrashProperty::Recoverable,
            CrashPropertyArg::Durable => CrashProperty::Durable,
            CrashPropertyArg::Buffered => CrashProperty::Buffered,
            CrashPropertyArg::Detectable => CrashProperty::Detectable,
        }
    }
}

/// What `--without` takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReductionArg {
    /// This one.
    One(Reduction),
    /// All of them.
    All,
}

impl ReductionArg {
    const VARIANTS: [ReductionArg; Reduction::ALL.len() + 1] = {
        let mut variants = [ReductionArg::All; Reduction::ALL.len() + 1];
        let mut at = 0;
        while at < Reduction::ALL.len() {
            variants[at] = ReductionArg::One(Reduction::ALL[at]);
            at += 1;
        }
        variants
    };

    /// The reductions that are left out.
    pub fn left_out(self) -> Vec<Reduction> {
        match self {
            ReductionArg::One(reduction) => vec![reduction],
            ReductionArg::All => Reduction::ALL.to_vec(),
        }
    }
}

impl ValueEnum for ReductionArg {
    fn value_variants<'a>() -> &'a [ReductionArg] {
        &ReductionArg::VARIANTS
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(match self {
            ReductionArg::One(of) => PossibleValue::new(of.name()).help(of.meaning()),
            ReductionArg::All => PossibleValue::new("all").help("All of them"),
        })
    }
}

/// What `--search` takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchArg {
    BreadthFirst,
    DepthFirst,
    Random,
    Pct,
    ContextBound(usize),
}

fn search(text: &str) -> Result<SearchArg, String> {
    Ok(match text {
        "breadth-first" => SearchArg::BreadthFirst,
        "depth-first" => SearchArg::DepthFirst,
        "random" => SearchArg::Random,
        "pct" => SearchArg::Pct,
        other => match other.strip_prefix("context-bound=").map(str::parse) {
            Some(Ok(most)) => SearchArg::ContextBound(most),
            _ => {
                let known = "breadth-first, depth-first, random, pct or context-bound=K";
                return Err(format!("write {known}"));
            }
        },
    })
}

fn threads_or_any(text: &str) -> Result<ThreadsArg, String> {
    match text {
        "any" => Ok(ThreadsArg::Any),
        other => threads(other).map(ThreadsArg::These),
    }
}

/// `push=2,pop=1`: a number ends the operations of a kind of threads.
fn clients(text: &str) -> Result<Clients, String> {
    let (mut all, mut operations, mut total) = (Vec::new(), Vec::new(), 0usize);
    for part in text.split(',') {
        let (name, count) = match part.split_once('=') {
            Some((name, count)) => (name.trim(), Some(count.trim())),
            None => (part.trim(), None),
        };
        if name.is_empty() {
            return Err("write OPERATION=NUMBER, such as push=2,pop=1".to_owned());
        }
        operations.push(name.to_owned());
        if let Some(count) = count {
            let threads: usize =
                count.parse().map_err(|_| format!("`{count}` is not a number of threads"))?;
            total = total.saturating_add(threads);
            all.push(Client { operations: std::mem::take(&mut operations), threads });
        }
    }
    match (operations.last(), total) {
        (Some(name), _) => Err(format!("how many threads call `{name}`? Write {name}=2")),
        (None, 0) => Err("there must be at least one thread".to_owned()),
        (None, 257..) => Err("at most 256 threads".to_owned()),
        (None, _) => Ok(Clients(all)),
    }
}
