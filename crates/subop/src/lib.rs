//! The `.subop` language: the specification language of Singh, Neamtiu and Gupta, "Proving
//! Concurrent Data Structures Linearizable" (Figure 6), in which an operation is a list of guarded
//! atomic sub-operations.
//!
//! [`model`] says what a file means, once its names are resolved; [`parse`] resolves one.
//!
//! ```
//! let model = linchpin_subop::parse("int x; Set() 1 x = 1; Get() 1 READ x;").unwrap();
//! assert_eq!(model.operations[1].reads, 1);
//! ```

mod check;
pub mod execute;
mod limits;
pub mod model;
mod print;
pub mod sequential;
mod syntax;

pub use linchpin_syntax::{Diagnostic, Span};
pub use model::Model;
pub use print::{Names, claim as print_claim, invariant as print_invariant, print};

/// From source to resolved model. All mistakes that can be found are reported together.
pub fn parse(source: &str) -> Result<Model, Vec<Diagnostic>> {
    let (file, mistakes) = syntax::parse(source);
    if !mistakes.is_empty() {
        return Err(mistakes);
    }
    let (model, mistakes) = check::check(&file);
    if mistakes.is_empty() { Ok(model) } else { Err(mistakes) }
}

/// The words that cannot be names.
pub fn keywords() -> impl Iterator<Item = &'static str> {
    use linchpin_syntax::Kind as _;
    syntax::Kind::KEYWORDS.iter().map(|(word, _)| *word)
}
