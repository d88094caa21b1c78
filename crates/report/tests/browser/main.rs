//! The pages in a real browser. Where Chromium is not installed the tests say so, and pass.

mod devtools;
mod verify;
mod views;

use devtools::{Browser, chromium};
use linchpin_report::history::HistoryView;
use serde_json::json;
use std::path::PathBuf;

/// A browser and the page that it shows.
struct Shown {
    browser: Browser,
    folder: tempfile::TempDir,
}

impl Shown {
    /// Shows a history; `None` if there is no browser.
    fn new(view: &HistoryView) -> Option<Shown> {
        let mut shown = Shown::start()?;
        shown.show(view);
        Some(shown)
    }

    /// Shows nothing yet; `None` if there is no browser.
    fn start() -> Option<Shown> {
        let Some(chromium) = chromium() else {
            eprintln!("skipped: Chromium is not installed (Debian: apt-get install chromium)");
            return None;
        };
        let folder = tempfile::tempdir().expect("a folder for the page");
        Some(Shown { browser: Browser::start(&chromium), folder })
    }

    fn show(&mut self, view: &HistoryView) {
        self.show_page(&view.page());
    }

    fn show_page(&mut self, page: &str) {
        let file: PathBuf = self.folder.path().join("page.html");
        std::fs::write(&file, page).expect("the page can be written");
        self.browser.open(&file);
    }

    /// A number of the view, such as `scale`.
    fn view(&mut self, name: &str) -> f64 {
        self.browser.number(&format!("Number(linchpin.view.{name})"))
    }

    /// Whether the bar of an operation is on the screen.
    fn sees(&mut self, id: u32) -> bool {
        let inside = format!(
            "(() => {{ const [box, size] = [linchpin.box({id}), linchpin.size]; \
             return box !== null && box.right > size.gutter && box.left < size.width \
             && box.bottom > size.top && box.top < size.height; }})()"
        );
        self.browser.value(&inside) == json!(true)
    }

    /// Moves the pointer to the bar of an operation.
    fn point_at(&mut self, id: u32) {
        let place = format!(
            "(() => {{ const [box, page] = [linchpin.box({id}), \
             document.getElementById('lanes').getBoundingClientRect()]; \
             return [page.x + (box.left + box.right) / 2, page.y + (box.top + box.bottom) / 2]; }})()"
        );
        let place = self.browser.value(&place);
        let at = |index: usize| place[index].as_f64().unwrap_or_default();
        self.browser.pointer("mouseMoved", at(0), at(1), json!({}));
    }

    /// Nothing was complained about, and nothing was asked of the network but the page.
    fn assert_quiet(&self) {
        for method in [
            "Runtime.exceptionThrown",
            "Runtime.consoleAPICalled",
            "Log.entryAdded",
            "Page.javascriptDialogOpening",
        ] {
            let reported = self.browser.reported(method);
            assert!(reported.is_empty(), "{method}: {reported:?}");
        }
        let requests = self.browser.reported("Network.requestWillBeSent");
        assert_eq!(requests.len(), 1, "{requests:?}");
    }
}

#[test]
fn a_violated_history_begins_with_its_core() {
    let Some(mut shown) = Shown::new(&views::violated(20, 4)) else { return };
    assert!(shown.sees(0) && shown.sees(77), "the core is visible at start");
    let text = shown.browser.value("document.body.innerText");
    let text = text.as_str().unwrap_or_default();
    assert!(text.contains("violated: the history is not linearizable"), "{text}");
    assert!(text.contains("dequeue() → 38"), "the core as text: {text}");
    assert!(text.contains("[7]"), "possible states: {text}");
    shown.browser.press("f");
    let all = (shown.view("shown"), shown.view("scale"));
    assert_eq!(all.0, 80.0, "f shows everything");
    shown.browser.press("+");
    assert!(shown.view("scale") > all.1, "+ zooms in");
    shown.browser.press("-");
    shown.browser.press("e");
    assert!(shown.sees(77), "e goes to the event");
    assert_eq!(shown.view("chosen"), 77.0);
    assert!(!shown.sees(0), "which is far from the beginning");
    shown.browser.press("n");
    assert_eq!(shown.view("chosen"), 0.0, "n goes round the core");
    assert!(shown.sees(0));
    shown.browser.press("p");
    assert_eq!(shown.view("chosen"), 77.0);
    shown.browser.press("f");
    shown.browser.press("c");
    assert!(shown.sees(0) && shown.sees(77), "c goes to the core");
    shown.assert_quiet();
}

#[test]
fn the_order_is_told_operation_by_operation() {
    let Some(mut shown) = Shown::new(&views::rounds(10, 4)) else { return };
    shown.browser.press("n");
    shown.browser.press("n");
    let detail = shown.browser.value("document.getElementById('detail').innerText");
    let detail = detail.as_str().unwrap_or_default().to_owned();
    assert!(detail.contains("dequeue() → 0") && detail.contains("2 of 40"), "{detail}");
    let (before, after) = (detail.find("[0]"), detail.rfind("[]"));
    assert!(before.is_some() && before < after, "the states around it: {detail}");
    assert!(detail.contains("lines 2 to 6"), "{detail}");
    // The same at the pointer.
    shown.point_at(2);
    let tip = shown.browser.value("document.getElementById('tip').innerText");
    assert!(tip.as_str().unwrap_or_default().contains("state after: [1]"), "{tip}");
    shown.assert_quiet();
}

