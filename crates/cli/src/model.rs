//! Reading and compiling models.

use crate::args::ModelArgs;
use crate::output::color_on_stderr;
use anyhow::{Context, Result, bail};
use linchpin_engine::Language;
use linchpin_lang::{Compiled, Config, compile};
use linchpin_syntax::Diagnostic;
use linchpin_verdict::counted;
use linchpin_verify::{LoadError, Loaded};
use serde_json::{Value as Json, json};
use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// A model is not larger than this, in bytes. Inputs such as `/dev/zero` have no end.
pub const MOST: u64 = 16 << 20;

/// Neither is a certificate or a schedule larger than this.
pub const MOST_RECORDED: u64 = 1 << 30;

/// The mistakes of a model, shown with their source lines.
#[derive(Debug)]
pub struct Mistakes {
    pub file: String,
    pub source: String,
    pub diagnostics: Vec<Diagnostic>,
}

impl std::error::Error for Mistakes {}

impl fmt::Display for Mistakes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let file = linchpin_report::escaped(&self.file);
        for diagnostic in &self.diagnostics {
            writeln!(f, "{}\n", diagnostic.render(&file, &self.source, color_on_stderr()))?;
        }
        f.write_str(&linchpin_report::escaped(&self.summary()))
    }
}

impl Mistakes {
    /// How many there are, in which file.
    pub fn summary(&self) -> String {
        format!("{}: {}", self.file, counted(self.diagnostics.len(), "mistake"))
    }

    /// Every mistake with its place, as scripts read it. Lines and columns are counted from 1,
    /// columns in characters; a mistake of a flag names it, and its place means nothing.
    pub fn to_json(&self) -> Json {
        let one = |mistake: &Diagnostic| {
            let start = usize::try_from(mistake.span.start).unwrap_or(usize::MAX);
            let before = self.source.get(..start).unwrap_or(&self.source);
            let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
            json!({
                "code": mistake.code.id(),
                "file": self.file,
                "line": 1 + before.matches('\n').count(),
                "column": 1 + before[line_start..].chars().count(),
                "message": mistake.message,
                "label": mistake.label,
                "help": mistake.help,
                "flag": mistake.flag,
            })
        };
        self.diagnostics.iter().map(one).collect()
    }
}

/// The text of a model, or of standard input for `-`.
pub fn read(path: &Path) -> Result<String> {
    read_at_most(path, MOST)
}

/// The text of a file of at most so many bytes, or of standard input for `-`.
pub fn read_at_most(path: &Path, most: u64) -> Result<String> {
    let mut bytes = Vec::new();
    let end = most.saturating_add(1);
    if path == Path::new("-") {
        let read = std::io::stdin().take(end).read_to_end(&mut bytes);
        read.context("cannot read standard input")?;
    } else if path.is_dir() {
        bail!("`{}` is a directory: name a file", path.display());
    } else {
        let read = File::open(path).and_then(|file| file.take(end).read_to_end(&mut bytes));
        read.with_context(|| format!("cannot read `{}`", path.display()))?;
    }
    if bytes.len() as u64 > most {
        bail!(
            "`{}` is larger than {} MB, which is the most that is read",
            path.display(),
            most >> 20
        );
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok(text),
        Err(error) => {
            let at = error.utf8_error().valid_up_to();
            let line = 1 + error.as_bytes()[..at].iter().filter(|byte| **byte == b'\n').count();
            bail!("`{}` is not text: line {line} is not UTF-8", path.display())
        }
    }
}

/// Reads and compiles the model that the arguments name.
pub fn load(args: &ModelArgs) -> Result<Compiled> {
    Ok(load_with(&args.model, &args.config())?.0)
}

/// Reads and compiles a `.lin` model; with its text.
pub fn load_with(path: &Path, config: &Config) -> Result<(Compiled, String)> {
    let source = read(path)?;
    let other = path.extension().filter(|extension| *extension != "lin");
    if let Some(other) = other {
        bail!("`{}`: a model is a `.lin` file, not `.{}`", path.display(), other.to_string_lossy());
    }
    match compile(&source, config) {
        Ok(compiled) => Ok((compiled, source)),
        Err(diagnostics) => {
            let file = path.display().to_string();
            Err(Mistakes { file, source, diagnostics }.into())
        }
    }
}

/// Reads a model in any of the languages; its extension says which.
pub fn load_any(path: &Path, config: &Config) -> Result<Loaded> {
    let extension = path.extension().map(|extension| extension.to_string_lossy().into_owned());
    let name = path.display().to_string();
    let Some(language) = Language::of_extension(extension.as_deref()) else {
        bail!("`{name}`: a model is a `.lin`, `.subop` or `.csp` file");
    };
    let text = read(path)?;
    linchpin_verify::load(&name, &text, language, config).map_err(mistakes)
}

/// The mistakes of a model as an error of the command.
pub fn mistakes(error: LoadError) -> anyhow::Error {
    let LoadError { name: file, text: source, mistakes: diagnostics } = error;
    Mistakes { file, source, diagnostics }.into()
}
