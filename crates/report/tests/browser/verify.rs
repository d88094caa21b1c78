//! The page of a model: stepping through a run, and what the others say. One browser shows them all.

use super::Shown;
use linchpin_engine::{Answer, Counterexample, FactsShown, ProofShown, Step, Wrong};
use linchpin_ir::interpreter::Memory;
use linchpin_ir::program::Program;
use linchpin_ir::run::{RunOptions, Runner, replay};
use linchpin_lang::{Config, compile};
use linchpin_report::Findings;
use linchpin_verdict::Verdict;
use serde_json::json;

/// A stack whose `pop` loses an element that is pushed meanwhile.
const STACK: &str = "spec stack;
struct Node { val: int, next: Node }
shared top: Node = null;
op push(v: int) {
    let x = new Node { val: v };
    loop {
        let t = top;
        x.next = t;
        if cas(top, t, x) { return; }
    }
}
op pop() -> int? {
    let t = top;
    if t == null { return none; }
    let s = t.next;
    top = s;
    return t.val;
}
bounds { threads: 2, ops: 2, values: 2 }
";

const NASTY: &str = "<script>alert(1)</script><img src=x onerror=alert(2)>";

fn findings_page(program: Option<&Program>, source: &str, answer: Answer) -> String {
    let answers = [answer];
    let findings = Findings {
        subject: NASTY,
        program,
        memory: Memory::Collected,
        verdict: answers[0].verdict,
        deciding: answers.first(),
        answers: &answers,
        contradiction: None,
        in_detail: false,
        columns: 100,
    };
    findings.page(source)
}

fn violated(found: Counterexample) -> Answer {
    let mut answer = Answer::new("refine", Verdict::Violated, NASTY);
    answer.counterexample = Some(Box::new(found));
    answer
}

/// A run of the stack, whether it is wrong or not.
fn run_of_the_stack() -> String {
    let program = compile(STACK, &Config::default()).expect("a model").program;
    let runner = Runner::new(&program, RunOptions::default()).expect("it starts");
    let made = runner.run(3);
    let mut found = Counterexample::new(Wrong::NotLinearizable, NASTY);
    found.run = replay(&program, Memory::Collected, &made.schedule).ok();
    found.schedule = made.schedule;
    found.core = vec![0];
    let source = format!("{STACK}// {NASTY}\n");
    findings_page(Some(&program), &source, violated(found))
}

#[test]
fn pages_of_models() {
    let Some(mut shown) = Shown::start() else { return };
    a_run_is_stepped_through(&mut shown);
    what_repeats_is_marked(&mut shown);
    a_process_has_its_steps(&mut shown);
    others_are_read(&mut shown);
}

/// The picture as it is in the page, and the lines that are lit.
fn look(shown: &mut Shown) -> (String, String) {
    let picture = shown.browser.value("document.querySelector('#picture svg').innerHTML");
    (picture.to_string(), shown.browser.value("linchpin.lit").to_string())
}

fn at(shown: &mut Shown) -> f64 {
    shown.browser.number("linchpin.at")
}

fn a_run_is_stepped_through(shown: &mut Shown) {
    shown.show_page(&run_of_the_stack());
    let steps = shown.browser.number("linchpin.steps");
    assert!(steps > 10.0, "{steps} steps");
    assert_eq!(at(shown), 0.0);
    // Forwards: nodes keep their places, and every step lights its line.
    let mut pictures = vec![look(shown)];
    let first_place = "linchpin.box('@0')";
    let mut places = Vec::new();
    while at(shown) < steps {
        shown.browser.press("ArrowRight");
        pictures.push(look(shown));
        places.push(shown.browser.value(first_place));
        let lit = shown.browser.number("linchpin.lit.length");
        assert!(lit > 0.0, "step {} lights no line", pictures.len() - 1);
    }
    places.retain(|place| !place.is_null());
    assert!(!places.is_empty() && places.windows(2).all(|two| two[0] == two[1]), "{places:?}");
    let changes = pictures.windows(2).filter(|two| two[0].0 != two[1].0).count();
    let lights = pictures.windows(2).filter(|two| two[0].1 != two[1].1).count();
    assert!(changes > 8 && lights > 8, "{changes} pictures and {lights} lines change");
    // Back, by keys, buttons, slider and rows: the same step looks the same.
    shown.browser.press("ArrowLeft");
    assert_eq!(at(shown), steps - 1.0);
    shown.browser.press("Home");
    assert_eq!((at(shown), look(shown)), (0.0, pictures[0].clone()));
    shown.browser.press("End");
    assert_eq!(at(shown), steps);
    shown.browser.press("PageUp");
    let switch = "document.querySelectorAll('#rows .switch').length";
    assert!(shown.browser.number(switch) > 0.0 && at(shown) < steps);
    shown.browser.value("document.getElementById('go-first').click()");
    shown.browser.value("document.getElementById('go-on').click()");
    assert_eq!(at(shown), 1.0);
    shown.browser.value(
        "{ const slider = document.getElementById('slider'); slider.value = 5; \
         slider.dispatchEvent(new Event('input')); }",
    );
    assert_eq!((at(shown), look(shown).1), (5.0, pictures[5].1.clone()));
    shown.browser.value("document.querySelector('#rows [data-step=\"7\"]').click()");
    assert_eq!((at(shown), look(shown).1), (7.0, pictures[7].1.clone()));
    // With the slider in focus a key is one step, not two.
    shown.browser.value("document.getElementById('slider').focus()");
    shown.browser.press("ArrowRight");
    assert_eq!(at(shown), 8.0);
    // The lanes: a bar a call, and a place to point at.
    let bars = shown.browser.number("document.querySelectorAll('.bar').length");
    assert_eq!(bars, 4.0);
    let place = shown.browser.value(
        "(() => { const box = document.getElementById('over').getBoundingClientRect(); \
         return [box.left + box.width * 0.999, box.top + 5]; })()",
    );
    let number = |at: usize| place[at].as_f64().unwrap_or_default();
    shown.browser.pointer(
        "mousePressed",
        number(0),
        number(1),
        json!({ "button": "left", "buttons": 1 }),
    );
    shown.browser.pointer("mouseReleased", number(0), number(1), json!({ "button": "left" }));
    assert_eq!(at(shown), steps, "a click on the lanes");
    // Names are text.
    let text = shown.browser.value("document.body.innerText");
    assert!(text.as_str().unwrap_or_default().contains(NASTY), "{text}");
    assert_eq!(shown.browser.value("document.images.length"), json!(0));
    assert_eq!(shown.browser.value("document.scripts.length"), json!(2));
    let printed = shown.browser.ask("Page.printToPDF", json!({}));
    assert!(printed["data"].as_str().is_some_and(|data| data.len() > 10_000));
    shown.assert_quiet();
}

