//! Chromium, driven over its DevTools protocol: JSON messages on a pipe, each ended by a zero byte.
//! <https://chromedevtools.github.io/devtools-protocol/>

use serde_json::{Value as Json, json};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// No answer takes so long: then the browser hangs, and the test fails instead of waiting.
const PATIENCE: Duration = Duration::from_secs(120);

/// The names that Chromium goes by.
const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome"];

/// Where Chromium is, if it is installed.
pub fn chromium() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let all = NAMES.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    all.into_iter().find(|file| file.is_file())
}

/// A browser with one page.
pub struct Browser {
    child: Child,
    input: ChildStdin,
    messages: Receiver<Json>,
    session: Option<String>,
    asked: u64,
    /// What the page reported since it was opened.
    events: Vec<Json>,
    /// The folder for everything that the browser writes.
    _profile: tempfile::TempDir,
}

impl Browser {
    pub fn start(chromium: &Path) -> Browser {
        let profile = tempfile::tempdir().expect("a folder for the browser");
        // The browser reads from file 3 and writes to file 4; the shell connects them.
        let script = r#"exec "$0" --headless=new --no-sandbox --disable-gpu --no-first-run \
            --disable-background-networking --disable-component-update --remote-debugging-pipe \
            --user-data-dir="$1" about:blank 3<&0 4>&1 </dev/null >/dev/null 2>&1"#;
        let mut child = Command::new("sh")
            .args(["-c", script])
            .arg(chromium)
            .arg(profile.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the browser starts");
        let input = child.stdin.take().expect("it listens");
        let output = child.stdout.take().expect("it answers");
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            let mut output = BufReader::new(output);
            let mut message = Vec::new();
            while output.read_until(0, &mut message).is_ok_and(|read| read > 0) {
                let json = serde_json::from_slice(message.strip_suffix(&[0]).unwrap_or(&message));
                if json.is_ok_and(|json| sender.send(json).is_err()) {
                    return;
                }
                message.clear();
            }
        });
        let (session, events) = (None, Vec::new());
        let mut browser =
            Browser { child, input, messages, session, asked: 0, events, _profile: profile };
        let target = browser.ask("Target.createTarget", json!({ "url": "about:blank" }));
        let attach = json!({ "targetId": target["targetId"], "flatten": true });
        let attached = browser.ask("Target.attachToTarget", attach);
        browser.session = attached["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.ask(&format!("{domain}.enable"), json!({}));
        }
        browser.size(1366, 768);
        browser
    }

    /// Calls a method of the protocol.
    pub fn ask(&mut self, method: &str, params: Json) -> Json {
        self.asked += 1;
        let mut message = json!({ "id": self.asked, "method": method, "params": params });
        if let Some(session) = &self.session {
            message["sessionId"] = json!(session);
        }
        write!(self.input, "{message}\0").and_then(|()| self.input.flush()).expect("it listens");
        loop {
            let message = self.message(method);
            if message["id"] == self.asked {
                assert!(message["error"].is_null(), "{method}: {}", message["error"]);
                return message["result"].clone();
            }
            self.take(message);
        }
    }

    fn message(&mut self, waiting_for: &str) -> Json {
        let message = self.messages.recv_timeout(PATIENCE);
        message.unwrap_or_else(|_| panic!("the browser does not answer {waiting_for}"))
    }

    fn take(&mut self, event: Json) {
        let is_dialog = event["method"] == "Page.javascriptDialogOpening";
        self.events.push(event);
        if is_dialog {
            self.ask("Page.handleJavaScriptDialog", json!({ "accept": false }));
        }
    }

    /// Opens a file, and waits until it has loaded and been drawn.
    pub fn open(&mut self, file: &Path) {
        self.events.clear();
        let url = format!("file://{}", file.display());
        self.ask("Page.navigate", json!({ "url": url }));
        while self.reported("Page.loadEventFired").is_empty() {
            let event = self.message("Page.navigate");
            self.take(event);
        }
        self.settle();
    }

    /// Waits until what was asked for is on the screen.
    pub fn settle(&mut self) {
        self.value("new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(r)))");
    }

    /// The value of an expression of the page.
    pub fn value(&mut self, expression: &str) -> Json {
        let ask = json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let answer = self.ask("Runtime.evaluate", ask);
        assert!(answer["exceptionDetails"].is_null(), "{expression}: {answer}");
        answer["result"]["value"].clone()
    }

    pub fn number(&mut self, expression: &str) -> f64 {
        let value = self.value(expression);
        value.as_f64().unwrap_or_else(|| panic!("{expression} is {value}"))
    }

    /// Presses a key.
    pub fn press(&mut self, key: &str) {
        let text = if key.chars().count() == 1 { key } else { "" };
        self.ask("Input.dispatchKeyEvent", json!({ "type": "keyDown", "key": key, "text": text }));
        self.ask("Input.dispatchKeyEvent", json!({ "type": "keyUp", "key": key }));
        self.settle();
    }

    /// Moves the pointer, presses its button or turns its wheel: `details` is what the protocol
    /// wants to know beside the place.
    pub fn pointer(&mut self, kind: &str, x: f64, y: f64, details: Json) {
        let mut event = json!({ "type": kind, "x": x, "y": y });
        for (name, value) in details.as_object().into_iter().flatten() {
            event[name] = value.clone();
        }
        self.ask("Input.dispatchMouseEvent", event);
        self.settle();
    }

    pub fn size(&mut self, width: u32, height: u32) {
        self.ask(
            "Emulation.setDeviceMetricsOverride",
            json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false }),
        );
    }

    /// The events of a kind since the page was opened.
    pub fn reported(&self, method: &str) -> Vec<&Json> {
        self.events.iter().filter(|event| event["method"] == method).collect()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let close = json!({ "id": self.asked + 1, "method": "Browser.close" });
        let closing = write!(self.input, "{close}\0").and_then(|()| self.input.flush());
        if closing.is_err() {
            let _ = self.child.kill();
        }
        let _ = self.child.wait();
    }
}
