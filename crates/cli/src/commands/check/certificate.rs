//! Certificates: what lets somebody else confirm a verdict.

use super::recording::Subject;
use crate::args::{FailedCasArg, PropertyArg, RecordingArgs};
use crate::json;
use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use linchpin_history::{OpId, Rank};
use serde_json::{Value as Json, json};
use std::path::{Path, PathBuf};

/// What is claimed.
pub enum Claim {
    /// These operations, in this order, explain the history.
    Witness(Vec<OpId>),
    /// No order explains these operations, known at this event.
    Core(Vec<OpId>, Option<Rank>),
}

/// A certificate as it is read back.
pub struct Certificate {
    pub history: PathBuf,
    pub recording: RecordingArgs,
    pub operations: usize,
    pub claim: Claim,
}

/// The certificate as JSON. Operations are numbered in the order of their invocations, from 0.
pub fn to_json(subject: &Subject<'_>, history: &Path, operations: usize, claim: &Claim) -> String {
    let mut object = json::envelope("certificate", &history.display().to_string());
    let args = subject.args;
    let mut insert = |key: &str, value: Json| object.insert(key.to_owned(), value);
    insert("spec", json!(args.spec));
    insert("init", args.init.as_ref().map_or(Json::Null, json::value));
    insert("format", json!(args.format.map(|format| format.name())));
    insert("failed_cas", json!(name(&args.failed_cas)));
    insert("keyed", json!(args.keyed));
    insert("property", json!(name(&args.property)));
    insert("operations", json!(operations));
    match claim {
        Claim::Witness(order) => insert("witness", json!(numbers(order))),
        Claim::Core(core, at) => {
            insert("core", json!(numbers(core)));
            insert("at", json!(at.map(Rank::number)))
        }
    };
    format!("{}\n", Json::Object(object))
}

/// Operations as scripts know them.
pub fn numbers(ids: &[OpId]) -> Vec<u32> {
    ids.iter().map(|id| id.number()).collect()
}

fn name(value: &impl ValueEnum) -> Option<String> {
    value.to_possible_value().map(|value| value.get_name().to_owned())
}

impl Certificate {
    /// Reads a certificate.
    pub fn parse(text: &str) -> Result<Certificate> {
        let json: Json = serde_json::from_str(text).context("it is not JSON")?;
        if json["schema"] != json::SCHEMA || json["command"] != "certificate" {
            bail!(
                "it is not a certificate: `linchpin check --witness FILE` or `--core FILE` writes one"
            );
        }
        let text =
            |key: &str| json[key].as_str().with_context(|| format!("\"{key}\" must be a string"));
        let chosen = |key: &str| text(key).map(str::to_owned);
        let ids = |key: &str| -> Result<Vec<OpId>> {
            let list =
                json[key].as_array().with_context(|| format!("\"{key}\" must be an array"))?;
            let id =
                |id: &Json| id.as_u64().and_then(|id| u32::try_from(id).ok()).map(OpId::numbered);
            list.iter().map(id).collect::<Option<Vec<_>>>().context("operations must be numbers")
        };
        let claim = match json.get("witness") {
            Some(_) => Claim::Witness(ids("witness")?),
            None => Claim::Core(
                ids("core")?,
                json["at"].as_u64().map(|at| Rank::at(usize::try_from(at).unwrap_or(usize::MAX))),
            ),
        };
        let init = match json.get("init") {
            None | Some(Json::Null) => None,
            Some(init) => {
                Some(json::parse_value(init).context("\"init\" must have integers only")?)
            }
        };
        let format = match json["format"].as_str() {
            Some(format) => Some(format.parse()?),
            None => None,
        };
        let bad = |what: String| anyhow::anyhow!(what);
        Ok(Certificate {
            history: PathBuf::from(text("subject")?),
            recording: RecordingArgs {
                spec: chosen("spec")?,
                init,
                format,
                failed_cas: FailedCasArg::from_str(text("failed_cas")?, true).map_err(bad)?,
                keyed: json["keyed"].as_bool(),
                property: PropertyArg::from_str(text("property")?, true).map_err(bad)?,
            },
            operations: json["operations"].as_u64().context("\"operations\" must be a number")?
                as usize,
            claim,
        })
    }
}
