//! All integration tests of `linchpin-cli`: one binary, so that it is linked once.

mod check;
mod cluster;
mod command_line;
mod disk;
mod docs;
mod edges;
mod explain;
mod flags;
mod folders;
mod histories;
mod logs;
mod lsp;
mod new;
mod page;
mod partial;
mod roadmap;
mod runs;
mod schema;
mod shape;
mod verify;
mod words;
