//! The arguments of `linchpin specs`.

use super::{Common, LimitArgs};
use clap::Args;

#[derive(Args, Clone, Debug)]
pub struct SpecsArgs {
    /// Only this specification.
    pub name: Option<String>,
    #[arg(skip)]
    pub limits: LimitArgs,
    #[arg(skip)]
    pub common: Common,
}
