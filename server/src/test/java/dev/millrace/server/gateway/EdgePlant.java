package dev.millrace.server.gateway;

import static org.junit.jupiter.api.Assertions.assertEquals;

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
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Random;
import java.util.function.BooleanSupplier;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** A database with two streams of devices, and agents that read one file as both: of the one they send what is needed, of the other all rows. */
abstract class EdgePlant {
    private static final String COLUMNS =
            " (ts TIMESTAMP, machine TEXT, temp DOUBLE PRECISION, n BIGINT, k INTEGER, r REAL,"
                    + " ok BOOLEAN, d DATE, WATERMARK FOR ts AS ts - INTERVAL '%s')"
                    + " WITH (connector = 'edge', include.device = 'device'%s)";

    @TempDir
    private Path directory;

    private final BufferAllocator allocator = new RootAllocator();
    final Random random = new Random(Long.getLong("millrace.edge.windows.seed", 7));
    TestDatabase server;
    private EdgeGateway gateway;
    private Path input;
    private int lines;

    @BeforeEach
    void begin() throws IOException {
        input = Files.createFile(directory.resolve("in.csv"));
        open();
        streams("1 hour", "");
    }

    /** Both streams. @param more options */
    final void streams(String delay, String more) {
        for (String stream : List.of("plant", "whole")) {
            server.run("CREATE STREAM " + stream + COLUMNS.formatted(delay, more));
        }
    }

    /** The server ends, and is there again. */
    final void restart() {
        gateway.close();
        server.close();
        open();
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

    final EdgeAgent agent(String device, DeviceWire.Dialer dialer) throws IOException {
        Path data = Files.createDirectories(directory.resolve("edge").resolve(device.replace('/', '-')));
        return new EdgeAgent(
                config(device),
                EdgeAgent.Machine.of(new RealDisk(data), allocator, InputStream.nullInputStream(), line -> {}),
                dialer);
    }

    final EdgeAgent agent(String device, boolean disorderly) throws IOException {
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

    static void drive(List<EdgeAgent> agents, BooleanSupplier until) {
        Eventually.holds("what is driven comes", () -> {
            agents.forEach(EdgeAgent::step);
            return until.getAsBoolean();
        });
    }

    /** All is read, closed, sent and at the server. */
    static void sendAll(List<EdgeAgent> agents) {
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

    final List<EdgeStatus> status(String stream) {
        return server.database().edgeInlets().status().stream()
                .filter(status -> status.stream().equals(stream))
                .toList();
    }

    /** Devices have what was set last, which has programs of so many queries. */
    final boolean isSteered(int devices, int programs) {
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
    final void write(int more) throws IOException {
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
    final void writeLast() throws IOException {
        Files.writeString(input, "2026-01-02 00:00:00,m0,50,1,1,1,true,2026-01-01\n", StandardOpenOption.APPEND);
        lines++;
    }

    /** So many rows, one a second, in order. */
    final void writeInOrder(int more) throws IOException {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < more; i++, lines++) {
            text.append(time(lines)).append(",m").append(lines % 4).append(',').append(20 + lines % 100 / 4.0);
            text.append(",").append(lines).append(',').append(lines % 10).append(",1,true,2026-01-01\n");
        }
        Files.writeString(input, text, StandardOpenOption.APPEND);
    }
}
