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
#include <parquet/exception.h>
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

// SUPPORTED: property, the supported values (an empty one: it may be absent), and the feature that any other value needs.
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
const std::set<string> REFUSED = {"inspect", "compute", "create", "write", "service", "begin", "resume"};

const std::regex META("_hoodie_(commit_time|commit_seqno|record_key|partition_path|file_name)");
const std::regex COMPLETED(R"((\d+)_\d+\.(commit|replacecommit|deltacommit))");

// The engine does not offer `feature`.
struct Refused {
  string feature, message;
};

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
      throw Refused{feature, key + " is " + found};
  if (!known.count("hoodie.table.name")) throw std::runtime_error("hoodie.table.name is missing");
  const string name = known["hoodie.database.name"] + "." + known["hoodie.table.name"];
  if (name.find('\\') != string::npos) throw Refused{"properties", "the escapes in " + name + " are not decoded"};
  const string sum = std::to_string(crc32(0, reinterpret_cast<const Bytef*>(name.data()), name.size()));
  if (known.emplace("hoodie.table.checksum", sum).first->second != sum)
    throw std::runtime_error("the checksum in hoodie.properties is not that of " + name);
  return known;
}

// The newest base file of each file group that was not replaced, by partition/file id.
//
// The metadata of the completed writes names all of them, as long as no instant was archived.
std::map<fs::path, fs::path> latest_files(const fs::path& table) {
  auto known = properties(table);
  const fs::path timeline = table / ".hoodie" / known["hoodie.timeline.path"];
  if (fs::exists(timeline / known["hoodie.timeline.history.path"] / "_version_"))
    throw Refused{"timeline.history", "the history of the timeline is not read"};
  const fs::directory_iterator entries(timeline);
  std::map<fs::path, fs::path> newest;
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
          throw Refused{"merge-on-read", path + " is not a base file of " + instant.str(1)};
        newest[fs::path(partition) / id] = table / path;
      }
    const json replacements = commit.value("/partitionToReplaceFileIds/map"_json_pointer, json::object());
    for (const auto& [partition, ids] : replacements.items())
      for (const string id : ids) replaced.insert(fs::path(partition) / id);
    schemas.insert(commit.value("/extraMetadata/map/schema"_json_pointer, ""));
  }
  schemas.erase("");
  if (schemas.size() > 1) throw Refused{"schema.evolution", "the commits differ in their schemas"};
  std::erase_if(newest, [&](const auto& entry) { return replaced.contains(entry.first); });
  return newest;
}

// The latest committed rows of the table. Call your engine here.
Table snapshot(const fs::path& table) {
  vector<Table> files;
  for (const auto& [group, path] : latest_files(table)) {
    PARQUET_ASSIGN_OR_THROW(const auto file, arrow::io::ReadableFile::Open(path.string()));
    PARQUET_ASSIGN_OR_THROW(const auto reader, parquet::arrow::OpenFile(file, arrow::default_memory_pool()));
    PARQUET_ASSIGN_OR_THROW(files.emplace_back(), reader->ReadTable());
  }
  if (files.empty()) throw Refused{"read.snapshot", "the schema of a table without base files is not read"};
  PARQUET_ASSIGN_OR_THROW(Table rows, arrow::ConcatenateTables(files));  // fails if the files differ in their schemas
  return rows;
}

// Write the rows of a query to an Arrow IPC file (not a stream).
json read(const json& message) {
  const auto& query = message.at("query");
  if (query.at("kind") != "snapshot" || query.value("by_id", false) || !query.value("where", json::array()).empty())
    throw Refused{"read." + query.at("kind").get<string>(), "only snapshot queries without a filter are offered"};
  const string uri = message.at("table"), into = message.at("into");
  if (!uri.starts_with("file://")) throw Refused{"storage." + uri.substr(0, uri.find(':')), "only local tables are read"};
  string path;
  PARQUET_THROW_NOT_OK(arrow::fs::FileSystemFromUri(uri, &path));
  Table rows = snapshot(path);
  vector<string> names = rows->ColumnNames();
  std::erase_if(names, [](const string& name) { return std::regex_match(name, META); });
  vector<int> columns;
  for (const string& name : query.value("columns", names)) columns.push_back(rows->schema()->GetFieldIndex(name));
  PARQUET_ASSIGN_OR_THROW(rows, rows->SelectColumns(columns));  // fails if a column does not exist
  PARQUET_ASSIGN_OR_THROW(const auto sink, arrow::io::FileOutputStream::Open(into));
  PARQUET_ASSIGN_OR_THROW(const auto writer, arrow::ipc::MakeFileWriter(sink, rows->schema()));
  PARQUET_THROW_NOT_OK(writer->WriteTable(*rows));
  PARQUET_THROW_NOT_OK(writer->Close());
  PARQUET_THROW_NOT_OK(sink->Close());
  return into;
}

// The answer to one message; every failure becomes an error answer. Operations that are not implemented yet are refused.
json answer(const json& message) {
  const string op = message.at("op");
  if (op == "hello")
    return {{"protocol", 1}, {"engine", ENGINE}, {"version", VERSION}, {"language", "cpp"}, {"features", FEATURES}};
  const json& id = message.at("id");
  try {
    if (REFUSED.contains(op)) throw Refused{op, "not offered"};
    if (op != "read") throw std::runtime_error("unknown operation " + op);
    return {{"id", id}, {"rows", read(message)}};
  } catch (const Refused& e) {
    return {{"id", id}, {"refused", {{"feature", e.feature}, {"message", e.message}}}};
  } catch (const std::exception& e) {
    return {{"id", id}, {"error", {{"message", e.what()}}}};
  }
}

int main() {
  for (string line; std::getline(std::cin, line);) {
    const json message = json::parse(line);
    if (message.at("op") == "bye") break;
    std::cout << answer(message).dump(-1, ' ', false, json::error_handler_t::replace) << std::endl;
  }
}
