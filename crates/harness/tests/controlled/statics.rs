//! Static variables begin every execution alike, although workers run beside each other.

use linchpin_harness::{Plan, Test};
use linchpin_sync::sync::atomic::{AtomicU64, Ordering};

static COUNT: AtomicU64 = AtomicU64::new(0);

#[test]
fn a_static_counter_is_right() {
    for round in 0..3 {
        let covered = Test::new(&format!("controlled-static-{round}"), || ())
            .spec("counter")
            .plan(Plan::exhaustive().threads(2).ops(3))
            .op("fetch_add", (1..3u64,), |(), (n,): (u64,)| COUNT.fetch_add(n, Ordering::SeqCst))
            .op("read", (), |(), ()| COUNT.load(Ordering::SeqCst))
            .check()
            .unwrap_or_else(|failure| panic!("{failure}"));
        assert!(covered.complete, "{covered}");
    }
}
