//! Values of the wrong type.

use super::{Mistake, mistake};

pub const ALL: &[Mistake] = &[
    mistake(
        "Wrong type",
        "What was expected, what was found, and where.",
        "\
spec stack;
struct Node { val: int, next: Node }
shared top: Node;
op push(v: int) { top = v; }
",
    ),
    mistake(
        "Different types compared",
        "A reference and a number are never equal, so the comparison must be a mistake.",
        "\
spec stack;
struct Node { val: int, next: Node }
shared top: Node;
op pop() -> int? {
    if top == 0 { return none; }
    return top.val;
}
",
    ),
    mistake(
        "`null` for `none`",
        "A reference is absent as `null`, an optional value as `none`.",
        "\
spec stack;
shared top: int?;
op pop() -> int? {
    if top == null { return none; }
    return top;
}
",
    ),
    mistake(
        "`unwrap` forgotten",
        "An `int?` may be `none`; the model says where it cannot be.",
        "\
spec counter;
shared best: int?;
op read() -> int {
    let b = best;
    if b == none { return 0; }
    return b;
}
",
    ),
    mistake(
        "Field of an optional",
        "The value must be taken out first.",
        "\
spec counter;
record Entry { n: int, tag: int }
shared entry: Entry?;
op read() -> int { return entry.n; }
",
    ),
    mistake(
        "Condition that is not `bool`",
        "There is no truth in references.",
        "\
spec stack;
struct Node { val: int, next: Node }
shared top: Node;
op pop() -> int? {
    if top { return top.val; }
    return none;
}
",
    ),
    mistake(
        "`none` of no type",
        "`none` takes its type from where it stands.",
        "\
spec counter;
shared n: int;
op read() -> int {
    let found = none;
    return n;
}
",
    ),
    mistake(
        "Optional reference",
        "References can be `null` already.",
        "\
spec stack;
struct Node { val: int, next: Node? }
shared top: Node;
op pop() -> int? { return none; }
",
    ),
    mistake(
        "Tuple taken apart wrongly",
        "As many names as parts.",
        "\
spec counter;
shared n: int;
fn both() -> (int, int, bool) { return (n, n, true); }
op read() -> int {
    let (a, ok) = both();
    return a;
}
",
    ),
    mistake(
        "`new` for a record",
        "Records are values, structs live in the heap.",
        "\
spec register;
record Pair { v: int, tag: int }
shared cell: Pair;
op write(v: int) { cell = new Pair { v: v, tag: 0 }; }
",
    ),
    mistake(
        "Record that contains itself",
        "A record fits one word.",
        "\
spec stack;
record Node { val: int, next: Node }
shared top: Node;
op pop() -> int? { return none; }
",
    ),
    mistake(
        "Numbers that wrap differently",
        "An `int % N` says where it wraps; two of them must agree.",
        "\
spec counter;
shared n: int;
shared ticket: int % 4;
shared serving: int % 8;
op add(k: int) { faa(n, k + (ticket - serving)); }
",
    ),
    mistake(
        "A modulus of zero",
        "An `int % N` has `N` values.",
        "\
spec counter;
param N: int = 0;
shared n: int % N;
op read() -> int { return n; }
",
    ),
    mistake(
        "Bits of a truth value",
        "`&`, `|` and `^` are for the bits of an `int`.",
        "\
spec register;
shared x: int;
op write(v: int) { if (x == v) & 1 == 1 { x = v; } }
",
    ),
];
