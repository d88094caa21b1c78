//! `--cluster`: one search by several processes. Only the first says what was found.

use super::FileOutcome;
use crate::args::VerifyArgs;
use anyhow::{Result, bail};
use linchpin_engine::{Language, Request};
use linchpin_verdict::Verdict;
use linchpin_verify::{Loaded, Verification};

/// Verifies a model together with the other processes.
pub fn verified(
    args: &VerifyArgs,
    hosts: &str,
    loaded: &Loaded,
    request: &Request<'_>,
) -> Result<Verification> {
    if loaded.subject().language() != Language::Lin {
        bail!("--cluster is about `.lin` models");
    }
    if args.engines_named() != ["refine"] {
        bail!("--cluster asks `refine` only: leave out --engine");
    }
    together(args, hosts, loaded, request)
}

#[cfg(feature = "cluster")]
fn together(
    args: &VerifyArgs,
    hosts: &str,
    loaded: &Loaded,
    request: &Request<'_>,
) -> Result<Verification> {
    use linchpin_refine::RefineTogether;
    use std::sync::Arc;

    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let workers = args.workers.map_or(cores, usize::from);
    let hosts = linchpin_cluster::hosts(hosts)?;
    let processes = linchpin_cluster::Processes::new(hosts, args.process.unwrap_or(0), workers)?;
    let engine = RefineTogether { cluster: Arc::new(processes) };
    Ok(linchpin_verify::verify_by(loaded, &engine, request)?)
}

#[cfg(not(feature = "cluster"))]
fn together(_: &VerifyArgs, _: &str, _: &Loaded, _: &Request<'_>) -> Result<Verification> {
    bail!(
        "this linchpin was built without --cluster: \
         `cargo install --path crates/cli --features cluster` builds one with it"
    )
}

/// What a process says that only helped to search.
pub fn told(process: usize, outcome: &FileOutcome) -> String {
    let what = match outcome.verdict {
        Verdict::Violated => "something wrong was found".to_owned(),
        Verdict::Inconclusive => format!("inconclusive: {}", outcome.reason),
        _ => "its part is done".to_owned(),
    };
    format!("process {process}: {what}; process 0 has the verdict\n")
}
