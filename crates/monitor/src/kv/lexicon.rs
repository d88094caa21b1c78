//! The pieces that were put or appended, and which of them a text begins with.

use crate::poll::{StopPoll, StopReason};
use rustc_hash::FxHashMap;
use std::hash::Hash;

/// A piece of text, by its number. Equal numbers are equal texts.
pub(super) type Token = u32;

/// No piece.
const NONE: Token = Token::MAX;

/// All pieces. A text is a sequence of symbols: bytes of a string, elements of a list.
pub(super) struct Lexicon<'t, S> {
    texts: Vec<&'t [S]>,
    numbers: FxHashMap<&'t [S], Token>,
    /// The pieces that are not empty, in the order of their texts.
    sorted: Vec<Token>,
    /// For each piece the longest other one that it begins with.
    shorter: Vec<Token>,
    nested: bool,
}

impl<'t, S: Ord + Hash> Lexicon<'t, S> {
    /// No pieces yet.
    pub(super) fn new() -> Lexicon<'t, S> {
        Lexicon {
            texts: Vec::new(),
            numbers: FxHashMap::default(),
            sorted: Vec::new(),
            shorter: Vec::new(),
            nested: false,
        }
    }

    /// The number of a piece.
    pub(super) fn intern(&mut self, text: &'t [S]) -> Token {
        let next = self.texts.len() as Token;
        *self.numbers.entry(text).or_insert_with(|| {
            self.texts.push(text);
            next
        })
    }

    /// The number of a piece that is known.
    pub(super) fn find(&self, text: &[S]) -> Option<Token> {
        self.numbers.get(text).copied()
    }

    /// The text of a piece.
    pub(super) fn text(&self, token: Token) -> &'t [S] {
        self.texts[token as usize]
    }

    /// How many pieces there are.
    pub(super) fn len(&self) -> usize {
        self.texts.len()
    }

    /// Whether a piece begins with another one.
    pub(super) fn is_nested(&self) -> bool {
        self.nested
    }

    /// Sorts the pieces: none is interned from here on.
    pub(super) fn sort(&mut self, poll: &StopPoll) -> Result<(), StopReason> {
        poll.ask(0)?;
        let texts = &self.texts;
        self.sorted =
            (0..texts.len() as Token).filter(|t| !texts[*t as usize].is_empty()).collect();
        self.sorted.sort_unstable_by_key(|token| texts[*token as usize]);
        poll.ask(0)?;
        self.shorter = vec![NONE; texts.len()];
        // INVARIANT: each piece of `open` begins with the one before it, and the last piece so far
        // begins with all of them.
        let mut open: Vec<Token> = Vec::new();
        for token in &self.sorted {
            poll.step()?;
            let text = texts[*token as usize];
            while open.last().is_some_and(|last| !text.starts_with(texts[*last as usize])) {
                open.pop();
            }
            if let Some(last) = open.last() {
                self.shorter[*token as usize] = *last;
                self.nested = true;
            }
            open.push(*token);
        }
        Ok(())
    }

    /// The pieces, not empty, that `text` begins with: the longest first.
    pub(super) fn beginnings(&self, text: &[S]) -> impl Iterator<Item = Token> {
        // All of them begin the greatest piece that is not greater than the text: that one lies
        // between them and the text, and so begins with them too.
        let after = self.sorted.partition_point(|token| self.text(*token) <= text);
        let greatest = after.checked_sub(1).map(|at| self.sorted[at]);
        let next = |token: &Token| Some(self.shorter[*token as usize]).filter(|t| *t != NONE);
        std::iter::successors(greatest, next).filter(|token| text.starts_with(self.text(*token)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_pieces_that_a_text_begins_with() {
        let mut random = fastrand::Rng::with_seed(5);
        for _ in 0..500 {
            let word = |random: &mut fastrand::Rng| -> Vec<u8> {
                (0..random.usize(..5)).map(|_| random.u8(b'a'..b'c')).collect()
            };
            let words: Vec<Vec<u8>> = (0..random.usize(..9)).map(|_| word(&mut random)).collect();
            let mut lexicon = Lexicon::new();
            for word in &words {
                lexicon.intern(word);
            }
            lexicon.sort(&StopPoll::unlimited()).expect("nothing stops it");
            let text = word(&mut random);
            let mut expected: Vec<&[u8]> = words.iter().map(Vec::as_slice).collect();
            expected.retain(|word| !word.is_empty() && text.starts_with(word));
            expected.sort_by_key(|word| std::cmp::Reverse(word.len()));
            expected.dedup();
            let found: Vec<&[u8]> = lexicon.beginnings(&text).map(|t| lexicon.text(t)).collect();
            assert_eq!(found, expected, "{words:?} {text:?}");
        }
    }
}
