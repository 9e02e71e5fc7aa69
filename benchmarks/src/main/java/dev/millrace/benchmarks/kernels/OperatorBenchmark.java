package dev.millrace.benchmarks.kernels;

import dev.millrace.batch.Batch;
import dev.millrace.connector.Options;
import dev.millrace.connector.RejectedRecord;
import dev.millrace.connector.ScanRequest;
import dev.millrace.connector.Source;
import dev.millrace.connector.SourceContext;
import dev.millrace.connector.SourceReader;
import dev.millrace.connectors.nexmark.NexmarkSourceFactory;
import dev.millrace.engine.operators.OperatorFactory;
import dev.millrace.memory.Memory;
import dev.millrace.memory.PooledAllocation;
import dev.millrace.operator.KeyGroups;
import dev.millrace.operator.Operator;
import dev.millrace.operator.OperatorContext;
import dev.millrace.operator.OperatorMetrics;
import dev.millrace.operator.Output;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.testing.harness.DiscardingOutput;
import dev.millrace.time.Clock;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.FieldVector;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/** An operator over the bids of the NEXMark generator, made beforehand; one operation is one row. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class OperatorBenchmark {
    private static final int BATCHES = 64;
    private static final int BATCH_ROWS = 4096;

    /** Which operator. */
    @Param({
        "FILTER",
        "FILTER_ALONE",
        "PROJECTION",
        "GROUP_BY_NUMBER",
        "GROUP_BY_TEXT",
        "GROUP_BY_TEXT_ALONE",
        "TUMBLE_COUNT_SUM_MAX",
        "TUMBLE_1K_KEYS",
        "TUMBLE_100K_KEYS",
        "HOP_COUNT",
        "LOOKUP_100K_QUERIES",
        "LOOKUP_100K_QUERIES_1K_KEYS"
    })
    public BenchmarkPlan plan;

    private final BufferAllocator root = PooledAllocation.newRoot(1L << 30);
    private final List<Batch> batches = new ArrayList<>();
    private PlanNode scan;
    private Operator operator;
    private long epoch;

    private record Context(
            BufferAllocator allocator, Clock clock, KeyGroups keyGroups, int batchRows, OperatorMetrics metrics)
            implements OperatorContext, SourceContext {
        @Override
        public void lateRows(Batch batch, int[] rows, int count, long watermarkMicros) {}

        @Override
        public void wakeUp() {}

        @Override
        public void reject(RejectedRecord record) {}
    }

    private final Output output = new DiscardingOutput();

    @Setup(Level.Trial)
    public void open() {
        Context context = new Context(root, Clock.system(), KeyGroups.ALL, BATCH_ROWS, new OperatorMetrics());
        long events = (long) BATCHES * BATCH_ROWS * 50 / 46 + 50;
        Source source = new NexmarkSourceFactory()
                .create(new Schema(List.of()), new Options(Map.of("events", Long.toString(events))));
        List<Integer> columns =
                IntStream.range(0, source.schema().size()).boxed().toList();
        try (SourceReader reader =
                source.open(new ScanRequest(columns, List.of(), 1), context).get(0)) {
            while (batches.size() < BATCHES) {
                batches.add(reader.poll().orElseThrow());
            }
        }
        if (plan.keys() > 0) {
            drawKeys(new SplittableRandom(1));
        }
        scan = new PlanNode.Scan("bid", columns, List.of(), source.schema());
        operator = OperatorFactory.create(plan.node(scan));
        operator.open(context);
        if (plan.queries() > 0) {
            operator.process(1, queries(), output);
        }
    }

    private Batch queries() {
        int count = plan.queries();
        BigIntVector devices = new BigIntVector("dev", root);
        BigIntVector limits = new BigIntVector("lim", root);
        devices.allocateNew(count);
        limits.allocateNew(count);
        for (int query = 0; query < count; query++) {
            devices.set(query, query % plan.keys());
            limits.set(query, BenchmarkPlan.LIMIT + query);
        }
        devices.setValueCount(count);
        limits.setValueCount(count);
        Schema schema = ((PlanNode.Join) plan.node(scan)).right().schema();
        return Batch.of(schema, new FieldVector[] {devices, limits}, count);
    }

    /** Replaces the auctions; nobody else has seen the batches yet. */
    private void drawKeys(SplittableRandom random) {
        for (Batch batch : batches) {
            long auctions = batch.dataAddress(BenchmarkPlan.AUCTION);
            for (int row = 0; row < batch.rowCount(); row++) {
                Memory.putLong(auctions + 8L * row, random.nextInt(plan.keys()));
            }
        }
    }

    @TearDown(Level.Trial)
    public void close() {
        operator.close();
        batches.forEach(Batch::close);
        root.close();
    }

    @Benchmark
    @OperationsPerInvocation(BATCHES * BATCH_ROWS)
    public void rows() {
        for (Batch batch : batches) {
            operator.process(0, batch.retain(), output);
        }
        epoch++;
        while (plan.endsEpochs() && !operator.onEpochEnd(epoch, output)) {
            // the output is never full: it goes on at once
        }
    }
}
