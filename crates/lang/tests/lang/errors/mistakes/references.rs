//! The `reference { }` block.

use super::{Mistake, mistake, several};

pub const ALL: &[Mistake] = &[
    mistake(
        "Operation that the reference does not have",
        "The reference runs beside the model, so it can do whatever clients call.",
        "\
spec stack;
shared top: int?;
op push(v: int) { top = v; }
op pop() -> int? { return swap(top, none); }
reference {
    shared only: int?;
    op push(v: int) { only = v; }
}
",
    ),
    mistake(
        "Operation that only the reference has",
        "Clients call operations of the model.",
        "\
spec counter;
shared n: int;
op read() -> int { return n; }
reference {
    shared m: int;
    op read() -> int { return m; }
    op increment() { m += 1; }
}
",
    ),
    mistake(
        "Reference whose operation differs",
        "Both are called with the same arguments, and their answers are compared.",
        "\
spec stack;
shared top: int?;
op pop() -> int? { return swap(top, none); }
reference {
    shared only: int;
    op pop() -> int { return only; }
}
",
    ),
    mistake(
        "Variable of the model in its reference",
        "Model and reference share no memory: what they do is compared afterwards.",
        "\
spec counter;
shared n: int;
op read() -> int { return n; }
reference {
    op read() -> int { return n; }
}
",
    ),
    mistake(
        "Function that belongs to the model",
        "Functions of the model can be called, unless they or what they call touch its variables.",
        "\
spec counter;
shared n: int;
fn current() -> int { return n; }
fn checked() -> int { let c = current(); assert(c >= 0); return c; }
op read() -> int { return checked(); }
reference {
    shared m: int;
    op read() -> int { return checked(); }
}
",
    ),
    several(
        2,
        "Threads in a reference",
        "Its operations run alone: there is no caller, and no number of threads.",
        "\
spec counter;
shared n: int;
op read() -> int { return n; }
reference {
    shared slots: [int; threads];
    shared last: tid?;
    op read() -> int { last = me; return 0; }
}
",
    ),
    several(
        2,
        "Annotations in a reference",
        "They are claims about the steps of the model. Those in functions that both call are fine.",
        "\
spec counter;
shared n: int;
op read() -> int { return n; }
reference {
    shared m: int;
    op read() -> int {
        #[lin] let first = m;
        #[base(m == 0)] return first;
    }
}
",
    ),
    mistake(
        "`free` in a reference",
        "The reference shows what the object is, not how its memory comes back.",
        "\
spec stack;
struct Node { val: int, next: Node }
shared top: Node;
op pop() -> int? { return none; }
reference {
    shared top: Node;
    op pop() -> int? {
        let t = top;
        if t == null { return none; }
        let v = t.val;
        top = t.next;
        free(t);
        return v;
    }
}
",
    ),
    several(
        3,
        "Declarations that a reference cannot have",
        "It has `shared`, `init` and `op`; everything else is the model's.",
        "\
spec counter;
shared n: int;
op read() -> int { return n; }
reference {
    state m: int;
    fn twice(k: int) -> int { return k + k; }
    role reader: read;
    op read() -> int { return m; }
}
",
    ),
    mistake(
        "Reference without its `}`",
        "What stands at the margin again is meant to be outside.",
        "\
spec counter;
shared n: int;
op read() -> int { return n; }
reference {
    shared m: int;
    op read() -> int { return m; }

bounds { threads: 2 }
",
    ),
    mistake(
        "Two references",
        "There is one sequential object, and one reference for it.",
        "\
spec counter;
shared n: int;
op read() -> int { return n; }
reference { shared m: int; op read() -> int { return m; } }
reference { shared k: int; op read() -> int { return k; } }
",
    ),
];
