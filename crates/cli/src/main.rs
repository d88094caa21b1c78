//! The `linchpin` command: arguments to configuration to work to report. No algorithm lives here.

mod allocator;
mod args;
mod commands;
mod errors;
mod files;
mod limits;
mod memory;
mod model;
mod output;
mod progress;

use anyhow::Result;
use args::{Cli, Command};
use linchpin_verdict::Verdict;
use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: allocator::Allocator = allocator::Allocator;

/// How a command ended; the exit code of the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Status {
    /// It holds, or the work is done.
    Holds = 0,
    /// Something is wrong with the object.
    Violated = 1,
    /// Something is wrong with the input.
    Input = 2,
    /// A limit or the user ended it before there was an answer.
    Inconclusive = 3,
}

impl Status {
    /// Of two parts of a batch, the one that people must hear about first.
    fn worse(self, other: Status) -> Status {
        let order = [Status::Input, Status::Violated, Status::Inconclusive];
        order.into_iter().find(|status| [self, other].contains(status)).unwrap_or(Status::Holds)
    }
}

impl From<Verdict> for Status {
    fn from(verdict: Verdict) -> Status {
        match verdict {
            Verdict::Violated => Status::Violated,
            Verdict::Inconclusive => Status::Inconclusive,
            _ => Status::Holds,
        }
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> =
        std::env::args_os().map(|argument| argument.to_string_lossy().into_owned()).collect();
    let status = match Cli::read(std::env::args_os(), &arguments) {
        Ok(command) => finish(&command),
        Err(error) => errors::report_usage(&error, &arguments),
    };
    ExitCode::from(status as u8)
}

/// Executes a command; an error is reported.
fn finish(command: &Command) -> Status {
    let common = command.common();
    output::choose_color(common.color);
    match command.files().check().and_then(|()| execute(command)) {
        Ok(status) => status,
        Err(error) => {
            errors::report(&error, command.name(), common.json);
            errors::status(&error)
        }
    }
}

fn execute(command: &Command) -> Result<Status> {
    match command {
        Command::Verify(args) => commands::verify::execute(args),
        Command::Check(args) => commands::check::execute(args),
        Command::Certify(args) => commands::certify::execute(args),
        Command::Run(args) => commands::run::execute(args),
        Command::Reproduce(args) => commands::reproduce::execute(args),
        Command::Steps(args) => commands::steps::execute(args),
        Command::Subops(args) => commands::subops::execute(args),
        Command::Roadmap(args) => commands::roadmap::execute(args),
        Command::Mutate(args) => commands::mutate::execute(args),
        Command::Fmt(args) => commands::fmt::execute(args),
        Command::Specs(args) => commands::specs::execute(args),
        Command::New(args) => commands::new::execute(args),
        Command::Explain(args) => commands::explain::execute(args),
        Command::Lsp(args) => commands::lsp::execute(args),
        Command::Completions(args) => commands::completions::execute(args),
        Command::Man(args) => commands::man::execute(args),
    }
}
