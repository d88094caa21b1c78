//! More than a model needs.

use super::{Mistake, mistake};

pub const ALL: &[Mistake] = &[
    mistake(
        "Too much after inlining",
        "Each of these functions calls the next one ten times, so the operation would have a million steps.",
        "\
spec counter;
shared n: int;
fn f1() { f2(); f2(); f2(); f2(); f2(); f2(); f2(); f2(); f2(); f2(); }
fn f2() { f3(); f3(); f3(); f3(); f3(); f3(); f3(); f3(); f3(); f3(); }
fn f3() { f4(); f4(); f4(); f4(); f4(); f4(); f4(); f4(); f4(); f4(); }
fn f4() { f5(); f5(); f5(); f5(); f5(); f5(); f5(); f5(); f5(); f5(); }
fn f5() { f6(); f6(); f6(); f6(); f6(); f6(); f6(); f6(); f6(); f6(); }
fn f6() { n = 0; n = 1; n = 2; n = 3; n = 4; n = 5; n = 6; n = 7; n = 8; n = 9; }
op add(k: int) { f1(); }
",
    ),
    mistake(
        "Too much memory",
        "Every state of the model holds all of this, and there are many states.",
        "\
spec counter;
struct Block { words: [int; 4096], more: [int; 4096], most: [int; 4096] }
record Wide { a: int, b: int, c: int, d: int, e: int, f: int, g: int, h: int }
shared blocks: [Wide; 4096];
shared others: [Wide; 4096];
op read() -> int { let x: [Wide; 4096]; let y: [Wide; 4096]; let z: [Wide; 4096]; return 0; }
op add(k: int) { let x: [Wide; 4096]; let y: [Wide; 4096]; let z: [Wide; 4096]; }
",
    ),
];
