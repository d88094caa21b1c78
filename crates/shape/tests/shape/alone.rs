//! What operations do alone.
use crate::judge::compiled;
use linchpin_shape::{AloneStatus, alone_claims};
use linchpin_verdict::Limits;
use std::path::PathBuf;
use std::time::{Duration, Instant};

#[test]
fn print_all() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../models");
    let only = std::env::var("ONLY").unwrap_or_default();
    let mut files: Vec<PathBuf> = Vec::new();
    for folder in [root.clone(), root.join("broken"), PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/traps")] {
        files.extend(std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).filter(|p| p.extension().is_some_and(|e| e == "lin")));
    }
    files.sort();
    for path in files {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        if !name.contains(&only) { continue; }
        let Some(compiled) = compiled(&std::fs::read_to_string(&path).unwrap(), 2) else { continue };
        let quiet: Vec<usize> = if std::env::var("QUIET").is_ok() { (0..compiled.program.operations.len()).collect() } else { vec![] };
        let start = Instant::now();
        let limits = Limits { deadline: Some(start + Duration::from_secs(20)), ..Limits::default() };
        match alone_claims(&compiled.program, &quiet, &limits) {
            Err(why) => println!("{name}: n/a {why}"),
            Ok(claims) => {
                println!("{name}: {:?}", start.elapsed());
                for claim in claims {
                    let op = &compiled.program.operations[claim.operation].name;
                    match claim.status {
                        AloneStatus::Shown => println!("   {op} {:?} SHOWN", claim.rule),
                        AloneStatus::Open(gap) => println!("   {op} {:?} open line {}: {} ({:?})", claim.rule, gap.line, gap.cause, gap.cause),
                    }
                }
            }
        }
    }
}
