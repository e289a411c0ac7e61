package hudi_conformance;

import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.apache.hudi.common.model.DeleteRecord;
import org.apache.hudi.common.util.collection.Pair;

/** Delete records whose ordering values have the Java classes that were asked for: they would change on their way from Python. */
public class HudiDeletes {
  /** Pairs of delete record and position; kinds are words of the contract, places are -1 where there is none. */
  public List of(List keys, List kinds, List texts, List places) {
    List found = new ArrayList();
    for (int i = 0; i < keys.size(); i++) {
      Comparable ordering = value((String) kinds.get(i), (String) texts.get(i));
      DeleteRecord delete = DeleteRecord.create((String) keys.get(i), "", ordering);
      found.add(Pair.of(delete, Long.valueOf((String) places.get(i))));
    }
    return found;
  }

  private static Comparable value(String kind, String text) {
    switch (kind) {
      case "boolean":
        return Boolean.valueOf(text);
      case "int":
        return Integer.valueOf(text);
      case "long":
        return Long.valueOf(text);
      case "float":
        return Float.valueOf(text);
      case "double":
        return Double.valueOf(text);
      case "decimal":
        return new BigDecimal(text);
      case "bytes":
        return ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
      case "timestamp-micros":
        return java.sql.Timestamp.from(java.time.Instant.parse(text));
      case "date":
        return java.sql.Date.valueOf(text);
      default:
        return text;
    }
  }
}
