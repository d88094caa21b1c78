//! `linchpin lsp`: the language server.

use crate::Status;
use crate::args::LspArgs;
use anyhow::{Context, Result};
use linchpin_lsp::{TIME_LIMIT, Verifier, serve_stdio};

pub fn execute(args: &LspArgs) -> Result<Status> {
    let program = std::env::current_exe().context("cannot find the command itself")?;
    let time_limit = args.limits.time_limit.unwrap_or(TIME_LIMIT);
    serve_stdio(Verifier { program, time_limit })?;
    Ok(Status::Holds)
}
