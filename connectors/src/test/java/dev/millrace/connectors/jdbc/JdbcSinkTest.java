package dev.millrace.connectors.jdbc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.batch.Batch;
import dev.millrace.connector.Options;
import dev.millrace.connector.Sink;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.testing.connector.TestSinkContext;
import dev.millrace.testing.database.DatabaseServer;
import dev.millrace.testing.memory.LeakCheck;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.testing.time.Eventually;
import dev.millrace.text.TextBuffer;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.math.BigDecimal;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** The sink of connector jdbc against real databases: SQLite and DuckDB in this JVM, PostgreSQL and MariaDB where they are installed. */
@Tag("peers")
@Timeout(180)
class JdbcSinkTest {
    private static final long SEED = Long.getLong("millrace.jdbc.seed", 1);
    private static final Map<Dialect, DatabaseServer> SERVERS = new EnumMap<>(Dialect.class);
    private static final Schema TOTALS = Schema.of(
            new Field("customer", DataType.TEXT, false),
            new Field("day", DataType.DATE, false),
            new Field("amount", DataType.BIGINT, true));

    @RegisterExtension
    final LeakCheck memory = new LeakCheck();

    @TempDir
    Path folder;

    @BeforeAll
    static void begin() {
        if (DatabaseServer.hasPostgres()) {
            SERVERS.put(Dialect.POSTGRESQL, DatabaseServer.postgres());
        } else {
            System.out.println("JdbcSinkTest: skipped for PostgreSQL, which is not installed (package postgresql)");
        }
        if (DatabaseServer.hasMariaDb()) {
            SERVERS.put(Dialect.MYSQL, DatabaseServer.mariaDb());
        } else {
            System.out.println("JdbcSinkTest: skipped for MariaDB, which is not installed (package mariadb-server)");
        }
    }

    @AfterAll
    static void end() {
        SERVERS.values().forEach(DatabaseServer::close);
        SERVERS.clear();
    }

    private List<Outside> all() {
        return Outside.all(folder, SERVERS);
    }

    private static Outside postgres() {
        Assumptions.assumeTrue(SERVERS.containsKey(Dialect.POSTGRESQL), "skipped because PostgreSQL is not installed");
        return Outside.of(Dialect.POSTGRESQL, SERVERS.get(Dialect.POSTGRESQL));
    }

    private Sink open(Outside outside, Schema schema, boolean appendOnly, String... options) {
        Map<String, String> all = new HashMap<>(Map.of("url", outside.url()));
        if (!outside.user().isEmpty()) {
            all.put("user", outside.user());
        }
        for (int i = 0; i < options.length; i += 2) {
            all.put(options[i], options[i + 1]);
        }
        return new JdbcSinkFactory()
                .open(schema, appendOnly, new Options(all), new TestSinkContext(memory.allocator()));
    }

    private void write(Sink sink, Schema schema, List<Row> rows, long... weights) {
        try (Batch batch = weights.length == 0
                ? TestBatches.of(schema, memory.allocator(), rows)
                : TestBatches.weighted(schema, memory.allocator(), rows, weights)) {
            sink.write(batch);
        }
    }

    private static void createTotals(Outside outside) {
        outside.run(
                "DROP TABLE IF EXISTS totals",
                "CREATE TABLE totals (customer VARCHAR(50), day DATE, amount BIGINT, PRIMARY KEY (day, customer))");
    }

