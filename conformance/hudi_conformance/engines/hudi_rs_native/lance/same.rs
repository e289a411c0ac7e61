//! The names of this crate that hudi-core uses, see `lance/core/lib.rs`.

pub use lance_core::*;
