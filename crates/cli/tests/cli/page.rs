//! `linchpin check --report`: what the page is told. How it looks is tested with the viewer.

use serde_json::{Value as Json, json};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// A queue that loses 7: the third operation finds it empty.
const LOST: &str = r#"{"process":"a","type":"invoke","f":"enqueue","value":6}
{"process":"a","type":"ok","f":"enqueue","value":6}
{"process":"b","type":"invoke","f":"dequeue","value":null}
{"process":"b","type":"ok","f":"dequeue","value":6}
{"process":"a","type":"invoke","f":"enqueue","value":7}
{"process":"a","type":"ok","f":"enqueue","value":7}
{"process":"b","type":"invoke","f":"dequeue","value":null}
{"process":"b","type":"ok","f":"dequeue","value":null}
{"process":"a","type":"invoke","f":"dequeue","value":null}
{"process":"a","type":"ok","f":"dequeue","value":7}
"#;

/// Runs `linchpin check` in a folder with this text on standard input.
fn check(folder: &Path, args: &[&str], input: &str) -> (Option<i32>, String, String) {
    let mut child = Command::new(snapbox::cmd::cargo_bin!("linchpin"))
        .env("LINCHPIN_CACHE", "")
        .arg("check")
        .args(args)
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("linchpin runs");
    let mut stdin = child.stdin.take().expect("it listens");
    // It may say no before it reads.
    let _ = stdin.write_all(input.as_bytes());
    drop(stdin);
    let output = child.wait_with_output().expect("it ends");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

/// The data in a page.
fn data(page: &Path) -> Json {
    let page = std::fs::read_to_string(page).expect("the page");
    let (_, after) =
        page.split_once(r#"<script id="data" type="application/json">"#).expect("data");
    let (data, _) = after.split_once("</script>").expect("its end");
    serde_json::from_str(data).expect("it is JSON")
}

/// What the page of a history is told.
fn told(text: &str, args: &[&str]) -> Json {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("history"), text).expect("written");
    let all = [&["history", "--report", "page.html"], args].concat();
    let (_, stdout, stderr) = check(folder.path(), &all, "");
    assert!(!stdout.is_empty(), "{stderr}");
    data(&folder.path().join("page.html"))
}

#[test]
fn a_violated_history_is_told_as_far_as_there_is_an_order() {
    let view = told(LOST, &["--spec", "queue"]);
    assert_eq!(view["verdict"], "violated");
    assert_eq!(view["operations"]["id"], json!([0, 1, 2, 3, 4]));
    assert_eq!(view["violations"][0]["core"], json!([2, 3, 4]));
    assert_eq!(view["violations"][0]["event"]["rank"], 7);
    assert_eq!(view["violations"][0]["event"]["operation"], 3);
    let order = &view["orders"][0];
    assert_eq!((&order["complete"], &order["operations"]), (&json!(false), &json!([0, 1, 2])));
    let states: Vec<&Json> =
        order["states"].as_array().into_iter().flatten().map(|at| text(&view, at)).collect();
    assert_eq!(states, ["[6]", "[]", "[7]"]);
}

#[test]
fn orders_that_end_in_other_states_are_told_too() {
    let event = |process: u8, kind: &str, f: &str, value: &str| {
        format!("{{\"process\":{process},\"type\":\"{kind}\",\"f\":\"{f}\",\"value\":{value}}}\n")
    };
    // Two writes overlap each other, and a third, which never returns, all that comes later.
    let text = [
        event(0, "invoke", "write", "1"),
        event(1, "invoke", "write", "2"),
        event(0, "ok", "write", "1"),
        event(1, "ok", "write", "2"),
        event(2, "invoke", "write", "4"),
        event(3, "invoke", "read", "null"),
        event(3, "ok", "read", "3"),
    ];
    let view = told(&text.concat(), &["--spec", "register"]);
    let orders: Vec<&Json> = view["orders"].as_array().into_iter().flatten().collect();
    assert!(orders.iter().all(|order| order["complete"] == json!(false)), "{orders:?}");
    let ends = orders.iter().map(|order| {
        let states = order["states"].as_array().expect("states");
        self::text(&view, states.last().expect("a state")).to_string()
    });
    let mut ends: Vec<String> = ends.collect();
    ends.sort_unstable();
    assert_eq!(ends, ["\"1\"", "\"2\"", "\"4\""]);
}

/// The text with this number.
fn text<'a>(view: &'a Json, number: &Json) -> &'a Json {
    let at = number.as_u64().and_then(|at| usize::try_from(at).ok()).expect("a number");
    &view["texts"][at]
}

