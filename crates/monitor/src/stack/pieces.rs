//! Time cut into pieces: within one, the same values are certainly inside.

use super::super::intervals::{Gap, Part};
use super::super::poll::{StopPoll, StopReason};
use super::super::sorting;

/// The pieces of the time of a part.
pub(super) struct Pieces {
    /// Where the pieces start; the first at 0.
    starts: Vec<Gap>,
    /// For each gap its piece; empty if there are too many gaps for that.
    table: Vec<u32>,
}

impl Pieces {
    /// Cuts at the ends of the given lives.
    pub fn new(part: &Part, lives: &[u32], poll: &StopPoll) -> Result<Pieces, StopReason> {
        let ends = lives.iter().flat_map(|&life| {
            let inside = part.lives[life as usize].inside();
            [inside.lo, inside.hi + 1]
        });
        let gaps = part.end as usize + 1;
        if gaps > 16 * lives.len() + 1024 {
            let mut starts: Vec<Gap> = ends.chain([0]).collect();
            sorting::in_rows(&mut starts, poll)?;
            starts.dedup();
            return Ok(Pieces { starts, table: Vec::new() });
        }
        let mut table = vec![0; gaps];
        for gap in ends {
            poll.step()?;
            table[gap as usize] = 1;
        }
        table[0] = 0;
        let mut starts = vec![0];
        for (gap, entry) in table.iter_mut().enumerate() {
            poll.step()?;
            if *entry == 1 {
                starts.push(gap as Gap);
            }
            *entry = starts.len() as u32 - 1;
        }
        Ok(Pieces { starts, table })
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.starts.len()
    }

    /// The piece that contains a gap.
    pub fn of(&self, gap: Gap) -> u32 {
        match self.table.get(gap as usize) {
            Some(&piece) => piece,
            None => self.starts.partition_point(|&start| start <= gap) as u32 - 1,
        }
    }

    /// The first gap of a piece.
    pub fn start(&self, piece: u32) -> Gap {
        self.starts[piece as usize]
    }
}
