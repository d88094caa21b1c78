//! The mistakes, one file a section.

mod annotations;
mod clients;
mod control;
mod foreign;
mod memory;
mod names;
mod persistence;
mod references;
mod size;
mod specifications;
mod types;
mod writing;

use linchpin_lang::{Config, Threads};
use linchpin_spec::Value;

/// A model with a mistake.
pub struct Mistake {
    pub title: &'static str,
    /// Why it matters, or how it happens.
    pub why: &'static str,
    pub model: &'static str,
    /// How many mistakes there are.
    pub count: usize,
    /// How many threads the user asks for, if not as declared.
    pub threads: Option<usize>,
    /// A parameter that the user sets.
    pub set: Option<(&'static str, i64)>,
}

impl Mistake {
    pub fn config(&self) -> Config {
        let params = self.set.iter().map(|(name, value)| (name.to_string(), Value::Int(*value)));
        Config {
            params: params.collect(),
            threads: self.threads.map_or(Threads::AsDeclared, Threads::Count),
            preload: None,
        }
    }

    /// The title as GitHub and others make it the target of links.
    pub fn anchor(&self) -> String {
        let kept = self.title.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        kept.collect::<String>().to_lowercase().replace(' ', "-")
    }
}

const fn mistake(title: &'static str, why: &'static str, model: &'static str) -> Mistake {
    Mistake { title, why, model, count: 1, threads: None, set: None }
}

const fn several(
    count: usize,
    title: &'static str,
    why: &'static str,
    model: &'static str,
) -> Mistake {
    Mistake { count, ..mistake(title, why, model) }
}

pub const SECTIONS: &[(&str, &[Mistake])] = &[
    ("Writing", writing::ALL),
    ("Coming from C, Java or Rust", foreign::ALL),
    ("Names", names::ALL),
    ("Types", types::ALL),
    ("Shared memory", memory::ALL),
    ("Persistent memory", persistence::ALL),
    ("Control", control::ALL),
    ("Specifications", specifications::ALL),
    ("References", references::ALL),
    ("Clients", clients::ALL),
    ("Annotations", annotations::ALL),
    ("Size", size::ALL),
];
