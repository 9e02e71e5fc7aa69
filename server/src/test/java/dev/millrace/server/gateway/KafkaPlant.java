package dev.millrace.server.gateway;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.millrace.edge.agent.EdgeAgent;
import dev.millrace.edge.config.EdgeConfig;
import dev.millrace.edge.config.EdgeConfigFile;
import dev.millrace.edge.link.SocketWire;
import dev.millrace.server.pgwire.Authentication;
import dev.millrace.server.session.TestDatabase;
import dev.millrace.sketch.segment.SketchHeader;
import dev.millrace.storage.disk.RealDisk;
import dev.millrace.testing.kafka.KafkaBroker;
import dev.millrace.testing.time.Eventually;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** A database with a stream of devices that goes to topics of a broker, and agents. */
abstract class KafkaPlant {
    private static final AtomicInteger TOPICS = new AtomicInteger();
    private static final String COLUMNS = "ts TIMESTAMP, machine TEXT, temp DOUBLE PRECISION, load DOUBLE PRECISION";

    @TempDir
    private static Path brokerFolder;

    static KafkaBroker broker;

    @TempDir
    Path directory;

    final Random random = new Random(123);
    private final BufferAllocator allocator = new RootAllocator();
    final String topic = "plant" + TOPICS.incrementAndGet();
    TestDatabase server;
    private EdgeGateway gateway;
    int lines; // that were written
    boolean isSteady; // whether bins stay as they are

    @BeforeAll
    static void start() {
        broker = KafkaBroker.start(brokerFolder);
    }

    @AfterAll
    static void stop() {
        broker.close();
    }

    @BeforeEach
    void begin() {
        open(directory.resolve("db"));
    }

    final void open(Path data) {
        server = new TestDatabase(data);
        gateway = EdgeGateway.listen(
                server.database(),
                new Authentication.Trust(),
                List.of("localhost"),
                gateway == null ? 0 : gateway.port(),
                100,
                Optional.empty());
    }

    final void close() {
        gateway.close();
        server.close();
    }

    @AfterEach
    void end() {
        close();
        assertEquals(0, allocator.getAllocatedMemory());
        allocator.close();
    }

    final List<String> rows(String sql) {
        return server.rows(sql);
    }

    /** The stream of devices, and a view of its rows. */
    final void plant(int partitions, String options) {
        broker.topic(topic, partitions);
        broker.topic(topic + "-bins", partitions);
        server.run("CREATE STREAM plant (" + COLUMNS + ") WITH (connector = 'edge', include.device = 'device',"
                + " kafka.bootstrap = '" + broker.bootstrap() + "', kafka.topic = '" + topic + "'" + options + ")");
        view("plant");
    }

    /** A stream that reads a topic, and a view of its rows. */
    final void reader(String name, String from, String options) {
        server.run("CREATE STREAM " + name + " (" + COLUMNS + ") WITH (connector = 'kafka', format = 'sketch',"
                + " include.device = 'device', bootstrap = '" + broker.bootstrap() + "', topic = '" + from + "'"
                + options + ")");
        view(name);
    }

    final void view(String stream) {
        server.run("CREATE MATERIALIZED VIEW of_" + stream + " AS SELECT device, ts, machine, temp, load, count(*) AS n"
                + " FROM " + stream + " GROUP BY device, ts, machine, temp, load");
    }

    final EdgeAgent agent(String device) throws IOException {
        Path data = Files.createDirectories(directory.resolve("edge").resolve(device.replace('/', '-')));
        Path input = directory.resolve(device.replace('/', '-') + ".csv");
        if (!Files.exists(input)) {
            Files.createFile(input);
        }
        EdgeConfig config = EdgeConfigFile.parse(
                """
                device = "%s", data = "%s", commit = 20ms, status = 20ms
                server { address = "localhost:%d", token = secret, tls = false }
                streams { plant {
                  columns = ["ts timestamp", "machine text", "temp double precision", "load double precision"]
                  time = ts, key = machine, keys = 50
                  input { type = file, path = "%s", format = csv }
                  sketch { rows = 20, error = %s, errors { load = 0.5 abs } }
                } }
                """.formatted(device, data, gateway.port(), input, isSteady ? "0.5 abs" : "1%"), "test");
        EdgeAgent.Machine machine =
                EdgeAgent.Machine.of(new RealDisk(data), allocator, InputStream.nullInputStream(), line -> {});
        return new EdgeAgent(
                config, machine, () -> new SocketWire(config.server().orElseThrow()));
    }

    /** Readings that wander further and further, so that bins change. */
    final void write(String device, int more) throws IOException {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < more; i++, lines++) {
            text.append("2026-01-01 %02d:%02d:%02d,m%d,%.3f,%s\n"
                    .formatted(
                            lines / 3600 % 24,
                            lines / 60 % 60,
                            lines % 60,
                            random.nextInt(3),
                            random.nextGaussian() * (10 + lines),
                            random.nextInt(9) == 0 ? "" : "%.2f".formatted(random.nextDouble() * 100)));
        }
        Files.writeString(directory.resolve(device.replace('/', '-') + ".csv"), text, StandardOpenOption.APPEND);
    }

    static void drive(EdgeAgent agent, BooleanSupplier until) {
        Eventually.holds("what is driven comes", () -> {
            agent.step();
            return until.getAsBoolean();
        });
    }

    /** So many rows, until the stream has them all. */
    final void send(EdgeAgent agent, String device, int more) throws IOException {
        write(device, more);
        flush(agent);
        drive(agent, () -> agent.backlog("plant").records() == 0);
    }

    static void flush(EdgeAgent agent) {
        while (agent.streams().get(0).step()) {}
        agent.streams().forEach(stream -> stream.flush());
    }

    final void awaitTopic() {
        Eventually.holds("the topic has all, and not " + rows("TABLE millrace.sources"), () -> waiting() == 0);
    }

    /** Segments that wait for the broker. */
    final long waiting() {
        return Long.parseLong(
                rows("SELECT lag_records FROM millrace.sources WHERE stream = 'plant' AND split LIKE 'kafka %'")
                        .get(0));
    }

    final void becomes(String expected, String sql) {
        try {
            Eventually.holds(sql, () -> rows(sql).equals(List.of(expected)));
        } catch (AssertionError e) {
            throw new AssertionError(rows(sql) + ", " + rows("TABLE millrace.rejected_rows"), e);
        }
    }

    final void becomesLike(String view, String other) {
        String sizes = "SELECT sum(n), count(*) FROM ";
        becomes(server.flushedRows(sizes + other).get(0), sizes + view);
        assertEquals(List.of("0"), rows("SELECT count(*) FROM (TABLE " + view + " EXCEPT TABLE " + other + ") AS d"));
    }

    final List<SketchHeader> headers() {
        return broker.records(topic).stream()
                .map(record -> SketchHeader.of(record.value()))
                .toList();
    }
}
