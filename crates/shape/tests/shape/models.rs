//! The bundled models that a shape engine is about.

use std::path::PathBuf;

/// The names and the texts of the bundled stacks, queues and sets, the broken ones left out.
pub fn bundled() -> Vec<(String, String)> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../models");
    let entries = std::fs::read_dir(root).into_iter().flatten().flatten();
    let mut models: Vec<(String, String)> = entries
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|found| found == "lin"))
        .filter_map(|path| {
            let name = path.file_stem()?.to_string_lossy().into_owned();
            Some((name, std::fs::read_to_string(&path).ok()?))
        })
        .filter(|(_, source)| ["stack", "queue", "set"].iter().any(|spec| of(source, spec)))
        .collect();
    models.sort();
    models
}

fn of(source: &str, spec: &str) -> bool {
    source.lines().any(|line| line == format!("spec {spec};"))
}
