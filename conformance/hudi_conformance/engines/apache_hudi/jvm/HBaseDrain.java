package hudi_conformance;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.apache.hudi.org.apache.hadoop.hbase.Cell;
import org.apache.hudi.org.apache.hadoop.hbase.CellUtil;
import org.apache.hudi.org.apache.hadoop.hbase.KeyValue;
import org.apache.hudi.org.apache.hadoop.hbase.io.hfile.HFile;
import org.apache.hudi.org.apache.hadoop.hbase.io.hfile.HFileBlock;
import org.apache.hudi.org.apache.hadoop.hbase.io.hfile.HFileScanner;
import org.apache.hudi.org.apache.hadoop.hbase.nio.ByteBuff;

/** The same of the HFile reader of HBase, which the releases 1.0 use unless they are told otherwise. */
public class HBaseDrain {
  /** Keys and values in turn of all entries, or of those of `keys` (ascending), or of those that begin with `prefix`. */
  public byte[] entries(HFile.Reader reader, List keys, String prefix) throws IOException {
    Drain.Frames frames = new Drain.Frames();
    HFileScanner scanner = reader.getScanner(false, true);
    boolean there = scanner.seekTo();
    if (keys != null) {
      for (int i = 0; there && i < keys.size(); i++) {
        if (scanner.seekTo(cell((String) keys.get(i))) == 0) {
          add(frames, scanner.getCell());
        }
      }
      return frames.bytes();
    }
    if (there && prefix != null) {
      // Zero: there. One: at the entry before it. Minus one: before the first entry.
      int found = scanner.seekTo(cell(prefix));
      there = found == 1 ? scanner.next() : found == 0 || scanner.seekTo();
    }
    while (there) {
      Cell entry = scanner.getCell();
      if (prefix != null && !new String(CellUtil.cloneRow(entry), StandardCharsets.UTF_8).startsWith(prefix)) {
        break;
      }
      add(frames, entry);
      there = scanner.next();
    }
    return frames.bytes();
  }

  /** Keys and values in turn of the file info. */
  public byte[] info(HFile.Reader reader) throws IOException {
    Drain.Frames frames = new Drain.Frames();
    Iterator entries = ((Map) reader.getHFileInfo()).entrySet().iterator();
    while (entries.hasNext()) {
      Map.Entry entry = (Map.Entry) entries.next();
      frames.add((byte[]) entry.getKey());
      frames.add((byte[]) entry.getValue());
    }
    return frames.bytes();
  }

  /** A meta block, null where there is none. */
  public byte[] meta(HFile.Reader reader, String name) throws IOException {
    HFileBlock block = reader.getMetaBlock(name, false);
    if (block == null) {
      return null;
    }
    ByteBuff content = block.getBufferWithoutHeader();
    byte[] found = new byte[content.remaining()];
    content.get(found);
    return found;
  }

  private static Cell cell(String key) {
    return new KeyValue(key.getBytes(StandardCharsets.UTF_8), null, null, null);
  }

  private static void add(Drain.Frames frames, Cell cell) throws IOException {
    frames.add(CellUtil.cloneRow(cell));
    frames.add(CellUtil.cloneValue(cell));
  }
}
