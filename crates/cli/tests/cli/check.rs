//! `linchpin check` and `linchpin certify` as people and scripts meet them.

use snapbox::cmd::Command;
use snapbox::str;
use std::path::{Path, PathBuf};

fn linchpin() -> Command {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    Command::new(snapbox::cmd::cargo_bin!("linchpin")).env("LINCHPIN_CACHE", "").current_dir(root)
}

fn output(args: &[&str]) -> (i32, String, String) {
    let output = linchpin().args(args).output().expect("linchpin runs");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("output is text");
    (output.status.code().expect("it exits"), text(output.stdout), text(output.stderr))
}

/// A folder with a history in it.
struct Recorded {
    folder: tempfile::TempDir,
    file: PathBuf,
}

impl Recorded {
    fn new(text: &str) -> Recorded {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("history");
        std::fs::write(&file, text).expect("written");
        Recorded { folder, file }
    }

    fn path(&self) -> &str {
        self.file.to_str().expect("a path")
    }

    fn beside(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().expect("a path").to_owned()
    }

    fn check(&self, args: &[&str]) -> (i32, String, String) {
        let mut all = vec!["check", self.path()];
        all.extend(args);
        output(&all)
    }
}

const LOST: &str = r#"{"process":0,"type":"invoke","f":"enqueue","value":7}
{"process":0,"type":"ok","f":"enqueue","value":7}
{"process":1,"type":"invoke","f":"dequeue","value":null}
{"process":1,"type":"ok","f":"dequeue","value":null}
"#;

