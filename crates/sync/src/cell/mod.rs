//! As `std::cell`, with accesses that an execution sees: two that race are an error.

#[expect(clippy::module_inception, reason = "one file a primitive")]
mod cell;
mod once_cell;
mod unsafe_cell;

pub use cell::Cell;
pub use once_cell::OnceCell;
pub use std::cell::{BorrowError, BorrowMutError, Ref, RefCell, RefMut};
pub use unsafe_cell::{Access, UnsafeCell};
