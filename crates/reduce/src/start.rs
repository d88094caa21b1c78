//! The start of all executions: what `initially` leaves.

use crate::context::Context;
use crate::facts::Invariant;
use crate::search::explore_start;
use crate::world::Env;

/// Whether an invariant holds at the start.
pub fn holds(context: &Context, invariant: &Invariant) -> bool {
    let mut holds = true;
    let outcome = explore_start(context, &mut |world, memory| {
        let objects = match invariant.bound[..] {
            [] => {
                holds &= world.require(memory, Env::of(0), &invariant.condition)?;
                return Ok(holds);
            }
            [of] => world.objects_at_start(of),
            _ => {
                holds = false;
                return Ok(false);
            }
        };
        for object in objects {
            let env = Env { who: 0, peer: 1, bound: &[object] };
            holds &= world.require(memory, env, &invariant.condition)?;
        }
        Ok(holds)
    });
    holds && outcome.is_ok()
}
