//! The arguments of `linchpin certify`.

use super::{Common, LimitArgs};
use clap::Args;
use std::path::PathBuf;

#[derive(Args, Clone, Debug)]
pub struct CertifyArgs {
    /// What `linchpin check` wrote with `--witness` or `--core`, or `linchpin verify` with
    /// `--certificate`.
    pub certificate: PathBuf,
    /// The history, if it is not where the certificate says.
    #[arg(long, value_name = "FILE")]
    pub history: Option<PathBuf>,
    #[arg(skip)]
    pub limits: LimitArgs,
    #[arg(skip)]
    pub common: Common,
}
