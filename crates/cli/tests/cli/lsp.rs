//! `linchpin lsp`, asked by a real client: another process, JSON-RPC over pipes.

use serde_json::{Value as Json, json};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// A model with a name that is two bytes a letter, and a comment with a letter of two code units.
const STACK: &str = "\
spec stack;
struct Node { val: int, next: Node }
/* 𝄞 */ shared größe: Node;
op push(v: int) {
    let x = new Node { val: v };
    loop {
        let t = größe;
        x.next = t;
        if cas(größe, t, x) { return; }
    }
}
op pop() -> int? {
    loop {
        let t = größe;
        if t == null { return none; }
        if cas(größe, t, t.next) { return t.val; }
    }
}
";

const URI: &str = "file:///tmp/gr%C3%B6%C3%9Fe/stack.lin";

struct Client {
    child: Child,
    input: Option<ChildStdin>,
    messages: Receiver<Json>,
    next: i64,
    /// What came while something else was waited for.
    aside: Vec<Json>,
}

impl Client {
    fn start(arguments: &[&str]) -> Client {
        let mut child = Command::new(snapbox::cmd::cargo_bin!("linchpin"))
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the server starts");
        let input = child.stdin.take();
        let mut output = BufReader::new(child.stdout.take().expect("its output"));
        let (found, messages) = channel();
        std::thread::spawn(move || {
            while let Some(message) = read(&mut output) {
                if found.send(message).is_err() {
                    return;
                }
            }
        });
        Client { child, input, messages, next: 0, aside: Vec::new() }
    }

    /// A client that has introduced itself and opened the model.
    fn with_model() -> Client {
        let mut client = Client::start(&["lsp", "--stdio", "--time-limit", "60s"]);
        let capabilities = json!({ "workspace": { "codeLens": { "refreshSupport": true } } });
        let told =
            client.ask("initialize", json!({ "processId": null, "capabilities": capabilities }));
        assert_eq!(told["result"]["capabilities"]["definitionProvider"], true, "{told}");
        client.tell("initialized", json!({}));
        client.tell(
            "textDocument/didOpen",
            json!({ "textDocument": { "uri": URI, "languageId": "lin", "version": 1, "text": STACK } }),
        );
        client
    }

    fn send(&mut self, mut message: Json) {
        message["jsonrpc"] = json!("2.0");
        let text = message.to_string();
        let input = self.input.as_mut().expect("not ended");
        write!(input, "Content-Length: {}\r\n\r\n{text}", text.len()).expect("it listens");
        input.flush().expect("it listens");
    }

    fn tell(&mut self, method: &str, params: Json) {
        self.send(json!({ "method": method, "params": params }));
    }

    /// Sends a request; answers its number.
    fn begin(&mut self, method: &str, params: Json) -> i64 {
        self.next += 1;
        self.send(json!({ "id": self.next, "method": method, "params": params }));
        self.next
    }

    fn ask(&mut self, method: &str, params: Json) -> Json {
        let id = self.begin(method, params);
        self.wait(|message| message["id"] == id && message.get("method").is_none())
    }

    /// The first message that is wanted; others are kept.
    fn wait(&mut self, is_wanted: impl Fn(&Json) -> bool) -> Json {
        if let Some(at) = self.aside.iter().position(&is_wanted) {
            return self.aside.remove(at);
        }
        loop {
            let message = self.messages.recv_timeout(Duration::from_secs(120)).expect("an answer");
            if is_wanted(&message) {
                return message;
            }
            self.aside.push(message);
        }
    }

    fn diagnostics(&mut self, version: i64) -> Json {
        let found = self.wait(|message| {
            message["method"] == "textDocument/publishDiagnostics"
                && message["params"]["version"] == version
        });
        assert_eq!(found["params"]["uri"], URI);
        found["params"]["diagnostics"].clone()
    }

    /// What a request about the first place where `text` stands answers; its caret is at `|`.
    fn at(&mut self, method: &str, text: &str, more: Json) -> Json {
        let (before, after) = text.split_once('|').expect("a caret");
        let start = STACK.find(&format!("{before}{after}")).expect("it is in the model");
        let position = position(start + before.len());
        let mut params = json!({ "textDocument": { "uri": URI }, "position": position });
        for (name, value) in more.as_object().into_iter().flatten() {
            params[name] = value.clone();
        }
        self.ask(method, params)
    }

