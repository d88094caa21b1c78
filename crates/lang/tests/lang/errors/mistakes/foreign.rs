//! What people write who come from C, Java or Rust.

use super::{Mistake, mistake, several};

pub const ALL: &[Mistake] = &[
    mistake(
        "Address of a variable",
        "`cas` and its kin name the place that they change.",
        "\
spec stack;
struct Node { val: int, next: Node }
shared top: Node;
op push(v: int) {
    let n = new Node { val: v, next: top };
    if cas(&top, n.next, n) { return; }
}
",
    ),
    mistake(
        "Field behind `->`",
        "There are only references, so one dot is enough.",
        "\
spec stack;
struct Node { val: int, next: Node }
shared top: Node;
op pop() -> int? {
    let t = top;
    if t == null { return none; }
    top = t->next;
    return t.val;
}
",
    ),
    mistake(
        "Constructor",
        "Objects have fields and no constructors.",
        "\
spec stack;
struct Node { val: int, next: Node }
shared top: Node;
op push(v: int) {
    top = new Node(v, top);
}
",
    ),
    several(
        2,
        "`None` and `Some`",
        "An optional is `none` or the value itself.",
        "\
spec stack;
struct Node { val: int, next: Node }
shared top: Node;
op push(v: int) {
    top = new Node { val: v, next: top };
}
op pop() -> int? {
    let t = top;
    if t == null { return None; }
    top = t.next;
    return Some(t.val);
}
",
    ),
    several(
        3,
        "`NULL`, `nil`, `nullptr`",
        "The null reference is `null`, and nothing else.",
        "\
spec stack;
struct Node { val: int, next: Node }
shared top: Node;
op push(v: int) {
    if top == NULL { top = nil; }
    if top != nullptr { return; }
}
op pop() -> int? { return none; }
",
    ),
    several(
        3,
        "Type before the operation",
        "The type of the result stands behind `->`, that of a parameter behind `:`.",
        "\
spec stack;
int op pop() { return 0; }
void push(int v) { }
",
    ),
    mistake(
        "Type before the variable",
        "The same order everywhere: name, colon, type.",
        "\
spec counter;
shared int n = 0;
op read() -> int { return n; }
",
    ),
    mistake(
        "`me == 0`",
        "Threads have no numbers, so no model can treat the first one differently.",
        "\
spec counter;
shared n: int;
op read() -> int {
    if me == 0 { return 0; }
    return n;
}
",
    ),
    mistake(
        "Other operators that assign",
        "There are `+=` and `-=`.",
        "\
spec counter;
shared n: int;
op add(k: int) { n *= k; }
",
    ),
    mistake(
        "`fn` for an operation",
        "Clients call operations; functions are what operations share.",
        "\
spec counter;
shared n: int;
fn read() -> int { return n; }
",
    ),
    mistake(
        "`Option<int>`",
        "A type with a question mark is optional.",
        "\
spec register;
shared n: Option<int>;
op read() -> int { return 0; }
",
    ),
    mistake(
        "Names from libraries",
        "The atomic operations have short names.",
        "\
spec counter;
shared n: int;
op add(k: int) {
    let old = n;
    compareAndSet(n, old, old + k);
}
",
    ),
];
