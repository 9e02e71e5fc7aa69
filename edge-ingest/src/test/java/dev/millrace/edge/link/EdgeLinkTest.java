package dev.millrace.edge.link;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.connector.Options;
import dev.millrace.connectors.Connectors;
import dev.millrace.edge.config.EdgeConfig.StreamConfig;
import dev.millrace.edge.config.EdgeConfigFile;
import dev.millrace.edge.input.EdgeInputs;
import dev.millrace.edge.queue.EdgeQueue;
import dev.millrace.edge.queue.QueueOptions;
import dev.millrace.edge.queue.WhenFull;
import dev.millrace.edge.stream.Coarsening;
import dev.millrace.edge.stream.EdgeStream;
import dev.millrace.edge.wire.Message;
import dev.millrace.storage.simulation.SimulatedDisk;
import dev.millrace.testing.time.TestClock;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a device answers to settings, on a disk that takes nothing for a while. */
class EdgeLinkTest {
    @TempDir
    private Path directory;

    private final BufferAllocator allocator = new RootAllocator();
    private final SimulatedDisk disk = new SimulatedDisk(1);
    private final TestClock clock = new TestClock(1_000_000_000);
    private final Deque<Message> toDevice = new ArrayDeque<>();
    private final List<Message> said = new ArrayList<>();

    @AfterEach
    void nothingIsLeft() {
        assertEquals(0, allocator.getAllocatedMemory());
        allocator.close();
    }

    /** A server that has nothing, and welcomes whoever comes. */
    private final class Wire implements DeviceWire {
        @Override
        public void send(Message message) {
            said.add(message);
            if (message instanceof Message.Hello) {
                toDevice.add(new Message.Welcome(0));
            } else if (message instanceof Message.Open open) {
                toDevice.add(new Message.Opened(open.stream(), 0, ""));
            }
        }

        @Override
        public Optional<Message> receive() {
            return Optional.ofNullable(toDevice.poll());
        }

        @Override
        public Optional<String> failure() {
            return Optional.empty();
        }

        @Override
        public long bytes() {
            return 0;
        }

        @Override
        public void close() {}
    }

    private <M extends Message> List<M> said(Class<M> kind) {
        return said.stream().filter(kind::isInstance).map(kind::cast).toList();
    }

    private void step(EdgeLink link, int seconds) {
        for (int i = 0; i < 5 * seconds; i++) {
            link.step();
            clock.advance(200_000);
        }
    }

    @Test
    void settingsThatTheDiskDoesNotTakeAreTriedAgainAndWhatIsThereIsSentMeanwhile() {
        StreamConfig config =
                EdgeConfigFile.parse("""
                device = d, data = "%s"
                streams { s {
                  columns = ["ts timestamp", "temp double precision"], time = ts
                  input { type = stdin, format = csv }
                } }
                """.formatted(directory), "test").streams().get(0);
        Options options = new Options(config.input().options());
        byte[] rows = "1970-01-01 00:00:01,1.5\n1970-01-01 00:00:02,2.5".getBytes(StandardCharsets.UTF_8);
        QueueOptions size = new QueueOptions(16 << 20, 1 << 20, WhenFull.OLDEST, 2, () -> 5);
        try (EdgeQueue queue = EdgeQueue.open(disk, size, new Coarsening());
                EdgeStream stream = new EdgeStream(
                        config,
                        queue,
                        EdgeInputs.open(
                                config.input(),
                                options,
                                queue.place("s"),
                                clock,
                                new ByteArrayInputStream(rows),
                                directory),
                        Connectors.formats(),
                        options,
                        clock,
                        allocator,
                        Long.MAX_VALUE);
                EdgeLink link = new EdgeLink(
                        "test",
                        new EdgeLink.Credentials("d", "d", ""),
                        queue,
                        List.of(stream),
                        Wire::new,
                        clock,
                        new Random(1),
                        1_000_000)) {
            while (!stream.isFinished()) {
                stream.step();
            }
            step(link, 1);
            disk.chances().fullOneIn = 1;
            toDevice.add(new Message.Set(0, 4, "sample=2"));
            toDevice.add(new Message.Set(0, 5, "sample=3"));
            step(link, 5);
            assertEquals(List.of(), said(Message.SetDone.class), "neither done nor refused");
            assertEquals(0, stream.settingsNumber());
            assertTrue(said(Message.Status.class).size() > 1, "it goes on with all else");
            disk.calm();
            step(link, 5);
            assertEquals(List.of(new Message.SetDone(0, 5, "")), said(Message.SetDone.class));
            assertEquals(5, stream.settingsNumber());
            assertEquals(3, stream.settings().sample());
            assertEquals(
                    2,
                    said(Message.Rows.class).stream()
                            .mapToLong(Message.Rows::rows)
                            .sum());
            toDevice.add(new Message.Set(0, 6, "sample=none"));
            toDevice.add(new Message.Set(0, 5, "sample=3"));
            step(link, 1);
            assertEquals(5, said(Message.SetDone.class).get(1).number(), "what it has already is done");
        }
    }
}
