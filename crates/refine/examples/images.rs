//! How many states of memory a crash leaves to choose from: what choosing at the first read could
//! save at most.
//!
//! `cargo run --release -p linchpin-refine --example images`: the models of persistent memory, two
//! threads with two operations each, one crash, durability.

use linchpin_ir::interpreter::Memory;
use linchpin_lang::{Config, compile};
use linchpin_refine::Policy;
use linchpin_refine::model::ModelProduct;
use linchpin_refine::search::{SearchOptions, explore};
use linchpin_space::{Bounds, Calls, CrashCounts, Reductions, Values};
use linchpin_verdict::CrashProperty;

fn main() {
    let mut names: Vec<std::path::PathBuf> = std::fs::read_dir("models/persistent")
        .map(|folder| folder.filter_map(|entry| Some(entry.ok()?.path())).collect())
        .unwrap_or_default();
    names.retain(|path| path.extension().is_some_and(|extension| extension == "lin"));
    names.sort();
    println!(
        "{:24} {:18} {:>10} {:>10} {:>10}",
        "model", "without", "crashes", "images", "a crash"
    );
    for path in names {
        let Some(source) = std::fs::read_to_string(&path).ok() else { continue };
        let Ok(compiled) = compile(&source, &Config::default()) else { continue };
        for reachable_images in [true, false] {
            let reductions = Reductions { reachable_images, ..Reductions::ALL };
            let bounds = Bounds {
                calls: Calls::Each(2),
                values: Values::UpTo(2),
                objects: None,
                memory: Memory::Collected,
                crashes: 1,
                thread_crashes: 0,
            };
            let product =
                ModelProduct::new(&compiled.program, bounds, reductions, Policy::JustInTime);
            let Ok(product) = product else { continue };
            let product = product.asking(CrashProperty::Durable);
            explore(&product, &SearchOptions::default(), &|_| {});
            let CrashCounts { crashes, images } = product.space.crash_counts();
            let name = path.file_stem().unwrap_or_default().to_string_lossy();
            let without = if reachable_images { "" } else { "reachable-images" };
            let each = images as f64 / crashes.max(1) as f64;
            println!("{name:24} {without:18} {crashes:>10} {images:>10} {each:>10.2}");
        }
    }
}
