package dev.millrace.server.gateway;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.edge.agent.EdgeAgent;
import dev.millrace.edge.config.EdgeConfig;
import dev.millrace.edge.config.EdgeConfigFile;
import dev.millrace.edge.link.DeviceWire;
import dev.millrace.edge.link.SocketWire;
import dev.millrace.edge.wire.Message;
import dev.millrace.server.device.EdgeStatus;
import dev.millrace.server.pgwire.Authentication;
import dev.millrace.server.session.TestDatabase;
import dev.millrace.storage.disk.RealDisk;
import dev.millrace.testing.time.Eventually;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Windows that devices make: real agents, of which one is of before and knows none, read one file as two streams. Of one they send partial aggregates, and what
 * else is needed; of the other all rows, over which the server makes the same windows.
 *
 * <p>Long because all of it needs the same devices, input and server.
 */
class EdgeWindowsTest {
    private static final String COLUMNS =
            "(ts TIMESTAMP, machine TEXT, temp DOUBLE PRECISION, n BIGINT, k INTEGER, r REAL,"
                    + " ok BOOLEAN, d DATE, WATERMARK FOR ts AS ts - INTERVAL '1 hour')"
                    + " WITH (connector = 'edge', include.device = 'device')";
    private static final String AT_EDGE = " WITH (run_at = 'edge') AS ";
    private static final String PERIOD = "'10 seconds'";

    @TempDir
    private Path directory;

    private final BufferAllocator allocator = new RootAllocator();
    private final Random random = new Random(Long.getLong("millrace.edge.windows.seed", 7));
    private final Map<String, String> queries = new TreeMap<>(); // those that run, by their numbers
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
                  sketch { rows = 200, segment = 60s }
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

    private EdgeAgent agent(String device, boolean disorderly) throws IOException {
        EdgeConfig.Server to = config(device).server().orElseThrow();
        return agent(device, () -> {
            DeviceWire wire = new SocketWire(to);
            DeviceWire maybeOld = device.endsWith("old") ? new OldWire(wire) : wire;
            return disorderly ? new DisorderlyWire(maybeOld, random) : maybeOld;
        });
    }

    /** A device that says of itself what agents say that know no windows. */
    private record OldWire(DeviceWire wire) implements DeviceWire {
        @Override
        public void send(Message message) {
            wire.send(
                    message instanceof Message.Open open
                            ? new Message.Open(open.stream(), open.name(), open.settings(), 1)
                            : message);
        }

        @Override
        public Optional<Message> receive() {
            return wire.receive();
        }

        @Override
        public Optional<String> failure() {
            return wire.failure();
        }

        @Override
        public long bytes() {
            return wire.bytes();
        }

        @Override
        public void close() {
            wire.close();
        }
    }

    private static void drive(List<EdgeAgent> agents, BooleanSupplier until) {
        Eventually.holds("what is driven comes", () -> {
            agents.forEach(EdgeAgent::step);
            return until.getAsBoolean();
        });
    }

    /** All is read, closed, sent and at the server. */
    private static void sendAll(List<EdgeAgent> agents) {
        for (EdgeAgent agent : agents) {
            boolean any = true;
            while (any) {
                any = false;
                for (var stream : agent.streams()) {
                    any |= stream.step();
                }
            }
            agent.streams().forEach(stream -> stream.flush());
        }
        drive(
                agents,
                () -> agents.stream()
                        .allMatch(agent -> agent.streams().stream()
                                .allMatch(stream -> agent.backlog(stream.name()).records() == 0)));
    }

    private List<EdgeStatus> status(String stream) {
        return server.database().edgeInlets().status().stream()
                .filter(status -> status.stream().equals(stream))
                .toList();
    }

    /** Devices have what was set last, which has programs of so many queries. */
    private boolean isSteered(int devices, int programs) {
        List<EdgeStatus> all = status("plant");
        return all.size() == devices
                && all.stream()
                        .allMatch(status -> status.steering().number() > 0
                                && status.steering().number()
                                        == status.steering().done()
                                && status.steering()
                                                .settings()
                                                .lines()
                                                .filter(line ->
                                                        line.startsWith("query.") || line.startsWith("windows."))
                                                .count()
                                        == programs);
    }

    // ---- what is measured
    // -------------------------------------------------------------------------------------------

