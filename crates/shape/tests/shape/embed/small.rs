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
        embedded(&[pop, PUSH].concat(), 2, 3_000, of);
    }
}

/// A node that one thread alone has, and that is like no other, becomes shared in a step that others
/// see. That it was not when they were called, they remember: there is no other way to such a state.
#[test]
fn a_popped_node_is_shown_again() {
    let stack = "
        spec stack;
        struct Node { val: int, next: Node, gone: bool }
        shared top: Node = null;
        shared last: Node = null;
        shared late: bool = false;
        op push(v: int) {
            let before = last == null;
            let mark = late;
            let x = new Node { val: v };
            loop {
                let t = top;
                x.next = t;
                #[lin] if cas(top, t, x) {
                    late = before != mark;
                    return;
                }
            }
        }
        op pop() -> int? {
            loop {
                let t = top;
                if t == null { return none; }
                let s = t.next;
                #[lin] if cas(top, t, s) {
                    t.gone = true;
                    last = t;
                    return t.val;
                }
            }
        }";
    embedded(stack, 2, 3_000, Any);
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
        embedded(queue, 2, 3_000, of);
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

/// One view has old boxes, the other only new ones, all but the last of each alike; a step of the
/// other thread keeps the old ones as they are. After it no boxes are made, so that this is the only
/// way to such a state.
#[test]
fn old_boxes_that_only_one_thread_has() {
    let stack = "
        spec stack;
        struct Node { val: int, next: Node }
        struct Box { full: bool, odd: bool, next: Box }
        shared top: Node = null;
        shared boxes: Box = null;
        shared closed: bool = false;
        op push(v: int) {
            let odd = choose(0..2) == 1;
            let third = new Box { full: odd };
            let second = new Box { next: third };
            let first = new Box { odd: odd, next: second };
            atomic { if !closed { boxes = first; } }
            if choose(0..2) == 1 { closed = true; }
            let x = new Node { val: v };
            loop {
                let t = top;
                x.next = t;
                #[lin] if cas(top, t, x) { return; }
            }
        }
        op pop() -> int? {
            let old = boxes;
            loop {
                let t = top;
                if t == null { return none; }
                let s = t.next;
                #[lin] if cas(top, t, s) {
                    if old != null { let second = old.next; }
                    return t.val;
                }
            }
        }";
    let config = bounds(2, 9, Values::Distinct, 2_000);
    println!("{:?}", check(stack, &program(stack), &config, Any));
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

/// Which nodes are known to be uniform must not depend on the view: here the link is written before
/// the point, and in between one thread reads on while another does not.
#[test]
fn a_queue_whose_points_come_after_the_link() {
    let queue = "
        spec queue;
        struct Node { val: int, next: Node }
        shared head: Node;
        shared tail: Node;
        shared front: lock;
        shared back: lock;
        init {
            let dummy = new Node { val: 0 };
            head = dummy;
            tail = dummy;
        }
        op enqueue(v: int) {
            let x = new Node { val: v };
            lock(back);
            let t = tail;
            t.next = x;
            #[lin] tail = x;
            unlock(back);
        }
        op dequeue() -> int? {
            lock(front);
            let h = head;
            let e = tail;
            if h == e {
                unlock(front);
                return none;
            }
            let n = h.next;
            #[lin] head = n;
            let v = n.val;
            unlock(front);
            return v;
        }";
    for of in [Any, Those] {
        embedded(queue, 2, 3_000, of);
    }
    embedded(queue, 3, 2_000, Any);
}

/// As before, and one walks along the queue without a lock.
#[test]
fn a_walk_along_a_queue_whose_points_come_later() {
    let queue = "
        spec queue;
        struct Node { val: int, next: Node }
        shared head: Node;
        shared tail: Node;
        shared back: lock;
        shared met: bool = false;
        init {
            let dummy = new Node { val: 0 };
            head = dummy;
            tail = dummy;
        }
        op enqueue(v: int) {
            let x = new Node { val: v };
            let h = head;
            let a = h.next;
            if a != null {
                let b = a.next;
                if b != null {
                    let c = b.next;
                    met = c == null;
                }
            }
            lock(back);
            let t = tail;
            t.next = x;
            #[lin] tail = x;
            unlock(back);
        }
        op dequeue() -> int? {
            loop {
                let h = head;
                let e = tail;
                if h == e { return none; }
                let n = h.next;
                #[lin] if cas(head, h, n) { return n.val; }
            }
        }";
    for of in [Any, Those] {
        embedded(queue, 2, 2_000, of);
    }
    embedded(queue, 3, 2_000, Any);
}
