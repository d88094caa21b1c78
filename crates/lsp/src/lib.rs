//! The language server: what an editor asks about a model, answered from the front ends.
//!
//! `server.rs` has the loop; `position.rs` turns bytes into lines and UTF-16 columns and back;
//! `names.rs` finds what every name of a `.lin` model stands for, in unfinished models too;
//! `hover.rs`, `rename.rs`, `symbols.rs`, `mistakes.rs` answer from that. `lens.rs` has a model
//! verified by another process, which can be ended at any time and whose memory is its own.
//!
//! INVARIANT: no text and no position makes an answer panic. Parsers return a tree for any text,
//! and a position outside the text counts as the nearest one inside.

mod document;
mod hover;
mod lens;
mod mistakes;
mod names;
mod position;
mod rename;
mod server;
mod stdio;
mod symbols;
#[cfg(test)]
mod tests;
mod types;

pub use lens::Verifier;
pub use server::{ServeError, serve};

use std::time::Duration;

/// How long the verification of a lens takes at most, unless told otherwise.
pub const TIME_LIMIT: Duration = Duration::from_secs(10);

/// Serves one client on standard input and output, until it says `exit` or goes away.
pub fn serve_stdio(verifier: Verifier) -> Result<(), ServeError> {
    let (connection, pipes) = stdio::connect().map_err(ServeError::Pipe)?;
    serve(connection, verifier)?;
    pipes.join().map_err(ServeError::Pipe)
}
