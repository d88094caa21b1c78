//! What people and scripts see: verdicts as text, as JSON, as self-contained pages.
//!
//! Knows no engine: it is given typed answers, and lays them out. Everything shown is escaped.
//! Start at [`Findings`].

mod batch;
mod changes;
mod document;
mod findings;
pub mod history;
mod html;
pub mod interleaving;
pub mod json;
mod listing;
mod picture;
mod reproduction;
mod roadmap;
pub mod run;
pub mod schedule;
mod shared;
mod summary;
mod template;
mod verify_page;

pub use batch::{Batch, BatchRow, plain_page};
pub use findings::Findings;
pub use html::{Figure, Figures, Page, Row, Tone};
pub use linchpin_history_data::{Bar, Timeline, escaped, escaped_lines};
pub use listing::{Listed, Listing};
pub use picture::svg;
pub use reproduction::{
    Column, Comparison, ComparisonRow, Group, Reproduction, Reproductions, figures, words,
};
pub use roadmap::{RoadmapView, case_count, status_words};
pub use run::RunView;
pub use summary::{SummaryPage, SummaryRow};
