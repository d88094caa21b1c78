//! The decisions of a symbolic execution, so that each visit takes the next ones: depth-first
//! search by re-execution.

/// The decisions of one visit.
#[derive(Clone, Default)]
pub(crate) struct Script {
    choices: Vec<(u32, u32)>,
    at: usize,
    /// A question was asked that the script has no answer to: it remembers one to another question.
    confused: bool,
}

impl Script {
    /// INVARIANT: what is asked depends on nothing but the answers before; else cases are never
    /// visited.
    pub(crate) fn choose(&mut self, options: u32) -> u32 {
        if self.at == self.choices.len() {
            self.choices.push((0, options));
        }
        self.at += 1;
        let (choice, known) = self.choices[self.at - 1];
        self.confused |= known != options;
        choice.min(options.saturating_sub(1))
    }

    /// The next visit's decisions; false if all were made.
    pub(crate) fn advance(&mut self) -> bool {
        self.at = 0;
        while let Some((choice, options)) = self.choices.pop() {
            if choice + 1 < options {
                self.choices.push((choice + 1, options));
                return true;
            }
        }
        false
    }

    /// How many decisions there are.
    pub(crate) fn len(&self) -> usize {
        self.choices.len()
    }

    /// How many of them were made so far.
    pub(crate) fn position(&self) -> usize {
        self.at
    }

    /// Goes on after the first ones, whose effects are known.
    pub(crate) fn resume(&mut self, after: usize) {
        self.at = after;
    }

    /// Whether a question was asked to which it remembers the answer to another.
    pub(crate) fn is_confused(&self) -> bool {
        self.confused
    }
}
