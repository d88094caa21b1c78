//! The arguments of `linchpin mutate`.

use super::values::{calls, duration};
use super::{Common, CrashPropertyArg, LimitArgs, MemoryArg, ModelArgs};
use clap::Args;
use linchpin_space::Calls;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Args, Clone, Debug)]
pub struct MutateArgs {
    #[command(flatten)]
    pub model: ModelArgs,
    /// How many operations each thread calls. [default: the model's bounds]
    #[arg(long, value_name = "N", value_parser = calls)]
    pub ops: Option<Calls>,
    /// How many different values clients pass for an `int`. [default: the model's bounds]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i64).range(1..=255))]
    pub values: Option<i64>,
    /// Calls that one thread makes alone before all others, such as `push(1); push(2)`. [default:
    /// the model's `preload { }`]
    #[arg(long, value_name = "CALLS")]
    pub preload: Option<String>,
    /// What `free` means: nothing, or that the object may come back.
    #[arg(long, value_enum, default_value_t = MemoryArg::Collected)]
    pub memory: MemoryArg,
    /// What is asked of runs with crashes, as for `verify`: `detectable`, for one.
    #[arg(long, value_enum, value_name = "PROPERTY")]
    pub property: Option<CrashPropertyArg>,
    /// How long the engines may work on one mutant.
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "10s")]
    pub budget: Duration,
    /// How many mutants are verified at a time. [default: as many as there are cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub workers: Option<u16>,
    /// Write a self-contained page.
    #[arg(long, value_name = "FILE.html")]
    pub report: Option<PathBuf>,
    #[arg(skip)]
    pub limits: LimitArgs,
    #[arg(skip)]
    pub common: Common,
}
