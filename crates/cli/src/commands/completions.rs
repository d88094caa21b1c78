//! `linchpin completions`: what shells complete, made from the arguments themselves.

use crate::args::{Cli, CompletionsArgs};
use crate::{Status, output};
use anyhow::Result;
use clap::CommandFactory;
use linchpin_report::json;
use serde_json::{Value as Json, json};

pub fn execute(args: &CompletionsArgs) -> Result<Status> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "linchpin", &mut script);
    let mut text = String::from_utf8_lossy(&script).into_owned();
    if args.common.json {
        let mut object = json::envelope("completions", &args.shell.to_string());
        object.insert("script".to_owned(), json!(text));
        text = format!("{}\n", Json::Object(object));
    }
    output::write_stdout(&text)?;
    Ok(Status::Holds)
}
