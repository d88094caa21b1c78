//! Random small `.subop` programs: 2 to 4 operations of 1 to 3 sub-operations over a few globals,
//! locals, fields, elements and a lock.
//!
//! Purely random programs are hardly ever linearizable, so most operations start from something
//! that people write (one step, a section under a lock, a validated guess, a stack on the heap) and
//! some are then broken.

use fastrand::Rng;
use std::fmt::Write;

/// The text of a random program; the same for the same seed. About half of them are linearizable.
/// Some state invariants, many of which do not hold: to believe one is wrong.
pub fn generate(seed: u64) -> String {
    let mut random = Rng::with_seed(seed);
    let mut writer = Writer {
        heap: random.u8(..3) == 0,
        locks: random.bool(),
        array: random.u8(..4) == 0,
        integers: random.usize(1..=3),
        set: false,
        random,
    };
    if writer.one_in(8) {
        return writer.near_pitfall();
    }
    let mut text = String::new();
    if writer.heap {
        text += "struct node { int v, node next };\nnode top;\n";
    }
    for name in &INTEGERS[..writer.integers] {
        let _ = writeln!(text, "int {name};");
    }
    if writer.array {
        text += "int M[];\n";
    }
    if writer.locks {
        text += "int l;\n";
    }
    if writer.one_in(6) {
        let constant = writer.constant();
        let _ = writeln!(text, "initially {{ x = {constant}; }}");
    }
    let count = writer.random.usize(2..=4);
    for name in &OPERATIONS[..count] {
        text += &writer.operation(name);
    }
    if writer.one_in(6) {
        text += &writer.invariant();
    }
    text
}

const INTEGERS: [&str; 3] = ["x", "y", "z"];
const OPERATIONS: [&str; 4] = ["A", "B", "C", "D"];

struct Writer {
    random: Rng,
    heap: bool,
    locks: bool,
    array: bool,
    integers: usize,
    /// Whether the operation has set `r`: a guess that nothing constrains has many values, so there
    /// are few.
    set: bool,
}

/// Programs that careless provers accept, and some that are right and look like them.
const PITFALLS: [&str; 8] = [
    "A() int r; 1 x = 1; 1 r = z;\nB() 1 y = x;\nC() 1 z = y;\n",
    "A() int r; 1 x = 1; 1 r = y;\nB() 1 <x == 1;> y = 1;\n",
    "A() 1 <l == 0;> l = ID; x = 1; 1 <l == ID;> x = 0; l = 0;\nB() 1 READ x;\n",
    "A() 1 <l == 0;> l = ID; x = 1; 1 <l == ID; y == 0;> x = 0; l = 0;\nB() 1 y = 1; READ x;\n",
    "A() 1 <l == 0;> l = ID; x = 1; 1 <l == ID;> x = 0; l = 0;\nB() 1 <l == 0;> y = 1; READ x;\n",
    "A() 1 <x == 0;> x = 1; 1 <x == 2;> x = 0;\nB() 1 <x == 1;> x = 2; READ y;\nC() 1 y = 1;\n",
    "A() int r; 1 r = x; 1 <x == r;> x = 2; y = 1;\nB() 1 x = 1;\nC() 1 READ y; 1 READ x;\n",
    "A() 1 x = 1; * <x == 1; y == 0;> y = 1;\nB() 1 <y == 1;> x = 0; y = 0;\nC() 1 READ x; READ y;\n",
];

impl Writer {
    /// One of [`PITFALLS`] with a few changes, and perhaps one more operation.
    fn near_pitfall(&mut self) -> String {
        (self.heap, self.array, self.locks, self.integers) = (false, false, true, 3);
        let mut text = self.pick(&PITFALLS).to_owned();
        if self.random.bool() {
            text = text.replace('x', "w").replace('y', "x").replace('w', "y");
        }
        // A mark stands at the start of a sub-operation, a number after a space and a sign.
        for sign in ["= ", "== "] {
            for old in ["0;", "1;"] {
                if self.one_in(5) {
                    let new = format!("{sign}{};", self.constant());
                    text = text.replacen(&format!("{sign}{old}"), &new, 1);
                }
            }
        }
        // The last one joins two sub-operations, not a declaration and one.
        if let (true, Some(joint)) = (self.one_in(4), text.rfind("; 1 ")) {
            text.replace_range(joint..joint + 4, "; ");
        }
        if self.one_in(3) {
            text += &self.operation("D");
        }
        format!("int x;\nint y;\nint z;\nint l;\n{text}")
    }

