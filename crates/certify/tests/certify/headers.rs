//! What a certificate says it is about is what is checked: its claim, its text, its specification.

use linchpin_certify::{
    Claim, FileHash, HeaderError, ReductionCertificate, ReductionError, Sha256, header, read_header,
};
use linchpin_reduce::{Options, prove};
use linchpin_verdict::Sequential;
use serde_json::{Value, json};

fn source_of(name: &str) -> String {
    let path = format!("{}/../../models/subop/{name}.subop", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).expect("the model is there")
}

fn certificate_of(source: &str) -> ReductionCertificate {
    let model = linchpin_subop::parse(source).expect("the model parses");
    let found = prove(&model, &Options::default()).certificate().expect("it is proved");
    ReductionCertificate::new("a model".to_owned(), found.model, found.proof)
}

fn read(json: &Value) -> Result<ReductionCertificate, HeaderError> {
    let (claim, json) = read_header(&json.to_string())?;
    assert_eq!(claim, Claim::LinearizableIfSequential);
    ReductionCertificate::read(&json)
}

#[test]
fn a_certificate_is_read_as_it_was_written() {
    let mut certificate = certificate_of(&source_of("treiber_stack"));
    certificate.source =
        Some(FileHash { file: "stack.lin".to_owned(), sha256: Sha256::of(b"spec stack;") });
    certificate.ranges = vec![vec![Some((0, 3))], vec![], vec![]];
    assert_eq!(read(&certificate.to_json()), Ok(certificate.clone()));
    let confirmed = certificate.confirm().expect("it is right");
    assert_eq!(confirmed.spec.as_deref(), Some("stack"));
    assert!(matches!(confirmed.sequential, Sequential::Tried { calls: 2.., .. }), "{confirmed:?}");
}

#[test]
fn forged_headers_are_refused() {
    let good = certificate_of(&source_of("treiber_stack")).to_json();
    let forged = |key: &str, value: Value| {
        let mut json = good.clone();
        json[key] = value;
        read_header(&json.to_string()).map(|(claim, _)| claim)
    };
    assert_eq!(forged("format", json!("other")), Err(HeaderError::NotACertificate));
    assert_eq!(forged("version", json!(3)), Err(HeaderError::OtherVersion(3)));
    assert_eq!(forged("version", json!("2")), Err(HeaderError::Field("version")));
    assert_eq!(forged("claim", json!("proved")), Err(HeaderError::NoSuchClaim("proved".into())));
    assert_eq!(forged("claim", json!("core")), Err(HeaderError::OtherWords(Claim::Core)));
    let claim = Claim::LinearizableIfSequential;
    assert_eq!(
        forged("claim_in_words", json!("linearizable")),
        Err(HeaderError::OtherWords(claim))
    );
    assert_eq!(read_header("Dear diary"), Err(HeaderError::NotJson));
    assert_eq!(read_header("{}"), Err(HeaderError::NotACertificate));
}

/// The text, or what its header says of it, missing or of another type.
#[test]
fn a_header_that_lacks_something_is_refused() {
    let good = certificate_of(&source_of("treiber_stack")).to_json();
    for (key, wrong) in [
        ("model", json!({})),
        ("model", json!({ "name": "a", "text": "", "sha256": "ab12" })),
        ("source", json!({ "file": "a.lin" })),
        ("arguments", json!([[[1]]])),
    ] {
        let mut json = good.clone();
        json[key] = wrong;
        assert_eq!(read(&json), Err(HeaderError::Field(key)), "{key}");
    }
    let mut less = header(Claim::LinearizableIfSequential);
    less.insert("model".to_owned(), good["model"].clone());
    assert_eq!(read(&Value::Object(less)), Err(HeaderError::Field("proof")));
}

#[test]
fn earlier_formats_say_how_to_make_a_new_one() {
    for old in [
        json!({ "format": "linchpin-reduction/1", "model": "int x;" }),
        json!({ "schema": "linchpin/1", "command": "certificate", "witness": [0] }),
    ] {
        let error = read_header(&old.to_string()).expect_err("it has no header");
        assert!(matches!(error, HeaderError::Older(_)), "{error:?}");
        assert!(error.to_string().contains("make a new one with `linchpin "), "{error}");
    }
}

/// The hash ties the certificate to its text: the model, and the specification in it.
#[test]
fn a_changed_text_is_refused() {
    let good = certificate_of(&source_of("treiber_stack"));
    for (from, to) in
        [("return;", "return; "), ("spec stack", "spec queue"), ("top = X", "top = Z")]
    {
        let text = good.text.replacen(from, to, 1);
        assert_ne!(text, good.text, "{from}");
        let changed = ReductionCertificate { text: text.clone(), ..good.clone() };
        let answer = changed.confirm();
        assert!(matches!(answer, Err(ReductionError::OtherText { .. })), "{from}: {answer:?}");
        // With the hash of the changed text, only what is still right is confirmed.
        let sha256 = Sha256::of(text.as_bytes());
        let answer = ReductionCertificate { sha256, ..changed }.confirm();
        assert_eq!(answer.is_ok(), from == "return;", "{from}: {answer:?}");
    }
}

/// Every interleaving is a sequential one, but sequential executions are wrong: the proof alone
/// would be confirmed.
#[test]
fn wrong_sequential_executions_are_refused() {
    for source in [
        // A stack that calls itself a queue.
        source_of("treiber_stack").replace(
            "spec stack {\n    Push = push(v);\n    Pop_empty = pop() -> NULL;\n    Pop_nonempty = pop();",
            "spec queue {\n    Push = enqueue(v);\n    Pop_empty = dequeue() -> NULL;\n    Pop_nonempty = dequeue();",
        ),
        "int x; Add(int v) 1 x = v; return; Get() 1 return x; spec counter { Add = add(v); Get = read(); }"
            .to_owned(),
        // Wrong for one integer of the text only.
        "int x; Write(int v) 1 <v != 100;> x = v; return; Skip(int v) 1 <v == 100;> return; Get() 1 return x;
         spec register(0) { Write = write(v); Skip = write(v); Get = read(); }"
            .to_owned(),
    ] {
        let certificate = certificate_of(&source);
        assert!(linchpin_certify::confirm_reduction(&certificate.text, &certificate.proof).is_ok());
        let answer = certificate.confirm();
        assert!(matches!(answer, Err(ReductionError::SequentiallyWrong(_))), "{answer:?}");
    }
}
