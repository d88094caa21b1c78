//! What an engine returns: an answer with what shows it, or why there is none.

use crate::StopReason;
use std::fmt;

/// The answer of an engine. It is a value, never an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome<H, V> {
    /// It holds, and this shows it.
    Holds(H),
    /// It does not, and this shows it.
    Violated(V),
    /// Not decided.
    Inconclusive(Inconclusive),
}

impl<H, V> Outcome<H, V> {
    /// Whether it holds.
    pub const fn is_holds(&self) -> bool {
        matches!(self, Outcome::Holds(_))
    }

    /// What shows that it does not hold.
    pub const fn violation(&self) -> Option<&V> {
        match self {
            Outcome::Violated(violation) => Some(violation),
            _ => None,
        }
    }
}

/// Why an engine did not decide.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Inconclusive {
    /// A limit or a person stopped it.
    Stopped {
        /// Which.
        by: StopReason,
        /// How far it came, for people.
        so_far: Option<String>,
    },
    /// A limit or a person stopped it in a history: the first events of it can be explained.
    Explained {
        /// Which.
        by: StopReason,
        /// How many events can be explained: those of smaller rank.
        events: u32,
        /// How many there are.
        of: u32,
    },
    /// Nothing stopped it; its method does not decide this case, for this reason.
    Undecided(String),
}

impl Inconclusive {
    /// What stopped it, if something did.
    pub const fn stopped_by(&self) -> Option<StopReason> {
        match self {
            Inconclusive::Stopped { by, .. } | Inconclusive::Explained { by, .. } => Some(*by),
            Inconclusive::Undecided(_) => None,
        }
    }
}

impl<H, V> From<StopReason> for Outcome<H, V> {
    fn from(by: StopReason) -> Outcome<H, V> {
        Outcome::Inconclusive(by.into())
    }
}

impl From<StopReason> for Inconclusive {
    fn from(by: StopReason) -> Inconclusive {
        Inconclusive::Stopped { by, so_far: None }
    }
}

impl fmt::Display for Inconclusive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Inconclusive::Stopped { by, so_far: None } => write!(f, "{by}"),
            Inconclusive::Stopped { by, so_far: Some(so_far) } => write!(f, "{by}; {so_far}"),
            Inconclusive::Explained { by, events, of } => write!(
                f,
                "{by}; the first {events} of {of} events can be explained, about the rest nothing \
                 is known"
            ),
            Inconclusive::Undecided(reason) => f.write_str(reason),
        }
    }
}
