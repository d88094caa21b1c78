//! Random small models, each with a specification that does the same work in one go: some satisfy
//! all conditions, some break one; some are linearizable, some not.

use fastrand::Rng;

/// Writes a model.
type Family = fn(&mut Rng) -> String;

/// The families of models.
const FAMILIES: [(&str, Family); 7] = [
    ("numbers", numbers),
    ("numbers", numbers),
    ("cell", cell),
    ("slots", slots),
    ("pair", pair),
    ("flags", flags),
    ("stack", stack),
];

/// A random model: the name of its family, and its text.
pub fn model(random: &mut Rng) -> (&'static str, String) {
    let (name, family) = FAMILIES[random.usize(..FAMILIES.len())];
    (name, family(random))
}

fn pick<'a>(random: &mut Rng, from: &[&'a str]) -> &'a str {
    from[random.usize(..from.len())]
}

/// The head of an operation that clients call with one of two indexes.
fn ranged(head: &str) -> String {
    head.replace("i: int", "i: int in 0..2")
}

/// An access in the model, and the same in the specification.
#[derive(Clone)]
struct Piece {
    code: String,
    plain: String,
}

fn same(text: &str) -> Piece {
    Piece { code: text.to_owned(), plain: text.to_owned() }
}

/// An access to one of two numbers.
fn piece(random: &mut Rng) -> Piece {
    let x = pick(random, &["x", "y"]);
    let c = pick(random, &["0", "1", "v", "a"]);
    match random.u8(..12) {
        0..=2 => same(&format!("a = {x};")),
        3..=5 => same(&format!("{x} = {c};")),
        6 => same(&format!("{x} = a + 1;")),
        7 => Piece { code: format!("a = faa({x}, 1);"), plain: format!("a = {x}; {x} = {x} + 1;") },
        8 => Piece { code: format!("a = swap({x}, v);"), plain: format!("a = {x}; {x} = v;") },
        9 => Piece {
            code: format!("if cas({x}, {c}, v) {{ a = 5; }}"),
            plain: format!("if {x} == {c} {{ {x} = v; a = 5; }}"),
        },
        10 => same(&format!("if a == {c} {{ {x} = v; }}")),
        _ => same(&format!("if a != v {{ a = {x}; }}")),
    }
}

/// How the code of an operation is guarded, and how it differs from its specification.
fn code(random: &mut Rng, pieces: &[Piece], guard: u8) -> String {
    let mut lines: Vec<String> = pieces.iter().map(|piece| piece.code.clone()).collect();
    let at = random.usize(..lines.len());
    match random.u8(..16) {
        0 if at > 0 => lines.swap(at - 1, at),
        1 => lines.insert(at, lines[at].clone()),
        2 => lines.insert(at, "x = 7;".to_owned()),
        3 => lines.insert(at, "n = n + 1;".to_owned()),
        4 | 5 => lines.insert(at, "faa(n, 1);".to_owned()),
        6 => lines.push("z = v;".to_owned()),
        7 if lines.len() > 1 => drop(lines.remove(at)),
        _ => {}
    }
    let text = lines.join(" ");
    match guard {
        0..=3 => format!("lock(l); {text} unlock(l);"),
        4 => format!("lock(l); {} unlock(l); {}", lines[..at].join(" "), lines[at..].join(" ")),
        5..=8 => format!("atomic {{ {text} }}"),
        _ => text,
    }
}

/// Operations over two numbers: a reader, and one or two that do anything.
fn numbers(random: &mut Rng) -> String {
    let (mut specs, mut ops) = (String::new(), String::new());
    let guard = random.u8(..12);
    for name in ["f", "g"].into_iter().take(random.usize(1..=2)) {
        let pieces: Vec<Piece> = (0..random.usize(1..=3)).map(|_| piece(random)).collect();
        let plain: Vec<&str> = pieces.iter().map(|piece| &*piece.plain).collect();
        let guard = if random.u8(..6) == 0 { random.u8(..12) } else { guard };
        let code = code(random, &pieces, guard);
        let answer = pick(random, &["0", "a", "a"]);
        specs += &format!(
            "    op {name}(v: int) -> int {{ let a = 0; {} return {answer}; }}\n",
            plain.join(" ")
        );
        ops += &format!("op {name}(v: int) -> int {{ let a = 0; {code} return {answer}; }}\n");
    }
    let (plain, reader) = match random.u8(..6) {
        0 | 1 => ("return x;", "return x;"),
        2 => ("return x + y * 10;", "return x + y * 10;"),
        3 => ("return x + y * 10;", "lock(l); let r = x + y * 10; unlock(l); return r;"),
        4 => ("return x + y * 10;", "let r = 0; atomic { r = x + y * 10; } return r;"),
        _ => (
            "return x + y * 10;",
            "loop { let p = x; let q = y; if p == x { return p + q * 10; } }",
        ),
    };
    let start = [random.u8(..2), random.u8(..2)];
    format!(
        "spec {{\n    state x: int = {0};\n    state y: int = {1};\n{specs}    op read() -> int {{ {plain} \
         }}\n}}\nshared x: int = {0};\nshared y: int = {1};\nshared n: int;\nshared z: int;\nshared l: \
         lock;\n{ops}op read() -> int {{ {reader} }}\n",
        start[0], start[1]
    )
}