    /** An answer that changes at random: at the end of each epoch the database has it. */
    @Test
    void theTableIsTheAnswerAtTheEndOfEachEpoch() {
        for (Outside outside : all()) {
            createTotals(outside);
            Random random = new Random(SEED);
            Map<String, Row> answer = new TreeMap<>();
            try (Sink sink =
                    open(outside, TOTALS, false, "table", "totals", "key", "customer, day", "batch.rows", "7")) {
                sink.check();
                for (int epoch = 1; epoch <= 25; epoch++) {
                    List<Row> rows = new ArrayList<>();
                    List<Long> weights = new ArrayList<>();
                    for (int change = random.nextInt(30); change > 0; change--) {
                        String customer = "c'\"`\\" + random.nextInt(12);
                        int day = random.nextInt(2);
                        String key = customer + day;
                        Optional.ofNullable(answer.remove(key)).ifPresent(before -> {
                            rows.add(before);
                            weights.add(-1L);
                        });
                        if (random.nextInt(3) > 0) {
                            Row after = Row.of(customer, day, random.nextInt(5) == 0 ? null : random.nextLong());
                            answer.put(key, after);
                            rows.add(after);
                            weights.add(1L);
                        }
                    }
                    int middle = rows.size() / 2; // in any order, in several batches
                    write(
                            sink,
                            TOTALS,
                            rows.subList(middle, rows.size()),
                            weights.subList(middle, rows.size()).stream()
                                    .mapToLong(weight -> weight)
                                    .toArray());
                    write(
                            sink,
                            TOTALS,
                            rows.subList(0, middle),
                            weights.subList(0, middle).stream()
                                    .mapToLong(weight -> weight)
                                    .toArray());
                    sink.commit(epoch);
                    List<String> expected = answer.values().stream()
                            .map(row -> row.get(0) + "|1970-01-0" + (1 + (int) row.get(1)) + "|" + row.get(2))
                            .sorted()
                            .toList();
                    List<String> found = outside.rows("SELECT customer, day, amount FROM totals").stream()
                            .sorted()
                            .toList();
                    assertEquals(expected, found, outside + ", epoch " + epoch + ", seed " + SEED);
                }
            }
        }
    }

    @Test
    void rowsThatAreOnlyAddedAreInserted() {
        Schema schema = Schema.of(new Field("n", DataType.INTEGER, true), new Field("what", DataType.TEXT, true));
        for (Outside outside : all()) {
            outside.run("DROP TABLE IF EXISTS events", "CREATE TABLE events (n INT, what VARCHAR(20))");
            try (Sink sink = open(outside, schema, true, "table", "events")) {
                sink.check();
                write(sink, schema, List.of(Row.of(1, "a"), Row.of(2, null)), 2, 1);
                assertEquals(List.of(), outside.rows("SELECT * FROM events"), outside + ": not before the epoch ends");
                sink.commit(1);
                sink.commit(2);
                write(sink, schema, List.of(Row.of(3, "c")));
            }
            assertEquals(
                    List.of("1|a", "1|a", "2|null"),
                    outside.rows("SELECT * FROM events ORDER BY n"),
                    outside + ": what is not committed is not there");
        }
    }

