//! Conditions.

use super::types::Ty;
use super::{Generator, Mode};

impl Generator {
    pub(super) fn bool_form(&mut self, depth: usize) -> Option<String> {
        let model = self.mode == Mode::Model;
        Some(match self.random.below(16) {
            0..3 => {
                let operator = self.one_of(&["<", "<=", ">", ">="]);
                let (left, right) =
                    (self.expr(&Ty::Int, true, depth), self.expr(&Ty::Int, true, depth));
                format!("({left} {operator} {right})")
            }
            3 if self.mode == Mode::Model && !self.is_hidden("t_int") => {
                // Calls flip this.
                format!("(t_int % 2 == {})", self.random.below(2))
            }
            3..7 => return self.equality(depth),
            7..10 => {
                let operator = self.one_of(&["&&", "||"]);
                let (left, right) =
                    (self.expr(&Ty::Bool, true, depth), self.expr(&Ty::Bool, true, depth));
                format!("({left} {operator} {right})")
            }
            10 => format!("(!{})", self.expr(&Ty::Bool, true, depth)),
            11..14 if model || self.mode == Mode::Init => return self.cas(depth),
            14 if model => {
                let ty = self.word();
                let place = self.place(&ty, depth)?;
                let value = self.expr(&ty, true, depth);
                match self.random.percent(50) {
                    true => format!("sc({place}, {value})"),
                    false => format!("(ll({place}) == {place} && sc({place}, {value}))"),
                }
            }
            _ if self.mode == Mode::Spec => return self.collection_bool(depth),
            _ => return None,
        })
    }

    /// A type of words of which there are shared variables.
    pub(super) fn word(&mut self) -> Ty {
        let words = [
            Ty::Int,
            Ty::Int,
            Ty::Bool,
            Ty::Node,
            Ty::Node,
            Ty::Mark,
            Ty::Pair,
            Ty::option(Ty::Int),
            Ty::option(Ty::Pair),
        ];
        self.random.pick(&words).cloned().unwrap_or(Ty::Int)
    }

    fn equality(&mut self, depth: usize) -> Option<String> {
        let operator = self.one_of(&["==", "=="]);
        let operator = if self.random.percent(30) { "!=" } else { operator };
        let mut ty = self.word();
        if self.mode == Mode::Spec && self.random.percent(30) {
            ty = Ty::seq(Ty::Int);
        }
        if !self.can_make(&ty) || (matches!(ty, Ty::Option(_)) && !self.has_exact(&ty)) {
            return None;
        }
        let left = self.expr(&ty, false, depth);
        let right = match (&ty, self.random.below(4)) {
            (Ty::Node, 0 | 1) => "null".to_owned(),
            (Ty::Option(_), 0) => "none".to_owned(),
            (Ty::Option(inner), 1 | 2) => self.expr(inner, false, depth),
            _ => self.expr(&ty, false, depth),
        };
        Some(match self.random.percent(50) {
            true => format!("({left} {operator} {right})"),
            false => format!("({right} {operator} {left})"),
        })
    }

    /// `cas`, of one word or of two; its expected value is often what is there.
    pub(super) fn cas(&mut self, depth: usize) -> Option<String> {
        let mut cells = Vec::new();
        for _ in 0..if self.random.percent(30) { 2 } else { 1 } {
            let ty = self.word();
            let place = self.place(&ty, depth)?;
            let old = match self.random.percent(60) {
                true => place.clone(),
                false => self.expr(&ty, true, depth),
            };
            cells.push((place, old, self.expr(&ty, true, depth)));
        }
        Some(match cells.as_slice() {
            [(place, old, new)] => format!("cas({place}, {old}, {new})"),
            [(p, a, c), (q, b, d)] => format!("cas([{p}, {q}], [{a}, {b}], [{c}, {d}])"),
            _ => return None,
        })
    }
}
