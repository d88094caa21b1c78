//! A certificate of the shape engine: the model as text, which threads there are, and the states or
//! views at the fixpoint, a line each.

use super::ShapeError;
use crate::hash::Sha256;
use crate::header::{Claim, FileHash, HeaderError, header, read_hash};
use serde_json::{Map, Value, json};

/// How many threads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShapeThreads {
    /// Any number of each role.
    Any,
    /// One of each of these roles, by number.
    These(Vec<usize>),
}

/// A certificate of the claim [`Claim::Linearizable`].
#[derive(Clone, Debug, PartialEq)]
pub struct ShapeCertificate {
    /// What the model is called.
    pub name: String,
    /// The model, in the language of `.lin` files.
    pub text: String,
    /// The hash of the text, as the certificate states it.
    pub sha256: Sha256,
    /// The file that the model was read from.
    pub source: Option<FileHash>,
    /// The values of the model's parameters that were set.
    pub parameters: Vec<(String, linchpin_spec::Value)>,
    /// The roles: names of operations that threads of each call.
    pub roles: Vec<Vec<String>>,
    /// How many threads.
    pub threads: ShapeThreads,
    /// Whether the model is compared with its own code, run alone.
    pub own_code: bool,
    /// The states, or the views of one thread each.
    pub states: Vec<String>,
}

/// What answers were compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ComparedWith {
    /// A structure that is the built-in specification.
    Specification,
    /// The `reference` of the model. That it does what the specification says is not confirmed.
    Block,
    /// The model's own code, run alone. That it does what the specification says is not confirmed.
    OwnCode,
}

/// What was confirmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShapeConfirmed {
    /// What answers were compared with.
    pub with: ComparedWith,
    /// How many states or views there are.
    pub states: usize,
    /// How many moves were made from them.
    pub moves: usize,
    /// How many pairs of views were put side by side.
    pub pairs: usize,
}

impl ShapeCertificate {
    /// As it is written to a file: one line for each state.
    pub fn to_json(&self) -> Value {
        let mut object = header(Claim::Linearizable);
        let mut insert = |key: &str, value: Value| object.insert(key.to_owned(), value);
        insert(
            "model",
            json!({ "name": self.name, "sha256": self.sha256.to_string(), "text": self.text }),
        );
        if let Some(source) = &self.source {
            insert("source", source.to_json());
        }
        let parameter = |(name, value): &(String, linchpin_spec::Value)| match value {
            linchpin_spec::Value::Int(number) => (name.clone(), json!(number)),
            linchpin_spec::Value::Bool(truth) => (name.clone(), json!(truth)),
            _ => (name.clone(), Value::Null),
        };
        let parameters: Map<String, Value> = self.parameters.iter().map(parameter).collect();
        insert("parameters", Value::Object(parameters));
        insert("roles", json!(self.roles));
        insert(
            "threads",
            match &self.threads {
                ShapeThreads::Any => json!("any"),
                ShapeThreads::These(roles) => json!(roles),
            },
        );
        insert("reference", json!(if self.own_code { "own" } else { "specification" }));
        insert("states", json!(self.states));
        Value::Object(object)
    }

    /// Reads it back, once its header is read.
    pub fn read(json: &Value) -> Result<ShapeCertificate, HeaderError> {
        let model = &json["model"];
        let text = |key: &str| model[key].as_str().map(str::to_owned);
        let source = match json.get("source") {
            None => None,
            Some(source) => Some(FileHash::read(source, "source")?),
        };
        Ok(ShapeCertificate {
            name: text("name").ok_or(HeaderError::Field("model"))?,
            text: text("text").ok_or(HeaderError::Field("model"))?,
            sha256: read_hash(&model["sha256"], "model")?,
            source,
            parameters: read_parameters(&json["parameters"])
                .ok_or(HeaderError::Field("parameters"))?,
            roles: read_roles(&json["roles"]).ok_or(HeaderError::Field("roles"))?,
            threads: read_threads(&json["threads"]).ok_or(HeaderError::Field("threads"))?,
            own_code: match json["reference"].as_str() {
                Some("specification") => false,
                Some("own") => true,
                _ => return Err(HeaderError::Field("reference")),
            },
            states: strings(&json["states"]).ok_or(HeaderError::Field("states"))?,
        })
    }

    /// Confirms that the states contain the initial ones, are closed under moves, and that no move
    /// from them is wrong.
    pub fn confirm(&self) -> Result<ShapeConfirmed, ShapeError> {
        let found = Sha256::of(self.text.as_bytes());
        if found != self.sha256 {
            return Err(ShapeError::OtherText { stated: self.sha256, found });
        }
        super::check::confirm(self)
    }
}

fn strings(json: &Value) -> Option<Vec<String>> {
    json.as_array()?.iter().map(|item| Some(item.as_str()?.to_owned())).collect()
}

fn read_roles(json: &Value) -> Option<Vec<Vec<String>>> {
    json.as_array()?.iter().map(strings).collect()
}

fn read_threads(json: &Value) -> Option<ShapeThreads> {
    if json.as_str() == Some("any") {
        return Some(ShapeThreads::Any);
    }
    let number = |item: &Value| usize::try_from(item.as_u64()?).ok();
    Some(ShapeThreads::These(json.as_array()?.iter().map(number).collect::<Option<_>>()?))
}

fn read_parameters(json: &Value) -> Option<Vec<(String, linchpin_spec::Value)>> {
    let value = |value: &Value| match value {
        Value::Bool(truth) => Some(linchpin_spec::Value::Bool(*truth)),
        other => other.as_i64().map(linchpin_spec::Value::Int),
    };
    json.as_object()?.iter().map(|(name, json)| Some((name.clone(), value(json)?))).collect()
}
