//! The worst that people could think of: what grows without limit, what explodes when it is
//! expanded, what is hardly text.
//!
//! `nasty.txt` has the answers.

type Case = (&'static str, String);

pub fn all() -> Vec<Case> {
    [deep(), expanding(), references(), large(), strange()].concat()
}

const COUNTER: &str = "spec counter;\nshared n: int;\n";

/// An operation of a counter with this body.
fn op(body: &str) -> String {
    format!("{COUNTER}op read() -> int {{ {body} return n; }}\n")
}

fn of(declarations: &str, body: &str) -> String {
    format!("{declarations}\n{}", op(body))
}

/// So many operations that each call a function with this body.
fn many(count: usize, body: &str) -> String {
    let operations = |body: &str| join(count, "\n", |i| format!("op f{i}() {{ {body} }}"));
    let (specified, declared) = (operations(""), operations("f();"));
    format!("spec {{ {specified} }}\nshared n: int;\nfn f() {{ {body} }}\n{declared}\n")
}

fn join(count: usize, separator: &str, part: impl Fn(usize) -> String) -> String {
    (0..count).map(part).collect::<Vec<_>>().join(separator)
}

/// `part` inside `count` pairs of brackets.
fn nest(open: &str, part: &str, close: &str, count: usize) -> String {
    format!("{}{part}{}", open.repeat(count), close.repeat(count))
}

fn deep() -> Vec<Case> {
    let list = "struct Node { next: Node }\nshared head: Node;";
    let ifs = join(100_000, " else ", |i| format!("if x == {i} {{ n = {i}; }}"));
    let small_ifs = join(6_000, " else ", |i| format!("if x == {i} {{ n = {i}; }}"));
    let layers = |count: usize, body: &str| {
        join(count, "\n", |i| {
            format!("fn f{i}() {{ {} }}", body.replace("CALL", &format!("f{}();", i + 1)))
        }) + &format!("\nfn f{count}() {{ n = 1; }}")
    };
    let high = |inner: &str| format!("{}{inner}", "1 + ".repeat(100));
    let towers = join(45, "\n", |i| {
        let call = high(&format!("g{}()", i + 1));
        format!(
            "fn g{i}() -> int {{ {} return 0; }}",
            nest("if n == 0 {", &format!("return {call};"), "}", 55)
        )
    });
    vec![
        ("parentheses", op(&format!("n = {};", nest("(", "1", ")", 100_000)))),
        ("parentheses of an allowed length", op(&format!("n = {};", nest("(", "1", ")", 50_000)))),
        ("open parentheses", op(&"(".repeat(100_000))),
        ("sixty parentheses", op(&format!("n = {};", nest("(", "1", ")", 55)))),
        ("brackets", op(&format!("n = {};", nest("[", "1", "]", 50_000)))),
        ("braces", op(&nest("{", "", "}", 50_000))),
        ("blocks", op(&nest("if n == 1 {", "", "}", 10_000))),
        ("atomic blocks", op(&nest("atomic {", "", "}", 10_000))),
        ("else if, too long a file", op(&ifs)),
        ("else if", op(&format!("let x = n; {small_ifs}"))),
        (
            "else if expressions",
            op(&format!(
                "n = {} else {{ 1 }};",
                join(6_000, " else ", |_| "if n == 1 { 2 }".to_owned())
            )),
        ),
        ("chained +", op(&format!("n = {};", join(10_000, " + ", |_| "n".to_owned())))),
        ("chained &&", op(&format!("if {} {{ }}", join(10_000, " && ", |_| "n == 1".to_owned())))),
        ("chained .next", of(list, &format!("head = head{};", ".next".repeat(10_000)))),
        ("chained index", of(list, &format!("head = head{};", "[0]".repeat(10_000)))),
        ("chained calls", of(list, &format!("head = head{};", ".first()".repeat(10_000)))),
        ("a hundred operands", op(&format!("n = {};", join(100, " + ", |_| "n".to_owned())))),
        ("minus", op(&format!("n = {}1;", "-".repeat(100_000)))),
        ("not", op(&format!("if {}true {{ }}", "!".repeat(100_000)))),
        (
            "nested records",
            of("record R { a: int }", &format!("let r = {};", nest("R { a: ", "1", "}", 10_000))),
        ),
        (
            "nested new",
            of(list, &format!("head = {};", nest("new Node { next: ", "null", "}", 10_000))),
        ),
        ("optional types", of(&format!("shared x: int{};", "?".repeat(100_000)), "")),
        ("array types", of(&format!("shared x: {};", nest("[", "int", "; 1]", 10_000)), "")),
        ("tuple types", of(&format!("fn f(x: {}) {{ }}", nest("(", "int", ")", 50_000)), "")),
        ("collection types", format!("spec {{ state x: {}; }}", nest("seq<", "int", ">", 40_000))),
        (
            "quantifiers",
            of(
                list,
                &format!("#[base({})] n = 1;", nest("forall x: Node { ", "true", "}", 10_000)),
            ),
        ),
        ("specs in specs", nest("spec {", "", "}", 20_000)),
        ("annotations", op(&"#[lin(when ".repeat(10_000))),
        (
            "deep but allowed",
            op(&format!("{} n = {};", nest("if n == 1 {", "n = 2;", "}", 60), high("n"))),
        ),
        ("forty layers of functions", of(&layers(40, "CALL"), "f0();")),
        ("a thousand layers of functions", of(&layers(900, "CALL"), "f0();")),
        ("layers of deep blocks", of(&layers(45, &nest("if n == 1 {", "CALL", "}", 60)), "f0();")),
        (
            "layers of high expressions",
            of(&format!("{towers}\nfn g45() -> int {{ return 1; }}"), "g0();"),
        ),
    ]
}

/// What grows where it is expanded.
fn expanding() -> Vec<Case> {
    [calls_that_expand(), types_that_expand(), code_that_expands()].concat()
}

fn calls_that_expand() -> Vec<Case> {
    let bomb = |body: &str| {
        join(30, "\n", |i| {
            let next = format!("f{}(a);", i + 1);
            format!("fn f{i}(a: int) {{ {} }}", body.replace("CALL", &next))
        }) + "\nfn f30(a: int) { LEAF }"
    };
    let silent =
        join(40, "\n", |i| format!("fn f{i}() {{ f{0}(); f{0}(); }}", i + 1)) + "\nfn f40() { }";
    vec![
        ("recursion", of("fn f() { f(); }", "f();")),
        ("mutual recursion", of("fn f() { g(); } fn g() { h(); } fn h() { f(); }", "f();")),
        ("recursion that is never called", of("fn f() { f(); }", "")),
        (
            "recursion in the specification",
            format!(
                "spec {{ state n: int; fn f() {{ f(); }} op read() -> int {{ return n; }} }} {}",
                op("").replace("spec counter;", "")
            ),
        ),
        ("functions twice", of(&bomb("CALL CALL").replace("LEAF", "n = a;"), "f0(1);")),
        (
            "functions twice, locally",
            of(&bomb("let b = a; CALL CALL").replace("LEAF", ""), "f0(1);"),
        ),
        ("functions twice, silently", of(&silent, "f0();")),
        (
            "functions in arguments",
            of(
                &(join(30, "\n", |i| {
                    format!("fn f{i}(a: int) -> int {{ return f{0}(a) + f{0}(a); }}", i + 1)
                }) + "\nfn f30(a: int) -> int { return a; }"),
                "n = f0(1);",
            ),
        ),
        (
            "a function with large locals called often",
            format!(
                "{COUNTER}fn f(a: int) -> int {{ let b: [int; 4096]; b[0] = a; return b[0]; }}\nop read() -> int {{ {} return n; }}",
                "n = f(n); ".repeat(100)
            ),
        ),
        ("many operations that call a large function", many(400, &"n = 1; ".repeat(4000))),
        (
            "a large expression called often",
            format!(
                "{COUNTER}fn f(a: int) -> int {{ return [{}][0]; }}\nop read() -> int {{ {} return n; }}",
                join(4000, ",", |_| "a+a".to_owned()),
                "n = f(n); ".repeat(2000)
            ),
        ),
    ]
}

fn types_that_expand() -> Vec<Case> {
    let big = "record R { a: int, b: int, c: int, d: int, e: int, f: int, g: int, h: int }";
    vec![
        (
            "records twice",
            of(
                &format!(
                    "{}\nrecord R30 {{ x: int }}",
                    join(30, "\n", |i| format!("record R{i} {{ a: R{0}, b: R{0} }}", i + 1))
                ),
                "",
            ),
        ),
        (
            "records in records, outermost first",
            of(
                &format!(
                    "{}\nrecord R900 {{ x: int }}",
                    join(900, "\n", |i| format!("record R{i} {{ a: R{} }}", i + 1))
                ),
                "",
            ),
        ),
        (
            "records in records, innermost first",
            of(
                &format!(
                    "record R0 {{ x: int }}\n{}",
                    join(900, "\n", |i| format!("record R{} {{ a: R{i} }}", i + 1))
                ),
                "",
            ),
        ),
        (
            "records that contain each other",
            of("record A { b: B } record B { c: C? } record C { a: A }", ""),
        ),
        (
            "a record of many",
            of(&format!("record R {{ {} }}", join(10_000, ",", |i| format!("a{i}: int"))), ""),
        ),
        (
            "a tuple of many",
            of(&format!("{big}\nfn f() -> ({}) {{ loop {{ }} }}", "R,".repeat(20_000)), "f();"),
        ),
        (
            "a tuple value of many",
            of(
                &format!("{big}\nshared r: R;"),
                &format!("let x = r; let y = ({});", "x,".repeat(50_000)),
            ),
        ),
        (
            "arrays of arrays",
            format!(
                "spec {{ state n: int; op read() -> int {{ let x = {}; return n; }} }} {}",
                nest("[", "0", "; 4096]", 12),
                op("").replace("spec counter;", "")
            ),
        ),
        ("arrays in arrays", op(&format!("let x = {};", nest("[", "n", "; 4096][0]", 12)))),
        (
            "long arrays in shared memory",
            of(&join(900, "\n", |i| format!("shared a{i}: [int; 4096];")), ""),
        ),
        (
            "long arrays in structs",
            of(
                &join(900, "\n", |i| {
                    format!("struct S{i} {{ {} }}", join(8, ",", |j| format!("a{j}: [int; 4096]")))
                }),
                "",
            ),
        ),
        (
            "long arrays of records",
            of(&format!("{big}\n{}", join(900, "\n", |i| format!("shared a{i}: [R; 4096];"))), ""),
        ),
        ("long local arrays", op(&join(900, " ", |i| format!("let a{i}: [int; 4096];")))),
        (
            "long array literals",
            op(&format!("let a = [0; 4096]; {}", "a=[0;4096]; ".repeat(15_000))),
        ),
        (
            "long array literals of variables",
            op(&format!("let b = 1; let a = [b; 4096]; {}", "a=[b;4096]; ".repeat(15_000))),
        ),
        (
            "tuples of long arrays",
            of(&format!("fn f(x: ({})) {{ }}", "[int; 4096],".repeat(60)), ""),
        ),
    ]
}

fn code_that_expands() -> Vec<Case> {
    let tail = join(900, " ", |i| format!("y = y + {i};"))
        + &join(6, " ", |i| format!("if y == {i} {{ y = 0; }}"));
    let ways = join(250, " ", |i| format!("if x == {i} {{ n = {i}; break; }}"));
    vec![
        (
            "huge arrays",
            of(
                "shared a: [int; 1000000000]; shared b: [int; MAX]; shared c: [int; -1]; shared d: [bool; MIN];",
                "",
            ),
        ),
        (
            "huge bounds",
            of("bounds { threads: 1000000000000, ops: MAX, values: MIN, size: 99999999999 }", ""),
        ),
        (
            "arithmetic that has no result",
            of(
                "param K: int = 1 / 0; param L: int = MIN / -1; param M: int = -MIN; shared a: [int; MAX + 1];",
                "",
            ),
        ),
        (
            "many threads with arrays",
            of("shared a: [int; threads * threads]; bounds { threads: 256 }", ""),
        ),
        (
            "choose from a giant range",
            op("let a = choose(MIN..MAX); let b = choose(0..=MAX); n = choose(a..b);"),
        ),
        ("a giant parameter range", format!("{COUNTER}op add(v: int in MIN..=MAX) {{ n = v; }}")),
        (
            "hundreds of local branches",
            op(&format!(
                "let a = n; let b = 0; {}",
                join(200, " ", |i| format!("if a == {i} {{ b = {i}; }} else {{ b = b + 1; }}"))
            )),
        ),
        (
            "many ways into one long tail",
            op(&format!("let x = n; let y = 0; loop {{ {ways} break; }} {tail}")),
        ),
        (
            "thousands of loops",
            op(&format!("let x = n; {}", "while x > 0 { x = x - 1; } ".repeat(1500))),
        ),
        (
            "many operations with thousands of loops",
            many(20, &format!("let x = n; {}", "while x > 0 { x = x - 1; } ".repeat(1500))),
        ),
        ("thousands of statements", op(&"n = 1; ".repeat(20_000))),
        ("thousands of variables", op(&join(12_000, " ", |i| format!("let v{i} = {i};")))),
        (
            "thousands of temporaries",
            of("fn f() -> (int, int) { return (1, 2); }", &"let (_, _) = f(); ".repeat(10_000)),
        ),
    ]
}

/// A model with these functions, and a reference whose operation has this body.
fn with_reference(functions: &str, body: &str) -> String {
    let model = of(functions, "");
    format!("{model}reference {{ shared m: int; op read() -> int {{ {body} return m; }} }}\n")
}

fn references() -> Vec<Case> {
    let layers = |count: usize, last: &str| {
        join(count, "\n", |i| format!("fn f{i}() {{ f{0}(); f{0}(); }}", i + 1))
            + &format!("\nfn f{count}() {{ {last} }}")
    };
    let large = join(200, "\n", |i| format!("op f{i}() {{ f(); }}"));
    vec![
        ("references in references", nest("reference {", "", "}", 10_000)),
        ("open references", "reference { ".repeat(10_000)),
        ("as many references as fit", "reference { op f() { } } ".repeat(9_000)),
        ("operations of a reference", with_reference("", &"} op f() { ".repeat(15_000))),
        ("a reference that calls through layers", with_reference(&layers(900, "n = 1;"), "f0();")),
        ("a reference that calls twice", with_reference(&layers(40, ""), "f0();")),
        (
            "a reference as large as the model",
            format!(
                "spec {{ {specified} }}\nfn f() {{ let x = 0; {} }}\n{large}\nreference {{ {large} }}",
                "x = x + 1; ".repeat(320),
                specified = join(200, "\n", |i| format!("op f{i}() {{ }}")),
            ),
        ),
        ("recursion in a reference", with_reference("fn f() { g(); } fn g() { f(); }", "f();")),
    ]
}

fn large() -> Vec<Case> {
    let fill = |part: &str| part.repeat((250 << 10) / part.len());
    let name = "a".repeat(100_000);
    vec![
        ("2 MiB of spaces", " ".repeat(2 << 20)),
        ("2 MiB of parentheses", "(".repeat(2 << 20)),
        ("2 MiB of comments", "// nothing\n".repeat(200 << 10)),
        ("as many comments as fit", fill("/* nothing */")),
        ("as many open comments as fit", fill("/*")),
        ("as many NULs as fit", fill("\0")),
        ("20 MiB of operations", "op f() { }\n".repeat(2 << 20)),
        ("as many names as fit", op(&fill("a;"))),
        ("as many semicolons as fit", op(&fill(";"))),
        ("as many braces as fit", fill("{}")),
        ("as many closing braces as fit", fill("}")),
        ("as many operations as fit", fill("op f(){}")),
        ("as many declarations as fit", fill("shared a:int;")),
        ("as many roles as fit", format!("{}role r: {};", op(""), fill("f,"))),
        ("as many bounds as fit", format!("{}bounds {{ {} }}", op(""), fill("ops:1,"))),
        ("as many annotations as fit", op(&format!("{} n = 1;", fill("#[lin]")))),
        ("as many unknown names as fit", op(&join(12_000, " ", |i| format!("x{i} = y{i};")))),
        (
            "as many comparisons of records as fit",
            of(
                "record R { a: int, b: int, c: int, d: int }",
                &format!("let x: R; {}", fill("if x==x{}")),
            ),
        ),
        (
            "as many fields as fit",
            of(&format!("struct S {{ {} }}", join(15_000, ",", |i| format!("a{i}: int"))), ""),
        ),
        (
            "as many given fields as fit",
            of("struct S { a: int }", &format!("let x = new S {{ {} }};", fill("a:1,"))),
        ),
        (
            "as many parameters as fit",
            of(&format!("fn f({}) {{ }}", join(15_000, ",", |i| format!("a{i}: int"))), ""),
        ),
        ("as many arguments as fit", of("fn f(a: int) { }", &format!("f({});", fill("1,")))),
        ("as many elements as fit", op(&format!("let a = [{}];", fill("n,")))),
        ("one long line", op(&"n = 1; ".repeat(1_000))),
        (
            "one long line with a mistake in the middle",
            op(&format!("{} x = 1; {}", fill("n = 1;"), "")),
        ),
        ("a mistake over many lines", op(&format!("n = ({}) == true;", "\n".repeat(200_000)))),
        (
            "long names",
            of(&format!("shared {0}: int;", "b".repeat(90)), &format!("n = {0};", "b".repeat(90))),
        ),
        ("names of 100 kB", of(&format!("shared {name}: int;"), &format!("n = {name}b;"))),
        ("numbers of 100 kB", op(&format!("n = {};", "9".repeat(100_000)))),
    ]
}

fn strange() -> Vec<Case> {
    let model = op("n = 1; // one\n");
    let crlf = model.replace('\n', "\r\n");
    vec![
        ("nothing", String::new()),
        ("only a comment", "// nothing".to_owned()),
        ("only a byte order mark", "\u{feff}".to_owned()),
        ("byte order mark", format!("\u{feff}{model}")),
        ("byte order mark in the middle", model.replace("read", "re\u{feff}ad")),
        ("crlf", crlf.clone()),
        ("byte order mark and crlf", format!("\u{feff}{crlf}")),
        ("only carriage returns in comments", format!("// a\rb\r\n{model}")),
        ("only carriage returns", format!("//! text\n{model}").replace('\n', "\r")),
        ("NUL", "\0".repeat(1000)),
        ("NUL in a model", model.replace("n = 1", "n = \u{0}1")),
        ("NUL in a mistake", model.replace("n = 1", "n = tr\0ue")),
        ("right to left", model.replace("n = 1", "n = \u{202e}1")),
        ("escape sequences", model.replace("n = 1", "n = \u{1b}[31mred")),
        ("names in every script", model.replace("n = 1", "名前 = İ + ﬁ + 𝒳 + e\u{301}")),
        ("wide mistakes", model.replace("n = 1", "🦀🦀🦀 = \u{200b}1")),
        ("mistake at the very end", format!("{model}op")),
        ("mistake at the very end after a line", format!("{model}op\n")),
        ("comment without end of line", format!("{model}//")),
        ("block comment", format!("/* {model} */")),
        ("string", op("n = \"text\";")),
    ]
}
