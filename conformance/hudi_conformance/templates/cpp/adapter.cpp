// An adapter for hudi-conformance: JSON lines on standard input and output.
//
// It reads copy-on-write tables of versions 8 and 9 and refuses everything else. Replace `snapshot` by a call of your engine,
// extend FEATURES, and run smoke and the suite after each step.
#include <arrow/api.h>
#include <arrow/filesystem/api.h>
#include <arrow/io/api.h>
#include <arrow/ipc/api.h>
#include <avro.h>
#include <parquet/arrow/reader.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>

namespace fs = std::filesystem;
using nlohmann::json;
using std::string, std::vector;
using Table = std::shared_ptr<arrow::Table>;

const string ENGINE = "my-engine", VERSION = "0.1.0";

// The declared features. Everything else is refused: a refusal is not a failure, a wrong answer is.
const vector<string> FEATURES = {
    "table-version.9", "read.snapshot", "read.projection", "read.meta-columns", "copy-on-write", "storage.file",
    "timeline.replaced-groups", "key.complex", "meta-fields.absent", "partition.none", "partition.plain", "partition.hive",
    "partition.url-encoded", "partition.several-levels", "types.nested", "types.decimal", "types.temporal",
    "merge.commit-time", "merge.event-time",
};

// SUPPORTED: property, pattern of the supported values (it may match an absent one), and the feature that any other value needs.
const vector<std::array<string, 3>> SUPPORTED = {
    {"hoodie.table.version", "8|9", "table-version"},
    {"hoodie.timeline.layout.version", "2", "timeline-layout"},
    {"hoodie.table.type", "COPY_ON_WRITE", "merge-on-read"},
    {"hoodie.table.base.file.format", "|PARQUET", "base-file-format"},
    {"hoodie.table.multiple.base.file.formats.enable", "|false", "base-file-format"},
    {"hoodie.datasource.write.drop.partition.columns", "|false", "partition.dropped-columns"},
    {"hoodie.bootstrap.base.path", "", "bootstrap"},
};

// The operations of the contract that are refused.
const std::set<string> OPERATIONS = {"inspect", "compute", "create", "write", "service", "begin", "resume"};

const std::set<string> META = {
    "_hoodie_commit_time", "_hoodie_commit_seqno", "_hoodie_record_key", "_hoodie_partition_path", "_hoodie_file_name",
};
const std::regex COMPLETED(R"((\d+)_\d+\.(commit|replacecommit|deltacommit))");

// The engine does not offer `feature`.
struct Refused : std::runtime_error {
  string feature;
  Refused(string feature, const string& message) : std::runtime_error(message), feature(std::move(feature)) {}
};

void check(const arrow::Status& status) {
  if (!status.ok()) throw std::runtime_error(status.ToString());
}

template <typename T>
T must(arrow::Result<T> result) {
  check(result.status());
  return std::move(result).ValueUnsafe();
}

// The metadata of a completed write: one record in an Avro container, as JSON in which {"map": …} is the value of a union.
json commit_metadata(const fs::path& path) {
  avro_file_reader_t reader;
  if (avro_file_reader(path.c_str(), &reader)) throw std::runtime_error(path.string() + ": " + avro_strerror());
  avro_value_iface_t* iface = avro_generic_class_from_schema(avro_file_reader_get_writer_schema(reader));
  avro_value_t record;
  avro_generic_value_new(iface, &record);
  char* encoded = nullptr;
  const bool whole = avro_file_reader_read_value(reader, &record) == 0 && avro_value_to_json(&record, 1, &encoded) == 0;
  const json commit = whole ? json::parse(encoded) : json();
  free(encoded);
  avro_value_decref(&record);
  avro_value_iface_decref(iface);
  avro_file_reader_close(reader);
  if (!whole) throw std::runtime_error(path.string() + ": " + avro_strerror());
  return commit;
}

// The entries of hoodie.properties. Tables that are damaged or not supported throw.
std::map<string, string> properties(const fs::path& table) {
  const std::regex entry(R"(\s*([^#=\s][^=]*?)\s*=\s*(.*?)\s*)");
  std::map<string, string> known = {{"hoodie.timeline.path", "timeline"}, {"hoodie.timeline.history.path", "history"}};
  std::ifstream lines(table / ".hoodie" / "hoodie.properties");
  if (!lines) throw std::runtime_error("no table at " + table.string());
  std::smatch found;
  for (string line; std::getline(lines, line);)
    if (std::regex_match(line, found, entry)) known[found[1]] = found[2];
  for (const auto& [key, values, feature] : SUPPORTED)
    if (const string found = known[key]; !std::regex_match(found, std::regex(values)))
      throw Refused(feature, key + " is " + found);
  if (!known.count("hoodie.table.name")) throw std::runtime_error("hoodie.table.name is missing");
  const string name = known["hoodie.database.name"] + "." + known["hoodie.table.name"];
  if (name.find('\\') != string::npos) throw Refused("properties", "the escapes in " + name + " are not decoded");
  const string sum = std::to_string(crc32(0, reinterpret_cast<const Bytef*>(name.data()), name.size()));
  if (known.emplace("hoodie.table.checksum", sum).first->second != sum)
    throw std::runtime_error("the checksum in hoodie.properties is not that of " + name);
  return known;
}

