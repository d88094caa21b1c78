//! Results of earlier runs, remembered by all that decides them: the text and the name of the
//! model, the flags, the program.
//!
//! A result is a file in the user's cache folder, named by the hash of what decides it. What cannot
//! be read is ignored, and what cannot be written is not remembered: neither is an error.

use super::outcome::{FileOutcome, Shown};
use crate::args::VerifyArgs;
use crate::output;
use linchpin_verdict::Verdict;
use serde_json::{Value as Json, json};
use sha2::{Digest, Sha256};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// At most so many results are kept.
const MOST: usize = 2000;

/// One result is at most so large, in bytes.
const LARGEST: usize = 4 << 20;

/// The form of the files; others are ignored.
const FORM: u64 = 2;

/// Where results are kept.
#[derive(Clone, Debug)]
pub struct Memory {
    folder: PathBuf,
}

/// What decides a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key(String);

impl Memory {
    /// The user's, unless they do not want one: `LINCHPIN_CACHE` names another folder, or is empty
    /// for none.
    pub fn of_user() -> Option<Memory> {
        let folder = match std::env::var_os("LINCHPIN_CACHE") {
            Some(folder) if folder.is_empty() => return None,
            Some(folder) => PathBuf::from(folder),
            None => cache_folder()?.join("linchpin"),
        };
        Some(Memory { folder: folder.join("verify") })
    }

    /// What is known, if something is.
    pub fn recall(&self, key: &Key) -> Option<FileOutcome> {
        let text = fs::read_to_string(self.file(key)).ok()?;
        read(&serde_json::from_str(&text).ok()?, key)
    }

    /// Writes a result down, whole or not at all, and forgets the oldest if there are too many.
    pub fn remember(&self, key: &Key, outcome: &FileOutcome) {
        let text = written(outcome, key).to_string();
        if text.len() > LARGEST || fs::create_dir_all(&self.folder).is_err() {
            return;
        }
        // What cannot be written is not remembered.
        let _ = output::write_file(&self.file(key), text.as_bytes());
        self.forget_oldest();
    }

    fn file(&self, key: &Key) -> PathBuf {
        self.folder.join(format!("{}.json", key.0))
    }

    fn forget_oldest(&self) {
        let Ok(entries) = fs::read_dir(&self.folder) else { return };
        let mut files: Vec<(SystemTime, PathBuf)> = entries
            .filter_map(Result::ok)
            .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
            .collect();
        if files.len() <= MOST {
            return;
        }
        files.sort();
        for (_, file) in &files[..files.len() - MOST] {
            // Another process may have been faster.
            let _ = fs::remove_file(file);
        }
    }
}

impl Key {
    /// The key of a file with this name and text; `None` if the work also writes other files, or
    /// is not decided by what is known here.
    pub fn of(args: &VerifyArgs, name: &str, text: &str, is_one_of_many: bool) -> Option<Key> {
        let writes = args.certificate.is_some() || args.smt2.is_some() || args.pictures.is_some();
        if args.no_cache || writes || args.disk.is_some() || args.cluster.is_some() {
            return None;
        }
        // INVARIANT: all flags are part of the key, so none that is added later can be forgotten.
        // Those that only say where results go are the same for all.
        let mut flags = args.clone();
        flags.files = Vec::new();
        flags.watch = false;
        flags.report = flags.report.map(|_| PathBuf::from("page"));
        flags.common.quiet = false;
        let mut hash = Sha256::new();
        for part in [
            env!("CARGO_PKG_VERSION").to_owned(),
            program()?,
            format!("{flags:?}"),
            format!("{} {is_one_of_many}", output::color_on_stdout()),
            name.to_owned(),
            text.to_owned(),
        ] {
            hash.update(part.len().to_le_bytes());
            hash.update(part.as_bytes());
        }
        Some(Key(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()))
    }
}

/// What tells this program from every other one that was built.
fn program() -> Option<String> {
    let file = fs::metadata(std::env::current_exe().ok()?).ok()?;
    let built = file.modified().ok()?.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    Some(format!("{} {}", file.len(), built.as_nanos()))
}

