//! What every command writes with `--json` is as the schema in the reference says.

use boon::{Compiler, Schemas};
use serde_json::Value as Json;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Every object that the command writes to standard output.
fn objects(folder: &Path, command: &str) -> Vec<Json> {
    let mut program = Command::new(snapbox::cmd::cargo_bin!("linchpin"));
    program.env("LINCHPIN_CACHE", "");
    let output = program.args(command.split(' ')).arg("--json").current_dir(folder).output();
    let output = output.expect("it runs");
    let text = String::from_utf8(output.stdout).expect("it is text");
    if command.starts_with("reproduce") {
        assert_eq!(output.status.code(), Some(0), "not as expected: {text}");
    }
    let parsed = serde_json::Deserializer::from_str(&text).into_iter();
    let objects: Vec<Json> = parsed.map(|object| object.expect("JSON")).collect();
    assert!(!objects.is_empty(), "{command} writes nothing");
    objects
}

/// The commands, each with the definition that its output must meet.
const COMMANDS: &[(&str, &str)] = &[
    ("verify", "verify models/treiber_stack.lin"),
    ("verify", "verify models/pair_snapshot.lin"),
    ("verify", "verify models/broken/treiber_stack_split_pop_cas.lin --with-run"),
    ("verify", "verify models/treiber_stack_reclaim.lin --memory reuse"),
    ("verify", "verify models/guide/locked_register.lin --with-run"),
    ("verify", "verify models/subop/treiber_stack.subop models/csp/k_register.csp"),
    ("verify", "verify models/treiber_stack.lin --search context-bound=2"),
    ("verify", "verify models/treiber_stack.lin --search random --runs 3"),
    ("mutate", "mutate models/guide/counter.lin"),
    ("verify", "verify models/treiber_stack.lin --progress wait-free --with-run"),
    ("verify", "verify models/csp/broken/treiber_stack_blind_pop.csp --with-run"),
    ("verify", "verify models/ms_queue.lin --time-limit 1ms --safety-only"),
    ("run", "run models/treiber_stack.lin --seed 1"),
    ("run", "run models/broken/treiber_stack_split_pop_cas.lin --tries 5000"),
    ("run", "run models/treiber_stack_reclaim.lin --memory reuse --tries 1000"),
    ("run", "run models/persistent/durable_queue.lin --crashes 2 --seed 7 --trace"),
    (
        "run",
        "run models/persistent/broken/detectable_cas_not_written_down.lin --crashes 1 --schedule pct --seed 1180 --trace",
    ),
    ("check", "check good.jsonl --spec stack --witness witness.json"),
    ("check", "check bad.jsonl --spec stack --core core.json"),
    ("check", "check good.jsonl --spec stack --with-history"),
    ("check", "check bad.jsonl --spec stack --with-history"),
    ("certify", "certify witness.json"),
    ("certify", "certify core.json"),
    ("steps", "steps models/treiber_stack.lin"),
    ("steps", "steps reference.lin"),
    ("subops", "subops models/treiber_stack.lin"),
    ("roadmap", "roadmap models/lazy_set.lin --ops 2"),
    ("roadmap", "roadmap models/guide/lazy_set_as_printed.lin --ops 2"),
    ("roadmap", "roadmap models/broken/lazy_set_no_mark.lin"),
    ("roadmap", "roadmap models/ms_queue.lin --ops 1"),
    ("roadmap", "roadmap models/mailbox.lin"),
    ("reproduce", "reproduce 003 --log-size 1M"),
    ("reproduce", "reproduce 004 --patience 1s"),
    ("specs", "specs"),
    ("fmt", "fmt --check models/treiber_stack.lin"),
    ("new", "new first"),
    ("explain", "explain"),
    ("explain", "explain L001"),
    ("completions", "completions bash"),
    ("man", "man"),
    ("man", "man --dir pages"),
    ("failure", "verify missing.lin"),
    ("failure", "verify mistake.lin"),
    ("failure", "verify --no-such-flag"),
    ("failure", "run models/treiber_stack.lin --threads x"),
];

#[test]
fn outputs_are_as_the_schema_says() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    std::os::unix::fs::symlink(root().join("models"), path.join("models")).expect("a link");
    let event = |process: u8, kind: &str, f: &str, value: &str| {
        format!("{{\"process\":{process},\"type\":\"{kind}\",\"f\":\"{f}\",\"value\":{value}}}\n")
    };
    let history = |popped: &str| {
        event(0, "invoke", "push", "1")
            + &event(0, "ok", "push", "1")
            + &event(1, "invoke", "pop", "null")
            + &event(1, "ok", "pop", popped)
    };
    std::fs::write(path.join("good.jsonl"), history("1")).expect("written");
    std::fs::write(path.join("bad.jsonl"), history("2")).expect("written");
    let reference = "fuzz/corpus/front_end/reference.lin";
    std::fs::copy(root().join(reference), path.join("reference.lin")).expect("copied");
    std::fs::write(path.join("mistake.lin"), "spec stack; shared x: in = 0;").expect("written");
    let schema = root().join("docs/reference/schema.json");
    let text = std::fs::read_to_string(&schema).expect("the schema");
    let location = "schema.json";
    let mut compiler = Compiler::new();
    let parsed = serde_json::from_str(&text).expect("the schema is JSON");
    compiler.add_resource(location, parsed).expect("the schema is one");
    let mut schemas = Schemas::new();
    for (definition, command) in COMMANDS {
        let pointer = format!("{location}#/$defs/{definition}");
        let index = compiler.compile(&pointer, &mut schemas).expect("it compiles");
        for object in objects(path, command) {
            if let Err(error) = schemas.validate(&object, index) {
                panic!("{command}: {error:#}\n{object:#}");
            }
        }
    }
}
