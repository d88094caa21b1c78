//! Witnesses and cores of histories whose precedence is a partial order: what the engine claims is
//! confirmed, and what is not so is refused.

use linchpin_certify::{
    Budget, CoreError, PartialOperation, WitnessError, confirm_partial_core,
    confirm_partial_witness,
};
use linchpin_history::{
    Judgement, Object, OpId, PartialBuilder, PartialHistory, ValueId, check_partial,
};
use linchpin_oracle::partial_witness;
use linchpin_spec::{Call, Register, Value};
use linchpin_verdict::Limits;

/// The history as the checker knows it, with the pairs from which the others follow.
fn operations(history: &PartialHistory) -> Vec<PartialOperation> {
    let recorded = history.operations();
    let operation = |id: OpId| PartialOperation {
        call: recorded.call(id),
        response: recorded.response(id),
        object: usize::from(recorded[id].key != ValueId::NULL),
        after: history.order().steps().filter(|pair| pair.1 == id).map(|it| it.0.index()).collect(),
    };
    recorded.ids().map(operation).collect()
}

fn random_history(random: &mut fastrand::Rng, object: &Object) -> PartialHistory {
    let signatures = object.spec.operations();
    let mut builder = PartialBuilder::new(signatures);
    let count = random.usize(2..=7);
    let mut state = object.spec.initial();
    for _ in 0..count {
        let operation = random.usize(..2);
        let argument = if operation == 0 { Value::Int(random.i64(..3)) } else { Value::Null };
        let call = Call { operation, argument: argument.clone() };
        let Some(outcome) = object.spec.apply(&state, &call, None).into_iter().next() else {
            continue;
        };
        state = outcome.state;
        let response = match random.u8(..8) {
            0 => None,
            1 if operation == 1 => Some(Value::Int(random.i64(..3))),
            _ => Some(outcome.response),
        };
        let process = builder.process(&random.u8(..3).to_string());
        let id = builder.push(process, operation as u16, argument, response).expect("fits");
        if object.name == "register" && random.u8(..3) == 0 {
            builder.set_key(id, Value::Int(1)).expect("is there");
        }
    }
    builder.program_order();
    let length = builder.build().expect("no cycle").order().len();
    if length > 1 && random.bool() {
        let first = random.usize(..length - 1);
        let second = random.usize(first + 1..length);
        builder.precedes(OpId::new(first), OpId::new(second)).expect("both are there");
    }
    builder.build().expect("no cycle").clone()
}

#[test]
fn what_the_engine_claims_is_confirmed() {
    let (mut witnesses, mut cores, mut refused) = (0, 0, 0);
    for seed in 0..6000 {
        let mut random = fastrand::Rng::with_seed(seed);
        let name = *random.choice(&["queue", "stack", "register"]).expect("one");
        let object = Object::builtin(name, None).expect("is built in");
        let history = random_history(&mut random, &object);
        let claimed = operations(&history);
        let spec = &*object.spec;
        match check_partial(&object, &history, &Limits::default()) {
            Judgement::Holds(witness) => {
                let mut order: Vec<usize> = witness.order.iter().map(|id| id.index()).collect();
                let confirmed = confirm_partial_witness(spec, &claimed, &order);
                assert_eq!(confirmed, Ok(()), "seed {seed}: {history:?}");
                witnesses += 1;
                // Nothing is a core of it.
                let all: Vec<usize> = (0..claimed.len()).collect();
                let core = confirm_partial_core(spec, name, &claimed, &all, &Budget::default());
                assert!(matches!(core, Err(CoreError::Explained(_))), "seed {seed}: {core:?}");
                // Another order is confirmed only if it is one.
                random.shuffle(&mut order);
                let confirmed = confirm_partial_witness(spec, &claimed, &order).is_ok();
                assert_eq!(confirmed, is_explained_in(&object, &claimed, &order), "seed {seed}");
                refused += usize::from(!confirmed);
            }
            Judgement::Violated(violation) => {
                let core: Vec<usize> = violation.core.iter().map(|id| id.index()).collect();
                let confirmed =
                    confirm_partial_core(spec, name, &claimed, &core, &Budget::default());
                assert_eq!(confirmed, Ok(()), "seed {seed}: {violation:?} of {history:?}");
                cores += 1;
                if !history.order().is_of_intervals() {
                    let less =
                        confirm_partial_core(spec, name, &claimed, &core[1..], &Budget::default());
                    assert!(less.is_err(), "seed {seed}: the core was minimal");
                }
            }
            Judgement::Inconclusive(reason) => panic!("seed {seed}: {reason}"),
        }
    }
    assert!(witnesses > 1000 && cores > 1000 && refused > 500, "{witnesses}, {cores}, {refused}");
}

