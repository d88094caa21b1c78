//! `linchpin fmt`: lay models out. One file that cannot be does not keep the others from it.

use crate::args::FmtArgs;
use crate::limits::Stop;
use crate::model::{self, Mistakes};
use crate::{Status, errors, output};
use anyhow::Result;
use linchpin_report::json;
use serde_json::{Value as Json, json};
use std::path::Path;

pub fn execute(args: &FmtArgs) -> Result<Status> {
    let subject = format!("{} file(s)", args.files.len());
    let json = args.common.json.then(|| json::envelope("fmt", &subject));
    let stop = Stop::watch(&args.limits, json);
    let (mut status, mut changed, mut wrong) = (Status::Holds, Vec::new(), Vec::new());
    for file in &args.files {
        let shown = file.display().to_string();
        match stop.ending_at_once(|| lay_out(args, file)) {
            Ok(false) => {}
            Ok(true) => {
                status = status.worse(if args.check { Status::Violated } else { Status::Holds });
                if !args.common.json && !args.common.quiet {
                    let verb = if args.check { "would change" } else { "formatted" };
                    output::say(&format!("{verb}: {}\n", linchpin_report::escaped(&shown)));
                }
                changed.push(shown);
            }
            Err(error) => {
                status = status.worse(errors::status(&error));
                if !args.common.json {
                    errors::report(&error, "fmt", false);
                }
                wrong.push(errors::to_json(&error));
            }
        }
    }
    if args.common.json {
        let mut object = json::envelope("fmt", &subject);
        object.insert("changed".to_owned(), json!(changed));
        object.insert("errors".to_owned(), json!(wrong));
        output::write_stdout(&format!("{}\n", Json::Object(object)))?;
    }
    Ok(status)
}

/// Lays one file out, unless it is only to be checked; answers whether that changes it.
fn lay_out(args: &FmtArgs, file: &Path) -> Result<bool> {
    let source = model::read(file)?;
    let formatted = linchpin_lang::format(&source).map_err(|diagnostics| Mistakes {
        file: file.display().to_string(),
        source: source.clone(),
        diagnostics,
    })?;
    let is_changed = source != formatted;
    if args.check {
        return Ok(is_changed);
    }
    if file == Path::new("-") {
        output::write_stdout(&formatted)?;
    } else if is_changed {
        output::write_file(file, formatted.as_bytes())?;
    }
    Ok(is_changed)
}
