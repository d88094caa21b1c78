//! Several rows that are in order, as one: in runs, because what comes next is mostly in the row
//! that the last was in.

/// The order of what is found in a piece: which state it was found from, and which of its
/// successors it is.
pub(crate) type Order = (u32, u32);

/// Runs of things in order; each with the number of the row that it is from.
pub(crate) struct Runs<'a, T, F> {
    rests: Vec<&'a [T]>,
    order: F,
}

impl<'a, T, F: Fn(&T) -> Order> Runs<'a, T, F> {
    /// Of rows that are in order: no two things of different rows are at the same place of it.
    pub fn new(rows: Vec<&'a [T]>, order: F) -> Runs<'a, T, F> {
        Runs { rests: rows, order }
    }

    /// All things in order, each with the number of its row.
    pub fn items(self) -> impl Iterator<Item = (usize, &'a T)> {
        self.flat_map(|(row, run)| run.iter().map(move |item| (row, item)))
    }
}

impl<'a, T, F: Fn(&T) -> Order> Iterator for Runs<'a, T, F> {
    type Item = (usize, &'a [T]);

    fn next(&mut self) -> Option<(usize, &'a [T])> {
        let mut first: Option<(Order, usize)> = None;
        // Where the run of the first ends.
        let mut until: Option<Order> = None;
        for (row, rest) in self.rests.iter().enumerate() {
            let Some(head) = rest.first().map(&self.order) else { continue };
            match first {
                Some((least, _)) if least < head => {
                    until = Some(until.map_or(head, |until| until.min(head)));
                }
                _ => {
                    until = first.map(|(least, _)| least);
                    first = Some((head, row));
                }
            }
        }
        let (_, row) = first?;
        let rest = self.rests[row];
        let length = match until {
            None => rest.len(),
            Some(until) => rest.iter().take_while(|item| (self.order)(item) < until).count(),
        };
        // The first is before all others.
        let (run, rest) = rest.split_at(length.max(1));
        self.rests[row] = rest;
        Some((row, run))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_in_order_and_complete() {
        let mut random = fastrand::Rng::with_seed(3);
        for rows in 1..5 {
            let mut of: Vec<Vec<Order>> = vec![Vec::new(); rows];
            let all: Vec<Order> = (0..200).map(|number| (number / 3, number % 3)).collect();
            for item in &all {
                of[random.usize(..rows)].push(*item);
            }
            let runs = Runs::new(of.iter().map(|row| &row[..]).collect(), |item: &Order| *item);
            let merged: Vec<Order> = runs.items().map(|(_, item)| *item).collect();
            assert_eq!(merged, all);
        }
        assert!(Runs::new(Vec::new(), |item: &Order| *item).next().is_none());
    }
}
