//! Shared memory used as it cannot be.

use super::{Mistake, mistake};

pub const ALL: &[Mistake] = &[
    mistake(
        "Component of a shared record",
        "A record in shared memory is one word, so no step writes only a part of it.",
        "\
spec set;
record Link { to: Node, dead: bool }
struct Node { key: int, next: Link }
shared head: Node;
op remove(k: int) -> bool {
    head.next.dead = true;
    return true;
}
",
    ),
    mistake(
        "Whole array read",
        "Reading an array is as many steps as it has elements, and the model must say in which order.",
        "\
spec snapshot(0);
shared cells: [int; 3];
op scan() -> [int; 3] { return cells; }
",
    ),
    mistake(
        "Lock of another type",
        "Only a `lock` can be locked.",
        "\
spec counter;
shared n: int;
shared guard: bool;
op add(k: int) { lock(guard); n = n + k; }
",
    ),
    mistake(
        "Lock read like a value",
        "Whether a lock is free is known only by taking it.",
        "\
spec counter;
shared n: int;
shared guard: lock;
op add(k: int) {
    if guard == none { n = n + k; }
}
",
    ),
    mistake(
        "`cas` of a local variable",
        "`cas` and its kin work on shared memory.",
        "\
spec counter;
shared n: int;
op add(k: int) {
    let old = n;
    cas(old, n, k);
}
",
    ),
    mistake(
        "`cas` of uneven lists",
        "A multi-word `cas` has an old and a new value for every place.",
        "\
spec counter;
shared n: int;
shared m: int;
op add(k: int) { cas([n, m], [0, 0], [k]); }
",
    ),
    mistake(
        "Initial value that is not constant",
        "Variables get constants where they are declared; `init` may do anything.",
        "\
spec queue;
struct Node { val: int, next: Node }
shared head: Node = new Node { val: 0 };
op dequeue() -> int? { return none; }
",
    ),
    mistake(
        "Initial value of another variable",
        "The same, with a variable that has no value yet.",
        "\
spec counter;
shared low: int = 3;
shared high: int = low + 1;
op read() -> int { return high; }
",
    ),
    mistake(
        "Thread in `init`",
        "`init` runs once, before there are threads.",
        "\
spec counter;
shared n: int;
local mine: int;
init { mine = 1; }
op read() -> int { return n; }
",
    ),
    mistake(
        "Array too long",
        "States are copied at every step, and small arrays show the same mistakes.",
        "\
spec counter;
shared slots: [int; 1_000_000];
op read() -> int { return slots[0]; }
",
    ),
    mistake(
        "Value for a place",
        "What a function with a parameter `&T` changes must be shared memory.",
        "\
spec counter;
shared n: int;
fn increase(p: &int) { faa(p, 1); }
op add(k: int) { increase(k); }
",
    ),
    mistake(
        "Place as a parameter of an operation",
        "Clients pass values.",
        "\
spec register;
shared x: int;
op write(p: &int) { x = p; }
",
    ),
];
