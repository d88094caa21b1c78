//! Random queues: with one lock, with two, and with `cas`.

use crate::generator::{Generator, fill};

/// A random queue.
pub fn queue(generator: &mut Generator<'_>) -> String {
    let (enqueue, dequeue) =
        match generator.pick(&["two", "one", "cas", "cas"], &["mixed"]).as_str() {
            "two" => (locked_enqueue(generator, "t_lock"), locked_dequeue(generator, "h_lock")),
            "one" => (locked_enqueue(generator, "t_lock"), locked_dequeue(generator, "t_lock")),
            "cas" => (cas_enqueue(generator), cas_dequeue(generator)),
            _ => (locked_enqueue(generator, "t_lock"), cas_dequeue(generator)),
        };
    format!(
        "spec queue;\nstruct Node {{ val: int, next: Node }}\nshared head: Node;\nshared tail: Node;\n\
         shared h_lock: lock;\nshared t_lock: lock;\n\
         init {{ let dummy = new Node {{}}; head = dummy; tail = dummy; }}\n{enqueue}{dequeue}"
    )
}

fn locked_enqueue(generator: &mut Generator<'_>, lock: &str) -> String {
    let allocate = "let x = new Node { val: v };";
    let (early, late) = if generator.sometimes() { ("", allocate) } else { (allocate, "") };
    let link = generator.pick(
        &[
            "#[lin] t.next = x; tail = x; unlock(@l@);",
            "#[lin] t.next = x; tail = x; unlock(@l@);",
            "#[lin] cas(t.next, null, x); tail = x; unlock(@l@);",
            "let n = t.next; #[lin] t.next = x; cas(tail, t, x); unlock(@l@);",
        ],
        &[
            "tail = x; #[lin] t.next = x; unlock(@l@);",
            "#[lin] t.next = x; unlock(@l@); tail = x;",
            "unlock(@l@); #[lin] t.next = x; tail = x;",
            "#[lin] t.next = x; unlock(@l@);",
            "t.next = x; #[lin] tail = x; unlock(@l@);",
            "t.next = x; tail = x; #[lin] unlock(@l@);",
            "#[lin] t.next = x; tail = x; unlock(@l@); x.next = null;",
        ],
    );
    let read = generator.pick(
        &["let t = tail;", "let t = tail; let again = tail;"],
        &["let t = head;", "let t = tail; if t.next != null { t = t.next; }"],
    );
    let body = format!("op enqueue(v: int) {{ {early} lock(@l@); {late} {read} {link} }}\n");
    fill(&body, &[("l", lock)])
}

fn locked_dequeue(generator: &mut Generator<'_>, lock: &str) -> String {
    let read = generator.pick(
        &["#[lin] let s = h.next;", "#[lin(when s == null)] let s = h.next;"],
        &["let s = h.next;", "#[lin(when s != null)] let s = h.next;"],
    );
    let empty = generator.pick(
        &["if s == null { unlock(@l@); return none; }"],
        &["if h == tail { unlock(@l@); return none; }", "if s == null { return none; }", ""],
    );
    let point = if read.contains("== null") { "#[lin]" } else { "" };
    let take = generator.pick(
        &[
            "let r = s.val; @p@ head = s; unlock(@l@); return r;",
            "@p@ head = s; unlock(@l@); return s.val;",
            "@p@ head = s; let r = s.val; unlock(@l@); return r;",
        ],
        &[
            "let r = s.val; unlock(@l@); @p@ head = s; return r;",
            "let r = h.val; @p@ head = s; unlock(@l@); return r;",
            "let r = s.val; if s.next != null { s = s.next; } @p@ head = s; unlock(@l@); return r;",
            "unlock(@l@); lock(@l@); let r = s.val; @p@ head = s; unlock(@l@); return r;",
            "let r = s.val; if s.next != null { r = s.next.val; } @p@ head = s; unlock(@l@); return r;",
        ],
    );
    let body =
        format!("op dequeue() -> int? {{ lock(@l@); let h = head; {read} {empty} {take} }}\n");
    fill(&fill(&body, &[("p", point)]), &[("l", lock)])
}

fn cas_enqueue(generator: &mut Generator<'_>) -> String {
    let allocate = "let x = new Node { val: v };";
    let (early, late) = if generator.sometimes() { ("", allocate) } else { (allocate, "") };
    let check =
        generator.pick(&["if t != tail { continue; }", ""], &["if t == tail { continue; }"]);
    let help = generator.pick(
        &[
            "cas(tail, t, s); continue;",
            "cas(tail, t, s); continue;",
            "let u = tail; cas(tail, t, s); continue;",
        ],
        &["tail = s; continue;", "", "cas(tail, t, s.next); continue;"],
    );
    let link = generator.pick(
        &[
            "#[lin] if cas(t.next, s, x) { cas(tail, t, x); return; }",
            "#[lin] if cas(t.next, null, x) { cas(tail, t, x); return; }",
            "#[lin] if cas(t.next, null, x) { return; }",
        ],
        &[
            "#[lin] if cas(t.next, s, x) { tail = x; return; }",
            "if cas(t.next, s, x) { #[lin] cas(tail, t, x); return; }",
            "#[lin] t.next = x; cas(tail, t, x); return;",
            "if cas(tail, t, x) { #[lin] t.next = x; return; }",
        ],
    );
    format!(
        "op enqueue(v: int) {{ {early} loop {{ {late} let t = tail; let s = t.next; {check} \
         if s != null {{ {help} }} {link} }} }}\n"
    )
}

/// Michael and Scott's, or the shorter one of Doherty and others.
fn cas_dequeue(generator: &mut Generator<'_>) -> String {
    let read = generator.pick(
        &["#[lin(when returns none)] let s = h.next;", "let s = h.next;"],
        &["#[lin] let s = h.next;"],
    );
    let check =
        generator.pick(&["if h != head { continue; }", ""], &["if h == head { continue; }"]);
    let take = generator.pick(
        &[
            "let r = s.val; #[lin] if cas(head, h, s) { @fix@ return r; }",
            "#[lin] if cas(head, h, s) { @fix@ return s.val; }",
        ],
        &[
            "let r = s.val; #[lin] head = s; @fix@ return r;",
            "let r = h.val; #[lin] if cas(head, h, s) { @fix@ return r; }",
            "let r = s.val; if cas(head, h, s) { #[lin] cas(tail, h, s); return r; }",
        ],
    );
    if generator.sometimes() {
        let fix =
            generator.pick(&["let t = tail; if h == t { cas(tail, t, s); }", ""], &["tail = s;"]);
        let empty =
            generator.pick(&["if s == null { return none; }"], &["if h == tail { return none; }"]);
        let take = fill(&take, &[("fix", &fix)]);
        return format!(
            "op dequeue() -> int? {{ loop {{ let h = head; {read} {check} {empty} {take} }} }}\n"
        );
    }
    let meet = generator.pick(
        &["if h == t { if s == null { return none; } cas(tail, t, s); continue; }"],
        &[
            "if h == t { return none; }",
            "if s == null { return none; }",
            "if h == t { if s == null { return none; } }",
            "if h == t { if s == null { return none; } tail = s; continue; }",
        ],
    );
    let take = fill(&take, &[("fix", "")]);
    format!(
        "op dequeue() -> int? {{ loop {{ let h = head; let t = tail; {read} {check} {meet} {take} }} }}\n"
    )
}
