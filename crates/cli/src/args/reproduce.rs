//! The arguments of `linchpin reproduce`.

use super::values::{duration, size};
use super::{Common, LimitArgs};
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;

#[derive(Args, Clone, Debug)]
pub struct ReproduceArgs {
    /// Which tables. [default: all]
    #[arg(value_enum)]
    pub tables: Vec<TableArg>,
    /// Give up a measurement that is only there for comparison after this time.
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "20s")]
    pub patience: Duration,
    /// How long the log of 003 is, about; that of the paper is 1G.
    #[arg(long, value_name = "SIZE", value_parser = size, default_value = "40M")]
    pub log_size: u64,
    /// Write a Markdown document with the tables and the machine.
    #[arg(long, value_name = "FILE.md")]
    pub markdown: Option<PathBuf>,
    /// Write a self-contained page with the tables and the machine.
    #[arg(long, value_name = "FILE.html")]
    pub report: Option<PathBuf>,
    #[arg(skip)]
    pub limits: LimitArgs,
    #[arg(skip)]
    pub common: Common,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TableArg {
    /// Refinement model checking: Table 1 of "Model Checking Linearizability via Refinement".
    #[value(name = "002")]
    Refinement,
    /// Comparison under abstraction: Tables 5.1 and A.1 of "Comparison Under Abstraction for
    /// Verifying Linearizability".
    #[value(name = "001")]
    Shape,
    /// Multi-word primitives on persistent memory: the experiments of Section 6 of "Toward
    /// Linearizability Testing for Multi-Word Persistent Synchronization Primitives"; and crashes.
    #[value(name = "003")]
    Multiword,
    /// Base points: the claims of Section 5 of "A Constructive Approach for Proving Data Structures'
    /// Linearizability", for the lazy list.
    #[value(name = "004")]
    Base,
    /// Sub-operation reversal: Table I of "Proving Concurrent Data Structures Linearizable".
    #[value(name = "000")]
    Reduction,
}

impl TableArg {
    /// Its name, as it is given.
    pub fn id(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }
}
