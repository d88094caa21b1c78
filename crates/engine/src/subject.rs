//! What is asked about.

use linchpin_ir::program::Program;
use linchpin_verdict::{Calls, Values};

/// The languages of models.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Language {
    /// `.lin`: an algorithm in small atomic steps.
    Lin,
    /// `.subop`: operations as sub-operations, in the notation of paper 000.
    Subop,
    /// `.csp`: processes and assertions about them, in the notation of paper 002.
    Csp,
}

impl Language {
    /// The language of a file with this extension; a file without one is a `.lin` model.
    pub fn of_extension(extension: Option<&str>) -> Option<Language> {
        match extension {
            Some("lin") | None => Some(Language::Lin),
            Some("subop") => Some(Language::Subop),
            Some("csp") => Some(Language::Csp),
            Some(_) => None,
        }
    }

    /// The extension of its files.
    pub const fn extension(self) -> &'static str {
        match self {
            Language::Lin => "lin",
            Language::Subop => "subop",
            Language::Csp => "csp",
        }
    }
}

/// The bounds that a `.lin` model asks for, other than its threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModelBounds {
    /// Operations a thread calls.
    pub calls: Calls,
    /// Clients pass these integers.
    pub values: Values,
    /// How often the system may crash.
    pub crashes: u8,
}

/// A model, as the engines take it.
#[derive(Clone, Copy, Debug)]
pub enum Source<'a> {
    /// A compiled `.lin` model.
    Lin {
        /// Its steps.
        program: &'a Program,
        /// The bounds it asks for.
        bounds: ModelBounds,
    },
    /// A `.subop` file.
    Subop,
    /// A `.csp` file, with these constants set.
    Csp {
        /// Constants by name.
        constants: &'a [(String, i64)],
    },
}

/// A model and where it comes from.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// What the file is called.
    pub name: &'a str,
    /// Its text.
    pub text: &'a str,
    /// What is in it.
    pub source: Source<'a>,
}

impl Subject<'_> {
    /// The language it is written in.
    pub const fn language(&self) -> Language {
        match self.source {
            Source::Lin { .. } => Language::Lin,
            Source::Subop => Language::Subop,
            Source::Csp { .. } => Language::Csp,
        }
    }
}
