//! Random small models with persistent memory: some survive crashes, in one way or another, and some
//! do not.

use fastrand::Rng;
use linchpin_ir::interpreter::Memory;

/// A random model, and how memory is used.
pub fn model(random: &mut Rng) -> (String, Memory) {
    let source = match random.u8(..11) {
        0 => integers(random),
        1 => register(random),
        2 => return stack(random),
        3 => claims(random),
        4 | 5 => signed(random),
        6..=8 => intent(random),
        9 => log(random),
        _ => cells(random),
    };
    (source, Memory::Collected)
}

fn pick<'a>(random: &mut Rng, from: &[&'a str]) -> &'a str {
    from[random.usize(..from.len())]
}

/// Something, or nothing one time in three.
fn maybe<'a>(random: &mut Rng, code: &'a str) -> &'a str {
    if random.u8(..3) == 0 { "" } else { code }
}

/// What makes a variable persistent, or tries to.
fn keep(random: &mut Rng, place: &str) -> String {
    match random.u8(..8) {
        0..=3 => format!("persist({place});"),
        4 => format!("flush({place}); fence;"),
        5 => format!("flush({place});"),
        6 => "fence;".to_owned(),
        _ => String::new(),
    }
}

/// Two integers, on one line or two, and a volatile one.
fn declarations(random: &mut Rng) -> String {
    let line = if random.bool() { "#[line(both)] " } else { "" };
    format!("{line}persistent shared x: int;\n{line}persistent shared y: int;\nshared z: int;\n")
}

fn recovery(random: &mut Rng) -> String {
    let code = match random.u8(..7) {
        0..=2 => return String::new(),
        3 => "let a = y; x = a;".to_owned(),
        4 => format!("let a = x; if a != 0 {{ y = a; {} }}", keep(random, "y")),
        5 => format!("let a = x; let b = y; if a != b {{ x = b; {} }}", keep(random, "x")),
        _ => format!("let a = y; if a == 1 {{ x = 0; {} y = 0; }}", keep(random, "x")),
    };
    format!("recover {{ {code} }}\n")
}

/// Operations over integers. The specification runs the same code in one go.
fn integers(random: &mut Rng) -> String {
    let mut spec =
        String::from("spec {\n    state x: int;\n    state y: int;\n    state z: int;\n");
    let mut model = declarations(random);
    for name in ["f", "g"] {
        let (mut code, mut atomic) = (String::new(), String::new());
        for _ in 0..random.usize(1..3) {
            let statement = pick(
                random,
                &["a = x;", "a = y;", "x = v;", "y = v;", "x = a;", "a = faa(x, 1);", "z = v;"],
            );
            code += &format!("    {statement}\n");
            let plain = match statement {
                "a = faa(x, 1);" => "a = x; x = x + 1;",
                "z = v;" => "",
                other => other,
            };
            atomic += &format!("        {plain}\n");
            let place = if random.bool() { "x" } else { "y" };
            code += &format!("    {}\n", keep(random, place));
        }
        model += &format!("op {name}(v: int) -> int {{\n    let a = 0;\n{code}    return a;\n}}\n");
        spec += &format!(
            "    op {name}(v: int) -> int {{\n        let a = 0;\n{atomic}        return a;\n    }}\n"
        );
    }
    let threads = random.u8(1..3);
    let recovery = recovery(random);
    format!("{spec}}}\n{model}{recovery}bounds {{ threads: {threads}, ops: 2, values: 2 }}\n")
}

/// A register that is written, sometimes with a copy that recovery goes back to.
fn register(random: &mut Rng) -> String {
    let head = declarations(random);
    let write = match random.u8(..4) {
        0 | 1 => format!("x = v; {}", keep(random, "x")),
        2 => format!("y = v; {} x = v; {}", keep(random, "y"), keep(random, "x")),
        _ => format!("z = v; x = v; {} z = 0;", keep(random, "x")),
    };
    let read = match random.u8(..3) {
        0 | 1 => format!("let a = x; {} return a;", keep(random, "x")),
        _ => format!(
            "let b = z; if b != 0 {{ return b; }} let a = x; {} return a;",
            keep(random, "x")
        ),
    };
    let recovery = recovery(random);
    format!(
        "spec {{\n    state v: int;\n    op write(w: int) {{ v = w; }}\n    op read() -> int {{ return v; }}\n}}\n\
         {head}op write(v: int) {{ {write} }}\nop read() -> int {{ {read} }}\n{recovery}\
         bounds {{ threads: 2, ops: 2, values: {} }}\n",
        random.u8(1..3)
    )
}