#[test]
fn a_holding_history_has_an_order_a_key() {
    let pair = |process: u8, key: u8, value: u8| {
        let event = |kind: &str| {
            format!(
                "{{\"process\":{process},\"type\":\"{kind}\",\"f\":\"write\",\"key\":{key},\
                 \"value\":{value}}}\n"
            )
        };
        event("invoke") + &event("ok")
    };
    let text = pair(0, 1, 5) + &pair(1, 2, 6) + &pair(0, 1, 7);
    let view = told(&text, &["--spec", "register"]);
    assert_eq!(view["verdict"], "holds", "{view}");
    let orders: Vec<&Json> =
        view["orders"].as_array().into_iter().flatten().map(|o| &o["operations"]).collect();
    assert_eq!(orders, [&json!([0, 2]), &json!([1])]);
    assert_eq!(view["operations"]["key"], json!([0, 1, 0]));
    assert_eq!(view["keys"][1]["operations"], 1);
}

#[test]
fn crashes_and_operations_without_a_return_are_told() {
    let text = r#"{"process":0,"type":"invoke","f":"write","value":1}
{"type":"crash"}
{"process":1,"type":"invoke","f":"read","value":null}
{"process":1,"type":"ok","f":"read","value":1}
"#;
    let view = told(text, &["--spec", "register", "--property", "durable"]);
    assert_eq!(view["verdict"], "holds", "{view}");
    assert_eq!(view["operations"]["to"], json!([null, 3]));
    assert_eq!(view["operations"]["answer"][0], Json::Null);
    assert_eq!(view["crashes"][0]["at"]["rank"], 1);
    assert_eq!(view["crashes"][0]["process"], Json::Null);
}

#[test]
fn standard_input_has_a_page_too() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    std::fs::write(path.join("history"), LOST).expect("written");
    check(path, &["history", "--spec", "queue", "--report", "file.html"], "");
    let stream = ["-", "--spec", "queue", "--report", "stream.html"];
    let (code, stdout, stderr) = check(path, &stream, LOST);
    assert_eq!((code, stderr.as_str()), (Some(1), ""), "{stdout}");
    let (file, stream) = (data(&path.join("file.html")), data(&path.join("stream.html")));
    for same in ["operations", "orders", "violations", "texts"] {
        assert_eq!(file[same], stream[same], "{same}");
    }
    let follow = ["history", "--spec", "queue", "--follow", "--report", "page.html"];
    let (code, _, stderr) = check(path, &follow, "");
    assert_eq!(code, Some(2), "{stderr}");
    assert!(stderr.contains("--follow"), "{stderr}");
}

#[test]
fn the_data_is_there_for_other_viewers() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    std::fs::write(path.join("history"), LOST).expect("written");
    let args = ["history", "--spec", "queue", "--json", "--with-history", "--report", "page.html"];
    let (_, stdout, stderr) = check(path, &args, "");
    let json: Json = serde_json::from_str(&stdout).unwrap_or_else(|_| panic!("{stdout}{stderr}"));
    assert_eq!(json["view"], data(&path.join("page.html")));
    let (code, _, stderr) = check(path, &["history", "--spec", "queue", "--with-history"], "");
    assert_eq!(code, Some(2), "{stderr}");
    assert!(stderr.contains("--json"), "{stderr}");
}

