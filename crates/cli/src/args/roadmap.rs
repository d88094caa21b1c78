//! The arguments of `linchpin roadmap`.

use super::values::calls;
use super::{Common, LimitArgs, ModelArgs};
use clap::Args;
use linchpin_space::Calls;
use std::path::PathBuf;

const EXIT_CODES: &str = "Exit codes: 0 every condition holds within the bounds; 1 one does not, and a run within the \
     bounds is not linearizable; 2 usage or input error; 3 a condition does not hold and no such run \
     was found, the method does not apply, or a limit ended the search.";

#[derive(Args, Clone, Debug)]
#[command(after_help = EXIT_CODES)]
pub struct RoadmapArgs {
    #[command(flatten)]
    pub model: ModelArgs,
    /// How many operations each thread calls, or `unlimited`. [default: the model's bounds]
    #[arg(long, value_name = "N", value_parser = calls)]
    pub ops: Option<Calls>,
    /// How many different values clients pass for an `int`: 1, 2, …, N. [default: the model's
    /// bounds]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i64).range(1..=255))]
    pub values: Option<i64>,
    /// At most so many heap objects at a time; without `--ops`, threads then call without end.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub size: Option<u16>,
    /// Write the roadmap, as Markdown, to this file instead of standard output.
    #[arg(long, short, visible_alias = "output", value_name = "FILE.md")]
    pub out: Option<PathBuf>,
    /// Write a self-contained page with the roadmap, its states drawn.
    #[arg(long, value_name = "FILE.html")]
    pub report: Option<PathBuf>,
    /// Put the base conditions that were found into the model, as `#[base(…)]` before the steps
    /// that have none.
    #[arg(long)]
    pub write: bool,
    #[arg(skip)]
    pub limits: LimitArgs,
    #[arg(skip)]
    pub common: Common,
}
