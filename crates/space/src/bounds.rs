//! What is explored, and what of it is identified or left out.

use linchpin_ir::domain::Domain;
use linchpin_ir::interpreter::Memory;
use linchpin_ir::program::{Program, RoleCalls};
use linchpin_verdict::{Bound, Calls, Values};

/// What is explored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// The calls of each thread.
    pub calls: Calls,
    /// What clients pass for an `int` parameter without a range.
    pub values: Values,
    /// At most this many heap objects exist at a time; a step that would make one more is not
    /// taken.
    pub objects: Option<usize>,
    /// What `free` and `new` do.
    pub memory: Memory,
    /// How often the system may crash; never if nothing is persistent.
    pub crashes: u8,
    /// How often a thread may crash, all threads together.
    pub thread_crashes: u8,
}

impl Bounds {
    /// The calls of this thread: what the model says for its role, else as all others.
    pub fn calls_of(&self, program: &Program, thread: usize) -> Calls {
        match program.threads[thread].calls {
            Some(RoleCalls::Each(count)) => Calls::Each(u32::from(count)),
            Some(RoleCalls::Unlimited) => Calls::Unlimited,
            None => self.calls,
        }
    }

    /// Whether the calls of this thread come to an end.
    pub fn limits(&self, program: &Program, thread: usize) -> bool {
        self.calls_of(program, thread) != Calls::Unlimited
    }

    /// The bounds of an answer about a program.
    pub fn said(&self, program: &Program) -> Vec<Bound> {
        let threads = &program.threads;
        let mut said = vec![Bound::Threads(threads.len())];
        // Where every role has its own number, none is for all.
        if threads.iter().any(|thread| thread.calls.is_none()) {
            said.push(Bound::Calls(self.calls));
        }
        for (at, thread) in threads.iter().enumerate() {
            let first = threads[..at].iter().all(|other| other.role != thread.role);
            if let (Some(role), Some(_), true) = (&thread.role, thread.calls, first) {
                said.push(Bound::RoleCalls(role.clone(), self.calls_of(program, at)));
            }
        }
        if Domain::depends_on_values(program) {
            said.push(Bound::Values(self.values));
        }
        said.extend(self.objects.map(Bound::Objects));
        if self.crashes > 0 {
            said.push(Bound::Crashes(self.crashes));
        }
        if self.thread_crashes > 0 {
            said.push(Bound::ThreadCrashes(self.thread_crashes));
        }
        said.extend(program.preload_shown().map(Bound::Preload));
        said
    }

    /// Whether anything crashes.
    pub fn has_crashes(&self) -> bool {
        self.crashes > 0 || self.thread_crashes > 0
    }

    /// The same without crashes.
    pub fn without_crashes(self) -> Bounds {
        Bounds { crashes: 0, thread_crashes: 0, ..self }
    }
}

/// What is identified or left out, each exact by itself and together with the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reductions {
    /// Garbage is dropped, objects are renamed.
    pub canonical_heap: bool,
    /// Locals that nothing reads any more are dropped.
    pub dead_locals: bool,
    /// Fields that no reference can be used to read any more are dropped; only in collected memory,
    /// without a bound on objects and without crashes.
    pub dead_fields: bool,
    /// Threads with the same role are interchangeable, where the model treats them so.
    pub thread_symmetry: bool,
    /// Values are interchangeable, where the model and the specification treat them so.
    pub value_symmetry: bool,
    /// A step that no other thread can notice or disturb is taken together with the step before it.
    pub partial_order: bool,
    /// For that, what does not change any more concerns no other thread; only in collected memory
    /// and without crashes.
    pub settled_fields: bool,
    /// Such steps are taken by any thread, together with the step of another; only in collected
    /// memory and without crashes.
    pub ample_steps: bool,
    /// A thread whose attempt is bound to have no effect is taken to the end of it; only in
    /// collected memory and without crashes.
    pub doomed_attempts: bool,
    /// An attempt whose effect validates what it has read is taken as one transition; only in
    /// collected memory, without a bound on objects and without crashes.
    pub validated_reads: bool,
    /// An invocation happens with the first step of its operation, a response with the last.
    pub merged_events: bool,
    /// The pending stores of a line are kept as the different images that they may leave.
    pub distinct_images: bool,
    /// After a crash, an image is chosen only of lines that can still be reached.
    pub reachable_images: bool,
    /// The system crashes only where no step is possible that a crash after it makes up for.
    pub crash_points: bool,
    /// A state is left out if one was met that differs from it only in what crashes may leave, and
    /// of which they may leave more.
    pub covered_crashes: bool,
}

impl Reductions {
    /// All of them.
    pub const ALL: Reductions = Reductions {
        canonical_heap: true,
        dead_locals: true,
        dead_fields: true,
        thread_symmetry: true,
        value_symmetry: true,
        partial_order: true,
        settled_fields: true,
        ample_steps: true,
        doomed_attempts: true,
        validated_reads: true,
        merged_events: true,
        distinct_images: true,
        reachable_images: true,
        crash_points: true,
        covered_crashes: true,
    };
    /// The same without those that take steps of several threads together: for those who count how
    /// often the moving thread changes, or who follow edges.
    pub const fn one_thread_at_a_time(self) -> Reductions {
        Reductions { ample_steps: false, doomed_attempts: false, ..self.one_step_at_a_time() }
    }

    /// The same without those that take steps together which others may come between: for those who
    /// ask about the states in the middle.
    pub const fn one_step_at_a_time(self) -> Reductions {
        Reductions { validated_reads: false, ..self }
    }

    /// None of them.
    pub const NONE: Reductions = Reductions {
        canonical_heap: false,
        dead_locals: false,
        dead_fields: false,
        thread_symmetry: false,
        value_symmetry: false,
        partial_order: false,
        settled_fields: false,
        ample_steps: false,
        doomed_attempts: false,
        validated_reads: false,
        merged_events: false,
        distinct_images: false,
        reachable_images: false,
        crash_points: false,
        covered_crashes: false,
    };
}
