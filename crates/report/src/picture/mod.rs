//! Abstract states drawn as small self-contained pictures (paper 001, Figure 3.1(d)).
//!
//! `layout.rs` says where everything is, `svg.rs` writes it down.

mod layout;
mod svg;

pub use svg::{svg, titled_svg};
