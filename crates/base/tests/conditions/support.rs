//! Models, compiled and analysed.

use linchpin_base::{Analysis, Options, analyse};
use linchpin_ir::interpreter::Memory;
use linchpin_ir::program::Program;
use linchpin_lang::{Config, compile};
use linchpin_space::{Bounds, Calls};

/// The source of a model.
pub fn source(name: &str) -> String {
    let path = format!("{}/../../models/{name}.lin", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(path).expect("the model is there")
}

/// The program of a source.
pub fn program(source: &str) -> Program {
    compile(source, &Config::default()).expect("the model compiles").program
}

/// The analysis of a source, with so many calls of each thread.
pub fn analysis(source: &str, calls: u32) -> Analysis {
    let compiled = compile(source, &Config::default()).expect("the model compiles");
    let bounds = Bounds {
        calls: Calls::Each(calls),
        values: compiled.bounds.values,
        objects: None,
        memory: Memory::default(),
        crashes: 0,
        thread_crashes: 0,
    };
    analyse(&compiled.program, &Options::new(bounds), &|_| {}).expect("it can be analysed")
}

/// The lazy set with a condition written differently; it must occur.
pub fn lazy_with(old: &str, new: &str) -> String {
    let source = source("lazy_set");
    assert!(source.contains(old), "{old}");
    source.replace(old, new)
}
