//! `linchpin reproduce`: the papers' tables, measured now.

mod base;
mod machine;
mod multiword;
mod reduction;
mod refinement;
mod shape;

use crate::args::{ReproduceArgs, TableArg};
use crate::files::Files;
use crate::limits::Stop;
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
    for table in tables {
        let measured = match table {
            TableArg::Refinement => refinement::table(args, &stop)?,
            TableArg::Shape => shape::table(args, &stop)?,
            TableArg::Base => base::table(args, &stop)?,
            TableArg::Reduction => reduction::table()?,
            TableArg::Multiword => multiword::table(args, &stop)?,
        };
        if args.common.json {
            let mut object = json::envelope("reproduce", &measured.shown.title);
            object.insert("rows".to_owned(), json!(measured.rows));
            output::write_stdout(&format!("{}\n", Json::Object(object)))?;
        } else {
            output::write_stdout(&measured.shown.text())?;
        }
        if !measured.is_as_expected {
            status = Status::Inconclusive;
        }
        papers.push(measured.shown);
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
