//! Small right programs, each of which makes states that the bundled models do not: with the engine
//! broken at one place, one of these is not covered any more.

use super::{Checked, bounds, check};
use crate::concrete::Values;
use linchpin_ir::program::Program;
use linchpin_shape::Threads::{self, Any, Those};

const PUSH: &str = "
    op push(v: int) {
        let x = new Node { val: v };
        loop {
            let t = top;
            x.next = t;
            #[lin] if cas(top, t, x) { return; }
        }
    }";

fn program(source: &str) -> Program {
    let config = linchpin_lang::Config::default();
    let source = format!("{source} bounds {{ threads: 2 }}");
    linchpin_lang::compile(&source, &config).unwrap_or_else(|e| panic!("{e:?}\n{source}")).program
}

fn embedded(source: &str, threads: usize, cap: usize, of: Threads) -> Checked {
    let config = bounds(threads, 4, Values::Distinct, cap);
    let checked = check(source, &program(source), &config, of);
    println!("{of:?} {checked:?}");
    checked
}

/// A write to a node that others still name and that is in no list: their views must change with
/// it, in the matching where both name it.
#[test]
fn a_mark_in_a_node_that_has_been_popped() {
    let pop = "
        spec stack;
        struct Node { val: int, next: Node, gone: bool }
        shared top: Node = null;
        op pop() -> int? {
            loop {
                let t = top;
                if t == null { return none; }
                let s = t.next;
                if !t.gone {
                    #[lin] if cas(top, t, s) {
                        t.gone = true;
                        return t.val;
                    }
                }
            }
        }";
    for of in [Any, Those] {
        embedded(&[pop, PUSH].concat(), 2, 5_000, of);
    }
}

/// A node that one thread alone has becomes shared in a step that others see.
#[test]
fn a_popped_node_is_shown_again() {
    let pop = "
        spec stack;
        struct Node { val: int, next: Node }
        shared top: Node = null;
        shared last: Node = null;
        op pop() -> int? {
            loop {
                let t = top;
                if t == null { return none; }
                let s = t.next;
                #[lin] if cas(top, t, s) {
                    last = t;
                    return t.val;
                }
            }
        }";
    for of in [Any, Those] {
        embedded(&[pop, PUSH].concat(), 2, 5_000, of);
    }
}

/// A uniform node is written on one side only, and is not uniform until the point.
#[test]
fn a_queue_with_one_lock_and_late_points() {
    let queue = "
        spec queue;
        struct Node { val: int, next: Node }
        shared head: Node;
        shared tail: Node;
        shared busy: lock;
        init {
            let dummy = new Node { val: 0 };
            head = dummy;
            tail = dummy;
        }
        op enqueue(v: int) {
            let x = new Node { val: v };
            lock(busy);
            let t = tail;
            t.next = x;
            tail = x;
            #[lin] unlock(busy);
            return;
        }
        op dequeue() -> int? {
            lock(busy);
            let h = head;
            let n = h.next;
            if n == null {
                unlock(busy);
                return none;
            }
            head = n;
            let v = n.val;
            #[lin] unlock(busy);
            return v;
        }";
    for of in [Any, Those] {
        embedded(queue, 2, 5_000, of);
    }
}

/// A private node goes with the private node that leads to it.
#[test]
fn two_private_nodes_are_published_at_once() {
    let stack = "
        spec stack;
        struct Node { val: int, next: Node }
        struct Box { full: bool, next: Box }
        shared top: Node = null;
        shared boxes: Box = null;
        op push(v: int) {
            let first = new Box { full: false };
            let second = new Box { full: false, next: first };
            boxes = second;
            let x = new Node { val: v };
            loop {
                let t = top;
                x.next = t;
                #[lin] if cas(top, t, x) {
                    first.full = true;
                    return;
                }
            }
        }
        op pop() -> int? {
            let second = boxes;
            if second != null {
                let first = second.next;
                first.full = false;
            }
            loop {
                let t = top;
                if t == null { return none; }
                let s = t.next;
                #[lin] if cas(top, t, s) { return t.val; }
            }
        }";
    for of in [Any, Those] {
        embedded(stack, 2, 3_000, of);
    }
}

/// Two popped nodes behind each other lead back into the stack: one view has both, the other none,
/// and the step of the other keeps them as they are. After it nothing is popped, so that this is
/// the only way to such a state.
#[test]
fn a_way_back_that_only_one_thread_has() {
    let stack = "
        spec stack;
        struct Node { val: int, next: Node }
        shared top: Node = null;
        shared closed: bool = false;
        op push(v: int) {
            if choose(0..2) == 1 { closed = true; }
            let x = new Node { val: v };
            loop {
                let t = top;
                x.next = t;
                #[lin] if cas(top, t, x) { return; }
            }
        }
        op pop() -> int? {
            loop {
                let t = top;
                if t == null { return none; }
                let s = t.next;
                atomic {
                    if !closed {
                        #[lin] if cas(top, t, s) { return t.val; }
                    }
                }
            }
        }";
    for of in [Any, Those] {
        embedded(stack, 2, 20_000, of);
    }
}

/// What one call has seen is nothing to the next: here only a call that was answered with `none`
/// leads to a state in which `emptied` is set.
#[test]
fn a_second_call_has_seen_nothing() {
    let pop = "
        spec stack;
        struct Node { val: int, next: Node }
        shared top: Node = null;
        shared emptied: bool = false;
        op pop() -> int? {
            loop {
                let t = top;
                if t == null {
                    emptied = true;
                    return none;
                }
                let s = t.next;
                #[lin] if cas(top, t, s) { return t.val; }
            }
        }";
    assert!(embedded(&[pop, PUSH].concat(), 1, 5_000, Those).complete);
}
