//! The shape engine as people and scripts meet it: threads, clients, references, refusals.

use serde_json::Value as Json;
use snapbox::cmd::Command;
use std::path::Path;

fn output(args: &[&str]) -> (i32, String, String) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let output = Command::new(snapbox::cmd::cargo_bin!("linchpin"))
        .env("LINCHPIN_CACHE", "")
        .current_dir(root)
        .args(args)
        .output()
        .expect("linchpin runs");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("output is text");
    (output.status.code().expect("it exits"), text(output.stdout), text(output.stderr))
}

/// What the shape engine says of a model.
fn shape(args: &[&str]) -> (i32, Json) {
    let mut all = vec!["verify", "--json", "--engine", "shape"];
    all.extend(args);
    let (code, stdout, _) = output(&all);
    let object: Json =
        serde_json::from_str(&stdout).unwrap_or_else(|error| panic!("{error}: {stdout}"));
    assert_eq!(object["engines"][0]["engine"], "shape", "{object}");
    (code, object)
}

const STACK: &str = "models/treiber_stack.lin";

#[test]
fn any_number_of_threads_unless_a_number_is_given() {
    for args in [&[STACK][..], &[STACK, "--threads", "any"]] {
        let (code, object) = shape(args);
        assert_eq!((code, &object["verdict"]), (0, &Json::from("proved")), "{object}");
        assert_eq!(object["engines"][0]["bounds"], Json::Object(Default::default()));
        assert!(object["engines"][0]["stats"]["views"].as_u64().unwrap() > 1, "{object}");
    }
    let (code, object) = shape(&[STACK, "--threads", "3"]);
    assert_eq!((code, &object["verdict"]), (0, &Json::from("holds-within-bounds")), "{object}");
    let bounds = &object["engines"][0]["bounds"];
    assert_eq!(bounds["threads"], 3);
    assert_eq!((&bounds["ops"], &bounds["values"]), (&Json::Null, &Json::Null), "{bounds}");
    let reason = object["reason"].as_str().unwrap();
    assert!(reason.contains("any number of operations, values and heap objects"), "{reason}");
    assert!(object["engines"][0]["stats"]["structures"].as_u64().unwrap() > 100, "{object}");
    // With `any`, engines that need a number take the model's own.
    let (_, stdout, _) = output(&["verify", STACK, "--threads", "any", "--ops", "1"]);
    assert!(stdout.contains("with 2 threads, 1 operation each"), "{stdout}");
}

#[test]
fn producers_and_consumers() {
    let (code, object) = shape(&[STACK, "--client", "push=2,pop=1"]);
    assert_eq!((code, &object["engines"][0]["bounds"]["threads"]), (0, &Json::from(3)));
    let (code, object) = shape(&[STACK, "--client", "push=1,pop=1", "--threads", "any"]);
    assert_eq!((code, &object["verdict"]), (0, &Json::from("proved")), "{object}");
    // It is about every engine: two producers alone never get in each other's way.
    let broken = "models/broken/treiber_stack_split_pop_cas.lin";
    let only = |client| output(&["verify", broken, "--engine", "refine", "--client", client]).0;
    assert_eq!(only("push=2"), 0);
    assert_eq!(only("push=1,pop=2"), 1);
    assert_eq!(only("push,pop=2"), 1);
}

#[test]
fn mistakes_in_clients_and_threads() {
    let error = |args: &[&str]| {
        let mut all = vec!["verify", "--engine", "shape"];
        all.extend(args);
        let (code, stdout, stderr) = output(&all);
        assert_eq!((code, stdout.as_str()), (2, ""), "{stderr}");
        stderr
    };
    let said = [
        (&[STACK, "--client", "pusch=2"][..], "no operation `pusch`; it has `push`, `pop`"),
        (&[STACK, "--client", "push=2,pop"], "how many threads call `pop`?"),
        (&[STACK, "--client", "push=0"], "at least one thread"),
        (&[STACK, "--client", "push=many"], "`many` is not a number of threads"),
        (&[STACK, "--client", "push=2", "--threads", "2"], "leave out --threads, or say `any`"),
        (&["models/k_register.lin", "--client", "read=1"], "this model has roles"),
        (&[STACK, "--threads", "some"], "`some` is not a number of threads"),
        (&[STACK, "--domain", "other"], "possible values: targets, kleene"),
    ];
    for (args, part) in said {
        let stderr = error(args);
        assert!(stderr.contains(part), "{args:?}: {part}: {stderr}");
    }
}

#[test]
fn a_refusal_names_the_place_the_cause_and_what_to_do() {
    let (code, object) = shape(&["models/broken/treiber_stack_split_push_cas.lin"]);
    assert_eq!((code, &object["verdict"]), (3, &Json::from("inconclusive")));
    let reason = object["reason"].as_str().unwrap();
    assert!(reason.starts_with("not proved: `pop`, line 32: the answer differs"), "{reason}");
    assert!(reason.contains("`--engine refine` looks for a run"), "{reason}");
    let notes = object["engines"][0]["notes"].to_string();
    assert!(notes.contains("the abstract trace: thread 0 calls; thread 0 in `push`"), "{notes}");
    // A point that is missing is asked for.
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("stack.lin");
    let source = std::fs::read_to_string(
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/treiber_stack.lin"),
    )
    .unwrap();
    std::fs::write(&file, source.replace("#[lin] if cas(top, t, x)", "if cas(top, t, x)")).unwrap();
    let (_, object) = shape(&[file.to_str().unwrap()]);
    let reason = object["reason"].as_str().unwrap();
    assert!(reason.contains("it claims no linearization point: put `#[lin]`"), "{reason}");
}

#[test]
fn what_it_does_not_apply_to_is_refused_at_once() {
    for (model, why) in [
        ("models/treiber_stack_reclaim.lin", "does not apply: it frees memory"),
        ("models/herlihy_wing_queue.lin", "is an array or collection"),
        ("models/rdcss.lin", "there is no reference for this specification"),
        ("models/mailbox.lin", "threads keep variables between operations"),
    ] {
        let (code, object) = shape(&[model]);
        assert_eq!(code, 3);
        assert!(object["reason"].as_str().unwrap().contains(why), "{object}");
    }
}

/// A comparison with the model's own code shows nothing unless that code, run alone, is right.
#[test]
fn own_code_as_the_reference() {
    let (code, object) = shape(&[STACK, "--reference", "own"]);
    assert_eq!((code, &object["verdict"]), (0, &Json::from("proved")), "{object}");
    let notes = object["engines"][0]["notes"].to_string();
    assert!(notes.contains("compared with its own code, run alone, which does what"), "{notes}");
    // Every answer of this "stack" is that of its own code, and wrong.
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("wrong.lin");
    let source = "spec stack; struct Node { val: int, next: Node } shared top: Node;
        op push(v: int) { let n = new Node { val: v }; #[lin] top = n; }
        op pop() -> int? { #[lin] let t = swap(top, null); if t == null { return none; } return t.val; }
        bounds { threads: 2, ops: 2, values: 2 }";
    std::fs::write(&file, source).unwrap();
    let file = file.to_str().unwrap();
    for more in [&[][..], &["--threads", "2"]] {
        let (_, object) = shape(&[&[file, "--reference", "own"], more].concat());
        assert_ne!(object["verdict"], "proved", "{object}");
        assert_ne!(object["verdict"], "holds-within-bounds", "{object}");
    }
    assert_eq!(output(&["verify", file, "--reference", "own"]).0, 1);
}
