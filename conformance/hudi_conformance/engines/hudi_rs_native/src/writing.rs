//! Writes and compaction, on tables of versions 8 and 9.

use std::fs::File;
use std::str::FromStr;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch, new_null_array};
use arrow::compute::{cast, concat_batches};
use arrow::datatypes::DataType;
use arrow::ipc::reader::FileReader;
use hudi_core::config::table::TableTypeValue;
use hudi_core::table::{HoodieKey, Table, UpsertOptions};
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use serde_json::Value;

use crate::{Answer, error, refused, text, texts};

/// What `escapePathName` of Hive escapes in a folder name.
const ESCAPED: &AsciiSet = &CONTROLS
    .add(b'"').add(b'#').add(b'%').add(b'\'').add(b'*').add(b'/').add(b':').add(b'=').add(b'?').add(b'\\').add(b'{')
    .add(b'[').add(b']').add(b'^');

const URL_ENCODE: &str = "hoodie.datasource.write.partitionpath.urlencode";

/// Create an empty table.
///
/// Without a metadata table, because a writer of hudi-rs has one from the creation of a table or never.
pub async fn create(message: &Value) -> Answer<()> {
    let spec = &message["spec"];
    let ordering = texts(&spec["ordering"]);
    let version = spec["version"].as_i64().unwrap_or(8);
    let implied = if ordering.is_empty() { "COMMIT_TIME_ORDERING" } else { "EVENT_TIME_ORDERING" };
    let mut table = Table::create(text(&message["table"]))
        .with_table_name(text(&spec["name"]))
        .with_table_type(TableTypeValue::from_str(text(&spec["type"]))?)
        .with_table_version(version as isize)
        .with_record_key_fields(texts(&spec["record_key"]))
        .with_partition_fields(texts(&spec["partition"]))
        .with_ordering_fields(ordering)
        .with_hive_style_partitioning(spec["hive_style"] == true)
        .with_metadata_table_enabled(false)
        .with_option(URL_ENCODE, (spec["url_encode"] == true).to_string())
        .with_option("hoodie.table.create.schema", spec["schema"].to_string());
    if let Some(mode) = spec["merge_mode"].as_str().filter(|mode| *mode != implied) {
        let strategy = match mode {
            "COMMIT_TIME_ORDERING" => "ce9acb64-bde0-424c-9b91-f6ebba25356d",
            "EVENT_TIME_ORDERING" => return refused("create", "hudi-rs takes event time without an ordering field as commit time"),
            _ => return refused("merge.custom", "hudi-rs does not write tables of custom merging"),
        };
        table = table.with_option("hoodie.record.merge.mode", mode);
        if version < 9 {
            table = table.with_option("hoodie.record.merge.strategy.id", strategy);
        }
    }
    for (key, value) in spec["properties"].as_object().into_iter().flatten() {
        table = match (key.as_str(), text(value)) {
            ("hoodie.populate.meta.fields", value) => table.with_populates_meta_fields(value == "true"),
            (key, value) => table.with_option(key, value),
        };
    }
    match table.create().await {
        Err(e) if e.to_string().contains("is set by a dedicated table builder method") => refused("create", e.to_string()),
        created => Ok(drop(created?)),
    }
}

/// One commit; its requested time.
pub async fn write(message: &Value) -> Answer<String> {
    let operation = text(&message["operation"]);
    if !["insert", "bulk_insert", "upsert", "delete", "partial_update", "insert_overwrite"].contains(&operation) {
        return refused(&format!("write.{operation}"), "hudi-rs has no such operation");
    }
    let mut table = opened(message).await?;
    let rows = rows(text(&message["rows"]))?;
    let written = match operation {
        "upsert" => table.upsert([rows]).await?,
        "delete" => table.delete_keys(keys(&table, &rows)?).await?,
        "partial_update" => {
            let columns = rows.schema().fields().iter().map(|field| field.name().clone()).collect();
            let rows = completed(&table, &rows).await?;
            table.upsert_with([rows], UpsertOptions { update_columns: Some(columns) }).await?
        }
        "insert_overwrite" if property(&table, "hoodie.table.partition.fields").is_empty() => table.overwrite([rows]).await?,
        "insert_overwrite" => table.dynamic_partition_overwrite([rows]).await?,
        _ => table.append([rows]).await?,
    };
    match written.requested_time {
        Some(instant) => Ok(instant),
        None => error("the write changes nothing, and hudi-rs made no commit"),
    }
}

