import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.URI;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.CRC32;
import org.apache.arrow.dataset.file.FileFormat;
import org.apache.arrow.dataset.file.FileSystemDatasetFactory;
import org.apache.arrow.dataset.jni.NativeMemoryPool;
import org.apache.arrow.dataset.scanner.ScanOptions;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.ipc.ArrowFileWriter;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.Schema;
import org.apache.avro.file.DataFileReader;
import org.apache.avro.file.SeekableByteArrayInput;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.generic.GenericRecord;

/**
 * An adapter for hudi-conformance: JSON lines on standard input and output.
 *
 * <p>It reads copy-on-write tables of version 8 and refuses everything else. Replace {@link #snapshot} by a call of your
 * engine, extend FEATURES, and run smoke and the suite after each step.
 */
public final class Adapter {
  static final String ENGINE = "my-engine";
  static final String VERSION = "0.1.0";

  /** The declared features. Everything else is refused: a refusal is not a failure, a wrong answer is. */
  static final List<String> FEATURES = List.of(
      "read.snapshot", "read.projection", "read.meta-columns", "copy-on-write", "storage.file", "timeline.replaced-groups",
      "key.complex", "meta-fields.absent", "partition.none", "partition.plain", "partition.hive", "partition.url-encoded",
      "partition.several-levels", "types.nested", "types.decimal", "types.temporal", "merge.commit-time", "merge.event-time");

  /** Property, the only value that is supported, the value if it is absent, and the feature that any other value needs. */
  static final String[][] SUPPORTED = {
    {"hoodie.table.version", "8", "none", "table-version"},
    {"hoodie.timeline.layout.version", "2", "none", "timeline-layout"},
    {"hoodie.table.type", "COPY_ON_WRITE", "none", "merge-on-read"},
    {"hoodie.table.base.file.format", "PARQUET", "PARQUET", "base-file-format"},
    {"hoodie.table.multiple.base.file.formats.enable", "false", "false", "base-file-format"},
    {"hoodie.datasource.write.drop.partition.columns", "false", "false", "partition.dropped-columns"},
    {"hoodie.bootstrap.base.path", "", "", "bootstrap"},
  };

  static final Set<String> META = Set.of(
      "_hoodie_commit_time", "_hoodie_commit_seqno", "_hoodie_record_key", "_hoodie_partition_path", "_hoodie_file_name");
  static final Pattern COMPLETED = Pattern.compile("\\d+_\\d+\\.(commit|replacecommit|deltacommit)");
  static final Pattern BASE_FILE = Pattern.compile("([^_/]+)_[^_/]+_(\\d+)\\.parquet");

  static final ObjectMapper JSON = new ObjectMapper();
  static final BufferAllocator ALLOCATOR = new RootAllocator();

  /** The engine does not offer `feature`. */
  static final class Refused extends RuntimeException {
    final String feature;

    Refused(String feature, String message) {
      super(message);
      this.feature = feature.replace('_', '-');
    }
  }

  /** The base files of a snapshot, which have the same schema. */
  record Snapshot(String[] files, Schema schema) {}

  /** The newest base files, and the column names in the schema of the latest commit; null if no commit has one. */
  record Latest(List<Path> files, Set<String> columns) {}

  record Group(String partition, String fileId) {}

  record BaseFile(String instant, Path path) {}

  /** Write the rows of a query to an Arrow IPC file (not a stream). */
  static Map<String, Object> read(JsonNode message) throws Exception {
    JsonNode query = message.get("query");
    String kind = query.get("kind").asText();
    if (!kind.equals("snapshot") || query.path("by_id").asBoolean()) {
      throw new Refused("read." + kind, "only snapshot queries are offered");
    }
    if (!query.path("where").isEmpty()) {
      throw new Refused("read.filter", "filters are not offered");
    }
    URI table = URI.create(message.get("table").asText());
    if (!table.getScheme().equals("file")) {
      throw new Refused("storage." + table.getScheme(), "only local tables are read");
    }
    Snapshot rows = snapshot(Path.of(table));
    String[] columns = query.has("columns")
        ? JSON.convertValue(query.get("columns"), String[].class)
        : names(rows.schema()).toArray(String[]::new);
    write(rows, columns, Path.of(message.get("into").asText()));
    return Map.of("rows", message.get("into").asText());
  }

  /** The latest committed rows of the table. Call your engine here. */
  static Snapshot snapshot(Path table) throws Exception {
    Latest latest = latestFiles(table);
    Schema schema = null;
    for (Path path : latest.files()) {
      try (var factory = files(path.toUri().toString())) {
        Schema found = factory.inspect();
        if (schema != null && !types(found.getFields()).equals(types(schema.getFields()))) {
          throw new Refused("schema.evolution", "the base files differ in their schemas");
        }
        schema = found;
      }
    }
    if (schema == null) {
      throw new Refused("read.snapshot", "the schema of a table without base files is not read");
    }
    if (latest.columns() != null && !latest.columns().equals(Set.copyOf(names(schema)))) {
      throw new Refused("schema.evolution", "the schema of the latest commit differs from that of the base files");
    }
    return new Snapshot(latest.files().stream().map(path -> path.toUri().toString()).toArray(String[]::new), schema);
  }

