//! What people see: a history as a timeline, a run as a page.
//!
//! Knows nothing of engines and models: it is given words and positions, and lays them out. Everything shown is escaped.

mod escape;
mod html;
mod timeline;

pub use escape::{escaped, escaped_lines};
pub use html::{Page, Row};
pub use timeline::{Bar, Timeline};
