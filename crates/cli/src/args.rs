//! The command line: a file a command, and here what all commands share. Every flag is documented
//! where it is declared.

mod certify;
mod check;
mod fmt;
mod model;
mod mutate;
mod reproduce;
mod roadmap;
mod run;
mod shell;
mod specs;
mod steps;
mod subops;
mod values;
mod verify;

pub use certify::CertifyArgs;
pub use check::{CheckArgs, FailedCasArg, NilReadsArg, OrderArg, PropertyArg, RecordingArgs};
pub use fmt::FmtArgs;
pub use model::{MemoryArg, ModelArgs};
pub use mutate::MutateArgs;
pub use reproduce::{ReproduceArgs, TableArg};
pub use roadmap::RoadmapArgs;
pub use run::{RunArgs, Schedule};
pub use shell::{CompletionsArgs, ExplainArgs, LikeArg, LspArgs, ManArgs, NewArgs};
pub use specs::SpecsArgs;
pub use steps::StepsArgs;
pub use subops::SubopsArgs;
pub use verify::{
    AnswersArg, Clients, CrashPropertyArg, DomainArg, ReferenceArg, ThreadsArg, VerifyArgs,
};

use crate::files::Files;
use clap::{Args, ColorChoice, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use std::env::ArgsOs;
use std::path::PathBuf;
use std::time::Duration;
use values::{duration, size};

/// Tells whether a concurrent object is linearizable: whether every operation appears to take
/// effect at one instant between its call and its return.
#[derive(Debug, Parser)]
#[command(name = "linchpin", version, max_term_width = 100, after_help = EXIT_CODES)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    limits: LimitArgs,
}

impl Cli {
    /// The command with what every command understands, or what is wrong with the arguments.
    pub fn read(raw: ArgsOs, shown: &[String]) -> Result<Command, clap::Error> {
        let color = shown.windows(2).fold(ColorChoice::Auto, |color, pair| {
            match (pair[0].as_str(), pair[1].as_str()) {
                ("--color", "never") | (_, "--color=never") => ColorChoice::Never,
                ("--color", "always") | (_, "--color=always") => ColorChoice::Always,
                _ => color,
            }
        });
        let matches = Cli::command().color(color).try_get_matches_from(raw)?;
        let Cli { mut command, common, limits } = Cli::from_arg_matches(&matches)?;
        command.set(common, limits);
        Ok(command)
    }
}

const EXIT_CODES: &str =
    "Exit codes: 0 holds (or done), 1 violated, 2 usage or input error, 3 inconclusive.";

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Verify models: every engine that applies answers, the strongest answer is the verdict.
    Verify(Box<VerifyArgs>),
    /// Judge a recorded history: is it linearizable?
    Check(CheckArgs),
    /// Confirm a witness, a core or a proof with small code that shares nothing with the engines.
    Certify(CertifyArgs),
    /// Execute a model under a random scheduler, judge the history it produced and write it.
    Run(RunArgs),
    /// Measure the papers' tables again, theirs beside ours.
    Reproduce(ReproduceArgs),
    /// Print the atomic steps of a model with their source lines.
    Steps(StepsArgs),
    /// Print the sub-operations derived from a model's code, with the reason for every merge.
    Subops(SubopsArgs),
    /// Write the proof roadmap of a model: what a base point proof of it has to show, and how far
    /// that is known.
    Roadmap(RoadmapArgs),
    /// Change a model in small systematic ways and verify each: what survives does the same, or
    /// shows a hole in the specification or the bounds. Of a model that is wrong, how to repair it.
    Mutate(MutateArgs),
    /// Format models.
    Fmt(FmtArgs),
    /// List the built-in specifications and their operations.
    Specs(SpecsArgs),
    /// Write a first model, with comments, that verifies.
    New(NewArgs),
    /// Explain the code of a mistake; without a code, list all.
    Explain(ExplainArgs),
    /// Serve editors: the language server protocol on standard input and output.
    Lsp(LspArgs),
    /// Print completions for a shell.
    Completions(CompletionsArgs),
    /// Write manual pages.
    Man(ManArgs),
}

