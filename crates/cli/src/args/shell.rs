//! The arguments of the commands that make one at home in the shell and the editor: `new`,
//! `explain`, `lsp`, `completions`, `man`.

use super::{Common, LimitArgs};
use clap::{Args, ValueEnum};
use clap_complete::Shell;
use std::path::PathBuf;

#[derive(Args, Clone, Debug)]
pub struct NewArgs {
    /// The model: `NAME` or `NAME.lin`, perhaps in another folder. A file is never overwritten.
    pub name: PathBuf,
    /// What to start from.
    #[arg(long, value_enum, default_value_t)]
    pub like: LikeArg,
    #[arg(skip)]
    pub limits: LimitArgs,
    #[arg(skip)]
    pub common: Common,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum LikeArg {
    /// Treiber's stack: one word, changed by `cas`.
    #[default]
    Stack,
    /// A queue with one lock at each end.
    Queue,
    /// Two words that readers see as one without a lock; the specification is written out.
    Register,
    /// A counter behind a lock.
    Lock,
}

#[derive(Args, Clone, Debug)]
pub struct ExplainArgs {
    /// The code, such as `L020`. [default: list all]
    pub code: Option<String>,
    #[arg(skip)]
    pub limits: LimitArgs,
    #[arg(skip)]
    pub common: Common,
}

#[derive(Args, Clone, Debug)]
pub struct LspArgs {
    /// Speak over standard input and output, which is the only way; editors like to say so.
    #[arg(long)]
    pub stdio: bool,
    #[arg(skip)]
    pub limits: LimitArgs,
    #[arg(skip)]
    pub common: Common,
}

#[derive(Args, Clone, Debug)]
pub struct CompletionsArgs {
    /// The shell.
    pub shell: Shell,
    #[arg(skip)]
    pub limits: LimitArgs,
    #[arg(skip)]
    pub common: Common,
}

#[derive(Args, Clone, Debug)]
pub struct ManArgs {
    /// Write a page a command into this folder. [default: the page of `linchpin` to standard output]
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
    #[arg(skip)]
    pub limits: LimitArgs,
    #[arg(skip)]
    pub common: Common,
}
