//! The start of all executions: what `initially` leaves.

use crate::context::Context;
use crate::facts::Invariant;
use crate::search::explore_start;
use crate::symbolic::Env;

/// Whether an invariant holds at the start, for all objects that exist there.
pub fn holds(context: &Context, invariant: &Invariant) -> bool {
    let mut holds = true;
    let outcome = explore_start(context, &mut |symbolic, memory| {
        let objects: Vec<_> =
            invariant.bound.iter().map(|of| symbolic.objects_at_start(*of)).collect();
        for bound in combinations(objects) {
            if !context.count_case() {
                holds = false;
                break;
            }
            let env = Env { who: 0, peer: 1, bound: &bound };
            holds &= symbolic.require(memory, env, &invariant.condition)?;
        }
        Ok(holds)
    });
    holds && outcome.is_ok()
}

/// Every way to choose one of each list.
pub fn combinations<T: Clone>(lists: Vec<Vec<T>>) -> impl Iterator<Item = Vec<T>> {
    // Counted, one digit for each list: there may be too many to have them all at once.
    let count = lists.iter().map(Vec::len).product();
    (0..count).map(move |mut number: usize| {
        let digit = |list: &Vec<T>| {
            let item = list[number % list.len()].clone();
            number /= list.len();
            item
        };
        lists.iter().map(digit).collect()
    })
}
