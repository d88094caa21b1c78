//! What a verdict takes for granted.

use crate::grouped;
use std::fmt;

/// One assumption of a verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Assumption {
    /// Memory is sequentially consistent.
    SequentialConsistency,
    /// Memory is garbage collected: `free` changes nothing.
    GarbageCollection,
    /// The same, of a model that frees objects: what comes of that was not looked at.
    FreeIgnored,
    /// Freed memory may be reused.
    Reuse,
    /// Freed memory keeps its type: it may be read and written, and may be reused.
    TypeStable,
    /// Memory is never reused.
    NoReuse,
    /// No step fails; where that is not shown, if anywhere. Up to the first step that fails, the
    /// verdict stands.
    NoStepFails {
        /// Source lines, and what may fail there.
        open: Vec<String>,
    },
    /// Nothing about whether operations return: a proof is about the answers of those that do.
    Returning,
    /// Every sequential execution is one of the specification (Assumption 1 of paper 000).
    SequentialExecutions(Sequential),
    /// Clients pass keys strictly between the least and the greatest integer, which bound the list.
    KeysBetweenBounds,
    /// Lines of persistent memory are written back in the order of their stores, each line by
    /// itself; a word is never torn.
    PersistentLines,
    /// Nothing crashes, although crashes were asked for.
    NoCrashes,
    /// An assumption of one engine only, in its words.
    Other(String),
}

/// What is known about sequential executions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sequential {
    /// Nothing: there is no specification to compare with, or nothing was tried.
    NotTried {
        /// Why not.
        reason: String,
    },
    /// They were tried within bounds.
    Tried {
        /// The longest sequence of calls for which every sequence was tried.
        calls: usize,
        /// How many calls were executed.
        executions: usize,
        /// The integers of which every list of arguments was passed in those, in increasing order.
        integers: Vec<i64>,
        /// Further integers, in increasing order: of these only shorter or random sequences, or
        /// some lists of arguments were tried.
        further: Vec<i64>,
        /// Whether every list of arguments was passed of the further integers too.
        all_arguments: bool,
    },
}

impl Sequential {
    /// The longest sequence of calls that was tried.
    pub const fn calls(&self) -> usize {
        match self {
            Sequential::NotTried { .. } => 0,
            Sequential::Tried { calls, .. } => *calls,
        }
    }
}

impl fmt::Display for Assumption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Assumption::SequentialConsistency => f.write_str("sequential consistency"),
            Assumption::GarbageCollection => f.write_str("memory is garbage collected"),
            Assumption::FreeIgnored => f.write_str(
                "memory is garbage collected: `free` does nothing; `--memory reuse` looks at what is freed",
            ),
            Assumption::Reuse => f.write_str("freed memory may be reused"),
            Assumption::TypeStable => f.write_str("freed memory may be read and reused"),
            Assumption::NoReuse => f.write_str("memory is not reused"),
            Assumption::NoStepFails { open } if open.is_empty() => f.write_str("no step fails"),
            Assumption::NoStepFails { open } => write!(
                f,
                "no step fails, which is not shown of {}: up to the first that does, every run is linearizable",
                open.join(", ")
            ),
            Assumption::Returning => {
                f.write_str("that operations return is checked within bounds only, not proved")
            }
            Assumption::SequentialExecutions(known) => {
                write!(f, "sequential executions are right (Assumption 1): {known}")
            }
            Assumption::KeysBetweenBounds => f.write_str("keys are strictly between MIN and MAX"),
            Assumption::PersistentLines => {
                f.write_str("each line keeps the order of its stores, and no word is torn")
            }
            Assumption::NoCrashes => f.write_str("nothing crashes"),
            Assumption::Other(words) => f.write_str(words),
        }
    }
}

impl fmt::Display for Sequential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Sequential::NotTried { reason } => write!(f, "not tried, {reason}"),
            Sequential::Tried { calls, executions, integers, further, all_arguments } => {
                let plural = if *calls == 1 { "" } else { "s" };
                let executions = grouped(executions);
                write!(f, "tried: {calls} call{plural}, {executions} executions")?;
                if !integers.is_empty() {
                    write!(f, ", integers {}", in_ranges(integers))?;
                }
                if !further.is_empty() {
                    let less = if *all_arguments { "" } else { " or not all lists of arguments" };
                    write!(f, "; with fewer calls{less} {}", in_ranges(further))?;
                } else if !all_arguments {
                    f.write_str(", not all lists of arguments")?;
                }
                Ok(())
            }
        }
    }
}

/// Integers in increasing order, neighbours taken together: "-1 to 3, 99 to 101".
fn in_ranges(integers: &[i64]) -> String {
    let mut ranges: Vec<(i64, i64)> = Vec::new();
    for value in integers {
        match ranges.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(*value) => *last = *value,
            _ => ranges.push((*value, *value)),
        }
    }
    let shown = ranges.iter().map(|(first, last)| match first == last {
        true => shown(*first),
        false => format!("{} to {}", shown(*first), shown(*last)),
    });
    shown.collect::<Vec<_>>().join(", ")
}

/// An integer, the extremes as powers.
fn shown(value: i64) -> String {
    match value {
        i64::MIN => "-2^63".to_owned(),
        i64::MAX => "2^63-1".to_owned(),
        value => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_arguments_that_were_left_out_are_said() {
        let tried = |further: &[i64], all_arguments| Sequential::Tried {
            calls: 2,
            executions: 9,
            integers: vec![1, 2],
            further: further.to_vec(),
            all_arguments,
        };
        let first = "tried: 2 calls, 9 executions, integers 1 to 2";
        assert_eq!(tried(&[], true).to_string(), first);
        assert_eq!(tried(&[7], true).to_string(), format!("{first}; with fewer calls 7"));
        assert_eq!(
            tried(&[7], false).to_string(),
            format!("{first}; with fewer calls or not all lists of arguments 7")
        );
        assert_eq!(tried(&[], false).to_string(), format!("{first}, not all lists of arguments"));
    }

    #[test]
    fn neighbours_are_ranges() {
        assert_eq!(in_ranges(&[-1, 0, 1, 2, 3, 99, 100, 101]), "-1 to 3, 99 to 101");
        assert_eq!(in_ranges(&[i64::MIN, 7, i64::MAX]), "-2^63, 7, 2^63-1");
    }
}