    @Test
    void valuesOfAllTypesArrive() {
        Schema schema = Schema.of(
                new Field("id", DataType.SMALLINT, false),
                new Field("yes", DataType.BOOLEAN, true),
                new Field("i", DataType.INTEGER, true),
                new Field("l", DataType.BIGINT, true),
                new Field("r", DataType.REAL, true),
                new Field("d", DataType.DOUBLE, true),
                new Field("n", DataType.numeric(20, 3), true),
                new Field("s", DataType.TEXT, true),
                new Field("b", DataType.BYTEA, true),
                new Field("day", DataType.DATE, true),
                new Field("t", DataType.TIME, true),
                new Field("ts", DataType.TIMESTAMP, true),
                new Field("tz", DataType.TIMESTAMPTZ, true),
                new Field("j", DataType.JSONB, true));
        Row full = Row.of(
                (short) 1,
                true,
                -5,
                Long.MAX_VALUE,
                0.25f,
                0.1,
                new BigDecimal("12345678901234567.125"),
                "ä€𝄞 '\"\\",
                new byte[] {0, (byte) 0xff, 10},
                365,
                3_600_000_001L,
                1_577_836_800_123_456L,
                1_577_836_800_123_456L,
                "{\"a\": [1, null]}");
        Row empty = Row.of((short) 2, null, null, null, null, null, null, null, null, null, null, null, null, null);
        Map<Dialect, String> types = Map.of(
                Dialect.POSTGRESQL,
                "id SMALLINT PRIMARY KEY, yes BOOLEAN, i INT, l BIGINT, r REAL, d FLOAT8, n NUMERIC(20,3), s TEXT, b BYTEA, day DATE,"
                        + " t TIME, ts TIMESTAMP, tz TIMESTAMPTZ, j JSONB",
                Dialect.DUCKDB,
                "id SMALLINT PRIMARY KEY, yes BOOLEAN, i INT, l BIGINT, r REAL, d DOUBLE, n NUMERIC(20,3), s TEXT, b BLOB, day DATE,"
                        + " t TIME, ts TIMESTAMP, tz VARCHAR, j VARCHAR",
                Dialect.MYSQL,
                "id SMALLINT PRIMARY KEY, yes BOOLEAN, i INT, l BIGINT, r FLOAT, d DOUBLE, n NUMERIC(20,3), s VARCHAR(50), b BLOB,"
                        + " day DATE, t TIME(6), ts DATETIME(6), tz DATETIME(6), j JSON",
                Dialect.SQLITE,
                "id INT PRIMARY KEY, yes INT, i INT, l INT, r REAL, d REAL, n TEXT, s TEXT, b BLOB, day TEXT, t TEXT, ts TEXT, tz TEXT,"
                        + " j TEXT");
        for (Outside outside : all()) {
            outside.run("DROP TABLE IF EXISTS kinds", "CREATE TABLE kinds (" + types.get(outside.dialect()) + ")");
            try (Sink sink = open(outside, schema, false, "table", "kinds", "key", "id")) {
                sink.check();
                write(sink, schema, List.of(full, empty));
                sink.commit(1);
            }
            String bytes = switch (outside.dialect()) {
                case POSTGRESQL -> "upper(encode(b, 'hex'))";
                default -> "hex(b)";
            };
            List<String> rows = outside.rows(
                    "SELECT yes, i, l, r, d, n, s, " + bytes + ", day, t, ts, tz, j FROM kinds ORDER BY id");
            String first = rows.get(0).replaceFirst("^(true|t)\\|", "1|").replaceAll("\\+00\\b", "");
            assertEquals(
                    "1|-5|9223372036854775807|0.25|0.1|12345678901234567.125|ä€𝄞 '\"\\|00FF0A|1971-01-01|01:00:00.000001|"
                            + "2020-01-01 00:00:00.123456|2020-01-01 00:00:00.123456|{\"a\": [1, null]}",
                    first,
                    outside.toString());
            assertTrue(
                    rows.get(1).replace("||", "|null|").matches("(null\\|)+null") /* hex of NULL is empty in SQLite */,
                    outside + ": " + rows.get(1));
        }
    }

    // ---- what goes wrong -------------------------------------------------------------------------------------------

    @Test
    void aRowThatTheDatabaseRefusesIsNamedAndWrittenWithItsEpochWhenTheDatabaseTakesIt() throws InterruptedException {
        Schema schema = Schema.of(new Field("id", DataType.INTEGER, false), new Field("x", DataType.INTEGER, true));
        for (Outside outside : all()) {
            outside.run(
                    "DROP TABLE IF EXISTS small", "CREATE TABLE small (id INT PRIMARY KEY, x INT, CHECK (x < 100))");
            List<Row> rows = new ArrayList<>();
            for (int i = 0; i < 50; i++) {
                rows.add(Row.of(i, i == 31 ? 100 : i));
            }
            try (Sink sink = open(outside, schema, false, "table", "small", "key", "id", "batch.rows", "20")) {
                write(sink, schema, rows);
                AtomicReference<Optional<Throwable>> failure = new AtomicReference<>(Optional.empty());
                Thread thread = committing(sink, failure);
                Eventually.holds(
                        outside + ": the row is named",
                        () -> sink.status()
                                .orElseThrow()
                                .waitsFor()
                                .filter(why -> why.contains("(id = 31, x = 100)") && why.contains("\"small\""))
                                .isPresent());
                assertEquals(
                        List.of("0"),
                        outside.rows("SELECT count(*) FROM small"),
                        outside + ": none of its epoch is there");
                outside.run("DROP TABLE small", "CREATE TABLE small (id INT PRIMARY KEY, x INT)");
                thread.join();
                assertEquals(Optional.empty(), failure.get(), outside.toString());
                assertEquals(Optional.empty(), sink.status().orElseThrow().waitsFor(), outside.toString());
            }
            assertEquals(List.of("50|100"), outside.rows("SELECT count(*), max(x) FROM small"), outside.toString());
        }
    }