    fn one_in(&mut self, count: u8) -> bool {
        self.random.u8(..count) == 0
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.random.usize(..from.len())]
    }

    fn global(&mut self) -> &'static str {
        INTEGERS[self.random.usize(..self.integers)]
    }

    fn constant(&mut self) -> u8 {
        self.random.u8(..3)
    }

    /// An operation with every variable it may use; those that it does not use change nothing.
    fn operation(&mut self, name: &str) -> String {
        let argument = self.one_in(4);
        let parameters = if argument { "int a" } else { "" };
        let mut text = format!("{name}({parameters})\n    int r; int s;");
        if self.heap {
            text += " node X; node Z;";
        }
        self.set = self.one_in(20);
        let steps = match self.random.u8(..20) {
            0 | 1 => vec![self.step(3)],
            3..=6 if self.locks => self.section(),
            3..=5 => self.validated(),
            7..=9 if self.heap => self.stack(),
            10 | 11 => vec![self.prelude(), self.step(2)],
            12 | 13 if self.array => {
                let x = self.global();
                let last = self.pick(&["M[r] = 1;", "s = M[r];", "<M[r] == 0;> M[r] = 2;"]);
                vec![format!("r = {x}; {x} = {x} + 1;"), last.to_owned()]
            }
            _ => {
                let count = self.random.usize(2..=3);
                (0..count).map(|_| self.step(2)).collect()
            }
        };
        text += &self.arranged(steps);
        if argument {
            text = text.replacen("= 2;", "= a;", 1);
        }
        text + "\n"
    }

    /// The steps with their marks, perhaps with a branch, perhaps with a result.
    fn arranged(&mut self, mut steps: Vec<String>) -> String {
        let result = if self.one_in(4) {
            let value = if self.set { self.pick(&["r", "1", ""]) } else { "" };
            format!(" return {value};")
        } else {
            String::new()
        };
        let Some(last) = steps.pop() else { return String::new() };
        let mut text = String::new();
        for step in steps {
            let mark = if self.one_in(8) { '*' } else { '1' };
            let _ = write!(text, "\n    {mark} {step}");
        }
        if self.one_in(10) {
            let other = self.step(1);
            let _ = write!(text, "\n    either {{ 1 {last}{result} }} or {{ 1 {other}{result} }}");
        } else {
            let _ = write!(text, "\n    1 {last}{result}");
        }
        text
    }

    /// One sub-operation of up to `most` statements.
    fn step(&mut self, most: usize) -> String {
        let count = self.random.usize(1..=most);
        let statements: Vec<String> = (0..count).map(|_| self.statement()).collect();
        let guard = if self.one_in(3) { self.guard() } else { String::new() };
        format!("{guard}{}", statements.join(" "))
    }

    fn guard(&mut self) -> String {
        let (one, other) = (self.global(), self.global());
        let constant = self.constant();
        let condition = match self.random.u8(..9) {
            8 if self.array => format!("M[{one}] == {constant}"),
            0 | 1 => format!("{one} == {constant}"),
            2 => format!("{one} != {constant}"),
            3 => format!("{one} <= {other}"),
            4 => format!("{one} < {constant}"),
            5 => format!("{one} == r"),
            6 if self.heap => "top == Z".to_owned(),
            7 if self.locks => self.pick(&["l == 0", "l == ID"]).to_owned(),
            _ => format!("{one} == {constant} || {other} == {constant}"),
        };
        format!("<{condition};> ")
    }

    fn statement(&mut self) -> String {
        let (one, other) = (self.global(), self.global());
        let constant = self.constant();
        match self.random.u8(..15) {
            13 | 14 if self.array => self.array_statement(one, constant),
            0 | 1 => format!("{one} = {constant};"),
            2 => format!("{one} = {other};"),
            3 => format!("{one} = {one} + 1;"),
            4 | 5 => {
                self.set = true;
                format!("r = {one};")
            }
            6 => format!("READ {one};"),
            7 | 12 => format!("s = {one};"),
            8 if self.set => format!("{one} = r;"),
            9 if self.locks => self.pick(&["l = 0;", "l = ID;", "READ l;"]).to_owned(),
            10 | 11 if self.heap => self.heap_statement(),
            _ if self.random.bool() => format!("READ {one};"),
            _ => {
                self.set = true;
                format!("r = {constant};")
            }
        }
    }

    fn array_statement(&mut self, x: &str, constant: u8) -> String {
        match self.random.u8(..6) {
            0 => format!("M[{x}] = {constant};"),
            1 => format!("{x} = M[{constant}];"),
            2 => format!("s = M[{x}];"),
            3 => format!("M[{x} + 1] = {constant};"),
            4 => format!("READ M[{constant}];"),
            _ => format!("M[{constant}] = {x};"),
        }
    }

    /// A claim about every state, as likely false as not.
    fn invariant(&mut self) -> String {
        let (x, constant) = (self.global(), self.constant());
        let condition = match self.random.u8(..6) {
            0 => format!("{x} != {constant}"),
            1 => format!("{x} <= {constant}"),
            2 if self.heap => "top == NULL".to_owned(),
            3 if self.locks => "l == 0".to_owned(),
            4 => return format!("invariant after A_1: {x} == r;\n"),
            _ => format!("{x} == {constant}"),
        };
        format!("invariant {condition};\n")
    }

    fn heap_statement(&mut self) -> String {
        self.pick(&[
            "X = malloc node;",
            "X = top;",
            "top = X;",
            "top = NULL;",
            "X.v = 1;",
            "r = X.v;",
            "X.next = top;",
            "READ top;",
            "Z = X.next;",
            "free X;",
        ])
        .to_owned()
    }

    /// Something that others do not see.
    fn prelude(&mut self) -> String {
        if self.heap && self.random.bool() {
            return self.pick(&["X = malloc node; X.v = 1;", "X = malloc node;"]).to_owned();
        }
        self.pick(&["r = 1;", "s = 2;", "r = 2; s = 1;"]).to_owned()
    }

    /// A section under the lock; sometimes a guard is missing or the lock is released too early.
    fn section(&mut self) -> Vec<String> {
        let count = self.random.usize(1..=2);
        let mut steps = Vec::new();
        for index in 0..=count {
            let statement = self.statement();
            let held = if self.one_in(10) { String::new() } else { "<l == ID;> ".to_owned() };
            steps.push(match index {
                0 if self.random.bool() => format!("<l == 0;> l = ID; {statement}"),
                0 => "<l == 0;> l = ID;".to_owned(),
                _ if index == count => format!("{held}{statement} l = 0;"),
                _ => format!("{held}{statement}"),
            });
        }
        if self.one_in(8) {
            steps.pop();
        }
        steps
    }

    /// Read, then write if nothing has changed: one guess, or a read with or without validation.
    fn validated(&mut self) -> Vec<String> {
        let x = self.global();
        let new = self.pick(&["r + 1", "1", "2", "r"]);
        match self.random.u8(..4) {
            0 => vec![format!("<{x} == r;> {x} = {new};")],
            1 => vec![format!("r = {x};"), format!("<{x} == r;> {x} = {new};")],
            2 => vec![format!("r = {x};"), format!("{x} = {new};")],
            _ => vec![format!("r = {x}; s = 1;"), format!("<{x} == r;> READ {x};")],
        }
    }

    /// An operation of Treiber's stack, sometimes broken.
    fn stack(&mut self) -> Vec<String> {
        let steps: &[&str] = match self.random.u8(..7) {
            0 => &["X = malloc node; X.v = 1;", "<top == Z;> X.next = Z; top = X;"],
            1 => &["X = malloc node; X.v = 2; Z = top;", "X.next = Z;", "<top == Z;> top = X;"],
            2 => &["<top == Z; Z != NULL;> top = Z.next; r = Z.v;"],
            3 => &["Z = top;", "<top == Z; Z != NULL;> top = Z.next; r = Z.v;"],
            4 => &["<top == NULL;> READ top;"],
            5 => &["<top == Z; Z != NULL;> top = Z.next;", "r = Z.v;", "free Z;"],
            _ => &["Z = top;", "<Z != NULL;> top = Z.next; r = Z.v;"],
        };
        steps.iter().map(|step| (*step).to_owned()).collect()
    }
}
