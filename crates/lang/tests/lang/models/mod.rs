//! Every model in `models/`: its header, its layout, its sequential behaviour and its concurrent
//! histories.
//!
//! The judges are the brute-force oracle and the sequential specification; nothing here trusts an
//! engine.

mod concurrent;
mod header;
mod persistent;
mod sequential;

use header::Header;
use linchpin_ir::model_spec::{ModelObject, spec_of};
use linchpin_lang::{Compiled, Config, compile};
use std::path::{Path, PathBuf};

/// A model with what its header promises.
pub struct Model {
    /// Its path below `models/`.
    pub name: String,
    pub source: String,
    pub header: Header,
}

impl Model {
    fn compile(&self) -> Compiled {
        compile(&self.source, &Config::default()).unwrap_or_else(|mistakes| {
            let shown =
                mistakes.iter().map(|mistake| mistake.render(&self.name, &self.source, false));
            panic!("{}", shown.collect::<Vec<_>>().join("\n"))
        })
    }
}

/// The object that a compiled model must implement.
fn object(name: &str, compiled: &Compiled) -> ModelObject {
    spec_of(&compiled.program).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// All models of volatile memory, broken ones included, in order of their names.
pub fn models() -> Vec<Model> {
    models_in(&["", "broken"])
}

/// The models in these folders below `models/`, in order of their names.
fn models_in(folders: &[&str]) -> Vec<Model> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
    let mut files: Vec<PathBuf> = folders
        .iter()
        .map(|folder| root.join(folder))
        .flat_map(|folder| std::fs::read_dir(folder).expect("models/ can be read"))
        .map(|entry| entry.expect("models/ can be read").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "lin"))
        .collect();
    files.sort();
    let load = |path: &PathBuf| {
        let source = std::fs::read_to_string(path).expect("the model can be read");
        let name = path.strip_prefix(&root).expect("below models/").display().to_string();
        let header = Header::parse(&source).unwrap_or_else(|error| panic!("{name}: {error}"));
        Model { name, source, header }
    };
    let wanted = std::env::var("LINCHPIN_MODEL").unwrap_or_default();
    files.iter().map(load).filter(|model| model.name.contains(&wanted)).collect()
}

#[test]
fn every_family_is_there() {
    let names: Vec<String> = models().into_iter().map(|model| model.name).collect();
    for wanted in [
        "treiber_stack",
        "elimination_stack",
        "timestamped_stack",
        "ms_queue",
        "dglm_queue",
        "two_lock_queue",
        "herlihy_wing_queue",
        "shann_huang_chen_queue_fixed",
        "pessimistic_set",
        "optimistic_set",
        "lazy_set",
        "orvyy_set",
        "vy_cas_set",
        "vy_dcas_set",
        "harris_michael_list",
        "pair_snapshot",
        "rdcss",
        "k_register",
        "snzi",
        "mailbox",
        "mwcas",
    ] {
        assert!(names.contains(&format!("{wanted}.lin")), "{wanted} is missing");
        let twin = format!("broken/{}", wanted.trim_end_matches("_fixed"));
        assert!(names.iter().any(|name| name.starts_with(&twin)), "{wanted} has no broken twin");
    }
}

#[test]
fn broken_models_live_in_their_folder() {
    for model in models() {
        let is_sound = model.header.expected.linearizable && !model.header.expected.points_wrong;
        assert_eq!(is_sound, !model.name.starts_with("broken/"), "{}", model.name);
    }
}

#[test]
fn every_model_is_laid_out() {
    for model in models().into_iter().chain(persistent::models()) {
        let laid_out = linchpin_lang::format(&model.source).expect("the model has no mistakes");
        assert!(laid_out == model.source, "run `linchpin fmt models/{}`", model.name);
    }
}

#[test]
fn every_lowered_model_is_well_formed() {
    for model in models().into_iter().chain(persistent::models()) {
        let defects = linchpin_ir::well_formed::defects(&model.compile().program);
        assert!(defects.is_empty(), "{}: {defects:?}", model.name);
    }
}

/// `models/README.md` lists what is there; `UPDATE_EXPECT=1` writes it again.
#[test]
fn the_list_of_models_is_complete() {
    if std::env::var("LINCHPIN_MODEL").is_ok() {
        return; // only some of them
    }
    let models = models();
    let (broken, sound): (Vec<&Model>, Vec<&Model>) =
        models.iter().partition(|model| model.name.starts_with("broken/"));
    let row = |model: &&Model| {
        let header = &model.header;
        let shown = header.run.as_ref().map_or(String::new(), |run| format!("`{run}`"));
        format!("| [{0}]({0}) | {1} | {2} | {shown} |\n", model.name, header.title, header.verdict)
    };
    let table = |models: &[&Model]| {
        let head = "| file | what it is | expected | shown by `linchpin run` with |\n| --- | --- | --- | --- |\n";
        format!("{head}{}", models.iter().map(row).collect::<String>())
    };
    let text = format!(
        "# The models\n\n\
         Every algorithm is one file. The header of each names its source, the verdict that is expected, and what was\n\
         simplified; the tests hold each to it. This page is written by the tests.\n\n\
         {}\n## Broken twins\n\n\
         Each differs from its original as little as possible, and one thread alone cannot tell. The header tells how it goes\n\
         wrong; the run in the last column shows it.\n\n{}\n{}",
        table(&sound),
        table(&broken),
        persistent::listing()
    );
    expect_test::expect_file!["../../../../../models/README.md"].assert_eq(&text);
}
