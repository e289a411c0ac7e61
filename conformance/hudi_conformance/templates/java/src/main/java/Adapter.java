import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.*;
import java.net.URI;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.*;
import java.util.zip.CRC32;
import org.apache.arrow.dataset.file.*;
import org.apache.arrow.dataset.jni.NativeMemoryPool;
import org.apache.arrow.dataset.scanner.ScanOptions;
import org.apache.arrow.dataset.scanner.Scanner;
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

  /** The operations of the contract that are refused. */
  static final Set<String> REFUSED = Set.of("inspect", "compute", "create", "write", "service", "begin", "resume");

  static final Set<String> META = Set.of(
      "_hoodie_commit_time", "_hoodie_commit_seqno", "_hoodie_record_key", "_hoodie_partition_path", "_hoodie_file_name");
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
  static Map<String, Object> read(JsonNode message) throws Exception {
    JsonNode query = message.get("query");
    String kind = query.get("kind").asText();
    boolean plain = kind.equals("snapshot") && !query.path("by_id").asBoolean() && query.path("where").isEmpty();
    require(plain, "read." + kind, "only snapshot queries without a filter are offered");
    URI table = URI.create(message.get("table").asText());
    require(table.getScheme().equals("file"), "storage." + table.getScheme(), "only local tables are read");
    String[] columns = query.has("columns") ? JSON.convertValue(query.get("columns"), String[].class) : null;
    try (var scanner = snapshot(Path.of(table), columns);
        var reader = scanner.scanBatches();
        var channel = FileChannel.open(Path.of(message.get("into").asText()), CREATE, WRITE);
        var writer = new ArrowFileWriter(reader.getVectorSchemaRoot(), reader, channel)) {
      writer.start();
      while (reader.loadNextBatch()) {
        writer.writeBatch();
      }
    }
    return Map.of("rows", message.get("into").asText());
  }

  /** The latest committed rows of the table, with these columns or all data columns. Call your engine here. */
  static Scanner snapshot(Path table, String[] columns) throws IOException {
    String[] uris = latestFiles(table).stream().map(path -> path.toUri().toString()).toArray(String[]::new);
    require(uris.length > 0, "read.snapshot", "the schema of a table without base files is not read");
    var types = Arrays.stream(uris).map(uri -> parquet(uri).inspect().getFields().toString().replace(" not null", ""));
    require(types.distinct().count() == 1, "schema.evolution", "the base files differ in their schemas");
    if (columns == null) {
      var names = parquet(uris).inspect().getFields().stream().map(Field::getName);
      columns = names.filter(name -> !META.contains(name)).toArray(String[]::new);
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
    for (String name : new TreeSet<>(List.of(timeline.toFile().list()))) {
      if (!name.matches("\\d+_\\d+\\.(commit|replacecommit|deltacommit)")) {
        continue;
      }
      String requested = name.split("_")[0];
      JsonNode commit = commitMetadata(timeline.resolve(name));
      for (var partition : commit.path("partitionToWriteStats").properties()) {
        for (JsonNode stat : partition.getValue()) {
          String path = stat.get("path").asText();
          boolean isBase = path.endsWith("_" + requested + ".parquet");
          require(isBase, "merge-on-read", path + " is not a base file of " + requested);
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

  /** The metadata of a completed write: one record in an Avro container, as JSON. */
  static JsonNode commitMetadata(Path path) throws IOException {
    var content = new SeekableByteArrayInput(Files.readAllBytes(path));
    try (var reader = new DataFileReader<GenericRecord>(content, new GenericDatumReader<>())) {
      return JSON.readTree(reader.next().toString());
    }
  }

  /** The entries of hoodie.properties. Tables that are damaged or not supported raise. */
  static Properties properties(Path table) throws IOException {
    Properties known = new Properties();
    try (var content = Files.newBufferedReader(table.resolve(".hoodie").resolve("hoodie.properties"), ISO_8859_1)) {
      known.load(content);
    }
    for (String[] row : SUPPORTED) {
      String value = known.getProperty(row[0], "");
      require(List.of(row[1].split("\\|", -1)).contains(value), row[2], row[0] + " is " + value);
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

  /** The answer to one message; every failure becomes an error answer. Operations that are not implemented yet are refused. */
  static Map<String, Object> answer(JsonNode message) {
    String op = message.path("op").asText();
    if (op.equals("hello")) {
      return Map.of("protocol", 1, "engine", ENGINE, "version", VERSION, "language", "java", "features", FEATURES);
    }
    Map<String, Object> found = new HashMap<>(Map.of("id", message.get("id")));
    try {
      require(!REFUSED.contains(op), op, "not offered");
      if (!op.equals("read")) {
        throw new IllegalArgumentException("unknown operation " + op);
      }
      found.putAll(read(message));
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
