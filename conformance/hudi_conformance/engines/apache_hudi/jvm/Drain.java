package hudi_conformance;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.lang.reflect.Field;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.apache.avro.generic.IndexedRecord;
import org.apache.hudi.avro.HoodieAvroUtils;
import org.apache.hudi.common.model.DeleteRecord;
import org.apache.hudi.common.model.HoodieRecord;
import org.apache.hudi.common.table.log.block.HoodieDeleteBlock;
import org.apache.hudi.common.table.log.block.HoodieLogBlock;
import org.apache.hudi.io.hfile.HFileReader;
import org.apache.hudi.io.hfile.HFileReaderImpl;
import org.apache.hudi.io.hfile.KeyValue;
import org.apache.hudi.io.hfile.UTF8StringKey;
import org.apache.hudi.org.roaringbitmap.longlong.LongIterator;
import org.apache.hudi.org.roaringbitmap.longlong.Roaring64NavigableMap;

/**
 * What Apache Hudi's iterators and readers hand out, whole, in one call: each object would cross to Python and back otherwise.
 * Compiled in memory when the session starts, against the classes of the release at hand. A list of byte strings is one byte
 * array: each behind its length in four bytes.
 */
public class Drain {
  private String schema;

  /** The Avro schema of the records drained last, as JSON; null if there were none. */
  public String schema() {
    return schema;
  }

  /** The next object. Py4J's own call would hide what is thrown. */
  public Object next(Iterator iterator) {
    return iterator.next();
  }

  /** What a block says of itself, as JSON: its type, where its content lies, where it ends, and its maps. */
  public String block(HoodieLogBlock block) throws IOException {
    HoodieLogBlock.HoodieLogBlockContentLocation place =
        (HoodieLogBlock.HoodieLogBlockContentLocation) block.getBlockContentLocation().get();
    Map found = new HashMap();
    found.put("type", block.getBlockType().name());
    found.put("content_at", Long.valueOf(place.getContentPositionInLogFile()));
    found.put("content_length", Long.valueOf(place.getBlockSize()));
    found.put("end", Long.valueOf(place.getBlockEndPos()));
    found.put("header", block.getLogBlockHeader());
    found.put("footer", block.getLogBlockFooter());
    return new ObjectMapper().writeValueAsString(found);
  }

  /** A map as JSON. */
  public String map(Map entries) throws IOException {
    return new ObjectMapper().writeValueAsString(entries);
  }

  /** Records, as HoodieRecord or as they are, in Avro's binary form. */
  public byte[] records(Iterator iterator) throws IOException {
    schema = null;
    Frames frames = new Frames();
    while (iterator.hasNext()) {
      Object next = iterator.next();
      IndexedRecord record = (IndexedRecord) (next instanceof HoodieRecord ? ((HoodieRecord) next).getData() : next);
      if (schema == null) {
        schema = record.getSchema().toString();
      }
      frames.add(HoodieAvroUtils.avroToBytes(record));
    }
    return frames.bytes();
  }

  /** The entries of a delete block as JSON: [key, partition, ordering value as [class, text] or null]. */
  public String deletes(HoodieDeleteBlock block) throws Exception {
    List entries = new ArrayList();
    DeleteRecord[] deletes = block.getRecordsToDelete();
    for (int i = 0; i < deletes.length; i++) {
      List entry = new ArrayList();
      entry.add(deletes[i].getRecordKey());
      entry.add(deletes[i].getPartitionPath());
      entry.add(ordering(deletes[i].getOrderingValue()));
      entries.add(entry);
    }
    return new ObjectMapper().writeValueAsString(entries);
  }

  private static List ordering(Object value) throws Exception {
    if (value == null) {
      return null;
    }
    List found = new ArrayList();
    found.add(value instanceof ByteBuffer ? "ByteBuffer" : value.getClass().getSimpleName());
    if (value.getClass().getSimpleName().equals("ArrayComparable")) {
      List parts = new ArrayList();
      List values = (List) value.getClass().getMethod("getValues", new Class[0]).invoke(value, new Object[0]);
      for (int i = 0; i < values.size(); i++) {
        parts.add(ordering(values.get(i)));
      }
      found.add(parts);
    } else {
      found.add(text(value));
    }
    return found;
  }

