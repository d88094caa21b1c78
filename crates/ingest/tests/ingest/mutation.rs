//! Whatever the bytes, a reader answers: a recording or an error, and never a panic.

use crate::common;

use common::*;
use linchpin_ingest::{FailedCas, Format, NilReads, Order, ReadOptions, Reader, read_bytes};
use linchpin_spec::builtin;
use std::io::Write;

const FASTLIN: &str = "# queue\nenq 1 1 4\nenq 2 4 5\ndeq 1 5 6\npeek -1 7 9\n";

const LIMO: &str = "# @object atomic-queue\n[1] call enq(1)\n[2] call deq\n[1] return\n\
    [2] return 1\ncrash\n[3] call add 4\n[3] return\n[2] call rem\n[2] return empty\n";

const KV: &str = "{:process 0, :type :invoke, :f :append, :key \"k\", :value \"x 0 y\"}\n\
    {:process 1, :type :invoke, :f :get, :key \"j\", :value nil}\n\
    {:process 0, :type :ok, :f :append, :key \"k\", :value \"x\\n\\u00e9 0 y\"}\n\
    {:process 1, :type :ok, :f :get, :key \"j\", :value \"\"}\n";

const ETCD: &str = r#"{"ClientId":1,"Input":{"Type":"txn","Txn":{"Conditions":[{"Key":"k","ExpectedRevision":2,"ExpectedVersion":0}],"OperationsOnSuccess":[{"Type":"put-operation","Put":{"Key":"k","Value":{"Value":"v"},"LeaseID":3}},{"Type":"delete-operation","Delete":{"Key":"k"}}],"OperationsOnFailure":[{"Type":"range-operation","Range":{"Start":"a","End":"z","Limit":1}}]}},"Call":5,"Output":{"Txn":{"Failure":true,"Results":[{"KVs":[{"Key":"k","Value":{"Hash":7},"ModRevision":3,"Version":1}],"Count":1}]},"Revision":3,"Error":""},"Return":9}
{"ClientId":2,"Input":{"Type":"range","Range":{"Start":"k","Revision":2}},"Call":6,"Output":{"Error":"timeout"},"Return":0}
{"ClientId":3,"Input":{"Type":"compact","Compact":{"Revision":2}},"Call":6,"Output":{"ClientError":"mvcc: required revision has been compacted","Error":""},"Return":8}
"#;

const S2: &str = r#"{"event":{"Start":{"Append":{"num_records":2,"set_fencing_token":"a","fencing_token":null,"match_seq_num":0}}},"client_id":1,"op_id":1}
{"event":{"Start":"CheckTail"},"client_id":2,"op_id":2}
{"event":{"Finish":{"Success":{"tail":2}}},"client_id":1,"op_id":1}
{"event":{"Finish":"CheckTailFailure"},"client_id":2,"op_id":2}
"#;

const TIPOCKET: &str = r#"{"action":"dump","proc":0,"time":"2020-05-01T10:00:00Z","data":[{"K":1,"V":5}]}
{"action":"call","proc":1,"time":"2020-05-01T10:00:01Z","data":{"Op":0,"Key":1,"Val":0}}
{"action":"nemesis","proc":-1,"time":"2020-05-01T10:00:02Z","data":"partition"}
{"action":"return","proc":1,"time":"2020-05-01T10:00:03Z","data":{"Val":5,"Unknown":false}}
"#;

/// Bytes that mean something in some format.
const TELLING: &[&[u8]] = &[
    b"\"",
    b"\\",
    b"{",
    b"}",
    b"[",
    b"]",
    b"(",
    b")",
    b"#",
    b"#_",
    b"#{",
    b":",
    b";",
    b",",
    b"\n",
    b"\t",
    b" ",
    b"-1",
    b"9223372036854775808",
    b"1e999",
    b"nil",
    b"null",
    b"\xff",
    b"\xf0\x9f",
    b"\x00",
    b"^",
    b"\\u12",
    b"\\ud800",
    b"\"key\":",
    b":key ",
    b"\t:invoke\t",
    b" :ok :read ",
    b" 3 :info ",
    b"\"time\":3,",
    b"1.5e300",
    b"[1] call ",
    b"crash",
    b"[[[[[[[[[[",
    b"18446744073709551615",
    b"\"process\":",
    b"\"type\":\"crash\"",
    b"{\"failed\":",
];

/// Changes a few bytes.
pub fn mutate(bytes: &mut Vec<u8>, rng: &mut fastrand::Rng) {
    for _ in 0..1 + rng.usize(..3) / 2 {
        if bytes.is_empty() {
            return;
        }
        let at = rng.usize(..bytes.len());
        match rng.u8(..7) {
            0 => bytes[at] = rng.u8(..),
            1 => bytes[at] ^= 1 << rng.u8(..8),
            2 => bytes.truncate(at),
            3 => drop(bytes.drain(at..(at + rng.usize(..20)).min(bytes.len()))),
            4 => {
                let copy = bytes[at..(at + rng.usize(..80)).min(bytes.len())].to_vec();
                let to = rng.usize(..=bytes.len());
                bytes.splice(to..to, copy);
            }
            _ => {
                let telling = TELLING[rng.usize(..TELLING.len())];
                bytes.splice(at..at, telling.iter().copied());
            }
        }
    }
}

