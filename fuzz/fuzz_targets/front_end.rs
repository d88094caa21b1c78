//! Any text through the whole front end of the model language; the judge is the one of
//! `crates/lang/tests/lang/robust`.

#![no_main]

#[path = "../../crates/lang/tests/lang/robust/judge.rs"]
mod judge;

libfuzzer_sys::fuzz_target!(|source: &str| {
    judge::judge(source, source.len() as u64);
});
