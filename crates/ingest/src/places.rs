//! Where the events of a history stand in what was read: the one way in which people are told of
//! events.

use linchpin_history::Rank;

/// Where each event stands, and when it happened if that was recorded.
#[derive(Clone, Debug, Default)]
pub struct Places {
    /// The line of each event, by its rank.
    lines: Vec<u32>,
    /// The time of each event in nanoseconds, by its rank; empty if not all have one.
    times: Vec<i64>,
}

impl Places {
    /// The line of an event, counted from 1; of an EDN map the one on which it begins.
    pub fn line(&self, rank: Rank) -> Option<u64> {
        self.lines.get(rank.index()).map(|line| u64::from(*line))
    }

    /// When an event happened, in nanoseconds, as the recorder says.
    pub fn time(&self, rank: Rank) -> Option<i64> {
        self.times.get(rank.index()).copied()
    }
}

/// An event of the log that is none of the object's: a fault that was injected, say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Annotation {
    /// It happened before the event of the history with this rank.
    pub before: Rank,
    /// The line that it is from.
    pub line: u64,
    /// When it happened, in nanoseconds, if that was recorded.
    pub time: Option<i64>,
    /// Who: `nemesis`.
    pub process: String,
    /// What: `start-partition`.
    pub name: String,
    /// What the log says beside, as JSON; empty if nothing.
    pub value: String,
}
