import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.function.IntSupplier;
import org.apache.hadoop.conf.Configuration;
import org.apache.hudi.common.table.HoodieTableMetaClient;
import org.apache.hudi.storage.hadoop.HadoopStorageConfiguration;

/** Measures how Apache Hudi loads timelines: `active TABLE ROUNDS`, `archived TABLE ROUNDS`. */
public class ApacheHudiTimeline {
    private static final int WARM_UP = 8;

    private static HoodieTableMetaClient open(String table) {
        HadoopStorageConfiguration settings = new HadoopStorageConfiguration(new Configuration());
        return HoodieTableMetaClient.builder().setConf(settings).setBasePath(table).setLoadActiveTimelineOnLoad(true).build();
    }

    private static int active(String table) {
        return open(table).getActiveTimeline().countInstants();
    }

    private static int archived(HoodieTableMetaClient client) {
        return client.getArchivedTimeline("", false).countInstants();
    }

    /** Median and answer of the warm rounds, in CPU seconds of this thread. */
    private static void measure(int rounds, IntSupplier task) {
        double[] costs = new double[rounds];
        int found = 0;
        for (int round = -WARM_UP; round < rounds; round++) {
            long started = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
            found = task.getAsInt();
            long spent = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() - started;
            if (round >= 0) {
                costs[round] = spent / 1e9;
            }
        }
        Arrays.sort(costs);
        System.out.printf("{\"cpu\": %f, \"found\": %d}%n", costs[rounds / 2], found);
    }

    public static void main(String[] arguments) {
        int rounds = Integer.parseInt(arguments[2]);
        if (arguments[0].equals("active")) {
            measure(rounds, () -> active(arguments[1]));
        } else {
            HoodieTableMetaClient client = open(arguments[1]);
            measure(rounds, () -> archived(client));
        }
    }
}
