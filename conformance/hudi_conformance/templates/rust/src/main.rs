//! An adapter for hudi-conformance: JSON lines on standard input and output.
//!
//! It reads copy-on-write tables of versions 8 and 9 and refuses everything else. Replace `snapshot` by a call of your engine,
//! extend FEATURES, and run smoke and the suite after each step.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::io::{self, BufRead};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail, ensure};
use arrow_array::RecordBatch;
use arrow_ipc::writer::FileWriter;
use arrow_schema::SchemaRef;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use regex::Regex;
use serde_json::{Value, json};

const ENGINE: &str = "my-engine";
const VERSION: &str = "0.1.0";

/// The declared features. Everything else is refused: a refusal is not a failure, a wrong answer is.
#[rustfmt::skip]
const FEATURES: [&str; 19] = [
    "table-version.9", "read.snapshot", "read.projection", "read.meta-columns", "copy-on-write", "storage.file",
    "timeline.replaced-groups", "key.complex", "meta-fields.absent", "partition.none", "partition.plain", "partition.hive",
    "partition.url-encoded", "partition.several-levels", "types.nested", "types.decimal", "types.temporal",
    "merge.commit-time", "merge.event-time",
];

/// Property, the values that are supported (an empty one: it may be absent), and the feature that any other value needs.
const SUPPORTED: [(&str, &str, &str); 7] = [
    ("hoodie.table.version", "8|9", "table-version"),
    ("hoodie.timeline.layout.version", "2", "timeline-layout"),
    ("hoodie.table.type", "COPY_ON_WRITE", "merge-on-read"),
    ("hoodie.table.base.file.format", "|PARQUET", "base-file-format"),
    ("hoodie.table.multiple.base.file.formats.enable", "|false", "base-file-format"),
    ("hoodie.datasource.write.drop.partition.columns", "|false", "partition.dropped-columns"),
    ("hoodie.bootstrap.base.path", "", "bootstrap"),
];

const META: [&str; 5] =
    ["_hoodie_commit_time", "_hoodie_commit_seqno", "_hoodie_record_key", "_hoodie_partition_path", "_hoodie_file_name"];
const COMPLETED: &str = r"^([0-9]+)_[0-9]+\.(commit|replacecommit|deltacommit)$";

/// A feature that the engine does not offer, and why it is needed.
#[derive(Debug, thiserror::Error)]
#[error("{1}")]
struct Refused(String, String);

fn refused(feature: &str, message: impl Into<String>) -> Refused {
    Refused(feature.to_string(), message.into())
}

/// Write the rows of a query to an Arrow IPC file (not a stream).
fn read(message: &Value) -> Result<Value> {
    let query = &message["query"];
    let kind = text(&query["kind"]);
    let plain = kind == "snapshot" && query["by_id"] != true && query["where"].as_array().is_none_or(Vec::is_empty);
    ensure!(plain, refused(&format!("read.{kind}"), "only snapshot queries without a filter are offered"));
    let (scheme, path) = text(&message["table"]).split_once("://").unwrap_or_default();
    ensure!(scheme == "file", refused(&format!("storage.{scheme}"), "only local tables are read"));
    let (schema, rows) = snapshot(Path::new(&*percent_encoding::percent_decode_str(path).decode_utf8()?))?;
    let columns = match query["columns"].as_array() {
        Some(names) => names.iter().map(|name| schema.index_of(text(name))).collect::<Result<Vec<_>, _>>()?,
        None => (0..schema.fields().len()).filter(|&i| !META.contains(&schema.field(i).name().as_str())).collect(),
    };
    let mut writer = FileWriter::try_new(File::create(text(&message["into"]))?, &schema.project(&columns)?)?;
    for batch in rows {
        writer.write(&batch.project(&columns)?)?;
    }
    writer.finish()?;
    Ok(json!({"id": message["id"], "rows": message["into"]}))
}

/// The latest committed rows of the table. Call your engine here.
fn snapshot(table: &Path) -> Result<(SchemaRef, Vec<RecordBatch>)> {
    let mut found: Option<SchemaRef> = None;
    let mut rows = Vec::new();
    for path in latest_files(table)? {
        let file = ParquetRecordBatchReaderBuilder::try_new(File::open(path)?)?;
        let schema = found.get_or_insert(file.schema().clone());
        ensure!(schema.fields() == file.schema().fields(), "the base files differ in their schemas");
        rows.extend(file.build()?.collect::<Result<Vec<_>, _>>()?);
    }
    Ok((found.ok_or(refused("read.snapshot", "the schema of a table without base files is not read"))?, rows))
}

