//! An adapter for hudi-conformance: JSON lines on standard input and output.
//!
//! It reads copy-on-write tables of versions 8 and 9 and refuses everything else. Replace `snapshot` by a call of your engine,
//! extend FEATURES, and run smoke and the suite after each step.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::io::{self, BufRead, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use arrow_array::RecordBatch;
use arrow_ipc::writer::FileWriter;
use arrow_schema::SchemaRef;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use regex_lite::Regex;
use serde::Deserialize;
use serde_json::{Value, json};

const ENGINE: &str = "my-engine";
const VERSION: &str = "0.1.0";

/// The declared features. Everything else is refused: a refusal is not a failure, a wrong answer is.
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

/// The other operations of the contract.
const REFUSED: [&str; 7] = ["inspect", "compute", "create", "write", "service", "begin", "resume"];

const META: [&str; 5] = [
    "_hoodie_commit_time", "_hoodie_commit_seqno", "_hoodie_record_key", "_hoodie_partition_path", "_hoodie_file_name",
];
static COMPLETED: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^[0-9]+_[0-9]+\.(commit|replacecommit|deltacommit)$").unwrap());
static BASE_FILE: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"^([^_/]+)_[^_/]+_([0-9]+)\.parquet$").unwrap());

/// What a reader needs of HoodieCommitMetadata and HoodieReplaceCommitMetadata.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CommitMetadata {
    partition_to_write_stats: Option<HashMap<String, Vec<WriteStat>>>,
    #[serde(default)]
    partition_to_replace_file_ids: Option<HashMap<String, Vec<String>>>,
    extra_metadata: Option<HashMap<String, String>>,
}

#[derive(Deserialize)]
struct WriteStat {
    path: Option<String>,
}

/// Why there are no rows. Any error becomes `Error` by the operator `?`.
enum Failure {
    Refused(String, String),
    Error(String),
}

impl<E: std::error::Error> From<E> for Failure {
    fn from(error: E) -> Self {
        Failure::Error(error.to_string())
    }
}

fn refused<T>(feature: &str, message: impl Into<String>) -> Result<T, Failure> {
    Err(Failure::Refused(feature.to_string(), message.into()))
}

