import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.*;
import java.net.URI;
import java.nio.channels.FileChannel;
import java.nio.file.*;
import java.util.*;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.zip.CRC32;
import org.apache.arrow.dataset.file.*;
import org.apache.arrow.dataset.jni.NativeMemoryPool;
import org.apache.arrow.dataset.scanner.ScanOptions;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.ipc.ArrowFileWriter;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.avro.file.DataFileReader;
import org.apache.avro.file.SeekableByteArrayInput;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.generic.GenericRecord;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.WRITE;

/**
 * An adapter for hudi-conformance: JSON lines on standard input and output.
 *
 * <p>It reads copy-on-write tables of versions 8 and 9 and refuses everything else. Replace {@link #snapshot} by a call of
 * your engine, extend FEATURES, and run smoke and the suite after each step.
 */
public final class Adapter {
  static final String ENGINE = "my-engine", VERSION = "0.1.0";

  /** The declared features. Everything else is refused: a refusal is not a failure, a wrong answer is. */
  static final List<String> FEATURES = List.of(
      "table-version.9", "read.snapshot", "read.projection", "read.meta-columns", "copy-on-write", "storage.file",
      "timeline.replaced-groups", "key.complex", "meta-fields.absent", "partition.none", "partition.plain", "partition.hive",
      "partition.url-encoded", "partition.several-levels", "types.nested", "types.decimal", "types.temporal",
      "merge.commit-time", "merge.event-time");

  /** Property, the supported values (an empty one: it may be absent), and the feature that any other value needs. */
  static final String[][] SUPPORTED = {
    {"hoodie.table.version", "8|9", "table-version"},
    {"hoodie.timeline.layout.version", "2", "timeline-layout"},
    {"hoodie.table.type", "COPY_ON_WRITE", "merge-on-read"},
    {"hoodie.table.base.file.format", "|PARQUET", "base-file-format"},
    {"hoodie.table.multiple.base.file.formats.enable", "|false", "base-file-format"},
    {"hoodie.datasource.write.drop.partition.columns", "|false", "partition.dropped-columns"},
    {"hoodie.bootstrap.base.path", "", "bootstrap"},
  };

  /** The other operations of the contract. */
  static final Set<String> REFUSED = Set.of("inspect", "compute", "create", "write", "service", "begin", "resume");

  static final Set<String> META = Set.of(
      "_hoodie_commit_time", "_hoodie_commit_seqno", "_hoodie_record_key", "_hoodie_partition_path", "_hoodie_file_name");
  static final Pattern COMPLETED = Pattern.compile("\\d+_\\d+\\.(commit|replacecommit|deltacommit)");
  static final Pattern BASE_FILE = Pattern.compile("([^_/]+)_[^_/]+_(\\d+)\\.parquet");
  static final ObjectMapper JSON = new ObjectMapper();

  /** The engine does not offer `feature`. */
  static final class Refused extends RuntimeException {
    final String feature;

    Refused(String feature, String message) {
      super(message);
      this.feature = feature;
    }
  }

  record Group(String partition, String fileId) {}

  record BaseFile(String instant, Path path) {}

  /** The newest base files, and the column names in the schema of the latest commit; null if no commit has one. */
  record Latest(List<Path> files, Set<String> columns) {}

  /** Write the rows of a query to an Arrow IPC file (not a stream). */
  static Map<String, Object> read(JsonNode message) throws Exception {
    JsonNode query = message.get("query");
    String kind = query.get("kind").asText();
    if (!kind.equals("snapshot") || query.path("by_id").asBoolean() || !query.path("where").isEmpty()) {
      throw new Refused("read." + kind, "only snapshot queries without a filter are offered");
    }
    URI table = URI.create(message.get("table").asText());
    if (!table.getScheme().equals("file")) {
      throw new Refused("storage." + table.getScheme(), "only local tables are read");
    }
    try (var files = snapshot(Path.of(table))) {
      String[] columns = query.has("columns")
          ? JSON.convertValue(query.get("columns"), String[].class)
          : dataColumns(files.inspect().getFields()).toArray(String[]::new);
      try (var dataset = files.finish();
          var scanner = dataset.newScan(new ScanOptions(1 << 15, Optional.of(columns)));
          var reader = scanner.scanBatches();
          var channel = FileChannel.open(Path.of(message.get("into").asText()), CREATE, WRITE);
          var writer = new ArrowFileWriter(reader.getVectorSchemaRoot(), reader, channel)) {
        writer.start();
        while (reader.loadNextBatch()) {
          writer.writeBatch();
        }
        writer.end();
      }
    }
    return Map.of("rows", message.get("into").asText());
  }

