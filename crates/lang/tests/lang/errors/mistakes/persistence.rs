//! Persistent memory used as it cannot be.

use super::{Mistake, mistake, several};

pub const ALL: &[Mistake] = &[
    mistake(
        "Flush of a volatile place",
        "What is not persistent is lost in a crash, flushed or not.",
        "\
spec register(0);
persistent shared x: int;
shared cache: int;
op write(v: int) { x = v; cache = v; flush(cache); fence; }
op read() -> int { return x; }
",
    ),
    mistake(
        "Persistent reference to a volatile struct",
        "After a crash the reference would be there, and the object not.",
        "\
spec stack;
struct Node { val: int, next: Node }
persistent shared top: Node;
op push(v: int) { top = new Node { val: v, next: top }; persist(top); }
op pop() -> int? { return none; }
",
    ),
    mistake(
        "`recover` without persistence",
        "Where nothing survives a crash there is nothing to recover.",
        "\
spec register(0);
shared x: int;
op write(v: int) { x = v; }
op read() -> int { return x; }
recover { x = 0; }
",
    ),
    mistake(
        "`recover` twice",
        "One block runs after a crash. Another one, with a thread, may say what became of its call.",
        "\
spec register(0);
persistent shared x: int;
op write(v: int) { x = v; persist(x); }
op read() -> int { return x; }
recover { x = 0; }
recover { persist(x); }
",
    ),
    mistake(
        "Line of something volatile",
        "Only what is persistent is written back line by line.",
        "\
spec register(0);
#[line(header)] shared hint: int;
#[line(header)] persistent shared x: int;
op write(v: int) { x = v; persist(x); }
op read() -> int { return x; }
",
    ),
    mistake(
        "Persistent variable of a thread",
        "What a thread keeps for itself is lost with the thread.",
        "\
spec register(0);
persistent local mine: int;
persistent shared x: int;
op write(v: int) { x = v; persist(x); }
op read() -> int { return x; }
",
    ),
    mistake(
        "Persistent lock",
        "The threads are gone after a crash, so no lock is held.",
        "\
spec register(0);
persistent shared guard: lock;
persistent shared x: int;
op write(v: int) { lock(guard); x = v; persist(x); unlock(guard); }
op read() -> int { return x; }
",
    ),
    mistake(
        "Thread in `recover`",
        "After a crash there are no threads until `recover` is done.",
        "\
spec register(0);
persistent shared x: int;
persistent shared last: tid?;
op write(v: int) { x = v; last = me; persist(x); }
op read() -> int { return x; }
recover { last = me; }
",
    ),
    mistake(
        "Outcome that is not optional",
        "`none` says that the interrupted call had no effect, so the answer must be able to be that.",
        "\
spec register(0);
persistent shared x: int;
op write(v: int) { x = v; persist(x); }
op read() -> int { return x; }
recover(t: tid) -> int { return x; }
",
    ),
    several(
        2,
        "`flush` with a value, `fence` with arguments",
        "Both are statements.",
        "\
spec register(0);
persistent shared x: int;
op write(v: int) { x = v; let done = flush(x); fence(); }
op read() -> int { return x; }
",
    ),
    several(
        2,
        "Persistence in a specification",
        "A specification knows no crashes.",
        "\
spec {
    persistent state x: int;
    op write(v: int) { x = v; }
    op read() -> int { return x; }
}
persistent shared y: int;
op write(v: int) { y = v; persist(y); }
op read() -> int { return y; }
#[lines(a)] persistent shared z: int;
",
    ),
];
