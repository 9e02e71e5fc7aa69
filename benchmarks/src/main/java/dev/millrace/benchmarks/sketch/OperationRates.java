package dev.millrace.benchmarks.sketch;

import dev.millrace.sketch.Sketch;
import dev.millrace.sketch.materialise.Materialisation;
import dev.millrace.sketch.query.Condition;
import dev.millrace.sketch.schema.Binning;
import dev.millrace.sketch.segment.SegmentCodec;
import dev.millrace.sketch.segment.Versions;
import dev.millrace.sketch.stream.EncodedSegment;
import dev.millrace.sketch.stream.EncoderOptions;
import dev.millrace.sketch.transform.SketchTransform;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.ToLongFunction;

/**
 * How many rows a second of CPU operations take: in sketches, over rows, and over rows that sketches are made into first
 * (the dissertation's figure 6.15). One thread; sketches and rows are in memory.
 */
final class OperationRates {
    private static final double SHARE = .025;
    private static final long MINUTE = 60_000_000;
    private static final int PARTS = 4;
    private static final long NANOS = 300_000_000; // of each measurement
    private static final int TRIES = 5;
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    private record Row(long time, double[] values) {}

    /** An operation both ways; each gives how much came out, so that nothing is left out. */
    private record Operation(String name, ToLongFunction<Sketch> inSketch, ToLongFunction<List<Row>> overRows) {}

    /** Rows a second of CPU. */
    record Rate(String operation, double inSketch, double overRows, double materialised) {}

    private final List<Sketch> sketches = new ArrayList<>();
    private final List<List<Row>> rows = new ArrayList<>();
    private final int features;
    private final double middle;
    private long out;

    OperationRates(TimeSeries series) {
        this.features = series.features().size();
        double[] range = TimeSeries.range(series.features().get(0));
        this.middle = (range[0] + range[1]) / 2;
        Versions versions = new Versions();
        for (EncodedSegment segment : Sizes.encode(
                series,
                Sizes.schema(series, SHARE, Binning.SMALLEST),
                EncoderOptions.defaults().withSegmentRows(Sizes.SEGMENT))) {
            sketches.add(SegmentCodec.read(segment.bytes(), versions));
        }
        sketches.forEach(sketch -> rows.add(materialised(sketch)));
    }

    private List<Row> materialised(Sketch sketch) {
        return Materialisation.all().stream(sketch)
                .map(observation -> {
                    double[] values = new double[features];
                    for (int f = 0; f < features; f++) {
                        values[f] = observation.number(f);
                    }
                    return new Row(observation.time(), values);
                })
                .toList();
    }

    List<Rate> measure() {
        List<Operation> operations = List.of(
                new Operation(
                        "filter",
                        sketch -> SketchTransform.filter(sketch, Condition.atLeast("f0", middle))
                                .map(Sketch::rows)
                                .orElse(0),
                        some -> some.stream()
                                .filter(row -> row.values()[0] >= middle)
                                .toList()
                                .size()),
                new Operation(
                        "projection",
                        sketch -> SketchTransform.project(sketch, "f0", "f1").rows(),
                        some -> some.stream()
                                .map(row -> new Row(row.time(), Arrays.copyOf(row.values(), 2)))
                                .toList()
                                .size()),
                new Operation(
                        "by key",
                        sketch -> SketchTransform.partitionByKey(sketch, "f0").size(),
                        some -> {
                            Map<Double, List<Row>> parts = new HashMap<>();
                            some.forEach(row -> parts.computeIfAbsent(row.values()[0], key -> new ArrayList<>())
                                    .add(row));
                            return parts.size();
                        }),
                new Operation(
                        "by time",
                        sketch ->
                                SketchTransform.partitionByTime(sketch, MINUTE).size(),
                        some -> {
                            Map<Long, List<Row>> parts = new TreeMap<>();
                            some.forEach(row -> parts.computeIfAbsent(row.time() / MINUTE, key -> new ArrayList<>())
                                    .add(row));
                            return parts.size();
                        }),
                new Operation(
                        "round robin",
                        sketch -> SketchTransform.roundRobin(sketch, PARTS).size(),
                        some -> {
                            List<List<Row>> parts = new ArrayList<>();
                            for (int part = 0; part < PARTS; part++) {
                                parts.add(new ArrayList<>());
                            }
                            for (int i = 0; i < some.size(); i++) {
                                parts.get(i % PARTS).add(some.get(i));
                            }
                            return parts.size();
                        }));
        return operations.stream()
                .map(operation -> new Rate(
                        operation.name(),
                        best(() -> sketches.forEach(
                                sketch -> out += operation.inSketch().applyAsLong(sketch))),
                        best(() ->
                                rows.forEach(some -> out += operation.overRows().applyAsLong(some))),
                        best(() -> sketches.forEach(
                                sketch -> out += operation.overRows().applyAsLong(materialised(sketch))))))
                .toList();
    }

    /** The best of some tries: rows a second of CPU of what goes over all once. */
    private double best(Runnable pass) {
        long all = sketches.stream().mapToLong(Sketch::rows).sum();
        double best = 0;
        for (int i = 0; i < TRIES; i++) {
            long start = THREADS.getCurrentThreadCpuTime();
            long passes = 0;
            while (THREADS.getCurrentThreadCpuTime() - start < NANOS) {
                pass.run();
                passes++;
            }
            best = Math.max(best, passes * all * 1e9 / (THREADS.getCurrentThreadCpuTime() - start));
        }
        return best;
    }

    /** What came out of all, which nobody needs. */
    long out() {
        return out;
    }
}
