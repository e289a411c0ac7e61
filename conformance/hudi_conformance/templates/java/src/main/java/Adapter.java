import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.*;
import java.net.URI;
import java.nio.file.*;
import java.util.*;
import java.util.stream.Stream;
import java.util.zip.CRC32;
import org.apache.arrow.dataset.file.*;
import org.apache.arrow.dataset.jni.NativeMemoryPool;
import org.apache.arrow.dataset.scanner.ScanOptions;
import org.apache.arrow.dataset.scanner.Scanner;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.ipc.ArrowFileWriter;
import org.apache.avro.file.DataFileReader;
import org.apache.avro.file.SeekableByteArrayInput;
import org.apache.avro.generic.GenericDatumReader;

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

  static final String META = "_hoodie_(commit_time|commit_seqno|record_key|partition_path|file_name)";
  static final String COMPLETED = "\\d+_\\d+\\.(commit|replacecommit|deltacommit)";
  static final ObjectMapper JSON = new ObjectMapper();
  static final RootAllocator MEMORY = new RootAllocator();

  /** The engine does not offer `feature`. */
  static final class Refused extends RuntimeException {
    final String feature;

    Refused(String feature, String message) {
      super(message);
      this.feature = feature;
    }
  }

  static void require(boolean offered, String feature, String message) {
    if (!offered) {
      throw new Refused(feature, message);
    }
  }

  /** Write the rows of a query to an Arrow IPC file (not a stream). */
  static JsonNode read(JsonNode message) throws Exception {
    JsonNode query = message.get("query");
    String kind = query.get("kind").asText();
    boolean plain = kind.equals("snapshot") && !query.path("by_id").asBoolean() && query.path("where").isEmpty();
    require(plain, "read." + kind, "only snapshot queries without a filter are offered");
    URI table = URI.create(message.get("table").asText());
    require(table.getScheme().equals("file"), "storage." + table.getScheme(), "only local tables are read");
    String[] columns = query.has("columns") ? JSON.convertValue(query.get("columns"), String[].class) : null;
    try (var scanner = snapshot(Path.of(table), columns);
        var reader = scanner.scanBatches();
        var file = new FileOutputStream(message.get("into").asText());
        var writer = new ArrowFileWriter(reader.getVectorSchemaRoot(), reader, file.getChannel())) {
      writer.start();
      while (reader.loadNextBatch()) {
        writer.writeBatch();
      }
    }
    return message.get("into");
  }

  /** The latest committed rows of the table, with these columns or all data columns. Call your engine here. */
  static Scanner snapshot(Path table, String[] columns) throws IOException {
    String[] uris = latestFiles(table).stream().map(path -> path.toUri().toString()).toArray(String[]::new);
    require(uris.length > 0, "read.snapshot", "the schema of a table without base files is not read");
    var types = Arrays.stream(uris).map(uri -> parquet(uri).inspect().getFields().toString().replace(" not null", ""));
    require(types.distinct().count() == 1, "schema.evolution", "the base files differ in their schemas");
    if (columns == null) {
      var names = parquet(uris).inspect().getFields().stream().map(field -> field.getName());
      columns = names.filter(name -> !name.matches(META)).toArray(String[]::new);
    }
    return parquet(uris).finish().newScan(new ScanOptions(1 << 15, Optional.of(columns)));
  }

  static FileSystemDatasetFactory parquet(String... uris) {
    return new FileSystemDatasetFactory(MEMORY, NativeMemoryPool.getDefault(), FileFormat.PARQUET, uris);
  }

  /**
   * The newest base file of each file group that was not replaced.
   *
   * <p>The metadata of the completed writes names all of them, as long as no instant was archived.
   */
  static Collection<Path> latestFiles(Path table) throws IOException {
    Properties known = properties(table);
    Path timeline = table.resolve(".hoodie").resolve(known.getProperty("hoodie.timeline.path", "timeline"));
    Path history = timeline.resolve(known.getProperty("hoodie.timeline.history.path", "history"));
    require(Files.notExists(history.resolve("_version_")), "timeline.history", "the history of the timeline is not read");
    Map<Path, Path> newest = new HashMap<>(); // by partition/file id
    Set<Path> replaced = new HashSet<>();
    Set<String> schemas = new HashSet<>();
    for (String name : Stream.of(timeline.toFile().list()).filter(name -> name.matches(COMPLETED)).sorted().toList()) {
      String requested = name.split("_")[0];
      var container = new SeekableByteArrayInput(Files.readAllBytes(timeline.resolve(name))); // has one record
      JsonNode commit = JSON.readTree(new DataFileReader<>(container, new GenericDatumReader<>()).next().toString());
      for (var partition : commit.path("partitionToWriteStats").properties()) {
        for (JsonNode stat : partition.getValue()) {
          String path = stat.get("path").asText();
          require(path.endsWith("_" + requested + ".parquet"), "merge-on-read", path + " is not a base file of " + requested);
          newest.put(Path.of(partition.getKey(), stat.get("fileId").asText()), table.resolve(path));
        }
      }
      for (var partition : commit.path("partitionToReplaceFileIds").properties()) {
        partition.getValue().forEach(id -> replaced.add(Path.of(partition.getKey(), id.asText())));
      }
      schemas.add(commit.path("extraMetadata").path("schema").asText());
    }
    schemas.remove("");
    require(schemas.size() < 2, "schema.evolution", "the commits differ in their schemas");
    newest.keySet().removeAll(replaced);
    return newest.values();
  }

  /** The entries of hoodie.properties. Tables that are damaged or not supported raise. */
  static Properties properties(Path table) throws IOException {
    Properties known = new Properties();
    known.load(new StringReader(Files.readString(table.resolve(".hoodie").resolve("hoodie.properties"), ISO_8859_1)));
    for (String[] row : SUPPORTED) {
      String value = known.getProperty(row[0], "");
      require(List.of(row[1].split("\\|", -1)).contains(value), row[2], row[0] + " is " + value);
    }
    String name = Objects.requireNonNull(known.getProperty("hoodie.table.name"), "hoodie.table.name is missing");
    name = known.getProperty("hoodie.database.name", "") + "." + name;
    CRC32 sum = new CRC32();
    sum.update(name.getBytes(UTF_8));
    if (!known.getProperty("hoodie.table.checksum", "" + sum.getValue()).equals("" + sum.getValue())) {
      throw new IOException("the checksum in hoodie.properties is not that of " + name);
    }
    return known;
  }

  /** The answer to one message; every failure becomes an error answer. Operations that are not implemented yet are refused. */
  static Map<String, Object> answer(JsonNode message) {
    String op = message.path("op").asText();
    JsonNode id = message.path("id");
    try {
      return switch (op) {
        case "hello" ->
            Map.of("protocol", 1, "engine", ENGINE, "version", VERSION, "language", "java", "features", FEATURES);
        case "read" -> Map.of("id", id, "rows", read(message));
        case "inspect", "compute", "create", "write", "service", "begin", "resume" -> throw new Refused(op, "not offered");
        default -> throw new IllegalArgumentException("unknown operation " + op);
      };
    } catch (Refused e) {
      return Map.of("id", id, "refused", Map.of("feature", e.feature, "message", e.getMessage()));
    } catch (Exception e) {
      return Map.of("id", id, "error", Map.of("message", e.toString()));
    }
  }

  public static void main(String[] arguments) throws IOException {
    PrintStream answers = System.out;
    System.setOut(System.err); // output of libraries must not mix with the protocol
    var lines = new BufferedReader(new InputStreamReader(System.in, UTF_8));
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      JsonNode message = JSON.readTree(line);
      if (message.path("op").asText().equals("bye")) {
        break;
      }
      answers.writeBytes(JSON.writeValueAsBytes(answer(message)));
      answers.println(); // flushes
    }
  }
}
