package dev.millrace.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.millrace.testing.database.DatabaseServer;
import dev.millrace.testing.kafka.KafkaBroker;
import dev.millrace.testing.time.Eventually;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Two topics, a join of their windows, and sinks that are exactly once, in a server that is killed again and again: what readers of the sinks see in the end is the
 * answer of a batch query over all records, each row once. By command: {@code ./check --connected N}.
 */
@Tag("peers")
@Timeout(36_000)
class KilledPipelineTest {
    private static final int ROUNDS = Integer.getInteger("millrace.connected", 2);
    private static final long SEED = Long.getLong("millrace.connected.seed", 1);
    private static final int PARTITIONS = 3;
    private static final int KEYS = 20;
    private static final long START_MILLIS = 1_767_225_600_000L; // 2026-01-01
    private static final int WINDOW_SECONDS = 10;

    @TempDir
    Path folder;

    private final List<int[]> bids = new ArrayList<>(); // second, key, value
    private final List<int[]> asks = new ArrayList<>();
    private int second;

    @Test
    void eachRowOfTheAnswerIsSeenOnceAfterAllKills() throws Exception {
        System.out.println("connected: " + ROUNDS + " kills, seed " + SEED);
        Random random = new Random(SEED);
        try (Target target = Target.begin(folder);
                KafkaBroker broker = KafkaBroker.start(folder.resolve("broker"));
                KafkaProducer<byte[], byte[]> producer = broker.producer(Map.of())) {
            target.run("CREATE TABLE matches (k INT, bid INT, ask INT, window_start VARCHAR(30))");
            target.run("CREATE TABLE totals (k INT PRIMARY KEY, n BIGINT, total BIGINT)");
            broker.topic("bids", PARTITIONS);
            broker.topic("asks", PARTITIONS);
            broker.topic("out", PARTITIONS);
            broker.topic("totals", PARTITIONS);
            for (int round = 0; round <= ROUNDS; round++) {
                try (ServerProcess server = start()) {
                    if (round == 0) {
                        define(server, broker.bootstrap(), folder.resolve("files") + "/", target);
                    }
                    produce(producer, random, 40 + random.nextInt(40));
                    if (round < ROUNDS) {
                        Thread.sleep(random.nextInt(1_500)); // a kill at any moment
                        server.kill();
                    } else {
                        finish(producer);
                        isSeen(broker);
                        isSeen(target);
                    }
                }
            }
        }
    }

    private ServerProcess start() throws Exception {
        return ServerProcess.start(
                "--port", "0", "--tls", "off", "--data", folder.resolve("data").toString());
    }

    private static void define(ServerProcess server, String bootstrap, String files, Target target) throws Exception {
        String kafka = "connector = 'kafka', bootstrap = '" + bootstrap + "', ";
        String once = ", delivery = 'exactly_once', checkpoint_interval = '200 ms'";
        String columns = "ts TIMESTAMP, k INT, v INT, WATERMARK FOR ts AS ts - INTERVAL '1 second'";
        String window = "TUMBLE(TABLE %s, DESCRIPTOR(ts), INTERVAL '" + WINDOW_SECONDS + " seconds')";
        try (Connection connection = server.connect();
                Statement statement = connection.createStatement()) {
            execute(statement, "CREATE STREAM bids (" + columns + ") WITH (" + kafka + "topic = 'bids')");
            execute(statement, "CREATE STREAM asks (" + columns + ") WITH (" + kafka + "topic = 'asks')");
            execute(
                    statement,
                    "CREATE CONTINUOUS QUERY matches AS SELECT b.window_start, b.k, b.v AS bid, a.v AS ask FROM "
                            + String.format(window, "bids") + " b JOIN " + String.format(window, "asks")
                            + " a ON a.window_start = b.window_start AND a.window_end = b.window_end AND a.k = b.k");
            execute(statement, "CREATE SINK out FROM matches WITH (" + kafka + "topic = 'out'" + once + ")");
            execute(
                    statement,
                    "CREATE SINK files WITH (connector = 'file', format = 'parquet', path = '" + files
                            + "', partition_by = 'k'" + once + ") AS SELECT k, bid, ask, window_start FROM matches");
            execute(
                    statement,
                    "CREATE SINK totals WITH (" + kafka + "topic = 'totals', key = 'k'" + once
                            + ") AS SELECT k, count(*) AS n, sum(v) AS total FROM bids GROUP BY k");
            String jdbc = " WITH (connector = 'jdbc', url = '" + target.url() + "'" + once + ", table = ";
            execute(
                    statement,
                    "CREATE SINK rows_there" + jdbc
                            + "'matches') AS SELECT k, bid, ask, window_start::text AS window_start FROM matches");
            execute(
                    statement,
                    "CREATE SINK totals_there" + jdbc
                            + "'totals', key = 'k') AS SELECT k, count(*) AS n, sum(v) AS total FROM bids GROUP BY k");
        }
    }

