//! The folder of a search: whose it is, and that it is that search's.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Says which search a folder is of.
const SEARCH: &str = "linchpin-search";

/// Says which process works in it.
const OWNER: &str = "owner";

/// A search whose states are kept on disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiskOptions {
    /// Where.
    pub folder: PathBuf,
    /// Whether to go on with a search that is there.
    pub resume: bool,
    /// Stop after so many levels more, as if the process had been asked to: for tests.
    pub levels: Option<usize>,
    /// Keep about so many bytes in memory, if not as many as the limit allows: for tests.
    pub memory: Option<usize>,
}

impl DiskOptions {
    /// A new search in a folder.
    pub fn new(folder: impl Into<PathBuf>) -> DiskOptions {
        DiskOptions { folder: folder.into(), resume: false, levels: None, memory: None }
    }

    /// The search that is in a folder.
    pub fn resume(folder: impl Into<PathBuf>) -> DiskOptions {
        DiskOptions { resume: true, ..DiskOptions::new(folder) }
    }
}

/// Why a folder cannot be used.
#[derive(Debug, Error)]
pub enum DiskError {
    /// There is something in it already.
    #[error(
        "`{0}` is not empty: --resume goes on with the search in it; a new search needs a new folder"
    )]
    NotEmpty(PathBuf),
    /// There is no search in it.
    #[error("there is no search in `{0}` that could be resumed: leave out --resume to begin one")]
    NoSearch(PathBuf),
    /// There is another search in it.
    #[error(
        "the search in `{0}` is of another model, of other bounds or options, or by another version: \
         a folder goes on with the search that began in it"
    )]
    Another(PathBuf),
}

/// Makes the folder of a search, or finds it. What cannot be read or written is no error yet: the
/// search will say so.
pub(crate) fn claim(options: &DiskOptions, identity: u64) -> Result<(), DiskError> {
    let folder = &options.folder;
    let mine = format!("{} {identity:016x}\n", env!("CARGO_PKG_VERSION"));
    match fs::read_to_string(folder.join(SEARCH)) {
        Ok(_) if !options.resume => Err(DiskError::NotEmpty(folder.clone())),
        Ok(text) if text != mine => Err(DiskError::Another(folder.clone())),
        Ok(_) => Ok(()),
        Err(_) if options.resume => Err(DiskError::NoSearch(folder.clone())),
        Err(_) => {
            let is_empty = fs::read_dir(folder).map_or(true, |mut found| found.next().is_none());
            if !is_empty {
                return Err(DiskError::NotEmpty(folder.clone()));
            }
            // Where this fails, so will the first level.
            let _ = fs::create_dir_all(folder);
            let _ = fs::write(folder.join(SEARCH), mine);
            Ok(())
        }
    }
}

/// A process's hold on a folder.
pub(crate) struct Hold {
    path: PathBuf,
    name: String,
}

impl Hold {
    /// Takes a folder over.
    pub fn take(folder: &Path) -> io::Result<Hold> {
        fs::create_dir_all(folder)?;
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let name = format!("{} {}", std::process::id(), now.unwrap_or_default().as_nanos());
        let path = folder.join(OWNER);
        fs::write(&path, &name)?;
        Ok(Hold { path, name })
    }

    /// An error if another process has taken it over.
    pub fn check(&self) -> io::Result<()> {
        match fs::read_to_string(&self.path)? == self.name {
            true => Ok(()),
            false => Err(io::Error::new(
                ErrorKind::ResourceBusy,
                "another process has taken the folder over",
            )),
        }
    }

    /// Whether this file is the hold itself.
    pub fn is(&self, path: &Path) -> bool {
        self.path == path
    }
}
