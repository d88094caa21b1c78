//! The durable queue: Michael and Scott's, in persistent memory.
//!
//! After Friedman, Herlihy, Marathe and Petrank, *A persistent lock-free queue for non-volatile
//! memory*, PPoPP 2018, without the cells in which it leaves results for threads that crashed. A
//! node is one line; who took it is marked in it, and recovery walks past marked nodes. Nodes are
//! never given back.

use linchpin_sync::persistent::{AtomicPtr, Line, Ordering::SeqCst, P, Pool, persist};
use linchpin_sync::persistent::{AtomicU64, Persistent};

linchpin_sync::persistent! {
    /// One line.
    struct Node {
        value: u64,
        /// Not 0 once it was dequeued.
        taken: AtomicU64,
        next: AtomicPtr<Node>,
    }

    /// The ends of the queue. They may be behind after a crash.
    struct Root {
        head: Line<AtomicPtr<Node>>,
        tail: Line<AtomicPtr<Node>>,
    }
}

/// Which `persist` is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// None.
    Right,
    /// That of a new node.
    NodeStays,
    /// That of the link to it.
    LinkStays,
    /// That of the mark of the one who dequeues.
    MarkStays,
    /// That of a link that another thread made.
    OthersLinkStays,
    /// That of a mark that another thread made.
    OthersMarkStays,
}

/// A queue that threads share, in a pool.
pub struct DurableQueue {
    pool: Pool,
    kind: Kind,
}

impl DurableQueue {
    /// An empty queue in an empty pool.
    pub fn create(pool: &Pool, kind: Kind) -> DurableQueue {
        let queue = DurableQueue { pool: pool.clone(), kind };
        let first = queue.node(0, 1);
        persist(pool.get(first));
        queue.root().head.store(first, SeqCst);
        queue.root().tail.store(first, SeqCst);
        persist(queue.root());
        queue
    }

    /// The queue that was in a pool before a crash. No thread may use it meanwhile.
    pub fn recover(pool: &Pool, kind: Kind) -> DurableQueue {
        let queue = DurableQueue { pool: pool.clone(), kind };
        let mut head = queue.root().head.load(SeqCst);
        loop {
            let next = pool.get(head).next.load(SeqCst);
            if next.is_null() || pool.get(next).taken.load(SeqCst) == 0 {
                break;
            }
            head = next;
        }
        let mut tail = head;
        loop {
            let next = pool.get(tail).next.load(SeqCst);
            if next.is_null() {
                break;
            }
            tail = next;
        }
        queue.root().head.store(head, SeqCst);
        queue.root().tail.store(tail, SeqCst);
        persist(queue.root());
        queue
    }

    fn root(&self) -> &Root {
        self.pool.root()
    }

    fn node(&self, value: u64, taken: u64) -> P<Node> {
        self.pool.alloc(Node { value, taken: AtomicU64::new(taken), next: AtomicPtr::null() })
    }

    fn persist_unless<T: Persistent>(&self, kind: Kind, what: &T) {
        if self.kind != kind {
            persist(what);
        }
    }

    /// Puts a value at the end.
    pub fn enqueue(&self, value: u64) {
        let node = self.node(value, 0);
        self.persist_unless(Kind::NodeStays, self.pool.get(node));
        let tail = &self.root().tail;
        loop {
            let last = tail.load(SeqCst);
            let link = &self.pool.get(last).next;
            let next = link.load(SeqCst);
            if !next.is_null() {
                self.persist_unless(Kind::OthersLinkStays, link);
                let _ = tail.compare_exchange(last, next, SeqCst, SeqCst);
            } else if link.compare_exchange(P::null(), node, SeqCst, SeqCst).is_ok() {
                self.persist_unless(Kind::LinkStays, link);
                let _ = tail.compare_exchange(last, node, SeqCst, SeqCst);
                return;
            }
        }
    }

    /// Takes the first value.
    pub fn dequeue(&self) -> Option<u64> {
        let Root { head, tail } = self.root();
        loop {
            let first = head.load(SeqCst);
            let last = tail.load(SeqCst);
            let link = &self.pool.get(first).next;
            let next = link.load(SeqCst);
            if head.load(SeqCst) != first {
                continue;
            }
            if next.is_null() {
                return None;
            }
            if first == last {
                self.persist_unless(Kind::OthersLinkStays, link);
                let _ = tail.compare_exchange(last, next, SeqCst, SeqCst);
                continue;
            }
            let node = self.pool.get(next);
            let won = node.taken.compare_exchange(0, 1, SeqCst, SeqCst).is_ok();
            let kind = if won { Kind::MarkStays } else { Kind::OthersMarkStays };
            self.persist_unless(kind, &node.taken);
            let _ = head.compare_exchange(first, next, SeqCst, SeqCst);
            if won {
                return Some(node.value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{DurableQueue, Kind};
    use linchpin::harness::{Covered, Failure, NamedCall, Plan, Test, ToValue, fresh};

    fn check(kind: Kind, plan: Plan, enqueued: u64) -> Result<Covered, Box<Failure>> {
        let before = (1..=enqueued).map(|at| NamedCall::new("enqueue", vec![at.to_value()]));
        let dequeue = || NamedCall::new("dequeue", Vec::new());
        Test::persistent("durable_queue", move |pool| DurableQueue::create(pool, kind))
            .spec("queue")
            .op("enqueue", (fresh,), |queue, (value,)| queue.enqueue(value))
            .op("dequeue", (), |queue, ()| queue.dequeue())
            .recover(move |pool| DurableQueue::recover(pool, kind))
            .before(before.collect())
            .after(vec![dequeue(), dequeue(), dequeue()])
            .plan(plan)
            .folder(None)
            .check()
    }

    #[test]
    fn it_is_durable() {
        let plan = Plan::exhaustive().threads(2).ops(1);
        let covered = check(Kind::Right, plan, 1).unwrap_or_else(|failure| panic!("{failure}"));
        println!("{covered}");
        assert!(covered.complete, "{covered}");
    }

    #[test]
    fn every_persist_that_is_left_out_is_found() {
        for kind in [
            Kind::NodeStays,
            Kind::LinkStays,
            Kind::MarkStays,
            Kind::OthersLinkStays,
            Kind::OthersMarkStays,
        ] {
            let plan = Plan::exhaustive().threads(2).ops(1);
            let failure = check(kind, plan, 1).expect_err("something is lost");
            assert!(failure.to_string().contains("LOST"), "{kind:?}: {failure}");
        }
    }
}
