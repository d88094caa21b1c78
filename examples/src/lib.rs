//! Lock-free structures, each right and broken, with the tests that tell them apart.
//!
//! | module | what | how it is tested |
//! | --- | --- | --- |
//! | [`treiber`] | Treiber's stack | every interleaving, and weak memory |
//! | [`queue`] | the Michael–Scott queue with epoch-based reclamation | native threads |
//! | [`ring`] | a ring for one producer and one consumer | every interleaving, and weak memory |
//! | [`seqlock`] | a sequence lock | every interleaving, and weak memory |
//! | [`durable_queue`] | a queue in persistent memory | every interleaving and every crash |
//!
//! In tests the primitives are linchpin's, elsewhere those of std: see [`primitives`].

pub mod durable_queue;
mod primitives;
pub mod queue;
pub mod ring;
pub mod seqlock;
pub mod treiber;
