package dev.millrace.server.gateway;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.edge.agent.EdgeAgent;
import dev.millrace.edge.config.EdgeConfig;
import dev.millrace.edge.config.EdgeConfigFile;
import dev.millrace.edge.link.DeviceWire;
import dev.millrace.edge.link.SocketWire;
import dev.millrace.server.device.EdgeStatus;
import dev.millrace.server.pgwire.Authentication;
import dev.millrace.server.session.TestDatabase;
import dev.millrace.storage.disk.RealDisk;
import dev.millrace.testing.document.DocumentPage;
import dev.millrace.testing.time.Eventually;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Random;
import java.util.function.BooleanSupplier;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Queries that run at the edge: real agents read one file as two streams, of which one sends all rows and one what queries need; answers are the same. */
class EdgeQueriesTest {
    private static final String COLUMNS =
            "(ts TIMESTAMP, machine TEXT, temp DOUBLE PRECISION, n BIGINT, k INTEGER, r REAL,"
                    + " ok BOOLEAN, d DATE, WATERMARK FOR ts AS ts - INTERVAL '5 seconds')"
                    + " WITH (connector = 'edge', include.device = 'device')";
    private static final String ONLY_NEEDED = "ALTER STREAM plant EDGE ALL SET (rows = 'queries')";
    private static final String AT_EDGE = " WITH (run_at = 'edge') AS ";

    @TempDir
    private Path directory;

    private final BufferAllocator allocator = new RootAllocator();
    private final Random random = new Random(11);
    private TestDatabase server;
    private EdgeGateway gateway;
    private Path input;
    private int lines;

    @BeforeEach
    void begin() throws IOException {
        input = Files.createFile(directory.resolve("in.csv"));
        open();
        server.run("CREATE STREAM plant " + COLUMNS);
        server.run("CREATE STREAM whole " + COLUMNS);
    }

    private void open() {
        server = new TestDatabase(directory.resolve("db"));
        gateway = EdgeGateway.listen(
                server.database(),
                new Authentication.Trust(),
                List.of("localhost"),
                gateway == null ? 0 : gateway.port(),
                100,
                Optional.empty());
    }

    @AfterEach
    void end() {
        gateway.close();
        server.close();
        assertEquals(0, allocator.getAllocatedMemory());
        allocator.close();
    }

    private EdgeConfig config(String device) {
        String stream = """
                %s {
                  columns = ["ts timestamp", "machine text", "temp double", "n bigint", "k int", "r real", "ok boolean", "d date"]
                  time = ts, key = machine
                  input { type = file, path = "%s", format = csv }
                  sketch { rows = 200, segment = 10s }
                }
                """;
        return EdgeConfigFile.parse(
                """
                device = "%s", data = "%s", commit = 20ms, status = 20ms
                server { address = "localhost:%d", token = secret, tls = false }
                streams { %s %s }
                """.formatted(
                                device,
                                directory,
                                gateway.port(),
                                stream.formatted("plant", input),
                                stream.formatted("whole", input)),
                "test");
    }

    private EdgeAgent agent(String device, DeviceWire.Dialer dialer) throws IOException {
        Path data = Files.createDirectories(directory.resolve("edge").resolve(device.replace('/', '-')));
        return new EdgeAgent(
                config(device),
                EdgeAgent.Machine.of(new RealDisk(data), allocator, InputStream.nullInputStream(), line -> {}),
                dialer);
    }

    private EdgeAgent agent(String device) throws IOException {
        EdgeConfig.Server to = config(device).server().orElseThrow();
        return agent(device, () -> new SocketWire(to));
    }

    private static void drive(EdgeAgent agent, BooleanSupplier until) {
        Eventually.holds("what is driven comes", () -> {
            agent.step();
            return until.getAsBoolean();
        });
    }

    /** All is read, closed, sent and at the server. */
    private static void sendAll(EdgeAgent agent) {
        boolean any = true;
        while (any) {
            any = false;
            for (var stream : agent.streams()) {
                any |= stream.step();
            }
        }
        agent.streams().forEach(stream -> stream.flush());
        drive(
                agent,
                () -> agent.streams().stream()
                        .allMatch(stream -> agent.backlog(stream.name()).records() == 0));
    }

    private Optional<EdgeStatus> status(String stream) {
        return server.database().edgeInlets().status().stream()
                .filter(status -> status.stream().equals(stream))
                .findFirst();
    }

