//! The collections of specifications.

use super::Generator;
use super::types::Ty;

impl Generator {
    fn has(&self, name: &str) -> bool {
        !self.is_hidden(name)
    }

    pub(super) fn collection_int(&mut self, depth: usize) -> Option<String> {
        let items = self.has("items").then_some("items")?;
        Some(match self.random.below(7) {
            0 if self.has("bag") => "bag.len()".to_owned(),
            1 if self.has("table") => "table.len()".to_owned(),
            2 => format!("{items}[{}]", self.sequence_index(depth)),
            3 => format!("{items}.remove_at({})", self.sequence_index(depth)),
            4 => self.choose(depth),
            5 if self.has("cells") => format!("cells[{}]", self.index(3, depth)),
            _ => format!("{items}.len()"),
        })
    }

    fn sequence_index(&mut self, depth: usize) -> String {
        match self.random.below(4) {
            0 => "0".to_owned(),
            1 => "(items.len() - 1)".to_owned(),
            2 => "choose(0..items.len())".to_owned(),
            _ => self.expr(&Ty::Int, true, depth),
        }
    }

    pub(super) fn collection_bool(&mut self, depth: usize) -> Option<String> {
        let int = self.expr(&Ty::Int, true, depth);
        Some(match self.random.below(7) {
            0 if self.has("items") => format!("items.contains({int})"),
            1 if self.has("bag") => format!("bag.contains({int})"),
            2 if self.has("table") => format!("table.contains({int})"),
            3 if self.has("bag") => format!("bag.remove({int})"),
            4 if self.has("names") => {
                format!("names.contains({})", self.expr(&Ty::Pair, true, depth))
            }
            5 if self.has("pairs") => {
                format!("pairs.contains({})", self.expr(&Ty::Pair, true, depth))
            }
            _ if self.has("bag") => format!("bag.insert({int})"),
            _ => return None,
        })
    }

    /// An optional value out of a collection.
    pub(super) fn collection_option(&mut self, inner: &Ty, depth: usize) -> Option<String> {
        match inner {
            Ty::Pair if self.has("pairs") => {
                let method = self.one_of(&["pop_front", "pop_back", "first", "last"]);
                Some(format!("pairs.{method}()"))
            }
            Ty::Int => self.collection_option_int(depth),
            _ => None,
        }
    }

    fn collection_option_int(&mut self, depth: usize) -> Option<String> {
        let key = self.expr(&Ty::Int, true, depth);
        Some(match self.random.below(8) {
            0 | 1 if self.has("items") => {
                let method = self.one_of(&["pop_front", "pop_back", "first", "last"]);
                format!("items.{method}()")
            }
            2 if self.has("bag") => format!("bag.{}()", self.one_of(&["first", "last"])),
            3 if self.has("table") => format!("table.get({key})"),
            4 if self.has("table") => format!("table.remove({key})"),
            5 if self.has("names") => {
                let method = self.one_of(&["get", "remove"]);
                format!("names.{method}({})", self.expr(&Ty::Pair, true, depth))
            }
            6 if self.has("names") => {
                let pair = self.expr(&Ty::Pair, true, depth);
                format!("names.put({pair}, {key})")
            }
            _ if self.has("table") => {
                let value = self.expr(&Ty::option(Ty::Int), true, depth);
                format!("table.put({key}, {value})")
            }
            _ => return None,
        })
    }

    /// A statement that changes a collection.
    pub(super) fn collection_effect(&mut self, depth: usize) -> Option<String> {
        let int = self.expr(&Ty::Int, true, depth);
        match self.random.below(8) {
            0 | 1 if self.has("items") => Some(format!("items.push_back({int});")),
            2 if self.has("items") => Some(format!("items.push_front({int});")),
            3 if self.has("pairs") => {
                let pair = self.expr(&Ty::Pair, true, depth);
                Some(format!("pairs.{}({pair});", self.one_of(&["push_back", "push_front"])))
            }
            4 if self.has("items") => {
                Some(format!("items.remove_at({});", self.sequence_index(depth)))
            }
            5 if self.has("bag") => Some("bag = [];".to_owned()),
            6 => self.collection_bool(depth).map(|call| format!("{call};")),
            _ => self.collection_option(&Ty::Int, depth).map(|call| format!("{call};")),
        }
    }
}
