//! Who decides the choices.

/// Answers one question after the other: which of so many ways.
#[derive(Clone, Debug)]
pub enum Choices {
    /// By the seed and the number of the question.
    Seeded { seed: u64, asked: u64 },
    /// By a list, and with the first way beyond it; remembers each answer and how many ways there
    /// were.
    Listed { given: Vec<u32>, answers: Vec<(u32, u32)> },
}

impl Choices {
    pub fn seeded(seed: u64) -> Choices {
        Choices::Seeded { seed, asked: 0 }
    }

    pub fn listed(given: Vec<u32>) -> Choices {
        Choices::Listed { given, answers: Vec::new() }
    }

    /// One of so many ways. Where there is only one, nothing is asked.
    pub fn answer(&mut self, ways: u32) -> u32 {
        if ways == 1 {
            return 0;
        }
        match self {
            Choices::Seeded { seed, asked } => {
                *asked += 1;
                seeded_answer(*seed, *asked, ways)
            }
            Choices::Listed { given, answers } => {
                let answer = given.get(answers.len()).copied().unwrap_or(0);
                answers.push((answer, ways));
                answer
            }
        }
    }

    /// The list to try next, so that every combination has its turn.
    pub fn next_list(&self) -> Option<Vec<u32>> {
        let Choices::Listed { answers, .. } = self else { return None };
        let last = answers.iter().rposition(|(answer, ways)| answer + 1 < *ways)?;
        let mut next: Vec<u32> = answers[..=last].iter().map(|(answer, _)| *answer).collect();
        next[last] += 1;
        Some(next)
    }
}

/// The answer to the question with this number (from 1).
pub fn seeded_answer(seed: u64, number: u64, ways: u32) -> u32 {
    let mut mixed = seed ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((mixed ^ (mixed >> 31)) % u64::from(ways)) as u32
}
