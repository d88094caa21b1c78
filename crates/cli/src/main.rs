//! The `linchpin` command: arguments to configuration to work to report. No algorithm lives here.

mod args;
mod commands;
mod json;
mod limits;
mod model;
mod output;

use args::{Cli, Command};
use clap::Parser;
use std::process::ExitCode;

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

fn main() -> ExitCode {
    let cli = Cli::parse();
    let quiet = cli.command.common().quiet;
    let result = match cli.command {
        Command::Verify(args) => commands::verify::execute(&args),
        Command::Check(args) => commands::check::execute(&args),
        Command::Certify(args) => commands::certify::execute(&args),
        Command::Run(args) => commands::run::execute(&args),
        Command::Reproduce(args) => commands::reproduce::execute(&args),
        Command::Steps(args) => commands::steps::execute(&args),
        Command::Subops(args) => commands::subops::execute(&args),
        Command::Fmt(args) => commands::fmt::execute(&args),
        Command::Specs(args) => commands::specs::execute(&args),
    };
    match result {
        Ok(status) => ExitCode::from(status as u8),
        // Whoever read our output has seen enough.
        Err(error) if output::is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            if !quiet || error.downcast_ref::<model::Mistakes>().is_none() {
                eprintln!("{}", output::describe(&error));
            }
            ExitCode::from(Status::Input as u8)
        }
    }
}
