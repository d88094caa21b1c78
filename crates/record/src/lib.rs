//! Recording real threads: what they called, what they were answered, in which order.
//!
//! [`Recorder`] is what people use. [`Clock`] is where the order comes from, [`Log`] what one
//! thread did, [`history`](fn@history) what the logs make. [`pin`] and [`block_on`](fn@block_on)
//! are for tests that run threads of their own.

mod block_on;
mod clock;
mod history;
pub mod pin;
mod recorder;
mod value;

pub use block_on::block_on;
pub use clock::Clock;
pub use history::{Entry, Log, history};
pub use recorder::{Process, Recorder};
pub use value::ToValue;