  private static String text(Object value) {
    if (value instanceof BigDecimal) {
      return ((BigDecimal) value).toPlainString();
    }
    if (value instanceof java.sql.Timestamp) {
      return ((java.sql.Timestamp) value).toInstant().toString();
    }
    if (value instanceof ByteBuffer) {
      StringBuilder hex = new StringBuilder();
      ByteBuffer bytes = (ByteBuffer) ((ByteBuffer) value).duplicate();
      while (bytes.hasRemaining()) {
        hex.append(String.format("%02x", new Object[] {Byte.valueOf(bytes.get())}));
      }
      return hex.toString();
    }
    return value.toString();
  }

  /** The first positions of a bitmap, at most so many, as text with a blank between them. */
  public String positions(Roaring64NavigableMap bitmap, int most) {
    StringBuilder found = new StringBuilder();
    LongIterator positions = bitmap.getLongIterator();
    for (int i = 0; i < most && positions.hasNext(); i++) {
      found.append(positions.next()).append(' ');
    }
    return found.toString();
  }

  /** Keys and values in turn of all entries of an HFile, or of those of `keys` (ascending), or of those that begin with `prefix`. */
  public byte[] entries(HFileReader reader, List keys, String prefix) throws IOException {
    Frames frames = new Frames();
    boolean there = reader.seekTo();
    if (keys != null) {
      for (int i = 0; there && i < keys.size(); i++) {
        if (reader.seekTo(new UTF8StringKey((String) keys.get(i))) == HFileReader.SEEK_TO_FOUND) {
          frames.add((KeyValue) reader.getKeyValue().get());
        }
      }
      return frames.bytes();
    }
    if (there && prefix != null) {
      // A key that is not there leaves the reader at the entry before it, or nowhere.
      int found = reader.seekTo(new UTF8StringKey(prefix));
      there = found == HFileReader.SEEK_TO_IN_RANGE ? reader.next() : found < 0 ? reader.seekTo() : found == HFileReader.SEEK_TO_FOUND;
    }
    while (there) {
      KeyValue entry = (KeyValue) reader.getKeyValue().get();
      if (prefix != null && !entry.getKey().getContentInString().startsWith(prefix)) {
        break;
      }
      frames.add(entry);
      there = reader.next();
    }
    return frames.bytes();
  }

  /** Keys and values in turn of an HFile's file info, which the reader keeps to itself. */
  public byte[] info(HFileReaderImpl reader) throws Exception {
    Object info = hidden(reader, "fileInfo");
    Frames frames = new Frames();
    Iterator entries = ((Map) hidden(info, "infoMap")).entrySet().iterator();
    while (entries.hasNext()) {
      Map.Entry entry = (Map.Entry) entries.next();
      frames.add(((UTF8StringKey) entry.getKey()).getContentInString().getBytes(StandardCharsets.UTF_8));
      frames.add((byte[]) entry.getValue());
    }
    return frames.bytes();
  }

  /** A field that Apache Hudi gives no access to: trailer and file info of an HFile. */
  public Object hidden(Object object, String name) throws Exception {
    Field field = object.getClass().getDeclaredField(name);
    field.setAccessible(true);
    return field.get(object);
  }

  /** The bytes of a buffer from its position on. */
  public byte[] bytes(ByteBuffer buffer) {
    byte[] found = new byte[buffer.remaining()];
    ((ByteBuffer) buffer.duplicate()).get(found);
    return found;
  }

  /** Byte strings behind their lengths. */
  public static class Frames {
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();

    public void add(byte[] bytes) throws IOException {
      add(bytes, 0, bytes.length);
    }

    public void add(KeyValue entry) throws IOException {
      add(entry.getKey().getContentInString().getBytes(StandardCharsets.UTF_8));
      add(entry.getBytes(), entry.getValueOffset(), entry.getValueLength());
    }

    public void add(byte[] bytes, int offset, int length) throws IOException {
      new DataOutputStream(out).writeInt(length);
      out.write(bytes, offset, length);
    }

    public byte[] bytes() {
      return out.toByteArray();
    }
  }
}
