//! Roles, bounds, parameters and what clients may do.

use super::{Mistake, mistake};

pub const ALL: &[Mistake] = &[
    mistake(
        "Role of an unknown operation",
        "Roles name operations of the model.",
        "\
spec register(0);
shared x: int;
op write(v: int) { x = v; }
op read() -> int { return x; }
role writer: write;
role reader: raed;
",
    ),
    mistake(
        "`threads` with roles",
        "With roles, each has its own number.",
        "\
spec register(0);
shared x: int;
op write(v: int) { x = v; }
op read() -> int { return x; }
role writer: write;
role reader: read;
bounds { threads: 3 }
",
    ),
    Mistake {
        threads: Some(3),
        ..mistake(
            "`--threads 3` with roles",
            "The same on the command line.",
            "\
spec register(0);
shared x: int;
op write(v: int) { x = v; }
op read() -> int { return x; }
role writer: write;
role reader: read;
",
        )
    },
    mistake(
        "Unknown bound",
        "`threads`, `ops`, `values`, `size`, and the names of roles.",
        "\
spec counter;
shared n: int;
op read() -> int { return n; }
bounds { thread: 2 }
",
    ),
    mistake(
        "No thread to call anything",
        "With no threads every model would be correct.",
        "\
spec counter;
shared n: int;
op read() -> int { return n; }
bounds { threads: 0 }
",
    ),
    Mistake {
        set: Some(("SIZE", 4)),
        ..mistake(
            "`--set` of an unknown parameter",
            "`--set SIZE=4` would change nothing.",
            "\
spec counter;
param K: int = 3;
shared n: int;
op read() -> int { return n; }
",
        )
    },
    mistake(
        "`requires` about shared memory",
        "Clients decide what they call before they see the object.",
        "\
spec counter;
shared n: int;
op add(k: int) requires n < 9 { faa(n, k); }
",
    ),
    mistake(
        "Empty range of a parameter",
        "Such an operation could never be called.",
        "\
spec counter;
shared n: int;
op add(k: int in 3..1) { faa(n, k); }
",
    ),
    mistake(
        "A bound for one role that is for all",
        "Only the number of operations can differ from role to role.",
        "\
spec register;
shared x: int;
op read() -> int { return x; }
op write(v: int) { x = v; }
role reader: read;
role writer: write;
bounds { values(writer): 3 }
",
    ),
];
