//! Registers: values that are overwritten for good, but matter because of another one that is kept.

use linchpin_history::Object;
use linchpin_history::online::{Ended, Stream};
use linchpin_spec::{Call, Register, Value};
use linchpin_verdict::Limits;

fn write(value: i64) -> Call {
    Call { operation: Register::WRITE, argument: value.into() }
}

fn read() -> Call {
    Call { operation: Register::READ, argument: Value::Null }
}

/// The write of 1 stays open, so 1 is kept. Its first read returned before the last read of 2 was
/// called, so 1 came before 2; and 3 came after 2. By then no operation may read 2 any more; but
/// only 2 tells that 1 may not be read either, since nothing says whether 1 or 3 came first.
///
/// ```text
/// 1   ├─ write 1 ─╌╌
/// 2     ├──── read → 1 ────┤├─ read → 2 ─┤             ├─ read → 1 ─┤
/// 3        ├─ write 2 ─┤
/// 4                     ├─── write 3 ───────────────┤
/// ```
fn judged_after(write_3_returns: bool) -> Result<(), Ended> {
    let object = Object::builtin("register", None).unwrap();
    let mut stream = Stream::new(&object, Limits::default());
    stream.invoke(1, "1", write(1));
    let first = stream.invoke(2, "2", read());
    let two = stream.invoke(3, "3", write(2));
    stream.response(4, two, &Value::Null)?;
    let three = stream.invoke(5, "4", write(3));
    stream.response(6, first, &1.into())?;
    let second = stream.invoke(7, "2", read());
    stream.response(8, second, &2.into())?;
    if write_3_returns {
        stream.response(9, three, &Value::Null)?;
    }
    stream.judge()?;
    let last = stream.invoke(10, "2", read());
    stream.response(11, last, &1.into())?;
    stream.finish()
}

#[test]
fn a_value_stays_for_one_that_came_before_it_and_is_kept() {
    for write_3_returns in [false, true] {
        let Err(Ended::Violated(refutation)) = judged_after(write_3_returns) else {
            panic!("1 came before 2");
        };
        assert_eq!(refutation.tag, 11);
    }
}
