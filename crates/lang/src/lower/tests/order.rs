//! Which access comes when, and what is evaluated how often.

use super::{check, check_with};
use expect_test::expect;

#[test]
fn operands_are_read_from_left_to_right() {
    check(
        "let x = a + b * c;\nif head == head.next { return 1; }",
        expect![[r#"
            read() -> int    line 1
              call     2                            → 1
              1        2  read a                    → 2
              2        2  read b                    → 3
              3        2  read c; x := a + b * c    → 4
              4        3  read head                 → 5
              5        3  read head                 → 6
              6        3  read head.next
                          ├ when head == head.next  return 1
                          └ when head != head.next  return 0
        "#]],
    );
}

#[test]
fn a_place_comes_before_the_value() {
    check(
        "head.next = head;\ncells[a] = b;\nhead.next.val = cells[b];",
        expect![[r#"
            read() -> int    line 1
              call     2                             → 1
              1        2  read head                  → 2
              2        2  read head                  → 3
              3        2  head.next := head          → 4
              4        3  read a                     → 5
              5        3  read b                     → 6
              6        3  cells[a] := b              → 7
              7        4  read head                  → 8
              8        4  read head.next             → 9
              9        4  read b                     → 10
              10       4  read cells[b]              → 11
              11       4  head.next.val := cells[b]  return 0
        "#]],
    );
}

#[test]
fn what_is_not_needed_is_not_read() {
    check(
        "if a == 1 && b == 2 || c == 3 { return 1; }\nlet x = a == 1 && b == 2;\nlet y = if a == 1 { b } else { 2 };",
        expect![[r#"
            read() -> int    line 1
              call     2                                     → 1
              1        2  read a
                          ├ when a == 1                      → 2
                          └ when a != 1                      → 3
              2        2  read b
                          ├ when b == 2                      return 1
                          └ when b != 2                      → 3
              3        2  read c
                          ├ when c == 3                      return 1
                          └ when c != 3                      → 4
              4        3  read a; test := a == 1
                          ├ when test                        → 5
                          └ when !test; x := test            → 6
              5        3  read b; test := b == 2; x := test  → 6
              6        4  read a
                          ├ when a == 1                      → 7
                          └ when a != 1; y := 2              return 0
              7        4  y := b                             return 0
        "#]],
    );
}

#[test]
fn local_conditions_are_no_branches_of_their_own() {
    check(
        "let x = a;\nif x > 0 && x < 3 || !(x == 5) { b = x; }",
        expect![[r#"
            read() -> int    line 1
              call     2                                         → 1
              1        2  x := a
                       3  ├ when x > 0 && x < 3 || !(x == 5)     → 2
                          └ when !(x > 0 && x < 3 || !(x == 5))  return 0
              2        3  b := x                                 return 0
        "#]],
    );
}

#[test]
fn multi_word_cas() {
    check(
        "let ok = cas([a, head.val, cells[b]], [b, 1, c], [2, c, a]);\nif !cas(a, 1, 2) { b = 1; }",
        expect![[r#"
            read() -> int    line 1
              call     2                                                            → 1
              1        2  read head                                                 → 2
              2        2  read b                                                    → 3
              3        2  read b                                                    → 4
              4        2  read c                                                    → 5
              5        2  read c                                                    → 6
              6        2  read a                                                    → 7
              7        2  ok := cas([a, head.val, cells[b]], [b, 1, c], [2, c, a])  → 8
              8        3  cas(a, 1, 2)
                          ├ when it succeeds                                        return 0
                          └ when it fails                                           → 9
              9        3  b := 1                                                    return 0
        "#]],
    );
}

#[test]
fn other_accesses() {
    check(
        "let x = swap(a, b) + faa(c, 1);\nlet l = ll(a);\nif sc(a, l + 1) { b = 1; }\nlock(guard);\nunlock(guard);\nfree(head);\na += b;",
        expect![[r#"
            read() -> int    line 1
              call     2                                          → 1
              1        2  read b                                  → 2
              2        2  swap(a, b)                              → 3
              3        2  faa(c, 1); x := swap(a, b) + faa(c, 1)  → 4
              4        3  l := ll(a)                              → 5
              5        4  sc(a, l + 1)
                          ├ when it succeeds                      → 6
                          └ when it fails                         → 7
              6        4  b := 1                                  → 7
              7        5  lock(guard)                             → 8
              8        6  unlock(guard)                           → 9
              9        7  read head                               → 10
              10       7  free(head)                              → 11
              11       8  read a                                  → 12
              12       8  read b                                  → 13
              13       8  a := a + b                              return 0
        "#]],
    );
}

#[test]
fn a_call_changes_no_value_that_was_taken_before() {
    check_with(
        "fn next() -> int { mine += 1; return mine; }",
        "let x = mine + next();\ncells[mine] += next();\nlet y = [mine; 2];\nslots[next()] += mine;\nslots[0] = mine;\nnote.a = next();",
        expect![[r#"
            read() -> int    line 1
              call     2  kept := mine
                      10  mine := mine + 1; next_answer := mine
                       2  x := kept + next_answer
                       3  kept := mine                                       → 1
              1        3  read cells[kept]
                      10  mine := mine + 1; next_answer := mine              → 2
              2        3  cells[kept] := cells[kept] + next_answer
                       4  y := [mine, mine]
                      10  mine := mine + 1; index := mine
                       5  copy := slots; copy[index] := slots[index] + mine
                          slots := copy
                       6  copy := slots; copy[0] := mine; slots := copy
                      10  mine := mine + 1; next_answer := mine
                       7  copy := note; copy.a := next_answer; note := copy  return 0
        "#]],
    );
}

#[test]
fn records_and_arrays_take_each_value_once() {
    check(
        "pair = Pair { b: a, a: b };\npair = Pair { b: 1, ..pair };\nlet x = [a; 3];\nx[b] += 1;\nlet y = [Pair { a: c, b: 2 }; 2];",
        expect![[r#"
            read() -> int    line 1
              call     2                                             → 1
              1        2  read a                                     → 2
              2        2  read b                                     → 3
              3        2  pair := [b, a]                             → 4
              4        3  read pair                                  → 5
              5        3  pair := [pair.a, 1]                        → 6
              6        4  read a; x := [a, a, a]                     → 7
              7        5  index := b; x[index] := x[index] + 1       → 8
              8        6  read c; kept := [c, 2]; y := [kept, kept]  return 0
        "#]],
    );
}

#[test]
fn a_fault_happens_only_where_it_is_written() {
    check(
        "let o: Pair?;\nlet p = pair;\nlet q = if o == none { p } else { Pair { a: 1, ..unwrap(o) } };\nlet ok = p.a != 0 && 1 / p.a == 1;\nlet d = 1 / p.a + b;",
        expect![[r#"
            read() -> int    line 1
              call     2  o := none                                              → 1
              1        3  p := pair
                       4  ├ when o == none; q := p
                       5  │ ok := p.a != 0 && 1 / p.a == 1
                       6  │ kept := 1 / p.a                                      → 2
                       4  └ when o != none; kept := unwrap(o); q := [1, kept.b]
                       5    ok := p.a != 0 && 1 / p.a == 1
                       6    kept := 1 / p.a                                      → 2
              2        6  read b; d := kept + b                                  return 0
        "#]],
    );
}

#[test]
fn flushes_and_fences_are_steps() {
    check_with(
        "persistent struct Leaf { val: int, next: Leaf }\npersistent shared leaf: Leaf;\n\
         persistent shared k: int;\nrecover { k = 0; persist(k); }",
        "flush(leaf.next.val);\nfence;\natomic { persist(k); fence; }",
        expect![[r#"
            read() -> int    line 1
              call     2                        → 1
              1        2  read leaf             → 2
              2        2  read leaf.next        → 3
              3        2  flush(leaf.next.val)  → 4
              4        3  fence                 → 5
              5        4  persist(k); fence     return 0

            recover    line 10
              call    10              → 1
              1       10  k := 0      → 2
              2       10  persist(k)  return
        "#]],
    );
}