/// The newest base file of each file group that was not replaced.
///
/// The metadata of the completed writes names all of them, as long as no instant was archived.
fn latest_files(table: &Path) -> Result<Vec<PathBuf>> {
    let known = properties(table)?;
    let folder = |key: &str, absent: &str| known.get(key).cloned().unwrap_or(absent.to_string());
    let timeline = table.join(".hoodie").join(folder("hoodie.timeline.path", "timeline"));
    let history = timeline.join(folder("hoodie.timeline.history.path", "history"));
    ensure!(!history.join("_version_").exists(), refused("timeline.history", "the history of the timeline is not read"));
    let mut names = fs::read_dir(&timeline)?.map(|entry| entry.map(|e| e.file_name())).collect::<Result<Vec<_>, _>>()?;
    names.sort();
    let completed = Regex::new(COMPLETED)?;
    let mut newest = HashMap::new(); // by partition/file id
    let (mut replaced, mut schemas) = (HashSet::new(), HashSet::new());
    for instant in names.iter().filter_map(|name| completed.captures(name.to_str()?)) {
        let commit = commit_metadata(&timeline.join(&instant[0]))?;
        for (partition, stat) in items(&commit["partitionToWriteStats"]) {
            let path = text(&stat["path"]);
            let is_base = path.ends_with(&format!("_{}.parquet", &instant[1]));
            ensure!(is_base, refused("merge-on-read", format!("{path} is not a base file of {}", &instant[1])));
            newest.insert(partition.join(text(&stat["fileId"])), table.join(path));
        }
        replaced.extend(items(&commit["partitionToReplaceFileIds"]).map(|(partition, id)| partition.join(text(id))));
        schemas.insert(text(&commit["extraMetadata"]["schema"]).to_string());
    }
    schemas.remove("");
    ensure!(schemas.len() < 2, refused("schema.evolution", "the commits differ in their schemas"));
    Ok(newest.into_iter().filter(|(group, _)| !replaced.contains(group)).map(|(_, path)| path).collect())
}

/// The metadata of a completed write: one record in an Avro container.
fn commit_metadata(path: &Path) -> Result<Value> {
    let content = fs::read(path)?;
    let record = apache_avro::Reader::new(&content[..])?.next().context("commit metadata without a record")?;
    Ok(apache_avro::from_value(&record?)?)
}

/// The entries of hoodie.properties. Tables that are damaged or not supported are errors.
fn properties(table: &Path) -> Result<HashMap<String, String>> {
    let known = java_properties::read(File::open(table.join(".hoodie").join("hoodie.properties"))?)?;
    let value = |key: &str| known.get(key).map_or("", String::as_str);
    for (key, values, feature) in SUPPORTED {
        let supported = values.split('|').any(|each| each == value(key));
        ensure!(supported, refused(feature, format!("{key} is {}", value(key))));
    }
    ensure!(!value("hoodie.table.name").is_empty(), "hoodie.table.name is missing");
    let name = format!("{}.{}", value("hoodie.database.name"), value("hoodie.table.name"));
    let sum = crc32fast::hash(name.as_bytes()).to_string();
    ensure!(["", &sum].contains(&value("hoodie.table.checksum")), "the checksum in hoodie.properties is not that of {name}");
    Ok(known)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// The items of all partitions in the metadata of a write, each with its partition; none if the value is null.
fn items(partitions: &Value) -> impl Iterator<Item = (&Path, &Value)> {
    let lists = partitions.as_object().into_iter().flatten();
    lists.flat_map(|(name, list)| list.as_array().into_iter().flatten().map(|item| (Path::new(name), item)))
}

/// The answer to a message with an id. Operations that are not implemented yet are refused.
fn work(message: &Value) -> Result<Value> {
    match text(&message["op"]) {
        "read" => read(message),
        op @ ("inspect" | "compute" | "create" | "write" | "service" | "begin" | "resume") => bail!(refused(op, "not offered")),
        op => bail!("unknown operation {op}"),
    }
}

/// The answer to one message; every failure becomes an answer, a panic too.
fn answer(message: &Value) -> Value {
    if message["op"] == "hello" {
        return json!({"protocol": 1, "engine": ENGINE, "version": VERSION, "language": "rust", "features": FEATURES});
    }
    let panicked = |_| Err(anyhow!("a panic; standard error has its message"));
    catch_unwind(AssertUnwindSafe(|| work(message))).unwrap_or_else(panicked).unwrap_or_else(|e| match e.downcast_ref() {
        Some(Refused(feature, why)) => json!({"id": message["id"], "refused": {"feature": feature, "message": why}}),
        None => json!({"id": message["id"], "error": {"message": format!("{e:#}")}}),
    })
}

fn main() -> Result<()> {
    for line in io::stdin().lock().lines() {
        let message: Value = serde_json::from_str(&line?)?;
        if message["op"] == "bye" {
            break;
        }
        println!("{}", answer(&message)); // standard output is flushed after each line
    }
    Ok(())
}