/// Compact all file groups with log files; None if there were none.
pub async fn compact(message: &Value) -> Answer<Option<String>> {
    if !["", "run"].contains(&text(&message["phase"])) {
        return refused("service.compaction", "hudi-rs schedules and executes a compaction in one call");
    }
    Ok(opened(message).await?.compact().await?.requested_time)
}

/// The table, with the options of the message.
async fn opened(message: &Value) -> Answer<Table> {
    let options = message["options"].as_object().into_iter().flatten();
    let options: Vec<_> = options.map(|(key, value)| (key, text(value))).collect();
    if options.contains(&(&"hoodie.metadata.enable".to_string(), "true")) {
        return refused("write.metadata-table", "hudi-rs adds no metadata table to a table that has none");
    }
    if options.contains(&(&"hoodie.index.type".to_string(), "BUCKET")) {
        return refused("write.bucket-index", "hudi-rs finds records in its record index or by reading keys");
    }
    Ok(Table::new_with_options(text(&message["table"]), options).await?)
}

fn rows(path: &str) -> Answer<RecordBatch> {
    let file = FileReader::try_new(File::open(path)?, None)?;
    let schema = file.schema();
    Ok(concat_batches(&schema, &file.collect::<Result<Vec<_>, _>>()?)?)
}

fn property(table: &Table, name: &str) -> String {
    table.hudi_options().remove(name).unwrap_or_default()
}

fn fields(table: &Table, name: &str) -> Vec<String> {
    property(table, name).split(',').filter(|field| !field.is_empty()).map(str::to_string).collect()
}

/// The rows with a null in each column of the table that they lack.
async fn completed(table: &Table, rows: &RecordBatch) -> Answer<RecordBatch> {
    let schema = Arc::new(table.get_schema().await?);
    let column = |name: &String, kind| rows.column_by_name(name).cloned().unwrap_or_else(|| new_null_array(kind, rows.num_rows()));
    let columns = schema.fields().iter().map(|field| column(field.name(), field.data_type())).collect();
    Ok(RecordBatch::try_new(schema, columns)?)
}

/// The keys of rows to delete. hudi-core makes keys of inserted rows itself, but wants those of a delete from its caller.
fn keys(table: &Table, rows: &RecordBatch) -> Answer<Vec<HoodieKey>> {
    let key = texts_of(rows, fields(table, "hoodie.table.recordkey.fields"))?;
    let partition = texts_of(rows, fields(table, "hoodie.table.partition.fields"))?;
    let hive = property(table, "hoodie.datasource.write.hive_style_partitioning") == "true";
    let encoded = property(table, URL_ENCODE) == "true";
    let of_row = |row| {
        let record_key = match &key[..] {
            [(_, values)] => value(values, row).unwrap_or_default().to_string(),
            several => joined(several, ",", |name, values| match value(values, row) {
                None => format!("{name}:__null__"),
                Some("") => format!("{name}:__empty__"),
                Some(text) => format!("{name}:{text}"),
            }),
        };
        let partition_path = joined(&partition, "/", |name, values| {
            let text = value(values, row).filter(|text| !text.is_empty()).unwrap_or("__HIVE_DEFAULT_PARTITION__");
            let text = if encoded { utf8_percent_encode(text, ESCAPED).to_string() } else { text.to_string() };
            if hive { format!("{name}={text}") } else { text }
        });
        HoodieKey { record_key, partition_path }
    };
    Ok((0..rows.num_rows()).map(of_row).collect())
}

fn texts_of(rows: &RecordBatch, names: Vec<String>) -> Answer<Vec<(String, ArrayRef)>> {
    let text_of = |name: String| match rows.column_by_name(&name) {
        Some(column) => Ok((name, cast(column, &DataType::Utf8)?)),
        None => error(format!("the rows have no column {name}")),
    };
    names.into_iter().map(text_of).collect()
}

fn value(values: &ArrayRef, row: usize) -> Option<&str> {
    values.is_valid(row).then(|| values.as_string::<i32>().value(row))
}

fn joined(columns: &[(String, ArrayRef)], with: &str, part: impl Fn(&str, &ArrayRef) -> String) -> String {
    columns.iter().map(|(name, values)| part(name, values)).collect::<Vec<_>>().join(with)
}
