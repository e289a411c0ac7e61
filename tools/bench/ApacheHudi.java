import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntSupplier;
import org.apache.hudi.common.bloom.BloomFilter;
import org.apache.hudi.common.bloom.BloomFilterFactory;
import org.apache.hudi.common.util.io.ByteBufferBackedInputStream;
import org.apache.hudi.io.ByteArraySeekableDataInputStream;
import org.apache.hudi.io.hfile.HFileReaderImpl;
import org.apache.hudi.io.hfile.UTF8StringKey;

/** Measures classes of Apache Hudi: `bloom KEYS TYPE ROUNDS`, `look-up HFILE KEYS ROUNDS`; keys are lines of a file. */
public class ApacheHudi {
    private static double median(int rounds, IntSupplier task) {
        double[] costs = new double[rounds];
        for (int round = -2; round < rounds; round++) {
            long started = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
            task.getAsInt();
            long spent = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() - started;
            if (round >= 0) {
                costs[round] = spent / 1e9;
            }
        }
        Arrays.sort(costs);
        return costs[rounds / 2];
    }

    private static BloomFilter filled(List<String> keys, String type) {
        BloomFilter filter = BloomFilterFactory.createBloomFilter(keys.size(), 1e-9, keys.size(), type);
        keys.forEach(filter::add);
        return filter;
    }

    private static int held(BloomFilter filter, List<String> keys) {
        int held = 0;
        for (String key : keys) {
            held += filter.mightContain(key) ? 1 : 0;
        }
        return held;
    }

    private static int found(byte[] file, List<String> keys) {
        try {
            ByteBufferBackedInputStream bytes = new ByteBufferBackedInputStream(file);
            HFileReaderImpl reader = new HFileReaderImpl(new ByteArraySeekableDataInputStream(bytes), file.length);
            reader.initializeMetadata();
            reader.seekTo();
            int found = 0;
            for (String key : keys) {
                if (reader.seekTo(new UTF8StringKey(key)) == 0) {
                    reader.getKeyValue().get();
                    found++;
                }
            }
            return found;
        } catch (java.io.IOException error) {
            throw new java.io.UncheckedIOException(error);
        }
    }

    public static void main(String[] arguments) throws Exception {
        int rounds = Integer.parseInt(arguments[3]);
        if (arguments[0].equals("bloom")) {
            List<String> keys = Files.readAllLines(Path.of(arguments[1]));
            BloomFilter filter = filled(keys, arguments[2]);
            double make = median(rounds, () -> filled(keys, arguments[2]).hashCode());
            double ask = median(rounds, () -> held(filter, keys));
            System.out.printf("{\"make\": %f, \"ask\": %f, \"held\": %d}%n", make, ask, held(filter, keys));
        } else {
            byte[] file = Files.readAllBytes(Path.of(arguments[1]));
            List<String> keys = Files.readAllLines(Path.of(arguments[2]));
            double cpu = median(rounds, () -> found(file, keys));
            System.out.printf("{\"cpu\": %f, \"found\": %d}%n", cpu, found(file, keys));
        }
    }
}
