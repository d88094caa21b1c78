//! `linchpin reproduce`: the papers' tables, measured now.

mod base;
mod machine;
mod multiword;
mod reduction;
mod refinement;
mod shape;

use crate::args::{ReproduceArgs, TableArg};
use crate::files::Files;
use crate::limits::{self, Stop};
use crate::{Status, output};
use anyhow::Result;
use linchpin_report::{Reproduction, Reproductions, json};
use serde_json::{Value as Json, json};

/// What was measured for one paper.
struct Measured {
    /// For people.
    shown: Reproduction,
    /// For scripts.
    rows: Vec<Json>,
    /// Whether every result is the one that is expected.
    is_as_expected: bool,
}

impl Measured {
    /// As it is written to standard output.
    fn printed(&self, args: &ReproduceArgs) -> String {
        if !args.common.json {
            return self.shown.text();
        }
        let mut object = json::envelope("reproduce", &self.shown.title);
        object.insert("rows".to_owned(), json!(self.rows));
        if let Some(missing) = &self.shown.missing {
            object.insert("missing".to_owned(), json!(missing));
        }
        format!("{}\n", Json::Object(object))
    }
}

/// What was not measured because of a limit or a signal.
#[derive(Default)]
struct Missing(Vec<String>);

impl Missing {
    /// Whether the work should stop: then `what` has not been measured, or not to its end.
    fn is(&mut self, stop: &Stop, what: impl FnOnce() -> String) -> bool {
        let stops = stop.reason().is_some();
        if stops {
            self.0.push(what());
        }
        stops
    }

    /// What is missing, and why.
    fn said(&self, stop: &Stop) -> Option<String> {
        let why = limits::describe(stop.reason()?);
        (!self.0.is_empty()).then(|| format!("{} ({why})", self.0.join("; ")))
    }
}

pub fn execute(args: &ReproduceArgs) -> Result<Status> {
    let markdown = args.markdown.iter().map(|file| ("--markdown", file.clone()));
    let report = args.report.iter().map(|file| ("--report", file.clone()));
    Files { inputs: Vec::new(), outputs: markdown.chain(report).collect() }.check()?;
    let json = args.common.json.then(|| json::envelope("reproduce", "tables"));
    let stop = Stop::watch(&args.limits, json);
    let all = [
        TableArg::Reduction,
        TableArg::Shape,
        TableArg::Refinement,
        TableArg::Multiword,
        TableArg::Base,
    ];
    let tables = if args.tables.is_empty() { &all[..] } else { &args.tables };
    let mut status = Status::Holds;
    let mut papers = Vec::new();
    let mut missing = Missing::default();
    for table in tables {
        if missing.is(&stop, || table.id()) {
            continue;
        }
        let measured = match table {
            TableArg::Refinement => refinement::table(args, &stop)?,
            TableArg::Shape => shape::table(args, &stop)?,
            TableArg::Base => base::table(args, &stop)?,
            TableArg::Reduction => reduction::table(&stop)?,
            TableArg::Multiword => multiword::table(args, &stop)?,
        };
        stop.so_far(String::new());
        output::write_stdout(&measured.printed(args))?;
        if !measured.is_as_expected || measured.shown.missing.is_some() {
            status = Status::Inconclusive;
        }
        papers.push(measured.shown);
    }
    if let Some(papers) = missing.said(&stop) {
        output::say(&format!("not measured: {papers}\n"));
        status = Status::Inconclusive;
    }
    write_pages(args, papers)?;
    Ok(status)
}

/// The document and the page that were asked for.
fn write_pages(args: &ReproduceArgs, papers: Vec<Reproduction>) -> Result<()> {
    let all = Reproductions { command: command(args), machine: machine::described(), papers };
    if let Some(file) = &args.markdown {
        output::write_file(file, all.markdown().as_bytes())?;
    }
    if let Some(file) = &args.report {
        output::write_file(file, all.page().as_bytes())?;
    }
    Ok(())
}

/// The command that measures the same again.
fn command(args: &ReproduceArgs) -> String {
    let tables: String = args.tables.iter().map(|table| format!(" {}", table.id())).collect();
    let mut command =
        format!("linchpin reproduce{tables} --patience {}s", args.patience.as_secs_f64());
    if args.tables.is_empty() || args.tables.contains(&TableArg::Multiword) {
        command += &format!(" --log-size {}", args.log_size);
    }
    command
}
