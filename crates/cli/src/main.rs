//! The `linchpin` command.
fn main() {}
