//! Expressions.
//!
//! `known` says whether the checker knows the type where the expression stands. If so, `null`,
//! `none` and a `T` for a `T?` are welcome; if not, the expression must be of exactly the type by
//! itself.

use super::types::Ty;
use super::{Generator, Mode};

impl Generator {
    /// An expression of the type. Compound ones are in parentheses.
    pub(super) fn expr(&mut self, ty: &Ty, known: bool, depth: usize) -> String {
        if depth == 0 || self.random.percent(20) {
            return self.leaf(ty, known);
        }
        for _ in 0..6 {
            if let Some(text) = self.form(ty, known, depth - 1) {
                return text;
            }
        }
        self.leaf(ty, known)
    }

    fn form(&mut self, ty: &Ty, known: bool, depth: usize) -> Option<String> {
        match self.random.below(12) {
            0 => {
                let condition = self.expr(&Ty::Bool, true, depth);
                let (then, otherwise) = (self.expr(ty, known, depth), self.expr(ty, true, depth));
                Some(format!("(if {condition} {{ {then} }} else {{ {otherwise} }})"))
            }
            1 | 2 => self.call(ty, depth),
            3 => self.local_element(ty, depth),
            4 if self.mode != Mode::Spec && matches!(ty, Ty::Array(..)) => None,
            4 => self.place(ty, depth),
            5 => self.component(ty, depth),
            6 => self.exchange(ty, depth),
            7 => self.unwrapped(ty, depth),
            _ => match ty {
                Ty::Int => self.int_form(depth),
                Ty::Bool => self.bool_form(depth),
                Ty::Option(inner) => match (known, self.mode) {
                    (_, Mode::Spec) if self.random.percent(50) => {
                        self.collection_option(inner, depth)
                    }
                    (true, _) if self.can_make(inner) => Some(self.expr(inner, false, depth)),
                    _ => None,
                },
                _ => self.construct(ty, known, depth),
            },
        }
    }

    /// A variable or a constant.
    pub(super) fn leaf(&mut self, ty: &Ty, known: bool) -> String {
        let mut candidates: Vec<String> = Vec::new();
        for variable in self.visible().into_iter().filter(|v| v.ty == *ty) {
            candidates.push(variable.name.clone());
            candidates.push(variable.name);
        }
        let private = self.private_here().into_iter().filter(|v| v.ty == *ty);
        candidates.extend(private.map(|v| v.name));
        let whole = self.mode == Mode::Spec || !matches!(ty, Ty::Array(..));
        let shared = self.shared_here().into_iter().filter(|v| whole && v.ty == *ty);
        candidates.extend(shared.map(|v| v.name));
        match ty {
            Ty::Int => {
                candidates.push(self.literal());
                candidates.push(self.literal());
                candidates.push(self.one_of(&["K", "threads", "0", "1"]).to_owned());
            }
            Ty::Bool => candidates.push(self.one_of(&["true", "false", "B"]).to_owned()),
            Ty::Tid if self.mode.has_thread() => candidates.push("me".to_owned()),
            Ty::Node | Ty::Info if known => candidates.push("null".to_owned()),
            Ty::Option(_) if known => candidates.push("none".to_owned()),
            _ => {}
        }
        match self.random.pick(&candidates) {
            Some(text) => text.clone(),
            None => {
                self.construct(ty, known, 0).unwrap_or_else(|| panic!("no leaf of type {ty:?}"))
            }
        }
    }

    fn literal(&mut self) -> String {
        match self.random.below(40) {
            0 => "MAX".to_owned(),
            1 => "MIN".to_owned(),
            2..6 => format!("(-{})", 1 + self.random.below(3)),
            _ => self.random.below(6).to_string(),
        }
    }

    fn int_form(&mut self, depth: usize) -> Option<String> {
        if self.mode == Mode::Spec && self.random.percent(25) {
            return Some(self.choose(depth));
        }
        if self.mode == Mode::Spec && self.random.percent(40) {
            return self.collection_int(depth);
        }
        if self.mode == Mode::Model && self.random.percent(20) {
            return Some(self.choose(depth));
        }
        if matches!(self.mode, Mode::Model | Mode::Init) && self.random.percent(25) {
            let place = self.place(&Ty::Int, depth)?;
            return Some(format!("faa({place}, {})", self.expr(&Ty::Int, true, depth)));
        }
        if self.mode == Mode::Model && self.random.percent(15) {
            return self.new_int_form(depth);
        }
        if self.random.percent(5) {
            return Some(format!("{}.len()", self.expr(&Ty::array(Ty::Int, 2), false, depth)));
        }
        let left = self.expr(&Ty::Int, true, depth);
        if self.random.percent(12) {
            return Some(self.bits(&left, depth));
        }
        Some(match self.random.below(8) {
            0..3 => format!("({left} + {})", self.expr(&Ty::Int, true, depth)),
            3 => format!("({left} - {})", self.expr(&Ty::Int, true, depth)),
            4 => format!("({left} * {})", self.expr(&Ty::Int, true, depth.min(1))),
            5 => format!("({left} / {})", self.divisor(depth)),
            6 => format!("({left} % {})", self.divisor(depth)),
            _ => format!("(-{left})"),
        })
    }

