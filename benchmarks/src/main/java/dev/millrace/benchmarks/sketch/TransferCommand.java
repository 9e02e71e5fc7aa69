package dev.millrace.benchmarks.sketch;

import dev.millrace.memory.PooledAllocation;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.apache.arrow.memory.BufferAllocator;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code ./millrace bench sketch-transfer}: the dissertation's figures 6.14 and 6.15 on our sets. */
@Command(
        name = "sketch-transfer",
        description =
                "Sends rows from an ingester to a processor one at a time, in batches, and as sketches, and has operations run in sketches and"
                        + " over rows, as the dissertation's figures 6.14 and 6.15 do; prints a line of JSON for each, and draws both.",
        mixinStandardHelpOptions = true)
public final class TransferCommand implements Callable<Integer> {
    private static final int TRIES = 3;

    @Option(names = "--data", paramLabel = "DIR", description = "Where the real sets are.")
    private Path data = DataSets.defaultRoot();

    @Option(names = "--rows", description = "How many rows of each set are sent at least (default: ${DEFAULT-VALUE}).")
    private long rows = 1_000_000;

    @Option(
            names = "--buffer",
            description = "Bytes that wait before the processor at most (default: ${DEFAULT-VALUE}).")
    private long bufferBytes = 1 << 20;

    @Option(
            names = "--out",
            paramLabel = "DIR",
            description = "Where to write the pictures (default: ${DEFAULT-VALUE}).")
    private Path out = Path.of("docs");

    @Override
    public Integer call() throws IOException {
        if (rows < 1 || bufferBytes < 1 << 16) {
            System.err.println("--rows has to be above 0, --buffer 65536 or more");
            return 2;
        }
        List<Chart.Dots> transfers = new ArrayList<>();
        List<Chart.Dots> operations = new ArrayList<>();
        List<String> categories = List.of(
                "rows a second of CPU",
                "rows a byte of link",
                "rows a switch of threads",
                "rows a byte of heap",
                "rows in a full buffer");
        List<String> names = new ArrayList<>();
        for (TimeSeries set : new DataSets(data).all()) {
            if (List.of("fridge plug", "12 plugs", "household power").contains(set.name())) {
                TimeSeries series = set.regular();
                transfers.addAll(transfers(series));
                if (series.features().size() > 1) {
                    operations.addAll(operations(series, names));
                }
            }
        }
        if (transfers.isEmpty() || operations.isEmpty()) {
            System.err.println("the sets are not in " + data);
            return 1;
        }
        Files.write(
                out.resolve("sketch-fig-6-14.png"),
                Chart.dots("Fig. 6.14: times as much as one message at a time", "times", categories, transfers));
        Files.write(
                out.resolve("sketch-fig-6-15.png"),
                Chart.dots("Fig. 6.15: operations over 12 plugs", "thousand rows a second of CPU", names, operations));
        return 0;
    }

    /** Prints each mode's figures. @return batches and sketches, as multiples of what is sent one at a time */
    private List<Chart.Dots> transfers(TimeSeries series) throws IOException {
        List<Chart.Dots> relative = new ArrayList<>();
        List<Double> alone = List.of();
        for (TransferMode mode : TransferMode.values()) {
            int passes = (int) Math.max(1, (rows + series.rows() - 1) / series.rows());
            List<Double> figures;
            try (BufferAllocator allocator = PooledAllocation.newRoot(1L << 28)) {
                TransferRun best = TransferRun.of(mode, series, passes, bufferBytes, false, allocator);
                for (int i = 1; i < TRIES; i++) {
                    TransferRun next = TransferRun.of(mode, series, passes, bufferBytes, false, allocator);
                    best = next.cpuSeconds() < best.cpuSeconds() ? next : best;
                }
                TransferRun slow = TransferRun.of(mode, series, heldPasses(mode, series), bufferBytes, true, allocator);
                print(series, mode, best, slow.held());
                figures = List.of(
                        best.rows() / best.cpuSeconds(),
                        best.rows() / (double) best.linkBytes(),
                        best.rows() / (double) Math.max(1, best.switches()),
                        best.rows() / (double) Math.max(1, best.allocated()),
                        (double) slow.held());
            }
            if (mode == TransferMode.ONE_AT_A_TIME) {
                alone = figures;
            } else {
                List<Double> times = new ArrayList<>();
                for (int i = 0; i < figures.size(); i++) {
                    times.add(Math.max(1, figures.get(i) / alone.get(i)));
                }
                relative.add(new Chart.Dots(series.name() + ", " + mode.label(), times));
            }
        }
        return relative;
    }

    /** So often that the buffer is full in any mode. */
    private int heldPasses(TransferMode mode, TimeSeries series) {
        TransferMode.Outgoing outgoing = mode.outgoing(series);
        long bytes = 0;
        for (int i = 0; i < outgoing.count(); i++) {
            bytes += outgoing.frame(i).bytes().length;
        }
        return (int) (bufferBytes / bytes + 2);
    }

    private static void print(TimeSeries series, TransferMode mode, TransferRun run, long held) {
        System.out.printf(
                Locale.ROOT,
                "{\"set\":\"%s\",\"features\":%d,\"mode\":\"%s\",\"rows\":%d,\"rows_per_cpu_s\":%.0f,\"link_bytes_per_row\":%.3f,"
                        + "\"switches_per_1000_rows\":%.2f,\"heap_bytes_per_row\":%.1f,\"rows_in_full_buffer\":%d}%n",
                series.name(),
                series.features().size(),
                mode.label(),
                run.rows(),
                run.rows() / run.cpuSeconds(),
                run.linkBytes() / (double) run.rows(),
                1000.0 * run.switches() / run.rows(),
                run.allocated() / (double) run.rows(),
                held);
    }

    private static List<Chart.Dots> operations(TimeSeries series, List<String> names) {
        List<Double> inSketch = new ArrayList<>();
        List<Double> overRows = new ArrayList<>();
        List<Double> materialised = new ArrayList<>();
        for (OperationRates.Rate rate : new OperationRates(series).measure()) {
            System.out.printf(
                    Locale.ROOT,
                    "{\"operation\":\"%s\",\"in_sketch_rows_per_cpu_s\":%.0f,\"rows_per_cpu_s\":%.0f,\"materialised_rows_per_cpu_s\":%.0f}%n",
                    rate.operation(),
                    rate.inSketch(),
                    rate.overRows(),
                    rate.materialised());
            names.add(rate.operation());
            inSketch.add(rate.inSketch() / 1000);
            overRows.add(rate.overRows() / 1000);
            materialised.add(rate.materialised() / 1000);
        }
        return List.of(
                new Chart.Dots("in sketches", inSketch),
                new Chart.Dots("over rows", overRows),
                new Chart.Dots("materialised first", materialised));
    }
}