/// Does the same with whatever the arguments of the command are.
macro_rules! each {
    ($command:expr, $args:ident => $result:expr) => {
        match $command {
            Command::Verify($args) => $result,
            Command::Check($args) => $result,
            Command::Certify($args) => $result,
            Command::Run($args) => $result,
            Command::Reproduce($args) => $result,
            Command::Steps($args) => $result,
            Command::Subops($args) => $result,
            Command::Roadmap($args) => $result,
            Command::Mutate($args) => $result,
            Command::Fmt($args) => $result,
            Command::Specs($args) => $result,
            Command::New($args) => $result,
            Command::Explain($args) => $result,
            Command::Lsp($args) => $result,
            Command::Completions($args) => $result,
            Command::Man($args) => $result,
        }
    };
}

impl Command {
    pub fn common(&self) -> &Common {
        each!(self, args => &args.common)
    }

    fn set(&mut self, common: Common, limits: LimitArgs) {
        each!(self, args => {
            args.common = common;
            args.limits = limits;
        });
    }

    /// What it is called.
    pub fn name(&self) -> &'static str {
        match self {
            Command::Verify(_) => "verify",
            Command::Check(_) => "check",
            Command::Certify(_) => "certify",
            Command::Run(_) => "run",
            Command::Reproduce(_) => "reproduce",
            Command::Steps(_) => "steps",
            Command::Subops(_) => "subops",
            Command::Roadmap(_) => "roadmap",
            Command::Mutate(_) => "mutate",
            Command::Fmt(_) => "fmt",
            Command::Specs(_) => "specs",
            Command::New(_) => "new",
            Command::Explain(_) => "explain",
            Command::Lsp(_) => "lsp",
            Command::Completions(_) => "completions",
            Command::Man(_) => "man",
        }
    }

    /// What it reads and writes. `fmt` is not here: it writes what it reads.
    pub fn files(&self) -> Files {
        let (inputs, outputs) = match self {
            Command::Verify(args) => (
                args.files.clone(),
                vec![("--report", &args.report), ("--certificate", &args.certificate)],
            ),
            Command::Check(args) => (
                args.paths().cloned().chain(args.recording.model()).collect(),
                vec![
                    ("--witness", &args.witness),
                    ("--core", &args.core),
                    ("--report", &args.report),
                ],
            ),
            Command::Run(args) => (
                args.replay.iter().chain([&args.model.model]).cloned().collect(),
                vec![("--output", &args.output), ("--report", &args.report)],
            ),
            Command::Subops(args) => {
                (vec![args.model.model.clone()], vec![("--output", &args.output)])
            }
            Command::Roadmap(args) => (
                vec![args.model.model.clone()],
                vec![("--out", &args.out), ("--report", &args.report)],
            ),
            Command::Mutate(args) => {
                (vec![args.model.model.clone()], vec![("--report", &args.report)])
            }
            Command::Certify(_)
            | Command::Reproduce(_)
            | Command::Steps(_)
            | Command::Fmt(_)
            | Command::Specs(_)
            | Command::New(_)
            | Command::Explain(_)
            | Command::Lsp(_)
            | Command::Completions(_)
            | Command::Man(_) => Default::default(),
        };
        let given = |(flag, path): (_, &Option<PathBuf>)| path.clone().map(|path| (flag, path));
        Files { inputs, outputs: outputs.into_iter().filter_map(given).collect() }
    }
}

/// What every command understands.
#[derive(Args, Clone, Debug, Default)]
pub struct Common {
    /// Write one JSON object to standard output instead of text.
    #[arg(long, global = true)]
    pub json: bool,
    /// Say nothing on standard error but errors.
    #[arg(long, short, global = true)]
    pub quiet: bool,
    /// Say more: which methods were tried; how far the work is, every ten seconds where there is no
    /// terminal.
    #[arg(long, short, global = true)]
    pub verbose: bool,
    /// Whether to use colours; `auto`: on a terminal, unless `NO_COLOR` is set.
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value_t)]
    pub color: ColorArg,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ColorArg {
    #[default]
    Auto,
    Always,
    Never,
}

/// Limits on what a command may use. Every command understands them too.
#[derive(Args, Clone, Debug, Default)]
pub struct LimitArgs {
    /// Stop after this time, such as `30`, `30s`, `5m`, `1h`, with what is known then (exit code
    /// 3).
    #[arg(long, global = true, value_name = "TIME", value_parser = duration)]
    pub time_limit: Option<Duration>,
    /// Stop when this much memory is in use, such as `500M`, `4G`, with what is known then (exit
    /// code 3). [default: half of the memory that is free at the start]
    #[arg(long, global = true, value_name = "SIZE", value_parser = size)]
    pub memory_limit: Option<u64>,
}
