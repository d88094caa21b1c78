//! Controlled modes: right objects pass, broken ones are found, and what is said about both.

mod again;
mod cancelled;
mod hanging;
mod objects;
mod persistent;
mod recorded;
mod stacks;
mod statics;
mod unseen;
mod waiting;
mod weak;
