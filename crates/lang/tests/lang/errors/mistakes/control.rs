//! Statements and functions.

use super::{Mistake, mistake};

pub const ALL: &[Mistake] = &[
    mistake(
        "Missing return",
        "An operation with a result returns on every path.",
        "\
spec stack;
struct Node { val: int, next: Node }
shared top: Node;
op pop() -> int? {
    let t = top;
    if t == null { return none; }
    cas(top, t, t.next);
}
",
    ),
    mistake(
        "`while true`",
        "Only `loop` is known to have no end.",
        "\
spec counter;
shared n: int;
op read() -> int {
    while true {
        let r = n;
        if r == n { return r; }
    }
}
",
    ),
    mistake(
        "Result where there is none",
        "The result is declared after the parameters.",
        "\
spec counter;
shared n: int;
op read() { return n; }
",
    ),
    mistake(
        "Recursion",
        "Functions are inlined wherever they are called.",
        "\
spec counter;
shared n: int;
fn even(k: int) -> bool { if k == 0 { return true; } return odd(k - 1); }
fn odd(k: int) -> bool { if k == 0 { return false; } return even(k - 1); }
op read() -> int { if even(4) { return n; } return 0; }
",
    ),
    mistake(
        "`break` outside a loop",
        "`return` ends an operation.",
        "\
spec counter;
shared n: int;
op add(k: int) {
    if k == 0 { break; }
    faa(n, k);
}
",
    ),
    mistake(
        "Statement without effect",
        "Often a `=` that became a `==`.",
        "\
spec counter;
shared n: int;
op read() -> int {
    let r = 0;
    r == 1;
    return n;
}
",
    ),
];
