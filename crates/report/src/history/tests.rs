use super::*;

fn moment(rank: u32) -> Moment {
    Moment { rank, line: Some(u64::from(rank) + 1), time: Some(i64::MAX - 10 + i64::from(rank)) }
}

/// A history of one operation, in which every text is this one.
fn saying(text: &str) -> HistoryView {
    let text = text.to_owned();
    let operation = OperationView {
        id: 0,
        process: 0,
        function: 0,
        key: Some(0),
        argument: text.clone(),
        answer: Some(text.clone()),
        from: moment(0),
        to: Some(moment(1)),
    };
    let order = OrderView {
        key: Some(0),
        complete: false,
        operations: vec![0],
        initial: Some(text.clone()),
        states: vec![Some(text.clone())],
    };
    let violation = ViolationView {
        key: Some(0),
        explanation: text.clone(),
        core: vec![0],
        event: Some(Unexplained { at: moment(1), operation: Some(0) }),
        possible: vec![text.clone()],
    };
    let key = KeyView {
        name: text.clone(),
        verdict: Some(Verdict::Violated),
        operations: 1,
        line: Some(1),
    };
    let band = BandView { text: text.clone(), from: moment(0), to: None, instant: false };
    HistoryView {
        title: text.clone(),
        about: text.clone(),
        verdict: Verdict::Violated,
        headline: text.clone(),
        sentences: vec![text.clone()],
        facts: vec![(text.clone(), text.clone())],
        assumptions: vec![text.clone()],
        notes: vec![text.clone()],
        left_out: vec![text.clone()],
        processes: vec![text.clone()],
        functions: vec![text.clone()],
        keys: vec![key],
        events: 2,
        operations: vec![operation],
        orders: vec![order],
        violations: vec![violation],
        crashes: vec![CrashView { at: moment(1), process: None }],
        bands: vec![band],
    }
}

#[test]
fn no_value_ends_the_script_or_begins_a_comment() {
    let plain = saying("x").page();
    for nasty in ["</script>", "<!--", "<script>alert(1)</script>", "]]>", "{{script}}", "{{data}}"]
    {
        let page = saying(nasty).page();
        for mark in ["</script", "<script", "<!--"] {
            assert_eq!(page.matches(mark).count(), plain.matches(mark).count(), "{nasty}: {mark}");
        }
    }
}

#[test]
fn what_would_act_is_shown() {
    let page = saying("a\u{202e}b\u{1b}[2J").page();
    assert!(!page.contains(['\u{202e}', '\u{1b}']));
    assert!(page.contains("a\\\\u{202e}b\\\\u{1b}[2J"));
}

#[test]
fn times_are_counted_from_the_first() {
    let json = saying("x").to_json();
    assert_eq!(json["origin"], i64::MAX - 10);
    assert_eq!(json["operations"]["from_time"][0], 0);
    assert_eq!(json["operations"]["to_time"][0], 1);
    assert_eq!(json["crashes"][0]["at"]["time"], 1);
}

#[test]
fn every_text_is_there_once() {
    let json = saying("x").to_json();
    assert_eq!(json["texts"], serde_json::json!(["x"]));
    assert_eq!(json["operations"]["argument"], json["operations"]["answer"]);
}
