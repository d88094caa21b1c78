//! What recurses in every parser: nesting, trees, lists.

use crate::{Cursor, Language, limits};
use std::ops::DerefMut;

/// A parser around a [`Cursor`].
///
/// INVARIANT: nesting goes at most [`limits::DEPTH`] deep, so neither the parser nor what goes
/// through its tree exhausts the stack.
pub trait Parser<'s, K: Language>: DerefMut<Target = Cursor<'s, K>> + Sized {
    /// Runs `parse` one level deeper, or says that this is too deep and answers nothing.
    fn deeper<T>(&mut self, parse: impl FnOnce(&mut Self) -> T) -> Option<T> {
        if self.depth >= limits::DEPTH {
            let message = format!("this is nested more than {} levels deep", limits::DEPTH);
            let span = self.span();
            self.report_excess(message, span, "too deep");
            return None;
        }
        self.depth += 1;
        let result = parse(self);
        self.depth -= 1;
        Some(result)
    }

    /// Runs `parse`, whose tree grows from the ground; it counts as `more` levels in the one
    /// around.
    fn tree<T>(&mut self, more: usize, parse: impl FnOnce(&mut Self) -> T) -> T {
        let outer = std::mem::take(&mut self.height);
        let result = parse(self);
        self.height = outer.max(self.height + more);
        result
    }

    /// Items separated by commas up to `close`, which is consumed. After a mistake it skips to the
    /// next comma or the closing token, but not past a `;` or a brace, where something else starts.
    fn separated<T>(&mut self, close: K, mut item: impl FnMut(&mut Self) -> T) -> Vec<T> {
        let mut items = Vec::new();
        while !self.eat(close) && !self.at_end() {
            let before = self.position();
            items.push(item(self));
            if self.eat(close) {
                break;
            }
            if self.eat(K::COMMA) {
                continue;
            }
            if close.spelling() == Some("}") && at_mistaken_semicolon(self) {
                self.expected("`,`");
                self.bump();
                continue;
            }
            self.expected(&format!("`,` or {}", close.describe()));
            self.skip_until(|kind| {
                kind == close || kind == K::COMMA || kind == K::SEMICOLON || kind.starts_item()
            });
            if !self.eat(K::COMMA) {
                self.eat(close);
                break;
            }
            if self.position() == before {
                break;
            }
        }
        items
    }
}

impl<'s, K: Language, P: DerefMut<Target = Cursor<'s, K>>> Parser<'s, K> for P {}

/// Whether here is a `;` in place of the `,` between fields.
fn at_mistaken_semicolon<K: Language>(cursor: &Cursor<'_, K>) -> bool {
    let goes_on = match cursor.text_after(1) {
        "}" => true,
        _ => cursor.peek_after(1) == K::NAME && cursor.text_after(2) == ":",
    };
    cursor.peek() == K::SEMICOLON && goes_on
}
