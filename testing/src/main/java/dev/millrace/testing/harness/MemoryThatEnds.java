package dev.millrace.testing.harness;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.operator.KeyGroups;
import dev.millrace.operator.Operator;
import dev.millrace.operator.OperatorMetrics;
import dev.millrace.operator.Output;
import dev.millrace.testing.memory.FailingMemory;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.testing.rows.ZSet;
import dev.millrace.testing.time.TestClock;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.OutOfMemoryException;
import org.apache.arrow.memory.RootAllocator;

/**
 * A script for an operator whose memory ends at the n-th allocation, for every n until it ends nowhere: whatever was allocated by then is
 * given back when the operator is closed, with the batches that it was given.
 */
public final class MemoryThatEnds {
    private static final int BATCH_ROWS = 10;

    private interface Step {
        void run(Operator operator, Output output, BufferAllocator inputs);
    }

    private static final Output NOWHERE = new DiscardingOutput();

    private final List<Schema> inputs;
    private final List<Step> script = new ArrayList<>();
    private long epochs;
    private Optional<OutOfMemoryException> failure = Optional.empty();

    public MemoryThatEnds(Schema... inputs) {
        this.inputs = List.of(inputs);
    }

    /** A batch of rows, each once. */
    public MemoryThatEnds rows(int port, Row... rows) {
        return weighted(port, 1, rows);
    }

    /** A batch of rows that all have this weight. */
    public MemoryThatEnds weighted(int port, long weight, Row... rows) {
        Schema schema = inputs.get(port);
        List<Row> canonical = new ArrayList<>();
        Arrays.stream(rows).forEach(row -> canonical.add(TestBatches.canonical(schema, row)));
        long[] weights = new long[rows.length];
        Arrays.fill(weights, weight);
        script.add((operator, output, allocator) -> operator.process(
                port,
                weight == 1
                        ? TestBatches.of(schema, allocator, canonical)
                        : TestBatches.weighted(schema, allocator, canonical, weights),
                output));
        return this;
    }

    public MemoryThatEnds epochEnd() {
        long epoch = ++epochs;
        script.add((operator, output, allocator) -> operator.onEpochEnd(epoch, output));
        return this;
    }

    public MemoryThatEnds watermark(long micros) {
        script.add((operator, output, allocator) -> operator.onWatermark(micros, output));
        return this;
    }

    /** Runs the script again and again. */
    public void run(Supplier<? extends Operator> factory) {
        FailingMemory failing = new FailingMemory();
        try (RootAllocator root = new RootAllocator()) {
            boolean ends = true;
            for (long n = 1; ends; n++) {
                BufferAllocator inputAllocator = root.newChildAllocator("inputs", 0, Long.MAX_VALUE);
                BufferAllocator allocator = root.newChildAllocator("operator", failing, 0, Long.MAX_VALUE);
                Operator operator = factory.get();
                failing.failAt(n);
                if (play(operator, allocator, inputAllocator, failing)) {
                    assertTrue(n > 5, "what asks for no memory is not tested by this");
                    ends = false;
                }
                failing.failNoMore();
                operator.close();
                operator.close();
                long left = allocator.getAllocatedMemory() + inputAllocator.getAllocatedMemory();
                if (left != 0) {
                    throw new AssertionError(
                            left + " bytes left where allocation " + n + " failed", failure.orElse(null));
                }
                allocator.close();
                inputAllocator.close();
            }
        }
    }

    /** Returns whether all of the script ran. */
    private boolean play(Operator operator, BufferAllocator allocator, BufferAllocator given, FailingMemory failing) {
        try {
            operator.open(new HarnessContext(
                    allocator,
                    new TestClock(0),
                    KeyGroups.ALL,
                    BATCH_ROWS,
                    new OperatorMetrics(),
                    new ZSet(),
                    Optional.empty()));
            for (Step step : script) {
                step.run(operator, NOWHERE, given);
            }
            return !failing.hasFailed();
        } catch (OutOfMemoryException e) {
            assertTrue(failing.hasFailed());
            failure = Optional.of(e);
            return false;
        }
    }
}