#[test]
fn a_violation_is_explained_drawn_and_certified() {
    let recorded = Recorded::new(LOST);
    let core = recorded.beside("core.json");
    let (code, stdout, stderr) = recorded.check(&["--spec", "queue", "--core", &core]);
    assert_eq!((code, stderr.as_str()), (1, ""));
    assert!(stdout.starts_with("violated: the history is not linearizable\n"), "{stdout}");
    assert!(stdout.contains("enqueue(7)"), "{stdout}");
    assert!(stdout.contains("process 1"), "{stdout}");
    linchpin().args(["certify", &core]).assert().code(0).stdout_eq(str![[r#"
confirmed: no order explains these 2 operations (history [..], sha256 [..]…, specification queue, property linearizable)
not confirmed: that [..] is what the system did, and means what was read

"#]]);
    let text = std::fs::read_to_string(&core).expect("written");
    std::fs::write(&core, text.replace("\"core\":[0,1]", "\"core\":[0]")).expect("written");
    let (code, stdout, _) = output(&["certify", &core]);
    assert_eq!(code, 1, "an enqueue explains itself: {stdout}");
    std::fs::write(&core, text.replace("\"core\":[0,1]", "\"core\":[0,1,1]")).expect("written");
    let (code, stdout, _) = output(&["certify", &core]);
    assert_eq!(code, 1);
    assert!(stdout.contains("the core names operation 1 twice"), "{stdout}");
    std::fs::write(&core, text.replace("\"key\":null", "\"key\":3")).expect("written");
    let (code, stdout, _) = output(&["certify", &core]);
    assert_eq!(code, 1);
    assert!(stdout.contains("operation 0 has another key"), "{stdout}");
}

/// The swap was interrupted, and takes effect while the next operation of its process is in
/// progress: recoverable linearizability allows that, for it comes before that operation takes
/// effect; but not by the time it is called.
const RECOVERED: &str = r#"{"process":0,"type":"invoke","f":"mwcas","value":[[1,0,5]]}
{"type":"crash","process":0}
{"process":0,"type":"invoke","f":"mwread","value":[[1,null]]}
{"process":1,"type":"invoke","f":"mwread","value":[[1,null]]}
{"process":1,"type":"ok","f":"mwread","value":[[1,0]]}
{"process":1,"type":"invoke","f":"mwread","value":[[1,null]]}
{"process":1,"type":"ok","f":"mwread","value":[[1,5]]}
{"process":0,"type":"ok","f":"mwread","value":[[1,5]]}
"#;

#[test]
fn a_core_is_not_confirmed_by_deadlines_that_are_stricter_than_the_property() {
    let recorded = Recorded::new(RECOVERED);
    let (witness, core) = (recorded.beside("witness.json"), recorded.beside("core.json"));
    let recoverable = ["--spec", "mwcas", "--init", "0", "--property", "recoverable"];
    let mut arguments = recoverable.to_vec();
    arguments.extend(["--witness", &witness]);
    let (code, stdout, _) = recorded.check(&arguments);
    assert_eq!(code, 0, "{stdout}");
    // The certificate claims that nothing explains it.
    let text = std::fs::read_to_string(&witness).expect("written");
    let mut claim: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let object = claim.as_object_mut().expect("an object");
    object.remove("witness");
    object.insert("claim".to_owned(), serde_json::json!("core"));
    let words = "no order explains these operations of the history";
    object.insert("claim_in_words".to_owned(), serde_json::json!(words));
    object.insert("core".to_owned(), serde_json::json!([0, 1, 2, 3]));
    std::fs::write(&core, claim.to_string()).expect("written");
    let (code, stdout, _) = output(&["certify", &core]);
    // An order that has what was interrupted before what its process did next refutes that.
    assert_eq!(code, 1, "{stdout}");
    assert!(!stdout.starts_with("confirmed"), "{stdout}");
    // Before the crash or never, there is indeed nothing that explains it.
    claim_under("strict", &core);
    let (code, stdout, _) = output(&["certify", &core]);
    assert_eq!(code, 0, "{stdout}");
}

/// Makes a certificate one of another property.
fn claim_under(property: &str, certificate: &str) {
    let text = std::fs::read_to_string(certificate).expect("written");
    std::fs::write(certificate, text.replace("recoverable", property)).expect("written");
}

#[test]
fn a_history_that_holds_has_a_witness_that_certifies() {
    let (_, history, _) =
        output(&["run", "models/ms_queue.lin", "--ops", "40", "--values", "1000000", "-q"]);
    let recorded = Recorded::new(&history);
    let witness = recorded.beside("witness.json");
    let (code, stdout, _) =
        recorded.check(&["--spec", "queue", "--witness", &witness, "--verbose"]);
    assert_eq!(code, 0, "{stdout}");
    assert!(stdout.contains("method: queue monitor"), "{stdout}");
    assert_eq!(output(&["certify", &witness]).0, 0);
    // Two operations exchanged are no witness any more, unless they overlap.
    let text = std::fs::read_to_string(&witness).expect("written");
    let json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let mut changed = json.clone();
    let order = changed["witness"].as_array_mut().expect("an order");
    let last = order.len() - 1;
    order.swap(0, last);
    std::fs::write(&witness, changed.to_string()).expect("written");
    let (code, stdout, _) = output(&["certify", &witness]);
    assert_eq!(code, 1, "{stdout}");
    assert!(stdout.starts_with("not confirmed"), "{stdout}");
}

/// A certificate is about one history, one specification and one claim.
#[test]
fn a_certificate_is_tied_to_its_history_and_claim() {
    let recorded = Recorded::new(LOST);
    let core = recorded.beside("core.json");
    assert_eq!(recorded.check(&["--spec", "queue", "--core", &core]).0, 1);
    let good = std::fs::read_to_string(&core).expect("written");
    let certify = |text: String| {
        std::fs::write(&core, text).expect("written");
        output(&["certify", &core])
    };
    // Another claim: the evidence is of another kind, and the words are others.
    let (code, _, stderr) = certify(good.replace("\"claim\":\"core\"", "\"claim\":\"witness\""));
    assert_eq!(code, 2);
    assert!(stderr.contains("other words"), "{stderr}");
    let words = "these operations, in this order, explain the history";
    let forged = good.replace("\"claim\":\"core\"", "\"claim\":\"witness\"");
    let forged = forged.replace("no order explains these operations of the history", words);
    let (code, _, stderr) = certify(forged);
    assert_eq!(code, 2);
    assert!(stderr.contains("`witness` is missing"), "{stderr}");
    // Another specification under which it holds, another number of operations.
    assert_eq!(certify(good.replace("\"name\":\"queue\"", "\"name\":\"sack\"")).0, 2);
    let (code, stdout, _) = certify(good.replace("\"operations\":2", "\"operations\":3"));
    assert_eq!(code, 1);
    assert!(stdout.contains("3 operations, but"), "{stdout}");
    // A history that means the same, in other bytes.
    assert_eq!(certify(good.clone()).0, 0);
    std::fs::write(recorded.path(), format!("{LOST}\n")).expect("written");
    let (code, stdout, _) = certify(good.clone());
    assert_eq!(code, 1);
    assert!(stdout.contains("is not the file that the certificate is about"), "{stdout}");
    let elsewhere = recorded.beside("elsewhere.jsonl");
    std::fs::write(&elsewhere, LOST).expect("written");
    assert_eq!(output(&["certify", &core, "--history", &elsewhere]).0, 0);
    // What an earlier version wrote.
    let old = "{\"schema\":\"linchpin/1\",\"command\":\"certificate\",\"core\":[0,1]}";
    let (code, _, stderr) = certify(old.to_owned());
    assert_eq!(code, 2);
    assert!(stderr.contains("make a new one with `linchpin check"), "{stderr}");
}

/// A specification that is a file must be the same file.
#[test]
fn a_certificate_is_tied_to_its_specification() {
    let recorded = Recorded::new(LOST);
    let (core, spec) = (recorded.beside("core.json"), recorded.beside("queue.lin"));
    std::fs::write(&spec, "spec queue;\n").expect("written");
    assert_eq!(recorded.check(&["--spec", &spec, "--core", &core]).0, 1);
    let (code, stdout, _) = output(&["certify", &core]);
    assert_eq!(code, 0, "{stdout}");
    std::fs::write(&spec, "spec stack;\n").expect("written");
    let (code, stdout, _) = output(&["certify", &core]);
    assert_eq!(code, 1);
    assert!(stdout.contains("queue.lin` is not the file"), "{stdout}");
}

#[test]
fn every_broken_model_is_caught_by_its_recorded_run() {
    for (model, arguments) in [
        ("treiber_stack_split_push_cas", "--seed 12"),
        ("shann_huang_chen_queue", "--seed 4"),
        ("lazy_set_no_mark", "--seed 5229"),
        ("rdcss_blind_write", "--seed 1700"),
    ] {
        let path = format!("models/broken/{model}.lin");
        let mut run = vec!["run", &path, "-q"];
        run.extend(arguments.split(' '));
        let recorded = Recorded::new(&output(&run).1);
        let (code, stdout, stderr) = recorded.check(&["--spec", &path]);
        assert_eq!(code, 1, "{model}: {stdout}{stderr}");
    }
}

#[test]
fn a_specification_may_be_a_file_of_its_own() {
    let recorded = Recorded::new(LOST);
    let spec = recorded.beside("bag.lin");
    let source = "spec {
        state items: seq<int>;
        op enqueue(v: int) { items.push_back(v); }
        op dequeue() -> int? {
            if items.len() == 0 || choose(0..2) == 0 { return none; }
            return items.remove_at(choose(0..items.len()));
        }
    }";
    std::fs::write(&spec, source).expect("written");
    let (code, stdout, stderr) = recorded.check(&["--spec", &spec]);
    assert_eq!(code, 0, "a bag that may say it is empty: {stdout}{stderr}");
    std::fs::write(&spec, "spec { op enqueue(v: int) { items.push_back(v); } }").expect("written");
    let (code, _, stderr) = recorded.check(&["--spec", &spec]);
    assert_eq!(code, 2);
    assert!(stderr.contains("unknown variable `items`"), "{stderr}");
}

#[test]
fn crash_models_differ() {
    let recorded = Recorded::new(
        r#"{"process":0,"type":"invoke","f":"write","value":1}
{"type":"crash"}
{"process":1,"type":"invoke","f":"read","value":null}
{"process":1,"type":"ok","f":"read","value":null}
{"process":1,"type":"invoke","f":"read","value":null}
{"process":1,"type":"ok","f":"read","value":1}
"#,
    );
    for (property, wanted) in [("linearizable", 0), ("durable", 0), ("strict", 1)] {
        let (code, stdout, stderr) =
            recorded.check(&["--spec", "register", "--property", property]);
        assert_eq!(code, wanted, "{property}: {stdout}{stderr}");
    }
}

#[test]
fn bad_input_is_located() {
    for (text, message) in [
        ("{\"process\":0,\"type\":\"invoke\",\"f\":\"dequeue\"\n", "expected JSON"),
        ("{\"process\":0,\"type\":\"invoke\",\"f\":\"deque\"}\n", "deque"),
        ("{\"process\":0,\"type\":\"ok\",\"f\":\"dequeue\",\"value\":1}\n", "process 0"),
        (
            "{\"process\":0,\"type\":\"invoke\",\"f\":\"dequeue\"}\n{\"process\":0,\"type\":\"invoke\",\"f\":\"dequeue\"}\n",
            "process 0",
        ),
        ("Dear diary\n", "format"),
    ] {
        let (code, stdout, stderr) = Recorded::new(text).check(&["--spec", "queue"]);
        assert_eq!((code, stdout.as_str()), (2, ""), "{text}: {stderr}");
        assert!(stderr.contains(message), "{text}: {stderr}");
    }
    let recorded = Recorded::new(LOST);
    let (code, _, stderr) = recorded.check(&["--spec", "quue"]);
    assert_eq!(code, 2);
    assert!(stderr.contains("`queue`"), "{stderr}");
    let (code, _, stderr) = recorded.check(&["--spec", "queue", "--format", "csv"]);
    assert_eq!(code, 2);
    assert!(stderr.contains("json-lines"), "{stderr}");
    assert_eq!(output(&["check", "nothing.jsonl", "--spec", "queue"]).0, 2);
    assert_eq!(output(&["certify", "README.md"]).0, 2);
}

#[test]
fn a_vacuous_history_says_so() {
    let (code, stdout, _) =
        Recorded::new("{\"process\":0,\"type\":\"invoke\",\"f\":\"dequeue\"}\n")
            .check(&["--spec", "queue"]);
    assert_eq!(code, 0);
    assert!(stdout.contains("This says little"), "{stdout}");
}

#[test]
fn standard_input_is_judged_as_it_arrives() {
    linchpin().args(["check", "-", "--spec", "queue"]).stdin(LOST).assert().code(1).stdout_eq(
        str![[r#"
violated: line 4: [..]
  4 events, 2 operations returned

"#]],
    );
    let (good, _) = LOST.split_at(LOST.find("{\"process\":1").expect("the dequeue"));
    linchpin().args(["check", "-", "--spec", "queue"]).stdin(good).assert().code(0);
}

#[test]
fn scripts_get_one_object() {
    let (code, stdout, _) = Recorded::new(LOST).check(&["--spec", "queue", "--json"]);
    assert_eq!(code, 1);
    let json: serde_json::Value = serde_json::from_str(&stdout).expect("one object");
    assert_eq!(json["schema"], "linchpin/1");
    assert_eq!(json["verdict"], "violated");
    assert_eq!(json["engines"][0]["engine"], "history");
    assert_eq!(json["counterexample"]["core"], serde_json::json!([0, 1]));
    assert!(json["counterexample"]["explanation"].is_string());
}