/// Write the rows of a query to an Arrow IPC file (not a stream).
fn read(message: &Value) -> Result<Value, Failure> {
    let query = &message["query"];
    let kind = text(&query["kind"]);
    let filtered = query["where"].as_array().is_some_and(|tests| !tests.is_empty());
    if kind != "snapshot" || query["by_id"] == true || filtered {
        return refused(&format!("read.{kind}"), "only snapshot queries without a filter are offered");
    }
    let (scheme, path) = text(&message["table"]).split_once("://").unwrap_or_default();
    if scheme != "file" {
        return refused(&format!("storage.{scheme}"), "only local tables are read");
    }
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
fn snapshot(table: &Path) -> Result<(SchemaRef, Vec<RecordBatch>), Failure> {
    let (paths, columns) = latest_files(table)?;
    let mut found: Option<SchemaRef> = None;
    let mut rows = Vec::new();
    for path in paths {
        let file = ParquetRecordBatchReaderBuilder::try_new(File::open(path)?)?;
        if found.get_or_insert(file.schema().clone()).fields() != file.schema().fields() {
            return refused("schema.evolution", "the base files differ in their schemas");
        }
        rows.extend(file.build()?.collect::<Result<Vec<_>, _>>()?);
    }
    let Some(schema) = found else {
        return refused("read.snapshot", "the schema of a table without base files is not read");
    };
    let names = schema.fields().iter().map(|field| field.name().clone()).filter(|name| !META.contains(&name.as_str()));
    if columns.is_some_and(|columns| columns != names.collect()) {
        return refused("schema.evolution", "the schema of the latest commit differs from that of the base files");
    }
    Ok((schema, rows))
}

/// The newest base file of each file group that was not replaced, and the column names in the latest commit's schema.
///
/// The metadata of the completed writes names all of them, as long as no instant was archived.
fn latest_files(table: &Path) -> Result<(Vec<PathBuf>, Option<HashSet<String>>), Failure> {
    let known = properties(table)?;
    let or = |key: &str, absent: &str| known.get(key).cloned().unwrap_or(absent.to_string());
    let timeline = table.join(".hoodie").join(or("hoodie.timeline.path", "timeline"));
    if timeline.join(or("hoodie.timeline.history.path", "history")).join("_version_").exists() {
        return refused("timeline.history", "the history of the timeline is not read");
    }
    let mut newest: HashMap<(String, String), (String, PathBuf)> = HashMap::new(); // by partition and file id
    let mut replaced = HashSet::new();
    let mut columns = None;
    let mut names = fs::read_dir(&timeline)?.map(|entry| entry.map(|e| e.file_name())).collect::<Result<Vec<_>, _>>()?;
    names.sort();
    for name in names.iter().filter_map(|name| name.to_str()).filter(|name| COMPLETED.is_match(name)) {
        let commit = commit_metadata(&timeline.join(name))?;
        for (partition, ids) in commit.partition_to_replace_file_ids.unwrap_or_default() {
            replaced.extend(ids.into_iter().map(|id| (partition.clone(), id)));
        }
        for (partition, stats) in commit.partition_to_write_stats.unwrap_or_default() {
            for path in stats.into_iter().map(|stat| stat.path.unwrap_or_default()) {
                let name = path.rsplit('/').next().unwrap_or_default();
                let Some(parts) = BASE_FILE.captures(name) else {
                    return refused("merge-on-read", format!("{name} is not a Parquet base file"));
                };
                let file = (parts[2].to_string(), table.join(&partition).join(name));
                let slot = newest.entry((partition.clone(), parts[1].to_string())).or_default();
                *slot = file.max(std::mem::take(slot));
            }
        }
        if let Some(schema) = commit.extra_metadata.unwrap_or_default().get("schema").filter(|schema| !schema.is_empty()) {
            let schema: Value = serde_json::from_str(schema)?;
            let fields = schema["fields"].as_array().into_iter().flatten().map(|field| text(&field["name"]));
            columns = Some(fields.filter(|name| !META.contains(name)).map(String::from).collect());
        }
    }
    newest.retain(|group, _| !replaced.contains(group));
    Ok((newest.into_values().map(|(_, path)| path).collect(), columns))
}

/// The metadata of a completed write: one record in an Avro container.
fn commit_metadata(path: &Path) -> Result<CommitMetadata, Failure> {
    let content = fs::read(path)?;
    match apache_avro::Reader::new(&content[..])?.next() {
        Some(record) => Ok(apache_avro::from_value(&record?)?),
        None => Err(Failure::Error(format!("{} has no record", path.display()))),
    }
}

/// The entries of hoodie.properties. Tables that are damaged or not supported are failures.
fn properties(table: &Path) -> Result<HashMap<String, String>, Failure> {
    let content = fs::read_to_string(table.join(".hoodie").join("hoodie.properties"))?;
    let lines = content.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once('='));
    let known: HashMap<_, _> = lines.map(|(key, value)| (key.trim().to_string(), value.trim().to_string())).collect();
    for (key, values, feature) in SUPPORTED {
        let found = known.get(key).map_or("", String::as_str);
        if !values.split('|').any(|value| value == found) {
            return refused(feature, format!("{key} is {found}"));
        }
    }
    let Some(table_name) = known.get("hoodie.table.name") else {
        return Err(Failure::Error("hoodie.table.name is missing".into()));
    };
    let name = format!("{}.{table_name}", known.get("hoodie.database.name").map_or("", String::as_str));
    if name.contains('\\') {
        return refused("properties", format!("the escapes in {name} are not decoded"));
    }
    if known.get("hoodie.table.checksum").is_some_and(|sum| *sum != crc32fast::hash(name.as_bytes()).to_string()) {
        return Err(Failure::Error(format!("the checksum in hoodie.properties is not that of {name}")));
    }
    Ok(known)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// The answer to a message with an id. Operations that are not implemented yet are refused.
fn work(message: &Value) -> Result<Value, Failure> {
    match text(&message["op"]) {
        "read" => read(message),
        op if REFUSED.contains(&op) => refused(op, "not offered"),
        op => Err(Failure::Error(format!("unknown operation {op}"))),
    }
}

/// The answer to one message; every failure becomes an answer, a panic too.
fn answer(message: &Value) -> Value {
    if message["op"] == "hello" {
        return json!({"protocol": 1, "engine": ENGINE, "version": VERSION, "language": "rust", "features": FEATURES});
    }
    let panicked = |_| Err(Failure::Error("a panic; standard error has its message".into()));
    match catch_unwind(AssertUnwindSafe(|| work(message))).unwrap_or_else(panicked) {
        Ok(found) => found,
        Err(Failure::Refused(feature, why)) => json!({"id": message["id"], "refused": {"feature": feature, "message": why}}),
        Err(Failure::Error(why)) => json!({"id": message["id"], "error": {"message": why}}),
    }
}

fn main() -> io::Result<()> {
    for line in io::stdin().lock().lines() {
        let message: Value = serde_json::from_str(&line?)?;
        if message["op"] == "bye" {
            break;
        }
        writeln!(io::stdout(), "{}", answer(&message))?;
        io::stdout().flush()?;
    }
    Ok(())
}
