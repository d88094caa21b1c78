//! What can be wrong with a test before anything is run.

use linchpin_spec::BuiltinError;
use thiserror::Error;

/// A test that cannot be run as it is written.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum DefinitionError {
    /// There is no such specification, or it cannot start so.
    #[error(transparent)]
    Builtin(#[from] BuiltinError),
    /// A `.lin` file cannot be read or has mistakes.
    #[error("the specification `{path}` cannot be used: {reason}")]
    Lin {
        /// The file.
        path: String,
        /// Why not.
        reason: String,
    },
    /// Nothing can be called.
    #[error("the test has no operations")]
    NoOperations,
    /// No thread calls anything.
    #[error("the test has no threads")]
    NoThreads,
    /// Threads that call nothing.
    #[error("the test has threads with no operations: `ops` is 0")]
    NoCalls,
    /// The specification does not have an operation of the test.
    #[error("the specification `{spec}` has no operation `{name}`; it has {known}")]
    NoSuchOperation {
        /// The specification.
        spec: String,
        /// The operation.
        name: String,
        /// Those that it has.
        known: String,
    },
    /// An operation takes another number of arguments than in the specification.
    #[error("`{name}` takes {given} arguments here, but in the specification it is `{signature}`")]
    ArgumentCount {
        /// The operation.
        name: String,
        /// How many it takes.
        given: usize,
        /// What the specification says.
        signature: String,
    },
    /// An argument has no values.
    #[error("`{name}` has an argument without values to choose from")]
    NoValues {
        /// The operation.
        name: String,
    },
    /// A scenario calls what the test does not define.
    #[error("the scenario calls `{name}`, which the test does not define; it defines {known}")]
    UnknownCall {
        /// What it calls.
        name: String,
        /// What it could call.
        known: String,
    },
    /// A scenario calls an operation with arguments that it cannot take.
    #[error("the scenario calls `{name}` with arguments that it cannot take: {arguments}")]
    WrongArguments {
        /// The operation.
        name: String,
        /// The arguments.
        arguments: String,
    },
    /// A recording that gives no scenario.
    #[error("the recording `{path}` cannot be used: {reason}")]
    Recording {
        /// The file.
        path: String,
        /// Why not.
        reason: String,
    },
    /// `LINCHPIN_REPLAY` names no failure of this test.
    #[error("LINCHPIN_REPLAY names `{path}`, which cannot be repeated: {reason}")]
    Replay {
        /// The file.
        path: String,
        /// Why not.
        reason: String,
    },
    /// Crashes without a way to go on after them.
    #[error("the test has `crashes`, `property` or `after`, but no `recover = |pool| …;`")]
    NoRecovery,
    /// A recovery without a pool to recover from.
    #[error("`recover` needs an object in a pool: `object: T = |pool| …;`")]
    NoPool,
    /// Crashes in a mode that has none.
    #[error("the mode `{0}` knows no crashes: use exhaustive, preemptions, random or pct")]
    CrashesInMode(String),
    /// Crashes and futures that are dropped.
    #[error(
        "`cancel` and crashes do not go together: futures are not dropped where there are crashes"
    )]
    CrashesAndCancel,
    /// A variable of the environment makes no sense.
    #[error("{variable} is `{value}`, which is not {expected}")]
    Environment {
        /// The variable.
        variable: &'static str,
        /// What it says.
        value: String,
        /// What it may say.
        expected: &'static str,
    },
}