    /** CREATE gives brokers some seconds to answer, which may be too few for one that has just begun on a busy machine. */
    private static void execute(Statement statement, String sql) {
        Eventually.holds(sql, () -> {
            try {
                statement.execute(sql);
                return true;
            } catch (SQLException e) {
                if (!"08006".equals(e.getSQLState())) {
                    throw e;
                }
                return false;
            }
        });
    }

    private void produce(KafkaProducer<byte[], byte[]> producer, Random random, int seconds) {
        for (int until = second + seconds; second < until; second++) {
            for (int i = 0; i < 4; i++) {
                send(producer, "bids", bids, random.nextInt(KEYS), random.nextInt(1_000));
                send(producer, "asks", asks, random.nextInt(KEYS), random.nextInt(1_000));
            }
        }
        producer.flush();
    }

    private void send(KafkaProducer<byte[], byte[]> producer, String topic, List<int[]> all, int key, int value) {
        all.add(new int[] {second, key, value});
        producer.send(record(topic, key % PARTITIONS, second, key, value));
    }

    private static ProducerRecord<byte[], byte[]> record(String topic, int partition, int at, int key, int value) {
        String json = "{\"ts\":\"" + timestamp(at) + "\",\"k\":" + key + ",\"v\":" + value + "}";
        return new ProducerRecord<>(topic, partition, null, json.getBytes(StandardCharsets.UTF_8));
    }

    private static String timestamp(int at) {
        return Instant.ofEpochMilli(START_MILLIS + 1_000L * at)
                .toString()
                .replace("T", " ")
                .replace("Z", "");
    }

    /** Has all windows close: a record of a key that nobody else has, much later, in each partition. */
    private void finish(KafkaProducer<byte[], byte[]> producer) {
        for (int partition = 0; partition < PARTITIONS; partition++) {
            producer.send(record("bids", partition, second + 1_000, -1, 0));
            producer.send(record("asks", partition, second + 1_000, -2, 0));
        }
        producer.flush();
    }

    /** A database that the server writes to: PostgreSQL where it is installed, else SQLite's file. */
    private record Target(String url, Optional<DatabaseServer> server) implements AutoCloseable {
        static Target begin(Path folder) {
            if (DatabaseServer.hasPostgres()) {
                DatabaseServer server = DatabaseServer.postgres();
                return new Target(server.url() + "?user=" + server.user(), Optional.of(server));
            }
            System.out.println("connected: to SQLite, as PostgreSQL is not installed (package postgresql)");
            return new Target("jdbc:sqlite:" + folder.resolve("target.db"), Optional.empty());
        }

        void run(String sql) throws SQLException {
            try (Connection connection = DriverManager.getConnection(url);
                    Statement statement = connection.createStatement()) {
                statement.execute(sql);
            }
        }

        List<String> rows(String sql) throws SQLException {
            return KilledPipelineTest.rows(url, sql);
        }

        @Override
        public void close() {
            server.ifPresent(DatabaseServer::close);
        }
    }

    private void isSeen(Target target) throws SQLException {
        List<String> expected = answer();
        Eventually.holds(
                expected.size() + " rows are in the database",
                () -> target.rows("SELECT count(*) FROM matches").equals(List.of(Integer.toString(expected.size()))));
        assertEquals(
                expected,
                target
                        .rows("SELECT '{\"window_start\":\"' || replace(window_start, ' ', 'T') || '\",\"k\":' || k"
                                + " || ',\"bid\":' || bid || ',\"ask\":' || ask || '}' FROM matches")
                        .stream()
                        .sorted()
                        .toList(),
                "seed " + SEED);
        List<String> wanted = totals();
        Eventually.holds(
                "totals in the database",
                () ->
                        target
                                .rows(
                                        "SELECT '{\"k\":' || k || ',\"n\":' || n || ',\"total\":' || total || '}' FROM totals")
                                .stream()
                                .sorted()
                                .toList()
                                .equals(wanted));
        System.out.println("connected: " + expected.size() + " rows of a join in the database, each once");
    }

