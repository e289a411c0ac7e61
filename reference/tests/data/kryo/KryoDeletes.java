import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.hudi.common.model.DeleteRecord;
import org.apache.hudi.common.model.HoodieKey;
import org.apache.hudi.common.util.SerializationUtils;

/** Writes what delete blocks of content versions 1 and 2 hold, as Apache Hudi's own serialization makes it. */
public class KryoDeletes {
  static final String LONG_KEY = "k".repeat(63) + "-" + "é".repeat(40) + "z".repeat(500);

  static DeleteRecord record(String key, String partition, Comparable<?> ordering) {
    return DeleteRecord.create(new HoodieKey(key, partition), ordering);
  }

  public static void main(String[] args) throws Exception {
    HoodieKey shared = new HoodieKey("k1", "p=1");
    String partition = new String("p=same");
    Map<String, Object> cases = new LinkedHashMap<>();
    cases.put("records.none", new DeleteRecord[0]);
    cases.put("keys.none", new HoodieKey[0]);
    cases.put("keys.several", new HoodieKey[] {new HoodieKey("k1", "p=1"), new HoodieKey("k2", "p=2"), new HoodieKey("k3", null)});
    cases.put("keys.same-object-twice", new HoodieKey[] {shared, shared, new HoodieKey("k2", "p=1")});
    cases.put("keys.equal-texts", new HoodieKey[] {new HoodieKey("a", partition), new HoodieKey(partition, partition)});
    cases.put("records.several", new DeleteRecord[] {
        record("k1", "p=1", 0), record("k2", "p=1", 7), record("k3", "p=2", -7), record("k4", null, Integer.MAX_VALUE)});
    cases.put("records.without-ordering", new DeleteRecord[] {record("k1", "p=1", null), record("k2", "", null)});
    cases.put("records.longs", new DeleteRecord[] {
        record("k1", "p", 0L), record("k2", "p", 1_700_000_000_000L), record("k3", "p", -1L),
        record("k4", "p", Long.MIN_VALUE), record("k5", "p", Long.MAX_VALUE)});
    cases.put("records.texts", new DeleteRecord[] {
        record("k1", "p", "2025-01-01"), record("k2", "p", ""), record("k3", "p", "é"), record("k4", "p", "x")});
    cases.put("records.doubles-and-floats", new DeleteRecord[] {
        record("k1", "p", 1.5d), record("k2", "p", -0.25d), record("k3", "p", 1.5f), record("k4", "p", -2.0f)});
    cases.put("records.booleans", new DeleteRecord[] {record("k1", "p", true), record("k2", "p", false)});
    cases.put("records.decimals", new DeleteRecord[] {
        record("k1", "p", new BigDecimal("1.50")), record("k2", "p", new BigDecimal("-123456789012345678901234567890.5")),
        record("k3", "p", BigDecimal.ZERO), record("k4", "p", BigDecimal.ONE), record("k5", "p", new BigDecimal("1E+3"))});
    cases.put("records.utf8", new DeleteRecord[] {
        record("k1", "p", new org.apache.avro.util.Utf8("ab")), record("k2", "p", new org.apache.avro.util.Utf8("é"))});
    cases.put("records.timestamps", new DeleteRecord[] {record("k1", "p", new java.sql.Timestamp(1735689600123L))});
    cases.put("records.dates", new DeleteRecord[] {record("k1", "p", java.sql.Date.valueOf("2025-01-01"))});
    cases.put("keys.not-ascii", new HoodieKey[] {
        new HoodieKey("schlüssel", "größe=1"), new HoodieKey("鍵", "p"), new HoodieKey("🔑", "p"), new HoodieKey("a\u0000b", "p")});
    cases.put("keys.long-texts", new HoodieKey[] {
        new HoodieKey("k".repeat(63), "p".repeat(64)), new HoodieKey("k".repeat(65), "é".repeat(63)),
        new HoodieKey(LONG_KEY, "é".repeat(64)), new HoodieKey("", "x")});
    HoodieKey[] many = new HoodieKey[200];
    for (int i = 0; i < many.length; i++) {
      many[i] = new HoodieKey("key-" + i, i % 2 == 0 ? partition : "other-" + i % 3);
    }
    cases.put("keys.many", many);
    Path folder = Path.of(args[0]);
    for (Map.Entry<String, Object> entry : cases.entrySet()) {
      Files.write(folder.resolve(entry.getKey() + ".bin"), SerializationUtils.serialize((java.io.Serializable) entry.getValue()));
    }
  }
}
