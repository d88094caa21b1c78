//! Litmus tests with the answers of the literature, in all combinations of orderings.
//!
//! Each says in which cases its weak outcome is forbidden; in all others it must be found. The
//! answers are written down here; besides, every program is held against the enumeration.

use super::oracle::program::{FENCES, Instruction, LOADS, Operand, Program, STORES, Step, UPDATES};
use super::oracle::{code, enumerate};
use enumerate::Outcome;
use std::sync::atomic::Ordering::{self, AcqRel, Acquire, Relaxed, Release, SeqCst};

/// An instruction with an open order.
#[derive(Clone, Copy)]
enum Op {
    /// Reads a location.
    R(usize),
    /// Writes a value to a location.
    W(usize, u64),
    /// A fence, or none.
    F,
    /// Something with a fixed order.
    Is(Instruction),
}
use Op::{F, Is, R, W};

const X: usize = 0;
const Y: usize = 1;
const Z: usize = 2;

impl Op {
    /// The orders that it may have; a fence may be missing.
    fn orders(self) -> Vec<Option<Ordering>> {
        match self {
            R(_) => LOADS.map(Some).to_vec(),
            W(..) => STORES.map(Some).to_vec(),
            F => std::iter::once(None).chain(FENCES.map(Some)).collect(),
            Is(_) => vec![None],
        }
    }

    fn instruction(self, order: Option<Ordering>) -> Option<Instruction> {
        let ordered = order.unwrap_or(Relaxed);
        match self {
            R(location) => Some(Instruction::Load { location, order: ordered }),
            W(location, value) => Some(Instruction::Store {
                location,
                value: Operand::Constant(value),
                order: ordered,
            }),
            F => order.map(Instruction::Fence),
            Is(instruction) => Some(instruction),
        }
    }
}

fn releases(order: Option<Ordering>) -> bool {
    matches!(order, Some(Release | AcqRel | SeqCst))
}

fn acquires(order: Option<Ordering>) -> bool {
    matches!(order, Some(Acquire | AcqRel | SeqCst))
}

fn all_sequential(orders: &[Option<Ordering>]) -> bool {
    orders.iter().all(|order| *order == Some(SeqCst))
}

type Orders<'a> = &'a [Option<Ordering>];

/// Tries all orders of a program. `weak` recognises the outcome in question, by what threads answer
/// (fences that are missing leave no gap) and the final values.
fn litmus(
    name: &str,
    threads: &[&[Op]],
    weak: impl Fn(&[Vec<u64>], &[u64]) -> bool,
    is_forbidden: impl Fn(Orders<'_>) -> bool,
) {
    let ops: Vec<Op> = threads.iter().flat_map(|thread| thread.iter().copied()).collect();
    let choices: Vec<Vec<Option<Ordering>>> = ops.iter().map(|op| op.orders()).collect();
    let mut counter = vec![0; ops.len()];
    let (mut programs, mut forbidden, mut graphs) = (0, 0, 0);
    loop {
        let orders: Vec<Option<Ordering>> =
            counter.iter().zip(&choices).map(|(place, orders)| orders[*place]).collect();
        let program = program(threads, &orders);
        let (found, exploration) = code::behaviour(&program);
        assert_eq!(found, enumerate::behaviour(&program), "{name}: {program:#?}");
        let is_found = found.outcomes.keys().any(|outcome| {
            let (reads, newest) = answers(&program, outcome);
            weak(&reads, &newest)
        });
        assert_eq!(is_found, !is_forbidden(&orders), "{name}: {orders:?}");
        programs += 1;
        forbidden += usize::from(!is_found);
        graphs += exploration.executions;
        let Some(place) = (0..ops.len()).find(|i| counter[*i] + 1 < choices[*i].len()) else {
            break;
        };
        counter[place] += 1;
        counter[..place].fill(0);
    }
    println!("{name}: {programs} programs, forbidden in {forbidden}; {graphs} graphs");
}

fn program(threads: &[&[Op]], orders: Orders<'_>) -> Program {
    let mut orders = orders.iter().copied();
    let threads = threads.iter().map(|ops| {
        let steps = ops.iter().filter_map(|op| op.instruction(orders.next()?));
        steps.map(|instruction| Step { guard: None, instruction }).collect()
    });
    Program { threads: threads.collect(), locations: 3, cells: 0 }
}

/// What reads of each thread read, and what locations hold in the end.
fn answers(program: &Program, outcome: &Outcome) -> (Vec<Vec<u64>>, Vec<u64>) {
    let reads = program.threads.iter().zip(outcome).map(|(steps, answers)| {
        let reads = steps.iter().zip(answers).filter(|(step, _)| step.instruction.reads());
        reads.filter_map(|(_, answer)| *answer).collect()
    });
    let newest = outcome[program.threads.len()].iter().filter_map(|value| *value);
    (reads.collect(), newest.collect())
}

#[test]
fn store_buffering() {
    litmus(
        "SB",
        &[&[W(X, 1), R(Y)], &[W(Y, 1), R(X)]],
        |reads, _| reads == [[0], [0]],
        all_sequential,
    );
}

#[test]
fn store_buffering_with_fences() {
    let is_sequential = |orders: Orders<'_>| {
        orders[1] == Some(SeqCst) || orders[0] == Some(SeqCst) && orders[2] == Some(SeqCst)
    };
    litmus(
        "SB with fences",
        &[&[W(X, 1), F, R(Y)], &[W(Y, 1), F, R(X)]],
        |reads, _| reads == [[0], [0]],
        |orders| is_sequential(&orders[..3]) && is_sequential(&orders[3..]),
    );
}

