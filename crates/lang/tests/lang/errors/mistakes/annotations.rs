//! Linearization points and base conditions.

use super::{Mistake, mistake};

pub const ALL: &[Mistake] = &[
    mistake(
        "Unknown annotation",
        "There are two, `#[lin …]` and `#[base …]`.",
        "\
spec counter;
shared n: int;
op add(k: int) { #[line] faa(n, k); }
",
    ),
    mistake(
        "`#[lin]` before a loop",
        "A linearization point is one step.",
        "\
spec counter;
shared n: int;
op add(k: int) {
    #[lin] loop { if cas(n, n, n + k) { return; } }
}
",
    ),
    mistake(
        "Annotation that touches shared memory",
        "Annotations never change what a model does, so they read nothing shared.",
        "\
spec counter;
shared n: int;
op read() -> int {
    #[lin(when n == 0)] let r = n;
    return r;
}
",
    ),
    mistake(
        "Quantifier outside `#[base]`",
        "No step could look at all objects.",
        "\
spec stack;
struct Node { val: int, next: Node }
shared top: Node;
op pop() -> int? {
    assert(forall x: Node { x.val > 0 });
    return none;
}
",
    ),
    mistake(
        "Base condition on a wrong field",
        "`reach` follows a field that leads from node to node.",
        "\
spec stack;
struct Node { val: int, next: Node }
shared top: Node;
op pop() -> int? {
    #[base(reach(top, val, null))]
    return none;
}
",
    ),
    mistake(
        "Annotation before nothing",
        "An annotation belongs to the statement after it.",
        "\
spec counter;
shared n: int;
op add(k: int) {
    faa(n, k);
    #[lin]
}
",
    ),
];
