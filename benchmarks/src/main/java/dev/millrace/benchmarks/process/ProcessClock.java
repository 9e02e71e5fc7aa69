package dev.millrace.benchmarks.process;

import com.sun.management.OperatingSystemMXBean;
import dev.millrace.server.session.Database;
import java.io.IOException;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;

/** What this process has used so far. */
public final class ProcessClock {
    private static final OperatingSystemMXBean SYSTEM =
            (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

    /** One reading: time that passed and time that processors spent, in nanoseconds. */
    public record Reading(long nanos, long cpuNanos) {}

    private ProcessClock() {}

    public static Reading now() {
        return new Reading(System.nanoTime(), SYSTEM.getProcessCpuTime());
    }

    /** Milliseconds of all collections. */
    public static long gcMillis() {
        return ManagementFactory.getGarbageCollectorMXBeans().stream()
                .mapToLong(GarbageCollectorMXBean::getCollectionTime)
                .sum();
    }

    /** Bytes on the heap, after collections, and a database's off it. */
    public static long memoryBytes(Database database) {
        long heap = Long.MAX_VALUE;
        for (int i = 0; i < 3; i++) {
            System.gc();
            heap = Math.min(
                    heap,
                    ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed());
        }
        return heap + database.engine().allocator().getAllocatedMemory();
    }

    /** The greatest resident memory so far in MB, 0 where the system has no {@code /proc}. */
    public static long peakRssMb() {
        try {
            return Files.readAllLines(Path.of("/proc/self/status")).stream()
                    .filter(line -> line.startsWith("VmHWM:"))
                    .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) / 1024)
                    .findFirst()
                    .orElse(0);
        } catch (IOException e) {
            return 0;
        }
    }
}
