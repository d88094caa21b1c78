//! Declarations, functions, operations and the specification.

use super::types::{self, Ty, Variable};
use super::{Function, Generator, Mode};

/// The outside of an operation, which the model and its specification share.
pub(super) struct Signature {
    name: String,
    parameters: Vec<(Variable, &'static str)>,
    response: Ty,
}

impl Generator {
    pub(super) fn signatures(&mut self) -> Vec<Signature> {
        (0..2 + self.random.below(2)).map(|at| self.signature(&format!("op{at}"))).collect()
    }

    fn signature(&mut self, name: &str) -> Signature {
        let types = Ty::for_clients();
        let mut parameters = Vec::new();
        for at in 0..self.random.below(3) {
            let ty = self.random.pick(&types).cloned().unwrap_or(Ty::Int);
            let range = match ty {
                Ty::Int => self.one_of(&["", " in 0..3", " in 1..=K"]),
                _ => "",
            };
            parameters.push((Variable::new(&format!("p{at}"), ty), range));
        }
        let response = match self.random.percent(25) {
            true => Ty::Unit,
            false => self.random.pick(&types).cloned().unwrap_or(Ty::Int),
        };
        Signature { name: name.to_owned(), parameters, response }
    }

    pub(super) fn specification(&mut self, signatures: &[Signature]) {
        for variable in self.shared.clone() {
            let initial = self.initial(&variable.ty);
            self.line(&format!("state {}: {}{initial};", variable.name, variable.ty.text()));
        }
        for at in 0..2 {
            self.function(&format!("s{at}"));
        }
        for signature in signatures {
            self.operation(signature);
        }
    }

    pub(super) fn model(&mut self, signatures: &[Signature]) {
        self.functions.clear();
        self.shared = types::shared();
        self.private = types::thread_locals();
        for variable in self.shared.clone() {
            let initial = self.initial(&variable.ty);
            self.line(&format!(
                "persistent shared {}: {}{initial};",
                variable.name,
                variable.ty.text()
            ));
        }
        self.line("shared guard: lock;");
        self.line("shared locks: [lock; 2];");
        for variable in self.private.clone() {
            let initial = self.initial(&variable.ty);
            self.line(&format!("local {}: {}{initial};", variable.name, variable.ty.text()));
        }
        self.mode = Mode::Init;
        self.function("f0");
        self.init();
        self.mode = Mode::Model;
        for at in 1..4 + self.random.below(2) {
            self.function(&format!("f{at}"));
        }
        for signature in signatures {
            self.operation(signature);
        }
    }

    /// ` = e`, or nothing.
    fn initial(&mut self, ty: &Ty) -> String {
        let value = match ty {
            Ty::Int => self.one_of(&["1", "K", "K + 1", "2 * K - 5"]),
            Ty::Bool => self.one_of(&["true", "B", "!B"]),
            Ty::Pair => self.one_of(&["Pair { a: 1 }", "Pair { b: true, c: 2 }"]),
            Ty::Mark => self.one_of(&["Mark { stamp: 1 }", "Mark { dead: B }"]),
            Ty::Option(inner) if **inner == Ty::Int => self.one_of(&["none", "2"]),
            Ty::Array(item, 3) if **item == Ty::Int => self.one_of(&["[1, 2, K]", "[0; 3]"]),
            Ty::Seq(item) if **item == Ty::Int => self.one_of(&["[]", "[1, 2]", "[3, K, 3]"]),
            Ty::Set(_) => "[]",
            _ => "",
        };
        match value.is_empty() || self.random.percent(30) {
            true => String::new(),
            false => format!(" = {value}"),
        }
    }

    fn init(&mut self) {
        self.begin(Vec::new(), Ty::Unit, 6);
        self.open("init");
        if self.random.percent(85) {
            self.line("let first = new Node { val: 1, slots: [1, 2] };");
            self.line("head = first;");
            self.line("tail = first;");
            self.line("nodes[0] = new Node { val: 2, next: first };");
            self.locals.push(Variable { safe: true, ..Variable::new("first", Ty::Node) });
        }
        if self.random.percent(50) {
            self.statements(2);
        }
        self.close();
    }

    fn begin(&mut self, parameters: Vec<Variable>, response: Ty, budget: usize) {
        self.locals = parameters;
        self.response = response;
        self.budget = budget;
        self.loops = 0;
    }

    fn function(&mut self, name: &str) {
        let for_init = self.mode == Mode::Init;
        let words: Vec<Ty> = [
            Ty::Int,
            Ty::Int,
            Ty::Bool,
            Ty::Node,
            Ty::Pair,
            Ty::option(Ty::Int),
            Ty::Mark,
            Ty::array(Ty::Int, 2),
        ]
        .into_iter()
        .filter(|ty| self.can_make(ty))
        .collect();
        let mut parameters = Vec::new();
        for at in 0..self.random.below(3) {
            let ty = self.random.pick(&words).cloned().unwrap_or(Ty::Int);
            parameters.push(Variable::new(&format!("a{at}"), ty));
        }
        let response = match self.random.below(10) {
            0 | 1 => Ty::Unit,
            2 | 3 => Ty::Tuple(vec![Ty::Int, Ty::Bool]),
            4..7 => Ty::Int,
            _ => self.random.pick(&words).cloned().unwrap_or(Ty::Int),
        };
        let listed: Vec<String> =
            parameters.iter().map(|p| format!("{}: {}", p.name, p.ty.text())).collect();
        let types = parameters.iter().map(|p| p.ty.clone()).collect();
        self.begin(parameters, response.clone(), 6);
        self.open(&format!("fn {name}({}){}", listed.join(", "), arrow(&response)));
        if self.mode == Mode::Model && self.random.percent(70) {
            let change = self.one_of(&["t_int += 1;", "t_int += 1;", "t_flag = !t_flag;"]);
            self.line(change);
        }
        self.statements(4);
        self.last_return();
        self.close();
        let name = name.to_owned();
        self.functions.push(Function { name, parameters: types, response, for_init });
    }

    /// The end of a routine: a value on the last path.
    fn last_return(&mut self) {
        if self.response != Ty::Unit || self.random.percent(20) {
            self.return_statement();
        }
    }

    fn operation(&mut self, signature: &Signature) {
        let parameters: Vec<Variable> =
            signature.parameters.iter().map(|(parameter, _)| parameter.clone()).collect();
        let listed: Vec<String> = signature
            .parameters
            .iter()
            .map(|(parameter, range)| {
                let range = if self.mode == Mode::Model { range } else { "" };
                format!("{}: {}{range}", parameter.name, parameter.ty.text())
            })
            .collect();
        self.begin(parameters, signature.response.clone(), 14);
        let requires = match self.mode {
            Mode::Model if self.random.percent(15) => {
                format!(" requires {}", self.local_condition())
            }
            _ => String::new(),
        };
        let arrow = arrow(&signature.response);
        self.open(&format!("op {}({}){arrow}{requires}", signature.name, listed.join(", ")));
        if self.mode == Mode::Model && self.random.percent(70) {
            let object = self.construct(&Ty::Node, false, 2).unwrap_or_default();
            self.line(&format!("let node = {object};"));
            self.locals.push(Variable { safe: true, ..Variable::new("node", Ty::Node) });
        }
        let most = if self.mode == Mode::Spec { 4 } else { 7 };
        self.statements(most);
        self.last_return();
        self.close();
    }
}

fn arrow(response: &Ty) -> String {
    match response {
        Ty::Unit => String::new(),
        _ => format!(" -> {}", response.text()),
    }
}
