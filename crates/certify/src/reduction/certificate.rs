//! A proof by reversing sub-operations with all that says what it is about: the sub-operations as
//! text, where they come from, and the facts and pair relations.

use super::ReductionError;
use super::sequential::{self, Ranges};
use crate::hash::Sha256;
use crate::header::{Claim, FileHash, HeaderError, header, read_hash};
use linchpin_verdict::Sequential;
use serde_json::{Value, json};

/// A certificate of the claim [`Claim::LinearizableIfSequential`].
#[derive(Clone, Debug, PartialEq)]
pub struct ReductionCertificate {
    /// What the model is called.
    pub name: String,
    /// Its sub-operations, in the language of `.subop` files.
    pub text: String,
    /// The hash of the text, as the certificate states it.
    pub sha256: Sha256,
    /// The file that the sub-operations were read or derived from.
    pub source: Option<FileHash>,
    /// The integers that clients pass, where they are limited.
    pub ranges: Vec<Ranges>,
    /// Facts, pair relations and closures.
    pub proof: Value,
}

/// What was confirmed of a proof.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Confirmed {
    /// How many cases were looked at.
    pub cases: usize,
    /// The specification that the text names.
    pub spec: Option<String>,
    /// How far sequential executions were tried; none of those is wrong.
    pub sequential: Sequential,
}

impl ReductionCertificate {
    /// A new certificate: the hash is that of the text.
    pub fn new(name: String, text: String, proof: Value) -> ReductionCertificate {
        let sha256 = Sha256::of(text.as_bytes());
        ReductionCertificate { name, text, sha256, source: None, ranges: Vec::new(), proof }
    }

    /// As it is written to a file.
    pub fn to_json(&self) -> Value {
        let mut object = header(Claim::LinearizableIfSequential);
        let model = json!({
            "name": self.name, "sha256": self.sha256.to_string(), "text": self.text,
        });
        object.insert("model".to_owned(), model);
        if let Some(source) = &self.source {
            object.insert("source".to_owned(), source.to_json());
        }
        if self.ranges.iter().flatten().any(Option::is_some) {
            object.insert("arguments".to_owned(), json!(self.ranges));
        }
        object.insert("proof".to_owned(), self.proof.clone());
        Value::Object(object)
    }

    /// Reads it back, once its header is read.
    pub fn read(json: &Value) -> Result<ReductionCertificate, HeaderError> {
        let model = &json["model"];
        let text = |key: &str| model[key].as_str().map(str::to_owned);
        let source = match json.get("source") {
            None => None,
            Some(source) => Some(FileHash::read(source, "source")?),
        };
        let ranges = json.get("arguments").map_or(Ok(Vec::new()), read_ranges)?;
        Ok(ReductionCertificate {
            name: text("name").ok_or(HeaderError::Field("model"))?,
            text: text("text").ok_or(HeaderError::Field("model"))?,
            sha256: read_hash(&model["sha256"], "model")?,
            source,
            ranges,
            proof: json.get("proof").cloned().ok_or(HeaderError::Field("proof"))?,
        })
    }

    /// Confirms that every interleaving of the sub-operations is equivalent to a sequential one,
    /// and tries sequential executions.
    pub fn confirm(&self) -> Result<Confirmed, ReductionError> {
        let found = Sha256::of(self.text.as_bytes());
        if found != self.sha256 {
            return Err(ReductionError::OtherText { stated: self.sha256, found });
        }
        let model = super::proof::parse(&self.text)?;
        let sequential = sequential::attempt(&model, &self.ranges)
            .map_err(|wrong| ReductionError::SequentiallyWrong(wrong.to_string()))?;
        let cases = super::confirm_reduction(&self.text, &self.proof)?;
        Ok(Confirmed { cases, spec: model.spec.map(|spec| spec.name), sequential })
    }
}

fn read_ranges(json: &Value) -> Result<Vec<Ranges>, HeaderError> {
    let range = |json: &Value| match json {
        Value::Null => Some(None),
        json => match json.as_array()?.as_slice() {
            [from, to] => Some(Some((from.as_i64()?, to.as_i64()?))),
            _ => None,
        },
    };
    let list = |json: &Value| json.as_array()?.iter().map(range).collect::<Option<Ranges>>();
    let lists = |json: &Value| json.as_array()?.iter().map(list).collect::<Option<Vec<_>>>();
    lists(json).ok_or(HeaderError::Field("arguments"))
}
