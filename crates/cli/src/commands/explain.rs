//! `linchpin explain`: what a code means.

use crate::args::ExplainArgs;
use crate::{Status, output};
use anyhow::{Result, bail};
use linchpin_report::json;
use linchpin_syntax::Code;
use serde_json::{Value as Json, json};

pub fn execute(args: &ExplainArgs) -> Result<Status> {
    let chosen = match &args.code {
        None => Code::ALL.to_vec(),
        Some(text) => match Code::parse(text) {
            Some(code) => vec![code],
            None => bail!("there is no code `{text}`: `linchpin explain` lists them"),
        },
    };
    let text = if args.common.json {
        let mut object = json::envelope("explain", args.code.as_deref().unwrap_or("*"));
        object.insert("codes".to_owned(), chosen.iter().map(|code| as_json(*code)).collect());
        format!("{}\n", Json::Object(object))
    } else if args.code.is_some() {
        chosen.iter().map(|code| format!("{code}: {}", &code.explanation()["# ".len()..])).collect()
    } else {
        chosen.iter().map(|code| format!("{code}  {}\n", code.title())).collect()
    };
    output::write_stdout(&text)?;
    Ok(Status::Holds)
}

fn as_json(code: Code) -> Json {
    json!({ "code": code.id(), "title": code.title(), "explanation": code.explanation() })
}