    @Test
    void whatIsNotThereIsSaidWhenTheSinkIsMade() {
        for (Outside outside : all()) {
            createTotals(outside);
            outside.run(
                    "DROP TABLE IF EXISTS keyless",
                    "CREATE TABLE keyless (customer VARCHAR(20), day DATE, amount BIGINT)");
            try (Sink sink = open(outside, TOTALS, false, "table", "nothing", "key", "customer")) {
                assertEquals(
                        SqlState.UNDEFINED_TABLE,
                        assertThrows(MillraceException.class, sink::check).sqlState());
            }
            try (Sink sink = open(outside, TOTALS, false, "table", "totals", "key", "customer")) {
                MillraceException noKey = assertThrows(MillraceException.class, sink::check);
                assertEquals(SqlState.INVALID_COLUMN_REFERENCE, noKey.sqlState(), outside + ": " + noKey.getMessage());
            }
            try (Sink sink = open(outside, TOTALS, false, "table", "keyless", "key", "customer, day")) {
                MillraceException noKey = assertThrows(MillraceException.class, sink::check);
                assertEquals(SqlState.INVALID_COLUMN_REFERENCE, noKey.sqlState(), outside + ": " + noKey.getMessage());
            }
            outside.run("CREATE UNIQUE INDEX keyless_key ON keyless (customer, day)");
            try (Sink sink = open(outside, TOTALS, false, "table", "keyless", "key", "customer, day")) {
                sink.check();
            }
            outside.run("DROP TABLE keyless");
        }
    }

    @Test
    void wrongOptionsAreToldWithoutADatabase() {
        Outside outside = new Outside(Dialect.POSTGRESQL, "jdbc:postgresql://127.0.0.1:1/x", "u");
        for (String[] wrong : new String[][] {
            {"table", "t", "key", "customre"}, // and what was meant
            {"table", "t"}, // takes rows back, and has no key
            {"table", "t", "mode", "append", "key", "day"},
            {"table", "t", "key", "day", "password", "open"},
            {"table", "t", "key", "day", "properties.sslpassword", "open"},
            {"table", "t", "key", "day", "url", "jdbc:postgresql://h/d?user=a&password=open"},
            {"table", "t", "key", "day", "url", "jdbc:oracle:thin:@h"},
            {"table", "t", "key", "day", "timeout", "1ms"},
            {"table", "t", "key", "day", "batch_rows", "5"},
        }) {
            MillraceException error = assertThrows(MillraceException.class, () -> open(outside, TOTALS, false, wrong));
            assertFalse(error.getMessage().contains("open"), error.getMessage());
        }
    }

    @Test
    void secretsAreInNoMessage() {
        Map<String, String> options = Map.of(
                "url",
                "jdbc:postgresql://127.0.0.1:1/x?sslpassword=${secret:s}",
                "table",
                "t",
                "key",
                "day",
                "password",
                "${secret:s}");
        Options.References references = text -> text.replace("${secret:s}", "topsecret");
        try (Sink sink = new JdbcSinkFactory()
                .open(TOTALS, false, new Options(options, references), new TestSinkContext(memory.allocator()))) {
            MillraceException error = assertThrows(MillraceException.class, sink::check);
            assertEquals(SqlState.CONNECTION_FAILURE, error.sqlState());
            assertFalse(error.getMessage().contains("topsecret"), error.getMessage());
            assertTrue(error.getMessage().contains("127.0.0.1:1"), error.getMessage());
        }
    }

    /** A thread that writes as the engine's does. */
    private static Thread committing(Sink sink, AtomicReference<Optional<Throwable>> failure) {
        Thread thread = new Thread(
                () -> {
                    try {
                        sink.commit(1);
                    } catch (Throwable e) {
                        failure.set(Optional.of(e));
                    }
                },
                "committing");
        thread.start();
        return thread;
    }