/// A hundred thousand operations make a page that can be opened.
#[test]
fn a_long_history_is_not_too_large() {
    let mut text = String::new();
    for value in 0..50_000 {
        let process = value % 7;
        for f in ["enqueue", "dequeue"] {
            for kind in ["invoke", "ok"] {
                let event = json!({ "process": process, "type": kind, "f": f, "value": value });
                text += &format!("{event}\n");
            }
        }
    }
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("history"), text).expect("written");
    let args = ["history", "--spec", "queue", "--report", "page.html"];
    let (code, stdout, stderr) = check(folder.path(), &args, "");
    assert_eq!(code, Some(0), "{stdout}{stderr}");
    let bytes = std::fs::metadata(folder.path().join("page.html")).expect("the page").len();
    assert!(bytes < 12_000_000, "{bytes} bytes");
}

/// What the page of a model is told, and what is said with `--json --with-run`.
fn model_told(args: &[&str]) -> (Json, Json) {
    let folder = tempfile::tempdir().expect("a folder");
    let page = folder.path().join("page.html");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let output = Command::new(snapbox::cmd::cargo_bin!("linchpin"))
        .arg("verify")
        .args(args)
        .args(["--json", "--with-run", "--report"])
        .arg(&page)
        .current_dir(root)
        .output()
        .expect("linchpin runs");
    assert_eq!(output.status.code(), Some(1), "{args:?}");
    (data(&page), serde_json::from_slice(&output.stdout).expect("one object"))
}

#[test]
fn a_counterexample_is_told_step_by_step() {
    let (page, said) = model_told(&["models/broken/treiber_stack_split_pop_cas.lin"]);
    let run = &page["run"];
    assert_eq!(run, &said["counterexample"]["run"]);
    let count = |name: &str| run[name].as_array().map_or(0, Vec::len);
    assert_eq!((count("steps"), count("states"), count("calls")), (19, 20, 3));
    assert_eq!(run["calls"][2]["core"], true);
    // Thread 1 stores null, thread 0 stores it again; both have read the node.
    let stores: Vec<&Json> = run["steps"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(|step| step["text"] == "top := null")
        .map(|step| &step["thread"])
        .collect();
    assert_eq!(stores, [1, 0]);
    assert_eq!(run["steps"][13]["lines"], json!([32]));
    assert_eq!(run["states"][13]["shared"][0][1]["to"], json!([0]));
    assert_eq!(run["states"][14]["shared"][0][1]["to"], json!([]));
    assert_eq!(
        page["source"][31],
        "            #[lin] top = s;                                 // [36b] @3"
    );
}

#[test]
fn what_repeats_is_told() {
    let (page, _) = model_told(&["models/guide/locked_register.lin"]);
    let steps = page["run"]["steps"].as_array().map_or(0, Vec::len);
    assert_eq!(page["run"]["steps"][steps - 1]["kind"], "wait");
    assert_eq!(page["run"]["cycle"]["from"], steps - 1);
    let wait_free =
        ["models/treiber_stack.lin", "--progress", "wait-free", "--size", "3", "--values", "1"];
    let (page, said) = model_told(&wait_free);
    let before = said["counterexample"]["schedule"].as_array().map_or(0, Vec::len);
    assert_eq!(page["run"]["cycle"]["from"], before);
}

#[test]
fn processes_are_told_by_their_steps() {
    let (page, said) = model_told(&["models/csp/broken/treiber_stack_blind_pop.csp"]);
    let steps = page["run"]["steps"].as_array().cloned().unwrap_or_default();
    let last = steps.last().expect("steps");
    assert_eq!((&last["wrong"], &last["lines"]), (&json!(true), &json!([42])));
    let trace = said["counterexample"]["trace"].as_array().map_or(0, Vec::len);
    let hidden =
        steps.iter().filter(|step| step["text"].as_str().is_some_and(|text| text.starts_with('τ')));
    assert_eq!(steps.len() - hidden.count(), trace);
    assert_eq!(page["run"]["states"], json!([]));
}
