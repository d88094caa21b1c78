//! Where the specification of a test comes from.

use crate::error::DefinitionError;
use linchpin_history_data::Object;
use linchpin_record::ToValue;
use linchpin_spec::Value;
use std::path::{Path, PathBuf};

/// The specification of a test, before it is looked up.
pub enum Specification {
    /// A built-in one.
    Builtin {
        /// Its name.
        name: String,
        /// What it starts from.
        init: Option<Value>,
    },
    /// The `spec { }` block of a `.lin` file, or the built-in one that it names.
    Lin(PathBuf),
    /// One of your own.
    Object(Object),
}

/// Where a specification came from: what `linchpin check` has to be told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// A built-in one.
    Builtin {
        /// Its name.
        name: String,
        /// What it starts from.
        init: Option<Value>,
    },
    /// A `.lin` file.
    Lin(PathBuf),
    /// Rust code, which the command cannot run.
    Rust(String),
}

impl From<&str> for Specification {
    fn from(name: &str) -> Specification {
        Specification::Builtin { name: name.to_owned(), init: None }
    }
}

impl From<Object> for Specification {
    fn from(object: Object) -> Specification {
        Specification::Object(object)
    }
}

/// The specification in a `.lin` file, relative to the package of the test. It needs the feature
/// `lin`.
pub fn lin(path: impl AsRef<Path>) -> Specification {
    Specification::Lin(path.as_ref().to_owned())
}

impl Specification {
    /// Starting from this value, where a built-in specification is named.
    #[must_use]
    pub fn starting_from(mut self, value: impl ToValue) -> Specification {
        if let Specification::Builtin { init, .. } = &mut self {
            *init = Some(value.to_value());
        }
        self
    }

    /// The object, and where it came from.
    ///
    /// # Errors
    ///
    /// If there is no such specification, or the file has mistakes.
    pub fn find(self) -> Result<(Object, Source), DefinitionError> {
        match self {
            Specification::Builtin { name, init } => {
                let object = Object::builtin(&name, init.clone())?;
                Ok((object, Source::Builtin { name, init }))
            }
            Specification::Lin(path) => Ok((read(&path)?, Source::Lin(path))),
            Specification::Object(object) => {
                let source = Source::Rust(object.name.clone());
                Ok((object, source))
            }
        }
    }
}

#[cfg(feature = "lin")]
fn read(path: &Path) -> Result<Object, DefinitionError> {
    use linchpin_ir::model_spec::ModelSpec;
    use linchpin_ir::program::SpecSource;
    let shown = path.display().to_string();
    let mistake = |reason: String| DefinitionError::Lin { path: shown.clone(), reason };
    let text = std::fs::read_to_string(path).map_err(|error| mistake(error.to_string()))?;
    let config = linchpin_lang::Config::default();
    let source = linchpin_lang::compile_spec(&text, &config).map_err(|mistakes| {
        let all = mistakes.iter().map(|one| one.render(&shown, &text, false));
        mistake(all.collect::<Vec<_>>().join("\n\n"))
    })?;
    match source {
        SpecSource::Builtin { name, init } => Ok(Object::builtin(&name, init)?),
        SpecSource::Model(model) => {
            let spec = ModelSpec::new(&model).map_err(|error| mistake(error.to_string()))?;
            Ok(Object::custom("spec", spec))
        }
    }
}

#[cfg(not(feature = "lin"))]
fn read(path: &Path) -> Result<Object, DefinitionError> {
    let reason = "`lin(…)` needs the feature `lin` of `linchpin`".to_owned();
    Err(DefinitionError::Lin { path: path.display().to_string(), reason })
}
