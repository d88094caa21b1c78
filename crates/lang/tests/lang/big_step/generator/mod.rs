//! Random well-typed programs, as source text: one statement a line.
//!
//! Every program has the same types and variables (`types.rs`) and random functions, operations and
//! specification. Expressions are as effectful as they can be: calls that change thread-locals,
//! reads and compare-and-swaps stand wherever a value can. Loops end, because each has a counter
//! that nothing else touches.
//!
//! Start with [`program`]; `statement.rs` and `expression.rs` write the bodies, `place.rs` finds
//! something to access.

mod collection;
mod compare;
mod expression;
mod place;
mod routine;
mod statement;
mod types;

use crate::big_step::random::Random;
use types::{Ty, Variable};

/// What code may do where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// In an operation or function of the model.
    Model,
    /// In `init`, or in a function that `init` calls: there is no thread, and nothing to choose.
    Init,
    /// In a specification.
    Spec,
    /// In `requires` or an annotation: local variables only, and those of the thread.
    Local,
}

impl Mode {
    fn has_thread(self) -> bool {
        matches!(self, Mode::Model | Mode::Local)
    }

    fn has_heap(self) -> bool {
        matches!(self, Mode::Model | Mode::Init)
    }
}

/// A function that has been written.
#[derive(Clone, Debug)]
struct Function {
    name: String,
    parameters: Vec<Ty>,
    response: Ty,
    /// Whether `init` may call it.
    for_init: bool,
}

/// Writes one program.
struct Generator {
    random: Random,
    mode: Mode,
    /// The shared variables, or the state of the specification.
    shared: Vec<Variable>,
    /// The variables of the thread.
    private: Vec<Variable>,
    /// The local variables in scope, innermost last.
    locals: Vec<Variable>,
    functions: Vec<Function>,
    response: Ty,
    lines: Vec<String>,
    indent: usize,
    /// How many loops enclose the statement being written.
    loops: usize,
    /// How many more statements the routine may have.
    budget: usize,
    /// For new names.
    named: usize,
}

/// The program of a seed.
pub fn program(seed: u64) -> String {
    let mut generator = Generator {
        random: Random::new(seed),
        mode: Mode::Spec,
        shared: types::state(),
        private: Vec::new(),
        locals: Vec::new(),
        functions: Vec::new(),
        response: Ty::Unit,
        lines: Vec::new(),
        indent: 0,
        loops: 0,
        budget: 0,
        named: 0,
    };
    generator.lines.extend(types::DECLARATIONS.lines().map(str::to_owned));
    let signatures = generator.signatures();
    generator.open("spec");
    generator.specification(&signatures);
    generator.close();
    generator.model(&signatures);
    generator.line("bounds { threads: 2 }");
    generator.lines.join("\n") + "\n"
}

impl Generator {
    fn line(&mut self, text: &str) {
        self.lines.push(format!("{:indent$}{text}", "", indent = self.indent));
    }

    /// `head {`; what follows is inside, up to [`Generator::close`].
    fn open(&mut self, head: &str) {
        self.line(&format!("{head} {{"));
        self.indent += 4;
    }

    fn close(&mut self) {
        self.indent -= 4;
        self.line("}");
    }

    /// `} head {`
    fn reopen(&mut self, head: &str) {
        self.indent -= 4;
        self.line(&format!("}} {head} {{"));
        self.indent += 4;
    }

    fn new_name(&mut self, prefix: &str) -> String {
        self.named += 1;
        format!("{prefix}{}", self.named)
    }

    fn one_of(&mut self, words: &[&'static str]) -> &'static str {
        self.random.pick(words).copied().unwrap_or_default()
    }

    /// The local variables that are not hidden by later ones.
    fn visible(&self) -> Vec<Variable> {
        let locals = self.locals.iter().enumerate();
        let hidden = |at: usize, name: &str| self.locals[at + 1..].iter().any(|v| v.name == name);
        locals.filter(|(at, v)| !hidden(*at, &v.name)).map(|(_, v)| v.clone()).collect()
    }

    fn is_hidden(&self, name: &str) -> bool {
        self.locals.iter().any(|local| local.name == name)
    }

    /// The shared variables that can be named here.
    fn shared_here(&self) -> Vec<Variable> {
        if self.mode == Mode::Local {
            return Vec::new();
        }
        self.shared.iter().filter(|v| !self.is_hidden(&v.name)).cloned().collect()
    }

    /// The variables of the thread that can be named here.
    fn private_here(&self) -> Vec<Variable> {
        if !self.mode.has_thread() {
            return Vec::new();
        }
        self.private.iter().filter(|v| !self.is_hidden(&v.name)).cloned().collect()
    }
}
