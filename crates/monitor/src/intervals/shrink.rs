//! Smaller parts, and the ways in which pending removals may have removed values.

use super::{Collection, Conflict, Decision, Part};
use linchpin_history_data::OpId;
use linchpin_verdict::Limits;

impl Part {
    /// The part as a selection of itself.
    pub(crate) fn everything(&self) -> Conflict {
        Conflict {
            lives: (0..self.lives.len() as u32).collect(),
            empty: None,
            blockers: Vec::new(),
        }
    }

    /// The stuck values with all looks at them, and the stuck empty; all empties if no values are
    /// missing.
    pub(super) fn select(&self, stuck: &Conflict) -> Part {
        let mut kept = vec![false; self.lives.len()];
        stuck.lives.iter().for_each(|&life| kept[life as usize] = true);
        let everything = stuck.lives.len() == self.lives.len();
        let is_kept = |element: Element| match element {
            Element::Life(life) => kept[life as usize],
            Element::Look(look) => kept[self.looks[look as usize].life as usize],
            Element::Empty(empty) => everything || stuck.empty == Some(empty),
        };
        self.only(self.elements().filter(|&element| is_kept(element)))
    }

    /// The part with only these operations, and what is pending.
    pub(super) fn with_operations(&self, operations: &[OpId]) -> Part {
        let is_kept = |element: &Element| match *element {
            Element::Life(life) => {
                let life = &self.lives[life as usize];
                [life.add, life.remove].iter().flatten().any(|op| operations.contains(op))
            }
            Element::Look(look) => operations.contains(&self.looks[look as usize].op),
            Element::Empty(empty) => operations.contains(&self.empties[empty as usize].op),
        };
        self.only(self.elements().filter(is_kept))
    }

    fn elements(&self) -> impl Iterator<Item = Element> {
        let lives = (0..self.lives.len() as u32).map(Element::Life);
        let looks = (0..self.looks.len() as u32).map(Element::Look);
        let empties = (0..self.empties.len() as u32).map(Element::Empty);
        lives.chain(looks).chain(empties)
    }

    /// When an element begins.
    fn time(&self, element: Element) -> u32 {
        match element {
            Element::Life(life) => self.lives[life as usize].added.hi,
            Element::Look(look) => self.looks[look as usize].span.lo,
            Element::Empty(empty) => self.empties[empty as usize].span.lo,
        }
    }

    /// The part with only these elements, without looks at values that are not among them.
    fn only(&self, elements: impl Iterator<Item = Element>) -> Part {
        const GONE: u32 = u32::MAX;
        let mut moved = vec![GONE; self.lives.len()];
        let mut part = Part { removers: self.removers.clone(), end: self.end, ..Part::default() };
        let mut looks = Vec::new();
        for element in elements {
            match element {
                Element::Life(life) => {
                    moved[life as usize] = part.lives.len() as u32;
                    part.lives.push(self.lives[life as usize]);
                }
                Element::Look(look) => looks.push(self.looks[look as usize]),
                Element::Empty(empty) => part.empties.push(self.empties[empty as usize]),
            }
        }
        for mut look in looks {
            look.life = moved[look.life as usize];
            if look.life != GONE {
                part.looks.push(look);
            }
        }
        part.drop_late_removers();
        part
    }
}

/// What can be left out of a part that is explained without it being less so.
#[derive(Clone, Copy)]
enum Element {
    Life(u32),
    Look(u32),
    Empty(u32),
}

/// A smallest part of `part`, which cannot be explained, that cannot either: nothing more can be
/// left out. If a limit is reached, the smallest so far.
pub(super) fn smallest<C: Collection>(collection: &C, mut part: Part, limits: &Limits) -> Part {
    let mut chunk = part.elements().count();
    while chunk > 1 {
        chunk = chunk.div_ceil(2);
        // Chunks of elements that are near in time, because what conspires is.
        let mut elements: Vec<Element> = part.elements().collect();
        elements.sort_by_key(|&element| part.time(element));
        let mut at = 0;
        while at < elements.len() {
            if limits.exceeded(0).is_some() {
                return part;
            }
            let end = elements.len().min(at + chunk);
            let without = || elements[..at].iter().chain(&elements[end..]).copied();
            if let Decision::Unexplained(_) = collection.decide(part.only(without())) {
                elements.drain(at..end);
            } else {
                at = end;
            }
        }
        part = part.only(elements.into_iter());
    }
    part
}

/// How many lives may be looked at in all trials together.
const TRIALS: usize = 3_000_000;

/// Tries to give each of the first `removers` pending removals a different one of `lives` until
/// `is_explained` says that a choice explains all, the choice in the order of `lives` first. `cost`
/// is what one trial costs. The answer is whether all choices were tried.
pub(super) fn each_assignment(
    lives: &[u32],
    removers: usize,
    cost: usize,
    mut is_explained: impl FnMut(&[u32]) -> bool,
) -> bool {
    let ways = (0..removers).try_fold(1usize, |ways, taken| ways.checked_mul(lives.len() - taken));
    if ways.and_then(|ways| ways.checked_mul(cost)).is_none_or(|total| total > TRIALS) {
        is_explained(&lives[..removers]);
        return false;
    }
    let mut chosen = Vec::with_capacity(removers);
    choose(lives, removers, &mut chosen, &mut is_explained);
    true
}

/// Extends the choice in all ways; the answer is whether one explained all.
fn choose(
    lives: &[u32],
    removers: usize,
    chosen: &mut Vec<u32>,
    is_explained: &mut impl FnMut(&[u32]) -> bool,
) -> bool {
    if chosen.len() == removers {
        return is_explained(chosen);
    }
    for &life in lives {
        if chosen.contains(&life) {
            continue;
        }
        chosen.push(life);
        if choose(lives, removers, chosen, is_explained) {
            return true;
        }
        chosen.pop();
    }
    false
}