    /** A row a second, some of them up to half a minute too early. */
    private void write(int more) throws IOException {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < more; i++, lines++) {
            int second = Math.max(0, lines - (random.nextInt(10) == 0 ? random.nextInt(30) : 0));
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
            if (random.nextInt(40) == 0) {
                text.append("no row at all,,,\n");
            }
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

    private String query() {
        String where = List.of(
                        "",
                        "",
                        " WHERE temp > " + random.nextInt(60),
                        " WHERE machine IN ('m1', 'm2') OR ok",
                        " WHERE n < 15 AND r IS NOT NULL",
                        " WHERE NOT (d = DATE '2026-01-02')")
                .get(random.nextInt(6));
        String keys = List.of("", "machine, ", "k, ", "device, machine, ", "temp, ", "d, ok, ", "r, ", "device, ")
                .get(random.nextInt(8));
        List<String> all = List.of(
                "count(*)",
                "count(n)",
                "count(machine)",
                "sum(k)",
                "sum(n)",
                "avg(k)",
                "avg(n)",
                "min(temp)",
                "max(temp)",
                "min(n)",
                "max(k)",
                "min(r)",
                "max(ts)",
                "min(d)",
                "sum(temp)",
                "avg(temp)",
                "avg(k::double precision)");
        List<String> filters = List.of("", "", " FILTER (WHERE ok)", " FILTER (WHERE temp > 20 OR k IS NULL)");
        List<String> some = new ArrayList<>();
        for (int i = 1 + random.nextInt(5); i > 0; i--) {
            some.add(all.get(random.nextInt(all.size())) + filters.get(random.nextInt(4)) + " AS a" + i);
        }
        String windows = List.of(
                        "TUMBLE(TABLE STREAM, DESCRIPTOR(ts), INTERVAL " + PERIOD,
                        "TUMBLE(TABLE STREAM, DESCRIPTOR(ts), INTERVAL " + PERIOD,
                        "HOP(TABLE STREAM, DESCRIPTOR(ts), INTERVAL '4 seconds', INTERVAL '12 seconds'",
                        "CUMULATE(TABLE STREAM, DESCRIPTOR(ts), INTERVAL '5 seconds', INTERVAL '15 seconds'")
                .get(random.nextInt(4));
        return "SELECT " + keys + "window_start, window_end, " + String.join(", ", some) + " FROM " + windows + ")"
                + where + " GROUP BY " + keys + "window_start, window_end"
                + (random.nextInt(4) == 0 ? " HAVING count(*) > 1" : "");
    }

    /** One that devices make no windows of, and that needs rows of its own. */
    private String other() {
        return "SELECT k, machine, count(*) AS c FROM STREAM WHERE temp > " + random.nextInt(80)
                + " GROUP BY k, machine";
    }

    private void create(String number, String query) {
        queries.put(number, query);
        server.run("CREATE MATERIALIZED VIEW e" + number + AT_EDGE + query.replace("STREAM", "plant"));
        server.run("CREATE MATERIALIZED VIEW c" + number + " AS " + query.replace("STREAM", "whole"));
    }

    private static List<String> sorted(List<String> rows) {
        return rows.stream().sorted().toList();
    }

    private void assertSameAnswers() {
        queries.forEach((number, query) -> {
            List<String> expected = new ArrayList<>(server.flushedRows("SELECT * FROM c" + number));
            List<String> more = new ArrayList<>(server.flushedRows("SELECT * FROM e" + number));
            assertFalse(expected.isEmpty(), query);
            List<String> all = List.copyOf(expected);
            more.forEach(expected::remove);
            all.forEach(more::remove);
            assertEquals(
                    List.of(),
                    sorted(more),
                    () -> "other than should be of " + query + ": " + more.size() + ", and missing: " + sorted(expected)
                            + " late " + server.rows("SELECT query, late_rows FROM millrace.query_stats"));
            assertEquals(List.of(), sorted(expected), () -> "missing of " + query);
        });
    }

    // ---- tests
    // ------------------------------------------------------------------------------------------------------

    /** Devices of both kinds are killed, links exchange, repeat and cut, the server begins again, steering changes, and queries come and go while rows do. */
    @Test
    void answersAreThoseOverAllRowsWhateverHappens() throws IOException {
        List<String> devices = List.of("millrace/new", "millrace/old");
        server.run("ALTER STREAM plant EDGE ALL SET (rows = 'queries')");
        for (int life = 0; life < 12; life++) {
            if (life < 3) {
                List<EdgeAgent> settled = new ArrayList<>();
                for (String device : devices) {
                    settled.add(agent(device, false));
                }
                sendAll(settled); // what came before a query is not its
                for (int i = 0; i < 3; i++) {
                    create(life + "_" + i, i == life ? other() : query());
                }
                if (life == 2) {
                    server.run("DROP MATERIALIZED VIEW e0_1");
                    assertTrue(server.error("SELECT * FROM \"e0_1$windows\"").contains("does not exist"));
                    queries.remove("0_1");
                }
                drive(settled, () -> isSteered(2, queries.size()));
                settled.forEach(EdgeAgent::close);
            }
            List<EdgeAgent> agents = new ArrayList<>();
            for (String device : devices) {
                agents.add(agent(device, true));
            }
            for (int i = 0; i < 3; i++) {
                write(random.nextInt(80));
                for (int step = random.nextInt(30); step > 0; step--) {
                    agents.get(random.nextInt(agents.size())).step();
                }
                if (life > 3 && random.nextInt(4) == 0) {
                    String which = random.nextBoolean() ? "'millrace/new'" : "ALL";
                    String rows = random.nextBoolean() ? "all" : "queries";
                    server.run("ALTER STREAM plant EDGE " + which + " SET (rows = '" + rows + "')");
                }
            }
            if (life % 4 == 3) {
                gateway.close();
                server.close();
                open();
            }
            for (EdgeAgent agent : agents) {
                if (random.nextBoolean()) {
                    agent.abandon();
                } else {
                    agent.close();
                }
            }
        }
        List<EdgeAgent> agents = new ArrayList<>();
        for (String device : devices) {
            agents.add(agent(device, false));
        }
        sendAll(agents); // all of both, before one of them ends all windows
        writeLast();
        sendAll(agents);
        agents.forEach(EdgeAgent::close);
        assertSameAnswers();
        assertTrue(
                status("plant").stream()
                        .filter(status -> status.device().endsWith("new"))
                        .allMatch(status -> status.kept().windowRows() > 0),
                "some were made at a device");
        assertTrue(status("plant").stream()
                .filter(status -> status.device().endsWith("old"))
                .allMatch(status -> status.kept().windowRows() == 0));
    }

    private void recreate(String delay) {
        for (String stream : List.of("plant", "whole")) {
            server.run("DROP STREAM " + stream);
            server.run("CREATE STREAM " + stream + " " + COLUMNS.replace("'1 hour'", "'" + delay + "'"));
        }
        server.run("ALTER STREAM plant EDGE ALL SET (rows = 'queries')");
    }

    /** So many rows, one a second, in order. */
    private void writeInOrder(int more) throws IOException {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < more; i++, lines++) {
            text.append(time(lines)).append(",m").append(lines % 4).append(',').append(20 + lines % 100 / 4.0);
            text.append(",").append(lines).append(',').append(lines % 10).append(",1,true,2026-01-01\n");
        }
        Files.writeString(input, text, StandardOpenOption.APPEND);
    }

