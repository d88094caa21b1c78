//! The embedding order of structures (SRW).

use crate::structure::{Individual, Structure};
use crate::truth::{Truths, bits};

impl Structure {
    /// Whether this structure embeds in `other`: a function onto its individuals under which every
    /// value is approximated, and only summaries take several individuals or a summary.
    ///
    /// A search, made for tests: exponential in the number of individuals.
    #[must_use]
    pub fn embeds(&self, other: &Self) -> bool {
        self.binaries == other.binaries
            && self.nullary.approximated_by(other.nullary)
            && self.place(other, &mut Vec::new(), 0)
    }

    /// Places the next individual; `images` are those of the ones before, `taken` the set of them.
    fn place(&self, other: &Self, images: &mut Vec<usize>, taken: u64) -> bool {
        let u = images.len();
        let Some(name) = self.names.get(u) else { return taken == other.all() };
        let summary = self.is_summary(Individual::at(u));
        let free = if summary { other.summary } else { !taken | other.summary };
        for image in bits(other.all() & free) {
            if !name.approximated_by(other.names[image]) {
                continue;
            }
            images.push(image);
            let fits = (0..=u).all(|v| {
                self.pairs(u, v)
                    .zip(other.pairs(image, images[v]))
                    .all(|(a, b)| a.approximated_by(b))
            });
            if fits && self.place(other, images, taken | Individual::at(image).bit()) {
                return true;
            }
            images.pop();
        }
        false
    }

    /// The values of the binary predicates between two individuals, in both directions.
    fn pairs(&self, u: usize, v: usize) -> impl Iterator<Item = Truths> {
        (0..self.binaries).flat_map(move |p| {
            let value = |from: usize, to: usize| {
                Truths::splat(self.rows[from * self.binaries + p].get(to), 1)
            };
            [value(u, v), value(v, u)]
        })
    }
}
