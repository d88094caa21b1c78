//! The arguments of `linchpin fmt`.

use super::{Common, LimitArgs};
use clap::Args;
use std::path::PathBuf;

#[derive(Args, Clone, Debug)]
pub struct FmtArgs {
    /// The models; `-` reads standard input and writes standard output.
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    /// Change nothing; exit with 1 if a file would change.
    #[arg(long)]
    pub check: bool,
    #[arg(skip)]
    pub limits: LimitArgs,
    #[arg(skip)]
    pub common: Common,
}
