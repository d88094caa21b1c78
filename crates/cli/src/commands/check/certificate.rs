//! Certificates about histories: a witness or a core, with all that says which history, object and
//! property it is about.

use super::recording::Subject;
use crate::args::{FailedCasArg, OrderArg, PropertyArg, RecordingArgs};
use anyhow::{Context, Result, anyhow};
use clap::ValueEnum;
use linchpin_certify::{Claim, FileHash, HeaderError, header};
use linchpin_history::{OpId, Rank};
use linchpin_ingest::etcd_clients;
use linchpin_report::json;
use linchpin_spec::Value;
use serde_json::{Map, Value as Json, json};
use std::io;
use std::path::{Path, PathBuf};

/// What is claimed of a history. Operations are numbered in the order of their invocations, from 0.
pub enum Evidence {
    /// These operations, in this order, explain the history.
    Witness(Vec<OpId>),
    /// No order explains these operations.
    Core {
        core: Vec<OpId>,
        /// Given what was known right after this event, if not all of the history is needed.
        at: Option<Rank>,
        /// The key of their object, where the history records many.
        key: Option<Value>,
    },
}

impl Evidence {
    const fn claim(&self) -> Claim {
        match self {
            Evidence::Witness(_) => Claim::Witness,
            Evidence::Core { .. } => Claim::Core,
        }
    }
}

/// A certificate as it is read back.
pub struct Certificate {
    /// The history, as it was when the certificate was written.
    pub history: FileHash,
    pub recording: RecordingArgs,
    /// The `.lin` file of the specification, if it is one.
    pub spec: Option<FileHash>,
    pub operations: usize,
    pub evidence: Evidence,
}

/// The certificate as JSON.
pub fn to_json(
    subject: &Subject<'_>,
    history: &Path,
    operations: usize,
    evidence: &Evidence,
) -> Result<String> {
    let args = &*subject.args;
    let hash = |file: &Path| {
        FileHash::of(file).with_context(|| format!("cannot read `{}`", file.display()))
    };
    let mut object = header(evidence.claim());
    let recorded = hash_of(history);
    let recorded = recorded.with_context(|| format!("cannot read `{}`", history.display()));
    let mut recorded = fields(recorded?.to_json());
    recorded.insert("operations".to_owned(), json!(operations));
    recorded.insert("format".to_owned(), json!(args.format.map(|format| format.name())));
    recorded.insert("failed_cas".to_owned(), json!(name(&args.failed_cas)));
    recorded.insert("keyed".to_owned(), json!(args.keyed));
    recorded.insert("nil_reads".to_owned(), json!(args.nil_reads.as_ref().and_then(name)));
    recorded.insert("order".to_owned(), json!(name(&args.order)));
    let mut insert = |key: &str, value: Json| object.insert(key.to_owned(), value);
    insert("history", Json::Object(recorded));
    let init = args.init.as_ref().map_or(Json::Null, json::value);
    let mut spec = fields(json!({ "name": args.spec, "init": init }));
    if is_file(&args.spec) {
        spec.extend(fields(hash(Path::new(&args.spec))?.to_json()));
    }
    insert("spec", Json::Object(spec));
    insert("property", json!(name(&args.property)));
    match evidence {
        Evidence::Witness(order) => insert("witness", json!(numbers(order))),
        Evidence::Core { core, at, key } => {
            insert("core", json!(numbers(core)));
            insert("key", key.as_ref().map_or(Json::Null, json::value));
            insert("at", json!(at.map(Rank::number)))
        }
    };
    Ok(format!("{}\n", Json::Object(object)))
}

/// The hash of a history: of a file, or of the files of a folder that is one.
pub fn hash_of(history: &Path) -> io::Result<FileHash> {
    match history.is_dir() {
        true => FileHash::of_folder(history, &etcd_clients(history)?),
        false => FileHash::of(history),
    }
}

/// Operations as scripts know them.
pub fn numbers(ids: &[OpId]) -> Vec<u32> {
    ids.iter().map(|id| id.number()).collect()
}

fn fields(json: Json) -> Map<String, Json> {
    match json {
        Json::Object(fields) => fields,
        _ => Map::new(),
    }
}

/// Whether a specification is a file and not a name.
fn is_file(spec: &str) -> bool {
    spec.ends_with(".lin")
}

/// The name of a choice on the command line.
pub fn name(value: &impl ValueEnum) -> Option<String> {
    value.to_possible_value().map(|value| value.get_name().to_owned())
}

/// A choice on the command line, if one was made.
fn choice<T: ValueEnum>(json: &Json) -> Result<Option<T>> {
    let chosen = json.as_str().map(|name| T::from_str(name, true));
    chosen.transpose().map_err(|what| anyhow!(what))
}

impl Certificate {
    /// Reads a certificate, once its header is read.
    pub fn read(claim: Claim, json: &Json) -> Result<Certificate> {
        let (history, spec) = (&json["history"], &json["spec"]);
        let text = |json: &'_ Json, key: &'static str| -> Result<String, HeaderError> {
            json.as_str().map(str::to_owned).ok_or(HeaderError::Field(key))
        };
        let evidence = match claim {
            Claim::Core => {
                let at = match &json["at"] {
                    Json::Null => None,
                    at => Some(Rank::new(number(at).ok_or(HeaderError::Field("at"))?)),
                };
                let key = match &json["key"] {
                    Json::Null => None,
                    key => Some(json::parse_value(key).context("\"key\" must have integers only")?),
                };
                Evidence::Core { core: ids(json, "core")?, at, key }
            }
            _ => Evidence::Witness(ids(json, "witness")?),
        };
        let init = match &spec["init"] {
            Json::Null => None,
            init => {
                Some(json::parse_value(init).context("\"init\" has a number that is too large")?)
            }
        };
        let format = match history["format"].as_str() {
            Some(format) => Some(format.parse()?),
            None => None,
        };
        let chosen = text(&spec["name"], "spec")?;
        let file = if is_file(&chosen) { Some(FileHash::read(spec, "spec")?) } else { None };
        let failed_cas = text(&history["failed_cas"], "history")?;
        let property = text(&json["property"], "property")?;
        let operations = history["operations"].as_u64().and_then(|count| count.try_into().ok());
        let bad = |what: String| anyhow!(what);
        Ok(Certificate {
            history: FileHash::read(history, "history")?,
            recording: RecordingArgs {
                spec: chosen,
                init,
                format,
                failed_cas: FailedCasArg::from_str(&failed_cas, true).map_err(bad)?,
                keyed: history["keyed"].as_bool(),
                nil_reads: choice(&history["nil_reads"])?,
                order: choice(&history["order"])?.unwrap_or(OrderArg::Lines),
                property: PropertyArg::from_str(&property, true).map_err(bad)?,
            },
            spec: file,
            operations: operations.ok_or(HeaderError::Field("history"))?,
            evidence,
        })
    }

    /// Where the history is, unless the command line says otherwise.
    pub fn file(&self) -> PathBuf {
        PathBuf::from(&self.history.file)
    }
}

fn number(json: &Json) -> Option<u32> {
    json.as_u64().and_then(|number| u32::try_from(number).ok())
}

fn ids(json: &Json, key: &'static str) -> Result<Vec<OpId>, HeaderError> {
    let list = json[key].as_array().ok_or(HeaderError::Field(key))?;
    let id = |id: &Json| number(id).map(OpId::numbered).ok_or(HeaderError::Field(key));
    list.iter().map(id).collect()
}
