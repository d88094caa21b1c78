//! Folding changes nothing: what is explained without it is explained with it, and the orders are
//! those of a stack.

use super::super::intervals::gathered;
use super::*;
use linchpin_history_data::Builder;
use linchpin_spec::{Call, Spec, Value};

/// Calls of a few processes that take effect at random instants, on a stack that is not always one.
fn history(random: &mut fastrand::Rng) -> History {
    let stack = Stack::default();
    let processes = random.usize(1..5);
    let most = if random.u8(..4) == 0 { 200 } else { 14 };
    let calls = random.usize(1..most);
    let (mut builder, mut state) = (Builder::new(stack.operations()), stack.initial());
    let mut open: Vec<Option<(Call, Option<Value>)>> = vec![None; processes];
    let (mut called, mut returned) = (0, 0);
    while returned < calls {
        let process = random.usize(..processes);
        let name = process.to_string();
        open[process] = match open[process].take() {
            None if called == calls => None,
            None => {
                called += 1;
                let operation = [Stack::PUSH, Stack::PUSH, Stack::POP, Stack::POP, Stack::PEEK]
                    [random.usize(..5)];
                let is_push = operation == Stack::PUSH;
                let argument = if is_push { Value::Int(called as i64) } else { Value::Null };
                let what = &stack.operations()[operation].name;
                builder.invoke(&name, what, argument.clone()).expect("a call");
                Some((Call { operation, argument }, None))
            }
            Some((call, None)) => {
                let mut apply = |call: &Call| {
                    let outcome = stack.apply(&state, call, None).swap_remove(0);
                    state = outcome.state;
                    outcome.response
                };
                let mut answer = apply(&call);
                // Sometimes the one below the top is popped.
                if call.operation == Stack::POP && answer != Value::Null && random.u8(..9) == 0 {
                    let below = apply(&call);
                    if below != Value::Null {
                        apply(&Call { operation: Stack::PUSH, argument: answer });
                        answer = below;
                    }
                }
                Some((call, Some(answer)))
            }
            Some((_, Some(answer))) => {
                returned += 1;
                builder.ok(&name, answer).expect("an answer");
                None
            }
        };
    }
    builder.finish()
}

/// Whether the order is one of a stack, has every operation once, and respects time.
fn explains(history: &History, order: &[OpId]) -> bool {
    let stack = Stack::default();
    let mut state = stack.initial();
    let mut latest = linchpin_history_data::Rank::FIRST;
    let mut sorted = order.to_vec();
    sorted.sort_unstable();
    let all: Vec<OpId> = history.ids().collect();
    sorted == all
        && order.iter().all(|&id| {
            let operation = &history[id];
            latest = latest.max(operation.invoked);
            let outcome = stack.apply(&state, &history.call(id), None).swap_remove(0);
            state = outcome.state;
            let changes = usize::from(operation.operation) == Stack::PUSH;
            operation.returned > latest
                && (changes || history.response(id) == Some(outcome.response))
        })
}

#[test]
fn folding_changes_nothing() {
    let mut random = fastrand::Rng::with_seed(5);
    let (mut explained, mut stuck, mut all_folded, mut rest) = (0, 0, 0, 0);
    for case in 0..6_000 {
        let history = history(&mut random);
        let limits = Limits::default();
        let poll = StopPoll::new(&limits);
        let lifo = Lifo { poll: &poll };
        let Some(part) = gathered::<Lifo>(&history, &poll) else { continue };
        let drained = part.tuned_and_drained();
        let folding = fold::fold(&drained, &poll).expect("no limit").expect("not too long");
        all_folded += u32::from(!folding.folded.is_empty() && folding.rest.lives.is_empty());
        rest += u32::from(!folding.folded.is_empty() && !folding.rest.lives.is_empty());
        match (lifo.order(part), lifo.peel(&drained)) {
            (Ok(folded), Ok(peeled)) => {
                explained += 1;
                assert!(explains(&history, &peeled), "case {case}: {peeled:?} of {history:?}");
                assert!(explains(&history, &folded), "case {case}: {folded:?} of {history:?}");
            }
            (Err(Halt::Fault(_)), Err(Halt::Fault(_))) => stuck += 1,
            (folded, peeled) => panic!("case {case}: {folded:?}, {peeled:?} of {history:?}"),
        }
    }
    assert!(explained > 1_000 && stuck > 300, "{explained} {stuck}");
    assert!(all_folded > 500 && rest > 300, "{all_folded} {rest}");
}