    fn lens(&mut self) -> (String, String) {
        let answer = self.ask("textDocument/codeLens", json!({ "textDocument": { "uri": URI } }));
        let command = &answer["result"][0]["command"];
        let text = |field: &str| command[field].as_str().expect("text").to_owned();
        (text("title"), text("command"))
    }

    fn end(mut self) {
        assert!(self.ask("shutdown", Json::Null).get("error").is_none());
        self.tell("exit", Json::Null);
        drop(self.input.take());
        assert!(self.child.wait().expect("it ends").success());
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn read(output: &mut impl BufRead) -> Option<Json> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if output.read_line(&mut line).ok()? == 0 {
            return None;
        }
        match line.trim().split_once(": ") {
            Some(("Content-Length", number)) => length = number.parse().ok()?,
            Some(_) => {}
            None => break,
        }
    }
    let mut bytes = vec![0; length];
    output.read_exact(&mut bytes).ok()?;
    serde_json::from_slice(&bytes).ok()
}

/// The position of a byte of the model, counted the slow way.
fn position(offset: usize) -> Json {
    let before = &STACK[..offset];
    let column = before.rsplit('\n').next().unwrap_or_default().encode_utf16().count();
    json!({ "line": before.matches('\n').count(), "character": column })
}

fn range(offset: usize, text: &str) -> Json {
    json!({ "start": position(offset), "end": position(offset + text.len()) })
}

#[test]
fn mistakes_come_as_one_types() {
    let mut client = Client::with_model();
    assert_eq!(client.diagnostics(1), json!([]));
    // `größe` in `shared größe` becomes `größer`, so that its uses mean nothing any more.
    let behind = STACK.find("größe:").expect("it is there") + "größe".len();
    let change =
        json!({ "range": { "start": position(behind), "end": position(behind) }, "text": "r" });
    let document = json!({ "uri": URI, "version": 2 });
    client.tell(
        "textDocument/didChange",
        json!({ "textDocument": document, "contentChanges": [change] }),
    );
    let found = client.diagnostics(2);
    assert_eq!(found[0]["code"], "L010", "{found}");
    assert_eq!(found[0]["range"], range(STACK.find("größe;").expect("a use"), "größe"));
    assert!(
        found[0]["message"].as_str().expect("text").contains("did you mean `größer`?"),
        "{found}"
    );
    let document = json!({ "uri": URI, "version": 3 });
    client.tell(
        "textDocument/didChange",
        json!({ "textDocument": document, "contentChanges": [{ "text": STACK }] }),
    );
    assert_eq!(client.diagnostics(3), json!([]));
    client.tell("textDocument/didClose", json!({ "textDocument": { "uri": URI } }));
    client.end();
}

#[test]
fn names_are_shown_found_and_renamed() {
    let mut client = Client::with_model();
    let hover = client.at("textDocument/hover", "cas(grö|ße, t, x)", json!({}));
    let shown = hover["result"]["contents"]["value"].as_str().expect("text");
    assert!(shown.contains("shared größe: Node"), "{shown}");
    assert!(shown.contains("`push` step 3: `"), "{shown}");
    assert!(shown.contains("cas(größe, t, x)"), "{shown}");
    let declared = STACK.find("größe:").expect("it is there");
    let found = client.at("textDocument/definition", "cas(grö|ße, t, x)", json!({}));
    assert_eq!(found["result"]["range"], range(declared, "größe"));
    let context = json!({ "context": { "includeDeclaration": true } });
    let uses = client.at("textDocument/references", "|größe: Node", context);
    assert_eq!(uses["result"].as_array().expect("uses").len(), STACK.matches("größe").count());
    let renamed = client.at("textDocument/rename", "|größe: Node", json!({ "newName": "top" }));
    let mut edits = renamed["result"]["changes"][URI].as_array().expect("edits").clone();
    let mut places: Vec<usize> = STACK.match_indices("größe").map(|(at, _)| at).collect();
    while let (Some(edit), Some(place)) = (edits.pop(), places.pop()) {
        assert_eq!((&edit["range"], &edit["newText"]), (&range(place, "größe"), &json!("top")));
    }
    assert!(edits.is_empty() && places.is_empty());
    let refused = client.at("textDocument/rename", "let |t = größe", json!({ "newName": "x" }));
    assert!(refused["error"]["message"].is_string(), "{refused}");
    client.end();
}

