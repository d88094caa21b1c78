//! The `.csp` process language of "Model Checking Linearizability via Refinement" (Liu, Chen, Liu,
//! Sun; Definition 1), and trace refinement between its processes.
//!
//! [`parse`] reads a source, [`verify`] checks its assertions. Reading order of the code: `syntax/`
//! (text to tree), `check/` (names and types), `program.rs` (what comes of it), `term.rs` and
//! `lts.rs` (states and steps, Definition 2), `normal.rs` (the specification, Definition 4),
//! `product.rs` (Figure 2), `reduction.rs` (Figures 3 and 4), `shortest.rs` (counterexamples).

mod cells;
mod check;
mod engine;
mod evaluate;
mod future;
mod limits;
mod lts;
mod normal;
mod product;
mod program;
mod reduction;
mod shortest;
mod syntax;
mod term;
mod verdict;
mod verify;

pub use engine::Processes;
pub use linchpin_syntax::{Diagnostic, Span};
pub use program::Model;
pub use verdict::{Counterexample, Failure, Place, Report, TraceStep, Wrong};
pub use verify::{Options, verify};

/// Reads a source. `constants` replaces the values of constants by name; booleans are 0 and 1. All
/// mistakes that can be found are reported together.
pub fn parse(source: &str, constants: &[(String, i64)]) -> Result<Model, Vec<Diagnostic>> {
    let (tree, mistakes) = syntax::parse(source);
    if !mistakes.is_empty() {
        return Err(mistakes);
    }
    check::check(source, &tree, constants)
}

/// The words that cannot be names.
pub fn keywords() -> impl Iterator<Item = &'static str> {
    use linchpin_syntax::Kind as _;
    syntax::token::TokenKind::KEYWORDS.iter().map(|(word, _)| *word)
}
