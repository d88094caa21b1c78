//! Random programs with everything the language has: two structs, a structure in place, marks that
//! stay, a clock that grows, locks in objects, arrays of references, disjunctions, branches, and
//! invariants about one object and about two, many of which do not hold.
//!
//! [`generate`](crate::generate) keeps to what is small and often linearizable; these programs are
//! larger and reach more of the prover.

use fastrand::Rng;
use std::fmt::Write;

/// The text of a random program; the same for the same seed.
pub fn generate_rich(seed: u64) -> String {
    let mut random = Rng::with_seed(seed);
    let mut one_in = |count: u8| random.u8(..count) == 0;
    let shape = Shape { boxes: one_in(3), array: one_in(5), place: one_in(4), counts: one_in(8) };
    let mut writer = Writer { random, shape, locals: Vec::new(), answers: false };
    let mut text = writer.declarations();
    let count = writer.pick_count(&[2, 2, 3]);
    for name in &["A", "B", "C"][..count] {
        text += &writer.operation(name);
    }
    if !writer.one_in(3) {
        text += writer.observer();
    }
    for _ in 0..writer.pick_count(&[0, 0, 1, 3]) {
        text += &writer.invariant();
    }
    text
}

/// What there is besides nodes, two integers and a clock.
#[derive(Clone, Copy)]
struct Shape {
    boxes: bool,
    array: bool,
    place: bool,
    /// Whether integers other than the clock are counted with.
    counts: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum Type {
    Int,
    Node,
    Box,
}

struct Writer {
    random: Rng,
    shape: Shape,
    /// The locals that the operation has set or may guess by now.
    locals: Vec<(Type, &'static str)>,
    /// Whether the operation returns something, on every way.
    answers: bool,
}

impl Writer {
    fn one_in(&mut self, count: u8) -> bool {
        self.random.u8(..count) == 0
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.random.usize(..from.len())]
    }

    fn pick_count(&mut self, from: &[usize]) -> usize {
        from[self.random.usize(..from.len())]
    }

    fn constant(&mut self) -> &'static str {
        self.pick(&["0", "0", "1", "1", "2"])
    }

    /// All globals are assigned in `initially` or by `reset`, so that only `Q` is in place.
    fn declarations(&mut self) -> String {
        let mut text =
            String::from("struct node { int v, int mark, int lock, node next, box b };\n");
        text += "struct box { int w, node o };\nstruct head { node first, int n };\n";
        text += "int x; int y; int clock; node p; node q; box u;\n";
        if self.shape.array {
            text += "node P[];\n";
        }
        if self.shape.place {
            text += "head Q;\n";
        }
        text += "initially {\n    node D; box E;\n";
        text += "    p = NULL; q = NULL; u = NULL;\n";
        if !self.one_in(5) {
            text += "    D = malloc node;";
            for place in ["p", "q"] {
                if !self.one_in(4) {
                    let _ = write!(text, " {place} = D;");
                }
            }
            if self.shape.place {
                text += " Q.first = D;";
            }
            if self.one_in(4) {
                let _ = write!(text, " D.v = {};", self.constant());
            }
            text += "\n";
        }
        if self.shape.boxes {
            text += "    E = malloc box; u = E;\n";
        }
        if self.one_in(3) {
            let _ = writeln!(text, "    clock = 1; x = {};", self.constant());
        }
        text + "}\n"
    }

    fn operation(&mut self, name: &str) -> String {
        let argument = self.one_in(4);
        self.locals.clear();
        self.answers = !self.one_in(4);
        let mut text = format!("{name}({})\n", if argument { "int k" } else { "" });
        text += "    int r; int t; node X; node Z; box Y;\n";
        if argument {
            self.locals.push((Type::Int, "k"));
        }
        let body = match self.random.u8(..10) {
            0 => self.stamp(),
            1 | 2 => self.mark(),
            3 => self.publish(),
            4 => self.locked(),
            5 => self.stack(),
            6 if self.shape.boxes => self.boxed(),
            _ => self.anything(),
        };
        let body = if self.one_in(3) { self.damaged(body) } else { body };
        text + &body
    }

