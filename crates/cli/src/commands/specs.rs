//! `linchpin specs`: the built-in specifications.

use crate::args::SpecsArgs;
use crate::{Status, output};
use anyhow::{Result, anyhow};
use linchpin_report::json;
use linchpin_spec::{BUILTINS, BuiltinInfo, Signature, builtin};
use serde_json::{Value as Json, json};

pub fn execute(args: &SpecsArgs) -> Result<Status> {
    let mut chosen: Vec<(&BuiltinInfo, Vec<Signature>)> = Vec::new();
    for info in BUILTINS {
        let spec = builtin(info.name, None).map_err(|error| anyhow!("{error}"))?;
        chosen.push((info, spec.operations().to_vec()));
    }
    if let Some(name) = &args.name {
        builtin(name, None).map_err(|error| anyhow!("{error}"))?;
        chosen.retain(|(info, _)| info.is_called(name));
    }
    if args.common.json {
        let mut object = json::envelope("specs", args.name.as_deref().unwrap_or("*"));
        object.insert(
            "specs".to_owned(),
            chosen.iter().map(|(info, ops)| as_json(info, ops)).collect(),
        );
        output::write_stdout(&format!("{}\n", Json::Object(object)))?;
        return Ok(Status::Holds);
    }
    let mut text = String::new();
    for (info, operations) in &chosen {
        let names = [&[info.name], info.aliases].concat().join(", ");
        text += &format!("{names}: {}\n", info.summary);
        for operation in operations {
            text += &format!("    {operation}\n");
        }
        text += &format!("    --init: {}\n\n", info.initial);
    }
    output::write_stdout(text.trim_end_matches('\n'))?;
    output::write_stdout("\n")?;
    Ok(Status::Holds)
}

fn as_json(info: &BuiltinInfo, operations: &[Signature]) -> Json {
    let operations: Vec<Json> = operations
        .iter()
        .map(|signature| {
            json!({
                "name": signature.name,
                "argument": signature.argument.to_string(),
                "response": signature.response.to_string(),
            })
        })
        .collect();
    json!({
        "name": info.name,
        "aliases": info.aliases,
        "summary": info.summary,
        "init": info.initial,
        "operations": operations,
    })
}
