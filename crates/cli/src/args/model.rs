//! What commands that read a model share.

use super::values::{setting, threads};
use clap::{Args, ValueEnum};
use linchpin_ir::interpreter::Memory;
use linchpin_lang::{Config, Threads};
use linchpin_spec::Value;
use std::path::PathBuf;

/// A model and what the user decides about it.
#[derive(Args, Clone, Debug)]
pub struct ModelArgs {
    /// The model: a `.lin` file, or `-` for standard input.
    pub model: PathBuf,
    /// How many threads: `3`, or one number a role: `writer=1,reader=2`.
    #[arg(long, value_name = "N", value_parser = threads)]
    pub threads: Option<Threads>,
    /// Give a parameter of the model another value: `K=4`. May be repeated.
    #[arg(long, value_name = "NAME=VALUE", value_parser = setting)]
    pub set: Vec<(String, Value)>,
    /// Calls that are made first, for the commands that look at runs: `--preload`.
    #[arg(skip)]
    pub preload: Option<String>,
}

impl ModelArgs {
    pub fn config(&self) -> Config {
        Config {
            params: self.set.clone(),
            threads: self.threads.clone().unwrap_or_default(),
            preload: self.preload.clone(),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum MemoryArg {
    /// Garbage collected: `free` changes nothing.
    Collected,
    /// Explicit: a freed object may come back, and using it after `free` is an error.
    Reuse,
    /// Type-stable: a freed object may be read and written, and may come back as it was.
    TypeStable,
}

impl From<MemoryArg> for Memory {
    fn from(memory: MemoryArg) -> Memory {
        match memory {
            MemoryArg::Collected => Memory::Collected,
            MemoryArg::Reuse => Memory::Reuse,
            MemoryArg::TypeStable => Memory::TypeStable,
        }
    }
}
