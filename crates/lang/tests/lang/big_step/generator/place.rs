//! Shared words.

use super::types::Ty;
use super::{Generator, Mode};

impl Generator {
    /// A shared word of the type: a variable, an element, a field.
    pub(super) fn place(&mut self, ty: &Ty, depth: usize) -> Option<String> {
        let shared = self.shared_here();
        let mut variables = Vec::new();
        let mut arrays = Vec::new();
        for variable in shared {
            match &variable.ty {
                known if known == ty => variables.push(variable.name),
                Ty::Array(item, length) if **item == *ty => arrays.push((variable.name, *length)),
                _ => {}
            }
        }
        if self.mode == Mode::Model && *ty == Ty::Int && self.random.percent(10) {
            let (row, column) = (self.index(2, depth), self.index(3, depth));
            return Some(format!("grid[{row}][{column}]"));
        }
        match self.random.below(10) {
            0..4 => self.random.pick(&variables).cloned(),
            4 | 5 => {
                let (name, length) = self.random.pick(&arrays).cloned()?;
                Some(format!("{name}[{}]", self.index(length, depth)))
            }
            _ if !self.mode.has_heap() => self.random.pick(&variables).cloned(),
            6 if matches!(ty, Ty::Int | Ty::Node) => {
                let object = self.object(depth);
                let array = if *ty == Ty::Int { "slots" } else { "peers" };
                Some(format!("{object}.{array}[{}]", self.index(2, depth)))
            }
            7 => self.info_field(ty),
            _ => {
                let object = self.object(depth);
                let fields: Vec<_> =
                    Ty::Node.fields().into_iter().filter(|(_, of)| of == ty).collect();
                self.random.pick(&fields).map(|(field, _)| format!("{object}.{field}"))
            }
        }
    }

    /// An expression for a node: mostly one that is not null.
    pub(super) fn object(&mut self, depth: usize) -> String {
        let safe: Vec<String> = self
            .visible()
            .into_iter()
            .filter(|v| v.safe && v.ty == Ty::Node)
            .map(|v| v.name)
            .collect();
        match self.random.pick(&safe) {
            Some(name) if self.random.percent(85) => name.clone(),
            _ => match self.random.below(10) {
                0 => self.expr(&Ty::Node, false, depth),
                1..5 if !self.is_hidden("head") => "head".to_owned(),
                _ => self.construct(&Ty::Node, false, depth.min(1)).unwrap_or("head".to_owned()),
            },
        }
    }

    fn info_field(&mut self, ty: &Ty) -> Option<String> {
        let infos: Vec<String> =
            self.visible().into_iter().filter(|v| v.ty == Ty::Info).map(|v| v.name).collect();
        let info = self.random.pick(&infos)?.clone();
        let fields: Vec<_> = Ty::Info.fields().into_iter().filter(|(_, of)| of == ty).collect();
        self.random.pick(&fields).map(|(field, _)| format!("{info}.{field}"))
    }

    /// `swap` or `ll` of a word of this type.
    pub(super) fn exchange(&mut self, ty: &Ty, depth: usize) -> Option<String> {
        if !self.mode.has_heap() || matches!(ty, Ty::Array(..)) || self.random.percent(50) {
            return None;
        }
        let place = self.place(ty, depth)?;
        if self.mode == Mode::Model && self.random.percent(30) {
            return Some(format!("ll({place})"));
        }
        Some(format!("swap({place}, {})", self.expr(ty, true, depth)))
    }

    /// A lock.
    pub(super) fn lock_place(&mut self, depth: usize) -> String {
        match self.random.below(5) {
            0 | 1 => "guard".to_owned(),
            2 => format!("locks[{}]", self.index(2, depth)),
            _ => format!("{}.guard", self.object(depth)),
        }
    }
}