    @Test
    void aDatabaseThatIsAwayIsWaitedFor() throws InterruptedException {
        Outside outside = postgres();
        DatabaseServer server = SERVERS.get(Dialect.POSTGRESQL);
        createTotals(outside);
        try (Sink sink = open(outside, TOTALS, false, "table", "totals", "key", "customer, day")) {
            write(sink, TOTALS, List.of(Row.of("a", 0, 1L)));
            sink.commit(1); // connected
            server.kill();
            write(sink, TOTALS, List.of(Row.of("b", 0, 2L)));
            AtomicReference<Optional<Throwable>> failure = new AtomicReference<>(Optional.empty());
            Thread thread = committing(sink, failure);
            Eventually.holds(
                    "it says what it waits for",
                    () -> sink.status().orElseThrow().waitsFor().orElse("").contains("127.0.0.1:" + server.port()));
            assertEquals(1, sink.status().orElseThrow().waiting());
            server.begin();
            thread.join();
            assertEquals(Optional.empty(), failure.get());
            assertEquals(Optional.empty(), sink.status().orElseThrow().waitsFor());
            assertTrue(sink.status().orElseThrow().lastError().isPresent());
            assertEquals(2, sink.status().orElseThrow().records());
            assertEquals(List.of("a|1", "b|2"), outside.rows("SELECT customer, amount FROM totals ORDER BY 1"));
        }
    }

    @Test
    void aSinkThatWaitsGivesUpWhenItIsInterrupted() throws InterruptedException {
        Outside outside = new Outside(Dialect.POSTGRESQL, "jdbc:postgresql://127.0.0.1:1/x", "u");
        try (Sink sink = open(outside, TOTALS, false, "table", "totals", "key", "customer, day")) {
            write(sink, TOTALS, List.of(Row.of("a", 0, 1L)));
            AtomicReference<Optional<Throwable>> failure = new AtomicReference<>(Optional.empty());
            Thread thread = committing(sink, failure);
            Eventually.holds(
                    "it waits", () -> sink.status().orElseThrow().waitsFor().isPresent());
            thread.interrupt();
            thread.join();
            assertEquals(
                    SqlState.QUERY_CANCELED, ((MillraceException) failure.get().orElseThrow()).sqlState());
        }
    }

    /** The sink's transaction is the one that the database ends, as it looks for deadlocks first. */
    @Test
    void aDeadlockIsTriedAgain() throws SQLException, InterruptedException {
        Outside outside = postgres();
        createTotals(outside);
        outside.run("INSERT INTO totals VALUES ('a', '1970-01-01', 0), ('b', '1970-01-01', 0)");
        try (Connection other = outside.connect();
                Statement statement = other.createStatement();
                Sink sink = open(
                        outside,
                        TOTALS,
                        false,
                        "table",
                        "totals",
                        "key",
                        "customer, day",
                        "properties.options",
                        "-c deadlock_timeout=3s")) { // for the other to begin to wait meanwhile: it looks but once
            statement.execute("SET deadlock_timeout = '1h'");
            other.setAutoCommit(false);
            statement.execute("UPDATE totals SET amount = -1 WHERE customer = 'b'");
            write(sink, TOTALS, List.of(Row.of("a", 0, 1L), Row.of("b", 0, 2L)));
            AtomicReference<Optional<Throwable>> failure = new AtomicReference<>(Optional.empty());
            Thread thread = committing(sink, failure);
            Eventually.holds(
                    "the sink waits for the other's lock",
                    () -> !outside.rows("SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'")
                            .isEmpty());
            statement.execute(
                    "UPDATE totals SET amount = -1 WHERE customer = 'a'"); // waits for the sink, until that is ended
            other.commit();
            thread.join();
            assertEquals(Optional.empty(), failure.get());
            assertTrue(sink.status().orElseThrow().lastError().orElse("").contains("deadlock"));
            assertEquals(List.of("a|1", "b|2"), outside.rows("SELECT customer, amount FROM totals ORDER BY 1"));
        }
    }

