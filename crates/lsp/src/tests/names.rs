//! Definitions, types and renames on small models.

use super::lin;
use crate::hover::hover;
use crate::names::Index;
use crate::rename::rename;
use lsp_types::{HoverContents, Position};

const STACK: &str = "\
spec stack;
struct Node { val: int, next: Node }
shared top: Node; // é𝄞
op push(v: int) {
    let x = new Node { val: v };
    loop {
        let t = top;
        x.next = t;
        #[lin] if cas(top, t, x) { return; }
    }
}
op pop() -> int? {
    loop {
        #[lin(when t == null)] let t = top;
        if t == null { return none; }
        #[lin] if cas(top, t, t.next) { return t.val; }
    }
}
";

/// Where the mark `|` stands, and the text without it.
fn marked(text: &str) -> (String, Position) {
    let (before, after) = text.split_once('|').expect("a mark");
    let line = u32::try_from(before.matches('\n').count()).expect("few lines");
    let last = before.rsplit('\n').next().unwrap_or_default();
    let character = u32::try_from(last.encode_utf16().count()).expect("short lines");
    (format!("{before}{after}"), Position { line, character })
}

fn shown(text: &str) -> String {
    let (text, position) = marked(text);
    match hover(&lin(&text), position).map(|hover| hover.contents) {
        Some(HoverContents::Markup(markup)) => markup.value,
        other => format!("{other:?}"),
    }
}

#[test]
fn hovers_say_type_and_steps() {
    let hovered = shown(&STACK.replace("x.next = t;", "x.ne|xt = t;"));
    assert!(hovered.contains("Node.next: Node"), "{hovered}");
    assert!(hovered.contains("`push` step "), "{hovered}");
    let hovered = shown(&STACK.replace("cas(top, t, x)", "cas(top, |t, x)"));
    assert!(hovered.contains("let t: Node"), "{hovered}");
    let hovered = shown(&STACK.replace("spec stack", "spec st|ack"));
    assert!(hovered.contains("push"), "{hovered}");
    assert!(shown(&STACK.replace("cas(top, t, x)", "c|as(top, t, x)")).contains("one step"));
}

#[test]
fn hovers_answer_in_unfinished_models() {
    let hovered =
        shown("spec stack; struct Node { val: int } shared top: Node; op pop() { let t = to|p");
    assert!(hovered.contains("shared top: Node"), "{hovered}");
}

#[test]
fn points_see_what_their_statement_declares() {
    let names = Index::new(STACK);
    let condition = STACK.find("when t").expect("the point") + "when ".len();
    let found = names.at(condition).expect("a use").definition;
    let declared = STACK.rfind("let t = top").expect("the variable") + "let ".len();
    assert_eq!(names.definitions[found].span.range().start, declared);
}

fn renamed(text: &str, new_name: &str) -> Result<String, String> {
    let (text, position) = marked(text);
    let mut document = lin(&text);
    let mut edits = rename(&document, position, new_name)?;
    edits
        .sort_by_key(|edit| std::cmp::Reverse((edit.range.start.line, edit.range.start.character)));
    for edit in edits {
        let bytes = document.lines.bytes(&document.text, edit.range);
        document.text.replace_range(bytes, &edit.new_text);
    }
    Ok(document.text)
}

#[test]
fn renames_change_every_use_and_nothing_else() {
    let after = renamed(&STACK.replace("shared top", "shared t|op"), "spitze").expect("renamed");
    assert_eq!(after, STACK.replace("top", "spitze"));
    let after = renamed(&STACK.replace("x.next", "x.|next"), "link").expect("renamed");
    assert_eq!(after, STACK.replace("next", "link"));
}

#[test]
fn parentheses_stay_where_they_are() {
    let model = "spec counter; shared n: int; op read() -> int { return ((|n)) + (n); }";
    let expected = "spec counter; shared m: int; op read() -> int { return ((m)) + (m); }";
    assert_eq!(renamed(model, "m"), Ok(expected.to_owned()));
}

#[test]
fn renames_that_would_change_the_meaning_are_refused() {
    let local = STACK.replacen("let t = top", "let |t = top", 1);
    assert_eq!(renamed(&local, "top"), Err("`top` means something else there".to_owned()));
    assert_eq!(renamed(&local, "x"), Err("`x` means something else there".to_owned()));
    assert_eq!(renamed(&local, "loop"), Err("`loop` is not a name".to_owned()));
    assert_eq!(renamed(&local, "a b"), Err("`a b` is not a name".to_owned()));
    let operation = renamed(&STACK.replace("op push", "op pu|sh"), "put");
    assert!(operation.is_err(), "the specification has no `put`: {operation:?}");
}

#[test]
fn an_operation_is_renamed_in_its_specification_too() {
    let model = "\
spec { state n: int; op add(k: int) { n += k; } }
shared m: int;
op ad|d(k: int) { faa(m, k); }
role adder: add;
bounds { adder: 2 }
";
    let expected =
        model.replace("ad|d", "add").replace("op add", "op more").replace(": add", ": more");
    assert_eq!(renamed(model, "more"), Ok(expected));
}
