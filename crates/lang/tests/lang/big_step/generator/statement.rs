//! Statements.

use super::types::{Ty, Variable};
use super::{Generator, Mode};

/// How deep expressions are in statements.
const DEPTH: usize = 3;

impl Generator {
    /// Some statements in a scope of their own.
    fn block(&mut self, most: u64) {
        let outer = self.locals.len();
        self.statements(most);
        self.locals.truncate(outer);
    }

    /// Some statements.
    pub(super) fn statements(&mut self, most: u64) {
        for _ in 0..1 + self.random.below(most) {
            if self.budget == 0 {
                break;
            }
            self.budget -= 1;
            self.statement();
        }
    }

    fn statement(&mut self) {
        let model = self.mode == Mode::Model;
        let nested = self.indent > 20;
        match self.random.below(100) {
            0..14 => self.let_statement(),
            14..18 => self.let_tuple(),
            18..26 => self.assign_local(),
            26..34 => self.assign_private(),
            34..46 => self.assign_shared(),
            46..54 => self.compound(),
            54..64 => self.effect(),
            64..74 if !nested => self.if_statement(),
            74..81 if !nested => self.loop_statement(),
            81..87 if self.loops > 0 && self.random.percent(75) => self.jump(),
            81..87 => self.early_return(),
            87..93 if model && !nested => {
                self.open("atomic");
                let outer = self.locals.len();
                self.statements(4);
                if self.loops > 0 && self.random.percent(40) {
                    self.jump();
                }
                self.locals.truncate(outer);
                self.close();
            }
            93..95 if self.mode != Mode::Init => self.assume(),
            95 => self.assert(),
            96 if model => self.persistence(),
            97 if model => self.lock_pair(),
            98 if model => self.free(),
            99 => self.many_branches(),
            _ => self.effect(),
        }
    }

    /// `flush`, `persist` or `fence`.
    fn persistence(&mut self) {
        let ty = self.random.pick(&[Ty::Int, Ty::Bool, Ty::Node, Ty::Mark]).cloned();
        let place = ty.and_then(|ty| self.place(&ty, 1));
        match (self.random.below(3), place) {
            (0, Some(place)) => self.line(&format!("flush({place});")),
            (1, Some(place)) => self.line(&format!("persist({place});")),
            _ => self.line("fence;"),
        }
    }

    fn types_here(&self) -> Vec<Ty> {
        let all = [
            Ty::Int,
            Ty::Int,
            Ty::Bool,
            Ty::Node,
            Ty::Mark,
            Ty::Pair,
            Ty::option(Ty::Int),
            Ty::array(Ty::Int, 2),
            Ty::array(Ty::Node, 2),
            Ty::Tuple(vec![Ty::Int, Ty::Bool]),
            Ty::Whose,
            Ty::Tid,
            Ty::Info,
            Ty::option(Ty::Tid),
        ];
        let mut types: Vec<Ty> = all.into_iter().filter(|ty| self.can_make(ty)).collect();
        if self.mode == Mode::Spec {
            types.retain(|ty| *ty != Ty::array(Ty::Node, 2));
            types.push(Ty::seq(Ty::Int));
        }
        types
    }

    /// A name for a new local variable, which sometimes hides an older variable.
    fn local_name(&mut self) -> String {
        let locals = self.visible();
        let older: Vec<&Variable> = locals.iter().filter(|v| !v.fixed).collect();
        match self.random.below(20) {
            0 => self.one_of(&["n", "pair", "t_int", "opt"]).to_owned(),
            1 | 2 if !older.is_empty() => {
                self.random.pick(&older).map(|v| v.name.clone()).unwrap_or_default()
            }
            _ => self.new_name("x"),
        }
    }

    fn declare(&mut self, name: String, ty: Ty, safe: bool) {
        self.locals.push(Variable { name, ty, safe, fixed: false });
    }

    fn let_statement(&mut self) {
        let types = self.types_here();
        let ty = self.random.pick(&types).cloned().unwrap_or(Ty::Int);
        let name = self.local_name();
        if ty == Ty::Node && self.mode.has_heap() && self.random.percent(60) {
            let object = self.construct(&ty, false, 2).unwrap_or_default();
            self.line(&format!("let {name} = {object};"));
            return self.declare(name, ty, true);
        }
        if ty == Ty::option(Ty::Int) && self.random.percent(40) {
            let value = self.expr(&Ty::Int, false, 2);
            self.line(&format!("let {name}: int? = {value};"));
            return self.declare(name, ty, true);
        }
        let exact = !matches!(ty, Ty::Option(_) | Ty::Seq(_)) || self.has_exact(&ty);
        let text = match self.random.below(10) {
            0..5 if exact => format!("let {name} = {};", self.expr(&ty, false, DEPTH)),
            5 if ty.has_default() => format!("let {name}: {};", ty.text()),
            _ => format!("let {name}: {} = {};", ty.text(), self.expr(&ty, true, DEPTH)),
        };
        // An annotation sees the variable that the statement declares.
        self.declare(name, ty, false);
        let mark = self.annotation();
        self.line(&format!("{mark}{text}"));
    }

