//! Three-valued structures against brute force on small two-valued ones. `LINCHPIN_SEED` repeats
//! one case, `LINCHPIN_CASES` makes each test a long fuzzer.

mod canonical;
mod coerce;
mod evaluate;
mod family;
mod focus;
mod list;
mod oracle;
mod truth;
mod update;

use fastrand::Rng;

fn setting(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// Runs `case` on a fresh generator for each seed, and says which seed it was that failed.
fn for_seeds(cases: u64, mut case: impl FnMut(&mut Rng)) {
    let seeds = match setting("LINCHPIN_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..setting("LINCHPIN_CASES").unwrap_or(cases),
    };
    for seed in seeds {
        let guard = Named(seed);
        case(&mut Rng::with_seed(seed));
        std::mem::forget(guard);
    }
}

/// Prints the seed if the case panics.
struct Named(u64);

impl Drop for Named {
    fn drop(&mut self) {
        eprintln!("LINCHPIN_SEED={} repeats it", self.0);
    }
}