    private void isSeen(KafkaBroker broker) throws SQLException {
        List<String> expected = answer();
        Eventually.holds(
                expected.size() + " rows are seen", () -> broker.records("out").size() >= expected.size());
        assertEquals(expected, values(broker, "out").sorted().toList(), "seed " + SEED);
        String parquet = "read_parquet('" + folder.resolve("files") + "/*/*.parquet', hive_partitioning = true)";
        Eventually.holds(
                expected.size() + " rows are in files",
                () -> duckDb("SELECT count(*) FROM " + parquet).equals(List.of(Integer.toString(expected.size()))));
        assertEquals(
                expected,
                duckDb(
                                "SELECT '{\"window_start\":\"' || strftime(window_start, '%Y-%m-%dT%H:%M:%S') || '\",\"k\":' || k"
                                        + " || ',\"bid\":' || bid || ',\"ask\":' || ask || '}' AS row FROM " + parquet)
                        .stream()
                        .sorted()
                        .toList());
        List<String> wanted = totals();
        Eventually.holds("totals", () -> latest(broker).equals(wanted));
        System.out.println("connected: " + expected.size() + " rows of a join, each seen once");
    }

    /** Of each key, as sinks write them. */
    private List<String> totals() {
        Map<Integer, long[]> totals = new TreeMap<>();
        bids.forEach(bid -> {
            long[] total = totals.computeIfAbsent(bid[1], fresh -> new long[2]);
            total[0]++;
            total[1] += bid[2];
        });
        totals.put(-1, new long[] {PARTITIONS, 0});
        return totals.entrySet().stream()
                .map(total -> "{\"k\":" + total.getKey() + ",\"n\":" + total.getValue()[0] + ",\"total\":"
                        + total.getValue()[1] + "}")
                .sorted()
                .toList();
    }

    /** The first column. */
    private static List<String> rows(String url, String sql) throws SQLException {
        try (Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement();
                ResultSet result = statement.executeQuery(sql)) {
            List<String> rows = new ArrayList<>();
            while (result.next()) {
                rows.add(result.getString(1));
            }
            return rows;
        }
    }

    /** The first column; nothing while there are no files. */
    private static List<String> duckDb(String sql) throws SQLException {
        try {
            return rows("jdbc:duckdb:", sql);
        } catch (SQLException e) {
            if (String.valueOf(e.getMessage()).contains("No files found")) {
                return List.of();
            }
            throw e;
        }
    }

    private static Stream<String> values(KafkaBroker broker, String topic) {
        return broker.records(topic).stream().map(record -> new String(record.value(), StandardCharsets.UTF_8));
    }

    private static List<String> latest(KafkaBroker broker) {
        Map<String, String> byKey = new HashMap<>();
        broker.records("totals")
                .forEach(record -> byKey.put(
                        new String(record.key(), StandardCharsets.UTF_8),
                        new String(record.value(), StandardCharsets.UTF_8)));
        return byKey.values().stream().sorted().toList();
    }

    /** The join of all windows, as the sink writes it. */
    private List<String> answer() {
        Map<String, List<Integer>> askValues = new HashMap<>();
        for (int[] ask : asks) {
            askValues
                    .computeIfAbsent(ask[0] / WINDOW_SECONDS + " " + ask[1], fresh -> new ArrayList<>())
                    .add(ask[2]);
        }
        List<String> rows = new ArrayList<>();
        for (int[] bid : bids) {
            int window = bid[0] / WINDOW_SECONDS;
            for (int ask : askValues.getOrDefault(window + " " + bid[1], List.of())) {
                rows.add("{\"window_start\":\""
                        + timestamp(window * WINDOW_SECONDS).replace(' ', 'T') + "\",\"k\":" + bid[1] + ",\"bid\":"
                        + bid[2] + ",\"ask\":" + ask + "}");
            }
        }
        return rows.stream().sorted().toList();
    }
}