fn what_repeats_is_marked(shown: &mut Shown) {
    let source = "spec register(0);
shared x: int = 0;
shared l: lock;
op write(v: int) { lock(l); x = v; }
op read() -> int { return x; }
bounds { threads: 2, ops: 2, values: 2 }
";
    let program = compile(source, &Config::default()).expect("a model").program;
    let runner = Runner::new(&program, RunOptions::default()).expect("it starts");
    let stuck = |seed: &u64| {
        let run = runner.run(*seed);
        matches!(run.end, linchpin_ir::run::End::Blocked { .. })
    };
    let seed = (0..200).find(stuck).expect("a run gets stuck");
    let mut found = Counterexample::new(Wrong::Stuck, "it gets stuck");
    found.schedule = runner.run(seed).schedule;
    shown.show_page(&findings_page(Some(&program), source, violated(found)));
    shown.browser.press("End");
    let marked = "document.querySelectorAll('#rows .repeats, #over .repeats').length";
    assert!(shown.browser.number(marked) > 1.0);
    let now = shown.browser.value("document.getElementById('now').innerText");
    assert!(now.as_str().unwrap_or_default().contains("waits for"), "{now}");
    shown.assert_quiet();
}

fn a_process_has_its_steps(shown: &mut Shown) {
    let mut found = Counterexample::new(Wrong::Trace, "no such trace");
    let step = |line: u32| Step {
        thread: None,
        operation: String::new(),
        line: Some(line),
        text: format!("event {NASTY}"),
    };
    found.steps = vec![step(1), step(2)];
    shown.show_page(&findings_page(None, "P() = a -> Q();\nQ() = b -> P();\n", violated(found)));
    shown.browser.press("ArrowRight");
    assert_eq!(shown.browser.value("linchpin.lit"), json!([1]));
    shown.browser.press("End");
    assert_eq!(shown.browser.value("linchpin.lit"), json!([2]));
    assert_eq!(shown.browser.value("document.images.length"), json!(0));
    shown.assert_quiet();
}

fn others_are_read(shown: &mut Shown) {
    let mut proved = Answer::new("reduce", Verdict::Proved, "for any number of threads");
    let facts = FactsShown {
        at: "always".to_owned(),
        hold: vec!["head != NULL".to_owned()],
        ..FactsShown::default()
    };
    proved.proof = Some(Box::new(ProofShown { facts: vec![facts], ..ProofShown::default() }));
    let colour = "(() => { const mark = getComputedStyle(document.querySelector('h1')).borderLeftColor; \
        return mark.match(/\\d+/g).map(Number); })()";
    shown.show_page(&findings_page(None, "", proved));
    let text = shown.browser.value("document.body.innerText");
    assert!(text.as_str().unwrap_or_default().contains("head != NULL"), "{text}");
    let green = shown.browser.value(colour);
    assert!(green[1].as_u64() > green[0].as_u64(), "a proof is green: {green}");
    shown.assert_quiet();
    shown.show_page(&findings_page(None, "", Answer::new("refine", Verdict::Inconclusive, "?")));
    let amber = shown.browser.value(colour);
    assert!(amber[1].as_u64() < amber[0].as_u64(), "an open question is not green: {amber}");
    shown.assert_quiet();
}