  /** The latest committed rows of the table, as a data set of Parquet files. Call your engine here. */
  static FileSystemDatasetFactory snapshot(Path table) throws Exception {
    Latest latest = latestFiles(table);
    List<Field> first = null;
    for (Path path : latest.files()) {
      try (var file = files(List.of(path))) {
        List<Field> found = file.inspect().getFields();
        first = first == null ? found : first;
        if (!types(found).equals(types(first))) {
          throw new Refused("schema.evolution", "the base files differ in their schemas");
        }
      }
    }
    if (first == null) {
      throw new Refused("read.snapshot", "the schema of a table without base files is not read");
    }
    if (latest.columns() != null && !latest.columns().equals(Set.copyOf(dataColumns(first)))) {
      throw new Refused("schema.evolution", "the schema of the latest commit differs from that of the base files");
    }
    return files(latest.files());
  }

  static FileSystemDatasetFactory files(List<Path> paths) {
    String[] uris = paths.stream().map(path -> path.toUri().toString()).toArray(String[]::new);
    return new FileSystemDatasetFactory(new RootAllocator(), NativeMemoryPool.getDefault(), FileFormat.PARQUET, uris);
  }

  static List<String> dataColumns(List<Field> fields) {
    return fields.stream().map(Field::getName).filter(name -> !META.contains(name)).toList();
  }

  static String types(List<Field> fields) {
    var each = fields.stream().map(field -> field.getName() + field.getType() + types(field.getChildren()));
    return each.collect(Collectors.joining(",", "(", ")"));
  }

  /**
   * The newest base file of each file group that was not replaced, and the column names in the latest commit's schema. The
   * metadata of the completed writes names all of them, as long as no instant was archived.
   */
  static Latest latestFiles(Path table) throws IOException {
    Properties known = properties(table);
    Path timeline = table.resolve(".hoodie").resolve(known.getProperty("hoodie.timeline.path", "timeline"));
    Path history = timeline.resolve(known.getProperty("hoodie.timeline.history.path", "history"));
    if (Files.exists(history.resolve("_version_"))) {
      throw new Refused("timeline.history", "the history of the timeline is not read");
    }
    Map<Group, BaseFile> newest = new HashMap<>();
    Set<Group> replaced = new HashSet<>();
    Set<String> columns = null;
    for (Path file : completedWrites(timeline)) {
      GenericRecord commit = commitMetadata(file);
      map(commit, "partitionToReplaceFileIds").forEach((partition, ids) ->
          ((List<?>) ids).forEach(id -> replaced.add(new Group(partition.toString(), id.toString()))));
      map(commit, "partitionToWriteStats").forEach((partition, stats) -> {
        for (Object stat : (List<?>) stats) {
          String name = ((GenericRecord) stat).get("path").toString().replaceAll(".*/", "");
          var found = BASE_FILE.matcher(name);
          if (!found.matches()) {
            throw new Refused("merge-on-read", name + " is not a Parquet base file");
          }
          var written = new BaseFile(found.group(2), table.resolve(partition.toString()).resolve(name));
          newest.merge(new Group(partition.toString(), found.group(1)), written,
              (a, b) -> a.instant().compareTo(b.instant()) > 0 ? a : b);
        }
      });
      for (var entry : map(commit, "extraMetadata").entrySet()) {
        if (entry.getKey().toString().equals("schema") && !entry.getValue().toString().isEmpty()) {
          columns = new HashSet<>();
          for (JsonNode field : JSON.readTree(entry.getValue().toString()).get("fields")) {
            columns.add(field.get("name").asText());
          }
          columns.removeAll(META);
        }
      }
    }
    newest.keySet().removeAll(replaced);
    return new Latest(newest.values().stream().map(BaseFile::path).toList(), columns);
  }

