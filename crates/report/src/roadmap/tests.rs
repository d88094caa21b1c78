//! What people and scripts read of a roadmap.

use super::fixture::roadmap;
use super::*;
use expect_test::expect;
use linchpin_engine::{Answer, Status};
use linchpin_ir::interpreter::Memory;
use linchpin_verdict::Verdict;

fn with_view<T>(roadmap: &Roadmap, look: impl FnOnce(RoadmapView<'_>) -> T) -> T {
    let answers = [Answer::new("base", Verdict::Inconclusive, "a condition of Theorem 2 fails")];
    let findings = Findings {
        subject: "lazy_set.lin",
        program: None,
        memory: Memory::Collected,
        verdict: Verdict::Inconclusive,
        deciding: answers.first(),
        answers: &answers,
        contradiction: None,
        in_detail: true,
        columns: 100,
    };
    look(RoadmapView { findings, roadmap })
}

#[test]
fn as_markdown() {
    let text = with_view(&roadmap(), |view| view.markdown());
    expect![[r#"
        # The proof roadmap of `lazy_set.lin`

        **inconclusive**: a condition of Theorem 2 fails

        Explored, with 2 threads, 3 operations each, values 1 to 2: 12,345 states, 67 different shared states; all within these bounds.

        A shared state is a base point of a step of an operation if the operation, run alone from that state, takes the step (Definition 2); a base condition of a step is a predicate that only its base points satisfy (Definition 1). If every claim below holds, the object is linearizable (Theorem 2). What was checked holds in every state within the bounds, and is a claim to prove beyond them.

        ## Operations

        | operation | kind | critical sequences, by lines | calls without updates |
        | --- | --- | --- | --- |
        | `contains` | read-only |  |  |
        | `remove` | update | lines 90, 93 | their last read is their critical sequence (Definition 5) |

        ## Well-formed states

        Every shared state that was met has these properties:

        - the list from `head` is sorted by `val`

        ## Stage I: base conditions

        ### `contains`

        Line 38, `return true` (stated): **refuted**

        ```text
        reach(head, next, c) && c.val == e && !exists n: Node { reach(head, next, n) && e <= n.val
            && n.val < c.val }
        ```

        In this state the condition holds, and `contains(1)` alone answers false.

        ```text
        before line 90:
          head → (MIN) → c: (1) → (MAX)
          e = 1
        after line 90:
          head → (MIN) → c: (1, marked) → (MAX)
          e = 1
        ```

        Line 41, `return false` (suggested): checked in 1,234 states; it holds in every base point, so no condition is weaker

        ```text
        c.marked || c.val != e
        ```

        ## Stage II: update operations

        - Definition 6.2: `remove` begins its critical sequence in a base point for all its steps: checked in 50 cases
        - Definition 6.1: Steps of the critical sequence of `remove` commute with those that interleave: never met within these bounds

        In how many transitions each update step preserves the base points of each operation (Definition 3):

        | update step | `contains` | `remove` |
        | --- | --- | --- |
        | `remove`, line 90: `n2.marked = true` | changed in 4 of 24 | preserved in 20 |
        | `remove`, line 93: `n1.next = n2.next` | preserved in 20 | preserved in 20 |

        ## Stage III: read-only operations

        - Theorem 2, condition 1: A call of `remove` has at most one step that does not preserve: **shown for any number of threads and any heap**: in every abstract state
        - Theorem 2, condition 2: When `contains` answers, some state since its call is a base point for that answer: **refuted**

        **Refuted**: Theorem 2, condition 2: When `contains` answers, some state since its call is a base point for that answer.

        In this state the condition holds, and `contains(1)` alone answers false.

        ```text
        before line 90:
          head → (MIN) → c: (1) → (MAX)
          e = 1
        after line 90:
          head → (MIN) → c: (1, marked) → (MAX)
          e = 1
        ```

        Not preserving for `contains`: `remove`, line 90: `n2.marked = true`. In this state the condition holds, and `contains(1)` alone answers false.

        ```text
        before line 90:
          head → (MIN) → c: (1) → (MAX)
          e = 1
        after line 90:
          head → (MIN) → c: (1, marked) → (MAX)
          e = 1
        ```

        ## What is left to prove

        2 claims are refuted: the proof does not go through as it stands. If no run is wrong: the conditions are sufficient, not necessary.

        1. Every reachable shared state: the list from `head` is sorted by `val`
        2. Definition 1, `contains`, line 41: `c.marked || c.val != e` is a base condition of `return false`
        3. Definition 6.2: `remove` begins its critical sequence in a base point for all its steps
        4. Definition 6.1: Steps of the critical sequence of `remove` commute with those that interleave (never met within these bounds)
    "#]].assert_eq(&text);
}

#[test]
fn in_a_few_lines() {
    expect![[r#"
        base:
            refuted: Theorem 2, condition 2: When `contains` answers, some state since its call is a base point for that answer
              In this state the condition holds, and `contains(1)` alone answers false.
                before line 90:  head → (MIN) → c: (1) → (MAX)
                                 e = 1
                after line 90:   head → (MIN) → c: (1, marked) → (MAX)
                                 e = 1
            also refuted: the base condition of `return true`, line 38 of `contains`
            `linchpin roadmap` shows all claims, and the runs that lead there
    "#]].assert_eq(&format!("base:\n{}", brief(&roadmap())));
    let mut fine = roadmap();
    fine.claims.retain(|claim| !matches!(claim.status, Status::Refuted(_)));
    fine.operations[0].conditions.remove(0);
    expect![[r#"
        base:
            2 claims checked, 1 claim shown for any number of threads, none refuted: `linchpin roadmap` says what is left to prove
    "#]].assert_eq(&format!("base:\n{}", brief(&fine)));
}

#[test]
fn as_json() {
    let text = with_view(&roadmap(), |view| view.json());
    let object: Json = serde_json::from_str(&text).expect("JSON");
    assert_eq!(object["verdict"], "inconclusive");
    let roadmap = &object["roadmap"];
    assert_eq!(roadmap["bounds"]["ops"], 3);
    assert_eq!(roadmap["claims"][0]["status"], "explored");
    assert_eq!(roadmap["claims"][0]["cases"], 50);
    let witness = &roadmap["operations"][0]["conditions"][0]["witness"];
    assert_eq!(witness["states"][1]["drawn"][0], "head → (MIN) → c: (1, marked) → (MAX)");
    assert_eq!(witness["states"][1]["nodes"][0]["fields"][1]["value"]["node"], 1);
}

#[test]
fn as_a_page() {
    let page = with_view(&roadmap(), |view| view.page());
    for part in [
        "<h1>linchpin roadmap lazy_set.lin</h1>",
        "<p class=\"verdict open\">",
        "<h2>Stage III: read-only operations</h2>",
        "<strong class=\"tone bad\">refuted</strong>",
        "<title>after line 90</title>",
        "val = 1, marked",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert_eq!(page.matches("<svg").count(), 6);
}
