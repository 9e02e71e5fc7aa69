package dev.millrace.peer;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.util.Locale;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.table.api.EnvironmentSettings;
import org.apache.flink.table.api.TableEnvironment;

/**
 * The view of {@code ./millrace bench kafka} as Flink SQL, in this process, from the topic's first record to its last; one JSON line a round, with all of
 * the process's processor time.
 */
public final class FlinkKafka {
    private FlinkKafka() {}

    /** Of the brokers, the topic, how many records it has, and how many rounds. */
    public static void main(String[] args) throws Exception {
        long records = Long.parseLong(args[2]);
        Configuration configuration = new Configuration();
        configuration.setString("parallelism.default", "2");
        configuration.setString("table.exec.mini-batch.enabled", "false");
        TableEnvironment flink = TableEnvironment.create(EnvironmentSettings.newInstance()
                .inStreamingMode()
                .withConfiguration(configuration)
                .build());
        flink.executeSql("CREATE TABLE bids (auction BIGINT, bidder BIGINT, price BIGINT, channel STRING, `datetime` TIMESTAMP(3),"
                + " WATERMARK FOR `datetime` AS `datetime` - INTERVAL '1' SECOND) WITH ('connector' = 'kafka',"
                + " 'properties.bootstrap.servers' = '" + args[0] + "', 'topic' = '" + args[1] + "',"
                + " 'scan.startup.mode' = 'earliest-offset', 'scan.bounded.mode' = 'latest-offset',"
                + " 'format' = 'json', 'json.timestamp-format.standard' = 'ISO-8601')");
        flink.executeSql("CREATE TABLE nowhere (window_start TIMESTAMP(3), a BIGINT, n BIGINT, most BIGINT) WITH ('connector' = 'blackhole')");
        OperatingSystemMXBean system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        for (int round = 0; round < Integer.parseInt(args[3]); round++) {
            long nanos = System.nanoTime();
            long cpuNanos = system.getProcessCpuTime();
            flink.executeSql("INSERT INTO nowhere SELECT window_start, MOD(auction, 100) AS a, COUNT(*) AS n, MAX(price) AS most"
                            + " FROM TABLE(TUMBLE(TABLE bids, DESCRIPTOR(`datetime`), INTERVAL '10' SECONDS))"
                            + " GROUP BY window_start, window_end, MOD(auction, 100)")
                    .await();
            double seconds = (System.nanoTime() - nanos) / 1e9;
            System.out.printf(
                    Locale.ROOT,
                    "{\"what\": \"%sview\", \"of\": \"flink\", \"records\": %d, \"rows_per_second\": %.0f, \"cpu_seconds_per_million\": %.2f}%n",
                    round == 0 ? "(warm-up) " : "",
                    records,
                    records / seconds,
                    (system.getProcessCpuTime() - cpuNanos) / 1e3 / records);
        }
        System.exit(0); // threads of the cluster within would stay
    }
}
