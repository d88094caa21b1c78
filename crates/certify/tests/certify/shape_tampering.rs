//! Certificates of the shape engine with something changed.
//!
//! What is confirmed of a changed certificate is the same claim about the same model, by a set of
//! states that is closed still: a state that another covers, a target that nothing needs, one more
//! that changes nothing. So the claim must never be confirmed of a model of which it is not so: here
//! are wrong models that look like the right ones, and every certificate of those must be refused.

use crate::shape::{certificate, model};
use fastrand::Rng;
use linchpin_certify::{Sha256, ShapeCertificate, ShapeError};

/// Whether it is refused.
fn is_refused(certificate: &ShapeCertificate) -> bool {
    match certificate.confirm() {
        Ok(_) => false,
        Err(ShapeError::NotConfirmed(_) | ShapeError::Malformed(_)) => true,
        Err(error) => panic!("{error}"),
    }
}

/// One change of a line.
type Change = fn(&str, &mut Rng) -> Option<String>;

/// The changes, each with a name.
const CHANGES: [(&str, Change); 8] = [
    ("a target removed", remove_target),
    ("a target added", add_target),
    ("a phase changed", change_phase),
    ("a seen answer added", add_seen),
    ("an owner added", add_owner),
    ("an owner removed", |line, _| replace_in(line, " own=0", "")),
    ("a lock held or not", change_lock),
    ("a duo-object made uniform or not", change_kind),
];

/// Changes after which a state says something else, not more and not less.
const NEEDED: [&str; 3] = ["a phase changed", "an owner added", "a duo-object made uniform or not"];

fn replace_in(line: &str, from: &str, to: &str) -> Option<String> {
    line.contains(from).then(|| line.replacen(from, to, 1))
}

/// Changes one part of a line that fits.
fn in_part(
    line: &str,
    random: &mut Rng,
    fits: impl Fn(&str) -> bool,
    change: impl FnOnce(&str, &mut Rng) -> String,
) -> Option<String> {
    let mut parts: Vec<String> = line.split(" | ").map(str::to_owned).collect();
    let fitting: Vec<usize> = (0..parts.len()).filter(|at| fits(&parts[*at])).collect();
    let at = *random.choice(&fitting)?;
    parts[at] = change(&parts[at].clone(), random);
    Some(parts.join(" | "))
}

fn is_node(part: &str) -> bool {
    part.starts_with('n')
}

fn remove_target(line: &str, random: &mut Rng) -> Option<String> {
    in_part(
        line,
        random,
        |part| is_node(part) && part.contains(','),
        |part, random| {
            let mut tokens: Vec<String> = part.split(' ').map(str::to_owned).collect();
            let sets: Vec<usize> =
                (0..tokens.len()).filter(|at| tokens[*at].contains(',')).collect();
            let at = *random.choice(&sets).expect("there is one");
            let mut targets: Vec<String> = tokens[at].split(',').map(str::to_owned).collect();
            targets.remove(random.usize(..targets.len()));
            tokens[at] = targets.join(",");
            tokens.join(" ")
        },
    )
}

fn add_target(line: &str, random: &mut Rng) -> Option<String> {
    let nodes = line.split(" | ").filter(|part| is_node(part)).count();
    in_part(
        line,
        random,
        |part| is_node(part) && part.contains("links "),
        |part, random| {
            let target = match random.usize(..=nodes) {
                0 => "null".to_owned(),
                node => format!("n{}", node - 1),
            };
            part.replacen("links ", &format!("links {target},"), 1).replace(",-", "")
        },
    )
}

fn change_phase(line: &str, random: &mut Rng) -> Option<String> {
    let Some(at) = line.find(" post ") else {
        let answer = random.choice(["null", "_", "true"]).expect("there are some");
        return replace_in(line, " args", &format!(" post {answer} args"));
    };
    let rest = &line[at + " post ".len()..];
    let end = rest.find(' ').unwrap_or(rest.len());
    Some(format!("{}{}", &line[..at], &rest[end..]))
}

fn add_seen(line: &str, random: &mut Rng) -> Option<String> {
    let answer = random.choice(["null", "false", "true"]).expect("there are some");
    replace_in(line, " seen", &format!(" seen {answer}"))
}

fn add_owner(line: &str, random: &mut Rng) -> Option<String> {
    let fits = |part: &str| is_node(part) && !part.contains(" own=");
    in_part(line, random, fits, |part, _| {
        part.replacen(" links", " own=0 links", 1).replacen(" lock=", " own=0 lock=", 1)
    })
}

