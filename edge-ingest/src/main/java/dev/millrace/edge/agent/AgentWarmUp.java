package dev.millrace.edge.agent;

import dev.millrace.edge.config.EdgeConfigFile;
import dev.millrace.storage.disk.RealDisk;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;

/** Loads the classes that an agent uses, so that an archive can be made of them: a few rows in each format, in a folder of its own. */
final class AgentWarmUp {
    private static final String COLUMNS = "columns = [\"ts timestamptz\", \"machine text\", \"temp double precision\"]";

    private AgentWarmUp() {}

    static void run() throws IOException {
        Path folder = Files.createTempDirectory("millrace-edge");
        try {
            run(folder, "csv", "2026-01-01 00:00:00Z,a,1.5\n2026-01-01 00:01:01Z,b,2.5\n");
            run(folder, "json", "{\"ts\":\"2026-01-01T00:00:00Z\",\"machine\":\"a\",\"temp\":1.5}\n");
        } finally {
            try (Stream<Path> all = Files.walk(folder)) {
                for (Path file : all.sorted(Comparator.reverseOrder()).toList()) {
                    Files.delete(file);
                }
            }
        }
    }

    private static void run(Path folder, String format, String lines) throws IOException {
        Path data = Files.createDirectory(folder.resolve(format));
        String config =
                "device = d, data = \"%s\", streams { s { %s, time = ts, key = machine, input { type = stdin, format = %s } } }"
                        .formatted(data, COLUMNS, format);
        try (BufferAllocator allocator = new RootAllocator();
                EdgeAgent agent = new EdgeAgent(
                        EdgeConfigFile.parse(config, "warm-up"),
                        EdgeAgent.Machine.of(
                                new RealDisk(data),
                                allocator,
                                new ByteArrayInputStream(lines.getBytes(StandardCharsets.UTF_8)),
                                line -> {}),
                        () -> {
                            throw new IllegalStateException("it has no server");
                        })) {
            while (!agent.isDone()) {
                if (!agent.step()) {
                    LockSupport.parkNanos(1_000_000);
                }
            }
        }
    }
}
