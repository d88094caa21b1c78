//! Random small models with persistent memory: some survive crashes, in one way or another, and some
//! do not.

use fastrand::Rng;

/// A random model.
pub fn model(random: &mut Rng) -> String {
    match random.u8(..8) {
        0 => integers(random),
        1 | 2 => register(random),
        3 => stack(random),
        4 | 5 => claims(random),
        6 => intent(random),
        _ => cells(random),
    }
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

/// Treiber's stack, with what makes it persistent left out here and there.
fn stack(random: &mut Rng) -> String {
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
    format!(
        "spec stack;\npersistent struct Node {{ {fields} }}\npersistent shared top: Node;\n\
         op push(v: int) {{\n    let x = new Node {{ val: v }};\n    loop {{ let t = top; {read} x.next = t; {node} \
         if cas(top, t, x) {{ {pushed} return; }} }}\n}}\n\
         op pop() -> int? {{\n    loop {{\n        let t = top; {read}\n        if t == null {{ {empty} return none; }}\n        \
         let s = t.next; let r = t.val; if cas(top, t, s) {{ {popped} return r; }}\n    }}\n}}\n\
         {recovery}bounds {{ threads: {threads}, ops: 2, values: {} }}\n",
        random.u8(1..3)
    )
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

/// A register whose writes are announced: an interrupted one may take effect long after the crash,
/// when `settle` is called.
fn intent(random: &mut Rng) -> String {
    let read = match random.u8(..3) {
        0 => "let w = who; if w == me { atomic { if y != 0 { x = y; } } persist(x); } ",
        _ => "",
    };
    let recovery = match random.u8(..4) {
        0 => "recover { let a = y; if a != 0 { x = a; persist(x); } }\n",
        _ => "",
    };
    let settled = maybe(random, "persist(x);");
    let threads = random.u8(1..3);
    format!(
        "spec {{\n    state v: int;\n    op write(w: int) {{ v = w; }}\n    op settle() {{ }}\n    op read() -> int {{ return v; }}\n}}\n\
         #[line(told)] persistent shared who: tid?;\n#[line(told)] persistent shared y: int;\npersistent shared x: int;\n\
         op write(v: int) {{ atomic {{ who = me; y = v; }} persist(y); x = v; persist(x); }}\n\
         op settle() {{ atomic {{ if y != 0 {{ x = y; }} }} {settled} }}\n\
         op read() -> int {{ {read}let a = x; persist(x); return a; }}\n{recovery}\
         bounds {{ threads: {threads}, ops: 2, values: 1 }}\n"
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