const SPECS: [&str; 9] = [
    "queue",
    "cas-register",
    "mwcas",
    "kv",
    "set",
    "priority-queue",
    "multi-register",
    "etcd",
    "s2-stream",
];

/// Recordings in every format, each with the object that it is of.
pub fn seeds(rng: &mut fastrand::Rng) -> Vec<(&'static str, Vec<u8>)> {
    let register = random_events(12, rng, cas_register_call);
    let queue = random_events(12, rng, queue_call);
    let mwcas = random_events(12, rng, mwcas_call);
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(json_lines(&queue).as_bytes()).unwrap();
    let zstandard = ruzstd::encoding::compress_to_vec(
        json_lines(&queue).as_bytes(),
        ruzstd::encoding::CompressionLevel::Fastest,
    );
    let array = format!("[{}]", json_lines(&queue).trim().replace('\n', ",\n"));
    vec![
        ("cas-register", json_lines(&register).into()),
        ("queue", json_lines(&queue).into()),
        ("mwcas", json_lines(&mwcas).into()),
        ("queue", array.into()),
        ("cas-register", edn_lines(&register).into()),
        ("mwcas", edn_vector(&mwcas).into()),
        ("cas-register", log(&register).into()),
        ("cas-register", log(&register).replace('\t', "  ").into()),
        ("kv", KV.into()),
        ("queue", FASTLIN.into()),
        ("queue", LIMO.into()),
        ("queue", gzip.finish().unwrap()),
        ("queue", zstandard),
        ("cas-register", jepsen_file::test_jepsen(&register, rng)),
        ("etcd", ETCD.into()),
        ("s2-stream", S2.into()),
        ("cas-register", TIPOCKET.into()),
    ]
}

#[test]
fn no_input_makes_a_reader_panic() {
    let (seed, cases) = seed_and_cases(60_000);
    let mut rng = fastrand::Rng::with_seed(seed);
    let objects = SPECS.map(|spec| (spec, builtin(spec, None).unwrap()));
    let seeds = seeds(&mut rng);
    let (mut read, mut refused) = (0_u64, 0_u64);
    for case in 0..cases {
        let (its, mut bytes) = seeds[case as usize % seeds.len()].clone();
        mutate(&mut bytes, &mut rng);
        let other = rng.choice(SPECS).filter(|_| rng.u8(..4) == 0);
        let name = other.unwrap_or(its);
        let Some((spec, object)) = objects.iter().find(|(spec, _)| *spec == name) else { continue };
        let mut options = ReadOptions::new(spec, object.operations());
        options.format = rng.choice(Format::ALL).filter(|_| rng.u8(..4) == 0);
        options.keyed = rng.choice([None, None, None, Some(true), Some(false)]).flatten();
        options.failed_cas = match rng.bool() {
            true => FailedCas::ReturnedFalse,
            false => FailedCas::DidNotHappen,
        };
        options.order = if rng.u8(..8) == 0 { Order::Time } else { Order::Lines };
        options.nil_reads =
            rng.choice([None, Some(NilReads::Unknown), Some(NilReads::Value)]).flatten();
        let format = options.format.or_else(|| Format::detect(&bytes));
        match read_bytes(&bytes, &options) {
            Ok(recording) => {
                // What was read can be looked at.
                assert_eq!(shown(&recording.history).len(), recording.history.operations.len());
                read += 1;
            }
            Err(error) => {
                assert!(!error.to_string().is_empty());
                refused += 1;
            }
        }
        // Line by line, going on after mistakes.
        if let Some(format) = format {
            let mut reader = Reader::new(format, &options);
            for line in bytes.split_inclusive(|byte| *byte == b'\n') {
                let _ = reader.push_line(line).map(<[_]>::len);
            }
            let _ = reader.finish();
        }
    }
    println!("read {read}, refused {refused}");
    assert!(read * 20 >= cases && refused * 10 >= cases, "read {read}, refused {refused}");
}

#[test]
fn deep_and_long_texts_are_refused_in_time() {
    let object = builtin("register", None).unwrap();
    let options = ReadOptions::new("register", object.operations());
    let deep = "[".repeat(1_000_000);
    let before = "{:process 0 :type :invoke :f :write :value ";
    let json = r#"{"process":0,"type":"invoke","f":"write","value":"#;
    let texts = [
        format!("{before}{deep}"),
        format!("{before}{}", "#_ ".repeat(500_000)),
        format!("{before}{}", "^ ".repeat(500_000)),
        format!("{before}\"{}", "x\n".repeat(500_000)),
        format!("{before}{}", "{\n".repeat(500_000)),
        format!("{json}{deep}"),
        format!("[{json}{deep}"),
        format!("[{}", "{:process 0 :type :crash} ".repeat(100_000) + "{"),
        format!("{}{{", "{\"type\":\"crash\"}".repeat(100_000)),
        deep,
    ];
    for text in texts {
        assert!(read_bytes(text.as_bytes(), &options).is_err(), "{}", &text[..40]);
    }
}
