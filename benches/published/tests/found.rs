//! Published versions with bugs, as they are: each is found. `docs/measurements/code.md` says what
//! the bugs are.

use chashmap::CHashMap;
use crossbeam_skiplist::SkipMap;
use lockfree::queue::Queue;
use scc::TreeIndex;
use std::collections::BTreeMap;

linchpin::test! {
    /// Two calls of `remove` return the same entry.
    #[should_panic(expected = "not linearizable")]
    fn crossbeam_skiplist_0_1_3() {
        object: SkipMap<u64, u64> = SkipMap::new();
        model: BTreeMap<u64, u64> = BTreeMap::new();
        mode: native(time = 10);
        op insert(k: 0..2u64, v: fresh) = |t| { t.insert(k, v); }, |m| { m.insert(k, v); };
        op remove(k: 0..2u64) = |t| t.remove(&k).map(|e| *e.value()), |m| m.remove(&k);
        op get(k: 0..2u64) = |t| t.get(&k).map(|e| *e.value()), |m| m.get(&k).copied();
    }

    /// `pop` finds nothing although a value is there.
    #[should_panic(expected = "not linearizable")]
    fn lockfree_0_5_1_queue() {
        object: Queue<u64> = Queue::new();
        spec: "queue";
        mode: native(time = 10);
        op enqueue(v: fresh) = |q| q.push(v);
        op dequeue() = |q| q.pop();
    }

    /// An entry cannot be found for a while.
    #[should_panic(expected = "not linearizable")]
    fn scc_2_1_8_tree_index() {
        object: TreeIndex<u64, u64> = TreeIndex::new();
        model: BTreeMap<u64, u64> = BTreeMap::new();
        mode: native(time = 20);
        op insert(k: 0..3u64, v: fresh) = |t| t.insert(k, v).is_ok(), |m| insert(m, k, v);
        op remove(k: 0..3u64) = |t| t.remove(&k), |m| m.remove(&k).is_some();
        op get(k: 0..3u64) = |t| t.peek_with(&k, |_, v| *v), |m| m.get(&k).copied();
    }

    /// The length is counted down before it was counted up.
    #[should_panic(expected = "an operation panicked: attempt to add with overflow")]
    fn chashmap_2_2_2() {
        object: CHashMap<u64, u64> = CHashMap::with_capacity(4);
        spec: "map";
        mode: native(time = 10);
        op put(k: 0..2u64, v: fresh) = |m| m.insert(k, v);
        op remove(k: 0..2u64) = |m| m.remove(&k);
        op get(k: 0..2u64) = |m| m.get(&k).map(|value| *value);
    }
}

/// Inserts unless the key is there.
fn insert(map: &mut BTreeMap<u64, u64>, key: u64, value: u64) -> bool {
    let is_new = !map.contains_key(&key);
    if is_new {
        map.insert(key, value);
    }
    is_new
}
