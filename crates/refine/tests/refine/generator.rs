//! Random small models: some linearizable, some not.

use fastrand::Rng;

/// A random model. Half are over integers, with the same code in one atomic step as their
/// specification; half are stacks with one or two random flaws (or none that matters).
pub fn model(random: &mut Rng) -> String {
    match random.u8(..4) {
        0 | 1 => integers(random),
        2 => stack(random),
        _ => tids(random),
    }
}

pub fn pick<'a>(random: &mut Rng, from: &[&'a str]) -> &'a str {
    from[random.usize(..from.len())]
}

/// Operations over two integers. A statement touches one variable; the specification runs all of
/// them in one go.
fn integers(random: &mut Rng) -> String {
    let mut spec = String::from("spec {\n    state x: int;\n    state y: int;\n");
    let mut model = String::from("shared x: int = 0;\nshared y: int = 0;\nshared l: lock;\n");
    let locked = random.u8(..4);
    for name in ["f", "g"] {
        let mut body: Vec<&str> = Vec::new();
        let (mut code, mut atomic) = (String::new(), String::new());
        for _ in 0..random.usize(1..4) {
            body.push(pick(
                random,
                &[
                    "a = x;",
                    "a = y;",
                    "x = v;",
                    "y = v;",
                    "x = a;",
                    "y = a + 1;",
                    "x = 1;",
                    "a = faa(x, 1);",
                    "if cas(x, a, v) { a = 5; }",
                    "if cas(y, 0, v) { a = 6; }",
                    "b = choose(0..2); if b == 1 { a = v; }",
                    "if a == v { a = 7; }",
                ],
            ));
        }
        for statement in &body {
            code += &format!("    {statement}\n");
            let plain = match *statement {
                "a = faa(x, 1);" => "a = x; x = x + 1;",
                "if cas(x, a, v) { a = 5; }" => "if x == a { x = v; a = 5; }",
                "if cas(y, 0, v) { a = 6; }" => "if y == 0 { y = v; a = 6; }",
                other => other,
            };
            atomic += &format!("        {plain}\n");
        }
        // Locks make linearizable programs out of any code, if both operations take them.
        let lock = locked == 0 || (locked == 1 && name == "f");
        let (before, after) = if lock { ("    lock(l);\n", "    unlock(l);\n") } else { ("", "") };
        let locals = "    let a = 0;\n    let b = 0;\n";
        model += &format!(
            "op {name}(v: int) -> int {{\n{locals}{before}{code}{after}    return a + b;\n}}\n"
        );
        spec += &format!(
            "    op {name}(v: int) -> int {{\n        let a = 0;\n        let b = 0;\n{atomic}        return a + b;\n    }}\n"
        );
    }
    format!("{spec}}}\n{model}bounds {{ threads: 2, ops: 2, values: 2 }}\n")
}

/// Treiber's stack with random changes.
fn stack(random: &mut Rng) -> String {
    let flaw = random.u8(..7);
    let push = match flaw {
        1 => "let t = top; x.next = t; top = x; return;",
        2 => "let t = top; if t == top { x.next = t; } top = x; return;",
        _ => "let t = top; x.next = t; if cas(top, t, x) { return; }",
    };
    let read = if random.bool() { "let r = t.val; " } else { "" };
    let answer = if read.is_empty() { "t.val" } else { "r" };
    let pop = match flaw {
        3 => format!("{read}let s = t.next; top = s; return {answer};"),
        4 => format!("{read}let s = t.next; if t == top {{ top = s; return {answer}; }}"),
        5 => format!("{read}let s = t.next; if cas(top, t, s) {{ return s.val; }}"),
        6 => format!(
            "{read}let s = t.next; if cas(top, t, s) {{ seen = t; return {answer}; }} if seen == t {{ return none; }}"
        ),
        _ => format!("{read}let s = t.next; if cas(top, t, s) {{ return {answer}; }}"),
    };
    let spec = pick(random, &["stack", "stack", "stack", "queue"]);
    let (put, take) = if spec == "stack" { ("push", "pop") } else { ("enqueue", "dequeue") };
    format!(
        "spec {spec};\nstruct Node {{ val: int, next: Node }}\nshared top: Node;\nshared seen: Node;\n\
         op {put}(v: int) {{\n    let x = new Node {{ val: v }};\n    loop {{ {push} }}\n}}\n\
         op {take}() -> int? {{\n    loop {{\n        let t = top;\n        if t == null {{ return none; }}\n        {pop}\n    }}\n}}\n\
         bounds {{ threads: 2, ops: 2, values: 2 }}\n"
    )
}

/// Operations that remember who was there.
fn tids(random: &mut Rng) -> String {
    let claim = pick(
        random,
        &[
            "if cas(owner, none, me) { return true; } return false;",
            "let o = owner; if o == none { owner = me; return true; } return false;",
            "atomic { if owner == none { owner = me; return true; } } return false;",
        ],
    );
    let drop = pick(
        random,
        &[
            "let o = owner; if o == me { owner = none; return true; } return false;",
            "if cas(owner, me, none) { return true; } return false;",
            "let o = ll(owner); if o == none { return false; } if sc(owner, none) { return true; } return false;",
        ],
    );
    format!(
        "spec {{\n    state taken: bool;\n    op claim() -> bool {{ if taken {{ return false; }} taken = true; return true; }}\n    \
         op drop() -> bool {{ if !taken {{ return false; }} taken = false; return true; }}\n}}\n\
         shared owner: tid?;\nop claim() -> bool {{ {claim} }}\nop drop() -> bool {{ {drop} }}\n\
         bounds {{ threads: 2, ops: 2, values: 1 }}\n"
    )
}
