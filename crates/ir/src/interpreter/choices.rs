//! Who decides the choices of a move: the caller, then zeros or chance.

use super::{Attempt, Choices, Outcome, Path};
use fastrand::Rng;

/// Answers the choices of one move, and remembers them.
pub(super) struct Chooser<'a> {
    given: &'a [u32],
    beyond: Option<&'a mut Rng>,
    choices: Choices,
    arities: Choices,
}

impl<'a> Chooser<'a> {
    /// The given choices, then 0.
    pub fn given(given: &'a [u32]) -> Chooser<'a> {
        Chooser { given, beyond: None, choices: Choices::new(), arities: Choices::new() }
    }

    /// Random choices.
    pub fn random(random: &'a mut Rng) -> Chooser<'a> {
        Chooser { beyond: Some(random), ..Chooser::given(&[]) }
    }

    /// One of `arity` ways, which is at least 1; `None` if the choice that was given is not one of
    /// them.
    pub fn choose(&mut self, arity: u32) -> Option<u32> {
        if arity == 1 {
            return Some(0);
        }
        let choice = match (self.given.get(self.choices.len()), &mut self.beyond) {
            (Some(&given), _) => given,
            (None, Some(random)) => random.u32(..arity),
            (None, None) => 0,
        };
        self.choices.push(choice);
        self.arities.push(arity);
        (choice < arity).then_some(choice)
    }

    /// Whether a choice was given that is not one of the ways.
    pub fn is_refused(&self) -> bool {
        self.choices.iter().zip(&self.arities).any(|(choice, arity)| choice >= arity)
    }

    /// The attempt in which these choices were made.
    pub fn attempt(self, path: Path, outcome: Outcome) -> Attempt {
        Attempt { choices: self.choices, arities: self.arities, path, outcome }
    }
}
