//! `linchpin completions`: what shells complete, made from the arguments themselves.

use crate::args::{Cli, CompletionsArgs};
use crate::{Status, output};
use anyhow::Result;
use clap::builder::PossibleValuesParser;
use clap::{Arg, Command, CommandFactory, ValueHint};
use linchpin_ingest::Format;
use linchpin_progress::Property;
use linchpin_report::json;
use linchpin_spec::BUILTINS;
use linchpin_syntax::Code;
use serde_json::{Value as Json, json};

pub fn execute(args: &CompletionsArgs) -> Result<Status> {
    let mut script = Vec::new();
    let mut command = hinted(Cli::command());
    clap_complete::generate(args.shell, &mut command, "linchpin", &mut script);
    let mut text = String::from_utf8_lossy(&script).into_owned();
    if args.common.json {
        let mut object = json::envelope("completions", &args.shell.to_string());
        object.insert("script".to_owned(), json!(text));
        text = format!("{}\n", Json::Object(object));
    }
    output::write_stdout(&text)?;
    Ok(Status::Holds)
}

/// The command, with what may stand for each of its values. Without a hint, shells offer files.
fn hinted(command: Command) -> Command {
    command.mut_args(hinted_value).mut_subcommands(hinted)
}

fn hinted_value(arg: Arg) -> Arg {
    if !arg.get_action().takes_values() {
        return arg;
    }
    if let Some(words) = words(arg.get_id().as_str()) {
        return arg.value_parser(PossibleValuesParser::new(words));
    }
    match arg.get_value_hint() {
        ValueHint::Unknown => arg.value_hint(ValueHint::Other),
        // Bash quotes names of files, but not of what may be anything.
        ValueHint::AnyPath => arg.value_hint(ValueHint::FilePath),
        _ => arg,
    }
}

/// What a value may be that is read as text.
fn words(of: &str) -> Option<Vec<&'static str>> {
    Some(match of {
        "search" => vec!["breadth-first", "depth-first", "random", "pct", "context-bound="],
        "spec" => BUILTINS.iter().map(|info| info.name).collect(),
        "format" => Format::ALL.map(Format::name).to_vec(),
        "code" => Code::ALL.iter().map(|code| code.id()).collect(),
        "progress" => Property::ALL.iter().map(|property| property.name()).collect(),
        _ => return None,
    })
}