#[test]
fn message_passing() {
    litmus(
        "MP",
        &[&[W(X, 1), W(Y, 1)], &[R(Y), R(X)]],
        |reads, _| reads[1] == [1, 0],
        |orders| releases(orders[1]) && acquires(orders[2]),
    );
}

#[test]
fn message_passing_with_fences() {
    litmus(
        "MP with fences",
        &[&[W(X, 1), F, W(Y, 1)], &[R(Y), F, R(X)]],
        |reads, _| reads[1] == [1, 0],
        |orders| {
            (releases(orders[1]) || releases(orders[2]))
                && (acquires(orders[3]) || acquires(orders[4]))
        },
    );
}

/// A fence in the wrong place does not help.
#[test]
fn message_passing_with_fences_elsewhere() {
    litmus(
        "MP with fences before and after",
        &[&[F, Is(store(X, 1, Relaxed)), W(Y, 1), F], &[F, R(Y), Is(load(X, Relaxed)), F]],
        |reads, _| reads[1] == [1, 0],
        |orders| releases(orders[2]) && acquires(orders[5]),
    );
}

/// Not covered: cycles of program order and reads-from are forbidden whatever the orders.
#[test]
fn load_buffering() {
    litmus("LB", &[&[R(X), W(Y, 1)], &[R(Y), W(X, 1)]], |reads, _| reads == [[1], [1]], |_| true);
}

#[test]
fn independent_reads_of_independent_writes() {
    litmus(
        "IRIW",
        &[&[W(X, 1)], &[W(Y, 1)], &[R(X), R(Y)], &[R(Y), R(X)]],
        |reads, _| reads[2] == [1, 0] && reads[3] == [1, 0],
        all_sequential,
    );
}

#[test]
fn independent_reads_with_fences() {
    let fence = Is(Instruction::Fence(SeqCst));
    litmus(
        "IRIW with SeqCst fences",
        &[&[W(X, 1)], &[W(Y, 1)], &[R(X), fence, R(Y)], &[R(Y), fence, R(X)]],
        |reads, _| reads[2] == [1, 0] && reads[3] == [1, 0],
        |_| true,
    );
    for weaker in [Acquire, Release, AcqRel] {
        let weaker = Is(Instruction::Fence(weaker));
        litmus(
            "IRIW with one SeqCst fence",
            &[&[W(X, 1)], &[W(Y, 1)], &[R(X), fence, R(Y)], &[R(Y), weaker, R(X)]],
            |reads, _| reads[2] == [1, 0] && reads[3] == [1, 0],
            // The fence of one, and `SeqCst` accesses of the other; X need only be released to the fence.
            |orders| {
                let second = [orders[1], orders[5], orders[7]];
                releases(orders[0]) && all_sequential(&second)
            },
        );
    }
}