#[test]
fn what_is_shown_can_be_chosen() {
    let Some(mut shown) = Shown::new(&views::keyed()) else { return };
    assert_eq!(shown.view("key"), 1.0, "the violated key is shown at start");
    assert!(shown.sees(2) && shown.sees(7));
    let pick = |id: &str, value: i32| {
        format!(
            "{{ const menu = document.getElementById('{id}'); menu.value = '{value}'; \
                 menu.dispatchEvent(new Event('change')); }}"
        )
    };
    shown.browser.value(&pick("by-key", -1));
    assert_eq!((shown.view("shown"), shown.view("lanes")), (24.0, 4.0));
    shown.browser.value(&pick("by-process", 3));
    assert_eq!((shown.view("shown"), shown.view("lanes")), (6.0, 1.0));
    shown.browser.value(&pick("by-process", -1));
    shown.browser.value(&pick("by-function", 0));
    assert_eq!(shown.view("shown"), 12.0);
    shown.browser.value(&pick("by-function", -1));
    shown.browser.value("document.querySelector('#key-rows button[data-key=\"0\"]').click()");
    assert_eq!(shown.view("shown"), 12.0, "a key is chosen from the list");
    shown.browser.press("/");
    for letter in ["→", " ", "1"] {
        shown.browser.ask("Input.insertText", json!({ "text": letter }));
    }
    let found = shown.view("found");
    assert!(found > 0.0 && found < 12.0, "{found} found");
    shown.browser.press("Enter");
    assert!(shown.view("chosen") > 0.0);
    shown.browser.press("Escape");
    assert_eq!(shown.view("found"), 0.0);
    shown.browser.press("t");
    assert_eq!(shown.view("byTime"), 1.0);
    shown.assert_quiet();
}

#[test]
fn markup_in_values_is_text() {
    let nasty = "<script>alert(1)</script><img src=x onerror=alert(2)>";
    let Some(mut shown) = Shown::new(&views::saying(nasty)) else { return };
    shown.browser.press("n");
    shown.point_at(2);
    shown.browser.press("?");
    let text = shown.browser.value("document.body.innerText");
    assert!(text.as_str().unwrap_or_default().contains(nasty), "{text}");
    assert_eq!(shown.browser.value("document.images.length"), json!(0));
    assert_eq!(shown.browser.value("document.scripts.length"), json!(2));
    shown.assert_quiet();
}

#[test]
fn a_hundred_thousand_operations_scroll() {
    let view = views::violated(5_000, 20);
    let bytes = view.page().len();
    assert!(bytes < 12_000_000, "{bytes} bytes");
    let Some(mut shown) = Shown::new(&view) else { return };
    assert!(shown.sees(0) && shown.sees(99_981), "the core is visible at start");
    shown.browser.press("f");
    assert_eq!(shown.view("shown"), 100_000.0);
    shown.browser.press("e");
    let start = shown.view("left");
    // A pan, a zoom and a scroll for each of fifty frames.
    let wheel = "(async () => { const lanes = document.getElementById('lanes'); \
        for (let at = 0; at < 50; at += 1) { \
          lanes.dispatchEvent(new WheelEvent('wheel', { deltaX: -60, deltaY: at % 5, cancelable: true })); \
          lanes.dispatchEvent(new WheelEvent('wheel', { deltaY: 9, ctrlKey: true, cancelable: true })); \
          await new Promise(requestAnimationFrame); \
        } })()";
    shown.browser.value(wheel);
    assert!(shown.view("left") < start, "it moved");
    // A page that was not drawn is of one colour.
    let colours = "(() => { const lanes = document.getElementById('lanes'); \
        const pixels = new Uint32Array(lanes.getContext('2d').getImageData(0, 0, lanes.width, lanes.height).data.buffer); \
        return new Set(pixels).size; })()";
    assert!(shown.browser.number(colours) > 5.0);
    shown.assert_quiet();
}

#[test]
fn little_is_enough() {
    let Some(mut shown) = Shown::new(&views::bare()) else { return };
    assert_eq!(shown.view("shown"), 12.0);
    shown.point_at(11);
    let tip = shown.browser.value("document.getElementById('tip').innerText");
    assert!(tip.as_str().unwrap_or_default().contains("dequeue() …"), "{tip}");
    for key in ["c", "e", "n", "p", "t", "l", "o", "f", "+", "-", "Escape"] {
        shown.browser.press(key);
    }
    shown.assert_quiet();
    shown.show(&views::wrong_at_once());
    let text = shown.browser.value("document.getElementById('wrong').innerText");
    let text = text.as_str().unwrap_or_default();
    assert!(text.contains("A possible state just before\n\n[]"), "the initial one: {text}");
    shown.assert_quiet();
    shown.show(&views::empty(&[], 0));
    for key in ["c", "e", "n", "p", "t", "l", "o", "f", "+", "-", "Escape"] {
        shown.browser.press(key);
    }
    shown.assert_quiet();
}

#[test]
fn it_is_drawn_for_paper_too() {
    let Some(mut shown) = Shown::new(&views::violated(8, 3)) else { return };
    let printed = shown.browser.ask("Page.printToPDF", json!({ "printBackground": true }));
    assert!(printed["data"].as_str().is_some_and(|data| data.len() > 10_000));
    assert!(shown.sees(0), "afterwards it is as before");
    shown.assert_quiet();
}
