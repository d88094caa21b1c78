//! Bytes and UTF-16 columns.

use crate::position::LineIndex;
use lsp_types::Position;

fn at(line: u32, character: u32) -> Position {
    Position { line, character }
}

#[test]
fn columns_are_utf_16_code_units() {
    // One byte and unit, two bytes and one unit, four bytes and two units.
    let text = "aé𝄞b\nx";
    let lines = LineIndex::new(text);
    for (offset, column) in [(0, 0), (1, 1), (3, 2), (7, 4), (8, 5)] {
        assert_eq!(lines.position(text, offset), at(0, column));
        assert_eq!(lines.offset(text, at(0, column)), offset);
    }
    assert_eq!(lines.offset(text, at(0, 3)), 3, "inside the pair counts as before it");
    assert_eq!(lines.position(text, 5), at(0, 2), "inside the character counts as its start");
}

#[test]
fn positions_outside_count_as_the_nearest_inside() {
    let text = "one\ntwo";
    let lines = LineIndex::new(text);
    assert_eq!(lines.offset(text, at(0, 99)), 3);
    assert_eq!(lines.offset(text, at(1, u32::MAX)), 7);
    assert_eq!(lines.offset(text, at(u32::MAX, 0)), 7);
    assert_eq!(lines.position(text, 99), at(1, 3));
}

#[test]
fn all_three_line_endings_end_a_line() {
    let text = "a\r\nb\rc\nd";
    let lines = LineIndex::new(text);
    let starts: Vec<usize> = (0..4).map(|line| lines.offset(text, at(line, 0))).collect();
    assert_eq!(starts, [0, 3, 5, 7]);
    assert_eq!(lines.offset(text, at(0, 9)), 1, "the ending is not part of the line");
}
