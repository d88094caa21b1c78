//! Linear temporal logic over the events of a model.
//!
//! Reading order: `formula.rs` (what can be said), `parse.rs` (how it is written), `atom.rs` (which
//! events an atom means), `automaton.rs` (the Büchi automaton of a formula), `product.rs` (the runs
//! of a model that it accepts), `evaluate.rs` (what a formula says of one ultimately periodic run).

mod atom;
mod automaton;
mod evaluate;
mod formula;
mod parse;
mod product;

pub use atom::{Atom, EventKind, Pattern};
pub use automaton::{Automaton, Node, TooLarge};
pub use evaluate::holds_on;
pub use formula::Formula;
pub use parse::{FormulaError, Parsed, parse};
pub use product::{Product, letters};
