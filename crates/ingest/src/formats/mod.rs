//! One file a format: lines to tokens, tokens to the recorder. `edn.rs` reads the notation that
//! three of them share; `json_scan.rs` and `edn_scan.rs` are the fast paths through what recorders
//! write, `plain.rs` what those of the terse formats share, and `json_ahead.rs` runs the one for
//! JSON on a second thread.

mod cursor;
#[cfg(test)]
mod differential;
pub(crate) mod edn;
mod edn_scan;
pub(crate) mod etcd;
pub(crate) mod fastlin;
mod fressian;
pub(crate) mod jepsen_edn;
pub(crate) mod jepsen_log;
pub(crate) mod json_ahead;
pub(crate) mod json_document;
pub(crate) mod json_lines;
mod json_scan;
pub(crate) mod limo;
mod plain;
pub(crate) mod s2;
mod template;
pub(crate) mod test_jepsen;
pub(crate) mod tipocket;
