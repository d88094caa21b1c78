//! The models that the command line names: files, and all that are in folders.

use anyhow::{Context, Result, bail};
use linchpin_engine::Language;
use std::path::{Path, PathBuf};

/// Folders are not searched deeper than this.
const DEEPEST: usize = 32;

/// What is verified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Models {
    /// The files, those of a folder in the order of their names.
    pub files: Vec<PathBuf>,
    /// Whether a folder was named.
    pub has_folder: bool,
}

impl Models {
    /// The files that are named, and those in folders that are named.
    pub fn find(named: &[PathBuf]) -> Result<Models> {
        let mut models = Models { files: Vec::new(), has_folder: false };
        for path in named {
            if path.is_dir() {
                models.has_folder = true;
                let before = models.files.len();
                collect(path, &mut models.files, 0)
                    .with_context(|| format!("cannot read `{}`", path.display()))?;
                if models.files.len() == before {
                    bail!("no `.lin`, `.subop` or `.csp` file is in `{}`", path.display());
                }
            } else {
                models.files.push(path.clone());
            }
        }
        Ok(models)
    }

    /// Whether there is a table at the end.
    pub fn is_batch(&self) -> bool {
        self.has_folder || self.files.len() > 1
    }
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>, depth: usize) -> std::io::Result<()> {
    let mut entries: Vec<PathBuf> = std::fs::read_dir(folder)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()?;
    entries.sort();
    // The models of a folder before those of the folders in it.
    entries.sort_by_key(|entry| entry.is_dir());
    for entry in entries {
        let is_hidden =
            entry.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        let extension = entry.extension().map(|extension| extension.to_string_lossy());
        match entry.is_dir() {
            _ if is_hidden => {}
            // A link to a folder may lead back here.
            true if depth < DEEPEST && !entry.is_symlink() => collect(&entry, files, depth + 1)?,
            false
                if extension.is_some()
                    && Language::of_extension(extension.as_deref()).is_some() =>
            {
                files.push(entry);
            }
            _ => {}
        }
    }
    Ok(())
}
