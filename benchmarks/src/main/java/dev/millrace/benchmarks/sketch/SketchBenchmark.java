package dev.millrace.benchmarks.sketch;

import dev.millrace.memory.PooledAllocation;
import dev.millrace.sketch.stream.EncoderOptions;
import java.util.concurrent.TimeUnit;
import org.apache.arrow.memory.BufferAllocator;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/** Sixteen segments of 1,024 rows of made-up sets; one operation is all of them. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class SketchBenchmark {
    private static final int ROWS = 16 * EncoderOptions.DEFAULT_ROWS;

    /** Which set. */
    @Param({"QUIET", "NOISY", "WIDE"})
    public String set;

    private BufferAllocator allocator;
    private SketchWork work;

    @Setup
    public void setUp() {
        allocator = PooledAllocation.newRoot(1L << 28);
        work = new SketchWork(SyntheticSeries.valueOf(set).make(ROWS), EncoderOptions.defaults());
    }

    @TearDown
    public void tearDown() {
        allocator.close();
    }

    @Benchmark
    public long encode() {
        return work.encode();
    }

    @Benchmark
    public long materialise() {
        return work.materialise(allocator);
    }

    @Benchmark
    public double inSketch() {
        return work.inSketch();
    }

    @Benchmark
    public double materialiseThenCompute() {
        return work.materialiseThenCompute(allocator);
    }
}
