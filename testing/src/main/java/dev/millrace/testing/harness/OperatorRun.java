package dev.millrace.testing.harness;

import dev.millrace.batch.Batch;
import dev.millrace.operator.KeyGroups;
import dev.millrace.operator.Operator;
import dev.millrace.operator.OperatorMetrics;
import dev.millrace.operator.Output;
import dev.millrace.testing.memory.PoisonedAllocation;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.testing.rows.ZSet;
import dev.millrace.testing.time.TestClock;
import dev.millrace.type.Schema;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;

/**
 * One operator, driven by hand, with what an {@link OperatorHarness} does not show: each step's output by itself and in
 * which batches it came, what the operator counts, which rows were late, and its memory. Closing it checks that nothing
 * is left.
 */
public final class OperatorRun implements AutoCloseable {
    private static final long MEMORY_BYTES = 1L << 30;

    private final Supplier<? extends Operator> factory;
    private final List<Schema> inputs;
    private final int batchRows;
    private final Optional<ZSet> failed;
    private final RootAllocator root = PoisonedAllocation.newRoot(MEMORY_BYTES);
    private final ZSet late = new ZSet();
    private final List<Integer> sizes = new ArrayList<>();
    private ZSet output = new ZSet();
    private OperatorMetrics metrics = new OperatorMetrics();
    private Operator operator;
    private BufferAllocator allocator;
    private int room = Integer.MAX_VALUE; // batches before the output is full
    private long epoch;

    private OperatorRun(
            int batchRows, Optional<ZSet> failed, Supplier<? extends Operator> factory, List<Schema> inputs) {
        this.factory = factory;
        this.inputs = inputs;
        this.batchRows = batchRows;
        this.failed = failed;
        open();
    }

    /** An operator that is asked for batches of at most so many rows. */
    public OperatorRun(int batchRows, Supplier<? extends Operator> factory, Schema... inputs) {
        this(batchRows, Optional.empty(), factory, List.of(inputs));
    }

    /** An operator whose failures of rows are noted. */
    public static OperatorRun keepingFailedRows(int batchRows, Supplier<? extends Operator> factory, Schema... inputs) {
        return new OperatorRun(batchRows, Optional.of(new ZSet()), factory, List.of(inputs));
    }

    public OperatorRun(Supplier<? extends Operator> factory, Schema... inputs) {
        this(4096, factory, inputs);
    }

    private void open() {
        allocator = root.newChildAllocator("operator", 0, Long.MAX_VALUE);
        metrics = new OperatorMetrics();
        operator = factory.get();
        operator.open(new HarnessContext(
                allocator, new TestClock(1_700_000_000_000_000L), KeyGroups.ALL, batchRows, metrics, late, failed));
    }

    private final Output collector = new Output() {
        @Override
        public void emit(Batch batch) {
            try (batch) {
                output.add(batch);
                sizes.add(batch.rowCount());
                room--;
            }
        }

        @Override
        public boolean isFull() {
            return room <= 0;
        }
    };

    /** A batch of rows, each once; as one batch without a column of weights. */
    public OperatorRun rows(int port, Row... rows) {
        operator.process(port, TestBatches.of(inputs.get(port), root, canonical(port, rows)), collector);
        return this;
    }

    /** A batch of rows that all have this weight. */
    public OperatorRun weighted(int port, long weight, Row... rows) {
        long[] weights = new long[rows.length];
        Arrays.fill(weights, weight);
        operator.process(port, TestBatches.weighted(inputs.get(port), root, canonical(port, rows), weights), collector);
        return this;
    }

    private List<Row> canonical(int port, Row... rows) {
        List<Row> canonical = new ArrayList<>();
        for (Row row : rows) {
            canonical.add(TestBatches.canonical(inputs.get(port), row));
        }
        return canonical;
    }

    /** A watermark, as often as it takes. */
    public OperatorRun watermark(long micros) {
        while (!operator.onWatermark(micros, collector)) {
            room = Integer.MAX_VALUE;
        }
        return this;
    }

    /** A watermark for an output with room for so many batches; returns whether it was done. */
    public boolean watermark(long micros, int batches) {
        room = batches;
        boolean done = operator.onWatermark(micros, collector);
        room = Integer.MAX_VALUE;
        return done;
    }

    public OperatorRun epochEnd() {
        epoch++;
        while (!operator.onEpochEnd(epoch, collector)) {
            room = Integer.MAX_VALUE;
        }
        return this;
    }

    /** The end of an epoch for an output with room for so many batches; returns whether it was done. */
    public boolean epochEnd(int batches) {
        room = batches;
        boolean done = operator.onEpochEnd(epoch + 1, collector);
        room = Integer.MAX_VALUE;
        epoch += done ? 1 : 0;
        return done;
    }

    /** Goes on with a new operator that restores what the old one wrote. What was put out so far stays. */
    public OperatorRun restart() {
        MemorySnapshot snapshot = new MemorySnapshot();
        try {
            operator.snapshot(snapshot.writer(KeyGroups.ALL));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        closeOperator();
        open();
        operator.restore(snapshot.reader(KeyGroups.ALL));
        return this;
    }

    /** What was put out since the last time it was asked. */
    public ZSet taken() {
        ZSet taken = output;
        output = new ZSet();
        return taken;
    }

    /** The sizes of the batches put out since the last time it was asked. */
    public List<Integer> takenSizes() {
        List<Integer> taken = List.copyOf(sizes);
        sizes.clear();
        return taken;
    }

    /** What the operator counted since it was opened. */
    public OperatorMetrics metrics() {
        return metrics;
    }

    /** The rows reported as late. */
    public ZSet late() {
        return late;
    }

    /** What was said of the rows that fail, where that is noted: as often as rows fail of it. */
    public ZSet failed() {
        return failed.orElseThrow();
    }

    /** The bytes that the operator holds. */
    public long heldBytes() {
        return allocator.getAllocatedMemory();
    }

    public Operator operator() {
        return operator;
    }

    private void closeOperator() {
        operator.close();
        operator.close();
        if (allocator.getAllocatedMemory() != 0) {
            throw new AssertionError(allocator.getAllocatedMemory() + " bytes left after close");
        }
        allocator.close();
    }

    @Override
    public void close() {
        closeOperator();
        root.close();
    }
}
