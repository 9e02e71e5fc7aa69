package dev.millrace.storage.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.storage.disk.RealDisk;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.TreeSet;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A process that appends to a log on the machine's disk is killed, again and again. */
@Tag("long")
class RealLogTest {
    private static final int ROUNDS = Integer.getInteger("millrace.log.kills", 10);

    @TempDir
    private Path directory;

    @Test
    void whatAKilledProcessCalledDurableIsThere() throws Exception {
        TreeSet<Long> acknowledged = new TreeSet<>();
        for (int round = 0; round < ROUNDS; round++) {
            Process process = new ProcessBuilder(
                            Path.of(System.getProperty("java.home"), "bin", "java")
                                    .toString(),
                            "-XX:TieredStopAtLevel=1",
                            "-cp",
                            System.getProperty("java.class.path"),
                            AppendingProcess.class.getName(),
                            directory.toString())
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start();
            try (BufferedReader out =
                    new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.US_ASCII))) {
                int wanted = 20 + 30 * round;
                for (int i = 0; i < wanted; i++) {
                    acknowledged.add(Long.parseLong(out.readLine()));
                }
                process.toHandle().destroyForcibly(); // Process.destroyForcibly would lose what it had printed
                String line = out.readLine();
                for (String next = out.readLine(); next != null; next = out.readLine()) {
                    acknowledged.add(Long.parseLong(line)); // the last line may be cut
                    line = next;
                }
                process.waitFor();
            }
            check(acknowledged);
        }
    }

    private void check(TreeSet<Long> acknowledged) {
        RealDisk disk = new RealDisk(directory);
        assertEquals(java.util.List.of(), WriteAheadLog.verify(disk).damage());
        TreeSet<Long> found = new TreeSet<>();
        try (WriteAheadLog log =
                WriteAheadLog.open(disk, WriteAheadLogOptions.standard().withSizes(1 << 20, 1 << 20))) {
            log.replay(0, (number, bytes) -> {
                int length = bytes.getInt(0);
                assertEquals(8 + length, bytes.remaining());
                for (int i = 8; i < 8 + length; i++) {
                    assertEquals((byte) (length + i), bytes.get(i));
                }
                assertTrue(found.add(number));
            });
        }
        assertTrue(found.containsAll(acknowledged), "lost records");
        assertEquals(found.size(), found.isEmpty() ? 0 : found.last(), "no number is missing");
        acknowledged.addAll(found);
    }

    /** As statements are that time out while their session writes the log. */
    @Test
    void whoIsInterruptedWhileItWritesGoesOnAndStaysInterrupted() {
        WriteAheadLogOptions small = WriteAheadLogOptions.standard().withSizes(8192, 1 << 20);
        long last = 0;
        try (WriteAheadLog log = WriteAheadLog.open(new RealDisk(directory), small)) {
            for (int i = 0; i < 100; i++) { // over several segments
                last = log.append(LogMode.AWAITED, java.nio.ByteBuffer.allocate(200));
                Thread.currentThread().interrupt();
                log.awaitDurable(last);
                assertTrue(Thread.interrupted());
            }
            assertEquals(0, log.statistics().failures());
        }
        assertEquals(last, WriteAheadLog.verify(new RealDisk(directory)).records());
    }

    @Test
    void filesAreTheirOwnersAlone() throws Exception {
        try (WriteAheadLog log =
                WriteAheadLog.open(new RealDisk(directory).directory("log"), WriteAheadLogOptions.standard())) {
            log.awaitDurable(log.append(LogMode.AWAITED, java.nio.ByteBuffer.allocate(10)));
        }
        try (var files = Files.walk(directory.resolve("log"))) {
            for (Path file : files.toList()) {
                String permissions = PosixFilePermissions.toString(Files.getPosixFilePermissions(file));
                assertEquals(Files.isDirectory(file) ? "rwx------" : "rw-------", permissions, file.toString());
            }
        }
    }
}
