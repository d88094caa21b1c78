//! What the header of a bundled model promises about its verdict.
//!
//! ```text
//! //! Expected: not linearizable
//! //! Expected: linearizable; with reuse: fault
//! //! With crashes: not durable
//! ```

use linchpin_ir::interpreter::Memory;
use linchpin_verdict::Verdict;

/// What a header promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expectation {
    /// Nothing is wrong.
    Right,
    /// Something is wrong.
    Wrong,
}

impl Expectation {
    /// Reads the header of a `.lin` model; `None` if it promises nothing that is understood.
    /// `crashes` says whether there may be some, if the model has them.
    pub fn read(text: &str, memory: Memory, crashes: bool) -> Option<Expectation> {
        let lines = text.lines().map_while(|line| line.strip_prefix("//!")).map(str::trim);
        let promised = lines.clone().find_map(|line| line.strip_prefix("Expected:"))?.trim();
        let not_durable = |line: &str| {
            let with = line.strip_prefix("With crashes:").map(str::trim);
            with.is_some_and(|with| with.starts_with("not durable"))
        };
        let mut parts = promised.split("; ");
        let first = match parts.next()? {
            "linearizable" => Expectation::Right,
            "not linearizable" => Expectation::Wrong,
            _ => return None,
        };
        let with = match memory {
            Memory::Collected => None,
            Memory::Reuse => parts.find_map(|part| part.strip_prefix("with reuse: ")),
            Memory::TypeStable => parts.find_map(|part| part.strip_prefix("with type-stable: ")),
        };
        let wrong = with.is_some_and(|with| with != "linearizable")
            || (crashes && lines.clone().any(not_durable));
        Some(if wrong { Expectation::Wrong } else { first })
    }

    /// Whether a verdict is the one that is promised.
    pub const fn is_met(self, verdict: Verdict) -> bool {
        match (self, verdict) {
            (_, Verdict::Inconclusive) => false,
            (Expectation::Wrong, verdict) => matches!(verdict, Verdict::Violated),
            (Expectation::Right, verdict) => !matches!(verdict, Verdict::Violated),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_read() {
        let read = |line: &str, memory| {
            Expectation::read(
                &format!("//! A stack.\n//!\n//! Expected: {line}\n\nspec"),
                memory,
                true,
            )
        };
        use Memory::{Collected, Reuse, TypeStable};
        assert_eq!(read("linearizable", Collected), Some(Expectation::Right));
        assert_eq!(read("linearizable; points wrong", Collected), Some(Expectation::Right));
        assert_eq!(read("not linearizable", Collected), Some(Expectation::Wrong));
        assert_eq!(read("linearizable; with reuse: fault", Reuse), Some(Expectation::Wrong));
        assert_eq!(read("linearizable; with reuse: fault", Collected), Some(Expectation::Right));
        let stable = "linearizable; with reuse: fault; with type-stable: linearizable";
        assert_eq!(read(stable, Reuse), Some(Expectation::Wrong));
        assert_eq!(read(stable, TypeStable), Some(Expectation::Right));
        assert_eq!(read("perhaps", Collected), None);
        assert_eq!(Expectation::read("spec stack;", Collected, true), None);
        let crashed = "//! Expected: linearizable\n//! With crashes: not durable";
        assert_eq!(Expectation::read(crashed, Collected, true), Some(Expectation::Wrong));
        assert_eq!(Expectation::read(crashed, Collected, false), Some(Expectation::Right));
        // Durability is what the verdict is about, unless another condition is asked for.
        let durable = "//! Expected: linearizable\n//! With crashes: not detectable";
        assert_eq!(Expectation::read(durable, Collected, true), Some(Expectation::Right));
    }

    #[test]
    fn nothing_is_met_by_what_was_not_decided() {
        for expected in [Expectation::Right, Expectation::Wrong] {
            assert!(!expected.is_met(Verdict::Inconclusive));
        }
        assert!(Expectation::Right.is_met(Verdict::Proved));
        assert!(!Expectation::Right.is_met(Verdict::Violated));
        assert!(!Expectation::Wrong.is_met(Verdict::HoldsWithinBounds));
    }
}
