//! Which access comes when, and what is evaluated how often.

use super::{check, check_with};
use expect_test::expect;

#[test]
fn operands_are_read_from_left_to_right() {
    check(
        "let x = a + b * c;\nif head == head.next { return 1; }",
        expect![[r#"
            read() -> int    line 1
              call     2                              → 1
              1        2  $1 := a                     → 2
              2        2  $2 := b                     → 3
              3        2  $3 := c; x := $1 + $2 * $3  → 4
              4        3  $4 := head                  → 5
              5        3  $6 := head                  → 6
              6        3  $5 := $6.next
                          ├ when $4 == $5             return 1
                          └ when $4 != $5             return 0
        "#]],
    );
}

#[test]
fn a_place_comes_before_the_value() {
    check(
        "head.next = head;\ncells[a] = b;\nhead.next.val = cells[b];",
        expect![[r#"
            read() -> int    line 1
              call     2                   → 1
              1        2  $0 := head       → 2
              2        2  $1 := head       → 3
              3        2  $0.next := $1    → 4
              4        3  $2 := a          → 5
              5        3  $3 := b          → 6
              6        3  cells[$2] := $3  → 7
              7        4  $5 := head       → 8
              8        4  $4 := $5.next    → 9
              9        4  $7 := b          → 10
              10       4  $6 := cells[$7]  → 11
              11       4  $4.val := $6     return 0
        "#]],
    );
}

#[test]
fn what_is_not_needed_is_not_read() {
    check(
        "if a == 1 && b == 2 || c == 3 { return 1; }\nlet x = a == 1 && b == 2;\nlet y = if a == 1 { b } else { 2 };",
        expect![[r#"
            read() -> int    line 1
              call     2                                   → 1
              1        2  $2 := a
                          ├ when $2 == 1                   → 2
                          └ when $2 != 1                   → 3
              2        2  $3 := b
                          ├ when $3 == 2                   return 1
                          └ when $3 != 2                   → 3
              3        2  $4 := c
                          ├ when $4 == 3                   return 1
                          └ when $4 != 3                   → 4
              4        3  $6 := a; $5 := $6 == 1
                          ├ when $5                        → 5
                          └ when !$5; x := $5              → 6
              5        3  $7 := b; $5 := $7 == 2; x := $5  → 6
              6        4  $8 := a
                          ├ when $8 == 1                   → 7
                          └ when $8 != 1; y := 2           return 0
              7        4  y := b                           return 0
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
              call     2                      → 1
              1        2  $1 := head          → 2
              2        2  $2 := b             → 3
              3        2  $3 := b             → 4
              4        2  $4 := c             → 5
              5        2  $5 := c             → 6
              6        2  $6 := a             → 7
              7        2  ok := cas([a, $1.val, cells[$2]], [$3, 1, $4], [2, $5, $6])  → 8
              8        3  $7 := cas(a, 1, 2)
                          ├ when $7           return 0
                          └ when !$7          → 9
              9        3  b := 1              return 0
        "#]],
    );
}

#[test]
fn other_accesses() {
    check(
        "let x = swap(a, b) + faa(c, 1);\nlet l = ll(a);\nif sc(a, l + 1) { b = 1; }\nlock(guard);\nunlock(guard);\nfree(head);\na += b;",
        expect![[r#"
            read() -> int    line 1
              call     2                                 → 1
              1        2  $3 := b                        → 2
              2        2  $2 := swap(a, $3)              → 3
              3        2  $4 := faa(c, 1); x := $2 + $4  → 4
              4        3  l := ll(a)                     → 5
              5        4  $5 := sc(a, l + 1)
                          ├ when $5                      → 6
                          └ when !$5                     → 7
              6        4  b := 1                         → 7
              7        5  lock(guard)                    → 8
              8        6  unlock(guard)                  → 9
              9        7  $6 := head                     → 10
              10       7  free($6)                       → 11
              11       8  $7 := a                        → 12
              12       8  $8 := b                        → 13
              13       8  a := $7 + $8                   return 0
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
              call     2  $3 := mine
                      10  mine := mine + 1; $4 := mine
                       2  x := $3 + $4
                       3  $5 := mine                                       → 1
              1        3  $6 := cells[$5]
                      10  mine := mine + 1; $7 := mine                     → 2
              2        3  cells[$5] := $6 + $7
                       4  y := [mine, mine]
                      10  mine := mine + 1; $index := mine
                       5  $8 := slots; $8[$index] := slots[$index] + mine
                          slots := $8
                       6  $9 := slots; $9[0] := mine; slots := $9
                      10  mine := mine + 1; $10 := mine
                       7  $11 := note; $11.a := $10; note := $11           return 0
        "#]],
    );
}

#[test]
fn records_and_arrays_take_each_value_once() {
    check(
        "pair = Pair { b: a, a: b };\npair = Pair { b: 1, ..pair };\nlet x = [a; 3];\nx[b] += 1;\nlet y = [Pair { a: c, b: 2 }; 2];",
        expect![[r#"
            read() -> int    line 1
              call     2                                           → 1
              1        2  $3 := a                                  → 2
              2        2  $4 := b                                  → 3
              3        2  pair := [$4, $3]                         → 4
              4        3  $5 := pair                               → 5
              5        3  pair := [$5.a, 1]                        → 6
              6        4  $6 := a; x := [$6, $6, $6]               → 7
              7        5  $index := b; x[$index] := x[$index] + 1  → 8
              8        6  $7 := c; $8 := [$7, 2]; y := [$8, $8]    return 0
        "#]],
    );
}

#[test]
fn a_fault_happens_only_where_it_is_written() {
    check(
        "let o: Pair?;\nlet p = pair;\nlet q = if o == none { p } else { Pair { a: 1, ..unwrap(o) } };\nlet ok = p.a != 0 && 1 / p.a == 1;\nlet d = 1 / p.a + b;",
        expect![[r#"
            read() -> int    line 1
              call     2  o := none                                          → 1
              1        3  p := pair
                       4  ├ when o == none; q := p
                       5  │ ok := p.a != 0 && 1 / p.a == 1
                       6  │ $6 := 1 / p.a                                    → 2
                       4  └ when o != none; $5 := unwrap(o); q := [1, $5.b]
                       5    ok := p.a != 0 && 1 / p.a == 1
                       6    $6 := 1 / p.a                                    → 2
              2        6  $7 := b; d := $6 + $7                              return 0
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
              call     2                     → 1
              1        2  $1 := leaf         → 2
              2        2  $0 := $1.next      → 3
              3        2  flush($0.val)      → 4
              4        3  fence              → 5
              5        4  persist(k); fence  return 0

            recover    line 10
              call    10              → 1
              1       10  k := 0      → 2
              2       10  persist(k)  return
        "#]],
    );
}
