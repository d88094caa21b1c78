//! `test.jepsen`: what is written from its description is read back, and damage is noticed.

use crate::common;
use crate::mutation::mutate;

use common::jepsen_file::test_jepsen;
use common::*;
use linchpin_ingest::{Format, IngestError, ReadOptions, Reader, read_bytes};
use linchpin_spec::builtin;

#[test]
fn the_history_is_that_of_the_edn() {
    let (seed, cases) = seed_and_cases(300);
    let mut rng = fastrand::Rng::with_seed(seed);
    for case in 0..cases {
        let (spec, call) = match case % 2 {
            0 => ("cas-register", cas_register_call as fn(&mut fastrand::Rng) -> _),
            _ => ("queue", queue_call as fn(&mut fastrand::Rng) -> _),
        };
        let object = builtin(spec, None).unwrap();
        let options = ReadOptions::new(spec, object.operations());
        let count = rng.usize(..120);
        let events = random_events(count, &mut rng, call);
        let file = test_jepsen(&events, &mut rng);
        assert_eq!(Format::detect(&file), Some(Format::TestJepsen));
        let recording = read_bytes(&file, &options).unwrap();
        assert_eq!(recording.format, Format::TestJepsen);
        let expected = read_bytes(edn_lines(&events).as_bytes(), &options).unwrap();
        assert_eq!(shown(&recording.history), shown(&expected.history), "case {case}");
        let mut reader = Reader::new(Format::TestJepsen, &options);
        for line in file.split_inclusive(|byte| *byte == b'\n') {
            reader.push_line(line).unwrap();
        }
        assert_eq!(shown(&reader.finish().unwrap().history), shown(&expected.history));
    }
}

#[test]
fn damage_is_noticed() {
    let mut rng = fastrand::Rng::with_seed(3);
    let object = builtin("queue", None).unwrap();
    let options = ReadOptions::new("queue", object.operations());
    let events = random_events(200, &mut rng, queue_call);
    let file = test_jepsen(&events, &mut rng);
    let expected = shown(&read_bytes(&file, &options).unwrap().history);
    let mut refused = 0;
    for _ in 0..2_000 {
        let mut damaged = file.clone();
        let at = rng.usize(10..damaged.len());
        damaged[at] ^= 1 << rng.u8(..8);
        match read_bytes(&damaged, &options) {
            // Between blocks there may be anything.
            Ok(recording) => assert_eq!(shown(&recording.history), expected),
            Err(error) => {
                assert!(matches!(error, IngestError::Binary { .. }), "{error}");
                refused += 1;
            }
        }
    }
    assert!(refused > 1_500, "{refused}");
    let cut = read_bytes(&file[..file.len() / 2], &options).unwrap_err();
    assert!(matches!(cut, IngestError::Binary { .. }), "{cut}");
}

#[test]
fn mistakes_say_which_operation() {
    let mut rng = fastrand::Rng::with_seed(3);
    let object = builtin("stack", None).unwrap();
    let options = ReadOptions::new("stack", object.operations());
    let events = random_events(5, &mut rng, queue_call);
    let file = test_jepsen(&events, &mut rng);
    let error = read_bytes(&file, &options).unwrap_err();
    assert_eq!(error.line(), Some(1), "{error}");
}

#[test]
fn whatever_is_written_over_it_nothing_panics() {
    let (seed, cases) = seed_and_cases(20_000);
    let mut rng = fastrand::Rng::with_seed(seed);
    let object = builtin("cas-register", None).unwrap();
    let mut options = ReadOptions::new("cas-register", object.operations());
    options.format = Some(Format::TestJepsen);
    options.most_bytes = 1 << 20;
    let events = random_events(30, &mut rng, cas_register_call);
    for _ in 0..cases {
        let mut file = test_jepsen(&events[..rng.usize(..30)], &mut rng);
        mutate(&mut file, &mut rng);
        let _ = read_bytes(&file, &options);
    }
}