/// Treiber's stack, with what makes it persistent left out here and there, and with memory that is
/// taken again.
fn stack(random: &mut Rng) -> (String, Memory) {
    let memory = if random.bool() { Memory::Reuse } else { Memory::Collected };
    let free = if memory == Memory::Collected { "" } else { "free(t); " };
    let node = maybe(random, "persist(x.val);");
    let pushed = maybe(random, "persist(top);");
    let popped = maybe(random, "persist(top);");
    let empty = maybe(random, "persist(top);");
    let read = maybe(random, "persist(top);");
    let fields =
        if random.bool() { "val: int, next: Node" } else { "val: int, #[line(links)] next: Node" };
    let recovery = match random.u8(..3) {
        0 => {
            "recover { let t = top; if t != null { let n = t.next; if n != null { top = t; } } }\n"
        }
        _ => "",
    };
    let threads = random.u8(1..3);
    let source = format!(
        "spec stack;\npersistent struct Node {{ {fields} }}\npersistent shared top: Node;\n\
         op push(v: int) {{\n    let x = new Node {{ val: v }};\n    loop {{ let t = top; {read} x.next = t; {node} \
         if cas(top, t, x) {{ {pushed} return; }} }}\n}}\n\
         op pop() -> int? {{\n    loop {{\n        let t = top; {read}\n        if t == null {{ {empty} return none; }}\n        \
         let s = t.next; let r = t.val; if cas(top, t, s) {{ {popped} {free}return r; }}\n    }}\n}}\n\
         {recovery}bounds {{ threads: {threads}, ops: 2, values: {} }}\n",
        random.u8(1..3)
    );
    (source, memory)
}

/// A flag that one thread gets, with an answer to what became of a call.
fn claims(random: &mut Rng) -> String {
    let got = maybe(random, "persist(owner);");
    let lost = maybe(random, "persist(owner);");
    let claim = pick(
        random,
        &[
            "if cas(owner, none, me) { GOT return true; } LOST return false;",
            "let o = owner; if o == none { owner = me; GOT return true; } LOST return false;",
            "let o = owner; LOST if o != none { return false; } if cas(owner, none, me) { GOT return true; } return false;",
        ],
    );
    let claim = claim.replace("GOT", got).replace("LOST", lost);
    let answer = pick(
        random,
        &[
            "let o = owner; if o == t { return true; } return none;",
            "let o = owner; if o == t { return true; } if o != none { return false; } return none;",
            "let o = owner; PERSIST if o == t { return true; } return none;",
            "let o = owner; if o == t { return true; } persist(owner); return none;",
        ],
    );
    let answer = answer.replace("PERSIST", "persist(owner);");
    let recovery =
        maybe(random, "recover { let o = owner; if o != none { owner = o; persist(owner); } }\n");
    let kept = maybe(random, "persist(owner);");
    let (drop, dropped) = match random.u8(..3) {
        0 => (
            format!("op drop() {{ owner = none; {kept} }}\n"),
            "    op drop() { taken = false; }\n",
        ),
        _ => (String::new(), ""),
    };
    format!(
        "spec {{\n    state taken: bool;\n    op claim() -> bool {{ if taken {{ return false; }} taken = true; return true; }}\n\
         {dropped}}}\n\
         persistent shared owner: tid?;\nop claim() -> bool {{ {claim} }}\n{drop}\
         recover(t: tid) -> bool? {{ {answer} }}\n{recovery}bounds {{ threads: 2, ops: 2 }}\n"
    )
}

/// A register whose writes say by whom they are, with an answer to what became of a write. Before
/// one is replaced, it is written down that it took effect; or not.
fn signed(random: &mut Rng) -> String {
    let mostly = |random: &mut Rng, code: &'static str| if random.u8(..6) == 0 { "" } else { code };
    let noted = mostly(random, "persist(seen[o]);");
    let note = match random.u8(..5) {
        0 => String::new(),
        _ => format!("if c.by != none {{ let o = unwrap(c.by); seen[o] = true; {noted} }}"),
    };
    let before = mostly(random, "persist(w);");
    let kept = mostly(random, "persist(w);");
    let put = pick(
        random,
        &[
            "let c = w; BEFORE NOTE if !cas(w, c, W { v: v, by: me }) { return false; } KEPT return true;",
            "let c = w; BEFORE NOTE w = W { v: v, by: me }; KEPT return true;",
        ],
    );
    let put = put.replace("BEFORE", before).replace("NOTE", &note).replace("KEPT", kept);
    let read = mostly(random, "persist(w);");
    let answer = pick(
        random,
        &[
            "let c = w; if c.by == t { return true; } if seen[t] { return true; } return none;",
            "let c = w; if c.by == t { return true; } if seen[t] { return true; } return none;",
            "let c = w; if c.by == t { return true; } return none;",
            "if seen[t] { return true; } return none;",
        ],
    );
    let roles = match random.u8(..3) {
        0 => "bounds { threads: 2, ops: 1, values: 1 }",
        _ => {
            "role putter: put;\nrole other: put, get;\nbounds { putter: 1, other: 1, ops: 2, values: 1 }"
        }
    };
    format!(
        "spec {{\n    state x: int;\n    op put(v: int) -> bool {{ if choose(0..2) == 0 {{ return false; }} x = v; return true; }}\n    \
         op get() -> int {{ return x; }}\n}}\n\
         record W {{ v: int, by: tid? }}\npersistent shared w: W;\npersistent shared seen: [bool; 2];\n\
         op put(v: int) -> bool {{ {put} }}\nop get() -> int {{ let c = w; {read} return c.v; }}\n\
         recover(t: tid) -> bool? {{ {answer} }}\n{roles}\n"
    )
}

