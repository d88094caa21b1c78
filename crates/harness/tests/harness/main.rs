//! Tests of the harness: its forms, objects that are broken and objects that are not.

mod broken;
mod correct;
mod failures;
mod forms;
mod judged;
mod lin;
mod scenarios;
mod waiting;
