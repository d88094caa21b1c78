//! The models of some folders.

use std::path::PathBuf;

/// The `.lin` files of these folders, in order.
pub fn models(folders: &[String]) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = folders
        .iter()
        .flat_map(|folder| std::fs::read_dir(folder).into_iter().flatten())
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "lin"))
        .collect();
    files.sort();
    files
}
