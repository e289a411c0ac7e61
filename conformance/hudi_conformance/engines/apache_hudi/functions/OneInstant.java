package hudi_conformance;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.Collections;
import org.apache.hudi.common.table.timeline.HoodieInstant;
import org.apache.hudi.common.table.timeline.HoodieInstantReader;
import org.apache.hudi.common.table.timeline.HoodieTimeline;
import org.apache.hudi.common.table.timeline.TimelineLayout;
import org.apache.hudi.common.table.timeline.versioning.v2.BaseTimelineV2;
import org.apache.hudi.common.util.Option;
import org.apache.hudi.exception.HoodieIOException;
import org.apache.hudi.storage.HoodieStorage;
import org.apache.hudi.storage.StoragePath;
import org.apache.hudi.storage.StoragePathInfo;

/** A timeline of Apache Hudi of which one file is all there is, so that it reads the file as it would in a table. */
public class OneInstant {
  public HoodieTimeline timeline(HoodieStorage storage, StoragePathInfo file) {
    HoodieInstant instant = TimelineLayout.TIMELINE_LAYOUT_V2.getInstantGenerator().createNewInstant(file);
    return new BaseTimelineV2(Collections.singletonList(instant).stream(), new OneFile(storage, file.getPath()));
  }

  /** The timeline of an action whose content was archived as one of these bytes. */
  public HoodieTimeline archived(String state, String action, String requested, byte[] content) {
    HoodieInstant instant = TimelineLayout.TIMELINE_LAYOUT_V2.getInstantGenerator().createNewInstant(
        HoodieInstant.State.valueOf(state), action, requested, requested);
    return new BaseTimelineV2(Collections.singletonList(instant).stream(), new OneContent(content));
  }

  /** Gives these bytes, whatever instant is asked for. */
  public static class OneContent implements HoodieInstantReader {
    private final byte[] content;

    public OneContent(byte[] content) {
      this.content = content;
    }

    public InputStream getContentStream(HoodieInstant instant) {
      return new ByteArrayInputStream(content);
    }

    public Option getInstantDetails(HoodieInstant instant) {
      return Option.of(content);
    }
  }

  /** Reads the file, whatever instant is asked for. */
  public static class OneFile implements HoodieInstantReader {
    private final HoodieStorage storage;
    private final StoragePath path;

    public OneFile(HoodieStorage storage, StoragePath path) {
      this.storage = storage;
      this.path = path;
    }

    public InputStream getContentStream(HoodieInstant instant) {
      try {
        return storage.open(path);
      } catch (IOException e) {
        throw new HoodieIOException("Could not read " + path, e);
      }
    }

    public Option getInstantDetails(HoodieInstant instant) {
      try {
        InputStream stream = storage.open(path);
        try {
          return Option.of(stream.readAllBytes());
        } finally {
          stream.close();
        }
      } catch (IOException e) {
        throw new HoodieIOException("Could not read " + path, e);
      }
    }
  }
}
