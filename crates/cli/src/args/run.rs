//! The arguments of `linchpin run`.

use super::{Common, LimitArgs, MemoryArg, ModelArgs};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

const EXIT_CODES: &str = "Exit codes: 0 every run was linearizable; 1 a run was not, a step failed, or threads block each \
     other for ever; 2 usage or input error; 3 a limit ended the search, or a run was not decided \
     (--step-limit, or threads wait for what a further call might do).";

#[derive(Args, Clone, Debug)]
#[command(after_help = EXIT_CODES)]
pub struct RunArgs {
    #[command(flatten)]
    pub model: ModelArgs,
    /// How many operations each thread calls. [default: the model's bounds]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(..=1_000_000))]
    pub ops: Option<u32>,
    /// How many different values clients pass for an `int`: 1, 2, …, N. [default: the model's
    /// bounds]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i64).range(1..))]
    pub values: Option<i64>,
    /// Decides everything random: the same seed gives the same bytes.
    #[arg(long, value_name = "S", default_value_t = 0)]
    pub seed: u64,
    /// Try so many seeds, from `--seed` on, and report the first run that goes wrong, or else the
    /// last. Every run is judged against the specification.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    pub tries: u64,
    /// Who moves next.
    #[arg(long, value_enum, default_value_t = Schedule::Random)]
    pub schedule: Schedule,
    /// How many ordering constraints `--schedule pct` aims at.
    #[arg(long, value_name = "D", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub depth: u32,
    /// Crash the system so many times, at random moments; each line of persistent memory keeps any
    /// prefix of what no fence has guaranteed. [default: the model's bounds]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8))]
    pub crashes: Option<u8>,
    /// Crash a thread so many times, at random moments: memory stays as it is.
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u8).range(0..=4))]
    pub thread_crashes: u8,
    /// Calls that one thread makes alone before all others, such as `push(1); push(2)`. [default:
    /// the model's `preload { }`]
    #[arg(long, value_name = "CALLS", conflicts_with = "replay")]
    pub preload: Option<String>,
    /// What `free` means: nothing, or that the object may come back.
    #[arg(long, value_enum, default_value_t = MemoryArg::Collected)]
    pub memory: MemoryArg,
    /// End a run after so many moves: threads may spin for ever.
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    pub step_limit: u64,
    /// Write every step too: a line with `"type":"step"` between the events.
    #[arg(long)]
    pub trace: bool,
    /// Execute the schedule in this file (what `linchpin run --json` or `linchpin verify --json`
    /// wrote) instead of a random one, and judge the run.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["seed", "tries", "schedule", "ops", "values", "crashes", "thread_crashes"])]
    pub replay: Option<PathBuf>,
    /// Write the history to this file instead of standard output.
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Write a self-contained page about the run.
    #[arg(long, value_name = "FILE.html")]
    pub report: Option<PathBuf>,
    #[arg(skip)]
    pub limits: LimitArgs,
    #[arg(skip)]
    pub common: Common,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Schedule {
    /// Any thread that can move, each with the same probability.
    Random,
    /// Probabilistic concurrency testing: random priorities that change at a few random moves.
    Pct,
}
