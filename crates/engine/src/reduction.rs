//! Reductions of the state space: their names, and what each does, said in one place.

/// A reduction of the state space, to be named where it is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reduction {
    /// Dropping garbage and renaming objects.
    CanonicalHeap,
    /// Dropping locals that are not read again.
    DeadLocals,
    /// Dropping fields that no reference can be used to read any more.
    DeadFields,
    /// Threads that are interchangeable.
    ThreadSymmetry,
    /// Values that are interchangeable.
    ValueSymmetry,
    /// Taking steps that no other thread can notice together with the step before.
    PartialOrder,
    /// Taking it that what does not change any more concerns no other thread.
    SettledFields,
    /// Taking steps of any thread that no other can notice at once.
    AmpleSteps,
    /// Taking attempts that are bound to have no effect to their end.
    DoomedAttempts,
    /// Taking attempts whose effect validates what they have read as one transition.
    ValidatedReads,
    /// Taking invocations and responses together with the first and last step.
    MergedEvents,
    /// Keeping of pending stores only the different images that a crash may leave.
    DistinctImages,
    /// Choosing, after a crash, only for lines that can still be reached.
    ReachableImages,
    /// Crashing only where no step makes up for it.
    CrashPoints,
    /// Leaving out states that differ only in what crashes may leave, where they leave no more.
    CoveredCrashes,
    /// Linearizing only when a response needs it.
    JustInTime,
    /// Leaving out states that can do no more than others.
    Antichain,
    /// Leaving out states with fewer calls left than others.
    Calls,
}

impl Reduction {
    /// All of them.
    pub const ALL: [Reduction; 18] = [
        Reduction::CanonicalHeap,
        Reduction::DeadLocals,
        Reduction::DeadFields,
        Reduction::ThreadSymmetry,
        Reduction::ValueSymmetry,
        Reduction::PartialOrder,
        Reduction::SettledFields,
        Reduction::AmpleSteps,
        Reduction::DoomedAttempts,
        Reduction::ValidatedReads,
        Reduction::MergedEvents,
        Reduction::DistinctImages,
        Reduction::ReachableImages,
        Reduction::CrashPoints,
        Reduction::CoveredCrashes,
        Reduction::JustInTime,
        Reduction::Antichain,
        Reduction::Calls,
    ];

    /// As `--without` takes it.
    pub fn name(self) -> &'static str {
        self.described().0
    }

    /// What it does, for people.
    pub fn meaning(self) -> &'static str {
        self.described().1
    }

    fn described(self) -> (&'static str, &'static str) {
        match self {
            Reduction::CanonicalHeap => ("canonical-heap", "Dropping garbage and renaming objects"),
            Reduction::DeadLocals => ("dead-locals", "Dropping locals that are not read again"),
            Reduction::DeadFields => {
                ("dead-fields", "Dropping fields that no reference can be used to read any more")
            }
            Reduction::ThreadSymmetry => ("thread-symmetry", "Threads that are interchangeable"),
            Reduction::ValueSymmetry => ("value-symmetry", "Values that are interchangeable"),
            Reduction::PartialOrder => (
                "partial-order",
                "Taking steps that no other thread can notice together with the step before",
            ),
            Reduction::SettledFields => (
                "settled-fields",
                "Taking it that what does not change any more concerns no other thread",
            ),
            Reduction::AmpleSteps => {
                ("ample-steps", "Taking steps of any thread that no other can notice at once")
            }
            Reduction::DoomedAttempts => {
                ("doomed-attempts", "Taking attempts that are bound to have no effect to their end")
            }
            Reduction::ValidatedReads => (
                "validated-reads",
                "Taking attempts whose effect validates what they have read as one transition",
            ),
            Reduction::MergedEvents => (
                "merged-events",
                "Taking invocations and responses together with the first and last step",
            ),
            Reduction::DistinctImages => (
                "distinct-images",
                "Keeping of pending stores only the different images that a crash may leave",
            ),
            Reduction::ReachableImages => (
                "reachable-images",
                "Choosing, after a crash, only for lines that can still be reached",
            ),
            Reduction::CrashPoints => {
                ("crash-points", "Crashing only where no step makes up for it")
            }
            Reduction::CoveredCrashes => (
                "covered-crashes",
                "Leaving out states that differ only in what crashes may leave, where they leave no more",
            ),
            Reduction::JustInTime => ("just-in-time", "Linearizing only when a response needs it"),
            Reduction::Antichain => {
                ("antichain", "Leaving out states that can do no more than others")
            }
            Reduction::Calls => ("calls", "Leaving out states with fewer calls left than others"),
        }
    }
}
