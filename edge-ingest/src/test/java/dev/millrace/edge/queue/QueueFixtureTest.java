package dev.millrace.edge.queue;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.millrace.storage.disk.RealDisk;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Queues that agents wrote in each format version from the third on. The newest version's is written by this test with {@code -Dmillrace.golden.update=true}, if it
 * is not there; the others never change.
 */
class QueueFixtureTest {
    private static final int NEWEST = 4;
    private static final int WITH_WINDOWS = 4; // the first version that has them
    private static final Path FIXTURES = Path.of("src", "test", "resources", "queues");
    private static final String FILE = "queue-0000000001.log";
    private static final RejectedLines REJECTED =
            new RejectedLines(2, 5, List.of(new RejectedLines.Rejected("n", "no number", "1;x")));
    private static final TakenCounts COUNTS = new TakenCounts(30, 7, 4, "no number");

    @TempDir
    private Path directory;

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static EdgeQueue open(Path directory) {
        QueueOptions options = new QueueOptions(1 << 20, 1000, WhenFull.OLDEST, 2, () -> 77);
        return EdgeQueue.open(new RealDisk(directory), options, Merging.NONE);
    }

    private static void write(Path directory) {
        try (EdgeQueue queue = open(directory)) {
            EdgeQueue.Commit commit = queue.begin("s")
                    .version(5, 1, bytes("bins"))
                    .segment(10, 100, 200, 5, 0, 1, bytes("first"))
                    .segment(20, 300, 400, 5, 1, 0, bytes("second"))
                    .rejected(REJECTED)
                    .open("key", bytes("open rows"))
                    .place("file 1234")
                    .counts(COUNTS);
            commit.partials(12, 450, bytes("partials")).groups("q.1", bytes("open groups")); // not in version 3
            commit.write();
            queue.begin("s").settings(9, "rows=queries").write();
            queue.acknowledge("s", 1);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {3, 4})
    void aQueueOfEveryVersionIsGoneOnWith(int version) throws IOException {
        Path fixture = FIXTURES.resolve(version + ".log");
        if (version == NEWEST && Boolean.getBoolean("millrace.golden.update") && !Files.exists(fixture)) {
            write(directory);
            Files.createDirectories(FIXTURES);
            Files.move(directory.resolve(FILE), fixture);
        }
        Files.copy(fixture, directory.resolve(FILE));
        for (int life = 0; life < 3; life++) { // it is read again as this agent writes it
            try (EdgeQueue queue = open(directory)) {
                boolean hasWindows = version >= WITH_WINDOWS;
                assertEquals(77, queue.identity());
                EdgeQueue.Found second = queue.take("s", 2).orElseThrow();
                assertEquals(RecordKind.SEGMENT, second.record().kind());
                assertEquals(20, second.record().rows());
                assertArrayEquals(bytes("second"), second.bytes());
                assertArrayEquals(bytes("bins"), queue.version("s", 5, 1).orElseThrow());
                assertEquals(
                        REJECTED,
                        RejectedLines.read(queue.take("s", 3).orElseThrow().bytes()));
                assertEquals(
                        hasWindows ? "partials" : "",
                        queue.take("s", 4)
                                .filter(found -> found.record().kind() == RecordKind.PARTIALS)
                                .map(found -> new String(found.bytes(), StandardCharsets.UTF_8))
                                .orElse(""));
                assertEquals("{key=open rows}", texts(queue.opens("s")));
                assertEquals(hasWindows ? "{q.1=open groups}" : "{}", texts(queue.groups("s")));
                assertEquals(Optional.of("file 1234"), queue.place("s"));
                assertEquals(COUNTS, queue.counts("s"));
                assertEquals(9, queue.settingsNumber("s"));
                assertEquals(Optional.of("rows=queries"), queue.settings("s"));
                queue.begin("s")
                        .segment(1, 500, 500, 5, 1, 0, bytes("life " + life))
                        .write();
                long last = (hasWindows ? 5 : 4) + life;
                assertEquals(last + 1, queue.backlog("s").next());
                assertArrayEquals(
                        bytes("life " + life),
                        queue.take("s", last).orElseThrow().bytes());
            }
        }
    }

    private static String texts(Map<String, byte[]> of) {
        StringBuilder text = new StringBuilder();
        of.forEach((name, bytes) -> text.append(name).append('=').append(new String(bytes, StandardCharsets.UTF_8)));
        return "{" + text + "}";
    }
}