#[test]
fn write_read_causality() {
    litmus(
        "WRC",
        &[&[W(X, 1)], &[R(X), W(Y, 1)], &[R(Y), R(X)]],
        |reads, _| reads[1] == [1] && reads[2] == [1, 0],
        |orders| releases(orders[2]) && acquires(orders[3]),
    );
}

#[test]
fn read_write_causality() {
    litmus(
        "RWC",
        &[&[W(X, 1)], &[R(X), R(Y)], &[W(Y, 1), R(X)]],
        |reads, _| reads[1] == [1, 0] && reads[2] == [0],
        all_sequential,
    );
}

/// `SeqCst` accesses are in order if other accesses between them synchronize.
#[test]
fn write_and_read_write_causality() {
    litmus(
        "W+RWC",
        &[&[W(X, 1), W(Y, 1)], &[R(Y), R(Z)], &[W(Z, 1), R(X)]],
        |reads, _| reads[1] == [1, 0] && reads[2] == [0],
        |orders| {
            let outer = [orders[0], orders[3], orders[4], orders[5]];
            all_sequential(&outer) && releases(orders[1]) && acquires(orders[2])
        },
    );
}

#[test]
fn two_plus_two_writes() {
    litmus(
        "2+2W",
        &[&[W(X, 1), W(Y, 2)], &[W(Y, 1), W(X, 2)]],
        |_, newest| newest[..2] == [1, 1],
        all_sequential,
    );
}

#[test]
fn coherence() {
    let never = |_: Orders<'_>| true;
    litmus("CoRR", &[&[W(X, 1)], &[R(X), R(X)]], |reads, _| reads[1] == [1, 0], never);
    litmus(
        "CoRR2",
        &[&[W(X, 1)], &[W(X, 2)], &[R(X), R(X)], &[R(X), R(X)]],
        |reads, _| reads[2] == [1, 2] && reads[3] == [2, 1],
        never,
    );
    litmus("CoWW", &[&[W(X, 1), W(X, 2)]], |_, newest| newest[0] == 1, never);
    litmus(
        "CoWR",
        &[&[W(X, 1), R(X)], &[W(X, 2)]],
        |reads, newest| reads[0] == [2] && newest[0] == 1,
        never,
    );
    litmus("CoRW1", &[&[R(X), W(X, 1)]], |reads, _| reads[0] == [1], never);
    litmus(
        "CoRW2",
        &[&[R(X), W(X, 1)], &[W(X, 2)]],
        |reads, newest| reads[0] == [2] && newest[0] == 2,
        never,
    );
}

#[test]
fn isa2() {
    litmus(
        "ISA2",
        &[&[W(X, 1), W(Y, 1)], &[R(Y), W(Z, 1)], &[R(Z), R(X)]],
        |reads, _| reads[1] == [1] && reads[2] == [1, 0],
        |orders| {
            releases(orders[1]) && acquires(orders[2]) && releases(orders[3]) && acquires(orders[4])
        },
    );
}

#[test]
fn s_and_r() {
    litmus(
        "S",
        &[&[W(X, 2), W(Y, 1)], &[R(Y), W(X, 1)]],
        |reads, newest| reads[1] == [1] && newest[0] == 2,
        |orders| releases(orders[1]) && acquires(orders[2]),
    );
    litmus(
        "R",
        &[&[W(X, 1), W(Y, 1)], &[W(Y, 2), R(X)]],
        |reads, newest| reads[1] == [0] && newest[1] == 2,
        all_sequential,
    );
}

