package dev.millrace.benchmarks.sketch;

import dev.millrace.memory.PooledAllocation;
import dev.millrace.sketch.stream.EncoderOptions;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.apache.arrow.memory.BufferAllocator;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code ./millrace bench sketch}: JSON lines of CPU time of one thread. */
@Command(
        name = "sketch",
        description =
                "Measures encoding, materialising and querying sketches; prints JSON lines, in CPU time of one thread.",
        mixinStandardHelpOptions = true)
public final class SketchBenchCommand implements Callable<Integer> {
    @Option(names = "--rows", description = "Rows of each set (default: ${DEFAULT-VALUE}).")
    private int rows = 262_144;

    @Option(names = "--segment", description = "Rows of a segment (default: ${DEFAULT-VALUE}).")
    private int segment = EncoderOptions.DEFAULT_ROWS;

    @Option(
            names = "--seconds",
            description = "How long each is measured, after as long a warm-up (default: ${DEFAULT-VALUE}).")
    private double seconds = 2;

    @Option(names = "--data", description = "Measure the real sets of this folder too.")
    private java.nio.file.Path data;

    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    @Override
    public Integer call() {
        List<TimeSeries> sets = new ArrayList<>();
        for (SyntheticSeries kind : SyntheticSeries.values()) {
            sets.add(kind.make(rows / kind.make(1).features().size()));
        }
        if (data != null) {
            sets.addAll(new DataSets(data).all());
        }
        try (BufferAllocator allocator = PooledAllocation.newRoot(1L << 30)) {
            for (TimeSeries series : sets) {
                measure(series, allocator);
            }
        }
        return 0;
    }

    private void measure(TimeSeries series, BufferAllocator allocator) {
        SketchWork work = new SketchWork(series, EncoderOptions.defaults().withSegmentRows(segment));
        double encode = secondsEach(work::encode);
        double materialise = secondsEach(() -> work.materialise(allocator));
        double inSketch = secondsEach(() -> (long) work.inSketch());
        double together = secondsEach(() -> (long) work.inSketchTogether());
        double compute = secondsEach(() -> (long) work.materialiseThenCompute(allocator));
        if (work.inSketch() != Math.rint(work.materialiseThenCompute(allocator))
                || work.inSketch() != work.inSketchTogether()) {
            throw new IllegalStateException("the ways of counting differ for " + series.name());
        }
        long bytes = work.segments.stream().mapToLong(s -> s.length).sum();
        System.out.printf(
                Locale.ROOT,
                "{\"set\":\"%s\",\"features\":%d,\"segment_rows\":%d,\"bytes_per_row\":%.4f,\"encode_values_per_s\":%.0f,"
                        + "\"materialise_values_per_s\":%.0f,\"in_sketch_rows_per_s\":%.0f,\"computed_rows_per_s\":%.0f,"
                        + "\"in_sketch_ratio\":%.1f,"
                        + "\"together_rows_per_s\":%.0f,\"together_ratio\":%.1f}%n",
                series.name(),
                series.features().size(),
                segment,
                bytes / (double) series.rows(),
                work.values() / encode,
                work.values() / materialise,
                series.rows() / inSketch,
                series.rows() / compute,
                compute / inSketch,
                series.rows() / together,
                compute / together);
    }

    private interface Work {
        long run();
    }

    private double secondsEach(Work work) {
        run(work);
        return run(work);
    }

    private double run(Work work) {
        long blackhole = 0;
        long runs = 0;
        long start = THREADS.getCurrentThreadCpuTime();
        long end = start;
        while (end - start < seconds * 1e9) {
            blackhole += work.run();
            runs++;
            end = THREADS.getCurrentThreadCpuTime();
        }
        if (blackhole == Long.MIN_VALUE) {
            System.err.println(blackhole);
        }
        return (end - start) / 1e9 / runs;
    }
}