    /// Numbers that wrap, arrays of arrays, functions that take places, recursion.
    fn new_int_form(&mut self, depth: usize) -> Option<String> {
        Some(match self.random.below(9) {
            0 => "int(me)".to_owned(),
            1 => "int(tick)".to_owned(),
            2 => {
                let operator = self.one_of(&["+", "-", "*"]);
                format!("int(tick {operator} {})", self.expr(&Ty::Int, true, depth))
            }
            3 => format!("int(faa(tick, {}))", self.expr(&Ty::Int, true, depth)),
            4 => {
                format!("int(swap(ticks[{}], {}))", self.index(2, depth), self.leaf(&Ty::Int, true))
            }
            5 => {
                let (row, column) = (self.index(2, depth), self.index(3, depth));
                format!("grid[{row}][{column}]")
            }
            6 => {
                let place = self.place(&Ty::Int, depth)?;
                format!("bump({place}, {})", self.expr(&Ty::Int, true, depth))
            }
            _ => {
                let place = self.place(&Ty::Int, depth)?;
                format!("down({place}, ({}) % 6)", self.expr(&Ty::Int, true, depth))
            }
        })
    }

    fn bits(&mut self, left: &str, depth: usize) -> String {
        match self.random.below(5) {
            0 => format!("({left} & {})", self.expr(&Ty::Int, true, depth)),
            1 => format!("({left} | {})", self.expr(&Ty::Int, true, depth)),
            2 => format!("({left} ^ {})", self.expr(&Ty::Int, true, depth)),
            3 => format!("({left} << {})", self.random.below(4)),
            _ => format!("({left} >> {})", self.expr(&Ty::Int, true, depth.min(1))),
        }
    }

    fn divisor(&mut self, depth: usize) -> String {
        match self.random.percent(85) {
            true => self.one_of(&["2", "3", "7", "K", "(-2)"]).to_owned(),
            false => self.expr(&Ty::Int, true, depth),
        }
    }

    pub(super) fn choose(&mut self, depth: usize) -> String {
        match self.random.below(10) {
            0..5 => format!("choose(0..{})", 1 + self.random.below(3)),
            5..7 => format!("choose(1..={})", 1 + self.random.below(2)),
            7 if self.mode == Mode::Spec => "choose(0..items.len())".to_owned(),
            _ => {
                let (from, to) = (self.expr(&Ty::Int, true, depth), self.random.below(4));
                format!("choose(({from} % 2)..={to})")
            }
        }
    }

    /// A call of a function that answers this type.
    pub(super) fn call(&mut self, ty: &Ty, depth: usize) -> Option<String> {
        if self.mode == Mode::Local {
            return None;
        }
        let init = self.mode == Mode::Init;
        let fitting: Vec<_> = self
            .functions
            .iter()
            .filter(|f| f.response == *ty && (f.for_init || !init))
            .cloned()
            .collect();
        let function = self.random.pick(&fitting)?.clone();
        let arguments: Vec<String> =
            function.parameters.iter().map(|ty| self.expr(ty, true, depth)).collect();
        Some(format!("{}({})", function.name, arguments.join(", ")))
    }

    /// An element of a local array, or of one of the thread.
    fn local_element(&mut self, ty: &Ty, depth: usize) -> Option<String> {
        let arrays: Vec<(String, usize)> = self
            .visible()
            .into_iter()
            .chain(self.private_here())
            .filter_map(|v| match v.ty {
                Ty::Array(item, length) if *item == *ty => Some((v.name, length)),
                _ => None,
            })
            .collect();
        match self.random.pick(&arrays).cloned() {
            Some((name, length)) => Some(format!("{name}[{}]", self.index(length, depth))),
            // Of a value that has no name.
            None if *ty == Ty::Int && depth > 0 => {
                let array = self.expr(&Ty::array(Ty::Int, 2), false, depth - 1);
                Some(format!("{array}[{}]", self.index(2, depth - 1)))
            }
            None => None,
        }
    }

    /// An index into so many elements: mostly one that exists.
    pub(super) fn index(&mut self, length: usize, depth: usize) -> String {
        match self.random.below(20) {
            0..8 => self.random.below(length as u64).to_string(),
            8..11 if self.mode.has_thread() => "me".to_owned(),
            11 if depth > 0 => self.expr(&Ty::Int, false, depth),
            _ => {
                let index = self.expr(&Ty::Int, true, depth);
                format!("(({index} % {length} + {length}) % {length})")
            }
        }
    }

