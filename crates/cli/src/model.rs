//! Reading and compiling models.

use crate::args::ModelArgs;
use crate::output::color_on_stderr;
use anyhow::{Context, Result, bail};
use linchpin_lang::{Compiled, compile};
use linchpin_syntax::Diagnostic;
use std::fmt;
use std::io::Read;
use std::path::Path;

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
        for diagnostic in &self.diagnostics {
            writeln!(f, "{}\n", diagnostic.render(&self.file, &self.source, color_on_stderr()))?;
        }
        let count = self.diagnostics.len();
        let plural = if count == 1 { "" } else { "s" };
        write!(f, "{}: {count} mistake{plural}", self.file)
    }
}

/// The text of a file, or of standard input for `-`.
pub fn read(path: &Path) -> Result<String> {
    let mut bytes = Vec::new();
    if path == Path::new("-") {
        std::io::stdin().read_to_end(&mut bytes).context("cannot read standard input")?;
    } else if path.is_dir() {
        bail!("`{}` is a directory: name a file", path.display());
    } else {
        bytes = std::fs::read(path).with_context(|| format!("cannot read `{}`", path.display()))?;
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
    let source = read(&args.model)?;
    let other = args.model.extension().filter(|extension| *extension != "lin");
    if let Some(other) = other {
        bail!(
            "`{}`: a model is a `.lin` file, not `.{}`",
            args.model.display(),
            other.to_string_lossy()
        );
    }
    let file = args.model.display().to_string();
    compile(&source, &args.config())
        .map_err(|diagnostics| Mistakes { file, source, diagnostics }.into())
}
