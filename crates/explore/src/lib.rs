//! Explores the executions of real Rust code whose shared accesses go through `linchpin-sync`.
//!
//! Start with [`explore`]: it runs a body again and again, each time with another execution, and
//! shows every one of them to an observer. [`Execution`] is what it shows. How executions are
//! chosen is a [`Strategy`]; `threads` runs code until its next question and knows no strategy.

pub mod crash;
mod crew;
mod execution;
mod interleave;
mod options;
pub mod orders;
mod problem;
mod threads;
mod together;
mod turn;
mod watch;
mod weak;

pub use crew::Position;
pub use execution::{Event, EventKind, Execution, InLine, Problem, Resourceful, Waiting};
pub use options::{Exploration, Options, Strategy};
pub use together::Together;
pub use turn::in_turn;
pub use watch::{Running, Stood, Watch};

use std::ops::ControlFlow;
use std::rc::Rc;

/// Runs a body again and again, each time with another execution, and shows every one of them to an
/// observer until it breaks. The body is the first thread; it starts others by
/// [`linchpin_sync::thread::spawn`]. It must do the same whenever it is answered the same.
pub fn explore(
    options: &Options,
    body: &Rc<dyn Fn()>,
    observe: &mut dyn FnMut(&Execution) -> ControlFlow<()>,
) -> Exploration {
    match &options.strategy {
        Strategy::Exhaustive => interleave::exhaustive(options, body, observe),
        Strategy::Preemptions(most) => interleave::bounded(options, body, observe, *most),
        Strategy::Random { runs, seed } => interleave::random(options, body, observe, *runs, *seed),
        Strategy::Pct { runs, depth, seed } => {
            interleave::pct(options, body, observe, (*runs, *depth, *seed))
        }
        Strategy::Replay(decisions) => interleave::replay(options, body, observe, decisions),
        Strategy::Weak | Strategy::ReplayWeak(_) => weak::explore(options, body, observe),
    }
}
