//! What the parser cannot read.

use super::{Mistake, mistake, several};

pub const ALL: &[Mistake] = &[
    mistake(
        "Missing semicolon",
        "The caret stands where the semicolon belongs, not where the parser noticed.",
        "\
spec counter;
shared n: int;
op add(k: int) {
    let old = n
    n = old + k;
}
",
    ),
    mistake(
        "Missing brace",
        "The brace that is missing is rarely the last one; indentation tells which one it is.",
        "\
spec counter;
shared n: int;
op add(k: int) {
    loop {
        let old = n;
        if cas(n, old, old + k) { return; }
}
op read() -> int { return n; }
",
    ),
    several(
        4,
        "Several mistakes at once",
        "Each is reported; what stands between them is understood.",
        "\
spec counter
shared n = 0;
op add(k: int) {
    let = n;
    faa(n, k;
}
op read() -> int { return n; }
",
    ),
    mistake(
        "Misspelt keyword",
        "A word that cannot start a statement is compared with those that can.",
        "\
spec counter;
shared n: int;
op read() -> int { retrun n; }
",
    ),
    mistake(
        "Keyword as a name",
        "Keywords are reserved everywhere, in the fields of structs too.",
        "\
spec register;
struct Cell { local: int }
shared cell: Cell;
op read() -> int { return 0; }
",
    ),
    mistake(
        "`let mut`",
        "Local variables may always be assigned; shared ones never belong to `let`.",
        "\
spec counter;
shared n: int;
op read() -> int {
    let mut r = n;
    return r;
}
",
    ),
    mistake(
        "Assignment in a condition",
        "`=` is a statement, `==` a comparison.",
        "\
spec counter;
shared n: int;
op read() -> int {
    if n = 0 { return 0; }
    return n;
}
",
    ),
    mistake(
        "Chained comparison",
        "`a < b < c` would compare a `bool` with a number.",
        "\
spec counter;
shared n: int;
op read() -> int {
    let r = n;
    assert(0 <= r <= 9);
    return r;
}
",
    ),
    mistake(
        "Record before a block",
        "After `if`, `while`, `in` and `requires`, a brace starts the block.",
        "\
spec register;
record Pair { v: int, tag: int }
shared cell: Pair;
op read() -> int {
    while cell == Pair { v: 0, tag: 0 } { }
    return 0;
}
",
    ),
    several(
        2,
        "Semicolons between fields",
        "Fields are separated by commas, as in Rust.",
        "\
spec stack;
struct Node { val: int; next: Node; }
shared top: Node;
op pop() -> int? { return none; }
",
    ),
    mistake(
        "Counting with `++`",
        "`+=` is the shortest form; on shared variables it is a read step and a write step.",
        "\
spec counter;
shared n: int;
op add(k: int) { n++; }
",
    ),
    mistake(
        "Parameter without a type",
        "Types of parameters are always written.",
        "\
spec counter;
shared n: int;
op add(k) { faa(n, k); }
",
    ),
    mistake(
        "Number that does not fit",
        "Numbers have 64 bits.",
        "\
spec counter;
shared n: int = 9223372036854775808;
op read() -> int { return n; }
",
    ),
    mistake(
        "`let` at the top level",
        "What stands outside operations is shared by all threads, and says so.",
        "\
spec counter;
let n = 0;
op read() -> int { return 0; }
",
    ),
    mistake(
        "`local` in an operation",
        "`local` variables outlive the operation; those of an operation are declared by `let`.",
        "\
spec counter;
shared n: int;
op read() -> int {
    local r: int = 0;
    return 0;
}
",
    ),
];
