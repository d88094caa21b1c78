//! The start of all executions: what `initially` leaves.

use crate::context::Context;
use crate::facts::Invariant;
use crate::search::explore_start;
use crate::world::Env;

/// Whether an invariant holds at the start, for all objects that exist there.
pub fn holds(context: &Context, invariant: &Invariant) -> bool {
    let mut holds = true;
    let outcome = explore_start(context, &mut |world, memory| {
        let objects: Vec<_> =
            invariant.bound.iter().map(|of| world.objects_at_start(*of)).collect();
        for bound in combinations(&objects) {
            if !context.count_case() {
                holds = false;
                break;
            }
            let env = Env { who: 0, peer: 1, bound: &bound };
            holds &= world.require(memory, env, &invariant.condition)?;
        }
        Ok(holds)
    });
    holds && outcome.is_ok()
}

/// Every way to choose one of each list.
pub fn combinations<T: Clone>(lists: &[Vec<T>]) -> Vec<Vec<T>> {
    let mut found = vec![Vec::new()];
    for list in lists {
        found = found
            .into_iter()
            .flat_map(|chosen: Vec<T>| {
                list.iter().map(move |item| chosen.iter().chain([item]).cloned().collect())
            })
            .collect();
    }
    found
}
