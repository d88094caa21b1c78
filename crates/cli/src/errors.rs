//! Errors for people and for scripts.

use crate::limits::{TooLarge, completed};
use crate::model::Mistakes;
use crate::{Status, output};
use clap::error::ErrorKind;
use linchpin_report::escaped_lines;
use linchpin_report::json;
use linchpin_verdict::Verdict;
use serde_json::{Map, Value as Json, json};

/// The exit code that an error stands for.
pub fn status(error: &anyhow::Error) -> Status {
    match error.downcast_ref::<TooLarge>() {
        Some(_) => Status::Inconclusive,
        None => Status::Input,
    }
}

/// The error and its causes, as people read them.
pub fn describe(error: &anyhow::Error) -> String {
    if error.downcast_ref::<Mistakes>().is_some() {
        return error.to_string();
    }
    match status(error) {
        Status::Inconclusive => format!("inconclusive: {error}"),
        _ => format!("error: {}", escaped_lines(&message(error))),
    }
}

fn message(error: &anyhow::Error) -> String {
    error.chain().map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

/// The error as scripts read it: its kind, its message, and where the mistakes of a model are.
pub fn to_json(error: &anyhow::Error) -> Json {
    match error.downcast_ref::<Mistakes>() {
        Some(mistakes) => json!({
            "kind": "mistakes", "message": mistakes.summary(), "mistakes": mistakes.to_json(),
        }),
        None => json!({ "kind": "input", "message": message(error) }),
    }
}

/// Says what ended a command: to scripts on standard output, else to people on standard error.
pub fn report(error: &anyhow::Error, command: &str, is_json: bool) {
    if !is_json {
        output::say(&format!("{}\n", describe(error)));
        return;
    }
    let mut object = beginning(Some(command));
    let text = match status(error) {
        Status::Inconclusive => completed(object, Verdict::Inconclusive, &message(error)),
        _ => {
            object.insert("error".to_owned(), to_json(error));
            format!("{}\n", Json::Object(object))
        }
    };
    // There is no one left to tell if this fails.
    let _ = output::write_stdout(&text);
}

/// Says what is wrong with the command line, or shows the help that it asks for.
pub fn report_usage(error: &clap::Error, arguments: &[String]) -> Status {
    let is_help = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
    let options = arguments.iter().take_while(|argument| *argument != "--");
    if is_help || !options.clone().any(|argument| argument == "--json") {
        // There is no one left to tell if this fails.
        let _ = error.print();
        return if is_help { Status::Holds } else { Status::Input };
    }
    let command = options.skip(1).find(|argument| !argument.starts_with('-'));
    let mut object = beginning(command.map(String::as_str));
    let text = error.render().to_string();
    let message = text.trim().trim_start_matches("error: ");
    object.insert("error".to_owned(), json!({ "kind": "usage", "message": message }));
    let _ = output::write_stdout(&format!("{}\n", Json::Object(object)));
    Status::Input
}

fn beginning(command: Option<&str>) -> Map<String, Json> {
    let mut object = Map::new();
    object.insert("schema".to_owned(), json!(json::SCHEMA));
    object.insert("command".to_owned(), json!(command));
    object
}
