//! The header of every certificate: which format, and what is claimed.
//!
//! ```json
//! { "format": "linchpin-certificate", "version": 2, "claim": "witness", "claim_in_words": "…", … }
//! ```
//!
//! What follows depends on the claim: [`ReductionCertificate`](crate::ReductionCertificate) for
//! proofs; the command line reads the two claims about histories.

use crate::hash::Sha256;
use serde_json::{Map, Value, json};
use std::fmt;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// What every certificate says of its format.
const FORMAT: &str = "linchpin-certificate";

/// The version that is written, and the only one that is read.
const VERSION: u64 = 2;

/// What a certificate claims.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Claim {
    /// Every interleaving of the sub-operations is equivalent to a sequential one.
    LinearizableIfSequential,
    /// Every execution is linearizable, for the threads that the certificate names.
    Linearizable,
    /// An order explains a history.
    Witness,
    /// Some operations of a history cannot be explained.
    Core,
}

impl Claim {
    /// All of them.
    pub const ALL: [Claim; 4] =
        [Claim::LinearizableIfSequential, Claim::Linearizable, Claim::Witness, Claim::Core];

    /// Its name in a certificate.
    pub const fn id(self) -> &'static str {
        match self {
            Claim::LinearizableIfSequential => "linearizable-if-sequential",
            Claim::Linearizable => "linearizable",
            Claim::Witness => "witness",
            Claim::Core => "core",
        }
    }
}

/// What is claimed, in words.
impl fmt::Display for Claim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Claim::LinearizableIfSequential => {
                "linearizable for any number of threads if sequentially correct"
            }
            Claim::Linearizable => {
                "linearizable with any heap and any number of calls, for the threads named here"
            }
            Claim::Witness => "these operations, in this order, explain the history",
            Claim::Core => "no order explains these operations of the history",
        })
    }
}

/// Why a text is not a certificate that can be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum HeaderError {
    /// It is not JSON.
    #[error("it is not a certificate: it is not JSON")]
    NotJson,
    /// It is something else.
    #[error(
        "it is not a certificate: `linchpin check --witness FILE`, `linchpin check --core FILE` or \
         `linchpin verify --certificate FILE` writes one"
    )]
    NotACertificate,
    /// It has no header that says what it is about.
    #[error(
        "it was written by an earlier version, and does not say what it is about: make a new one with \
         `{0}`"
    )]
    Older(&'static str),
    /// It was written by another version.
    #[error("it has version {0} of the format; this version of Linchpin reads version {VERSION}")]
    OtherVersion(u64),
    /// A claim that does not exist.
    #[error("it claims `{0}`, which is no claim")]
    NoSuchClaim(String),
    /// The claim in words is that of another claim.
    #[error("it claims `{}`, but other words say what that is", .0.id())]
    OtherWords(Claim),
    /// A field is missing or has another type.
    #[error("`{0}` is missing or is not what it should be")]
    Field(&'static str),
}

/// The header of a new certificate.
pub fn header(claim: Claim) -> Map<String, Value> {
    let mut object = Map::new();
    let mut insert = |key: &str, value: Value| object.insert(key.to_owned(), value);
    insert("format", json!(FORMAT));
    insert("version", json!(VERSION));
    insert("claim", json!(claim.id()));
    insert("claim_in_words", json!(claim.to_string()));
    object
}

/// Reads the header of a certificate.
pub fn read_header(text: &str) -> Result<(Claim, Value), HeaderError> {
    let json: Value = serde_json::from_str(text).map_err(|_| HeaderError::NotJson)?;
    if json["format"] == "linchpin-reduction/1" {
        return Err(HeaderError::Older("linchpin verify MODEL --certificate FILE"));
    }
    if json["schema"] == "linchpin/1" && json["command"] == "certificate" {
        return Err(HeaderError::Older(
            "linchpin check HISTORY --spec SPEC --witness FILE --core FILE",
        ));
    }
    if json["format"] != FORMAT {
        return Err(HeaderError::NotACertificate);
    }
    match json["version"].as_u64() {
        Some(VERSION) => {}
        Some(version) => return Err(HeaderError::OtherVersion(version)),
        None => return Err(HeaderError::Field("version")),
    }
    let id = json["claim"].as_str().ok_or(HeaderError::Field("claim"))?;
    let claim = Claim::ALL.into_iter().find(|claim| claim.id() == id);
    let claim = claim.ok_or_else(|| HeaderError::NoSuchClaim(id.to_owned()))?;
    if json["claim_in_words"] != claim.to_string() {
        return Err(HeaderError::OtherWords(claim));
    }
    Ok((claim, json))
}

/// A file that a certificate is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileHash {
    /// Its name, as it was given.
    pub file: String,
    /// The hash of its bytes.
    pub sha256: Sha256,
}

impl FileHash {
    /// A file as it is now.
    pub fn of(file: &Path) -> io::Result<FileHash> {
        let sha256 = Sha256::of_reader(&mut File::open(file)?)?;
        Ok(FileHash { file: file.display().to_string(), sha256 })
    }

    /// A folder as it is now, of which these files count: the hash of what `sha256sum` prints of
    /// them, named from the folder, in this order.
    pub fn of_folder(folder: &Path, files: &[PathBuf]) -> io::Result<FileHash> {
        let mut listed = String::new();
        for file in files {
            let sha256 = Sha256::of_reader(&mut File::open(file)?)?;
            let name = file.strip_prefix(folder).unwrap_or(file);
            let names: Vec<_> = name.iter().map(|name| name.to_string_lossy()).collect();
            listed += &format!("{sha256}  {}\n", names.join("/"));
        }
        let (file, sha256) = (folder.display().to_string(), Sha256::of(listed.as_bytes()));
        Ok(FileHash { file, sha256 })
    }

    /// As it is written in a certificate.
    pub fn to_json(&self) -> Value {
        json!({ "file": self.file, "sha256": self.sha256.to_string() })
    }

    /// Reads it back.
    pub fn read(json: &Value, key: &'static str) -> Result<FileHash, HeaderError> {
        let file = json["file"].as_str().ok_or(HeaderError::Field(key))?.to_owned();
        Ok(FileHash { file, sha256: read_hash(&json["sha256"], key)? })
    }
}

pub(crate) fn read_hash(json: &Value, key: &'static str) -> Result<Sha256, HeaderError> {
    json.as_str().and_then(|text| text.parse().ok()).ok_or(HeaderError::Field(key))
}