/// One number, changed by single steps, by retry loops or under a lock.
fn cell(random: &mut Rng) -> String {
    let add = pick(
        random,
        &[
            "loop { let a = x; if cas(x, a, a + v) { return a; } }",
            "loop { let a = x; if cas(x, a, a + v) { return a; } }",
            "return faa(x, v);",
            "lock(l); let a = x; x = a + v; unlock(l); return a;",
            "lock(l); let a = x; x = a; x = a + v; unlock(l); return a;",
            "lock(l); let a = x; z = a; x = a + v; unlock(l); return a;",
            "lock(l); let a = x; x = a + 1; x = a + v; unlock(l); return a;",
            "let a = x; x = a + v; return a;",
            "let a = faa(x, v); z = a; return a;",
            "let a = faa(x, 0); faa(x, v); return a;",
            "loop { let a = x; if a == x { if cas(x, a, a + v) { return a; } } }",
        ],
    );
    let set = pick(
        random,
        &[
            "x = v;",
            "swap(x, v);",
            "lock(l); x = v; unlock(l);",
            "lock(l); x = v; z = v; unlock(l);",
            "lock(l); z = v; x = v; unlock(l);",
            "x = 0; x = v;",
            "z = v; x = v;",
            "let a = x; if a != v { x = v; }",
            "loop { let a = x; if a == v { return; } if cas(x, a, v) { return; } }",
            "let a = x; if cas(x, a, v) { return; } x = v;",
        ],
    );
    let test = pick(
        random,
        &[
            "if cas(x, v, 0) { return true; } return false;",
            "lock(l); let a = x; if a == v { x = 0; } unlock(l); return a == v;",
            "let a = x; if a == v { x = 0; return true; } return false;",
            "let a = x; if a != v { return false; } if cas(x, v, 0) { return true; } return false;",
            "loop { let a = x; if a != v { return false; } if cas(x, v, 0) { return true; } }",
            "loop { let a = x; if a != v { z = a; return false; } if cas(x, v, 0) { return true; } }",
        ],
    );
    let get = pick(
        random,
        &[
            "return x;",
            "return x;",
            "lock(l); let a = x; unlock(l); return a;",
            "let a = x; let b = x; return b;",
            "let a = x; let b = x; return a;",
            "let a = x; let b = x; return a + b - a;",
            "loop { let a = x; let b = x; if a == b { return a; } }",
            "let a = x; let b = x; if a == b { return a; } return 0;",
        ],
    );
    let all = [
        ("add(v: int) -> int", "let a = x; x = a + v; return a;", add),
        ("set(v: int)", "x = v;", set),
        ("test(v: int) -> bool", "if x == v { x = 0; return true; } return false;", test),
        ("get() -> int", "return x;", get),
    ];
    let without = random.usize(..3);
    let start = random.u8(..3);
    let (mut specs, mut ops) = (String::new(), String::new());
    for (index, (head, plain, code)) in all.into_iter().enumerate() {
        if index != without && (index == 3 || index != (without + 1) % 3 || random.bool()) {
            specs += &format!("    op {head} {{ {plain} }}\n");
            ops += &format!("op {head} {{ {code} }}\n");
        }
    }
    format!(
        "spec {{\n    state x: int = {start};\n{specs}}}\nshared x: int = {start};\nshared z: int;\nshared l: \
         lock;\n{ops}"
    )
}

