//! The adapter of hudi-rs 0.6: JSON lines on standard input and output, see `docs/contract.md`.
//!
//! This file speaks the protocol. `reading.rs` and `writing.rs` call hudi-core, which does the work: filters, projections, merging,
//! keys of inserted rows, and the timeline.

// The futures of hudi-core's writes are nested deeper than the default permits.
#![recursion_limit = "256"]

mod reading;
mod writing;

use std::io::{self, BufRead, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};

use hudi_core::error::CoreError;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

/// The release of hudi-core in Cargo.toml.
const VERSION: &str = "0.6.0-rc.1";

const FEATURES: &[&str] = &[
    "read.snapshot", "read.read-optimized", "read.as-of", "read.incremental", "read.projection", "read.filter", "read.filter.in",
    "read.meta-columns", "read.compares-files", "copy-on-write", "merge-on-read", "log.avro", "log.parquet", "log.delete",
    "log.command", "log.only-slices", "merge.commit-time", "merge.event-time", "merge.partial-updates", "delete.flag", "partition.none",
    "partition.plain", "partition.hive", "partition.url-encoded", "partition.several-levels", "key.complex",
    "table-version.6", "table-version.9", "timeline.history", "timeline.pending-compaction", "timeline.replaced-groups",
    "types.nested", "types.decimal", "types.temporal", "storage.file", "storage.s3", "create", "create.table-version.9",
    "write.insert", "write.bulk-insert", "write.upsert", "write.delete", "write.partial-update", "write.insert-overwrite",
    "write.generated-keys", "service.compaction",
];

/// Parts of messages that mean a refusal.
const REFUSALS: [&str; 5] =
    ["unsupported", "not supported", "only support", "expects timeline layout version", "needs its own merger"];

/// Why a message is not carried out.
pub enum Failure {
    Refused(String, String),
    Error(String),
    /// Of hudi-core; a refusal if it says so.
    Engine(CoreError),
}

impl<E: Into<CoreError>> From<E> for Failure {
    fn from(error: E) -> Self {
        Failure::Engine(error.into())
    }
}

pub type Answer<T> = Result<T, Failure>;

pub fn refused<T>(feature: &str, why: impl Into<String>) -> Answer<T> {
    Err(Failure::Refused(feature.replace('_', "-"), why.into()))
}

pub fn error<T>(why: impl Into<String>) -> Answer<T> {
    Err(Failure::Error(why.into()))
}

/// A member that is text; empty if it is absent.
pub fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// The texts of a list; empty if it is absent.
pub fn texts(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().map(|item| text(item).to_string()).collect()
}

/// The feature that a message needs, for refusals.
fn feature(message: &Value) -> String {
    match text(&message["op"]) {
        "read" => format!("read.{}", text(&message["query"]["kind"])),
        "write" => format!("write.{}", text(&message["operation"])),
        "compute" => format!("compute.{}", text(&message["function"])),
        "service" => format!("service.{}", text(&message["service"])),
        "inspect" => "inspect.table".to_string(),
        op => op.to_string(),
    }
}

async fn work(message: &Value) -> Answer<Value> {
    match text(&message["op"]) {
        "read" => {
            reading::read(message).await?;
            Ok(json!({"rows": message["into"]}))
        }
        "create" => {
            writing::create(message).await?;
            Ok(json!({"done": {}}))
        }
        "write" => Ok(json!({"done": {"instant": writing::write(message).await?}})),
        "service" if message["service"] == "compaction" => match writing::compact(message).await? {
            Some(instant) => Ok(json!({"done": {"instant": instant}})),
            None => Ok(json!({"done": {}})),
        },
        "service" | "inspect" | "compute" | "begin" | "resume" => refused(&feature(message), "not offered"),
        op => error(format!("unknown operation {op}")),
    }
}

/// The answer to one message; every failure becomes an answer, a panic too.
fn answer(runtime: &Runtime, message: &Value) -> Value {
    if message["op"] == "hello" {
        return json!({"protocol": 1, "engine": "hudi-rs", "version": VERSION, "language": "rust", "features": FEATURES});
    }
    let panicked = |_| error("a panic; standard error has its message");
    let outcome = catch_unwind(AssertUnwindSafe(|| runtime.block_on(work(message)))).unwrap_or_else(panicked);
    let mut found = match outcome {
        Ok(found) => found,
        Err(Failure::Refused(feature, why)) => json!({"refused": {"feature": feature, "message": why}}),
        Err(Failure::Error(why)) => json!({"error": {"message": why}}),
        Err(Failure::Engine(error)) => of_engine(&error, message),
    };
    found["id"] = message["id"].clone();
    found
}

/// An error of hudi-core is a refusal if its class or its text says that something is not supported.
fn of_engine(error: &CoreError, message: &Value) -> Value {
    let why = error.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
    let lower = why.to_lowercase();
    if !matches!(error, CoreError::Unsupported(_)) && !REFUSALS.iter().any(|words| lower.contains(words)) {
        return json!({"error": {"message": why}});
    }
    let feature = match () {
        _ if lower.contains("timeline layout") => "timeline-layout".to_string(),
        _ if lower.contains("table version") => "table-version".to_string(),
        _ => feature(message).replace('_', "-"),
    };
    json!({"refused": {"feature": feature, "message": why}})
}

fn main() -> io::Result<()> {
    let runtime = Runtime::new()?;
    for line in io::stdin().lock().lines() {
        let message: Value = serde_json::from_str(&line?)?;
        if message["op"] == "bye" {
            break;
        }
        writeln!(io::stdout(), "{}", answer(&runtime, &message))?;
        io::stdout().flush()?;
    }
    Ok(())
}
