//! What random programs must have exercised: every feature of the language, and every way in which
//! a run can end.

use crate::big_step::evaluator::Mistake;
use crate::big_step::sequential::Statistics;

/// What operations and specifications have in common.
const SHARED: &[&str] = &[
    "array of equal elements",
    "assert holds",
    "assume holds",
    "assume waits in an atomic block",
    "break of a loop in an atomic block",
    "call for its effect",
    "choose",
    "choose from nothing",
    "component of a record",
    "component of a record assigned",
    "compound assignment of a local",
    "compound assignment of shared memory",
    "continue of a for",
    "continue of a loop in an atomic block",
    "element of a local array or sequence",
    "element of an array assigned",
    "for, end excluded",
    "for, end included",
    "function call",
    "if expression",
    "let of a tuple",
    "question to a collection",
    "read of a shared element",
    "read of a shared variable",
    "record update",
    "return from a loop",
    "return of a function",
    "return of an operation",
    "shared write",
    "short circuit",
    "unwrap",
];

/// What only operations can do.
const OPERATIONS: &[&str] = &[
    "assume waits",
    "atomic block in an atomic block",
    "atomic block to its end",
    "break",
    "break out of an atomic block",
    "cas fails",
    "cas of several words fails",
    "cas of several words succeeds",
    "cas succeeds",
    "continue",
    "continue out of an atomic block",
    "faa",
    "arithmetic that wraps",
    "faa that wraps",
    "int(…)",
    "operator on bits",
    "place passed",
    "recursion",
    "recursion too deep",
    "fence",
    "flush",
    "free",
    "ll",
    "lock",
    "lock waits",
    "new, fresh",
    "new, taken again",
    "persist",
    "read of a field",
    "read of an element of a field",
    "return of a function out of an atomic block",
    "return of an operation out of an atomic block",
    "sc fails",
    "sc succeeds",
    "swap",
    "thread-local assigned",
    "thread-local read",
    "unlock",
];

/// What only specifications can do.
const SPECIFICATIONS: &[&str] = &["change of a map", "change of a sequence", "change of a set"];

/// The faults that a run of operations can end with.
const FAULTS: &[Mistake] = &[
    Mistake::NullDereference,
    Mistake::IndexOutOfRange(0, 0),
    Mistake::UnwrapOfNone,
    Mistake::DivisionByZero,
    Mistake::Overflow,
    Mistake::AssertionFailed,
    Mistake::UseAfterFree,
    Mistake::DoubleFree,
    Mistake::UnlockNotHeld(None),
    Mistake::RepeatedPlace,
];

pub fn operations_are_covered(statistics: &Statistics) {
    exercised(statistics, &[SHARED, OPERATIONS]);
    for fault in FAULTS {
        assert!(statistics.of(fault.name()) > 0, "no {}", fault.name());
    }
    let runs = 3 * statistics.programs;
    let faults: u64 = FAULTS.iter().map(|fault| statistics.of(fault.name())).sum();
    at_least("complete", statistics.of("completed"), 40, runs);
    at_least("fault", faults, 20, runs);
    at_least("are blocked", statistics.of("blocked"), 4, runs);
    let unknown = statistics.of("out of fuel") + statistics.of("(program too large)");
    assert!(100 * unknown < runs, "{unknown} of {runs} say nothing");
}

pub fn specifications_are_covered(statistics: &Statistics) {
    exercised(statistics, &[SHARED, SPECIFICATIONS]);
    let one = statistics.of("call with one outcome");
    let several = statistics.of("call with several outcomes");
    let none = statistics.of("call without outcome");
    let calls = one + several + none;
    at_least("have one outcome", one, 40, calls);
    at_least("have several outcomes", several, 7, calls);
    at_least("have no outcome", none, 7, calls);
    let unknown = statistics.of("too many ways, or too long");
    assert!(100 * unknown < calls, "{unknown} of {calls} say nothing");
}

fn exercised(statistics: &Statistics, features: &[&[&str]]) {
    for feature in features.iter().copied().flatten() {
        let times = statistics.coverage.get(feature).copied().unwrap_or(0);
        assert!(times >= 10, "`{feature}` was exercised {times} times");
    }
}

fn at_least(what: &str, count: u64, of_100: u64, all: u64) {
    assert!(100 * count >= of_100 * all, "only {count} of {all} {what}");
}
