//! Histories of real threads, judged by brute force.

use linchpin_history_data::{History, Object};
use linchpin_oracle::{Operation, is_linearizable};
use linchpin_record::Recorder;
use std::collections::VecDeque;
use std::sync::Mutex;
use std::thread;

/// The history as the oracle takes it.
fn operations(history: &History) -> Vec<Operation> {
    let operation = |id| {
        let operation = history[id];
        Operation {
            process: operation.process as usize,
            call: history.call(id),
            response: history.response(id),
            invoked: operation.invoked.index(),
            returned: operation.completed.then(|| operation.returned.index()),
        }
    };
    history.ids().map(operation).collect()
}

/// What three threads do with a queue, in an order that the seed decides.
fn recorded(object: &Object, seed: u64) -> History {
    let queue = Mutex::new(VecDeque::new());
    let recorder = Recorder::new(object);
    thread::scope(|scope| {
        for number in 0..3 {
            let (queue, mut process) = (&queue, recorder.process());
            let mut random = fastrand::Rng::with_seed(seed * 3 + number);
            scope.spawn(move || {
                for value in 0..4 {
                    let value = number * 10 + value;
                    if random.bool() {
                        let enqueue = || queue.lock().unwrap().push_back(value);
                        process.call("enqueue", value, enqueue);
                    } else {
                        process.call("dequeue", (), || queue.lock().unwrap().pop_front());
                    }
                    thread::yield_now();
                }
            });
        }
    });
    recorder.finish().expect("a history")
}

#[test]
fn a_correct_queue_has_histories_that_the_oracle_explains() {
    let object = Object::builtin("queue", None).expect("a queue");
    for seed in 0..300 {
        let history = recorded(&object, seed);
        assert_eq!(history.operations.len(), 12);
        let operations = operations(&history);
        assert!(is_linearizable(&object.spec, &operations), "seed {seed}: {operations:?}");
    }
}

#[test]
fn a_wrong_answer_is_a_wrong_history() {
    let object = Object::builtin("queue", None).expect("a queue");
    let recorder = Recorder::new(&object);
    let mut process = recorder.process();
    process.call("enqueue", 1, || ());
    assert_eq!(process.call("dequeue", (), || None::<u8>), None);
    let history = recorder.finish().expect("a history");
    assert!(!is_linearizable(&object.spec, &operations(&history)));
}

#[test]
fn a_call_that_panics_is_pending() {
    let object = Object::builtin("queue", None).expect("a queue");
    let recorder = Recorder::new(&object);
    let mut process = recorder.process();
    let panics = || -> u8 { std::panic::resume_unwind(Box::new("on purpose")) };
    let panicked = thread::spawn(move || process.call("enqueue", 1, panics));
    assert!(panicked.join().is_err());
    recorder.process().call("dequeue", (), || Some(1));
    let history = recorder.finish().expect("a history");
    assert!(!history.operations[0].completed);
    assert!(is_linearizable(&object.spec, &operations(&history)));
}

#[test]
fn an_operation_that_the_object_does_not_have_is_said_at_the_end() {
    let object = Object::builtin("queue", None).expect("a queue");
    let recorder = Recorder::new(&object);
    assert_eq!(recorder.process().call("push", 1, || 7), 7);
    let said = recorder.finish().err().map(|error| error.to_string());
    assert!(said.is_some_and(|said| said.contains("no operation `push`")));
}
