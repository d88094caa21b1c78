//! Broken objects: each is found, whatever the seed.

use linchpin_harness::{Failure, Kind, Plan, Specification, Specified, Test, fresh};
use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, RwLock};

/// The failure of a test with this seed.
fn failure<T, S>(test: Test<T, S>, seed: u64) -> Box<Failure>
where
    T: Send + Sync + 'static,
    S: Specified,
{
    // The time is long for a machine that does other things too.
    let plan = Plan::native().threads(2).ops(4).seed(seed).time(10);
    match test.plan(plan).folder(None).check() {
        Ok(covered) => panic!("nothing was found: {covered}"),
        Err(failure) => {
            println!("seed {seed}: after {} rounds: {}", failure.rounds, failure.shown_scenario);
            failure
        }
    }
}

/// Ten of ten seeds find that it is not linearizable.
fn is_found<T, S>(test: impl Fn() -> Test<T, S>)
where
    T: Send + Sync + 'static,
    S: Specified,
{
    for seed in 0..10 {
        let failure = failure(test(), seed);
        assert_eq!(failure.kind, Kind::NotLinearizable, "{failure}");
        let violation = failure.violation.as_ref().expect("a violation");
        assert!(!violation.core.is_empty());
    }
}

/// A variable that is read and written, each at once.
struct Shared<T>(Mutex<T>);

impl<T: Clone> Shared<T> {
    fn load(&self) -> T {
        self.0.lock().unwrap().clone()
    }

    fn store(&self, value: T) {
        *self.0.lock().unwrap() = value;
    }
}

/// A stack whose operations check the top and then store it, where they should compare and swap.
struct CheckThenStore {
    top: Shared<Option<Arc<Element>>>,
}

struct Element {
    value: u64,
    below: Option<Arc<Element>>,
}

impl CheckThenStore {
    fn new() -> CheckThenStore {
        CheckThenStore { top: Shared(Mutex::new(None)) }
    }

    fn is_top(&self, element: &Option<Arc<Element>>) -> bool {
        match (self.top.load(), element) {
            (Some(top), Some(element)) => Arc::ptr_eq(&top, element),
            (top, element) => top.is_none() && element.is_none(),
        }
    }

    fn push(&self, value: u64) {
        loop {
            let below = self.top.load();
            if self.is_top(&below) {
                return self.top.store(Some(Arc::new(Element { value, below })));
            }
        }
    }

    fn pop(&self) -> Option<u64> {
        loop {
            let top = self.top.load();
            if self.is_top(&top) {
                let top = top?;
                self.top.store(top.below.clone());
                return Some(top.value);
            }
        }
    }
}

#[test]
fn a_stack_that_checks_and_then_stores() {
    is_found(|| {
        Test::new("check-then-store", CheckThenStore::new)
            .spec("stack")
            .op("push", (fresh,), |stack, (value,)| stack.push(value))
            .op("pop", (), |stack, ()| stack.pop())
    });
}

#[test]
fn a_queue_whose_dequeue_gives_up_if_it_is_locked() {
    is_found(|| {
        Test::new("gives-up", || Mutex::new(VecDeque::<u64>::new()))
            .spec("queue")
            .op("enqueue", (fresh,), |queue, (value,)| queue.lock().unwrap().push_back(value))
            .op("dequeue", (), |queue, ()| queue.try_lock().ok()?.pop_front())
    });
}

/// A map whose `put` removes the old value and inserts the new one.
fn put(map: &RwLock<HashMap<u8, u64>>, key: u8, value: u64) -> Option<u64> {
    let old = map.write().unwrap().remove(&key);
    map.write().unwrap().insert(key, value);
    old
}