/// The folder for what can be made again.
fn cache_folder() -> Option<PathBuf> {
    let of = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|at| at.is_absolute());
    of("XDG_CACHE_HOME")
        .or_else(|| of("LOCALAPPDATA"))
        .or_else(|| of("HOME").map(|home| home.join(Path::new(".cache"))))
}

fn written(outcome: &FileOutcome, key: &Key) -> Json {
    let shown = match &outcome.shown {
        Shown::Text(text) => json!({ "text": text }),
        Shown::Json(object) => json!({ "json": object }),
    };
    json!({
        "form": FORM, "key": key.0, "verdict": outcome.verdict.id(), "reason": outcome.reason, "by": outcome.by,
        "seconds": outcome.seconds, "shown": shown, "page": outcome.page,
    })
}

fn read(json: &Json, key: &Key) -> Option<FileOutcome> {
    let is_ours = json["form"].as_u64() == Some(FORM) && json["key"].as_str() == Some(&key.0);
    let id = json["verdict"].as_str().filter(|_| is_ours)?;
    Some(FileOutcome {
        verdict: Verdict::ALL.into_iter().find(|verdict| verdict.id() == id)?,
        reason: json["reason"].as_str()?.to_owned(),
        by: json["by"].as_str().map(str::to_owned),
        seconds: json["seconds"].as_f64()?,
        shown: match (&json["shown"]["text"], &json["shown"]["json"]) {
            (Json::String(text), _) => Shown::Text(text.clone()),
            (_, Json::Object(object)) => Shown::Json(object.clone()),
            _ => return None,
        },
        page: json["page"].as_str().map(str::to_owned),
        expected: None,
        is_contradiction: false,
        is_unfinished: false,
        is_remembered: true,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome() -> FileOutcome {
        FileOutcome {
            verdict: Verdict::ProvedIfSequential,
            reason: "it is".to_owned(),
            by: Some("reduce".to_owned()),
            seconds: 0.125,
            shown: Shown::Text("a \"line\"\n\u{1b}[1m".to_owned()),
            page: Some("<html>".to_owned()),
            expected: None,
            is_contradiction: false,
            is_unfinished: false,
            is_remembered: false,
        }
    }

    #[test]
    fn what_is_remembered_is_what_was_said() {
        let folder = tempfile::tempdir().expect("a folder");
        let memory = Memory { folder: folder.path().join("new") };
        let key = Key("00ff".to_owned());
        assert_eq!(memory.recall(&key), None);
        memory.remember(&key, &outcome());
        let recalled = memory.recall(&key).expect("it was remembered");
        assert!(recalled.is_remembered);
        assert_eq!(FileOutcome { is_remembered: false, ..recalled }, outcome());
    }

    #[test]
    fn an_object_says_whether_it_was_remembered() {
        let folder = tempfile::tempdir().expect("a folder");
        let memory = Memory { folder: folder.path().to_owned() };
        let key = Key("00ff".to_owned());
        let Json::Object(object) = json!({ "verdict": "proved" }) else { panic!("an object") };
        let said = FileOutcome { shown: Shown::Json(object), ..outcome() };
        assert_eq!(said.printed(), "{\"verdict\":\"proved\",\"remembered\":false}\n");
        memory.remember(&key, &said);
        let recalled = memory.recall(&key).expect("it was remembered");
        assert_eq!(recalled.printed(), "{\"verdict\":\"proved\",\"remembered\":true}\n");
    }

    #[test]
    fn a_damaged_file_is_ignored() {
        let folder = tempfile::tempdir().expect("a folder");
        let memory = Memory { folder: folder.path().to_owned() };
        let key = Key("00ff".to_owned());
        memory.remember(&key, &outcome());
        let whole = fs::read(memory.file(&key)).expect("it is there");
        for damaged in [&whole[..whole.len() / 2], b"", b"{}", b"\xff\xfe"] {
            fs::write(memory.file(&key), damaged).expect("written");
            assert_eq!(memory.recall(&key), None);
        }
        // Another key's result is none of this one.
        fs::write(memory.file(&key), written(&outcome(), &Key("11".to_owned())).to_string())
            .expect("written");
        assert_eq!(memory.recall(&key), None);
    }
}
