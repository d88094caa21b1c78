//! What the tests share: compiling, and asking the engines.
