//! Any bytes: the readers of recorded histories understand them or say why not.

#![no_main]

use libfuzzer_sys::fuzz_target;
use linchpin_ingest::{Format, ReadOptions, read_bytes};
use linchpin_spec::{BUILTINS, builtin};

fuzz_target!(|bytes: &[u8]| {
    // The first byte chooses what is read and how, the rest is the recording.
    let Some((choice, bytes)) = bytes.split_first() else { return };
    let info = &BUILTINS[*choice as usize % BUILTINS.len()];
    let Ok(spec) = builtin(info.name, None) else { return };
    let format = Format::ALL.get(*choice as usize / BUILTINS.len()).copied();
    let options = ReadOptions { format, ..ReadOptions::new(info.name, spec.operations()) };
    if let Err(error) = read_bytes(bytes, &options) {
        let _ = error.to_string();
    }
});