/// Z6.U of Lahav et al.: C11 forbade it if all but the second store are `SeqCst`, RC11 does not.
#[test]
fn z6() {
    let add = Is(Instruction::Add { location: Y, value: 1, order: SeqCst });
    litmus(
        "Z6.U",
        &[&[W(X, 1), W(Y, 1)], &[add, R(Y)], &[W(Y, 3), R(X)]],
        |reads, _| reads[1] == [1, 3] && reads[2] == [0],
        |orders| all_sequential(&[orders[0], orders[1], orders[4], orders[5]]),
    );
    litmus(
        "Z6",
        &[&[W(X, 1), W(Y, 1)], &[W(Y, 2), W(Z, 1)], &[R(Z), R(X)]],
        |reads, newest| reads[2] == [1, 0] && newest[1] == 2,
        |orders| {
            // A cycle of `SeqCst` events needs all but the first to be seen in order: Z passes on.
            all_sequential(&[orders[0], orders[1], orders[2], orders[5]])
                && releases(orders[3])
                && acquires(orders[4])
        },
    );
}

/// What another thread does to the flag between the release and the acquire.
fn release_sequence(name: &str, middle: &[Op], flag: u64, is_forbidden: bool) {
    litmus(
        name,
        &[
            &[Is(store(X, 1, Relaxed)), Is(store(Y, 1, Release))],
            middle,
            &[Is(load(Y, Acquire)), Is(load(X, Relaxed))],
        ],
        |reads, _| reads[2] == [flag, 0] && reads[1].first().is_none_or(|read| *read == 1),
        |_| is_forbidden,
    );
}

fn store(location: usize, value: u64, order: Ordering) -> Instruction {
    Instruction::Store { location, value: Operand::Constant(value), order }
}

fn load(location: usize, order: Ordering) -> Instruction {
    Instruction::Load { location, order }
}

#[test]
fn release_sequences() {
    for order in UPDATES {
        let add = Is(Instruction::Add { location: Y, value: 1, order });
        release_sequence("release sequence by fetch_add", &[add], 2, true);
        let swap = Is(Instruction::Swap { location: Y, value: Operand::Constant(3), order });
        release_sequence("release sequence by swap", &[swap], 3, true);
        for failure in LOADS {
            let cas = |expected| {
                Is(Instruction::Cas { location: Y, expected, new: 4, success: order, failure })
            };
            release_sequence("release sequence by compare_exchange", &[cas(1)], 4, true);
            release_sequence("a failed compare_exchange", &[cas(9)], 1, true);
        }
    }
    for order in STORES {
        release_sequence("a store breaks it", &[Is(store(Y, 2, order))], 2, false);
    }
    // Since C++20 the later stores of the same thread do too.
    litmus(
        "a store of the same thread breaks it",
        &[
            &[Is(store(X, 1, Relaxed)), Is(store(Y, 1, Release)), W(Y, 2)],
            &[Is(load(Y, Acquire)), Is(load(X, Relaxed))],
        ],
        |reads, _| reads[1] == [2, 0],
        |orders| releases(orders[2]),
    );
}

#[test]
fn failed_compare_exchange() {
    for success in UPDATES {
        for failure in LOADS {
            let cas = Is(Instruction::Cas { location: Y, expected: 9, new: 4, success, failure });
            litmus(
                "MP by a failed compare_exchange",
                &[&[W(X, 1), W(Y, 1)], &[cas, R(X)]],
                |reads, _| reads[1] == [1, 0],
                |orders| releases(orders[1]) && acquires(Some(failure)),
            );
        }
    }
}

/// Two updates never read the same write.
#[test]
fn atomicity() {
    for first in UPDATES {
        for second in UPDATES {
            let add = |order| Is(Instruction::Add { location: X, value: 1, order });
            litmus(
                "two fetch_add",
                &[&[add(first)], &[add(second)]],
                |reads, _| reads[0] == reads[1],
                |_| true,
            );
        }
    }
}
