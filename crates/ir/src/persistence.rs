//! Persistent memory: which words survive a crash, and the lines in which they lie.
//!
//! Memory is sequentially consistent, with persistence by *lines* (the sequentially consistent
//! variant of Khyzha and Lahav, "Taming x86-TSO persistency", POPL 2021, of Raad et al.'s Px86):
//!
//! - Every persistent word lies in one line. A line keeps the stores to its words since its last
//!   guaranteed write-back, in order: they are *pending*.
//! - `flush(p)` notes, for the executing thread, how many stores are pending in the line of `p`.
//!   `fence` guarantees what the thread has noted: these stores are no longer pending. So does
//!   every `cas`, `swap` and `faa` of any word, whether it succeeds or not, before its own store.
//!   `ll` and `sc` do not. `persist(p)` is a flush of `p` and a fence in one step.
//! - A system crash leaves, for each line independently, any prefix of its pending stores.
//!   Volatile variables get their declared initial values (`init` is not run again), volatile
//!   objects are gone, every lock is free wherever it lies, and thread-locals, control, links and
//!   noted flushes are lost. Then `recover` runs, alone.
//! - What `init` does is guaranteed. A new object is a row of stores, one for each field (for each
//!   element of an array field), to memory that held the initial values of its fields, or what it
//!   held before if it is taken again after `free`. Which objects are alive is not lost.
//! - A crash of one thread ends that thread and leaves memory as it is.
//!
//! Locks are never persistent: a lock in a persistent variable or object is free after a crash.

use crate::interpreter::{Line, Location, Root};
use crate::program::{Body, Place, Program, Type};

/// What is persistent in a program, and what runs after a crash.
#[derive(Clone, Debug)]
pub struct Persistence {
    /// For each of [`Program::shared`]: where it lies; `None` if it is volatile.
    pub shared: Vec<Option<SharedLines>>,
    /// For each of [`Program::structs`]: where the fields of its objects lie; `None` if it is
    /// volatile.
    ///
    /// INVARIANT: a persistent word never refers to an object of a volatile struct.
    pub structs: Vec<Option<ObjectLines>>,
    /// The names of the lines of shared variables: that of the variable, or that of `#[line(…)]`.
    pub lines: Vec<String>,
    /// Runs alone after every system crash. Its nodes yield, so that another crash may come.
    pub recover: Option<Body>,
    /// Runs for each interrupted call whose outcome can be asked for.
    pub resolve: Option<Resolve>,
}

/// Where a shared variable lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SharedLines {
    /// All of it in one line: index into [`Persistence::lines`].
    One(usize),
    /// An array with a line for each element.
    Elements,
}

/// Where the fields of an object lie.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectLines {
    /// For each field, its line: index into `names`.
    pub fields: Vec<usize>,
    /// The names of the lines of one object; the one of fields without `#[line(…)]` has none.
    pub names: Vec<Option<String>>,
}

/// `recover(t: tid) -> R?`: what became of the call in which thread `t` was interrupted.
///
/// It concerns the operations that answer `R`. A thread whose call of one of them was interrupted
/// runs this, beside the others, before it may call anything else. `none` says that the call had no
/// effect and never will have; another answer is the response of the call. It runs as thread `t`.
#[derive(Clone, Debug)]
pub struct Resolve {
    /// Its steps; the first local is `t`.
    pub body: Body,
    /// `R`.
    pub response: Type,
    /// The source line of its declaration.
    pub line: u32,
}

impl Persistence {
    /// The line of a word; `None` if it is volatile. `of` tells the struct of an object.
    pub fn line(&self, at: Location, of: impl Fn(u32) -> Option<usize>) -> Option<Line> {
        match at.root {
            Root::Shared(variable) => match self.shared.get(variable)?.as_ref()? {
                SharedLines::One(line) => Some(Line::Shared(*line)),
                SharedLines::Elements => Some(Line::Element { variable, index: at.element? }),
            },
            Root::Field { object, field } => {
                let lines = self.structs.get(of(object)?)?.as_ref()?;
                Some(Line::Object { object, line: *lines.fields.get(field)? })
            }
        }
    }

    /// Whether a place is persistent.
    pub fn covers(&self, place: &Place) -> bool {
        match place {
            Place::Shared(variable) | Place::SharedElement(variable, _) => {
                self.shared.get(*variable).is_some_and(Option::is_some)
            }
            Place::Field { of, .. } | Place::FieldElement { of, .. } => {
                self.structs.get(*of).is_some_and(Option::is_some)
            }
        }
    }
}

impl Program {
    /// Whether the outcome of an interrupted call of this operation can be asked for.
    pub fn is_resolvable(&self, operation: usize) -> bool {
        let resolve =
            self.persistence.as_ref().and_then(|persistence| persistence.resolve.as_ref());
        let response = self.operations.get(operation).map(|operation| &operation.response);
        resolve.is_some_and(|resolve| response == Some(&resolve.response))
    }
}
