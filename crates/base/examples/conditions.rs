//! Prints which conditions hold for a model: `conditions FILE [THREADS OPS VALUES]`.

use linchpin_base::{Options, analyse};
use linchpin_ir::interpreter::Memory;
use linchpin_lang::Config;
use linchpin_space::Bounds;
use linchpin_verdict::Calls;
use std::time::Instant;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize, default: u32| {
        arguments.get(at).and_then(|text| text.parse().ok()).unwrap_or(default)
    };
    let source = std::fs::read_to_string(&arguments[0]).expect("a file");
    let (threads, ops, values) = (number(1, 2), number(2, 2), number(3, 2));
    let threads = match threads {
        0 => linchpin_lang::Threads::AsDeclared,
        count => linchpin_lang::Threads::Count(count as usize),
    };
    let config = Config { threads, ..Config::default() };
    let compiled = linchpin_lang::compile(&source, &config).expect("a model");
    let calls = if ops == 0 { Calls::Unlimited } else { Calls::Each(ops) };
    let bounds =
        Bounds { calls, values: i64::from(values), objects: None, memory: Memory::Collected };
    let start = Instant::now();
    let analysis = match analyse(&compiled.program, &Options::new(bounds), &|_| {}) {
        Ok(analysis) => analysis,
        Err(error) => return println!("{}: {error}", arguments[0]),
    };
    println!(
        "{}: holds {} in {} states, {} shared, {:?} {:?}",
        arguments[0],
        analysis.holds(),
        analysis.states(),
        analysis.shared.len(),
        start.elapsed(),
        analysis.treatment
    );
    let name = |operation: usize| compiled.program.operations[operation].name.as_str();
    for finding in analysis.as_printed.iter().chain(&analysis.findings) {
        println!(
            "  {:?} {} {:?} line {}",
            finding.rule,
            name(finding.operation),
            finding.other.map(name),
            finding.line
        );
    }
    if std::env::var("DETAIL").is_ok() {
        for finding in &analysis.findings {
            println!("{finding:#?}");
        }
    }
    for ((operation, line), effects) in &analysis.tally.steps {
        let of = |(of, effects): (usize, &linchpin_base::Effects)| {
            format!("{} {}/{}", name(of), effects.preserved, effects.changed)
        };
        let effects: Vec<String> = effects.iter().enumerate().map(of).collect();
        println!("  {}:{line} {}", name(*operation), effects.join(", "));
    }
}