#[test]
fn models_are_outlined_and_laid_out() {
    let mut client = Client::with_model();
    let document = json!({ "uri": URI });
    let symbols = client.ask("textDocument/documentSymbol", json!({ "textDocument": document }));
    let symbols = symbols["result"].as_array().expect("symbols");
    let names: Vec<&str> = symbols.iter().filter_map(|symbol| symbol["name"].as_str()).collect();
    assert_eq!(names, ["spec stack", "Node", "größe", "push", "pop"]);
    let options = json!({ "tabSize": 4, "insertSpaces": true });
    let params = json!({ "textDocument": document, "options": options });
    assert_eq!(client.ask("textDocument/formatting", params.clone())["result"], Json::Null);
    let untidy = STACK.replace("    let x", "let   x");
    let version = json!({ "uri": URI, "version": 2 });
    client.tell(
        "textDocument/didChange",
        json!({ "textDocument": version, "contentChanges": [{ "text": untidy }] }),
    );
    let edits = client.ask("textDocument/formatting", params);
    assert_eq!(edits["result"][0]["newText"], STACK);
    client.end();
}

#[test]
fn the_lens_verifies_and_shows_the_verdict() {
    let mut client = Client::with_model();
    assert_eq!(client.lens(), ("verify".to_owned(), "linchpin.verify".to_owned()));
    let command = json!({ "command": "linchpin.verify", "arguments": [URI] });
    let answer = client.ask("workspace/executeCommand", command);
    let verdict = answer["result"]["verdict"].as_str().expect("a verdict").to_owned();
    assert!(verdict.starts_with("proved: linearizable"), "{verdict}");
    assert_eq!(client.lens(), (verdict, "linchpin.verify".to_owned()));
    client.wait(|message| message["method"] == "workspace/codeLens/refresh");
    // Another text has no verdict yet.
    let version = json!({ "uri": URI, "version": 2 });
    let broken = STACK.replace("cas(größe, t, t.next)", "cas(größe, größe, t.next)");
    client.tell(
        "textDocument/didChange",
        json!({ "textDocument": version, "contentChanges": [{ "text": broken }] }),
    );
    assert_eq!(client.lens().0, "verify");
    let command = json!({ "command": "linchpin.verify", "arguments": [URI] });
    let answer = client.ask("workspace/executeCommand", command);
    assert!(client.lens().0.starts_with("VIOLATED: "), "{answer}");
    client.end();
}

#[test]
fn a_verification_is_cancelled() {
    let mut client = Client::with_model();
    let version = json!({ "uri": URI, "version": 2 });
    let endless = format!("{STACK}bounds {{ threads: 6, ops: 9, values: 9 }}\n");
    client.tell(
        "textDocument/didChange",
        json!({ "textDocument": version, "contentChanges": [{ "text": endless }] }),
    );
    let command = || json!({ "command": "linchpin.verify", "arguments": [URI] });
    let id = client.begin("workspace/executeCommand", command());
    let (shown, click) = client.lens();
    assert!(shown.starts_with("verifying"), "{shown}");
    assert_eq!(click, "linchpin.cancel");
    client.tell("$/cancelRequest", json!({ "id": id }));
    let answer = client.wait(|message| message["id"] == id && message.get("method").is_none());
    assert_eq!(answer["error"]["code"], -32800, "{answer}");
    assert_eq!(client.lens().0, "verify");
    // The command of the lens does the same.
    let id = client.begin("workspace/executeCommand", command());
    let click = json!({ "command": "linchpin.cancel", "arguments": [URI] });
    assert!(client.ask("workspace/executeCommand", click).get("error").is_none());
    let answer = client.wait(|message| message["id"] == id && message.get("method").is_none());
    assert_eq!(answer["error"]["code"], -32800, "{answer}");
    // Nor does a client that goes away leave one behind.
    client.begin("workspace/executeCommand", command());
    client.end();
}

#[test]
fn a_payload_that_is_no_message_is_answered() {
    let mut client = Client::with_model();
    let input = client.input.as_mut().expect("not ended");
    write!(input, "Content-Length: 9\r\n\r\n{{\"id\": 1,").expect("it listens");
    input.flush().expect("it listens");
    let answer = client.wait(|message| message.get("error").is_some());
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&Json::Null, &json!(-32700)));
    assert!(client.diagnostics(1).is_array());
    client.end();
}
