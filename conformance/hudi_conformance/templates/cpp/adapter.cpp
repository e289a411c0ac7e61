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

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
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

// The other operations of the contract.
const std::set<string> REFUSED = {"inspect", "compute", "create", "write", "service", "begin", "resume"};

const std::set<string> META = {
    "_hoodie_commit_time", "_hoodie_commit_seqno", "_hoodie_record_key", "_hoodie_partition_path", "_hoodie_file_name",
};
const std::regex COMPLETED(R"(\d+_\d+\.(commit|replacecommit|deltacommit))");
const std::regex BASE_FILE(R"(([^_/]+)_[^_/]+_(\d+)\.parquet)");

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

string content(const fs::path& path) {
  if (!fs::is_regular_file(path)) throw std::runtime_error("no file " + path.string());
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The metadata of a completed write: one record in an Avro container, as JSON in which {"map": …} is the value of a union.
json commit_metadata(const fs::path& path) {
  content(path);  // throws if it cannot be read
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
  std::map<string, string> known;
  std::istringstream lines(content(table / ".hoodie" / "hoodie.properties"));
  const auto trim = [](const string& s) { return std::regex_replace(s, std::regex(R"(^\s+|\s+$)"), ""); };
  for (string line; std::getline(lines, line);)
    if (const auto at = line.find('='); at != string::npos && line[0] != '#')
      known[trim(line.substr(0, at))] = trim(line.substr(at + 1));
  for (const auto& [key, values, feature] : SUPPORTED)
    if (const string found = known[key]; !std::regex_match(found, std::regex(values)))
      throw Refused(feature, key + " is " + found);
  if (!known.count("hoodie.table.name")) throw std::runtime_error("hoodie.table.name is missing");
  const string name = known["hoodie.database.name"] + "." + known["hoodie.table.name"];
  if (name.find('\\') != string::npos) throw Refused("properties", "the escapes in " + name + " are not decoded");
  const string sum = std::to_string(crc32(0, reinterpret_cast<const Bytef*>(name.data()), name.size()));
  if (known.emplace("hoodie.table.checksum", sum).first->second != sum)
    throw std::runtime_error("the checksum in hoodie.properties is not that of " + name);
  known.emplace("hoodie.timeline.path", "timeline");
  known.emplace("hoodie.timeline.history.path", "history");
  return known;
}

struct Latest {
  vector<fs::path> files;                   // the newest base file of each file group that was not replaced
  std::optional<std::set<string>> columns;  // the names of the data columns in the latest commit's schema
};

// The metadata of the completed writes names all base files, as long as no instant was archived.
Latest latest_files(const fs::path& table) {
  auto known = properties(table);
  const fs::path timeline = table / ".hoodie" / known["hoodie.timeline.path"];
  if (fs::exists(timeline / known["hoodie.timeline.history.path"] / "_version_"))
    throw Refused("timeline.history", "the history of the timeline is not read");
  std::set<fs::path> completed;
  for (const auto& file : fs::directory_iterator(timeline))
    if (std::regex_match(file.path().filename().string(), COMPLETED)) completed.insert(file.path());
  Latest latest;
  std::map<std::pair<string, string>, std::pair<string, fs::path>> newest;  // by partition and file id
  std::set<std::pair<string, string>> replaced;
  for (const auto& path : completed) {
    const json commit = commit_metadata(path);
    const json replacements = commit.value("/partitionToReplaceFileIds/map"_json_pointer, json::object());
    for (const auto& [partition, ids] : replacements.items())
      for (const string id : ids) replaced.insert({partition, id});
    const json written = commit.value("/partitionToWriteStats/map"_json_pointer, json::object());
    for (const auto& [partition, stats] : written.items())
      for (const json& stat : stats) {
        const string name = fs::path(stat.at("/path/string"_json_pointer).get<string>()).filename();
        std::smatch parts;
        if (!std::regex_match(name, parts, BASE_FILE)) throw Refused("merge-on-read", name + " is not a Parquet base file");
        auto& file = newest[{partition, parts[1]}];
        file = std::max(file, {parts[2], table / partition / name});
      }
    const string text = commit.value("/extraMetadata/map/schema"_json_pointer, "");
    if (text.empty()) continue;
    latest.columns.emplace();
    const json schema = json::parse(text);
    for (const auto& column : schema.at("fields"))
      if (!META.contains(column.at("name"))) latest.columns->insert(column.at("name").get<string>());
  }
  for (const auto& [group, file] : newest)
    if (!replaced.contains(group)) latest.files.push_back(file.second);
  return latest;
}

// The latest committed rows of the table. Call your engine here.
Table snapshot(const fs::path& table) {
  const auto latest = latest_files(table);
  vector<Table> rows;
  for (const auto& path : latest.files) {
    const auto file = must(arrow::io::ReadableFile::Open(path.string()));
    rows.push_back(must(must(parquet::arrow::OpenFile(file, arrow::default_memory_pool()))->ReadTable()));
    if (!rows.back()->schema()->Equals(*rows[0]->schema(), false))
      throw Refused("schema.evolution", "the base files differ in their schemas");
  }
  if (rows.empty()) throw Refused("read.snapshot", "the schema of a table without base files is not read");
  std::set<string> names;
  for (const auto& name : rows[0]->ColumnNames())
    if (!META.contains(name)) names.insert(name);
  if (latest.columns && latest.columns != names)
    throw Refused("schema.evolution", "the schema of the latest commit differs from that of the base files");
  return must(arrow::ConcatenateTables(rows));
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

// The answer without its id. Operations that are not implemented yet are refused.
json work(const json& message) {
  const string op = message.at("op");
  if (op == "read") return read(message);
  if (REFUSED.contains(op)) throw Refused(op, "not offered");
  throw std::runtime_error("unknown operation " + op);
}

// The answer to one message; every failure becomes an error answer.
json answer(const json& message) {
  if (message.at("op") == "hello")
    return {{"protocol", 1}, {"engine", ENGINE}, {"version", VERSION}, {"language", "cpp"}, {"features", FEATURES}};
  json found;
  try {
    found = work(message);
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