/// A register whose writes are announced: an interrupted one may take effect long after the crash,
/// when its thread, or another one, settles it.
fn intent(random: &mut Rng) -> String {
    let read = match random.u8(..6) {
        0 => "let w = who; if w == me { atomic { if y != 0 { x = y; } } persist(x); } let a = x;",
        1 => "let a = x; persist(x);",
        _ => "let a = x;",
    };
    let recovery = match random.u8(..8) {
        0 => "recover { let a = y; if a != 0 { x = a; persist(x); } }\n",
        _ => "",
    };
    let settled = if random.u8(..8) == 0 { "" } else { "persist(x);" };
    let settle = match random.u8(..4) {
        0 => "atomic { if y != 0 && who == me { x = y; } }",
        _ => "atomic { if y != 0 { x = y; } SETTLED }",
    };
    let (settle, settled) = match settle.contains("SETTLED") {
        true => (settle.replace("SETTLED", settled), ""),
        false => (settle.to_owned(), settled),
    };
    let write = pick(
        random,
        &[
            "atomic { who = me; y = v; } persist(y); atomic { x = v; y = 0; } persist(x);",
            "atomic { who = me; y = v; } persist(y); atomic { x = v; } persist(x);",
            "atomic { who = me; y = v; persist(y); } x = v; persist(x); y = 0; persist(y);",
            "atomic { who = me; y = v; } flush(y); x = v; persist(x);",
            "atomic { who = me; y = v; persist(y); } atomic { x = v; persist(x); y = 0; persist(y); }",
            "atomic { who = me; y = v; persist(y); } atomic { x = v; persist(x); y = 0; persist(y); }",
        ],
    );
    let bounds = pick(
        random,
        &[
            "bounds { threads: 1, ops: 4, values: 1 }",
            "role a: write, settle;\nrole b: read;\nbounds { a: 1, b: 1, ops: 2, values: 1 }",
            "role a: write, settle;\nrole b: read;\nbounds { a: 1, b: 1, ops: 2, values: 1 }",
            "role a: write, read;\nrole b: settle, read;\nbounds { a: 1, b: 1, ops: 2, values: 1 }",
        ],
    );
    format!(
        "spec {{\n    state v: int;\n    op write(w: int) {{ v = w; }}\n    op settle() {{ }}\n    op read() -> int {{ return v; }}\n}}\n\
         #[line(told)] persistent shared who: tid?;\n#[line(told)] persistent shared y: int;\npersistent shared x: int;\n\
         op write(v: int) {{ {write} }}\nop settle() {{ {settle} {settled} }}\n\
         op read() -> int {{ {read} return a; }}\n{recovery}{bounds}\n"
    )
}

/// A counter that is written back late: what is lost is the end of the time before the crash, or
/// something else if lines are written back in another order.
fn log(random: &mut Rng) -> String {
    let line = if random.bool() { "#[line(all)] " } else { "" };
    let (first, second) = (keep(random, "a"), keep(random, "b"));
    let sync = maybe(random, "persist(a); persist(b);");
    let recovery = match random.u8(..4) {
        0 => "recover { if a < b { b = a; } else { a = b; } persist(a); persist(b); }\n",
        1 => "recover { let n = a; b = n; persist(b); }\n",
        2 => "recover { let n = b; a = n; persist(a); }\n",
        _ => "",
    };
    let threads = random.u8(1..3);
    format!(
        "spec {{\n    state n: int;\n    op add() -> int {{ n = n + 1; return n; }}\n    op sync() {{ }}\n    op get() -> int {{ return n; }}\n}}\n\
         {line}persistent shared a: int;\n{line}persistent shared b: int;\nshared l: lock;\n\
         op add() -> int {{ lock(l); let n = a + 1; a = n; {first} b = n; {second} unlock(l); return n; }}\n\
         op sync() {{ {sync} }}\nop get() -> int {{ lock(l); let n = b; unlock(l); return n; }}\n\
         {recovery}bounds {{ threads: {threads}, ops: 2 }}\n"
    )
}

/// A value in an array with a line for each element, and what says which element counts.
fn cells(random: &mut Rng) -> String {
    let slot = keep(random, "slot[n]");
    let at = keep(random, "at");
    let read = maybe(random, "persist(at);");
    let recovery = match random.u8(..3) {
        0 => "recover { let n = at; let a = slot[n]; if a == 0 { at = 1 - n; } }\n",
        1 => "recover { let n = at; at = n; persist(at); }\n",
        _ => "",
    };
    let threads = random.u8(1..3);
    format!(
        "spec {{\n    state v: int;\n    op write(w: int) {{ v = w; }}\n    op read() -> int {{ return v; }}\n}}\n\
         persistent shared slot: [int; 2];\npersistent shared at: int;\n\
         op write(v: int) {{ let n = 1 - at; slot[n] = v; {slot} at = n; {at} }}\n\
         op read() -> int {{ let n = at; {read} let a = slot[n]; return a; }}\n{recovery}\
         bounds {{ threads: {threads}, ops: 2, values: {} }}\n",
        random.u8(1..3)
    )
}
