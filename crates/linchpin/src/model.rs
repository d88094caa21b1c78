//! Verifying models.

use crate::Error;
use linchpin_engine::{Language, Request};
use linchpin_ir::interpreter::Memory;
use linchpin_lang::{Config, Threads};
use linchpin_report::Findings;
use linchpin_spec::Value;
use linchpin_verdict::{Calls, Limits, Values, Verdict};
use linchpin_verify::{Loaded, Verification};
use std::fmt;
use std::time::{Duration, Instant};

/// Verifies a `.lin` model with every engine that applies, within the bounds that it asks for.
///
/// ```
/// # use linchpin::{Verdict, verify};
/// let found = verify("spec register(0); shared x: int = 0; op write(v: int) { x = v; } op read() -> int { return x; }")?;
/// assert!(matches!(found.verdict(), Verdict::Proved | Verdict::ProvedIfSequential));
/// # Ok::<(), linchpin::Error>(())
/// ```
pub fn verify(model: &str) -> Result<Verified, Error> {
    Verifier::new(model).verify()
}

/// How to verify a model: everything that the command line can say, as a builder.
///
/// ```
/// # use linchpin::{Calls, Verdict, Verifier};
/// let broken = "spec counter; shared c: int = 0; op fetch_add(n: int) -> int { let t = c; c = t + n; return t; }";
/// let found = Verifier::new(broken).threads(2).calls(Calls::Each(1)).engine("refine").verify()?;
/// assert_eq!(found.verdict(), Verdict::Violated);
/// # Ok::<(), linchpin::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Verifier {
    text: String,
    name: String,
    language: Language,
    config: Config,
    engines: Vec<String>,
    calls: Option<Calls>,
    values: Option<Values>,
    objects: Option<usize>,
    memory: Memory,
    safety_only: bool,
    time_limit: Option<Duration>,
    limits: Limits,
}

impl Verifier {
    /// Of a `.lin` model.
    pub fn new(text: impl Into<String>) -> Verifier {
        Verifier {
            text: text.into(),
            name: "model.lin".to_owned(),
            language: Language::Lin,
            config: Config::default(),
            engines: Vec::new(),
            calls: None,
            values: None,
            objects: None,
            memory: Memory::Collected,
            safety_only: false,
            time_limit: None,
            limits: Limits::default(),
        }
    }

    /// What the model is called in messages; its extension says which language it is written in.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Verifier {
        self.name = name.into();
        let extension = self.name.rsplit_once('.').map(|(_, extension)| extension);
        self.language = Language::of_extension(extension).unwrap_or(Language::Lin);
        self
    }

    /// With so many threads.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Verifier {
        self.config.threads = Threads::Count(threads);
        self
    }

    /// With this value of a parameter.
    #[must_use]
    pub fn set(mut self, name: impl Into<String>, value: Value) -> Verifier {
        self.config.params.push((name.into(), value));
        self
    }

    /// With so many calls of each thread.
    #[must_use]
    pub fn calls(mut self, calls: Calls) -> Verifier {
        self.calls = Some(calls);
        self
    }

    /// Clients pass the integers from 1 to this one.
    #[must_use]
    pub fn values(mut self, last: i64) -> Verifier {
        self.values = Some(Values::UpTo(last));
        self
    }

    /// Clients pass any integers from 1 on, where the model only moves and compares them.
    #[must_use]
    pub fn any_values(mut self) -> Verifier {
        self.values = Some(Values::Any);
        self
    }

    /// At most so many heap objects at a time; without a bound on calls, threads then call without
    /// end.
    #[must_use]
    pub fn objects(mut self, most: usize) -> Verifier {
        self.objects = Some(most);
        self
    }

    /// Freed objects may come back, and using one after `free` is an error.
    #[must_use]
    pub fn memory_is_reused(mut self) -> Verifier {
        self.memory = Memory::Reuse;
        self
    }

    /// Ask this engine, and no other that was not named too.
    #[must_use]
    pub fn engine(mut self, name: impl Into<String>) -> Verifier {
        self.engines.push(name.into());
        self
    }

    /// Do not look for operations that get stuck.
    #[must_use]
    pub fn safety_only(mut self) -> Verifier {
        self.safety_only = true;
        self
    }

    /// Give up after this time: the verdict is then inconclusive.
    #[must_use]
    pub fn time_limit(mut self, limit: Duration) -> Verifier {
        self.time_limit = Some(limit);
        self
    }

    /// Give up when these limits say so.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Verifier {
        self.limits = limits;
        self
    }

    /// Verifies it.
    pub fn verify(&self) -> Result<Verified, Error> {
        let loaded = linchpin_verify::load(&self.name, &self.text, self.language, &self.config)
            .map_err(Box::new)?;
        let mut limits = self.limits.clone();
        if let Some(limit) = self.time_limit {
            limits.deadline = Instant::now().checked_add(limit);
        }
        let request = Request {
            calls: self.calls,
            values: self.values,
            objects: self.objects,
            memory: self.memory,
            stuck: !self.safety_only,
            limits,
            ..Request::default()
        };
        let found = linchpin_verify::verify(&loaded, &self.engines, &request)?;
        Ok(Verified { name: self.name.clone(), loaded, memory: self.memory, found })
    }
}

/// What the engines say of a model. `{}` shows it as the command line does.
#[derive(Clone, Debug)]
pub struct Verified {
    name: String,
    loaded: Loaded,
    memory: Memory,
    found: Verification,
}

impl Verified {
    /// The verdict: the strongest answer.
    pub fn verdict(&self) -> Verdict {
        self.found.verdict()
    }

    /// Every answer, with its bounds, assumptions and counterexample.
    pub fn verification(&self) -> &Verification {
        &self.found
    }

    /// The object that `linchpin verify --json` prints.
    pub fn json(&self) -> String {
        self.findings(|findings| findings.json_of("verify"))
    }

    /// A self-contained page.
    pub fn page(&self) -> String {
        self.findings(|findings| findings.page(self.loaded.subject().text))
    }

    fn findings(&self, show: impl FnOnce(&Findings<'_>) -> String) -> String {
        let contradiction = self.found.contradiction.map(|contradiction| contradiction.to_string());
        show(&Findings {
            subject: &self.name,
            program: self.loaded.program(),
            memory: self.memory,
            verdict: self.found.verdict(),
            deciding: self.found.deciding(),
            answers: &self.found.answers,
            contradiction: contradiction.as_deref(),
            in_detail: false,
            columns: 100,
        })
    }
}

impl fmt::Display for Verified {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.findings(|findings| findings.text(&|verdict| verdict.to_string())))
    }
}
