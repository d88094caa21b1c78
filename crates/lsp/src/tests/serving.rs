//! The server over channels: what does not keep to the protocol is refused, and nothing ends it.

use super::campaign;
use crate::{Verifier, serve};
use lsp_server::{Connection, Message, Notification, Request, Response};
use serde_json::{Value as Json, json};
use std::time::Duration;

/// A client of a server in this process.
struct Client {
    connection: Connection,
    server: std::thread::JoinHandle<()>,
    next: i32,
}

impl Client {
    fn new() -> Client {
        let (ours, theirs) = Connection::memory();
        let verifier =
            Verifier { program: "/no/such/command".into(), time_limit: Duration::from_secs(1) };
        let server = std::thread::spawn(move || serve(theirs, verifier).expect("it serves"));
        let mut client = Client { connection: ours, server, next: 0 };
        let told = client.ask("initialize", json!({ "capabilities": {} }));
        assert!(told.result.is_some_and(|told| told["capabilities"]["hoverProvider"] == true));
        client.tell("initialized", json!({}));
        client
    }

    fn tell(&self, method: &str, params: Json) {
        let notification = Notification::new(method.to_owned(), params);
        self.connection.sender.send(notification.into()).expect("the server listens");
    }

    fn ask(&mut self, method: &str, params: Json) -> Response {
        self.next += 1;
        let request = Request::new(self.next.into(), method.to_owned(), params);
        self.connection.sender.send(request.into()).expect("the server listens");
        loop {
            match self.connection.receiver.recv_timeout(Duration::from_secs(60)) {
                Ok(Message::Response(response)) if response.id == self.next.into() => {
                    return response;
                }
                Ok(_) => {}
                Err(error) => panic!("{method}: no answer: {error}"),
            }
        }
    }

    fn end(mut self) {
        assert!(self.ask("shutdown", Json::Null).error.is_none());
        self.tell("exit", Json::Null);
        self.server.join().expect("the server ends in peace");
    }
}

const METHODS: &[&str] = &[
    "textDocument/hover",
    "textDocument/definition",
    "textDocument/references",
    "textDocument/rename",
    "textDocument/prepareRename",
    "textDocument/documentSymbol",
    "textDocument/formatting",
    "textDocument/codeLens",
    "workspace/executeCommand",
    "no/such/method",
];

#[test]
fn what_is_not_as_it_should_be_is_refused() {
    let mut client = Client::new();
    for method in METHODS {
        for params in [Json::Null, json!([]), json!({ "textDocument": 3 })] {
            assert!(client.ask(method, params).error.is_some(), "{method}");
        }
        let at = json!({
            "textDocument": { "uri": "file:///unknown.lin" }, "position": { "line": 0, "character": 0 },
            "newName": "x", "context": { "includeDeclaration": true },
            "options": { "tabSize": 4, "insertSpaces": true }, "command": "linchpin.verify",
        });
        assert!(client.ask(method, at).error.is_some(), "{method}: the document is not open");
    }
    for method in
        ["textDocument/didChange", "textDocument/didOpen", "$/cancelRequest", "what/is/this"]
    {
        client.tell(method, json!({ "textDocument": [1, 2] }));
    }
    client.end();
}

#[test]
fn random_sessions_are_answered_to_the_end() {
    let (seed, cases) = campaign(150);
    let mut random = fastrand::Rng::with_seed(seed);
    let mut client = Client::new();
    let uris = ["file:///a.lin", "file:///b.subop", "untitled:c", "file:///d.csp"];
    let texts = [
        "",
        "spec stack; op",
        "shared é: int; op f() { é = 1",
        "int x; Set() 1 x = 1;",
        "P() = a -> Skip;",
    ];
    for case in 0..cases {
        let uri = uris[random.usize(..uris.len())];
        let text = texts[random.usize(..texts.len())];
        let position = json!({ "line": random.u32(..3), "character": random.u32(..20) });
        let end = json!({ "line": random.u32(..3), "character": random.u32(..20) });
        match random.u8(..8) {
            0 => client.tell(
                "textDocument/didOpen",
                json!({ "textDocument": {
                "uri": uri, "languageId": "lin", "version": 1, "text": text } }),
            ),
            1 => client.tell("textDocument/didClose", json!({ "textDocument": { "uri": uri } })),
            2 | 3 => client.tell(
                "textDocument/didChange",
                json!({
                "textDocument": { "uri": uri, "version": 2 },
                "contentChanges": [{ "range": { "start": position, "end": end }, "text": text }] }),
            ),
            _ => {
                let method = METHODS[random.usize(..METHODS.len())];
                let answer = client.ask(
                    method,
                    json!({
                    "textDocument": { "uri": uri }, "position": position, "newName": "renamed",
                    "context": { "includeDeclaration": false },
                    "options": { "tabSize": 4, "insertSpaces": true },
                    "command": "linchpin.verify", "arguments": [uri] }),
                );
                assert!(answer.result.is_some() || answer.error.is_some(), "case {case}");
            }
        }
    }
    client.end();
}
