//! How operators, questions and changes are written, and how tightly operators bind.

use crate::program::{BinaryOp, Method, Query, UnaryOp};
use std::fmt;

/// How tightly the operators bind, from loosest to tightest.
pub(super) mod level {
    pub const ANY: u8 = 0;
    pub const UNARY: u8 = 10;
    pub const POSTFIX: u8 = 11;
}

pub(super) fn parenthesize(text: String, level: u8, outer: u8) -> String {
    if level < outer { format!("({text})") } else { text }
}

pub(super) fn is_equality(operator: BinaryOp) -> bool {
    matches!(operator, BinaryOp::Equal | BinaryOp::NotEqual)
}

/// The comparison that holds exactly where this one does not.
pub(super) fn negated(operator: BinaryOp) -> Option<BinaryOp> {
    Some(match operator {
        BinaryOp::Equal => BinaryOp::NotEqual,
        BinaryOp::NotEqual => BinaryOp::Equal,
        BinaryOp::Less => BinaryOp::GreaterEqual,
        BinaryOp::LessEqual => BinaryOp::Greater,
        BinaryOp::Greater => BinaryOp::LessEqual,
        BinaryOp::GreaterEqual => BinaryOp::Less,
        _ => return None,
    })
}

/// How tightly an operator binds, and how tightly its sides must at least: operators of the same
/// level group to the left, comparisons do not group.
pub(super) fn levels(operator: BinaryOp) -> (u8, [u8; 2]) {
    match operator {
        BinaryOp::Or => (1, [1, 2]),
        BinaryOp::And => (2, [2, 3]),
        BinaryOp::Equal
        | BinaryOp::NotEqual
        | BinaryOp::Less
        | BinaryOp::LessEqual
        | BinaryOp::Greater
        | BinaryOp::GreaterEqual => (3, [4, 4]),
        BinaryOp::BitOr => (4, [4, 5]),
        BinaryOp::BitXor => (5, [5, 6]),
        BinaryOp::BitAnd => (6, [6, 7]),
        BinaryOp::ShiftLeft | BinaryOp::ShiftRight => (7, [7, 8]),
        BinaryOp::Add | BinaryOp::Subtract => (8, [8, 9]),
        BinaryOp::Multiply | BinaryOp::Divide | BinaryOp::Remainder => (9, [9, 10]),
    }
}

impl fmt::Display for UnaryOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            UnaryOp::Not => "!",
            UnaryOp::Negate => "-",
            UnaryOp::ThreadNumber => "int",
        })
    }
}

impl fmt::Display for BinaryOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            BinaryOp::Add => "+",
            BinaryOp::Subtract => "-",
            BinaryOp::Multiply => "*",
            BinaryOp::Divide => "/",
            BinaryOp::Remainder => "%",
            BinaryOp::Equal => "==",
            BinaryOp::NotEqual => "!=",
            BinaryOp::Less => "<",
            BinaryOp::LessEqual => "<=",
            BinaryOp::Greater => ">",
            BinaryOp::GreaterEqual => ">=",
            BinaryOp::And => "&&",
            BinaryOp::Or => "||",
            BinaryOp::BitAnd => "&",
            BinaryOp::BitOr => "|",
            BinaryOp::BitXor => "^",
            BinaryOp::ShiftLeft => "<<",
            BinaryOp::ShiftRight => ">>",
        })
    }
}

impl fmt::Display for Query {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Query::Len => "len",
            Query::Contains => "contains",
            Query::Get => "get",
            Query::First => "first",
            Query::Last => "last",
        })
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Method::PushBack => "push_back",
            Method::PushFront => "push_front",
            Method::PopBack => "pop_back",
            Method::PopFront => "pop_front",
            Method::Insert => "insert",
            Method::Remove => "remove",
            Method::Put => "put",
            Method::RemoveAt => "remove_at",
        })
    }
}