    /// A component of a record.
    fn component(&mut self, ty: &Ty, depth: usize) -> Option<String> {
        let mut paths = Vec::new();
        for record in [Ty::Mark, Ty::Pair, Ty::Whose] {
            if !self.can_make(&record) {
                continue;
            }
            let components = record.components().into_iter().filter(|(_, of)| of == ty);
            paths.extend(components.map(|(name, _)| (record.clone(), name)));
        }
        let (record, name) = self.random.pick(&paths)?.clone();
        Some(format!("{}.{name}", self.expr(&record, false, depth)))
    }

    fn unwrapped(&mut self, ty: &Ty, depth: usize) -> Option<String> {
        let optional = Ty::option(ty.clone());
        let safe: Vec<String> = self
            .visible()
            .into_iter()
            .filter(|v| v.safe && v.ty == optional)
            .map(|v| v.name)
            .collect();
        if let Some(name) = self.random.pick(&safe)
            && !self.random.percent(15)
        {
            return Some(format!("unwrap({name})"));
        }
        if !self.random.percent(5) || !self.has_exact(&optional) {
            return None;
        }
        Some(format!("unwrap({})", self.expr(&optional, false, depth)))
    }

    /// Whether values of the type can be made here.
    pub(super) fn can_make(&self, ty: &Ty) -> bool {
        match ty {
            Ty::Tid | Ty::Whose => self.mode.has_thread(),
            Ty::Info => self.mode == Mode::Model,
            Ty::Node | Ty::Mark => self.mode != Mode::Spec,
            _ => true,
        }
    }

    /// Whether there is a variable of exactly this type.
    pub(super) fn has_exact(&self, ty: &Ty) -> bool {
        let mut all =
            self.visible().into_iter().chain(self.private_here()).chain(self.shared_here());
        all.any(|v| v.ty == *ty)
    }

    /// A new object or value made of its parts.
    pub(super) fn construct(&mut self, ty: &Ty, known: bool, depth: usize) -> Option<String> {
        Some(match ty {
            Ty::Node if !self.mode.has_heap() => return None,
            Ty::Node => {
                let mut fields = ty.fields();
                fields.push(("slots", Ty::array(Ty::Int, 2)));
                format!("(new Node {{ {} }})", self.given(&fields, depth))
            }
            Ty::Info => {
                format!("(new Info {{ {} }})", self.given(&ty.fields(), depth))
            }
            Ty::Mark | Ty::Pair | Ty::Whose => {
                let fields = self.given(&ty.components(), depth);
                // The base of a local expression must be a variable.
                let local = self.mode == Mode::Local;
                if depth > 0 && self.random.percent(50) && (!local || self.has_exact(ty)) {
                    let base =
                        if local { self.leaf(ty, true) } else { self.expr(ty, true, depth - 1) };
                    let comma = if fields.is_empty() { "" } else { ", " };
                    format!("({} {{ {fields}{comma}..{base} }})", ty.text())
                } else {
                    format!("({} {{ {fields} }})", ty.text())
                }
            }
            Ty::Array(item, length) if known && self.random.percent(25) => {
                format!("[{}; {length}]", self.repeated(item, depth))
            }
            Ty::Array(item, length) => {
                let items: Vec<String> = (0..*length)
                    .map(|at| self.expr(item, known || at > 0, depth.saturating_sub(1)))
                    .collect();
                format!("[{}]", items.join(", "))
            }
            Ty::Tuple(parts) => {
                let parts: Vec<String> = parts
                    .iter()
                    .map(|part| self.expr(part, known, depth.saturating_sub(1)))
                    .collect();
                format!("({})", parts.join(", "))
            }
            Ty::Seq(item) if known => {
                let item = (**item).clone();
                let length = self.random.below(3);
                let items: Vec<String> = (0..length).map(|_| self.expr(&item, true, 0)).collect();
                format!("[{}]", items.join(", "))
            }
            _ => return None,
        })
    }

    /// The item of an array of equal ones. In a local expression it must be a variable or a
    /// constant.
    fn repeated(&mut self, item: &Ty, depth: usize) -> String {
        match self.mode {
            Mode::Local if *item == Ty::Int => self.leaf(item, true),
            Mode::Local => "null".to_owned(),
            _ => self.expr(item, true, depth.saturating_sub(1)),
        }
    }

    /// Some of these fields, in any order; those without default always.
    fn given(&mut self, fields: &[(&'static str, Ty)], depth: usize) -> String {
        let mut given = Vec::new();
        for (name, ty) in fields {
            if !ty.has_default() || self.random.percent(55) {
                let value = self.expr(ty, true, depth.saturating_sub(1));
                let at = self.random.below(given.len() as u64 + 1) as usize;
                given.insert(at, format!("{name}: {value}"));
            }
        }
        given.join(", ")
    }
}
