//! Specifications, and models that do not fit them.

use super::{Mistake, mistake};

pub const ALL: &[Mistake] = &[
    mistake(
        "No specification",
        "Linearizability is always with respect to a sequential object.",
        "\
shared n: int;
op read() -> int { return n; }
",
    ),
    mistake(
        "Unknown specification",
        "`linchpin specs` lists what there is.",
        "\
spec quueue;
op dequeue() -> int? { return none; }
",
    ),
    mistake(
        "Operation that the specification does not have",
        "Helpers are declared by `fn`, so that clients do not call them.",
        "\
spec stack;
struct Node { val: int, next: Node }
shared top: Node;
op pop() -> int? { return none; }
op is_empty() -> bool { return top == null; }
",
    ),
    mistake(
        "Signature that does not fit",
        "Clients of a stack push a value and expect no answer.",
        "\
spec stack;
shared top: int?;
op push(v: int) -> bool { top = v; return true; }
",
    ),
    mistake(
        "Operation that differs from `spec { }`",
        "Model and specification must agree on what clients see.",
        "\
spec {
    state items: seq<int>;
    op put(v: int) -> bool { items.push_back(v); return true; }
}
shared last: int;
op put(v: int) { last = v; }
",
    ),
    mistake(
        "`state` outside `spec { }`",
        "The state belongs to the specification, shared variables to the model.",
        "\
spec counter;
state n: int = 0;
op read() -> int { return 0; }
",
    ),
    mistake(
        "`shared` inside `spec { }`",
        "And the other way round.",
        "\
spec {
    shared n: int;
    op read() -> int { return n; }
}
op read() -> int { return 0; }
",
    ),
    mistake(
        "Synchronisation in `spec { }`",
        "Operations of a specification happen in one go.",
        "\
spec {
    state n: int;
    op add(k: int) { faa(n, k); }
}
shared m: int;
op add(k: int) { faa(m, k); }
",
    ),
    mistake(
        "Reference that leaves the object",
        "Clients cannot compare addresses with anything.",
        "\
spec stack;
struct Node { val: int, next: Node }
shared top: Node;
op pop() -> Node { return top; }
",
    ),
];
