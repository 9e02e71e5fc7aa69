package dev.millrace.server.gateway;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.edge.agent.EdgeAgent;
import dev.millrace.edge.config.EdgeConfig;
import dev.millrace.edge.config.EdgeConfigFile;
import dev.millrace.edge.link.DeviceWire;
import dev.millrace.edge.link.SocketWire;
import dev.millrace.edge.wire.Message;
import dev.millrace.server.pgwire.Authentication;
import dev.millrace.server.session.TestDatabase;
import dev.millrace.storage.disk.RealDisk;
import dev.millrace.testing.time.Eventually;
import dev.millrace.time.Clock;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Two hours of a device in simulated time, with a real agent, real sockets and a real database: the link is away for an hour and more, segments
 * come twice and out of order, the agent is killed, its clock jumps, the server begins again.
 */
@Tag("long")
class EdgeOutagesTest {
    private static final long SEED = Long.getLong("millrace.edge.outages.seed", 5);
    private static final int MINUTES = 120;
    private static final int MACHINES = 3;
    private static final long SECOND = 1_000_000_000L;

    @TempDir
    private Path directory;

    private final DeviceClock clock = new DeviceClock();
    private final Random random = new Random(SEED);
    private final BufferAllocator allocator = new RootAllocator();
    private TestDatabase server;
    private EdgeGateway gateway;
    private EdgeAgent agent;
    private Path input;
    private boolean away; // the link
    private int lines;

    /** The device's: its time of day jumps, and its durations do not. */
    private static final class DeviceClock implements Clock {
        private long nanos;
        private long jumpedMicros = 1_767_225_600_000_000L; // 2026

        @Override
        public long epochMicros() {
            return jumpedMicros + nanos / 1000;
        }

        @Override
        public long nanoTime() {
            return nanos;
        }

        void jump(int hours) {
            jumpedMicros += hours * 3_600_000_000L;
        }
    }

    /** A link that is not there. */
    private static final class NoWire implements DeviceWire {
        @Override
        public void send(Message message) {}

        @Override
        public Optional<Message> receive() {
            return Optional.empty();
        }

        @Override
        public Optional<String> failure() {
            return Optional.of("the network is unreachable");
        }

        @Override
        public long bytes() {
            return 0;
        }

        @Override
        public void close() {}
    }

    /** One that is lost when the link is. */
    private final class LostWire implements DeviceWire {
        private final DeviceWire to;

        LostWire(DeviceWire to) {
            this.to = to;
        }

        @Override
        public void send(Message message) {
            if (!away) {
                to.send(message);
            }
        }

        @Override
        public Optional<Message> receive() {
            return away ? Optional.empty() : to.receive();
        }

        @Override
        public Optional<String> failure() {
            return away ? Optional.empty() : to.failure(); // nobody says that it is away
        }

        @Override
        public long bytes() {
            return to.bytes();
        }

        @Override
        public void close() {
            to.close();
        }
    }

    private DeviceWire dial(EdgeConfig.Server to) {
        return away ? new NoWire() : new LostWire(new DisorderlyWire(new SocketWire(to), random));
    }

    private void beginServer(int port) {
        server = new TestDatabase(directory.resolve("db"));
        gateway = EdgeGateway.listen(
                server.database(), new Authentication.Trust(), List.of("localhost"), port, 10, Optional.empty());
    }

    private void endServer() {
        gateway.close();
        server.close();
    }

    private void beginAgent() throws IOException {
        EdgeConfig config = EdgeConfigFile.parse("""
                device = millrace/pump, data = "%s", commit = 5s, status = 10s
                server { address = "localhost:%d", token = secret, tls = false }
                streams { plant {
                  columns = ["n bigint", "machine text"], key = machine
                  input { type = file, path = "%s" }
                  sketch { segment = 90s }
                } }
                """.formatted(directory, gateway.port(), input), "test");
        Path data = Files.createDirectories(directory.resolve("agent"));
        EdgeAgent.Machine machine = new EdgeAgent.Machine(
                new RealDisk(data), clock, allocator, InputStream.nullInputStream(), random, 4 << 20, line -> {});
        EdgeConfig.Server to = config.server().orElseThrow();
        agent = new EdgeAgent(config, machine, () -> dial(to));
    }

    /** A second passes; with a connection less, as its answers come in the time that they take here. */
    private void step() {
        boolean up = !away && agent.health().orElseThrow().up();
        clock.nanos += up ? SECOND / 100 : SECOND;
        if (!agent.step() && up) {
            LockSupport.parkNanos(1_000_000);
        }
    }

    @Test
    void theStreamIsCompleteAndInOrderWhateverHappensForHours() throws IOException {
        input = Files.createFile(directory.resolve("in.csv"));
        Path ordered = directory.resolve("ordered.csv");
        beginServer(0);
        server.run("CREATE STREAM plant (n BIGINT, machine TEXT) WITH (connector = 'edge')");
        server.run(
                "CREATE SINK ordered FROM plant WITH (connector = 'file', path = '" + ordered + "', format = 'csv')");
        beginAgent();
        for (int minute = 0; minute < MINUTES; minute++) {
            away = minute >= 15 && minute < 80 || minute >= 90 && minute < 96;
            switch (minute) {
                case 30, 85, 93, 105 -> {
                    agent.abandon(); // as if it were killed
                    beginAgent();
                }
                case 40, 87 -> clock.jump(-26);
                case 50, 100 -> clock.jump(50);
                case 75, 91, 110 -> {
                    int port = gateway.port();
                    endServer();
                    beginServer(port);
                }
                default -> {}
            }
            minute();
        }
        Eventually.holds("all has been sent", () -> {
            step();
            return agent.backlog("plant").records() == 0
                    && agent.streams().get(0).openRows() == 0;
        });
        assertTrue(clock.nanos >= MINUTES * 60 * SECOND);
        agent.close();
        assertEquals(0, allocator.getAllocatedMemory());
        server.flushedRows("SELECT 1");
        server.run("DROP SINK ordered");
        endServer();
        List<List<Integer>> seen = new ArrayList<>();
        IntStream.range(0, MACHINES).forEach(m -> seen.add(new ArrayList<>()));
        for (String line : Files.readAllLines(ordered)) {
            if (line.matches("[0-9]+,m[0-9]")) {
                String[] fields = line.split(",");
                int machine = fields[1].charAt(1) - '0';
                int number = Integer.parseInt(fields[0]);
                if (number == machine) {
                    seen.get(machine).clear(); // each server that begins has all written once more
                }
                seen.get(machine).add(number);
            }
        }
        for (int m = 0; m < MACHINES; m++) {
            int machine = m;
            assertEquals(
                    IntStream.range(0, lines)
                            .filter(n -> n % MACHINES == machine)
                            .boxed()
                            .toList(),
                    seen.get(m));
        }
    }

    private void minute() throws IOException {
        long end = clock.nanos + 60 * SECOND;
        for (int i = 0; i < 3; i++) {
            StringBuilder text = new StringBuilder();
            for (int more = random.nextInt(20); more > 0; more--, lines++) {
                text.append(lines).append(",m").append(lines % MACHINES).append('\n');
            }
            Files.writeString(input, text, StandardOpenOption.APPEND);
            for (int step = 0; step < 4; step++) {
                step();
            }
            if (!away && random.nextInt(4) == 0) {
                Eventually.holds("the connection is there", () -> {
                    step();
                    return agent.health().orElseThrow().up();
                });
            }
        }
        clock.nanos = Math.max(clock.nanos, end); // the machine slept
        step();
    }
}