/// Two numbers, each with a lock of its own: what happens to one concerns the other or not.
fn slots(random: &mut Rng) -> String {
    let body = pick(
        random,
        &[
            "s[i] = v;",
            "h[i] = v; s[i] = v;",
            "s[i] = v; h[i] = v;",
            "h[i] = v; s[i] = v; h[i] = 0;",
            "h[0] = v; s[i] = v;",
            "h[i] = s[i]; s[i] = v;",
            "s[i] = 0; s[i] = v;",
            "let a = h[1 - i]; h[i] = a + v; s[i] = v;",
            "h[i] = v; n = n + 1; s[i] = v;",
            "h[i] = v; faa(n, 1); s[i] = v;",
        ],
    );
    let put = match random.u8(..8) {
        0..=3 => format!("lock(m[i]); {body} unlock(m[i]);"),
        4 => format!("lock(m[0]); {body} unlock(m[0]);"),
        5 => format!("atomic {{ {body} }}"),
        _ => body.to_owned(),
    };
    let (plain, read) = match random.u8(..4) {
        0 | 1 => ("get(i: int) -> int { return s[i]; }", "return s[i];"),
        2 => ("get(i: int) -> int { return s[i]; }", "let a = s[i]; let b = s[i]; return b;"),
        _ => ("get() -> int { return s[0] + 10 * s[1]; }", "return s[0] + 10 * s[1];"),
    };
    let head = ranged(plain.split_once(" {").unwrap_or_default().0);
    let move_code = pick(
        random,
        &[
            "lock(m[0]); lock(m[1]); let a = s[0]; s[1] = a; unlock(m[1]); unlock(m[0]);",
            "lock(m[0]); let a = s[0]; s[1] = a; unlock(m[0]);",
            "atomic { s[1] = s[0]; }",
            "let a = s[0]; s[1] = a;",
        ],
    );
    let (copy_plain, copy) = match random.u8(..3) {
        0 => (
            "    op copy() { s[1] = s[0]; }\n".to_owned(),
            format!("op copy() {{ {move_code} }}\n"),
        ),
        _ => Default::default(),
    };
    format!(
        "spec {{\n    state s: [int; 2];\n    op put(i: int, v: int) {{ s[i] = v; }}\n    op \
         {plain}\n{copy_plain}}}\nshared s: [int; 2];\nshared h: [int; 2];\nshared n: int;\nshared m: [lock; \
         2];\nop put(i: int in 0..2, v: int) {{ {put} }}\nop {head} {{ {read} }}\n{copy}"
    )
}

/// A pair of numbers with a version, as in a sequence lock.
fn pair(random: &mut Rng) -> String {
    let write = pick(
        random,
        &[
            "lock(l); n = n + 1; x = v; y = v; n = n + 1; unlock(l);",
            "lock(l); faa(n, 1); x = v; y = v; faa(n, 1); unlock(l);",
            "lock(l); x = v; y = v; unlock(l);",
            "atomic { x = v; y = v; }",
            "atomic { x = v; y = v; n = n + 1; }",
            "x = v; y = v;",
            "lock(l); y = v; x = v; unlock(l);",
        ],
    );
    let read = pick(
        random,
        &[
            "loop { let a = n; let p = x; let q = y; if a == n && a % 2 == 0 { return p + 10 * q; } }",
            "loop { let a = n; let p = x; let q = y; if a == n { return p + 10 * q; } }",
            "let p = x; let q = y; return p + 10 * q;",
            "loop { let p = x; let q = y; if p == q { return p + 10 * q; } }",
            "lock(l); let p = x; let q = y; unlock(l); return p + 10 * q;",
        ],
    );
    format!(
        "spec {{\n    state x: int;\n    op write(v: int) {{ x = v; }}\n    op read() -> int {{ return x + 10 * x; \
         }}\n}}\nshared x: int;\nshared y: int;\nshared n: int;\nshared l: lock;\nop write(v: int) {{ {write} }}\nop \
         read() -> int {{ {read} }}\n"
    )
}

