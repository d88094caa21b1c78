//! Random models: known ones with random changes, and small ones that are random altogether.

use fastrand::Rng;

/// Models that are proved from their code; changed at random they are mostly wrong, sometimes still
/// right.
const SEEDS: &[&str] = &[
    include_str!("../../../../models/treiber_stack.lin"),
    include_str!("../../../../models/ms_queue.lin"),
    include_str!("../../../../models/dglm_queue.lin"),
    include_str!("../../../../models/two_lock_queue.lin"),
    include_str!("../../../../models/pair_snapshot.lin"),
];

pub fn model(random: &mut Rng) -> String {
    match random.u8(..4) {
        0 => integers(random),
        _ => changed(random),
    }
}

fn pick<'a>(random: &mut Rng, from: &[&'a str]) -> &'a str {
    from[random.usize(..from.len())]
}

/// A known model without comments and points.
pub fn known(random: &mut Rng) -> String {
    let lines: Vec<String> = SEEDS[random.usize(..SEEDS.len())]
        .lines()
        .filter(|line| !line.starts_with("//!"))
        .map(|line| without_point(line.split("//").next().unwrap_or("").trim_end()))
        .collect();
    lines.join("\n")
}

/// One to three random changes of a known model.
fn changed(random: &mut Rng) -> String {
    let mut lines: Vec<String> = known(random).lines().map(str::to_owned).collect();
    for _ in 0..random.usize(1..=3) {
        let inside: Vec<usize> =
            (0..lines.len()).filter(|at| lines[*at].starts_with("    ")).collect();
        let at = inside[random.usize(..inside.len())];
        match random.u8(..7) {
            0 => lines[at].clear(),
            1 => {
                let line = lines[at].clone();
                lines.insert(at, line);
            }
            2 if at + 1 < lines.len() => lines.swap(at, at + 1),
            3 => lines[at] = renamed(random, &lines[at]),
            4 => {
                lines[at] = match random.u8(..4) {
                    0 => lines[at].replacen("==", "!=", 1),
                    1 => lines[at].replacen("null", pick(random, &["t", "h", "s", "x"]), 1),
                    2 => lines[at].replacen("return none;", "", 1),
                    _ => lines[at].replacen("!=", "==", 1),
                }
            }
            // A `cas` that is none.
            5 => lines[at] = blind(&lines[at]),
            _ => {
                let extra = pick(
                    random,
                    &[
                        "cas(tail, t, s);",
                        "cas(tail, t, x);",
                        "cas(top, t, s);",
                        "cas(t.next, s, x);",
                        "if t != tail { continue; }",
                        "if h != head { continue; }",
                        "tail = x;",
                        "let t = tail;",
                        "let s = t.next;",
                        "atomic {",
                        "}",
                    ],
                );
                lines.insert(at, format!("    {extra}"));
            }
        }
    }
    lines.join("\n")
}

fn without_point(line: &str) -> String {
    let Some(start) = line.find("#[lin") else { return line.to_owned() };
    let Some(end) = line[start..].find("] ") else { return line.to_owned() };
    format!("{}{}", &line[..start], &line[start + end + 2..])
}

fn renamed(random: &mut Rng, line: &str) -> String {
    let (from, to) = [
        ("tail", "head"),
        ("head", "tail"),
        (" t", " s"),
        (" s", " t"),
        (" h", " t"),
        (" t", " h"),
        ("t,", "s,"),
        ("s)", "t)"),
        ("x)", "s)"),
        ("[i]", "[j]"),
        ("t_lock", "h_lock"),
        ("h_lock", "t_lock"),
    ][random.usize(..12)];
    line.replacen(from, to, 1)
}

/// `cas(p, a, b)` as a test and a write that is not one step.
fn blind(line: &str) -> String {
    let Some(start) = line.find("if cas(") else { return line.to_owned() };
    let Some(end) = line[start..].find(") {") else { return line.to_owned() };
    let inner = &line[start + 7..start + end];
    let parts: Vec<&str> = inner.split(", ").collect();
    match &parts[..] {
        [place, old, new] => format!(
            "{}if {place} == {old} {{ {place} = {new};{}",
            &line[..start],
            &line[start + end + 3..]
        ),
        _ => line.to_owned(),
    }
}

/// Operations over three integers, with loops; the specification runs the same code in one go.
fn integers(random: &mut Rng) -> String {
    let mut spec =
        String::from("spec {\n    state x: int;\n    state y: int;\n    state z: int;\n");
    let mut model =
        String::from("shared x: int;\nshared y: int;\nshared z: int;\nshared l: lock;\n");
    for name in ["f", "g"] {
        let lock = random.u8(..4) == 0;
        let (mut code, mut atomic) = (String::new(), String::new());
        for _ in 0..random.usize(1..4) {
            let (here, there) = [
                ("a = x;", "a = x;"),
                ("b = y;", "b = y;"),
                ("a = z;", "a = z;"),
                ("x = v;", "x = v;"),
                ("y = a;", "y = a;"),
                ("z = b + 1;", "z = b + 1;"),
                ("if a == v { b = 7; }", "if a == v { b = 7; }"),
                ("if a < b { return b; }", "if a < b { return b; }"),
                ("a = faa(x, 1);", "a = x; x = x + 1;"),
                ("a = swap(y, v);", "a = y; y = v;"),
                ("cas(z, a, v);", "if z == a { z = v; }"),
                ("if cas(y, b, v) { a = 6; }", "if y == b { y = v; a = 6; }"),
                ("loop { a = x; if cas(x, a, v) { break; } }", "a = x; x = v;"),
                ("loop { a = x; b = y; if a == x { break; } }", "a = x; b = y;"),
                (
                    "loop { a = x; b = y; if cas(x, a, a + 1) { break; } }",
                    "a = x; b = y; x = a + 1;",
                ),
                ("loop { a = z; if a == z { z = a + 1; break; } }", "a = z; z = a + 1;"),
                ("atomic { x = y; y = v; }", "x = y; y = v;"),
                ("atomic { a = x; if a == y { z = v; } }", "a = x; if a == y { z = v; }"),
            ][random.usize(..18)];
            code += &format!("    {here}\n");
            atomic += &format!("        {there}\n");
        }
        let (before, after) = if lock { ("    lock(l);\n", "    unlock(l);\n") } else { ("", "") };
        let returns = if lock { code.replace("return b;", "b = 9;") } else { code.clone() };
        let atomic = if lock { atomic.replace("return b;", "b = 9;") } else { atomic };
        model += &format!(
            "op {name}(v: int) -> (int, int) {{\n    let a = 0;\n    let b = 0;\n{before}{}{after}    return (a, b);\n}}\n",
            returns.replace("return b;", "return (b, b);")
        );
        spec += &format!(
            "    op {name}(v: int) -> (int, int) {{\n        let a = 0;\n        let b = 0;\n{}        return (a, b);\n    }}\n",
            atomic.replace("return b;", "return (b, b);")
        );
    }
    format!("{spec}}}\n{model}bounds {{ threads: 2, ops: 2, values: 2 }}\n")
}
