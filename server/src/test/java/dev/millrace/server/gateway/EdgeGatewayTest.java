package dev.millrace.server.gateway;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.edge.agent.EdgeAgent;
import dev.millrace.edge.config.EdgeConfig;
import dev.millrace.edge.config.EdgeConfigFile;
import dev.millrace.edge.link.DeviceWire;
import dev.millrace.edge.link.SocketWire;
import dev.millrace.server.pgwire.Authentication;
import dev.millrace.server.session.Database;
import dev.millrace.server.session.TestDatabase;
import dev.millrace.storage.disk.RealDisk;
import dev.millrace.testing.time.Eventually;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.function.BooleanSupplier;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Real agents, over real sockets, to a real database. */
class EdgeGatewayTest {
    private static final String STREAM =
            "CREATE STREAM plant (ts TIMESTAMP, machine TEXT, temp DOUBLE PRECISION, missing BIGINT)"
                    + " WITH (connector = 'edge', include.device = 'device')";
    private static final String COUNT =
            "CREATE MATERIALIZED VIEW seen AS SELECT device, temp, count(*) AS n FROM plant GROUP BY device, temp";

    @TempDir
    private Path directory;

    private final BufferAllocator allocator = new RootAllocator();
    private TestDatabase server;
    private Database database;
    private EdgeGateway gateway;
    private Path input;
    private int lines;

    @BeforeEach
    void begin() throws IOException {
        input = directory.resolve("in.csv");
        Files.createFile(input);
        open(new Authentication.Trust());
    }

    private void open(Authentication authentication) {
        server = new TestDatabase(directory.resolve("db"));
        database = server.database();
        gateway = listen(authentication, gateway == null ? 0 : gateway.port());
    }

    private EdgeGateway listen(Authentication authentication, int port) {
        return EdgeGateway.listen(database, authentication, List.of("localhost"), port, 100, Optional.empty());
    }

    @AfterEach
    void end() {
        gateway.close();
        server.close();
        assertEquals(0, allocator.getAllocatedMemory());
        allocator.close();
    }

    private void run(String sql) {
        server.run(sql);
    }

    private List<String> rows(String sql) {
        return server.flushedRows(sql);
    }

    private EdgeConfig config(String device) {
        return EdgeConfigFile.parse("""
                device = "%s", data = "%s", commit = 20ms, status = 20ms
                server { address = "localhost:%d", token = secret, tls = false }
                streams { plant {
                  columns = ["ts timestamp", "machine text", "temp double precision"]
                  time = ts, key = machine, keys = 50
                  input { type = file, path = "%s", format = csv }
                  sketch { rows = 20 }
                } }
                """.formatted(device, directory, gateway.port(), input), "test");
    }

    private EdgeAgent agent(String device, DeviceWire.Dialer dialer) throws IOException {
        Path data = Files.createDirectories(directory.resolve("edge").resolve(device.replace('/', '-')));
        EdgeAgent.Machine machine =
                EdgeAgent.Machine.of(new RealDisk(data), allocator, InputStream.nullInputStream(), line -> {});
        return new EdgeAgent(config(device), machine, dialer);
    }

    private EdgeAgent agent(String device) throws IOException {
        EdgeConfig.Server to = config(device).server().orElseThrow();
        return agent(device, () -> new SocketWire(to));
    }

