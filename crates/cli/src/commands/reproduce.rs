//! `linchpin reproduce`: the papers' tables, measured now.

mod base;
mod reduction;
mod refinement;
mod shape;

use crate::args::{ReproduceArgs, TableArg};
use crate::limits::Stop;
use crate::{Status, output};
use anyhow::Result;
use linchpin_report::json;
use serde_json::{Value as Json, json};

pub fn execute(args: &ReproduceArgs) -> Result<Status> {
    let json = args.common.json.then(|| json::envelope("reproduce", "tables"));
    let stop = Stop::watch(&args.limits, json);
    let all = [TableArg::Reduction, TableArg::Shape, TableArg::Refinement, TableArg::Base];
    let tables = if args.tables.is_empty() { &all[..] } else { &args.tables };
    let mut status = Status::Holds;
    for table in tables {
        let (name, (text, rows, as_expected)) = match table {
            TableArg::Refinement => (refinement::NAME, refinement::table(args, &stop)?),
            TableArg::Shape => (shape::NAME, shape::table(args, &stop)?),
            TableArg::Base => (base::NAME, base::table(args, &stop)?),
            TableArg::Reduction => (reduction::NAME, reduction::table()?),
        };
        if args.common.json {
            let mut object = json::envelope("reproduce", name);
            object.insert("rows".to_owned(), json!(rows));
            output::write_stdout(&format!("{}\n", Json::Object(object)))?;
        } else {
            output::write_stdout(&text)?;
        }
        if !as_expected {
            status = Status::Inconclusive;
        }
    }
    Ok(status)
}
