//! Which object, and its recorded history.

use crate::args::{FailedCasArg, NilReadsArg, OrderArg, PropertyArg, RecordingArgs};
use crate::model::{self, Mistakes};
use anyhow::{Context, Result, anyhow, bail};
use linchpin_history::{Object, Property};
use linchpin_ingest::{FailedCas, NilReads, Order, ReadOptions, Recording, read_path};
use std::path::Path;

/// The object that was recorded, and how it was.
pub struct Subject<'a> {
    pub args: &'a RecordingArgs,
    pub object: Object,
}

impl<'a> Subject<'a> {
    pub fn new(args: &'a RecordingArgs) -> Result<Subject<'a>> {
        let object = match args.spec.ends_with(".lin") {
            true => model_object(args)?,
            false => Object::builtin(&args.spec, args.init.clone())
                .map_err(|error| anyhow!("{error}"))?,
        };
        Ok(Subject { args, object })
    }

    pub fn options(&self) -> ReadOptions<'_> {
        ReadOptions {
            spec: &self.object.name,
            operations: self.object.spec.operations(),
            format: self.args.format,
            failed_cas: match self.args.failed_cas {
                FailedCasArg::DidNotHappen => FailedCas::DidNotHappen,
                FailedCasArg::ReturnedFalse => FailedCas::ReturnedFalse,
            },
            keyed: self.args.keyed,
            nil_reads: self.args.nil_reads.map(|said| match said {
                NilReadsArg::Unknown => NilReads::Unknown,
                NilReadsArg::Value => NilReads::Value,
            }),
            order: match self.args.order {
                OrderArg::Lines => Order::Lines,
                OrderArg::Time => Order::Time,
            },
            most_bytes: ReadOptions::MOST_BYTES,
            parallel: None,
        }
    }

    /// Reads the recording; decompressed it may not take more memory than `most` allows.
    pub fn read(&self, path: &Path, most: Option<u64>) -> Result<Recording> {
        let mut options = self.options();
        options.most_bytes = most.unwrap_or(options.most_bytes);
        read_path(path, &options).with_context(|| format!("`{}`", path.display()))
    }
}

pub fn property(arg: PropertyArg) -> Property {
    match arg {
        PropertyArg::Linearizable => Property::Linearizable,
        PropertyArg::Strict => Property::Strict,
        PropertyArg::Recoverable => Property::Recoverable,
        PropertyArg::Durable => Property::Durable,
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