    /// One step that shows what others have done so far.
    fn observer(&mut self) -> &'static str {
        self.pick(&[
            "R() 1 return x, y;\n",
            "R() 1 return x, y, clock;\n",
            "R() node X; 1 < p == X; > return X.v, X.mark, x;\n",
            "R() node X; 1 < q == X; > return X.v, y;\n",
            "R() node X; node Z; 1 < p == X; q == Z; > return X.mark, Z.v;\n",
        ])
    }

    /// A time is noted, guessed or taken, and compared with the clock later.
    fn stamp(&mut self) -> String {
        self.locals.push((Type::Int, "t"));
        let first = self.pick(&[
            "t = clock;",
            "< clock <= t; >",
            "t = clock; clock = clock + 1;",
            "< clock == t; > clock = clock + 1;",
        ]);
        let relation = self.pick(&["<", "<=", "==", ">"]);
        let negated = match relation {
            "<" => ">=",
            "<=" => ">",
            "==" => "!=",
            _ => "<=",
        };
        let (one, other) = (self.statement(), self.statement());
        let (yes, no) = (self.results(), self.results());
        let left = self.pick(&["clock", "clock", "clock", "x"]);
        match self.random.u8(..3) {
            0 => format!("    1 {first}\n    1 < {left} {relation} t; > {one} {yes}\n"),
            1 => format!("    1 {first}\n    1 x = t; {one} {yes}\n"),
            _ => format!(
                "    1 {first}\n    either {{ 1 < {left} {relation} t; > {one} {yes} }} or {{ 1 < {left} {negated} t; > {other} {no} }}\n"
            ),
        }
    }

    /// A mark is looked at, set once, and decides what is answered.
    fn mark(&mut self) -> String {
        self.locals.push((Type::Node, "X"));
        let found =
            self.pick(&["p == X; X != NULL;", "X.mark == 0;", "q == X; X.v == 0;", "X != NULL;"]);
        let set = self.pick(&["X.mark = 1;", "X.mark = 1; y = 1;", "X.v = 1;", "x = X.v;"]);
        let seen = self.pick(&["READ X;", "READ X; r = X.v;", "READ x;", ""]);
        let (yes, no) = (self.results(), self.results());
        match self.random.u8(..4) {
            0 => format!("    1 < {found} X.mark == 0; > {set} {yes}\n"),
            1 => format!("    1 < {found} > {seen}\n    1 < X.mark == 0; > {set} {yes}\n"),
            2 => format!(
                "    1 < {found} > {seen}\n    either {{ 1 < X.mark == 0; > {set} {yes} }} or {{ 1 < X.mark != 0; > {no} }}\n"
            ),
            _ => {
                let other = self.condition();
                format!(
                    "    1 < {found} X.mark != 0 || {other}; > {seen}\n    1 < X.mark == 1 || x == 0; > {yes}\n"
                )
            }
        }
    }

    /// A new object, filled, linked and stored.
    fn publish(&mut self) -> String {
        let fill =
            self.pick(&["X.v = 1;", "X.next = p;", "X.mark = 1;", "X.b = u;", "X.v = x;", ""]);
        self.locals.push((Type::Node, "X"));
        let store = self.pick(&[
            "p = X;",
            "q = X;",
            "p = X; q = X;",
            "X.next = q; q = X;",
            "x = X.v; p = X;",
        ]);
        let (guard, results) = (self.guard(), self.results());
        if self.random.bool() {
            format!("    1 X = malloc node; {fill}\n    1 {guard}{store} {results}\n")
        } else {
            let more = self.statement();
            format!("    1 X = malloc node; {fill} {store}\n    1 {guard}{more} {results}\n")
        }
    }

    /// Something is done while the lock of an object is held.
    fn locked(&mut self) -> String {
        self.locals.push((Type::Node, "X"));
        let found = self.pick(&["p == X;", "p == X; X.mark == 0;", "q == X;", ""]);
        let (one, results) = (self.statement(), self.results());
        let held = self.pick(&["X.lock == ID;", "X.lock == ID; X.mark == 0;", "p == X;"]);
        format!(
            "    1 < {found} X.lock == 0; > X.lock = ID;\n    1 < {held} > {one}\n    1 < X.lock == ID; > X.lock = 0; {results}\n"
        )
    }

    fn stack(&mut self) -> String {
        let results = self.results();
        let steps: &[&str] = match self.random.u8(..6) {
            0 => &["X = malloc node; X.v = 1;", "< p == Z; > X.next = Z; p = X;"],
            1 => &["< p == Z; Z != NULL; > p = Z.next; r = Z.v;"],
            2 => &["Z = p;", "< p == Z; Z != NULL; > p = Z.next; r = Z.v;"],
            3 => &["< p == Z; Z != NULL; > p = Z.next;", "r = Z.v; free Z;"],
            4 => &["< p == Z; Z.next == X; X != NULL; > Z.next = X.next; r = X.v;"],
            _ => &["< p == NULL || q == NULL; > READ p;"],
        };
        let steps: Vec<String> = steps.iter().map(|step| format!("    1 {step}")).collect();
        self.locals.extend([(Type::Node, "Z")]);
        format!("{} {results}\n", steps.join("\n"))
    }

    /// Objects of the other struct, also at the end of a reference.
    fn boxed(&mut self) -> String {
        self.locals.push((Type::Box, "Y"));
        let steps: &[&str] = match self.random.u8(..6) {
            0 => &["Y = malloc box; Y.w = 1;", "< u == NULL; > u = Y;"],
            1 => &["< u == Y; > Y.w = 1; Y.o = p;"],
            2 => &["< u == Y; > READ Y;", "< Y.w == 1; > r = Y.w;"],
            3 => &["Y = malloc box; Y.o = q;", "u = Y;"],
            4 => &["< u == Y; Y.o == X; X.b == Y; > X.v = 1;"],
            _ => &["< u == Y; p == X; > X.b = Y; Y.o = X;"],
        };
        let steps: Vec<String> = steps.iter().map(|step| format!("    1 {step}")).collect();
        format!("{} {}\n", steps.join("\n"), self.results())
    }

    fn anything(&mut self) -> String {
        let locals = [(Type::Int, "r"), (Type::Int, "t"), (Type::Node, "X"), (Type::Node, "Z")];
        let mut text = String::new();
        let count = self.random.usize(1..=3).max(self.random.usize(1..=2));
        for index in 0..count {
            let step = |writer: &mut Self| {
                let mut step = writer.guard();
                for _ in 0..writer.random.usize(1..=2) {
                    step += &writer.statement();
                    step += " ";
                }
                if index + 1 == count {
                    step += &writer.results();
                }
                step
            };
            if self.one_in(6) {
                let (one, other) = (step(self), step(self));
                let _ = writeln!(text, "    either {{ 1 {one} }} or {{ 1 {other} }}");
            } else {
                let mark = if self.one_in(10) { '*' } else { '1' };
                let _ = writeln!(text, "    {mark} {}", step(self));
            }
            if self.random.bool() {
                // From here on it may be a guess, or what a statement set.
                let local = locals[self.random.usize(..locals.len())];
                if !self.locals.contains(&local) {
                    self.locals.push(local);
                }
            }
        }
        text
    }

    /// One condition, one assignment or one constant less or other.
    fn damaged(&mut self, body: String) -> String {
        let changes: [(&str, &str); 8] = [
            ("X.mark == 0;", ""),
            ("X.mark = 1;", ""),
            ("== 0", "== 1"),
            ("= 1;", "= 2;"),
            ("X.lock == ID;", ""),
            ("p == Z;", ""),
            ("    1 ", "    * "),
            ("clock", "x"),
        ];
        let (old, new) = changes[self.random.usize(..changes.len())];
        body.replacen(old, new, 1)
    }

    fn results(&mut self) -> String {
        if !self.answers {
            return String::new();
        }
        match self.random.u8(..10) {
            0 => "return;".to_owned(),
            1 | 2 => format!("return {};", self.constant()),
            3..=5 => format!("return {};", self.pick(&["x", "y", "clock", "0"])),
            _ => {
                let integers = self.of(Type::Int);
                format!("return {};", if integers.is_empty() { "x" } else { self.pick(&integers) })
            }
        }
    }

    fn of(&self, kind: Type) -> Vec<&'static str> {
        self.locals.iter().filter(|local| local.0 == kind).map(|local| local.1).collect()
    }

    fn kind(&mut self) -> Type {
        match self.random.u8(..8) {
            0..=3 => Type::Int,
            7 if self.shape.boxes => Type::Box,
            _ => Type::Node,
        }
    }

    /// A shared variable, an element, a local or a field of what a local refers to.
    fn place(&mut self, kind: Type, local: bool) -> String {
        let locals = self.of(kind);
        if local && !locals.is_empty() && self.random.bool() {
            return self.pick(&locals).to_owned();
        }
        let (nodes, boxes, integers) =
            (self.of(Type::Node), self.of(Type::Box), self.of(Type::Int));
        if !nodes.is_empty() && self.random.bool() {
            let field = match kind {
                Type::Int => self.pick(&["v", "mark", "v"]),
                Type::Node => "next",
                Type::Box => "b",
            };
            return format!("{}.{field}", self.pick(&nodes));
        }
        if !boxes.is_empty() && kind != Type::Box && self.random.bool() {
            return if kind == Type::Int { "Y.w" } else { "Y.o" }.to_owned();
        }
        match kind {
            Type::Int if self.shape.place && self.one_in(3) => "Q.n",
            Type::Int => self.pick(&["x", "y"]),
            Type::Node if self.shape.place && self.one_in(3) => "Q.first",
            Type::Node if self.shape.array && self.one_in(3) => {
                let index = if integers.is_empty() { "0" } else { self.pick(&integers) };
                return format!("P[{}]", if self.random.bool() { index } else { "1" });
            }
            Type::Node => self.pick(&["p", "q"]),
            Type::Box => "u",
        }
        .to_owned()
    }

    fn term(&mut self, kind: Type) -> String {
        match kind {
            Type::Int if self.one_in(12) => "ID".to_owned(),
            Type::Int if self.random.bool() => self.constant().to_owned(),
            Type::Int if self.shape.counts && self.one_in(3) => {
                format!("{} + 1", self.place(kind, true))
            }
            Type::Node | Type::Box if self.one_in(4) => "NULL".to_owned(),
            _ => self.place(kind, true),
        }
    }

    fn atom(&mut self) -> String {
        let kind = self.kind();
        let relations: &[&str] = if kind == Type::Int {
            &["==", "==", "!=", "<", "<=", ">="]
        } else {
            &["==", "==", "!="]
        };
        let relation = self.pick(relations);
        let (left, mut right) = (self.place(kind, true), self.term(kind));
        if left == right {
            right = if kind == Type::Int { "1" } else { "NULL" }.to_owned();
        }
        format!("{left} {relation} {right}")
    }

    fn condition(&mut self) -> String {
        let (one, two) = (self.atom(), self.atom());
        match self.random.u8(..10) {
            0 | 1 => format!("({one} || {two})"),
            2 => format!("({one} => {two})"),
            3 => format!("!({one} && {two})"),
            4 => {
                let three = self.atom();
                format!("({one} || {two} && {three})")
            }
            _ => one,
        }
    }

    fn guard(&mut self) -> String {
        let mut guard = String::new();
        for _ in 0..self.pick_count(&[0, 0, 0, 1, 1, 2]) {
            guard += &self.condition();
            guard += "; ";
        }
        if guard.is_empty() { guard } else { format!("< {guard}> ") }
    }

    fn statement(&mut self) -> String {
        if self.one_in(8) {
            return format!("READ {};", self.pick(&["x", "y", "p", "clock"]));
        }
        if self.one_in(8) {
            return "clock = clock + 1;".to_owned();
        }
        if self.one_in(25) && self.of(Type::Node).contains(&"X") {
            return "free X;".to_owned();
        }
        let kind = self.kind();
        if self.random.bool() {
            let target = match kind {
                Type::Int => self.pick(&["r", "t"]),
                Type::Node => "X",
                Type::Box => "Y",
            };
            let value = self.place(kind, false);
            if !self.locals.contains(&(kind, target)) {
                self.locals.push((kind, target));
            }
            return format!("{target} = {value};");
        }
        format!("{} = {};", self.place(kind, false), self.term(kind))
    }

    /// A claim about every state, about every object, or about every two.
    fn invariant(&mut self) -> String {
        const ALONE: [&str; 9] = [
            "x == 0",
            "y <= 1",
            "p != NULL",
            "p == q",
            "clock >= 0",
            "x <= clock",
            "u == NULL",
            "q == NULL",
            "y == 0",
        ];
        const ONE: [&str; 12] = [
            "n.v == 0",
            "n.v <= 1",
            "n.mark == 0",
            "n.mark <= 1",
            "n.next == NULL",
            "n.next != n",
            "n.next != p",
            "n == p",
            "n.b == NULL",
            "n.v == n.mark",
            "n.v < clock",
            "n.lock == 0",
        ];
        const TWO: [&str; 8] = [
            "n.next != m",
            "n.next == m",
            "m.mark == 1",
            "m.v == n.v",
            "m == n",
            "n.v <= m.v",
            "m.next == NULL",
            "m != p",
        ];
        const BOXES: [&str; 5] = ["c.w == 0", "c.o == NULL", "c == u", "c.o == p", "c.w <= 1"];
        let (bound, pool): (&str, Vec<&str>) = match self.random.u8(..6) {
            0 => ("", ALONE.to_vec()),
            1 | 2 => ("for (node n) ", [&ONE[..], &ALONE[..2]].concat()),
            3 if self.shape.boxes => ("for (box c) ", BOXES.to_vec()),
            4 if self.shape.boxes => ("for (node n, box c) ", [&ONE[..], &BOXES[..]].concat()),
            _ => ("for (node n, node m) ", [&ONE[..4], &TWO[..]].concat()),
        };
        let (one, two, three) = (self.pick(&pool), self.pick(&pool), self.pick(&pool));
        let condition = match self.random.u8(..5) {
            0 | 1 => one.to_owned(),
            2 => format!("{one} || {two}"),
            3 => format!("{one} => {two}"),
            _ => format!("{one} || ({two} && {three})"),
        };
        format!("invariant {bound}{condition};\n")
    }
}
