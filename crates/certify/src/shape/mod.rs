//! Confirms what the shape engine found: a set of abstract states, or of views of one thread, that
//! contains the initial ones, is closed under moves, and from which no move is wrong.
//!
//! The states are those of the certificate; nothing is searched for. The model is compiled from its
//! text again, and its steps are executed again ([`step`], [`correlate`]) on states made of plain
//! sets ([`state`]); each successor must be covered by a state of the certificate ([`cover`]).
//! Views are put side by side in all ways ([`beside`]). The rules that remove what cannot be
//! ([`list`]) stand beside the checks at the writes that they follow from. Nothing here is shared
//! with the engine but the front end and the steps that it gives. Start with [`check`].

mod beside;
mod certificate;
mod check;
mod correlate;
mod cover;
mod evaluate;
mod heap;
mod list;
mod model;
mod read;
mod state;
mod step;
mod wrong;

pub use certificate::{ComparedWith, ShapeCertificate, ShapeConfirmed, ShapeThreads};

use crate::hash::Sha256;
use thiserror::Error;

/// Why a certificate of the shape engine is not confirmed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ShapeError {
    /// The certificate is not one.
    #[error("the certificate cannot be read: {0}")]
    Malformed(String),
    /// The model is not the one that the certificate was written for.
    #[error(
        "not confirmed: the text of the model has the hash {}, but the certificate is about {}",
        found.short(), stated.short()
    )]
    OtherText {
        /// The hash that the certificate states.
        stated: Sha256,
        /// The hash of its text.
        found: Sha256,
    },
    /// Something that it says is not so, or cannot be told.
    #[error("not confirmed: {0}")]
    NotConfirmed(String),
    /// There are too many moves.
    #[error("too large to be confirmed")]
    TooLarge,
}

/// The model, or a state of it, is refused.
fn refused(why: &str) -> ShapeError {
    ShapeError::NotConfirmed(why.to_owned())
}
