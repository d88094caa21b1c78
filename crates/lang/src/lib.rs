//! The `.lin` model language.
//!
//! [`compile`] takes a source to a program ready to execute; [`format`](fn@format) lays a source
//! out; [`add_bases`] writes base conditions into one; [`syntax`] is the tree.
//!
//! ```
//! use linchpin_lang::{Config, compile};
//! let model = "spec counter; shared n: int; op read() -> int { return n; }";
//! let compiled = compile(model, &Config::default()).unwrap();
//! assert_eq!(compiled.program.operations[0].name, "read");
//! ```

mod annotate;
mod check;
mod format;
pub mod hir;
mod limits;
mod lower;
pub mod syntax;

pub use annotate::{Annotated, NewBase, add_bases};
pub use check::{FUNCTIONS, RESERVED};
pub use format::format;
pub use hir::{Bounds, Ops};
pub use linchpin_syntax::{Code, Diagnostic, Span};

use linchpin_ir::program::{Program, SpecSource};
use linchpin_spec::Value;

/// The most crashes of the system that a model may ask for.
pub const MOST_CRASHES: i64 = limits::CRASHES;

/// What the user decides about a model.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// Values of parameters (`--set K=4`).
    pub params: Vec<(String, Value)>,
    /// How many threads.
    pub threads: Threads,
    /// The calls that are made first (`--preload "push(1); push(2)"`), in place of the model's.
    pub preload: Option<String>,
}

/// How many threads run the model.
#[derive(Clone, Debug, Default)]
pub enum Threads {
    /// As the model's `bounds { }` says.
    #[default]
    AsDeclared,
    /// So many (`--threads 3`).
    Count(usize),
    /// So many of each role (`--threads writer=1,reader=2`).
    PerRole(Vec<(String, usize)>),
}

/// A compiled model.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// The model as steps.
    pub program: Program,
    /// The bounds that the model asks for, other than the threads.
    pub bounds: Bounds,
}

impl Compiled {
    /// Whether crashes are asked for, by the model or with `asked` from outside, where nothing
    /// would survive one: then there are none.
    pub fn crashes_without_persistence(&self, asked: Option<u8>) -> bool {
        let crashes = asked.map_or(self.bounds.crashes, usize::from);
        crashes > 0 && self.program.persistence.is_none()
    }
}

/// From source to program: parse, check, lower. All mistakes that can be found are reported
/// together.
pub fn compile(source: &str, config: &Config) -> Result<Compiled, Vec<Diagnostic>> {
    let model = check(source, config)?;
    let bounds = model.bounds;
    let mut program = lower::lower(&model).map_err(|error| shown(error, source))?;
    program.counts_threads = counts_threads(source);
    Ok(Compiled { program, bounds })
}

/// Whether the constant `threads` stands anywhere; in `bounds { threads: 2 }` it is a name.
fn counts_threads(source: &str) -> bool {
    let mut tokens = syntax::tokenize(source);
    tokens.retain(|token| token.kind != syntax::TokenKind::Comment);
    let text = |token: &syntax::Token| token.span.text(source);
    tokens.windows(2).any(|pair| text(&pair[0]) == "threads" && text(&pair[1]) != ":")
}

/// The specification of a source alone; the rest of the model may be missing.
///
/// ```
/// use linchpin_lang::{Config, compile_spec};
/// let spec = "spec { state n: int; op add(k: int) { n += k; } }";
/// assert!(compile_spec(spec, &Config::default()).is_ok());
/// ```
pub fn compile_spec(source: &str, config: &Config) -> Result<SpecSource, Vec<Diagnostic>> {
    let (tree, mistakes) = syntax::parse(source);
    if !mistakes.is_empty() {
        return Err(mistakes);
    }
    let spec = check::check_spec(source, &tree, config)?;
    lower::lower_spec(&spec).map_err(|error| shown(error, source))
}

fn shown(error: lower::LowerError, source: &str) -> Vec<Diagnostic> {
    let span = line_span(source, error.line);
    vec![Diagnostic::new(error.code, error.message, span, "here").help(error.help)]
}

/// The words that cannot be names.
pub fn keywords() -> impl Iterator<Item = &'static str> {
    use linchpin_syntax::Kind as _;
    syntax::TokenKind::KEYWORDS.iter().map(|(word, _)| *word)
}

/// From source to checked model, before lowering.
pub fn check(source: &str, config: &Config) -> Result<hir::Model, Vec<Diagnostic>> {
    let (tree, mistakes) = syntax::parse(source);
    if !mistakes.is_empty() {
        return Err(mistakes);
    }
    check::check(source, &tree, config)
}

/// The text of a line, without the space around it.
fn line_span(source: &str, line: u32) -> Span {
    let mut start = 0;
    for (number, text) in (1..).zip(source.split_inclusive('\n')) {
        if number == line {
            let start = start + text.len() - text.trim_start().len();
            return Span::new(start..start + text.trim().len());
        }
        start += text.len();
    }
    Span::default()
}