  static List<Path> completedWrites(Path timeline) throws IOException {
    try (var files = Files.list(timeline)) {
      return files.filter(path -> COMPLETED.matcher(path.getFileName().toString()).matches()).sorted().toList();
    }
  }

  /** The metadata of a completed write: one record in an Avro container. */
  static GenericRecord commitMetadata(Path path) throws IOException {
    var content = new SeekableByteArrayInput(Files.readAllBytes(path));
    try (var reader = new DataFileReader<GenericRecord>(content, new GenericDatumReader<>())) {
      return reader.next();
    }
  }

  /** A field of commit metadata; empty if the record does not have it. */
  static Map<?, ?> map(GenericRecord commit, String field) {
    Object found = commit.hasField(field) ? commit.get(field) : null;
    return found == null ? Map.of() : (Map<?, ?>) found;
  }

  /** The entries of hoodie.properties. Tables that are damaged or not supported raise. */
  static Properties properties(Path table) throws IOException {
    Properties known = new Properties();
    try (var content = Files.newBufferedReader(table.resolve(".hoodie").resolve("hoodie.properties"), ISO_8859_1)) {
      known.load(content);
    }
    for (String[] row : SUPPORTED) {
      if (!List.of(row[1].split("\\|", -1)).contains(known.getProperty(row[0], ""))) {
        throw new Refused(row[2], row[0] + " is " + known.getProperty(row[0]));
      }
    }
    if (!known.containsKey("hoodie.table.name")) {
      throw new IOException("hoodie.table.name is missing");
    }
    CRC32 sum = new CRC32();
    String name = known.getProperty("hoodie.database.name", "") + "." + known.getProperty("hoodie.table.name");
    sum.update(name.getBytes(UTF_8));
    if (!known.getProperty("hoodie.table.checksum", "" + sum.getValue()).equals("" + sum.getValue())) {
      throw new IOException("the checksum in hoodie.properties is not that of " + name);
    }
    return known;
  }

  /** The answer without its id. Operations that are not implemented yet are refused. */
  static Map<String, Object> work(JsonNode message) throws Exception {
    String op = message.path("op").asText();
    if (REFUSED.contains(op)) {
      throw new Refused(op, "not offered");
    }
    if (!op.equals("read")) {
      throw new IllegalArgumentException("unknown operation " + op);
    }
    return read(message);
  }

  /** The answer to one message; every failure becomes an error answer. */
  static Map<String, Object> answer(JsonNode message) {
    if (message.path("op").asText().equals("hello")) {
      return Map.of("protocol", 1, "engine", ENGINE, "version", VERSION, "language", "java", "features", FEATURES);
    }
    Map<String, Object> found = new HashMap<>(Map.of("id", message.get("id")));
    try {
      found.putAll(work(message));
    } catch (Refused e) {
      found.put("refused", Map.of("feature", e.feature, "message", e.getMessage()));
    } catch (Exception e) {
      found.put("error", Map.of("message", e.toString()));
    }
    return found;
  }

  public static void main(String[] arguments) throws IOException {
    var answers = new PrintStream(new FileOutputStream(FileDescriptor.out), true, UTF_8);
    System.setOut(System.err); // output of libraries must not mix with the protocol
    var lines = new BufferedReader(new InputStreamReader(System.in, UTF_8));
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      JsonNode message = JSON.readTree(line);
      if (message.path("op").asText().equals("bye")) {
        break;
      }
      answers.println(JSON.writeValueAsString(answer(message))); // flushes
    }
  }
}