/// A set of two numbers, as flags.
fn flags(random: &mut Rng) -> String {
    let add = pick(
        random,
        &[
            "if cas(has[i], false, true) { return true; } return false;",
            "lock(m[i]); let h = has[i]; has[i] = true; unlock(m[i]); return !h;",
            "lock(m[i]); let h = has[i]; if !h { n[i] = 1; has[i] = true; } unlock(m[i]); return !h;",
            "lock(m[i]); let h = has[i]; if !h { has[i] = true; n[i] = 1; } unlock(m[i]); return !h;",
            "lock(m[0]); let h = has[i]; if !h { has[i] = true; faa(n[0], 1); } unlock(m[0]); return !h;",
            "if has[i] { return false; } lock(m[i]); let h = has[i]; has[i] = true; unlock(m[i]); return !h;",
            "let h = has[i]; has[i] = true; return !h;",
            "return !swap(has[i], true);",
        ],
    );
    let remove = pick(
        random,
        &[
            "if cas(has[i], true, false) { return true; } return false;",
            "lock(m[i]); let h = has[i]; has[i] = false; unlock(m[i]); return h;",
            "lock(m[i]); let h = has[i]; if h { has[i] = false; n[i] = 0; } unlock(m[i]); return h;",
            "lock(m[0]); let h = has[i]; if h { has[i] = false; faa(n[0], 0 - 1); } unlock(m[0]); return h;",
            "let h = has[i]; has[i] = false; return h;",
            "return swap(has[i], false);",
        ],
    );
    let (question, plain, answer) = match random.u8(..6) {
        0..=3 => ("contains(i: int) -> bool", "return has[i];", "return has[i];"),
        4 => ("any() -> bool", "return has[0] || has[1];", "return has[0] || has[1];"),
        _ => (
            "any() -> bool",
            "return has[0] || has[1];",
            "let a = has[0]; let b = has[1]; return a || b;",
        ),
    };
    let start = pick(random, &["has[0] = true;", "has[1] = true;", ""]);
    let init = if start.is_empty() { String::new() } else { format!("init {{ {start} }}\n") };
    let first = match start {
        "has[0] = true;" => " = [true, false]",
        "has[1] = true;" => " = [false, true]",
        _ => "",
    };
    format!(
        "spec {{\n    state has: [bool; 2]{first};\n    op add(i: int) -> bool {{ if has[i] {{ return false; }} \
         has[i] = true; return true; }}\n    op remove(i: int) -> bool {{ if !has[i] {{ return false; }} \
         has[i] = false; return true; }}\n    op {question} {{ {plain} }}\n}}\nshared has: [bool; 2];\nshared n: \
         [int; 2];\nshared m: [lock; 2];\n{init}op add(i: int in 0..2) -> bool {{ {add} }}\nop remove(i: int in 0..2) \
         -> bool {{ {remove} }}\nop {} {{ {answer} }}\n",
        ranged(question)
    )
}

/// A linked stack.
fn stack(random: &mut Rng) -> String {
    let push = pick(
        random,
        &[
            "loop { let t = top; x.next = t; if cas(top, t, x) { return; } }",
            "loop { let t = top; x.next = t; if cas(top, t, x) { return; } }",
            "lock(l); let t = top; x.next = t; top = x; unlock(l);",
            "lock(l); let t = top; top = x; x.next = t; unlock(l);",
            "lock(l); let t = top; x.next = t; top = x; n = n + 1; unlock(l);",
            "lock(l); let t = top; x.next = t; n = n + 1; top = x; unlock(l);",
            "let t = swap(top, x); x.next = t;",
            "let t = top; x.next = t; top = x;",
        ],
    );
    let pop = pick(
        random,
        &[
            "loop { let t = top; if t == null { return none; } let s = t.next; if cas(top, t, s) { return t.val; } }",
            "loop { let t = top; if t == null { return none; } let s = t.next; if cas(top, t, s) { return t.val; } }",
            "lock(l); let t = top; if t == null { unlock(l); return none; } let s = t.next; top = s; let r = t.val; \
             unlock(l); return r;",
            "lock(l); let t = top; if t == null { unlock(l); return none; } let s = t.next; top = s; t.dead = true; \
             let r = t.val; unlock(l); return r;",
            "lock(l); let t = top; if t == null { unlock(l); return none; } let s = t.next; t.dead = true; top = s; \
             let r = t.val; unlock(l); return r;",
            "let t = top; if t == null { return none; } let s = t.next; top = s; return t.val;",
        ],
    );
    let peek = pick(
        random,
        &[
            "let t = top; if t == null { return none; } return t.val;",
            "let t = top; if t == null { return none; } return t.val;",
            "let t = top; if t == null || t.dead { return none; } return t.val;",
            "let t = top; while t != null && t.dead { t = t.next; } if t == null { return none; } return t.val;",
            "",
        ],
    );
    let peek = match peek {
        "" => String::new(),
        code => format!("op peek() -> int? {{ {code} }}\n"),
    };
    let start = match random.u8(..2) {
        0 => "spec stack;",
        _ => "spec stack([1]);\ninit { top = new Node { val: 1 }; }",
    };
    format!(
        "{start}\nstruct Node {{ val: int, next: Node, dead: bool }}\nshared top: Node;\nshared n: int;\nshared l: \
         lock;\nop push(v: int) {{ let x = new Node {{ val: v }}; {push} }}\nop pop() -> int? {{ {pop} }}\n{peek}"
    )
}
