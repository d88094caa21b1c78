//! Bundled models, and mutants of them: a line left out, said twice, or moved.

use fastrand::Rng;
use std::path::{Path, PathBuf};

/// The names and the texts of all bundled models, the broken ones too.
pub fn bundled() -> Vec<(String, String)> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../models");
    let mut models = models_in(&root);
    models.extend(models_in(&root.join("broken")));
    models.sort();
    models
}

fn models_in(folder: &Path) -> Vec<(String, String)> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let files = entries.map(|entry| entry.path());
    let models = files.filter(|path| path.extension().is_some_and(|found| found == "lin"));
    let read = |path: PathBuf| {
        let name = path.file_stem()?.to_string_lossy().into_owned();
        Some((name, std::fs::read_to_string(&path).ok()?))
    };
    models.filter_map(read).collect()
}

/// A mutant of a model; most compile.
pub fn mutant(source: &str, random: &mut Rng) -> String {
    let mut lines: Vec<&str> = source.lines().collect();
    for _ in 0..random.usize(1..=2) {
        let is_statement = |line: &str| {
            let code = line.split("//").next().unwrap_or_default().trim_end();
            line.starts_with("    ") && code.ends_with(';')
        };
        let statements: Vec<usize> =
            (0..lines.len()).filter(|&at| is_statement(lines[at])).collect();
        if statements.len() < 2 {
            break;
        }
        let at = random.usize(..statements.len());
        let line = statements[at];
        match random.u8(..4) {
            0 => drop(lines.remove(line)),
            1 => lines.insert(line, lines[line]),
            _ => lines.swap(line, statements[(at + 1) % statements.len()]),
        }
    }
    lines.join("\n") + "\n"
}
