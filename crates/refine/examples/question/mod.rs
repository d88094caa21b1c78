//! What the examples ask: two values, so many threads, so many operations each.

use linchpin_ir::interpreter::Memory;
use linchpin_ir::program::Program;
use linchpin_lang::{Config, Threads, compile};
use linchpin_space::{Bounds, Calls};
use linchpin_verdict::Values;

/// A model with so many threads, if it compiles with them.
pub fn program(source: &str, threads: usize) -> Option<Program> {
    let config = Config { threads: Threads::Count(threads), ..Config::default() };
    Some(compile(source, &config).ok()?.program)
}

/// So many operations each.
pub fn bounds(calls: u32) -> Bounds {
    Bounds {
        calls: Calls::Each(calls),
        values: Values::UpTo(2),
        objects: None,
        memory: Memory::Collected,
        crashes: 0,
        thread_crashes: 0,
    }
}
