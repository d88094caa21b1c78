//! Random small programs over a linked list: stacks here, queues and sets beside.
//!
//! Each starts from a right skeleton. At every place one of several parts is chosen: most are
//! equivalent (a read more, a check more, another order, allocation early or late, the point at
//! another step under the same lock), and now and then one is a flaw. So a good share is right, and
//! what is wrong is wrong in few places.

use crate::random_queues::queue;
use crate::random_sets::set;
use fastrand::Rng;

/// Chooses the parts of a program.
pub struct Generator<'a> {
    random: &'a mut Rng,
    /// A flaw is chosen with this probability at each place, in percent.
    flaws: u8,
}

/// A random program.
pub fn program(random: &mut Rng) -> String {
    let flaws = *random.choice(&[0, 3, 8, 20]).unwrap_or(&0);
    with_flaws(random, flaws)
}

/// A random program in which each place has a flaw with this probability, in percent.
pub fn with_flaws(random: &mut Rng, flaws: u8) -> String {
    let kind = random.u8(..3);
    let mut generator = Generator { random, flaws };
    let model = match kind {
        0 => stack(&mut generator),
        1 => queue(&mut generator),
        _ => set(&mut generator),
    };
    format!("{model}bounds {{ threads: 2, ops: 2, values: 2 }}\n")
}

impl Generator<'_> {
    /// One of the right parts, or now and then a wrong one.
    pub fn pick(&mut self, right: &[&str], wrong: &[&str]) -> String {
        let flawed = !wrong.is_empty() && self.random.u8(..100) < self.flaws;
        let from = if flawed { wrong } else { right };
        self.random.choice(from).copied().unwrap_or_default().to_owned()
    }

    /// Whether to do what changes nothing.
    pub fn sometimes(&mut self) -> bool {
        self.random.u8(..4) == 0
    }

    /// The parts in any order.
    pub fn shuffled(&mut self, parts: &mut [String]) -> String {
        self.random.shuffle(parts);
        parts.join(" ")
    }
}

/// Replaces `@name` by its part.
pub fn fill(template: &str, parts: &[(&str, &str)]) -> String {
    let mut text = template.to_owned();
    for (name, part) in parts {
        text = text.replace(&format!("@{name}@"), part);
    }
    text
}

fn stack(generator: &mut Generator<'_>) -> String {
    let (push, pop) = match generator.pick(&["cas", "locked"], &["mixed"]).as_str() {
        "cas" => (cas_push(generator), cas_pop(generator)),
        "locked" => (locked_push(generator), locked_pop(generator)),
        _ => (cas_push(generator), locked_pop(generator)),
    };
    format!(
        "spec stack;\nstruct Node {{ val: int, next: Node }}\nshared top: Node = null;\n\
         shared hint: Node = null;\nshared l: lock;\n{push}{pop}"
    )
}

fn cas_push(generator: &mut Generator<'_>) -> String {
    let (before, inside) = *generator
        .random
        .choice(&[
            ("let x = new Node { val: v };", "x.next = t;"),
            ("let x = new Node {}; x.val = v;", "x.next = t;"),
            ("", "let x = new Node { val: v, next: t };"),
            ("", "let x = new Node { val: v }; x.next = t;"),
        ])
        .unwrap_or(&("", ""));
    let link = generator.pick(&[""], &["x.next = x;", "x.next = null;", "x.next = hint;"]);
    let inside = format!("{inside} {link}");
    let read = generator.pick(
        &["let t = top;", "let t = top;", "let first = top; let t = top;", "let t = top; t = top;"],
        &["let t = hint;"],
    );
    let publish = generator.pick(
        &[
            "#[lin] if cas(top, t, x) { return; }",
            "#[lin] if cas(top, t, x) { return; }",
            "#[lin(when done)] let done = cas(top, t, x); if done { return; }",
            "#[lin] if cas(top, t, x) { hint = x; return; }",
            "#[lin] if cas(top, t, x) { let after = top; return; }",
            "let again = top; if again == t { #[lin] if cas(top, t, x) { return; } }",
        ],
        &[
            "#[lin] top = x; return;",
            "if t == top { #[lin] top = x; return; }",
            "#[lin] if cas(top, t, x) { return; } return;",
            "#[lin] if cas(top, null, x) { return; }",
            "if cas(top, t, x) { #[lin] hint = x; return; }",
            "#[lin] if cas(top, t, x) { x.next = t; x.next = null; return; }",
        ],
    );
    format!("op push(v: int) {{ {before} loop {{ {read} {inside} {publish} }} }}\n")
}

