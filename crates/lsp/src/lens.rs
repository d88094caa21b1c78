//! The lens "verify": a model is verified by another process, and its verdict becomes the text of
//! the lens.
//!
//! Another process can be ended at any time, whatever its engines are doing, and keeps its own
//! limits on memory. It reads a copy of the text, so that what was not saved is verified too.

use crossbeam_channel::Sender;
use linchpin_engine::Language;
use lsp_server::RequestId;
use std::io::Read;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;

/// At most so many bytes of what was found are kept.
const KEPT: u64 = 1 << 20;

/// How models are verified.
#[derive(Clone, Debug)]
pub struct Verifier {
    /// The command `linchpin`.
    pub program: PathBuf,
    /// How long it may take.
    pub time_limit: Duration,
}

/// What a document's lens shows.
#[derive(Debug, Default)]
pub enum Lens {
    /// Nothing is known.
    #[default]
    Idle,
    /// The model is being verified.
    Running(Job),
    /// It was.
    Done(String),
}

impl Lens {
    /// Its text, and the command that a click executes.
    pub fn shown(&self) -> (String, &'static str) {
        match self {
            Lens::Idle => ("verify".to_owned(), VERIFY),
            Lens::Running(_) => ("verifying … (cancel)".to_owned(), CANCEL),
            Lens::Done(verdict) => (verdict.clone(), VERIFY),
        }
    }
}

/// The command that verifies.
pub const VERIFY: &str = "linchpin.verify";

/// The command that ends a verification.
pub const CANCEL: &str = "linchpin.cancel";

/// A verification under way; it ends when this is dropped.
#[derive(Debug)]
pub struct Job {
    /// Tells it from other ones of the same document.
    pub number: u64,
    /// The request that waits for the verdict.
    pub request: RequestId,
    child: Child,
    /// Where the text is; removed in the end.
    _folder: TempDir,
}

impl Drop for Job {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What a verification printed.
#[derive(Debug)]
pub struct Finished {
    pub uri: String,
    pub number: u64,
    pub output: String,
}

impl Finished {
    /// The first line, without the file that it starts with.
    pub fn verdict(&self) -> String {
        let first = self.output.lines().next().unwrap_or_default();
        let verdict = first.split_once(": ").map_or(first, |(_, verdict)| verdict);
        if verdict.is_empty() { "no verdict".to_owned() } else { verdict.to_owned() }
    }
}

impl Verifier {
    /// Starts to verify a text; what is found is sent.
    pub fn start(
        &self,
        (uri, text, language): (String, &str, Language),
        (number, request): (u64, RequestId),
        found: Sender<Finished>,
    ) -> std::io::Result<Job> {
        let folder = tempfile::tempdir()?;
        let name = format!("model.{}", language.extension());
        std::fs::write(folder.path().join(&name), text)?;
        let mut child = Command::new(&self.program)
            .args(["verify", "--quiet", "--color", "never", "--time-limit"])
            .arg(format!("{}s", self.time_limit.as_secs().max(1)))
            .arg(&name)
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let stdout = child.stdout.take();
        std::thread::Builder::new().spawn(move || {
            let mut bytes = Vec::new();
            if let Some(stdout) = stdout {
                // What arrived before an error is what there is to say.
                let _ = stdout.take(KEPT).read_to_end(&mut bytes);
            }
            let output = String::from_utf8_lossy(&bytes).into_owned();
            // The server has gone: there is no one to tell.
            let _ = found.send(Finished { uri, number, output });
        })?;
        Ok(Job { number, request, child, _folder: folder })
    }
}
