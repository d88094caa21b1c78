//! Assumption 1 of paper 000, shown instead of tried: the reduction engine shows that every
//! interleaving has the answers of a sequential execution, and the shape analysis of one thread
//! that sequential executions are right, for any number of calls on any heap. Together that is a
//! proof.
//!
//! Only what rests on sequential executions is discharged: that no step fails stays open where the
//! reduction engine has left it open, because it is about concurrent runs.

use linchpin_engine::Answer;
use linchpin_ir::program::Program;
use linchpin_shape::engine::{has_keys, sequentially};
use linchpin_verdict::{Assumption, Limits, Sequential, Verdict};

/// Discharges what rests on sequential executions of this program that were only tried, where one
/// thread is shown to be right.
pub fn discharge(program: &Program, answers: &mut [Answer], limits: &Limits) {
    for answer in answers.iter_mut().filter(|answer| rests_on_trying(answer)) {
        match sequentially(program, limits) {
            Ok(()) => upgrade(program, answer),
            Err(why) => {
                answer.notes.push(format!("nor by the shape analysis of one thread: {why}"))
            }
        }
    }
}

/// Whether sequential executions that were tried are what an answer rests on.
fn rests_on_trying(answer: &Answer) -> bool {
    answer.verdict == Verdict::ProvedIfSequential
        && matches!(answer.sequential(), Some(Sequential::Tried { .. }))
}

/// Takes the assumption about sequential executions out of an answer.
fn upgrade(program: &Program, answer: &mut Answer) {
    answer
        .assumptions
        .retain(|assumption| !matches!(assumption, Assumption::SequentialExecutions(_)));
    if has_keys(program) && !answer.assumptions.contains(&Assumption::KeysBetweenBounds) {
        answer.assumptions.push(Assumption::KeysBetweenBounds);
    }
    let open: Vec<&str> = answer
        .assumptions
        .iter()
        .filter_map(|assumption| match assumption {
            Assumption::NoStepFails { open } => Some(open),
            _ => None,
        })
        .flatten()
        .map(String::as_str)
        .collect();
    let shown = "sequential executions are shown to be right, for any number of calls on any \
                 heap, by the shape analysis of one thread";
    let all = "linearizable for any number of threads, operations and heap objects";
    (answer.verdict, answer.reason) = match open.is_empty() {
        true => (
            Verdict::Proved,
            format!("{all}; {shown}; that they return is checked within bounds only"),
        ),
        false => (
            Verdict::ProvedIfSequential,
            format!("{all} if no step fails, which is not shown of {}; {shown}", open.join(", ")),
        ),
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Verification, load, verify};
    use linchpin_engine::{Language, Request};
    use linchpin_lang::Config;

    fn verified(source: &str, engine: &str) -> Verification {
        let loaded = load("model", source, Language::Lin, &Config::default()).unwrap();
        verify(&loaded, &[engine.to_owned()], &Request::default()).unwrap()
    }

    /// Treiber's stack, with something else in `pop`.
    fn stack(pop: &str, more: &str) -> String {
        format!(
            "spec stack; struct Node {{ val: int, next: Node }} shared top: Node; {more}
            op push(v: int) {{
                let n = new Node {{ val: v }};
                loop {{
                    let t = top;
                    n.next = t;
                    if #[lin] cas(top, t, n) {{ return; }}
                }}
            }}
            op pop() -> int? {{
                loop {{
                    #[lin(when t == null)] let t = top;
                    if t == null {{ return none; }}
                    let s = t.next;
                    {pop}
                    if #[lin] cas(top, t, s) {{ return t.val; }}
                }}
            }}
            bounds {{ threads: 2, ops: 2, values: 2 }}"
        )
    }

    #[test]
    fn a_reduction_whose_one_thread_is_right_is_a_proof() {
        let found = verified(&stack("", ""), "reduce");
        let [answer] = &found.answers[..] else { panic!("{found:?}") };
        assert_eq!(answer.verdict, Verdict::Proved, "{}", answer.reason);
        assert_eq!(answer.sequential(), None);
        assert!(answer.reason.contains("shape analysis of one thread"), "{}", answer.reason);
        assert!(answer.assumptions.contains(&Assumption::Returning), "{:?}", answer.assumptions);
    }

    #[test]
    fn that_no_step_fails_stays_open() {
        let mut answer = Answer::new("reduce", Verdict::ProvedIfSequential, "");
        let tried = Sequential::Tried {
            calls: 6,
            executions: 9,
            integers: vec![1],
            further: Vec::new(),
            all_arguments: true,
        };
        answer.assumptions = vec![
            Assumption::SequentialExecutions(tried),
            Assumption::NoStepFails { open: vec!["line 9 (`s` is null)".to_owned()] },
        ];
        let source = stack("", "");
        let loaded = load("model", &source, Language::Lin, &Config::default()).unwrap();
        discharge(loaded.program().unwrap(), std::slice::from_mut(&mut answer), &Limits::default());
        assert_eq!(answer.verdict, Verdict::ProvedIfSequential);
        assert_eq!(answer.sequential(), None);
        assert!(answer.reason.contains("not shown of line 9"), "{}", answer.reason);
    }

    /// Right for as many calls as are ever tried, wrong one call later.
    #[test]
    fn wrong_at_a_later_call_is_never_upgraded() {
        for calls in [7, 9, 40] {
            // The last of so many nodes in a row is taken for none.
            let source = stack(
                &format!("if t.depth == {calls} {{ return none; }}"),
                "",
            )
            .replace("val: int, next", "val: int, depth: int, next")
            .replace(
                "n.next = t;",
                "n.next = t; if t == null { n.depth = 1; } else { let d = t.depth; n.depth = d + 1; }",
            );
            for engine in ["reduce", "shape"] {
                let found = verified(&source, engine);
                assert_ne!(found.verdict(), Verdict::Proved, "{calls} {engine} {found:?}");
            }
        }
        let counter = include_str!("../../derive/tests/refuted/wrong_at_the_seventh_call.lin");
        assert_ne!(verified(counter, "reduce").verdict(), Verdict::Proved);
    }

    /// A reference with the same mistake as the code does not make it right.
    #[test]
    fn a_reference_block_is_no_specification() {
        let wrong = "spec stack; struct Node { val: int, next: Node } shared top: Node;
            reference {
                shared first: Node;
                op push(v: int) { first = new Node { val: v }; }
                op pop() -> int? {
                    let t = first;
                    if t == null { return none; }
                    first = null;
                    return t.val;
                }
            }
            op push(v: int) { let n = new Node { val: v }; #[lin] top = n; }
            op pop() -> int? {
                #[lin] let t = swap(top, null);
                if t == null { return none; }
                return t.val;
            }
            bounds { threads: 2, ops: 1, values: 1 }";
        for engine in ["reduce", "shape"] {
            let found = verified(wrong, engine);
            assert_ne!(found.verdict(), Verdict::Proved, "{engine} {found:?}");
        }
    }
}
