//! The shape engine against what judges it.

mod alone;
mod compare;
mod concrete;
mod embed;
mod generator;
mod judge;
mod models;
mod mutants;
mod mutate;
mod picture;
mod random;
mod random_queues;
mod random_sets;
mod three_valued;
mod traps;

/// A number from the environment: `LINCHPIN_CASES` makes a test a campaign.
fn asked(name: &str) -> Option<usize> {
    std::env::var(name).ok()?.parse().ok()
}
