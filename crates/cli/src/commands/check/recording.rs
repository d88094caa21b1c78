//! Which object, and its recorded history.

use crate::args::{FailedCasArg, NilReadsArg, OrderArg, PropertyArg, RecordingArgs};
use crate::model::{self, Mistakes};
use anyhow::{Context, Result, anyhow, bail};
use linchpin_history::{Object, Property};
use linchpin_ingest::{
    FailedCas, IngestError, NilReads, Order, ReadOptions, Recording, Remark, read_bytes, read_path,
};
use linchpin_spec::{Builtin, Value};
use std::borrow::Cow;
use std::path::Path;

/// The object that was recorded, and how it was.
pub struct Subject<'a> {
    pub args: Cow<'a, RecordingArgs>,
    pub object: Object,
    /// That it is not the specification that was named, if it is not.
    pub guessed: Option<Remark>,
}

/// A history as it was read.
pub struct Read {
    pub recording: Recording,
    /// What it was read as, if that is another specification than the one that was named.
    pub instead: Option<Subject<'static>>,
}

impl<'a> Subject<'a> {
    pub fn new(args: &'a RecordingArgs) -> Result<Subject<'a>> {
        let object = match args.spec.ends_with(".lin") {
            true => model_object(args)?,
            false => Object::builtin(&args.spec, args.init.clone())
                .map_err(|error| anyhow!("{error}"))?,
        };
        Ok(Subject { args: Cow::Borrowed(args), object, guessed: None })
    }

    /// The specification that was meant, where the one that was named does not fit because of this:
    /// the workload `set` of Jepsen adds to a set and reads all of it.
    pub fn instead(&self, error: &IngestError) -> Option<Subject<'static>> {
        let taken = error.other_spec().filter(|_| self.may_be_another())?;
        let object = Object::builtin(taken, self.args.init.clone()).ok()?;
        let args = RecordingArgs { spec: taken.to_owned(), ..RecordingArgs::clone(&self.args) };
        let guessed = Some(Remark::OtherSpec { named: Builtin::Set.name(), taken });
        Some(Subject { args: Cow::Owned(args), object, guessed })
    }

    /// Whether another specification than the one that was named may be meant.
    pub fn may_be_another(&self) -> bool {
        self.object.data_type() == Some(Builtin::Set) && self.args.model().is_none()
    }

    pub fn options(&self) -> ReadOptions<'_> {
        // Elle's workload reads nil where nothing was written; Knossos's model, where it is not
        // known what was read.
        let is_elle = self.args.spec.replace('_', "-") == "rw-register";
        let nil_reads = self.args.nil_reads.or(is_elle.then_some(NilReadsArg::Value));
        ReadOptions {
            spec: &self.object.name,
            operations: self.object.spec.operations(),
            format: self.args.format,
            failed_cas: match self.args.failed_cas {
                FailedCasArg::DidNotHappen => FailedCas::DidNotHappen,
                FailedCasArg::ReturnedFalse => FailedCas::ReturnedFalse,
            },
            keyed: self.args.keyed,
            nil_reads: nil_reads.map(|said| match said {
                NilReadsArg::Unknown => NilReads::Unknown,
                NilReadsArg::Value => NilReads::Value,
            }),
            order: match self.args.order {
                OrderArg::Lines => Order::Lines,
                OrderArg::Time => Order::Time,
            },
            guessed: self.guessed.is_some(),
            initial: self.object.init.as_ref().and_then(Value::as_list).map_or(0, <[Value]>::len),
            most_bytes: ReadOptions::MOST_BYTES,
            partial: true,
            parallel: None,
        }
    }

    /// Reads the recording; decompressed it may not take more memory than `most` allows.
    pub fn read(&self, path: &Path, most: Option<u64>) -> Result<Read> {
        self.read_by(path, most, |options| read_path(path, options))
    }

    /// Reads what was taken from this path.
    pub fn read_text(&self, path: &Path, text: &[u8], most: Option<u64>) -> Result<Read> {
        self.read_by(path, most, |options| read_bytes(text, options))
    }

    fn read_by(
        &self,
        path: &Path,
        most: Option<u64>,
        read: impl Fn(&ReadOptions<'_>) -> Result<Recording, IngestError>,
    ) -> Result<Read> {
        let within = |options: ReadOptions<'_>| {
            let most_bytes = most.unwrap_or(options.most_bytes);
            read(&ReadOptions { most_bytes, ..options })
        };
        let recording = within(self.options());
        if let Some(instead) = recording.as_ref().err().and_then(|error| self.instead(error))
            && let Ok(mut recording) = within(instead.options())
        {
            recording.remarks.extend(instead.guessed);
            return Ok(Read { recording, instead: Some(instead) });
        }
        let recording = recording.with_context(|| format!("`{}`", path.display()))?;
        Ok(Read { recording, instead: None })
    }
}

pub fn property(arg: PropertyArg) -> Property {
    match arg {
        PropertyArg::Linearizable => Property::Linearizable,
        PropertyArg::Strict => Property::Strict,
        PropertyArg::Recoverable => Property::Recoverable,
        PropertyArg::Durable => Property::Durable,
        PropertyArg::Detectable => Property::Detectable,
    }
}

/// The specification in a `.lin` file: `spec { … }`, or the built-in one that it names.
fn model_object(args: &RecordingArgs) -> Result<Object> {
    let source = model::read(Path::new(&args.spec))?;
    if args.init.is_some() {
        bail!("--init: the initial state is what `{}` says", args.spec);
    }
    let program = linchpin_lang::compile_spec(&source, &linchpin_lang::Config::default())
        .map_err(|diagnostics| Mistakes { file: args.spec.clone(), source, diagnostics })?;
    match program {
        linchpin_ir::program::SpecSource::Builtin { name, init } => {
            Object::builtin(&name, init).map_err(|error| anyhow!("{error}"))
        }
        linchpin_ir::program::SpecSource::Model(program) => {
            let spec = linchpin_ir::model_spec::ModelSpec::new(&program)?;
            Ok(Object::custom(&args.spec, Box::new(spec)))
        }
    }
}
