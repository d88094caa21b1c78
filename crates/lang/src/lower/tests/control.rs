//! Loops, blocks and functions.

use super::{MODEL, check, check_with};
use crate::{Config, compile};
use expect_test::expect;

#[test]
fn an_atomic_block_with_a_loop_is_one_step() {
    check(
        "atomic {\nlet i = 0;\nwhile i < a { i += 1; b = i; }\n}\nc = 1;",
        expect![[r#"
            read() -> int    line 1
              call     2                                    → 1
              1        3  i := 0                            → 1.1
              1.1      4  read a                                      (no turn for others)
                          ├ when i < a; i := i + 1; b := i  → 1.1
                          └ when i >= a                     → 2
              2        6  c := 1                            return 0
        "#]],
    );
}

#[test]
fn jumps_out_of_an_atomic_block_end_it() {
    check(
        "loop {\natomic {\nif a == 1 { break; }\nif a == 2 { continue; }\nif a == 3 { return 3; }\nb = 1;\n}\nc = 2;\n}",
        expect![[r#"
            read() -> int    line 1
              call     3                     → 1
              1        4  read a
                          ├ when a == 1      return 0
                          └ when a != 1
                       5    read a
                            ├ when a == 2    → 1
                            └ when a != 2
                       6      read a
                              ├ when a == 3  return 3
                              └ when a != 3
                       7        b := 1       → 2
              2        9  c := 2             → 1
        "#]],
    );
}

#[test]
fn a_local_loop_belongs_to_the_step_before_it() {
    check(
        "let x = a;\nlet i = 0;\nwhile i < x { i += 1; }\nb = i;",
        expect![[r#"
            read() -> int    line 1
              call     2                            → 1
              1        2  x := a
                       3  i := 0                    → 1.1
              1.1      4  ├ when i < x; i := i + 1  → 1.1     (no turn for others)
                          └ when i >= x             → 2
              2        5  b := i                    return 0
        "#]],
    );
}

#[test]
fn for_counts_and_continue_goes_on() {
    check(
        "for i in 0..a {\nif i == 1 { continue; }\nb = i;\n}\nfor j in 0..=2 { c = j; }",
        expect![[r#"
            read() -> int    line 1
              call     2  i := 0                           → 1
              1        2  end_of_i := a                    → 1.1
              1.1      2  ├ when i < end_of_i                        (no turn for others)
                       3  │ ├ when i == 1
                       2  │ │ i := i + 1                   → 1.1
                       3  │ └ when i != 1                  → 2
                       2  └ when i >= end_of_i
                       6    j := 0; end_of_j := 2
                            ├ when j <= end_of_j           → 3
                            └ when j > end_of_j            return 0
              2        4  b := i
                       2  i := i + 1                       → 1.1
              3        6  c := j
                          ├ when j < end_of_j; j := j + 1
                          │ ├ when j <= end_of_j           → 3
                          │ └ when j > end_of_j            return 0
                          └ when j >= end_of_j             return 0
        "#]],
    );
}

#[test]
fn assume_restricts_the_step_before_it() {
    check(
        "let t = a;\nassume(t == 0);\nassume(b == t);\natomic { assume(c > 0); c -= 1; }",
        expect![[r#"
            read() -> int    line 1
              call     2                                          → 1
              1        2  t := a
                       3  when t == 0                             → 2
              2        4  read b; when b == t                     → 3
              3        5  read c; when c > 0; read c; c := c - 1  return 0
        "#]],
    );
}

#[test]
fn functions_are_inlined_and_return_early() {
    check_with(
        "fn find(k: int) -> (bool, int) {\nlet i = 0;\nwhile i < 3 {\nif cells[i] == k { return (true, i); }\ni += 1;\n}\nreturn (false, 0);\n}",
        "let (found, at) = find(a);\nif found { return at; }",
        expect![[r#"
            read() -> int    line 1
              call     2                                                   → 1
              1        2  read a; k := a
                       7  i := 0
                       8  ├ when i < 3                                     → 2
                          └ when i >= 3
                      12    find_answer := (false, 0)
                       2    found := find_answer.0; at := find_answer.1
                       3    ├ when found                                   return at
                            └ when !found                                  return 0
              2        9  read cells[i]
                          ├ when cells[i] == k; find_answer := [true, i]
                       2  │ found := find_answer.0; at := find_answer.1
                       3  │ ├ when found                                   return at
                          │ └ when !found                                  return 0
                       9  └ when cells[i] != k
                      10    i := i + 1
                       8    ├ when i < 3                                   → 2
                            └ when i >= 3
                      12      find_answer := (false, 0)
                       2      found := find_answer.0; at := find_answer.1
                       3      ├ when found                                 return at
                              └ when !found                                return 0
        "#]],
    );
}

#[test]
fn a_function_that_returns_inside_atomic() {
    check_with(
        "fn take(k: int) -> int {\natomic {\nif a == k { return 1; }\na = k;\n}\nb = 2;\nreturn 3;\n}",
        "let x = take(5);\natomic { c = take(x); }",
        expect![[r#"
            read() -> int    line 1
              call     2  k := 5                           → 1
              1        8  read a
                          ├ when a == k; x := 1            → 2
                          └ when a != k
                       9    a := k                         → 3
              2        3  k := x
                       8  read a
                          ├ when a == k; take_answer := 1
                       3  │ c := take_answer               return 0
                       8  └ when a != k
                       9    a := k
                      11    b := 2
                      12    take_answer := 3
                       3    c := take_answer               return 0
              3       11  b := 2
                      12  x := 3                           → 2
        "#]],
    );
}

#[test]
fn points_follow_the_access() {
    check(
        "#[lin] a = 1;\n#[lin(when x == 0)] let x = b;\n#[lin] if cas(a, 1, 2) { c = 1; }\n#[lin(when returns 0)] let y = c;\n\
         #[lin] atomic { if a == 1 { return 1; } b = 2; }\n#[lin] return a;",
        expect![[r#"
            read() -> int    line 1
              call     2                         → 1
              1        2  a := 1                 → 2       #[lin]
              2        3  x := b                 → 3       #[lin(when x == 0)]
              3        4  cas(a, 1, 2)
                          ├ when it succeeds     → 4       #[lin]
                          └ when it fails        → 5
              4        4  c := 1                 → 5
              5        5  y := c                 → 6       #[lin(when returns 0)]
              6        6  read a
                          ├ when a == 1          return 1  #[lin]
                          └ when a != 1; b := 2  → 7       #[lin]
              7        7  read a                 return a  #[lin]
        "#]],
    );
}

#[test]
fn bases_stand_before_their_statement() {
    check(
        "let x = a;\n#[base(a == x && reach(head, next, null))]\nif x == 0 { return 1; }\n#[base(exists n: Node { n.val == x })] b = 1;",
        expect![[r#"
            read() -> int    line 1
              call     2                 → 1
              1        2  x := a                   #[base(a == x && reach(head, next, null))]
                       4  ├ when x == 0  return 1
                          └ when x != 0  → 2       #[base(exists n: Node { n.val == x })]
              2        5  b := 1         return 0
        "#]],
    );
}

#[test]
fn many_branches_meet_in_nodes_of_their_own() {
    let branches: String = (0..8).map(|i| format!("if x == {i} {{ y += 1; }}\n")).collect();
    let source =
        format!("{MODEL}op read() -> int {{ let x = a; let y = 0; {branches} return y; }}");
    let compiled = compile(&source, &Config::default()).expect("the model is right");
    let body = &compiled.program.operations[0].body;
    assert!(body.nodes.iter().all(|node| node.edges.len() <= 64));
    assert!(body.nodes.len() < 40, "{}", body.nodes.len());
}

#[test]
fn init_and_specification_never_give_a_turn() {
    let source = format!(
        "spec {{ state s: seq<int>; op read() -> int {{ if s.len() == 0 {{ return 0; }} return s[choose(0..s.len())]; }} }}\n\
         init {{ head = new Node {{ val: 1 }}; head.next = head; for i in 0..4 {{ cells[i] = i; }} }}\n\
         op read() -> int {{ return a; }}\n{}",
        MODEL.replace("spec counter;", "")
    );
    let compiled = compile(&source, &Config::default()).expect("the model is right");
    expect![[r#"
        init    line 2
          call       2  new Node { val: 1, next: null }; head := the new Node
                        read head; read head; head.next := head; i := 0
                        end_of_i := 4                                          → call.1
          call.1     2  ├ when i < end_of_i; cells[i] := i; i := i + 1         → call.1  (no turn for others)
                        └ when i >= end_of_i                                   return

        read() -> int    line 3
          call     3          → 1
          1        3  read a  return a
    "#]].assert_eq(&linchpin_ir::print::steps(&compiled.program));
    let linchpin_ir::program::SpecSource::Model(spec) = &compiled.program.spec else {
        panic!("a `spec {{ }}` block is a program")
    };
    expect![[r#"
        read() -> int    line 1
          call     1  read s
                      ├ when s.len() == 0                                      return 0
                      └ when s.len() != 0; read s; read s; choose(0..s.len())  return s[choose(0..s.len())]
    "#]]
    .assert_eq(&linchpin_ir::print::steps(spec));
}

#[test]
fn a_reference_never_gives_a_turn() {
    let source = format!(
        "{MODEL}fn far(x: Node) -> Node {{ while x.next != null {{ #[lin] x = x.next; }} return x; }}\n\
         op read() -> int {{ return a; }}\n\
         reference {{\n\
         shared first: Node; shared guard: lock;\n\
         init {{ first = new Node {{}}; }}\n\
         op read() -> int {{ lock(guard); let x = far(first); unlock(guard); return x.val; }}\n\
         }}"
    );
    let compiled = compile(&source, &Config::default()).expect("the model is right");
    let shown = linchpin_ir::print::steps(&compiled.program);
    expect![[r#"
        : each operation alone and in one go

        init    line 10
          call    10  new Node { val: 0, next: null }; first := the new Node  return

        read() -> int    line 11
          call      11  lock(guard); read first; x := first  → call.1
          call.1     6  read x.next                                        (no turn for others)
                        ├ when x.next != null; x := x.next   → call.1
                        └ when x.next == null; x := x
                    11    unlock(guard); read x.val          return x.val
    "#]]
    .assert_eq(shown.split_once("\nreference").map_or("", |(_, reference)| reference));
}

#[test]
fn a_function_called_by_init_cannot_need_a_thread() {
    for needs in ["mine = 1;", "a = mine;", "lock(guard);", "owner = me;", "a = ll(b);"] {
        let source = format!(
            "{MODEL}shared owner: tid?;\nfn f() {{ {needs} }}\ninit {{ f(); }}\nop read() -> int {{ return a; }}"
        );
        let mistakes = compile(&source, &Config::default()).expect_err(needs);
        assert_eq!(mistakes[0].message, "`init` gets here, and it runs before there are threads");
    }
}
