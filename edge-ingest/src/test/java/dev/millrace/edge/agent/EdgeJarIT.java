package dev.millrace.edge.agent;

import static java.util.stream.Collectors.toSet;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.millrace.edge.queue.EdgeQueue;
import dev.millrace.edge.queue.Merging;
import dev.millrace.edge.queue.QueueOptions;
import dev.millrace.edge.queue.WhenFull;
import dev.millrace.storage.disk.RealDisk;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.jar.JarFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/** What is copied to a device: the launcher and the jar beside it. Runs once they are packed ({@code mvn verify}). */
@Timeout(120)
@EnabledIfSystemProperty(named = EdgeJarIT.LAUNCHER, matches = ".+", disabledReason = "the jar is made later")
class EdgeJarIT {
    static final String LAUNCHER = "millrace.edge.launcher";

    private static final long MOST_KILOBYTES = 75 << 10; // on every JVM; docs/edge.md has what was measured
    private static final int KEYS = 500;
    private static final int ROWS = 200_000;

    @TempDir
    private Path folder;

    private final Path launcher = Path.of(System.getProperty(LAUNCHER));

    @Test
    void itHoldsWhatAnAgentUsesAndNothingElse() throws IOException {
        Path file = launcher.resolveSibling("millrace-edge.jar");
        assertTrue(Files.size(file) < 5 << 20, () -> file + " is large");
        try (JarFile jar = new JarFile(file.toFile())) {
            assertEquals(
                    Set.of(
                            "dev/millrace",
                            "org/apache",
                            "com/fasterxml",
                            "com/google",
                            "com/typesafe",
                            "org/roaringbitmap",
                            "org/slf4j"),
                    jar.stream()
                            .map(entry -> entry.getName())
                            .filter(name -> name.endsWith(".class") && !name.startsWith("META-INF/"))
                            .map(name -> name.replaceAll("^([^/]+/[^/]+)/.*", "$1"))
                            .collect(toSet()));
            assertTrue(jar.stream()
                    .map(entry -> entry.getName())
                    .filter(name -> name.startsWith("org/apache/") && name.endsWith(".class"))
                    .allMatch(name -> name.startsWith("org/apache/arrow/")));
        }
    }

    @Test
    void rowsOfManyKeysAreOnDiskAndItsMemoryIsSmall() throws Exception {
        Path data = folder.resolve("data");
        Path config = Files.writeString(folder.resolve("edge.conf"), """
                device = d, data = "%s"
                streams { s {
                  columns = ["name text", "n bigint", "v double precision"], key = name
                  input { type = stdin }
                  sketch { error = 1%%, rows = 8192 }
                } }
                """.formatted(data));
        ProcessBuilder builder = new ProcessBuilder(launcher.toString(), "--config", config.toString());
        builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
        builder.environment().remove("MILLRACE_EDGE_JVM_OPTIONS");
        Process agent = builder.redirectErrorStream(true).start();
        try (BufferedWriter lines = agent.outputWriter(StandardCharsets.UTF_8)) {
            for (int i = 0; i < ROWS; i++) {
                lines.write("k" + i % KEYS + "," + i + "," + Math.sin(i * .001) + "\n");
            }
        }
        long most = 0;
        while (agent.isAlive()) {
            most = Math.max(most, kilobytes(agent.pid()));
            agent.waitFor(5, TimeUnit.MILLISECONDS);
        }
        assertEquals("", new String(agent.getInputStream().readAllBytes(), StandardCharsets.UTF_8));
        assertEquals(0, agent.exitValue());
        QueueOptions options = new QueueOptions(64 << 20, 1 << 20, WhenFull.OLDEST, 2, () -> 1);
        try (EdgeQueue queue = EdgeQueue.open(new RealDisk(data), options, Merging.NONE)) {
            assertEquals(ROWS, queue.backlog("s").rows());
        }
        assumeTrue(most > 0, "skipped: this system does not say how much memory a process has");
        long had = most;
        assertTrue(had < MOST_KILOBYTES, () -> "the agent had " + had + " kB");
    }

    /** The most that a process had; 0 where that is not said. */
    private static long kilobytes(long pid) {
        try {
            return Files.readAllLines(Path.of("/proc/" + pid + "/status")).stream()
                    .filter(line -> line.startsWith("VmHWM:"))
                    .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")))
                    .findFirst()
                    .orElse(0);
        } catch (IOException e) {
            return 0; // it has ended meanwhile
        }
    }
}