    fn annotation(&mut self) -> String {
        if self.mode != Mode::Model || !self.random.percent(6) {
            return String::new();
        }
        if self.random.percent(50) {
            return "#[lin] ".to_owned();
        }
        format!("#[lin(when {})] ", self.local_condition())
    }

    /// A condition on local variables.
    pub(super) fn local_condition(&mut self) -> String {
        let mode = std::mem::replace(&mut self.mode, Mode::Local);
        let condition = self.expr(&Ty::Bool, true, DEPTH);
        self.mode = mode;
        condition
    }

    fn let_tuple(&mut self) {
        let value = self.expr(&Ty::Tuple(vec![Ty::Int, Ty::Bool]), false, DEPTH);
        let (a, b) = (self.new_name("x"), self.new_name("x"));
        if self.random.percent(20) {
            self.line(&format!("let (_, {b}) = {value};"));
        } else {
            self.line(&format!("let ({a}, {b}) = {value};"));
            self.declare(a, Ty::Int, false);
        }
        self.declare(b, Ty::Bool, false);
    }

    fn assign_local(&mut self) {
        let locals = self.visible();
        let free: Vec<&Variable> = locals.iter().filter(|v| !v.safe && !v.fixed).collect();
        match self.random.pick(&free).copied().cloned() {
            Some(variable) => self.assign_variable(&variable),
            None => self.let_statement(),
        }
    }

    fn assign_private(&mut self) {
        let private = self.private_here();
        match self.random.pick(&private) {
            Some(variable) => self.assign_variable(variable),
            None => self.assign_shared(),
        }
    }

    /// Assigns a variable, an element or a component of it.
    fn assign_variable(&mut self, variable: &Variable) {
        let Variable { name, ty, .. } = variable.clone();
        let (target, ty) = match &ty {
            Ty::Array(item, length) if self.random.percent(60) => {
                (format!("{name}[{}]", self.index(*length, DEPTH - 1)), (**item).clone())
            }
            Ty::Mark | Ty::Pair | Ty::Whose if self.random.percent(60) => {
                let components = ty.components();
                let Some((component, of)) = self.random.pick(&components) else { return };
                (format!("{name}.{component}"), of.clone())
            }
            _ => (name, ty),
        };
        let value = self.expr(&ty, true, DEPTH);
        self.line(&format!("{target} = {value};"));
    }

    /// Writes of numbers that wrap, and functions that take places.
    fn write_wrapping(&mut self) {
        let place = match self.random.percent(50) {
            true => "tick".to_owned(),
            false => format!("ticks[{}]", self.index(2, DEPTH - 1)),
        };
        let operator = self.one_of(&["=", "+=", "-="]);
        let value = self.expr(&Ty::Int, true, DEPTH - 1);
        match self.random.below(4) {
            0 => self.line(&format!("cas({place}, {value}, {value} + 1);")),
            1 => {
                let places = (self.place(&Ty::Int, 1), self.place(&Ty::Int, 1));
                let (Some(p), Some(q)) = places else { return };
                self.line(&format!("exchange({p}, {q});"));
            }
            _ => self.line(&format!("{place} {operator} {value};")),
        }
    }

    fn assign_shared(&mut self) {
        if self.mode == Mode::Model && self.random.percent(15) {
            return self.write_wrapping();
        }
        let mut ty = self.word();
        if self.mode == Mode::Spec && self.random.percent(40) {
            let state: Vec<Ty> = self.shared_here().into_iter().map(|v| v.ty).collect();
            let whole = state.into_iter().filter(|ty| matches!(ty, Ty::Seq(_) | Ty::Array(..)));
            ty = self.random.pick(&whole.collect::<Vec<_>>()).cloned().unwrap_or(Ty::Int);
        }
        let Some(place) = self.place(&ty, DEPTH - 1) else { return self.effect() };
        let value = self.expr(&ty, true, DEPTH);
        self.line(&format!("{place} = {value};"));
    }

    fn compound(&mut self) {
        let mut variables = self.visible();
        variables.extend(self.private_here());
        let mut targets: Vec<String> = Vec::new();
        for Variable { name, ty, .. } in variables.iter().filter(|v| !v.fixed) {
            match ty {
                Ty::Int => targets.push(name.clone()),
                Ty::Array(item, length) if **item == Ty::Int => {
                    targets.push(format!("{name}[{}]", self.index(*length, DEPTH - 1)));
                }
                Ty::Pair => targets.push(format!("{name}.a")),
                _ => {}
            }
        }
        for _ in 0..2 {
            targets.extend(self.place(&Ty::Int, DEPTH - 1));
        }
        let Some(target) = self.random.pick(&targets).cloned() else { return };
        let operator = self.one_of(&["+=", "-="]);
        let value = self.expr(&Ty::Int, true, DEPTH);
        self.line(&format!("{target} {operator} {value};"));
    }

