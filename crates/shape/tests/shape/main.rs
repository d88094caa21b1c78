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
