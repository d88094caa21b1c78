//! Random sets: a sorted list with one lock, or with a lock in each node taken hand over hand.

use crate::generator::{Generator, fill};

/// A random set.
pub fn set(generator: &mut Generator<'_>) -> String {
    let mut operations = vec![add(generator), remove(generator), contains(generator)];
    let body = generator.shuffled(&mut operations);
    let coupled = generator.sometimes();
    let locate = if coupled { coupled_locate(generator) } else { locate(generator) };
    let end = if coupled { "unlock(p.guard); unlock(c.guard);" } else { "unlock(l);" };
    let last =
        if coupled { "unlock(c.guard); #[lin] unlock(p.guard);" } else { "#[lin] unlock(l);" };
    let body = fill(&body, &[("end", end), ("last", last)]);
    format!(
        "spec set;\nstruct Node {{ val: int, next: Node, guard: lock }}\nshared head: Node;\nshared l: lock;\n\
         init {{ let tail = new Node {{ val: MAX }}; head = new Node {{ val: MIN, next: tail }}; }}\n\
         {locate}{body}"
    )
}

fn locate(generator: &mut Generator<'_>) -> String {
    let test = generator.pick(&["c.val < e", "e > c.val"], &["c.val <= e", "c.val != e"]);
    let step = generator.pick(
        &["p = c; c = c.next;", "p = c; c = p.next;", "let n = c.next; p = c; c = n;"],
        &["c = c.next;", "p = c; c = c.next; p = c;"],
    );
    let lock =
        generator.pick(&["lock(l); let p = head;", "let p = head; lock(l);"], &["let p = head;"]);
    format!(
        "fn locate(e: int) -> (Node, Node) {{ {lock} let c = p.next; while {test} {{ {step} }} return (p, c); }}\n"
    )
}

fn coupled_locate(generator: &mut Generator<'_>) -> String {
    let start = generator.pick(
        &["let p = head; lock(p.guard); let c = p.next; lock(c.guard);"],
        &["let p = head; let c = p.next; lock(p.guard); lock(c.guard);"],
    );
    let step = generator.pick(
        &[
            "unlock(p.guard); p = c; c = c.next; lock(c.guard);",
            "let n = c.next; lock(n.guard); unlock(p.guard); p = c; c = n;",
        ],
        &[
            "let n = c.next; unlock(p.guard); unlock(c.guard); lock(c.guard); lock(n.guard); p = c; c = n;",
            "unlock(p.guard); let n = c.next; p = c; c = n; lock(c.guard); p = p;",
            "p = c; c = c.next; lock(c.guard);",
        ],
    );
    let test = generator.pick(&["c.val < e"], &["c.val <= e"]);
    format!(
        "fn locate(e: int) -> (Node, Node) {{ {start} while {test} {{ {step} }} return (p, c); }}\n"
    )
}

fn add(generator: &mut Generator<'_>) -> String {
    let link = generator.pick(
        &["let x = new Node { val: e, next: c };", "let x = new Node { val: e }; x.next = c;"],
        &[
            "let x = new Node { val: e }; x.next = c.next;",
            "let x = new Node { val: e, next: p };",
            "let x = new Node { val: e };",
        ],
    );
    let body = generator.pick(
        &[
            "#[lin(when k == e)] let k = c.val; if k == e { @end@ return false; } @x@ #[lin] p.next = x; @end@ return true;",
            "let k = c.val; if k == e { @end@ return false; } @x@ #[lin] p.next = x; @end@ return true;",
            "let r = false; if c.val != e { @x@ p.next = x; r = true; } @last@ return r;",
            "let k = c.val; if k != e { @x@ #[lin] p.next = x; @end@ return true; } @last@ return false;",
            "let k = c.val; if k == e { @end@ return false; } #[lin] atomic { @x@ p.next = x; } @end@ return true;",
            "let r = false; if c.val != e { atomic { @x@ p.next = x; } r = true; } @last@ return r;",
        ],
        &[
            "#[lin(when k == e)] let k = c.val; @x@ #[lin(when k != e)] p.next = x; @end@ return k != e;",
            "@x@ #[lin] p.next = x; @end@ return true;",
            "#[lin(when k == e)] let k = c.val; if k == e { @end@ return true; } @x@ #[lin] p.next = x; @end@ return true;",
            "#[lin(when k == e)] let k = c.val; if k == e { @end@ return false; } @x@ @end@ #[lin] p.next = x; return true;",
            "let k = c.val; if k == e { @end@ return false; } @x@ #[lin] c.next = x; @end@ return true;",
        ],
    );
    let body = fill(&body, &[("x", &link)]);
    format!("op add(e: int) -> bool {{ let (p, c) = locate(e); {body} }}\n")
}

fn remove(generator: &mut Generator<'_>) -> String {
    let next = generator.pick(
        &["let s = c.next;", "let s = c.next; let again = c.next;"],
        &["let s = c;", "let s = c.next; if s.next != null { s = s.next; }"],
    );
    let body = generator.pick(
        &[
            "#[lin(when k != e)] let k = c.val; if k != e { @end@ return false; } @s@ #[lin] p.next = s; @end@ return true;",
            "let k = c.val; if k != e { @end@ return false; } @s@ #[lin] p.next = s; @end@ return true;",
            "let r = false; if c.val == e { @s@ p.next = s; r = true; } @last@ return r;",
            "let k = c.val; if k != e { @end@ return false; } #[lin] atomic { @s@ p.next = s; } @end@ return true;",
            "let r = false; if c.val == e { atomic { @s@ p.next = s; } r = true; } @last@ return r;",
        ],
        &[
            "@s@ #[lin] p.next = s; @end@ return true;",
            "#[lin(when k != e)] let k = c.val; if k != e { @end@ return true; } @s@ #[lin] p.next = s; @end@ return true;",
            "#[lin(when k != e)] let k = c.val; if k != e { @end@ return false; } #[lin] let s = c.next; @end@ return true;",
            "#[lin(when k != e)] let k = c.val; if k != e { @end@ return false; } @s@ @end@ #[lin] p.next = s; return true;",
            "#[lin(when k != e)] let k = c.val; if k != e { @end@ return false; } @s@ #[lin] p.next = s; c.next = null; @end@ return true;",
        ],
    );
    let body = fill(&body, &[("s", &next)]);
    format!("op remove(e: int) -> bool {{ let (p, c) = locate(e); {body} }}\n")
}

fn contains(generator: &mut Generator<'_>) -> String {
    let walk = "let c = head; while c.val < e { c = c.next; }";
    let body = generator.pick(
        &[
            "let (p, c) = locate(e); #[lin] let k = c.val; @end@ return k == e;",
            "let (p, c) = locate(e); let k = c.val; @last@ return k == e;",
            "@w@ return c.val == e;",
            "@w@ let k = c.val; return k == e;",
        ],
        &[
            "let (p, c) = locate(e); @end@ #[lin] let k = c.val; return k == e;",
            "let (p, c) = locate(e); #[lin] let k = c.val; @end@ return k != e;",
            "let h = head; let c = h.next; return c.val == e;",
            "@w@ return c.val > e;",
        ],
    );
    let body = fill(&body, &[("w", walk)]);
    format!("op contains(e: int) -> bool {{ {body} }}\n")
}