fn locked_push(generator: &mut Generator<'_>) -> String {
    let (early, late) = if generator.random.bool() {
        ("let x = new Node { val: v };", "")
    } else {
        ("", "let x = new Node { val: v };")
    };
    let write = generator.pick(
        &[
            "#[lin] top = x; unlock(l);",
            "#[lin] top = x; let after = top; unlock(l);",
            "top = x; #[lin] unlock(l);",
            "#[lin] cas(top, t, x); unlock(l);",
            "#[lin] top = x; hint = x; unlock(l);",
        ],
        &[
            "unlock(l); #[lin] top = x;",
            "#[lin] top = t; unlock(l);",
            "#[lin] top = x; #[lin] unlock(l);",
            "#[lin] hint = x; top = x; unlock(l);",
            "#[lin] top = x; unlock(l); x.next = null;",
        ],
    );
    let link = generator.pick(
        &["let t = top; x.next = t;", "x.next = top; let t = x.next;"],
        &[
            "let t = top;",
            "let t = hint; x.next = t;",
            "let t = top; x.next = t; if t != null { x.next = t.next; }",
        ],
    );
    let lock = generator.pick(&["lock(l);"], &["lock(l); unlock(l); lock(l);"]);
    format!("op push(v: int) {{ {early} {lock} {late} {link} {write} }}\n")
}

fn cas_pop(generator: &mut Generator<'_>) -> String {
    let read = generator.pick(
        &[
            "#[lin(when t == null)] let t = top;",
            "#[lin(when t == null)] let t = top;",
            "let t = top;",
        ],
        &["#[lin] let t = top;", "#[lin(when t == null)] let t = hint;"],
    );
    let empty =
        generator.pick(&["if t == null { return none; }"], &["", "if t == hint { return none; }"]);
    let early = generator.sometimes();
    let mut reads = vec!["let s = t.next;".to_owned()];
    if early {
        reads.push("let r = t.val;".to_owned());
    }
    if generator.sometimes() {
        reads.push("let again = top; if again != t { continue; }".to_owned());
    }
    let reads = generator.shuffled(&mut reads);
    let answer = if early { "r" } else { "t.val" };
    let answer = generator.pick(&[answer], &["s.val", "top.val"]);
    let take = generator.pick(
        &[
            "#[lin] if cas(top, t, s) { return @; }",
            "#[lin] if cas(top, t, s) { return @; }",
            "#[lin(when done)] let done = cas(top, t, s); if done { return @; }",
            "#[lin] if cas(top, t, s) { hint = s; return @; }",
        ],
        &[
            "#[lin] top = s; return @;",
            "if t == top { #[lin] top = s; return @; }",
            "#[lin] if cas(top, t, s) { return @; } return none;",
            "#[lin] if cas(top, t, null) { return @; }",
            "if cas(top, t, s) { #[lin] hint = s; return @; }",
        ],
    );
    let take = take.replace('@', &answer);
    format!("op pop() -> int? {{ loop {{ {read} {empty} {reads} {take} }} }}\n")
}

fn locked_pop(generator: &mut Generator<'_>) -> String {
    let read = generator.pick(
        &["#[lin(when t == null)] let t = top;", "let t = top;"],
        &["#[lin] let t = top;", "let t = hint;"],
    );
    let empty = generator.pick(
        &["if t == null { unlock(l); return none; }"],
        &[
            "if t == null { return none; }",
            "if t == null { unlock(l); unlock(l); return none; }",
            "",
        ],
    );
    let point = generator.pick(&["#[lin]"], &["", "#[lin(when s == null)]"]);
    let take = generator.pick(
        &[
            "@p@ top = s; unlock(l); return t.val;",
            "@p@ top = s; let r = t.val; unlock(l); return r;",
            "let r = t.val; top = s; @p@ unlock(l); return r;",
            "let r = t.val; @p@ cas(top, t, s); unlock(l); return r;",
        ],
        &[
            "unlock(l); @p@ top = s; return t.val;",
            "@p@ top = s; unlock(l); return s.val;",
            "top = s; unlock(l); @p@ hint = s; return t.val;",
            "@p@ top = null; unlock(l); return t.val;",
        ],
    );
    let take = fill(&take, &[("p", &point)]);
    let next =
        generator.pick(&["let s = t.next;", "let u = t.next; let s = t.next;"], &["let s = t;"]);
    format!("op pop() -> int? {{ lock(l); {read} {empty} {next} {take} }}\n")
}
