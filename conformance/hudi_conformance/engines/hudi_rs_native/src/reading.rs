//! Queries. hudi-core applies filters and projections itself.

use std::fs::File;
use std::sync::Arc;

use arrow::datatypes::{Schema, SchemaRef};
use arrow::ipc::writer::FileWriter;
use arrow::record_batch::RecordBatch;
use hudi_core::table::{QueryType, ReadOptions, Table};
use serde_json::Value;

use crate::{Answer, error, refused, text, texts};

/// Write the rows of a query to the Arrow IPC file that the message names.
pub async fn read(message: &Value) -> Answer<()> {
    let query = &message["query"];
    if query["kind"] == "cdc" {
        return refused("read.cdc", "hudi-rs has no change data queries");
    }
    if query["by_id"] == true {
        return refused("read.by-id", "hudi-rs matches columns by name");
    }
    let table = Table::new(text(&message["table"])).await?;
    let batches = table.read(&options(query)?).await?;
    // An empty answer comes without its schema.
    let schema = match batches.first() {
        Some(batch) => nullable(&batch.schema()),
        None => nullable(&table.get_schema_with_meta_fields().await?),
    };
    let columns = if query["columns"].is_array() {
        texts(&query["columns"]).iter().map(|name| schema.index_of(name)).collect::<Result<Vec<_>, _>>()?
    } else {
        (0..schema.fields().len()).filter(|&i| !is_meta(schema.field(i).name())).collect()
    };
    let mut writer = FileWriter::try_new(File::create(text(&message["into"]))?, &schema.project(&columns)?)?;
    for batch in batches {
        if !same_columns(&schema, &batch.schema()) {
            return error(format!("batches of several schemas: {:?} and {:?}", schema, batch.schema()));
        }
        writer.write(&RecordBatch::try_new(schema.clone(), batch.columns().to_vec())?.project(&columns)?)?;
    }
    Ok(writer.finish()?)
}

/// The query as options of hudi-core; its filter values are texts.
fn options(query: &Value) -> Answer<ReadOptions> {
    let filters = query["where"].as_array().into_iter().flatten();
    let filters = filters.map(|f| Ok((text(&f[0]), text(&f[1]), f[2].as_array().map_or(Ok(plain(&f[2])), list)?)));
    let mut found = ReadOptions::new().with_filters(filters.collect::<Answer<Vec<_>>>()?)?;
    if query["columns"].is_array() {
        found = found.with_projection(texts(&query["columns"]));
    }
    match text(&query["kind"]) {
        "read-optimized" => found = found.with_hudi_option("hoodie.read.use.read_optimized.mode", "true"),
        "as-of" => found = found.with_as_of_timestamp(text(&query["as_of"])),
        "incremental" => {
            found = found.with_query_type(QueryType::Incremental);
            if let Some(begin) = query["begin"].as_str() {
                found = found.with_start_timestamp(begin);
            }
            if let Some(end) = query["end"].as_str() {
                found = found.with_end_timestamp(end);
            }
        }
        _ => {}
    }
    Ok(found)
}

fn plain(value: &Value) -> String {
    value.as_str().map_or(value.to_string(), str::to_string)
}

/// The values of `in` as one text, without nulls, which equal nothing. Refused where hudi-core loses a member.
fn list(values: &Vec<Value>) -> Answer<String> {
    let texts: Vec<_> = values.iter().filter(|value| !value.is_null()).map(plain).collect();
    if texts.is_empty() || texts.iter().any(|text| text.is_empty() || text.trim() != text) {
        return refused("read.filter.in", "hudi-rs takes no empty list, and drops blanks at the ends of its members");
    }
    Ok(texts.iter().map(|text| text.replace('\\', "\\\\").replace(',', "\\,")).collect::<Vec<_>>().join(","))
}

/// Batches of one answer differ in which columns may be null.
fn nullable(schema: &Schema) -> SchemaRef {
    let fields: Vec<_> = schema.fields().iter().map(|field| field.as_ref().clone().with_nullable(true)).collect();
    Arc::new(Schema::new(fields))
}

fn same_columns(one: &Schema, other: &Schema) -> bool {
    let columns = |schema: &Schema| schema.fields().iter().map(|f| (f.name().clone(), f.data_type().clone())).collect::<Vec<_>>();
    columns(one) == columns(other)
}

fn is_meta(name: &str) -> bool {
    ["_hoodie_commit_time", "_hoodie_commit_seqno", "_hoodie_record_key", "_hoodie_partition_path", "_hoodie_file_name"]
        .contains(&name)
}
