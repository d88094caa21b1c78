//! The files that a command reads and writes, looked at before any work: an output never replaces
//! an input or another output, and can be written.

use crate::output::{folder, probe_file, target};
use anyhow::{Result, bail};
use std::fs;
use std::path::{Path, PathBuf};

/// What a command reads and writes.
#[derive(Debug, Default)]
pub struct Files {
    /// What is read, apart from standard input.
    pub inputs: Vec<PathBuf>,
    /// What is written, each with its flag.
    pub outputs: Vec<(&'static str, PathBuf)>,
}

impl Files {
    /// An error if an output is an input, if two outputs are the same file, or if one cannot be
    /// written.
    pub fn check(&self) -> Result<()> {
        for (at, (flag, output)) in self.outputs.iter().enumerate() {
            let same = |other: &Path| is_same(output, other);
            if let Some(input) = self.inputs.iter().find(|input| same(input)) {
                bail!(
                    "{flag} `{}` would overwrite `{}`, which is read: name another file",
                    output.display(),
                    input.display()
                );
            }
            if let Some((other, _)) = self.outputs[..at].iter().find(|(_, other)| same(other)) {
                bail!("{other} and {flag} are the same file `{}`: name two", output.display());
            }
        }
        self.outputs.iter().try_for_each(|(_, output)| probe_file(output))
    }
}

/// What tells a file from every other one, however it is named.
#[derive(PartialEq, Eq)]
enum Identity {
    /// It exists: device and number, which hard links share.
    Existing(u64, u64),
    /// It would be made, under this name.
    New(PathBuf),
}

fn is_same(one: &Path, other: &Path) -> bool {
    identity(one).is_some_and(|one| Some(one) == identity(other))
}

/// `None` for devices and pipes, which keep what is written apart by themselves.
fn identity(path: &Path) -> Option<Identity> {
    match fs::metadata(path) {
        Ok(found) if found.is_file() => existing(path, &found),
        Ok(_) => None,
        Err(_) => {
            let target = target(path);
            let folder = fs::canonicalize(folder(&target)).ok()?;
            Some(Identity::New(folder.join(target.file_name()?)))
        }
    }
}

#[cfg(unix)]
fn existing(_: &Path, found: &fs::Metadata) -> Option<Identity> {
    use std::os::unix::fs::MetadataExt;
    Some(Identity::Existing(found.dev(), found.ino()))
}

#[cfg(not(unix))]
fn existing(path: &Path, _: &fs::Metadata) -> Option<Identity> {
    fs::canonicalize(path).ok().map(Identity::New)
}