    /// A statement that is a call.
    fn effect(&mut self) {
        if self.mode == Mode::Spec && self.random.percent(70) {
            if let Some(text) = self.collection_effect(2) {
                self.line(&text);
            }
            return;
        }
        let init = self.mode == Mode::Init;
        let functions: Vec<Ty> = self
            .functions
            .iter()
            .filter(|f| f.for_init || !init)
            .map(|f| f.response.clone())
            .collect();
        let text = match self.random.below(10) {
            0..5 => match self.random.pick(&functions).cloned() {
                Some(response) => self.call(&response, 2),
                None => None,
            },
            5..8 if self.mode != Mode::Spec => self.cas(2),
            8 if self.mode != Mode::Spec => {
                let ty = self.word();
                self.exchange(&ty, 2)
            }
            _ => self.place(&Ty::Int, 2),
        };
        let mark = self.annotation();
        if let Some(text) = text {
            self.line(&format!("{mark}{text};"));
        }
    }

    fn if_statement(&mut self) {
        let condition = self.expr(&Ty::Bool, true, DEPTH);
        let mark = self.annotation();
        self.open(&format!("{mark}if {condition}"));
        self.block(3);
        if self.random.percent(20) {
            let condition = self.expr(&Ty::Bool, true, 2);
            self.reopen(&format!("else if {condition}"));
            self.block(2);
        }
        if self.random.percent(50) {
            self.reopen("else");
            self.block(3);
        }
        self.close();
    }

    fn loop_statement(&mut self) {
        let outer = self.locals.len();
        let counter = self.new_name("i");
        let local = Variable { fixed: true, ..Variable::new(&counter, Ty::Int) };
        if self.random.percent(40) {
            let range = self.range();
            self.open(&format!("for {counter} in {range}"));
            self.locals.push(local);
        } else {
            self.line(&format!("let {counter} = 0;"));
            self.locals.push(local);
            if self.random.percent(60) {
                let condition = self.expr(&Ty::Bool, true, 2);
                match self.random.percent(50) {
                    true => self.open(&format!("while {counter} < 3 && {condition}")),
                    false => self.open(&format!("while {condition} && {counter} < 3")),
                }
                self.line(&format!("{counter} += 1;"));
            } else {
                self.open("loop");
                self.line(&format!("{counter} += 1;"));
                self.line(&format!("if {counter} > 3 {{ break; }}"));
            }
        }
        self.loops += 1;
        self.block(4);
        self.loops -= 1;
        self.close();
        self.locals.truncate(outer);
    }

    /// A short range.
    fn range(&mut self) -> String {
        let dots = if self.random.percent(40) { "..=" } else { ".." };
        match self.random.below(10) {
            0 => format!("(MAX - 2){dots}MAX"),
            1..5 => {
                let from = self.expr(&Ty::Int, true, 2);
                format!("({from} % 3){dots}({} % 4)", self.expr(&Ty::Int, true, 2))
            }
            _ => format!("{}{dots}{}", self.random.below(3), self.random.below(4)),
        }
    }

    fn jump(&mut self) {
        let jump = self.one_of(&["break;", "continue;", "continue;"]);
        if self.random.percent(10) {
            return self.line(jump);
        }
        let condition = self.expr(&Ty::Bool, true, 2);
        self.open(&format!("if {condition}"));
        if self.random.percent(30) {
            self.block(1);
        }
        self.line(jump);
        self.close();
    }

    fn early_return(&mut self) {
        let condition = self.expr(&Ty::Bool, true, 2);
        self.open(&format!("if {condition}"));
        self.return_statement();
        self.close();
    }

    pub(super) fn return_statement(&mut self) {
        let response = self.response.clone();
        match response {
            Ty::Unit => self.line("return;"),
            _ => {
                let value = self.expr(&response, true, DEPTH);
                self.line(&format!("return {value};"));
            }
        }
    }

    fn assume(&mut self) {
        let condition = self.expr(&Ty::Bool, true, 2);
        match self.random.percent(55) {
            true => self.line(&format!("assume({condition} || B);")),
            false => self.line(&format!("assume({condition});")),
        }
    }

    fn assert(&mut self) {
        if self.random.percent(80) {
            let value = self.expr(&Ty::Int, true, 2);
            return self.line(&format!("assert({value} <= MAX);"));
        }
        let condition = self.expr(&Ty::Bool, true, 2);
        self.line(&format!("assert({condition});"));
    }

    fn lock_pair(&mut self) {
        let place = self.lock_place(1);
        if !self.random.percent(10) {
            self.line(&format!("lock({place});"));
        }
        let outer = self.locals.len();
        self.statements(2);
        // A new variable may hide one that the place names.
        let hidden = self.locals[outer..].iter().any(|local| place.contains(&local.name));
        if !hidden && !self.random.percent(10) {
            self.line(&format!("unlock({place});"));
        }
    }

    fn free(&mut self) {
        let object = self.object(1);
        self.line(&format!("free({object});"));
    }

    /// More ways through local branches than one node can have edges.
    fn many_branches(&mut self) {
        let Some(target) = self.private_here().into_iter().find(|v| v.ty == Ty::Int) else {
            return;
        };
        for _ in 0..7 {
            let condition = self.local_condition();
            self.line(&format!("if {condition} {{ {} += 1; }}", target.name));
        }
    }
}