    @Test
    void windowsEndWhileRowsComeAndOpenOnesStayAtTheDevice() throws IOException {
        recreate("5 seconds");
        create(
                "_",
                "SELECT window_start, count(*) AS c, sum(n) AS s FROM TUMBLE(TABLE STREAM, DESCRIPTOR(ts), INTERVAL "
                        + PERIOD + ") GROUP BY window_start, window_end");
        List<EdgeAgent> agents = List.of(agent("millrace", false));
        drive(agents, () -> isSteered(1, 1));
        writeInOrder(205);
        drive(
                agents,
                () -> server.rows("SELECT * FROM e_").size()
                        == 19); // of the one that ends at 200 s the delay has not passed
        assertEquals(200, status("plant").get(0).kept().windowRows());
        assertTrue(status("plant").get(0).kept().rows() <= 4, "but for rows with which time goes on");
        agents.get(0).close();
        writeInOrder(10);
        agents = List.of(agent("millrace", false));
        drive(agents, () -> server.rows("SELECT * FROM e_").size() == 20);
        agents.get(0).abandon();
        assertEquals(
                List.of("2026-01-01 00:03:10|10|1945"),
                server.rows("SELECT * FROM e_ WHERE window_start = TIMESTAMP '2026-01-01 00:03:10'"));
    }

    @Test
    void groupsThatTakeTooMuchMemoryAreSentAndBegunAnew() throws IOException {
        create(
                "_",
                "SELECT n, window_start, count(*) AS c FROM TUMBLE(TABLE STREAM, DESCRIPTOR(ts), INTERVAL '2 hours')"
                        + " GROUP BY n, window_start, window_end");
        server.run("ALTER STREAM plant EDGE ALL SET (rows = 'queries')");
        List<EdgeAgent> agents = List.of(agent("millrace", false));
        drive(agents, () -> isSteered(1, 1));
        writeInOrder(6000);
        drive(agents, () -> status("plant").get(0).kept().windowRows() > 0);
        writeLast();
        sendAll(agents);
        agents.get(0).close();
        assertSameAnswers();
        assertEquals(List.of("6000"), server.flushedRows("SELECT sum(c) FROM e_"));
    }