    private boolean isSteered() {
        return status("plant")
                .filter(status -> status.steering().number() > 0)
                .filter(status ->
                        status.steering().number() == status.steering().done())
                .isPresent();
    }

    /** The same, with these settings and no others; of one moment, as devices are told by another thread. */
    private boolean isSteered(String settings) {
        return isSteered()
                && status("plant")
                        .filter(status ->
                                status.steering().number() == status.steering().done())
                        .filter(status -> status.steering().settings().strip().equals(settings))
                        .isPresent();
    }

    private static long programs(EdgeStatus status) {
        return status.steering()
                .settings()
                .lines()
                .filter(line -> line.startsWith("query.") || line.startsWith("windows."))
                .count();
    }

    // ---- what is measured
    // -------------------------------------------------------------------------------------------

    /** A row a second, some of them three seconds too early. */
    private void write(int more) throws IOException {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < more; i++, lines++) {
            int second = Math.max(0, lines - (random.nextInt(10) == 0 ? 3 : 0));
            text.append(time(second)).append(',');
            text.append(some("m" + random.nextInt(4))).append(',');
            text.append(some(random.nextInt(30) == 0 ? "NaN" : String.valueOf((random.nextInt(400) - 100) / 4.0)))
                    .append(',');
            text.append(some(random.nextInt(50) == 0 ? Long.MAX_VALUE : random.nextInt(20) - 5))
                    .append(',');
            text.append(some(random.nextInt(10))).append(',');
            text.append(some(random.nextInt(40) / 8.0)).append(',');
            text.append(some(random.nextBoolean())).append(',');
            text.append(some("2026-01-0" + (1 + random.nextInt(4)))).append('\n');
        }
        Files.writeString(input, text, StandardOpenOption.APPEND);
    }

    private static String time(int second) {
        return String.format(Locale.ROOT, "2026-01-01 %02d:%02d:%02d", second / 3600, second / 60 % 60, second % 60);
    }

    private String some(Object value) {
        return random.nextInt(12) == 0 ? "" : value.toString();
    }

    /** A row that ends all windows before it. */
    private void writeLast() throws IOException {
        Files.writeString(input, "2026-01-02 00:00:00,m0,50,1,1,1,true,2026-01-01\n", StandardOpenOption.APPEND);
        lines++;
    }

    // ---- what is asked
    // ----------------------------------------------------------------------------------------------

    private String condition(int depth) {
        if (depth > 0 && random.nextInt(3) > 0) {
            String left = condition(depth - 1);
            return switch (random.nextInt(5)) {
                case 0, 1 -> "(" + left + " AND " + condition(depth - 1) + ")";
                case 2, 3 -> "(" + left + " OR " + condition(depth - 1) + ")";
                default -> "NOT (" + left + ")";
            };
        }
        String compared = List.of("=", "<>", "<", "<=", ">", ">=").get(random.nextInt(6));
        return switch (random.nextInt(14)) {
            case 0, 1 -> "temp " + compared + " " + (random.nextInt(300) - 100) / 4.0;
            case 2 -> "n " + compared + " " + (random.nextInt(20) - 5);
            case 3 -> "r " + compared + " " + random.nextInt(40) / 8.0;
            case 4 -> "k " + compared + " n";
            case 5 -> "machine IN ('m1', 'm" + random.nextInt(5) + "')";
            case 6 -> "machine <> 'm" + random.nextInt(4) + "'";
            case 7 ->
                List.of("temp", "machine", "ok", "d").get(random.nextInt(4)) + " IS "
                        + (random.nextBoolean() ? "" : "NOT ") + "NULL";
            case 8 -> "ok";
            case 9 -> "d " + compared + " DATE '2026-01-0" + (1 + random.nextInt(4)) + "'";
            case 10 -> "ts " + compared + " TIMESTAMP '" + time(random.nextInt(1500)) + "'";
            case 11 -> "temp * 2 - k " + compared + " " + random.nextInt(60);
            case 12 -> "k + 2 BETWEEN 3 AND " + (3 + random.nextInt(9));
            default ->
                List.of("machine LIKE '%1'", "abs(k) > 4", "device = 'millrace'", "temp > r")
                        .get(random.nextInt(4));
        };
    }

    private String query() {
        String where = random.nextInt(8) == 0 ? "" : " WHERE " + condition(2);
        return switch (random.nextInt(5)) {
            case 0 -> "SELECT machine, temp, count(*) AS c FROM STREAM" + where + " GROUP BY machine, temp";
            case 1 -> "SELECT d, ok, count(*) AS c, max(ts) AS m FROM STREAM" + where + " GROUP BY d, ok";
            case 2 -> "SELECT k, sum(n::numeric) AS c, min(r) AS m FROM STREAM" + where + " GROUP BY k";
            default ->
                "SELECT machine, window_start, count(*) AS c, sum(k) AS s, avg(k) AS a, min(temp) AS l, max(r) AS h"
                        + " FROM TUMBLE(TABLE STREAM, DESCRIPTOR(ts), INTERVAL '10 seconds')" + where
                        + " GROUP BY machine, window_start, window_end";
        };
    }

    private static List<String> sorted(List<String> rows) {
        return rows.stream().sorted().toList();
    }

    // ---- tests
    // ------------------------------------------------------------------------------------------------------

    /** The device is killed, the link exchanges, repeats and cuts, the server begins again, and queries come while rows do. */
    @Test
    void answersAreThoseOverAllRowsWhateverHappens() throws IOException {
        for (String stream : List.of("plant", "whole")) { // segments of a key come together, so rows come out of order
            server.run("DROP STREAM " + stream);
            server.run("CREATE STREAM " + stream + " " + COLUMNS.replace("'5 seconds'", "'1 hour'"));
        }
        server.run(ONLY_NEEDED);
        List<String> queries = new ArrayList<>();
        for (int life = 0; life < 10; life++) {
            if (life < 3) {
                EdgeAgent settled = agent("millrace");
                sendAll(settled); // what came before a query is not its
                for (int i = 0; i < 3; i++) {
                    String query = query();
                    int number = queries.size();
                    queries.add(query);
                    server.run("CREATE MATERIALIZED VIEW e" + number + AT_EDGE + query.replace("STREAM", "plant"));
                    server.run("CREATE MATERIALIZED VIEW c" + number + " AS " + query.replace("STREAM", "whole"));
                }
                drive(
                        settled,
                        () -> status("plant")
                                .filter(status -> status.steering().number()
                                        == status.steering().done())
                                .filter(status -> programs(status) == queries.size())
                                .isPresent());
                settled.close();
            }
            EdgeConfig.Server to = config("millrace").server().orElseThrow();
            EdgeAgent agent = agent("millrace", () -> new DisorderlyWire(new SocketWire(to), random));
            for (int i = 0; i < 3; i++) {
                write(random.nextInt(80));
                for (int step = random.nextInt(30); step > 0; step--) {
                    agent.step();
                }
            }
            if (life % 5 == 4) {
                gateway.close();
                server.close();
                open();
            }
            if (random.nextBoolean()) {
                agent.abandon();
            } else {
                agent.close();
            }
        }
        writeLast();
        EdgeAgent agent = agent("millrace");
        sendAll(agent);
        assertTrue(agent.streams().get(0).counts().unneeded() > 0
                || agent.streams().get(1).counts().unneeded() > 0);
        agent.close();
        for (int i = 0; i < queries.size(); i++) {
            assertEquals(
                    sorted(server.flushedRows("SELECT * FROM c" + i)),
                    sorted(server.flushedRows("SELECT * FROM e" + i)),
                    queries.get(i));
        }
        assertEquals(
                lines,
                status("whole").orElseThrow().kept().rows(),
                "the one of which all rows are sent has all of them");
    }

    @Test
    void whatNoQueryNeedsStaysAtTheDeviceAndIsCounted() throws IOException {
        server.run("CREATE MATERIALIZED VIEW hot" + AT_EDGE + "SELECT machine, temp, count(*) AS c FROM plant"
                + " WHERE temp > 73 GROUP BY machine, temp");
        server.run("CREATE MATERIALIZED VIEW same AS SELECT machine, temp, count(*) AS c FROM whole"
                + " WHERE temp > 73 GROUP BY machine, temp");
        server.run(ONLY_NEEDED);
        EdgeAgent agent = agent("millrace");
        drive(agent, this::isSteered);
        write(3000);
        sendAll(agent);
        long sent = status("plant").orElseThrow().kept().bytes();
        long all = status("whole").orElseThrow().kept().bytes();
        assertTrue(sent * 5 < all, () -> sent + " of " + all + " bytes");
        assertEquals(server.flushedRows("SELECT sum(c) FROM same"), server.flushedRows("SELECT sum(c) FROM hot"));
        drive(
                agent,
                () -> server.rows("SELECT rows + unneeded_rows FROM millrace.edges WHERE stream = 'plant'")
                        .equals(List.of("3000")));
        server.run("ALTER STREAM plant EDGE ALL SET (rows = 'all')");
        drive(agent, () -> isSteered("rows=all"));
        long before = status("plant").orElseThrow().kept().rows();
        write(100);
        sendAll(agent);
        assertEquals(before + 100, status("plant").orElseThrow().kept().rows());
        agent.close();
    }

    @Test
    void windowsCloseThoughNoRowOfThemIsNeeded() throws IOException {
        server.run("CREATE MATERIALIZED VIEW hot" + AT_EDGE + "SELECT window_start, count(*) AS c"
                + " FROM TUMBLE(TABLE plant, DESCRIPTOR(ts), INTERVAL '10 seconds') WHERE temp = 2000"
                + " GROUP BY window_start, window_end");
        server.run(ONLY_NEEDED);
        EdgeAgent agent = agent("millrace");
        drive(agent, this::isSteered);
        Files.writeString(input, time(5) + ",m0,2000,1,1,1,true,2026-01-01\n", StandardOpenOption.APPEND);
        lines = 6;
        write(60);
        sendAll(agent);
        assertEquals(List.of("2026-01-01 00:00:00|1"), server.flushedRows("SELECT * FROM hot"));
        assertTrue(agent.streams().get(0).counts().unneeded() > 40);
        agent.close();
    }

    /** A row that is needed and late is counted as it is of all rows; one that is not needed stays at the device, late or not. */
    @Test
    void lateRowsThatAreNeededAreCounted() throws IOException {
        String windows = "SELECT window_start, sum(k + 1) AS c" // arithmetic: the server's windows
                + " FROM TUMBLE(TABLE STREAM, DESCRIPTOR(ts), INTERVAL '10 seconds') WHERE temp = 2000 GROUP BY window_start, window_end";
        server.run("CREATE MATERIALIZED VIEW e" + AT_EDGE + windows.replace("STREAM", "plant"));
        server.run("CREATE MATERIALIZED VIEW c AS " + windows.replace("STREAM", "whole"));
        server.run(ONLY_NEEDED);
        EdgeAgent agent = agent("millrace");
        drive(agent, this::isSteered);
        StringBuilder text = new StringBuilder();
        for (int second = 0; second < 60; second++) {
            text.append(time(second)).append(",m0,2000,1,1,1,true,2026-01-01\n");
        }
        text.append(time(3)).append(",m0,2000,1,1,1,true,2026-01-01\n");
        text.append(time(4)).append(",m0,1,1,1,1,true,2026-01-01\n");
        Files.writeString(input, text, StandardOpenOption.APPEND);
        sendAll(agent);
        assertEquals(sorted(server.flushedRows("SELECT * FROM c")), sorted(server.flushedRows("SELECT * FROM e")));
        assertEquals(
                List.of("c|2", "e|1"), server.rows("SELECT query, late_rows FROM millrace.query_stats ORDER BY query"));
        agent.close();
    }

    @Test
    void theExampleOfTheGuideIsSo() throws IOException {
        Iterator<String> statements = DocumentPage.of("edge.md")
                .statements("Queries that run at the edge")
                .iterator();
        server.run(statements.next());
        server.run(statements.next());
        server.run(statements.next());
        EdgeConfig config = EdgeConfigFile.parse("""
                device = "millrace", data = "%s", commit = 20ms, status = 20ms
                server { address = "localhost:%d", token = secret, tls = false }
                streams { boiler {
                  columns = ["ts timestamp", "machine text", "temp double", "note text"]
                  time = ts
                  input { type = file, path = "%s", format = csv }
                  sketch { segment = 1h }
                } }
                """.formatted(directory, gateway.port(), input), "test");
        Path data = Files.createDirectories(directory.resolve("boiler"));
        EdgeAgent agent = new EdgeAgent(
                config,
                EdgeAgent.Machine.of(new RealDisk(data), allocator, InputStream.nullInputStream(), line -> {}),
                () -> new SocketWire(config.server().orElseThrow()));
        drive(
                agent,
                () -> status("boiler")
                        .filter(status -> status.steering().number() > 0)
                        .filter(status ->
                                status.steering().number() == status.steering().done())
                        .isPresent());
        StringBuilder text = new StringBuilder();
        for (int second = 0; second < 120; second++) {
            text.append(time(second))
                    .append(second % 20 == 7 ? ",b1,90," : ",b1,20,")
                    .append("a long note\n");
        }
        Files.writeString(input, text.append("2026-01-01 00:10:00,b1,81,\n"), StandardOpenOption.APPEND);
        sendAll(agent);
        assertEquals(
                List.of("b1|2026-01-01 00:00:00|3|90", "b1|2026-01-01 00:01:00|3|90"),
                sorted(server.flushedRows("SELECT * FROM hot")));
        String asked = statements.next();
        drive(agent, () -> server.rows(asked).equals(List.of("millrace|1|120|7|t")));
        agent.close();
    }

    @Test
    void devicesHearOfQueriesThatComeAndGoAndKeepThemWhoeverBeginsAgain() throws IOException {
        server.run(ONLY_NEEDED);
        server.run("CREATE CONTINUOUS QUERY \"a=b\"" + AT_EDGE + "SELECT n FROM plant WHERE k = 3");
        EdgeAgent agent = agent("millrace");
        drive(agent, this::isSteered);
        String program = "query.a%3Db=(1 (\"k\" \"n\") (eq (column whole \"k\") (whole 3))), rows=queries";
        assertEquals(List.of(program), server.rows("SELECT settings FROM millrace.edges WHERE stream = 'plant'"));
        agent.close();
        gateway.close();
        server.close();
        open();
        EdgeAgent again = agent("millrace");
        assertEquals(
                1,
                again.streams().stream()
                        .filter(stream -> stream.settings().rows().queries().size() == 1)
                        .count(),
                "it knows before it hears anything");
        drive(again, this::isSteered);
        server.run("ALTER CONTINUOUS QUERY \"a=b\" AS SELECT n FROM plant WHERE k = 4");
        drive(
                again,
                () -> isSteered()
                        && server.rows("SELECT settings FROM millrace.edges WHERE stream = 'plant'")
                                .equals(List.of(program.replace("whole 3", "whole 4"))));
        server.run("DROP CONTINUOUS QUERY \"a=b\"");
        drive(again, () -> isSteered("rows=queries"));
        write(100);
        sendAll(again);
        assertTrue(again.streams().stream().anyMatch(stream -> stream.counts().unneeded() > 80));
        again.close();
    }

    @Test
    void whatCannotRunThereIsSaidAndWhatRunsWhereIsExplained() {
        String all = "SELECT ts, machine, temp, n, k, r, ok, d FROM plant";
        String create = "CREATE CONTINUOUS QUERY q" + AT_EDGE;
        assertError("0A000", "as no device computes like", create + all + " WHERE machine LIKE 'm%'");
        assertError("0A000", "no condition is directly over", create + all);
        server.run("CREATE STREAM typed (n BIGINT)");
        assertError("0A000", "it reads no stream of connector edge", create + "SELECT n FROM typed");
        assertError("22023", "edge or server", create.replace("'edge'", "'moon'") + "SELECT n FROM plant");
        assertError("22023", "is made of a query", "ALTER STREAM plant EDGE ALL SET (query.q = '(1 ())')");
        assertError("22023", "all or queries", "ALTER STREAM plant EDGE ALL SET (rows = 'some')");
        List<String> plan = server.rows("EXPLAIN CREATE CONTINUOUS QUERY q" + AT_EDGE
                + "SELECT machine, count(*) FROM plant WHERE temp > 80 AND machine LIKE 'm%' GROUP BY machine");
        assertTrue(
                plan.contains("at the edge, of each row of plant: whether (temp > 80.0); columns machine, temp"),
                plan::toString);
        assertTrue(
                plan.get(plan.size() - 1)
                        .startsWith("at the server: the plan above, over the rows that come; not at the edge: like("),
                plan::toString);
        server.run("CREATE STREAM felt (ts TIMESTAMP, temp DOUBLE PRECISION, note TEXT)"
                + " WITH (connector = 'edge', include.error.temp = 'off')");
        plan = server.rows("EXPLAIN CREATE CONTINUOUS QUERY q" + AT_EDGE
                + "SELECT ts FROM felt WHERE off < 1 AND ts > '2020-01-01'");
        assertTrue(
                plan.stream()
                        .anyMatch(line -> line.startsWith("at the edge, of each row of felt: whether (ts > ")
                                && line.endsWith("; columns temp, ts")),
                "what the server finds out of what comes no device is asked");
        assertFalse(server.rows("EXPLAIN SELECT machine FROM plant WHERE temp > 80").stream()
                .anyMatch(line -> line.startsWith("at the")));
    }

    private void assertError(String state, String text, String statement) {
        String error = server.error(statement);
        assertTrue(error.startsWith(state) && error.contains(text), error);
    }
}