// The newest base file of each file group that was not replaced.
//
// The metadata of the completed writes names all of them, as long as no instant was archived.
vector<fs::path> latest_files(const fs::path& table) {
  auto known = properties(table);
  const fs::path timeline = table / ".hoodie" / known["hoodie.timeline.path"];
  if (fs::exists(timeline / known["hoodie.timeline.history.path"] / "_version_"))
    throw Refused("timeline.history", "the history of the timeline is not read");
  const fs::directory_iterator entries(timeline);
  std::map<fs::path, fs::path> newest;  // by partition/file id
  std::set<fs::path> replaced, names(begin(entries), end(entries));
  std::set<string> schemas;
  for (const auto& name : names) {
    std::smatch instant;
    const string file = name.filename();
    if (!std::regex_match(file, instant, COMPLETED)) continue;
    const json commit = commit_metadata(name);
    const json written = commit.value("/partitionToWriteStats/map"_json_pointer, json::object());
    for (const auto& [partition, stats] : written.items())
      for (const json& stat : stats) {
        const string path = stat.at("/path/string"_json_pointer), id = stat.at("/fileId/string"_json_pointer);
        if (!path.ends_with("_" + instant.str(1) + ".parquet"))
          throw Refused("merge-on-read", path + " is not a base file of " + instant.str(1));
        newest[fs::path(partition) / id] = table / path;
      }
    const json replacements = commit.value("/partitionToReplaceFileIds/map"_json_pointer, json::object());
    for (const auto& [partition, ids] : replacements.items())
      for (const string id : ids) replaced.insert(fs::path(partition) / id);
    schemas.insert(commit.value("/extraMetadata/map/schema"_json_pointer, ""));
  }
  schemas.erase("");
  if (schemas.size() > 1) throw Refused("schema.evolution", "the commits differ in their schemas");
  vector<fs::path> latest;
  for (const auto& [group, path] : newest)
    if (!replaced.contains(group)) latest.push_back(path);
  return latest;
}

// The latest committed rows of the table. Call your engine here.
Table snapshot(const fs::path& table) {
  vector<Table> rows;
  for (const auto& path : latest_files(table)) {
    const auto file = must(arrow::io::ReadableFile::Open(path.string()));
    rows.push_back(must(must(parquet::arrow::OpenFile(file, arrow::default_memory_pool()))->ReadTable()));
  }
  if (rows.empty()) throw Refused("read.snapshot", "the schema of a table without base files is not read");
  return must(arrow::ConcatenateTables(rows));  // fails if the files differ in their schemas
}

// Write the rows of a query to an Arrow IPC file (not a stream).
json read(const json& message) {
  const auto& query = message.at("query");
  if (query.at("kind") != "snapshot" || query.value("by_id", false) || !query.value("where", json::array()).empty())
    throw Refused("read." + query.at("kind").get<string>(), "only snapshot queries without a filter are offered");
  const string uri = message.at("table");
  if (!uri.starts_with("file://")) throw Refused("storage." + uri.substr(0, uri.find(':')), "only local tables are read");
  string path;
  must(arrow::fs::FileSystemFromUri(uri, &path));
  Table rows = snapshot(path);
  vector<int> columns;
  if (query.contains("columns"))
    for (const string name : query.at("columns")) columns.push_back(rows->schema()->GetFieldIndex(name));
  else
    for (int i = 0; i < rows->num_columns(); i++)
      if (!META.contains(rows->field(i)->name())) columns.push_back(i);
  rows = must(rows->SelectColumns(columns));  // raises if a column does not exist
  const auto sink = must(arrow::io::FileOutputStream::Open(message.at("into").get<string>()));
  const auto writer = must(arrow::ipc::MakeFileWriter(sink, rows->schema()));
  check(writer->WriteTable(*rows));
  check(writer->Close());
  check(sink->Close());
  return {{"rows", message.at("into")}};
}

// The answer to one message; every failure becomes an error answer. Operations that are not implemented yet are refused.
json answer(const json& message) {
  const string op = message.at("op");
  if (op == "hello")
    return {{"protocol", 1}, {"engine", ENGINE}, {"version", VERSION}, {"language", "cpp"}, {"features", FEATURES}};
  json found;
  try {
    if (op == "read") found = read(message);
    else if (OPERATIONS.contains(op)) throw Refused(op, "not offered");
    else throw std::runtime_error("unknown operation " + op);
  } catch (const Refused& e) {
    found = {{"refused", {{"feature", e.feature}, {"message", e.what()}}}};
  } catch (const std::exception& e) {
    found = {{"error", {{"message", e.what()}}}};
  }
  found["id"] = message.at("id");
  return found;
}

int main() {
  for (string line; std::getline(std::cin, line);) {
    const json message = json::parse(line);
    if (message.at("op") == "bye") break;
    std::cout << answer(message).dump(-1, ' ', false, json::error_handler_t::replace) << std::endl;
  }
}
