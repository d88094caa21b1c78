//! Names that mean nothing, or something else.

use super::{Mistake, mistake};

pub const ALL: &[Mistake] = &[
    mistake(
        "Misspelt field",
        "The nearest name is offered if there is one.",
        "\
spec stack;
struct Node { val: int, next: Node }
shared top: Node;
op push(v: int) {
    let x = new Node { val: v };
    x.nxt = top;
    top = x;
}
",
    ),
    mistake(
        "Unknown variable",
        "Where nothing is near, what is known is listed.",
        "\
spec counter;
shared total: int;
op add(k: int) { faa(count, k); }
",
    ),
    mistake(
        "Method written as a function",
        "What collections can do is called on them.",
        "\
spec {
    state items: seq<int> = [];
    op add(v: int) -> int { items.push_back(v); return len(items); }
}
shared total: int;
op add(v: int) -> int { return faa(total, 1) + 1; }
",
    ),
    mistake(
        "Unknown type",
        "One mistake, although `top` is used three times: what depends on it is not reported again.",
        "\
spec stack;
struct Node { val: int, next: Node }
shared top: Nod;
op push(v: int) {
    let t = top;
    cas(top, t, new Node { val: v, next: t });
}
",
    ),
    mistake(
        "Unknown function",
        "Built-in functions are known too.",
        "\
spec counter;
shared n: int;
op add(k: int) { fda(n, k); }
",
    ),
    mistake(
        "Operation called by an operation",
        "An operation belongs to the clients: a call of it would be part of the history.",
        "\
spec counter;
shared n: int;
op add(k: int) { faa(n, k); }
op read() -> int { add(0); return n; }
",
    ),
    mistake(
        "Wrong number of arguments",
        "The help shows how the function is called.",
        "\
spec counter;
shared n: int;
op add(k: int) {
    loop { if cas(n, n + k) { return; } }
}
",
    ),
    mistake(
        "Declared twice",
        "Shared variables, parameters and `local` variables share one space of names.",
        "\
spec counter;
param n: int = 3;
shared n: int;
op read() -> int { return n; }
",
    ),
    mistake(
        "Name that is built in",
        "`me`, `threads`, `MIN` and `MAX` mean the same everywhere.",
        "\
spec counter;
shared n: int;
op read() -> int { let me = n; return me; }
",
    ),
];