    private void write(int more) throws IOException {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < more; i++, lines++) {
            text.append("2026-01-01 %02d:%02d:%02d,m%d,%d\n"
                    .formatted(lines / 3600 % 24, lines / 60 % 60, lines % 60, lines % 3, lines));
        }
        Files.writeString(input, text, StandardOpenOption.APPEND);
    }

    private static void drive(EdgeAgent agent, BooleanSupplier until) {
        Eventually.holds("what is driven comes", () -> {
            agent.step();
            return until.getAsBoolean();
        });
    }

    private boolean hasAll() {
        long rows = database.edgeInlets().status().stream()
                .mapToLong(status -> status.kept().rows() + status.kept().shedRows())
                .sum();
        return rows == lines;
    }

    private void assertEachOnce() {
        assertEquals(List.of("0"), rows("SELECT count(*) FROM seen WHERE n <> 1"));
        assertEquals(List.of(lines + "|" + (lines - 1)), rows("SELECT count(*), max(temp)::bigint FROM seen"));
    }

    /** Closes what a device has open, so that all of it is sent. */
    private static void flush(EdgeAgent agent) {
        agent.streams().forEach(stream -> stream.flush());
    }

    @Test
    void rowsOfDevicesAreRowsOfTheStream() throws IOException {
        run(STREAM);
        run(COUNT);
        write(100);
        EdgeAgent agent = agent("millrace/pump");
        agent.step();
        flush(agent);
        drive(agent, this::hasAll);
        drive(agent, () -> agent.backlog("plant").records() == 0);
        assertEachOnce();
        assertEquals(List.of("millrace/pump"), rows("SELECT DISTINCT device FROM seen"));
        drive(
                agent,
                () ->
                        rows("SELECT connected, agent, rows, backlog_rows, last_seen IS NULL, problem FROM millrace.edges")
                                .equals(List.of("t|millrace-edge 1|100|0|f|")));
        agent.close();
        Eventually.holds(
                "it is disconnected",
                () -> rows("SELECT connected FROM millrace.edges").equals(List.of("f")));
    }

    @Test
    void aStreamThatIsNotThereYetIsWaitedFor() throws IOException {
        write(50);
        EdgeAgent agent = agent("millrace");
        agent.step();
        flush(agent);
        drive(agent, () -> agent.health().orElseThrow().problem().orElse("").contains("no stream of connector edge"));
        run(STREAM);
        run(COUNT);
        drive(agent, this::hasAll);
        assertEachOnce();
        agent.close();
    }

    @Test
    void whatTheStreamCannotTakeWaitsAtTheDevice() throws IOException {
        run(STREAM.replace("temp DOUBLE PRECISION", "temp INTEGER"));
        write(50);
        EdgeAgent agent = agent("millrace");
        agent.step();
        flush(agent);
        drive(
                agent,
                () -> rows("SELECT problem FROM millrace.edges")
                        .equals(List.of("column \"temp\" is integer, and the device has double precision")));
        assertTrue(agent.backlog("plant").records() > 0);
        run("DROP STREAM plant");
        run(STREAM);
        run(COUNT);
        agent.close();
        EdgeAgent again = agent("millrace");
        drive(again, this::hasAll);
        assertEachOnce();
        again.close();
    }

    /** The device is killed, the link is lost, the server begins again, and segments come in any order and twice. */
    @Test
    void eachRowIsThereOnceWhateverHappensOnTheWay() throws IOException {
        run(STREAM);
        run(COUNT);
        Random random = new Random(7);
        for (int life = 0; life < 25; life++) {
            EdgeConfig.Server to = config("millrace").server().orElseThrow();
            EdgeAgent agent = agent("millrace", () -> new DisorderlyWire(new SocketWire(to), random));
            for (int i = 0; i < 4; i++) {
                write(random.nextInt(60));
                for (int step = random.nextInt(30); step > 0; step--) {
                    agent.step();
                    if (random.nextInt(10) == 0) {
                        flush(agent);
                    }
                }
            }
            if (life % 8 == 5) {
                gateway.close();
                this.server.close();
                open(new Authentication.Trust());
            }
            if (random.nextBoolean()) {
                agent.abandon();
            } else {
                agent.close();
            }
        }
        EdgeAgent agent = agent("millrace");
        while (agent.streams().get(0).step()) {}
        flush(agent);
        drive(agent, this::hasAll);
        drive(agent, () -> agent.backlog("plant").records() == 0);
        assertEachOnce();
        agent.close();
    }

    @Test
    void aDeviceWithAWrongTokenOrNameIsRefusedAndOneThatIsRevokedIsCutOff() throws IOException {
        run(STREAM);
        run(COUNT);
        run("CREATE ROLE fleet LOGIN PASSWORD 'secret'");
        gateway.close();
        gateway = listen(new Authentication.Scram(database::secretOf, database.decoys()), 0);
        write(30);
        EdgeAgent other = agent("other");
        drive(other, () -> problem(other).contains("28P01"));
        other.abandon();
        EdgeAgent agent = agent("fleet/one");
        agent.step();
        flush(agent);
        drive(agent, () -> problem(agent).contains("permission denied for stream plant"));
        agent.close();
        run("GRANT INSERT ON plant TO fleet");
        EdgeAgent granted = agent("fleet/one");
        drive(granted, this::hasAll);
        granted.close();
        run("ALTER ROLE fleet NOLOGIN");
        EdgeAgent revoked = agent("fleet/one");
        drive(revoked, () -> problem(revoked).contains("28000"));
        revoked.abandon();
        assertEachOnce();
    }

    @Test
    void whatIsSetBySqlCountsAtTheDeviceFromItsNextSegmentOnAndIsSaidToBeThere() throws IOException {
        run(STREAM);
        run(COUNT);
        EdgeAgent agent = agent("millrace/one");
        write(10);
        agent.step();
        flush(agent);
        drive(agent, this::hasAll);
        run("ALTER STREAM plant EDGE ALL SET (sketch.rows = 7, sketch.error.temp = '2 abs')");
        run("ALTER STREAM plant EDGE 'millrace/one' SET (sketch.rows = 5)");
        drive(
                agent,
                () -> rows("SELECT settings, settings_done FROM millrace.edges")
                        .equals(List.of("sketch.error.temp=2 abs, sketch.rows=5|t")));
        assertEquals(5, agent.streams().get(0).settings().segmentRows());
        assertEquals("2", agent.streams().get(0).settings().bound("temp", true).toString());
        run("ALTER STREAM plant EDGE ALL SET (sketch.bins.temp = '0, 40, 100', sketch.evaluation = '10m')");
        drive(
                agent,
                () -> rows("SELECT settings, settings_done FROM millrace.edges")
                        .equals(List.of("sketch.bins.temp=0, 40, 100, sketch.error.temp=2 abs, sketch.evaluation=10m,"
                                + " sketch.rows=5|t")));
        run("ALTER STREAM plant EDGE ALL SET (sketch.error.temp = 0)");
        drive(
                agent,
                () -> rows("SELECT settings_done, problem FROM millrace.edges")
                        .equals(List.of("f|column \"temp\" is exact, and has no bins")));
        run("ALTER STREAM plant EDGE ALL SET (sketch.error.temp = '2 abs')");
        drive(agent, () -> rows("SELECT settings_done FROM millrace.edges").equals(List.of("t")));
        assertTrue(server.error("ALTER STREAM plant EDGE ALL SET (sketch.eror = 1)")
                .contains("there is no setting"));
        assertTrue(server.error("ALTER STREAM plant EDGE SET (sketch.rows = 1)").startsWith("42601"));
        agent.close();
        gateway.close();
        server.close();
        open(new Authentication.Trust());
        run("ALTER STREAM plant EDGE ALL SET (enabled = false)");
        EdgeAgent again = agent("millrace/one");
        drive(again, () -> rows("SELECT settings_done FROM millrace.edges").equals(List.of("t")));
        assertEquals(5, again.streams().get(0).settings().segmentRows());
        assertTrue(!again.streams().get(0).settings().enabled());
        again.close();
    }

    /** Each of those once, though the agent is killed and the link repeats, with its text; of many the first. */
    @Test
    void linesThatAreNoRowsAreReadAtTheServer() throws IOException {
        run(STREAM);
        Files.writeString(input, "2026-01-01 00:00:00,m0,hot\nnothing\n", StandardOpenOption.APPEND);
        EdgeAgent killed = agent("millrace");
        killed.step();
        killed.abandon();
        Random random = new Random(5);
        EdgeConfig.Server to = config("millrace").server().orElseThrow();
        EdgeAgent agent = agent("millrace", () -> new DisorderlyWire(new SocketWire(to), random));
        agent.step();
        flush(agent);
        Files.writeString(input, "x\n".repeat(100), StandardOpenOption.APPEND);
        drive(
                agent,
                () -> agent.backlog("plant").records() == 0
                        && agent.streams().get(0).counts().rejected() == 102);
        flush(agent);
        drive(agent, () -> agent.backlog("plant").records() == 0);
        String rejected = "SELECT origin, column_name, record FROM millrace.rejected_rows WHERE stream = 'plant'";
        List<String> all = rows(rejected);
        assertEquals("millrace|temp|2026-01-01 00:00:00,m0,hot", all.get(0));
        assertEquals(1, all.stream().filter(row -> row.endsWith("|nothing")).count());
        assertEquals(16, all.stream().filter(row -> row.endsWith("|x")).count());
        assertEquals(
                List.of("84 more records were no rows at the device, which did not keep their text"),
                rows("SELECT reason FROM millrace.rejected_rows WHERE record = '' OR record IS NULL"));
        drive(agent, () -> rows("SELECT rejected_rows FROM millrace.edges").equals(List.of("102")));
        agent.close();
    }

    private static String problem(EdgeAgent agent) {
        return agent.health().orElseThrow().problem().orElse("");
    }
}
