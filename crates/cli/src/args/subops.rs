//! The arguments of `linchpin subops`.

use super::{Common, LimitArgs, ModelArgs};
use clap::Args;
use std::path::PathBuf;

#[derive(Args, Clone, Debug)]
pub struct SubopsArgs {
    #[command(flatten)]
    pub model: ModelArgs,
    /// Keep every step that only looks, even if the proof does not need it.
    #[arg(long)]
    pub whole: bool,
    /// Write the `.subop` file here instead of to standard output.
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    #[arg(skip)]
    pub limits: LimitArgs,
    #[arg(skip)]
    pub common: Common,
}