#[test]
fn a_map_whose_update_removes_and_inserts() {
    is_found(|| {
        Test::new("remove-and-insert", || RwLock::new(HashMap::new()))
            .spec("map")
            .op("put", (0..2_u8, fresh), |map, (key, value)| put(map, key, value))
            .op("get", (0..2_u8,), |map, (key,)| map.read().unwrap().get(&key).copied())
            .op("remove", (0..2_u8,), |map, (key,)| map.write().unwrap().remove(&key))
    });
}

#[test]
fn a_bounded_queue_that_says_full_if_it_is_locked() {
    fn push(queue: &mut VecDeque<u64>, value: u64) -> bool {
        let has_room = queue.len() < 2;
        if has_room {
            queue.push_back(value);
        }
        has_room
    }
    is_found(|| {
        Test::new("wrongly-full", || Mutex::new(VecDeque::<u64>::new()))
            .model(VecDeque::<u64>::new())
            .op(
                "push",
                (fresh,),
                |queue, (value,)| queue.try_lock().is_ok_and(|mut queue| push(&mut queue, value)),
                |queue, (value,)| push(queue, value),
            )
            .op(
                "pop",
                (),
                |queue, ()| queue.lock().unwrap().pop_front(),
                |queue, ()| queue.pop_front(),
            )
    });
}

/// A set as a sorted list of nodes with locks (Heller and others, 2005), whose `remove` forgets to
/// mark the node that it unlinks: another thread inserts behind it, and the key is lost.
struct LazySet {
    head: Arc<Node>,
}

struct Node {
    key: i16,
    next: Mutex<Option<Arc<Node>>>,
    marked: AtomicBool,
}

impl Node {
    fn new(key: i16, next: Option<Arc<Node>>) -> Arc<Node> {
        Arc::new(Node { key, next: Mutex::new(next), marked: AtomicBool::new(false) })
    }
}

impl LazySet {
    fn new() -> LazySet {
        LazySet { head: Node::new(i16::MIN, None) }
    }

    /// The last node with a smaller key, and the one after it.
    fn find(&self, key: i16) -> (Arc<Node>, Option<Arc<Node>>) {
        let mut before = Arc::clone(&self.head);
        loop {
            let next = before.next.lock().unwrap().clone();
            match next {
                Some(node) if node.key < key => before = node,
                next => return (before, next),
            }
        }
    }

    /// Locks the node, and changes what comes after it if that is still the node it was.
    fn change(&self, key: i16, change: impl Fn(&mut Option<Arc<Node>>) -> bool) -> bool {
        loop {
            let (before, found) = self.find(key);
            let mut next = before.next.lock().unwrap();
            let same = match (&*next, &found) {
                (Some(one), Some(other)) => Arc::ptr_eq(one, other),
                (one, other) => one.is_none() && other.is_none(),
            };
            if same && !before.marked.load(Ordering::SeqCst) {
                return change(&mut next);
            }
        }
    }

    fn add(&self, key: i16) -> bool {
        self.change(key, |next| {
            let is_new = next.as_ref().is_none_or(|node| node.key != key);
            if is_new {
                *next = Some(Node::new(key, next.take()));
            }
            is_new
        })
    }

    fn remove(&self, key: i16) -> bool {
        self.change(key, |next| {
            let Some(node) = next.clone().filter(|node| node.key == key) else { return false };
            // Missing: `node.marked.store(true, …)`.
            *next = node.next.lock().unwrap().clone();
            true
        })
    }

    fn contains(&self, key: i16) -> bool {
        let (_, found) = self.find(key);
        found.is_some_and(|node| node.key == key && !node.marked.load(Ordering::SeqCst))
    }
}

fn lazy_set() -> Test<LazySet, Specification> {
    Test::new("lazy-set", LazySet::new)
        .spec("set")
        .op("add", (0..3_i16,), |set, (key,)| set.add(key))
        .op("remove", (0..3_i16,), |set, (key,)| set.remove(key))
        .op("contains", (0..3_i16,), |set, (key,)| set.contains(key))
}

#[test]
fn a_lazy_set_that_does_not_mark() {
    is_found(lazy_set);
}
