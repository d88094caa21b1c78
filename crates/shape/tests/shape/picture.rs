//! What is shown of states, as text.

use expect_test::expect;
use linchpin_engine::Picture;
use linchpin_shape::{Analysis, Found, Options, Threads, analyse, picture};

fn analysed(model: &str, threads: Threads) -> Analysis {
    let path = format!("{}/../../models/{model}.lin", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).expect("a model");
    let mut program =
        linchpin_lang::compile(&text, &Default::default()).expect("it compiles").program;
    program.threads.truncate(1);
    analyse(&program, &Options { threads, ..Options::default() }, &|_| {}).expect("it applies")
}

/// The states in which the thread is at this line, in the order of their text.
fn at_line(pictures: &[Picture], line: u32) -> String {
    let at = |picture: &&Picture| picture.threads[0].at.as_ref().is_some_and(|at| at.1 == line);
    let mut all: Vec<String> =
        pictures.iter().filter(at).map(|picture| picture.lines().join("\n") + "\n").collect();
    all.sort();
    all.join("\n")
}

#[test]
fn the_states_of_treiber_s_stack_before_pop_swaps() {
    let analysis = analysed("treiber_stack", Threads::Those);
    assert!(matches!(analysis.found, Found::Proved));
    let pictures = picture::of_proof(&analysis);
    expect![[r#"
        thread 0: pop(), line 32, after its linearization point, the reference answered n0.val
        n0  duo ~     {top; topʳ; thread 0: t, answerʳ = val}, next → n0

        thread 0: pop(), line 32, after its linearization point, the reference answered n0.val
        top = null, topʳ = null
        n0  duo ~     {thread 0: t, answerʳ = val}, next → null

        thread 0: pop(), line 32, after its linearization point, the reference answered n1.val
        n0  duo ~     {top; topʳ}, next → n0 or n1 or n2* or null
        n1  duo ~     {thread 0: t, answerʳ = val}, next → n0
        n2* duo ~     next → n0 or n1 or n2* or null

        thread 0: pop(), line 32, before its linearization point
        n0  duo ~     {top; topʳ; thread 0: t, s}, next → n0

        thread 0: pop(), line 32, before its linearization point
        n0  duo ~     {top; topʳ; thread 0: t}, next → n1
        n1  duo ~     {thread 0: s}, next → n0 or n1 or n2* or null
        n2* duo ~     next → n0 or n1 or n2* or null

        thread 0: pop(), line 32, before its linearization point; s = null
        n0  duo ~     {top; topʳ; thread 0: t}, next → null
    "#]]
    .assert_eq(&at_line(&pictures, 32));
}

#[test]
fn a_trace_ends_with_what_cannot_be_explained() {
    let analysis = analysed("broken/treiber_stack_split_push_cas", Threads::Any);
    let Found::Failed(trace) = &analysis.found else { panic!("{:?}", analysis.found) };
    let pictures = picture::of_trace(&analysis, trace);
    assert!((2..=picture::MOST).contains(&pictures.len()), "{}", pictures.len());
    let (last, before) = pictures.split_last().expect("a picture");
    assert_eq!(last.failure, Some(trace.failure.cause.to_string()));
    assert!(before.iter().all(|picture| picture.failure.is_none()));
    // The write that is not a swap is on the way, and writes to private nodes are left out.
    let captions: Vec<String> =
        pictures.iter().filter_map(|picture| Some(picture.next.as_ref()?.caption())).collect();
    assert_eq!(captions.len(), pictures.len());
    assert!(
        captions.iter().any(|caption| caption.ends_with("push · line 23: top := x")),
        "{captions:?}"
    );
    assert!(!captions.iter().any(|caption| caption.contains("x.next")), "{captions:?}");
}
