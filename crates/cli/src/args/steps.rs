//! The arguments of `linchpin steps`.

use super::{Common, LimitArgs, ModelArgs};
use clap::Args;

#[derive(Args, Clone, Debug)]
pub struct StepsArgs {
    #[command(flatten)]
    pub model: ModelArgs,
    #[arg(skip)]
    pub limits: LimitArgs,
    #[arg(skip)]
    pub common: Common,
}
