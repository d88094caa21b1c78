//! `linchpin fmt`: lay models out.

use crate::args::FmtArgs;
use crate::model::{self, Mistakes};
use crate::{Status, json, output};
use anyhow::Result;
use serde_json::{Value as Json, json};
use std::path::{Path, PathBuf};

pub fn execute(args: &FmtArgs) -> Result<Status> {
    // All files are understood before the first one is written.
    let mut laid_out: Vec<(&PathBuf, String, String)> = Vec::new();
    for file in &args.files {
        let source = model::read(file)?;
        let formatted = linchpin_lang::format(&source).map_err(|diagnostics| Mistakes {
            file: file.display().to_string(),
            source: source.clone(),
            diagnostics,
        })?;
        laid_out.push((file, source, formatted));
    }
    let changed: Vec<String> = laid_out
        .iter()
        .filter(|(_, source, formatted)| source != formatted)
        .map(|(file, ..)| file.display().to_string())
        .collect();
    for (file, source, formatted) in &laid_out {
        let is_stdin = file.as_path() == Path::new("-");
        if args.check {
            continue;
        } else if is_stdin {
            output::write_stdout(formatted)?;
        } else if source != formatted {
            output::write_file(file, formatted.as_bytes())?;
        }
    }
    let status = match args.check && !changed.is_empty() {
        true => Status::Violated,
        false => Status::Holds,
    };
    if args.common.json {
        let mut object = json::envelope("fmt", &format!("{} file(s)", args.files.len()));
        object.insert("changed".to_owned(), json!(changed));
        output::write_stdout(&format!("{}\n", Json::Object(object)))?;
    } else if !args.common.quiet {
        let verb = if args.check { "would change" } else { "formatted" };
        changed.iter().for_each(|file| eprintln!("{verb}: {file}"));
    }
    Ok(status)
}
