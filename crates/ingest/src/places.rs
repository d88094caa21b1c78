//! Where the events of a history stand in what was read: the one way in which people are told of
//! events.

use linchpin_history::Rank;

/// Where each event stands, and when it happened if that was recorded.
#[derive(Clone, Debug, Default)]
pub struct Places {
    /// How many events were forgotten: those of this rank are the first below.
    forgotten: usize,
    /// The line of each event, by its rank.
    lines: Vec<u32>,
    /// The time of each event in nanoseconds, by its rank; fewer than lines if not all have one.
    // INVARIANT: once an event has no time, none is pushed for those after it.
    times: Vec<i64>,
    /// Forgotten events of which the line is still known, in the order of ranks.
    kept: Vec<(Rank, u32)>,
}

impl Places {
    /// The line of an event, counted from 1; of an EDN map the one on which it begins.
    pub fn line(&self, rank: Rank) -> Option<u64> {
        let line = match rank.index().checked_sub(self.forgotten) {
            Some(at) => self.lines.get(at),
            None => {
                let at = self.kept.binary_search_by_key(&rank, |(rank, _)| *rank).ok()?;
                self.kept.get(at).map(|(_, line)| line)
            }
        };
        line.map(|line| u64::from(*line))
    }

    /// When an event happened, in nanoseconds, as the recorder says.
    pub fn time(&self, rank: Rank) -> Option<i64> {
        self.times.get(rank.index().checked_sub(self.forgotten)?).copied()
    }

    /// Whether every event has a time.
    pub fn has_times(&self) -> bool {
        !self.times.is_empty()
    }

    /// How many events have an earlier time than the one before them, and the first of these.
    pub(crate) fn times_going_back(&self) -> Option<(u64, Rank)> {
        if self.forgotten > 0 || self.times.len() != self.lines.len() {
            return None;
        }
        let back = |at: &usize| self.times[*at] < self.times[at - 1];
        let mut going_back = (1..self.times.len()).filter(back);
        let first = u32::try_from(going_back.next()?).ok()?;
        Some((1 + going_back.count() as u64, Rank::new(first)))
    }

    /// The next event is on this line. Lines beyond 32 bits are not told apart: a history has fewer
    /// events.
    #[inline]
    pub(crate) fn push(&mut self, line: u64) {
        self.lines.push(u32::try_from(line).unwrap_or(u32::MAX));
    }

    /// The event that was pushed last happened at this time.
    #[inline]
    pub(crate) fn push_time(&mut self, time: Option<i64>) {
        if let Some(time) = time
            && self.times.len() + 1 == self.lines.len()
        {
            self.times.push(time);
        }
    }

    /// Makes room for so many more events.
    pub(crate) fn reserve(&mut self, events: usize) {
        self.lines.reserve(events);
    }

    /// Forgets all events so far but these, which are in order.
    pub(crate) fn forget_but(&mut self, ranks: impl Iterator<Item = Rank>) {
        let line = |rank| Some((rank, u32::try_from(self.line(rank)?).ok()?));
        let kept = ranks.filter_map(line).collect();
        self.forgotten += self.lines.len();
        self.kept = kept;
        self.lines.clear();
        self.times.clear();
    }

    /// Puts events after others: after the first of each of these pairs, which are in order, one on
    /// the line of the second. Its time is that of the first.
    pub(crate) fn insert(&mut self, inserted: &[(Rank, Rank)]) {
        let mut inserted = inserted.iter().peekable();
        let has_times = self.times.len() == self.lines.len();
        let (lines, times) = (std::mem::take(&mut self.lines), std::mem::take(&mut self.times));
        for (at, line) in lines.iter().enumerate() {
            self.lines.push(*line);
            let before = self.lines.len();
            while let Some((_, like)) = inserted.next_if(|(after, _)| after.index() == at) {
                self.lines.push(lines.get(like.index()).copied().unwrap_or(*line));
            }
            if has_times {
                self.times.extend(std::iter::repeat_n(times[at], self.lines.len() + 1 - before));
            }
        }
    }

    /// What is known when all events are there.
    pub(crate) fn finish(mut self) -> Places {
        if self.times.len() != self.lines.len() {
            self.times = Vec::new();
        }
        self
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

/// The annotations of a recording, of which no more are kept than a person can look at.
#[derive(Clone, Debug, Default)]
pub(crate) struct Annotations {
    kept: Vec<Annotation>,
    dropped: u64,
}

impl Annotations {
    /// So many are kept: the first.
    pub const MOST: usize = 10_000;
    /// Longer values are cut off after so many characters.
    pub const LONGEST: usize = 1_000;

    /// Takes the next one, if there is room.
    pub fn push(&mut self, annotation: impl FnOnce() -> Annotation) {
        if self.kept.len() < Annotations::MOST {
            self.kept.push(annotation());
        } else {
            self.dropped += 1;
        }
    }

    /// Forgets those so far.
    pub fn clear(&mut self) {
        self.kept.clear();
    }

    /// What was kept, and a note if that is not all.
    pub fn finish(self) -> (Vec<Annotation>, Option<String>) {
        let note = (self.dropped > 0).then(|| {
            format!(
                "only the first {} annotations are kept; {} more are not shown",
                Annotations::MOST,
                self.dropped
            )
        });
        (self.kept, note)
    }
}
