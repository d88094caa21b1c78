//! Programs in which an operation alone does not do what a proof by base points needs. None of them
//! may be shown; where the object is right nevertheless, the comparison itself is a proof.

use super::locked::{LINK, Parts, UNLINK};

/// What makes the claims false.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum False {
    /// `contains` alone does not return from some state.
    Ends,
    /// An update changes twice what `contains` answers alone.
    OneStep,
    /// `contains` gives an answer that it gives alone in no state of its call.
    ReadBasePoint,
    /// Nothing: but what `contains` answers alone changes at another step than the one claimed.
    Points,
}

/// A trap.
pub struct Trap {
    /// What it is.
    pub name: &'static str,
    /// What is false of it.
    pub what: False,
    /// Whether the comparison with the specification is a proof all the same.
    pub proved: bool,
    /// The model.
    pub source: String,
}

fn set(name: &'static str, what: False, proved: bool, parts: Parts) -> Trap {
    Trap { name, what, proved, source: parts.source() }
}

fn lines(steps: &[&str]) -> Vec<String> {
    steps.iter().map(|step| (*step).to_owned()).collect()
}

/// All traps.
pub fn traps() -> Vec<Trap> {
    let right = || Parts::right(true);
    let open = || Parts::right(false);
    let link = format!("#[lin] {LINK}");
    let unlink = format!("#[lin] {UNLINK}");
    let unless_busy = "let b = busy; let k = c.val; return k == e && !b;";
    let unless_marked = "let m = c.mark; let k = c.val; return k == e && !m;";
    let mut all = vec![
        set("the effect comes, goes and comes back", False::OneStep, true, Parts {
            add: lines(&[&link, "busy = true;", "busy = false;"]),
            contains: unless_busy.to_owned(),
            ..right()
        }),
        set("the effect comes back before it is final", False::OneStep, true, Parts {
            remove: lines(&["c.mark = true;", "c.mark = false;", &unlink]),
            contains: unless_marked.to_owned(),
            ..right()
        }),
        set("other keys blink", False::OneStep, true, Parts {
            remove: lines(&["busy = true;", &unlink, "busy = false;"]),
            contains: unless_busy.to_owned(),
            ..right()
        }),
        set("the reader waits for a flag", False::Ends, true, Parts {
            add: lines(&["busy = true;", &link, "busy = false;"]),
            contains: "while busy {} let k = c.val; return k == e;".to_owned(),
            ..open()
        }),
        set("the reader assumes that a flag is down", False::Ends, true, Parts {
            add: lines(&["busy = true;", &link, "busy = false;"]),
            contains: "let b = busy; assume(!b); let k = c.val; return k == e;".to_owned(),
            ..open()
        }),
        set("the reader waits until a marked node has gone", False::Ends, true, Parts {
            remove: lines(&["#[lin] c.mark = true;", UNLINK]),
            contains: "let k = c.val; if k == e { while c.mark { c = head; while c.val < e { c = c.next; } } } \
                       let k2 = c.val; return k2 == e;".to_owned(),
            ..open()
        }),
        set("the reader takes a lock that it holds", False::Ends, false, Parts {
            contains: "lock(l); let k = c.val; return k == e;".to_owned(),
            ..right()
        }),
        set("the addition claims a later step", False::Points, true, Parts {
            add: lines(&[LINK, "#[lin] busy = true;"]),
            ..right()
        }),
        set("the addition claims an earlier step", False::Points, true, Parts {
            add: lines(&["#[lin] busy = true;", LINK]),
            ..right()
        }),
        set("the removal claims the mark, the reader the list", False::Points, true, Parts {
            remove: lines(&["#[lin] c.mark = true;", UNLINK]),
            ..right()
        }),
        set("the removal claims the list, the reader the mark", False::Points, true, Parts {
            remove: lines(&["c.mark = true;", &unlink]),
            contains: unless_marked.to_owned(),
            ..right()
        }),
        set("two marks that cancel each other", False::OneStep, true, Parts {
            remove: lines(&["c.mark = true;", "c.other = true;", &unlink]),
            contains: "let m = c.mark; let o = c.other; let k = c.val; return k == e && m == o;".to_owned(),
            ..right()
        }),
        set("the reader answers at will", False::ReadBasePoint, false, Parts {
            contains: "let k = c.val; let b = choose(0..2); return k == e && b == 0;".to_owned(),
            ..open()
        }),
        set("the reader remembers an old flag", False::OneStep, false, Parts {
            add: lines(&["busy = true;", &link, "busy = false;"]),
            contains: unless_busy.to_owned(),
            ..open()
        }),
    ];
    all.push(stack("a push in two steps", "top = null;\n    #[lin] top = x;"));
    all.push(stack(
        "a push that shows itself twice",
        "#[lin] top = x;\n    top = t;\n    top = x;",
    ));
    all
}

/// A stack with one lock and a `peek`.
pub fn stack(name: &'static str, push: &str) -> Trap {
    let source = format!(
        "spec stack;
struct Node {{ val: int, next: Node }}
shared top: Node = null;
shared l: lock;
op push(v: int) {{
    let x = new Node {{ val: v }};
    lock(l);
    let t = top;
    x.next = t;
    {push}
    unlock(l);
    return;
}}
op pop() -> int? {{
    lock(l);
    #[lin(when t == null)] let t = top;
    if t == null {{ unlock(l); return none; }}
    let s = t.next;
    #[lin] top = s;
    unlock(l);
    return t.val;
}}
op peek() -> int? {{
    lock(l);
    #[lin] let t = top;
    unlock(l);
    if t == null {{ return none; }}
    return t.val;
}}
bounds {{ threads: 2, ops: 2, values: 2 }}
"
    );
    Trap { name, what: False::OneStep, proved: true, source }
}
