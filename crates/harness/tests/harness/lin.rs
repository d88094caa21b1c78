//! Specifications from `.lin` files.

use linchpin_harness::{Failure, Plan, Test, lin};
use std::path::Path;
use std::sync::atomic::{AtomicI64, Ordering::SeqCst};

const SPEC: &str = "
spec {
    state n: int = 0;
    op bump() -> int { n = n + 1; return n; }
}
shared n: int = 0;
op bump() -> int { return 0; }
";

fn bumped(path: &Path, bump: fn(&AtomicI64) -> i64) -> Result<(), Box<Failure>> {
    let test = Test::new("bump", AtomicI64::default)
        .spec(lin(path))
        .plan(Plan::native().seed(1).runs(2_000))
        .op("bump", (), move |n, ()| bump(n))
        .folder(None);
    test.check().map(|_| ())
}

#[test]
fn a_lin_file_is_a_specification() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("bump.lin");
    std::fs::write(&path, SPEC).expect("written");
    if cfg!(feature = "lin") {
        bumped(&path, |n| n.fetch_add(1, SeqCst) + 1).expect("it counts");
        bumped(&path, |n| n.fetch_add(1, SeqCst)).expect_err("it counts from 0");
        let missing = bumped(&folder.path().join("none.lin"), |_| 0).expect_err("no file");
        assert!(missing.to_string().contains("none.lin` cannot be used"), "{missing}");
    } else {
        let refused = bumped(&path, |_| 0).expect_err("the feature is off");
        assert!(refused.to_string().contains("needs the feature `lin`"), "{refused}");
    }
}
