//! Writing: files whole or not at all, standard output without a fuss about closed pipes.

use anyhow::{Context, Result};
use std::io::{self, Write};
use std::path::Path;

/// Writes a file whole or not at all.
pub fn write_file(path: &Path, contents: &[u8]) -> Result<()> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let context = || format!("cannot write `{}`", path.display());
    let mut file = tempfile::NamedTempFile::new_in(folder).with_context(context)?;
    file.write_all(contents).with_context(context)?;
    if let Ok(old) = std::fs::metadata(path) {
        file.as_file().set_permissions(old.permissions()).with_context(context)?;
    } else {
        set_default_permissions(&file).with_context(context)?;
    }
    file.persist(path).map_err(|error| error.error).with_context(context)?;
    Ok(())
}

/// Temporary files are private; what we leave behind should be as readable as other files.
#[cfg(unix)]
fn set_default_permissions(file: &tempfile::NamedTempFile) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.as_file().set_permissions(std::fs::Permissions::from_mode(0o644))
}

#[cfg(not(unix))]
fn set_default_permissions(_: &tempfile::NamedTempFile) -> io::Result<()> {
    Ok(())
}

/// Writes to standard output.
pub fn write_stdout(text: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(())
}

/// Whether the reader of our output has gone away, which is no error.
pub fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let broken = |error: &io::Error| error.kind() == io::ErrorKind::BrokenPipe;
    error.chain().any(|cause| cause.downcast_ref::<io::Error>().is_some_and(broken))
}

/// The error and its causes, as people read them.
pub fn describe(error: &anyhow::Error) -> String {
    if error.downcast_ref::<crate::model::Mistakes>().is_some() {
        return error.to_string();
    }
    let causes: Vec<String> = error.chain().map(|cause| cause.to_string()).collect();
    format!("error: {}", causes.join(": "))
}

/// Whether messages on standard error may be coloured.
pub fn color_on_stderr() -> bool {
    use std::io::IsTerminal;
    io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none()
}
