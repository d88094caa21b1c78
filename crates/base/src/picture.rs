//! Shared states to look at.

use linchpin_engine::{SharedPicture, SharedValue};
use linchpin_space::{Flat, Space};

/// A shared state.
pub fn picture(
    _space: &Space,
    _flat: &Flat,
    caption: String,
    locals: &[(String, SharedValue)],
) -> SharedPicture {
    SharedPicture { caption, variables: locals.to_vec(), nodes: Vec::new() }
}