    /** MySQL ends the transaction that has changed less, which is the sink's. */
    @Test
    void aDeadlockOfMySqlIsTriedAgain() throws SQLException, InterruptedException {
        Assumptions.assumeTrue(SERVERS.containsKey(Dialect.MYSQL), "skipped because MariaDB is not installed");
        Outside outside = Outside.of(Dialect.MYSQL, SERVERS.get(Dialect.MYSQL));
        createTotals(outside);
        outside.run("INSERT INTO totals VALUES ('a', '1970-01-01', 0), ('b', '1970-01-01', 0)");
        for (int i = 0; i < 20; i++) {
            outside.run("INSERT INTO totals VALUES ('z" + i + "', '1970-01-01', 0)");
        }
        try (Connection other = outside.connect();
                Statement statement = other.createStatement();
                Sink sink =
                        open(outside, TOTALS, false, "table", "totals", "key", "customer, day", "batch.rows", "1")) {
            other.setAutoCommit(false);
            statement.execute(
                    "UPDATE totals SET amount = -1 WHERE day = '1970-01-01' AND customer LIKE 'z%'"); // much to take
            // back
            statement.execute("UPDATE totals SET amount = -1 WHERE customer = 'b' AND day = '1970-01-01'");
            write(sink, TOTALS, List.of(Row.of("a", 0, 1L), Row.of("b", 0, 2L)));
            AtomicReference<Optional<Throwable>> failure = new AtomicReference<>(Optional.empty());
            Thread thread = committing(sink, failure);
            Eventually.holds(
                    "the sink waits for the other's lock",
                    () -> !outside.rows("SELECT 1 FROM information_schema.global_status WHERE variable_name ="
                                    + " 'INNODB_ROW_LOCK_CURRENT_WAITS' AND variable_value > 0") // innodb_trx
                            // is not read
                            // anew for who
                            // reads it
                            // often
                            .isEmpty());
            statement.execute("UPDATE totals SET amount = -1 WHERE customer = 'a' AND day = '1970-01-01'");
            other.commit();
            thread.join();
            assertEquals(Optional.empty(), failure.get());
            String said = sink.status().orElseThrow().lastError().orElse("");
            assertTrue(said.contains("Deadlock") || said.contains("Lock wait timeout"), said);
            assertEquals(
                    List.of("a|1", "b|2"),
                    outside.rows("SELECT customer, amount FROM totals WHERE customer < 'c' ORDER BY 1"));
        }
    }

    // ---- the number of a checkpoint --------------------------------------------------------------------------------

    private static WrittenChange change(Row row, LeakCheck memory) {
        try (Batch batch = TestBatches.of(TOTALS, memory.allocator(), row);
                TextBuffer scratch = new TextBuffer(memory.allocator(), 64)) {
            return WrittenChange.put(new RowBytes(TOTALS, scratch).of(batch, 0, List.of(0, 1, 2)));
        }
    }

    @Test
    void whatWasWrittenWithItsNumberIsNotWrittenAgain() {
        for (Outside outside : all()) {
            outside.run(
                    "DROP TABLE IF EXISTS totals",
                    "DROP TABLE IF EXISTS millrace_progress",
                    "CREATE TABLE totals (customer VARCHAR(50), day DATE, amount BIGINT)");
            TargetTable table = new TargetTable("totals", TOTALS, List.of());
            Map<String, String> options = new HashMap<>(Map.of("url", outside.url()));
            if (!outside.user().isEmpty()) {
                options.put("user", outside.user());
            }
            DatabaseAddress address = DatabaseAddress.read(new Options(options));
            for (int run = 0; run < 2; run++) { // as after a crash behind the commit
                try (JdbcWriter writer = new JdbcWriter(address, table, false, 10, true)) {
                    assertEquals(run == 0 ? -1 : 8, writer.checkpoint("one").orElse(-1), outside.toString());
                    writer.write(WrittenChange.Sequence.of(List.of(change(Row.of("a", 0, 1L), memory))), "one", 7);
                    writer.write(WrittenChange.Sequence.of(List.of(change(Row.of("b", 0, 2L), memory))), "one", 8);
                    writer.write(
                            WrittenChange.Sequence.of(List.of(change(Row.of("c", 0, 3L), memory))), "other", 7 + run);
                }
            }
            assertEquals(
                    List.of("a", "b", "c", "c"),
                    outside.rows("SELECT customer FROM totals ORDER BY 1"),
                    outside + ": each number of each sink once");
            assertEquals(
                    List.of("one|8", "other|8"),
                    outside.rows("SELECT sink, checkpoint FROM millrace_progress ORDER BY 1"),
                    outside.toString());
        }
    }
}