/// The oracle's word on one order: the history in which it is the only one.
fn is_explained_in(object: &Object, claimed: &[PartialOperation], order: &[usize]) -> bool {
    let known: Vec<linchpin_oracle::PartialOperation> = order
        .iter()
        .map(|id| linchpin_oracle::PartialOperation {
            call: claimed[*id].call.clone(),
            response: claimed[*id].response.clone(),
            object: claimed[*id].object,
        })
        .collect();
    let place = |id: usize| order.iter().position(|other| *other == id);
    let mut pairs: Vec<(usize, usize)> = (1..order.len()).map(|at| (at - 1, at)).collect();
    // Of two that are both there; what is not there is pending and stands between none of them.
    let precedes = |first: usize, second: usize| {
        let mut todo = vec![second];
        let mut seen = vec![false; claimed.len()];
        while let Some(at) = todo.pop() {
            for before in &claimed[at].after {
                if !std::mem::replace(&mut seen[*before], true) {
                    todo.push(*before);
                }
            }
        }
        seen[first]
    };
    for (first, second) in order.iter().flat_map(|a| order.iter().map(move |b| (*a, *b))) {
        if precedes(first, second) {
            pairs.extend(place(first).zip(place(second)));
        }
    }
    // A circle is no order. All of them must take effect, pending or not.
    let forward = pairs.iter().all(|(first, second)| first < second);
    let mut states = vec![vec![object.spec.initial()]; 2];
    for operation in &known {
        let apply = |state| object.spec.apply(state, &operation.call, operation.response.as_ref());
        let now = &mut states[operation.object];
        *now = now.iter().flat_map(apply).map(|outcome| outcome.state).collect();
    }
    let explained = states.iter().all(|states| !states.is_empty());
    forward && explained && partial_witness(&*object.spec, &known, &pairs).is_some()
}

fn read(value: i64, after: &[usize]) -> PartialOperation {
    let call = Call { operation: Register::READ, argument: Value::Null };
    let response = Some(Value::Int(value));
    PartialOperation { call, response, object: 0, after: after.to_vec() }
}

#[test]
fn what_makes_no_sense_is_refused() {
    let spec = Register::new(Value::Int(0));
    let core = |history: &[PartialOperation], core: &[usize]| {
        confirm_partial_core(&spec, "register", history, core, &Budget::default())
    };
    let circle = [read(0, &[1]), read(0, &[0])];
    assert_eq!(core(&circle, &[0]), Err(CoreError::Cyclic(0)));
    assert_eq!(confirm_partial_witness(&spec, &circle, &[]), Err(WitnessError::Cyclic(0)));
    assert_eq!(core(&[read(0, &[7])], &[0]), Err(CoreError::NoSuchOperation(7)));
    assert_eq!(core(&[read(1, &[])], &[1]), Err(CoreError::NoSuchOperation(1)));
    assert_eq!(core(&[read(1, &[])], &[0, 0]), Err(CoreError::Twice(0)));
    assert_eq!(core(&[read(1, &[])], &[0]), Ok(()));
    assert_eq!(core(&[], &[]), Err(CoreError::Explained(Vec::new())));
    let chain = [read(0, &[]), read(0, &[0])];
    let witness = |order: &[usize]| confirm_partial_witness(&spec, &chain, order);
    assert_eq!(witness(&[0, 1]), Ok(()));
    assert_eq!(witness(&[1, 0]), Err(WitnessError::Precedes { early: 0, late: 1 }));
    assert_eq!(witness(&[0]), Err(WitnessError::Missing(1)));
    assert_eq!(witness(&[0, 0]), Err(WitnessError::Twice(0)));
    assert_eq!(witness(&[2]), Err(WitnessError::NoSuchOperation(2)));
}
