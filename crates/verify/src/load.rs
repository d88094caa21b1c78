//! From text to what engines take.

use linchpin_engine::{Language, ModelBounds, Request, Source, Subject};
use linchpin_ir::program::{Program, Thread};
use linchpin_lang::{Config, Ops, Threads, compile};
use linchpin_spec::Value;
use linchpin_syntax::Diagnostic;
use linchpin_verdict::Calls;
use std::fmt;
use thiserror::Error;

/// The mistakes of a model.
#[derive(Debug, Error)]
pub struct LoadError {
    /// The file.
    pub name: String,
    /// Its text.
    pub text: String,
    /// What is wrong with it.
    pub mistakes: Vec<Diagnostic>,
}

/// The mistakes with their source lines, as text without colour.
impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(false))
    }
}

impl LoadError {
    /// The mistakes with their source lines, coloured or not.
    pub fn render(&self, color: bool) -> String {
        let shown = |mistake: &Diagnostic| mistake.render(&self.name, &self.text, color);
        let all: Vec<String> = self.mistakes.iter().map(shown).collect();
        let count = self.mistakes.len();
        let plural = if count == 1 { "" } else { "s" };
        format!("{}\n\n{}: {count} mistake{plural}", all.join("\n\n"), self.name)
    }
}

/// A model, read and ready for the engines.
#[derive(Clone, Debug)]
pub struct Loaded {
    name: String,
    text: String,
    config: Config,
    model: Model,
}

#[derive(Clone, Debug)]
enum Model {
    Lin { program: Box<Program>, bounds: ModelBounds },
    Subop,
    Csp { constants: Vec<(String, i64)> },
}

/// Reads a model; `config` has the threads and parameters of a `.lin` model, the constants of a
/// `.csp` file. Mistakes of a `.subop` or `.csp` file are found here too.
pub fn load(
    name: &str,
    text: &str,
    language: Language,
    config: &Config,
) -> Result<Loaded, LoadError> {
    let error = |mistakes: Vec<Diagnostic>| LoadError {
        name: name.to_owned(),
        text: text.to_owned(),
        mistakes,
    };
    let model = match language {
        Language::Lin => {
            let compiled = compile(text, config).map_err(error)?;
            let calls = match compiled.bounds.ops {
                Ops::Each(count) => Calls::Each(u32::try_from(count).unwrap_or(u32::MAX)),
                Ops::Unlimited => Calls::Unlimited,
            };
            let bounds = ModelBounds {
                calls,
                values: compiled.bounds.values,
                crashes: u8::try_from(compiled.bounds.crashes).unwrap_or(u8::MAX),
            };
            Model::Lin { program: Box::new(compiled.program), bounds }
        }
        Language::Subop => {
            linchpin_subop::parse(text).map_err(error)?;
            Model::Subop
        }
        Language::Csp => {
            let constants = constants(config);
            linchpin_csp::parse(text, &constants).map_err(error)?;
            Model::Csp { constants }
        }
    };
    Ok(Loaded { name: name.to_owned(), text: text.to_owned(), config: config.clone(), model })
}

fn constants(config: &Config) -> Vec<(String, i64)> {
    let number = |value: &Value| match value {
        Value::Bool(truth) => i64::from(*truth),
        other => other.as_int().unwrap_or(0),
    };
    config.params.iter().map(|(name, value)| (name.clone(), number(value))).collect()
}

impl Loaded {
    /// What the engines are asked about.
    pub fn subject(&self) -> Subject<'_> {
        let source = match &self.model {
            Model::Lin { program, bounds } => Source::Lin { program, bounds: *bounds },
            Model::Subop => Source::Subop,
            Model::Csp { constants } => Source::Csp { constants },
        };
        Subject { name: &self.name, text: &self.text, source }
    }

    /// Gives a `.lin` model these threads; others have none.
    pub(crate) fn set_threads(&mut self, threads: Vec<Thread>) {
        if let Model::Lin { program, .. } = &mut self.model {
            program.threads = threads;
        }
    }

    /// Whether crashes are asked for, by the request or by the model.
    pub fn has_crashes(&self, request: &Request<'_>) -> bool {
        match &self.model {
            Model::Lin { bounds, .. } => {
                // Where nothing is persistent there are no crashes of the system.
                let persistent = self.program().is_some_and(|of| of.persistence.is_some());
                let crashes = request.crashes.unwrap_or(bounds.crashes) > 0 && persistent;
                crashes || request.thread_crashes > 0
            }
            Model::Subop | Model::Csp { .. } => false,
        }
    }

    /// The same `.lin` model with so many threads; `None` if it says itself who calls what.
    pub(crate) fn with_threads(&self, count: usize) -> Option<Loaded> {
        let program = self.program()?;
        let is_alike = |thread: &Thread| {
            thread.role.is_none() && thread.operations.len() == program.operations.len()
        };
        if !program.threads.iter().all(is_alike) {
            return None;
        }
        let config = Config { threads: Threads::Count(count), ..self.config.clone() };
        load(&self.name, &self.text, Language::Lin, &config).ok()
    }

    /// How many threads a `.lin` model has.
    pub(crate) fn threads(&self) -> Option<usize> {
        self.program().map(|program| program.threads.len())
    }

    /// The steps of a `.lin` model.
    pub fn program(&self) -> Option<&Program> {
        match &self.model {
            Model::Lin { program, .. } => Some(program),
            Model::Subop | Model::Csp { .. } => None,
        }
    }
}
