package dev.millrace.benchmarks.storage;

import dev.millrace.storage.disk.RealDisk;
import dev.millrace.storage.log.LogMode;
import dev.millrace.storage.log.LogStatistics;
import dev.millrace.storage.log.WriteAheadLog;
import dev.millrace.storage.log.WriteAheadLogOptions;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code ./millrace bench log DIR}: how many records a second are durable, each of which its writer waits for. */
@Command(
        name = "log",
        description =
                "Appends to a write-ahead log and waits for the disk; one JSON line per number and size of writers.",
        mixinStandardHelpOptions = true)
public final class LogCommand implements Callable<Integer> {
    private static final int KEPT = 100; // records that are not forgotten

    @Parameters(
            paramLabel = "DIR",
            description = "A directory on the disk to be measured; a new one is made in it, and removed.")
    private Path directory;

    @Option(names = "--seconds", defaultValue = "10", description = "For each case (default: ${DEFAULT-VALUE}).")
    private int seconds;

    @Override
    public Integer call() throws IOException, InterruptedException {
        measure(1, 100);
        measure(64, 100);
        measure(1, 1 << 20);
        return 0;
    }

    private void measure(int writers, int bytes) throws IOException, InterruptedException {
        Path place = Files.createTempDirectory(directory, "millrace-log");
        try {
            try (WriteAheadLog log = WriteAheadLog.open(new RealDisk(place), WriteAheadLogOptions.standard())) {
                run(
                        log,
                        writers,
                        bytes,
                        Math.max(1, seconds / 5)); // the compiler, and the first segments, which are short
                LogStatistics before = log.statistics();
                long start = System.nanoTime();
                long[] nanos = run(log, writers, bytes, seconds);
                double elapsed = (System.nanoTime() - start) / 1e9;
                print(writers, bytes, nanos, elapsed, log.statistics().groups() - before.groups());
            }
        } finally {
            Folders.remove(place);
        }
    }

    /** How long each append took until it was durable, sorted. */
    private static long[] run(WriteAheadLog log, int writers, int bytes, int forSeconds) throws InterruptedException {
        long end = System.nanoTime() + forSeconds * 1_000_000_000L;
        List<long[]> times = new CopyOnWriteArrayList<>();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < writers; i++) {
            int seed = i;
            threads.add(new Thread(() -> times.add(write(log, seed, bytes, end)), "bench-writer-" + i));
        }
        threads.forEach(Thread::start);
        for (Thread thread : threads) {
            thread.join();
        }
        return times.stream().flatMapToLong(Arrays::stream).sorted().toArray();
    }

    private static long[] write(WriteAheadLog log, int seed, int bytes, long end) {
        byte[] contents = new byte[bytes];
        new Random(seed).nextBytes(contents);
        ByteBuffer record = ByteBuffer.wrap(contents);
        long[] times = new long[1024];
        int count = 0;
        for (long now = System.nanoTime(); now < end; ) {
            long number = log.append(LogMode.AWAITED, record);
            log.awaitDurable(number);
            long done = System.nanoTime();
            times = count == times.length ? Arrays.copyOf(times, 2 * count) : times;
            times[count++] = done - now;
            now = done;
            if (seed == 0 && count % KEPT == 0) {
                log.forget(number - KEPT); // as after a checkpoint, so that segments are used again
            }
        }
        return Arrays.copyOf(times, count);
    }

    private static void print(int writers, int bytes, long[] nanos, double elapsed, long groups) {
        System.out.println(String.format(
                Locale.ROOT,
                "{\"writers\":%d,\"record_bytes\":%d,\"appends_per_s\":%.0f,\"mb_per_s\":%.1f,\"per_force\":%.1f,"
                        + "\"p50_us\":%.0f,\"p99_us\":%.0f,\"max_us\":%.0f}",
                writers,
                bytes,
                nanos.length / elapsed,
                nanos.length * (double) bytes / elapsed / 1e6,
                nanos.length / (double) Math.max(1, groups),
                nanos[nanos.length / 2] / 1e3,
                nanos[(int) (nanos.length * .99)] / 1e3,
                nanos[nanos.length - 1] / 1e3));
    }
}
