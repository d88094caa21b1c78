//! One file a format: lines to tokens, tokens to the recorder. `edn.rs` reads the notation that three of them share.

pub(crate) mod edn;
pub(crate) mod fastlin;
pub(crate) mod jepsen_edn;
pub(crate) mod jepsen_log;
pub(crate) mod json_document;
pub(crate) mod json_lines;
mod json_scan;
mod json_template;
pub(crate) mod limo;