    /** Said for docs/edge.md, and held to an order of magnitude. */
    @Test
    void partialsAreAFractionOfTheRows() throws IOException {
        server.run("ALTER STREAM plant EDGE ALL SET (rows = 'queries', sketch.segment = '10m')");
        server.run("ALTER STREAM whole EDGE ALL SET (sketch.segment = '10m')");
        long before = 0;
        long rows = 0;
        for (String size : List.of("1 minute", "1 hour")) {
            create(
                    "_",
                    "SELECT machine, window_start, count(*) AS c, avg(temp) AS a, min(temp) AS l, max(temp) AS h"
                            + " FROM TUMBLE(TABLE STREAM, DESCRIPTOR(ts), INTERVAL '" + size + "')"
                            + " GROUP BY machine, window_start, window_end");
            List<EdgeAgent> agents = List.of(agent("millrace", false));
            drive(agents, () -> isSteered(1, 1));
            write(3600);
            sendAll(agents);
            agents.get(0).close();
            long partials = status("plant").get(0).kept().bytes() - before;
            long all = status("whole").get(0).kept().bytes() - rows;
            before += partials;
            rows += all;
            System.out.println("windows of " + size + ", an hour of a row a second: " + partials
                    + " bytes of partials and " + "rows, " + all + " of all rows");
            assertTrue(partials * (size.equals("1 hour") ? 20 : 2) < all, () -> partials + " of " + all);
            server.run("DROP MATERIALIZED VIEW e_, c_");
        }
    }

    @Test
    void whatRunsWhereIsSaidAndTheStreamOfPartialsGoesWithItsQuery() {
        String from = " FROM TUMBLE(TABLE plant, DESCRIPTOR(ts), INTERVAL '1 minute')";
        String by = " GROUP BY window_start, window_end";
        String create = "CREATE MATERIALIZED VIEW q" + AT_EDGE;
        List<String> plan =
                server.rows("EXPLAIN " + create + "SELECT window_start, avg(k)" + from + " WHERE k > 3" + by);
        assertTrue(
                plan.contains("at the edge, of each row of plant: whether (k > 3); windows of 60000000 us of ts, by ():"
                        + " count, sum(k), count(k)"),
                plan::toString);
        Map<String, String> why = new TreeMap<>(Map.of(
                "sum(DISTINCT k)", "no DISTINCT",
                "sum(k + 1)", "as it may overflow",
                "min(machine)", "min of numbers and times alone",
                "stddev_pop(k)", "do not know stddev_pop",
                "count(*) FILTER (WHERE k + 1 > 1)", "as it may overflow"));
        why.forEach((call, reason) -> {
            List<String> lines =
                    server.rows("EXPLAIN " + create + "SELECT window_start, " + call + from + " WHERE k > 3" + by);
            assertTrue(lines.get(lines.size() - 1).startsWith("windows at the server: "), lines::toString);
            assertTrue(lines.get(lines.size() - 1).contains(reason), lines::toString);
        });
        List<String> hop = server.rows("EXPLAIN " + create + "SELECT window_start, count(*) FROM HOP(TABLE plant,"
                + " DESCRIPTOR(ts), INTERVAL '2 minutes', INTERVAL '3 minutes') WHERE k > 3" + by);
        assertTrue(hop.get(hop.size() - 1).contains("whose distance divides it"), hop::toString);
        List<String> panes = server.rows("EXPLAIN " + create + "SELECT window_start, count(*) FILTER (WHERE ok) FROM"
                + " HOP(TABLE plant, DESCRIPTOR(ts), INTERVAL '1 minute', INTERVAL '3 minutes')" + by);
        assertTrue(
                panes.contains(
                        "at the edge, of each row of plant: windows of 60000000 us of ts, by (): count, count(true)"
                                + " where ok"),
                panes::toString);

        server.run(create + "SELECT window_start, avg(k)" + from + by);
        server.run(
                "CREATE CONTINUOUS QUERY partials AS SELECT window_start, row_count, value_1, device FROM \"q$windows\"");
        assertTrue(server.error("DROP MATERIALIZED VIEW q").contains("depend on it"));
        server.run("DROP CONTINUOUS QUERY partials");
        assertTrue(server.error("DROP STREAM \"q$windows\"").contains("depend on it"));
        assertTrue(server.error("ALTER MATERIALIZED VIEW q AS SELECT window_start, avg(n)" + from + by)
                .contains("whose windows devices make"));
        server.run("CREATE OR REPLACE MATERIALIZED VIEW q" + AT_EDGE + "SELECT window_start, avg(n)" + from + by);
        gateway.close();
        server.close();
        open();
        assertFalse(server.error("DROP STREAM \"q$windows\"").contains("does not exist"), "it is there again");
        server.run("DROP MATERIALIZED VIEW q");
        assertTrue(server.error("SELECT * FROM \"q$windows\"").contains("does not exist"));
        gateway.close();
        server.close();
        open();
        assertTrue(server.error("SELECT * FROM \"q$windows\"").contains("does not exist"));
    }
}