  static void write(Snapshot rows, String[] columns, Path into) throws Exception {
    try (var factory = files(rows.files());
        var dataset = factory.finish();
        var scanner = dataset.newScan(new ScanOptions(1 << 15, Optional.of(columns)));
        var reader = scanner.scanBatches();
        var channel = FileChannel.open(into, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        var writer = new ArrowFileWriter(reader.getVectorSchemaRoot(), reader, channel)) {
      writer.start();
      while (reader.loadNextBatch()) {
        writer.writeBatch();
      }
      writer.end();
    }
  }

  static FileSystemDatasetFactory files(String... uris) {
    return new FileSystemDatasetFactory(ALLOCATOR, NativeMemoryPool.getDefault(), FileFormat.PARQUET, uris);
  }

  /** The names of the data columns. */
  static List<String> names(Schema schema) {
    return schema.getFields().stream().map(Field::getName).filter(name -> !META.contains(name)).toList();
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
          String path = String.valueOf(((GenericRecord) stat).get("path"));
          String name = path.substring(path.lastIndexOf('/') + 1);
          Matcher found = BASE_FILE.matcher(name);
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
    try (Stream<Path> files = Files.list(timeline)) {
      return files.filter(path -> COMPLETED.matcher(path.getFileName().toString()).matches()).sorted().toList();
    }
  }

  /** The metadata of one completed write: one record in an Avro container. */
  static GenericRecord commitMetadata(Path path) throws IOException {
    if (path.toString().endsWith(".deltacommit")) {
      throw new Refused("merge-on-read", "log files are not read");
    }
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
    Path path = table.resolve(".hoodie").resolve("hoodie.properties");
    Properties known = new Properties();
    try (var content = Files.newBufferedReader(path, StandardCharsets.ISO_8859_1)) {
      known.load(content);
    }
    for (String[] row : SUPPORTED) {
      String found = known.getProperty(row[0], row[2]);
      if (!found.equals(row[1])) {
        throw new Refused(row[3], row[0] + " is " + found);
      }
    }
    if (!known.containsKey("hoodie.table.name")) {
      throw new IOException("hoodie.table.name is missing in " + path);
    }
    CRC32 sum = new CRC32();
    String name = known.getProperty("hoodie.database.name", "") + "." + known.getProperty("hoodie.table.name");
    sum.update(name.getBytes(StandardCharsets.UTF_8));
    if (!known.getProperty("hoodie.table.checksum", "" + sum.getValue()).equals("" + sum.getValue())) {
      throw new IOException("the checksum in hoodie.properties is not that of " + name);
    }
    return known;
  }

  /** The answer to a message with an id; operations that are not implemented are refused. */
  static Map<String, Object> work(JsonNode message) throws Exception {
    String op = message.path("op").asText();
    String feature = switch (op) {
      case "read" -> "";
      case "inspect" -> "inspect.table";
      case "write" -> "write." + message.path("operation").asText();
      case "compute" -> "compute." + message.path("function").asText();
      case "service" -> "service." + message.path("service").asText();
      case "create", "begin", "resume" -> op;
      default -> throw new IllegalArgumentException("unknown operation " + op);
    };
    if (!feature.isEmpty()) {
      throw new Refused(feature, "not offered");
    }
    return read(message);
  }

  /** The answer to one message; every failure becomes an error answer. */
  static Map<String, Object> answer(JsonNode message) {
    if (message.path("op").asText().equals("hello")) {
      return Map.of("protocol", 1, "engine", ENGINE, "version", VERSION, "language", "java", "features", FEATURES);
    }
    Map<String, Object> found = new HashMap<>();
    try {
      found.putAll(work(message));
    } catch (Refused e) {
      found.put("refused", Map.of("feature", e.feature, "message", e.getMessage()));
    } catch (Exception e) {
      found.put("error", Map.of("message", e.toString()));
    }
    found.put("id", message.get("id"));
    return found;
  }

  public static void main(String[] arguments) throws IOException {
    var answers = new PrintStream(new FileOutputStream(FileDescriptor.out), true, StandardCharsets.UTF_8);
    System.setOut(System.err); // output of libraries must not mix with the protocol
    var lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      JsonNode message = JSON.readTree(line);
      if (message.path("op").asText().equals("bye")) {
        break;
      }
      answers.println(JSON.writeValueAsString(answer(message))); // flushes
    }
  }
}
