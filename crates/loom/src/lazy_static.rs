//! As the crate `lazy_static`.

pub use linchpin_sync::lazy::Lazy;
