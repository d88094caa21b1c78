//! certify