fn change_lock(line: &str, random: &mut Rng) -> Option<String> {
    let holders = ["free", "t0", "other"];
    let to = random.choice(holders).expect("there are some");
    let from =
        holders.into_iter().find(|from| *from != to && line.contains(&format!("lock:{from}")))?;
    replace_in(line, &format!("lock:{from}"), &format!("lock:{to}"))
}

fn change_kind(line: &str, random: &mut Rng) -> Option<String> {
    let fits = |part: &str| is_node(part) && part.contains("uniform");
    in_part(line, random, fits, |part, _| match part.split_once(" twin ") {
        Some((before, _)) => before.replace("nonuniform", "uniform"),
        None => {
            let links = part.split_once(" links ").map_or("", |(_, links)| links);
            format!("{} twin {links}", part.replace("uniform", "nonuniform"))
        }
    })
}

/// A certificate with one change, and in which state, if there is room for it.
fn tampered(
    good: &ShapeCertificate,
    change: Change,
    random: &mut Rng,
) -> Option<(ShapeCertificate, usize)> {
    let mut bad = good.clone();
    for _ in 0..50 {
        let at = random.usize(..bad.states.len());
        if let Some(line) = change(&bad.states[at], random).filter(|line| *line != bad.states[at]) {
            bad.states[at] = line;
            return Some((bad, at));
        }
    }
    None
}

/// Changed certificates: how many of each kind are refused, of how many.
fn campaign(names: &[&str], each: usize, seed: u64) -> Vec<(&'static str, usize, usize)> {
    let mut random = Rng::with_seed(seed);
    let mut counts: Vec<_> = CHANGES.iter().map(|(name, _)| (*name, 0, 0)).collect();
    counts.push(("a state dropped", 0, 0));
    for name in names {
        let good = certificate(&model(name), None).expect("the model is proved");
        assert!(!is_refused(&good), "{name}");
        for _ in 0..each {
            for (at, (name_of_change, change)) in CHANGES.iter().enumerate() {
                let Some((bad, of)) = tampered(&good, *change, &mut random) else { continue };
                let refused = is_refused(&bad);
                counts[at].2 += 1;
                counts[at].1 += usize::from(refused);
                // Where what is said of control or ownership was changed and nothing noticed it,
                // the state was not needed: without it the certificate is one, too.
                if !refused && NEEDED.contains(name_of_change) {
                    let mut without = good.clone();
                    without.states.remove(of);
                    assert!(!is_refused(&without), "{name}: {name_of_change}: state {of}");
                }
            }
            let mut bad = good.clone();
            bad.states.remove(random.usize(..bad.states.len()));
            counts[CHANGES.len()].2 += 1;
            counts[CHANGES.len()].1 += usize::from(is_refused(&bad));
        }
    }
    println!("seed {seed}: {counts:?}");
    counts
}

#[test]
fn what_is_changed_is_noticed() {
    for (name, refused, all) in campaign(&["treiber_stack", "two_lock_queue"], 12, 1) {
        assert!(all >= 10, "{name}: {all}");
        // A target, an answer that was seen or who holds a lock may be said of fewer states than
        // there are, or of more; the others are noticed every time, or nearly.
        assert!(2 * refused >= all || name == "a target removed", "{name}: {refused} of {all}");
    }
}

/// Wrong models that have the same places as the right one, so that its certificate can be read.
const WRONG: [(&str, &str, &str); 14] = [
    ("treiber_stack", "cas(top, t, x)", "cas(top, t, t)"),
    ("treiber_stack", "x.next = t;", "x.next = x;"),
    ("treiber_stack", "let s = t.next;", "let s = t.next.next;"),
    ("treiber_stack", "#[lin] if cas(top, t, s)", "if cas(top, t, s)"),
    ("treiber_stack", "cas(top, t, s)", "cas(top, t, t)"),
    ("treiber_stack", "return none;", "return 1;"),
    ("treiber_stack", "let s = t.next;", "let s = t;"),
    ("two_lock_queue", "let r = s.val;", "let r = h.val;"),
    ("two_lock_queue", "head = s;", "head = h;"),
    ("two_lock_queue", "tail = x;", "tail = t;"),
    ("two_lock_queue", "    lock(t_lock);", "    lock(h_lock);"),
    ("two_lock_queue", "return none;", "return 0;"),
    ("two_lock_queue", "#[lin] t.next = x;", "t.next = x;"),
    ("two_lock_queue", "if s == null", "if s != null"),
];

