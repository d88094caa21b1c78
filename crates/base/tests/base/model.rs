//! Models from text, and numbers from the environment.

use linchpin_lang::{Compiled, Config, Threads, compile};

/// A number that the environment may set.
pub fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// A model for so many threads.
pub fn compiled(source: &str, threads: usize) -> Compiled {
    let config = Config { threads: Threads::Count(threads), ..Config::default() };
    compile(source, &config).unwrap_or_else(|mistakes| {
        let shown: Vec<String> =
            mistakes.iter().map(|mistake| mistake.render("model", source, false)).collect();
        panic!("{source}\n{}", shown.join("\n"))
    })
}
