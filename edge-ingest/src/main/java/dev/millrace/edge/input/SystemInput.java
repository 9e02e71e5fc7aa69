package dev.millrace.edge.input;

import dev.millrace.time.Clock;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/** The machine's vital signs as JSON, with the members that {@link dev.millrace.edge.config.VitalColumns} has, once in a while. */
final class SystemInput implements Input {
    private final Clock clock;
    private final long everyNanos;
    private final Path disk;
    private long due;
    private Optional<String> problem = Optional.empty();

    SystemInput(Clock clock, long everyMicros, Path disk) {
        this.clock = clock;
        this.everyNanos = everyMicros * 1000;
        this.disk = disk;
        this.due = clock.nanoTime();
    }

    @Override
    public boolean poll(LineMemory into) {
        long now = clock.nanoTime();
        if (now - due < 0) {
            return false;
        }
        due = Math.max(due + everyNanos, now);
        byte[] line = line().getBytes(StandardCharsets.UTF_8);
        into.add(line, 0, line.length);
        return true;
    }

    private String line() {
        StringBuilder line = new StringBuilder("{");
        if (ManagementFactory.getOperatingSystemMXBean() instanceof com.sun.management.OperatingSystemMXBean system) {
            member(line, "cpu", system.getCpuLoad());
            member(line, "load", system.getSystemLoadAverage());
            member(line, "memory_used", 1 - system.getFreeMemorySize() / (double) system.getTotalMemorySize());
        }
        try {
            FileStore store = Files.getFileStore(disk);
            member(line, "disk_used", 1 - store.getUsableSpace() / (double) store.getTotalSpace());
            problem = Optional.empty();
        } catch (IOException e) {
            problem = Optional.of("no size of the disk: " + e.getMessage());
        }
        return line.append('}').toString();
    }

    private static void member(StringBuilder line, String name, double value) {
        if (value >= 0 && value < Double.POSITIVE_INFINITY) {
            line.append(line.length() > 1 ? "," : "")
                    .append('"')
                    .append(name)
                    .append("\":")
                    .append(value);
        }
    }

    @Override
    public boolean isFinished() {
        return false;
    }

    @Override
    public Optional<String> problem() {
        return problem;
    }

    @Override
    public void close() {}
}