/// Whatever the states are, a wrong model has no certificate.
#[test]
fn no_certificate_of_a_wrong_model_is_confirmed() {
    let (seed, mut tried) = (2, 0);
    let mut random = Rng::with_seed(seed);
    for (name, from, to) in WRONG {
        let text = model(name);
        assert!(text.contains(from), "{name}: {from}");
        let wrong = text.replace(from, to);
        let mut bad = certificate(&text, None).expect("the right model is proved");
        assert!(certificate(&wrong, None).is_none(), "{name}: {to}");
        (bad.sha256, bad.text) = (Sha256::of(wrong.as_bytes()), wrong);
        assert!(is_refused(&bad), "{name}: {to}");
        for _ in 0..20 {
            let mut worse = bad.clone();
            for _ in 0..random.usize(1..4) {
                let (_, change) = CHANGES[random.usize(..CHANGES.len())];
                worse = tampered(&worse, change, &mut random).map_or(worse, |(worse, _)| worse);
            }
            tried += 1;
            assert!(is_refused(&worse), "{name}: {to}: seed {seed}");
        }
    }
    println!("seed {seed}: {tried} refused");
}

/// The text is that of the certificate: another one has another hash.
#[test]
fn another_text_is_noticed() {
    let mut bad = certificate(&model("treiber_stack"), None).expect("the model is proved");
    bad.text = model("two_lock_queue");
    assert!(matches!(bad.confirm(), Err(ShapeError::OtherText { .. })));
}

/// More threads, other roles: the certificate of one number is none of another.
#[test]
fn other_threads_are_noticed() {
    let two = certificate(&model("two_lock_queue"), Some(2)).expect("the model is proved");
    let mut bad = two.clone();
    bad.threads = linchpin_certify::ShapeThreads::Any;
    assert!(is_refused(&bad));
    let mut bad = two;
    bad.roles = vec![vec!["enqueue".to_owned()]];
    bad.states.truncate(1);
    assert!(is_refused(&bad));
}

/// Programs that are wrong, and that an analysis could take for right if it lost a thread's steps.
const TRAPS: [(&str, &str); 2] = [
    // A shared variable gets the value of a private node: nothing of that thread may be overlooked
    // because a private node has a shared name.
    (
        "a value of a private node is shared",
        "spec stack;
        struct Node { val: int, next: Node }
        shared top: Node = null;
        shared last: int = 0;
        op push(v: int) {
            let g = new Node { val: v };
            last = g.val;
            let x = new Node { val: v };
            let t = top;
            x.next = t;
            #[lin] top = x;
            return;
        }
        op pop() -> int? {
            let g = new Node { val: 0 };
            last = g.val;
            let t = top;
            if t == null { return none; }
            let s = t.next;
            #[lin] top = s;
            return t.val;
        }
        bounds { threads: 2, ops: 3, values: 2 }",
    ),
    // The reference writes a variable of its own: that is a change, and no answer without one.
    (
        "an answer of a reference that changes a variable",
        "spec { state b: bool = false; op tas() -> bool { let o = b; b = true; return o; } }
        reference { shared b: bool = false; op tas() -> bool { let o = b; b = true; return o; } }
        shared x: bool = false;
        op tas() -> bool { let o = x; return false; }
        bounds { threads: 2, ops: 2, values: 2 }",
    ),
];

#[test]
fn traps_are_not_confirmed() {
    for (name, text) in TRAPS {
        for threads in [None, Some(2)] {
            let certificate = certificate(text, threads);
            println!("{name}: {}", if certificate.is_some() { "proved" } else { "not proved" });
            assert!(certificate.is_none_or(|certificate| is_refused(&certificate)), "{name}");
        }
    }
}

/// Models that one thread executes rightly: its states are closed under its own steps, and it takes
/// the steps of others to refuse them.
#[test]
fn what_one_thread_alone_reaches_is_no_certificate_for_many() {
    let names = [
        "treiber_stack_split_push_cas",
        "treiber_stack_split_pop_cas",
        "treiber_stack_pop_stale_next",
        "ms_queue_blind_append",
        "two_lock_queue_tail_lock_gap",
        "two_lock_queue_head_lock_gap",
    ];
    let mut alone = 0;
    for name in names {
        let text = model(&format!("broken/{name}"));
        assert!(certificate(&text, None).is_none(), "{name}");
        let Some(mut one) = certificate(&text, Some(1)) else { continue };
        assert!(!is_refused(&one), "{name}");
        one.threads = linchpin_certify::ShapeThreads::Any;
        assert!(is_refused(&one), "{name}");
        alone += 1;
    }
    println!("{alone} of {} are right with one thread", names.len());
    assert!(alone >= 3, "{alone}");
}
