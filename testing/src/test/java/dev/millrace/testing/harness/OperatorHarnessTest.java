package dev.millrace.testing.harness;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.batch.Batch;
import dev.millrace.operator.KeyGroups;
import dev.millrace.operator.Operator;
import dev.millrace.operator.OperatorContext;
import dev.millrace.operator.Output;
import dev.millrace.operator.StateFormat;
import dev.millrace.operator.StateReader;
import dev.millrace.operator.StateWriter;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.io.DataOutput;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Supplier;
import org.apache.arrow.vector.BigIntVector;
import org.junit.jupiter.api.Test;

class OperatorHarnessTest {
    private static final Schema SCHEMA =
            Schema.of(new Field("k", DataType.BIGINT, false), new Field("v", DataType.BIGINT, true));

    private static final StateFormat SUMS = new StateFormat("sums", 1);

    private static long hash(long key) {
        return key * 0x9E3779B97F4A7C15L;
    }

    private static OperatorHarness harness(Supplier<Operator> factory) {
        OperatorHarness harness = new OperatorHarness(factory, SCHEMA)
                .partitionedBy((port, batch, row) ->
                        KeyGroups.of(hash((Long) TestBatches.row(batch, row).get(0))));
        for (int i = 0; i < 60; i++) {
            harness.rows(Row.of(i % 7, i % 11 == 0 ? null : i));
            if (i % 13 == 12) {
                harness.epochEnd();
            }
        }
        return harness.output(SCHEMA);
    }

    private static String failure(Supplier<Operator> factory) {
        return assertThrows(AssertionError.class, () -> harness(factory).runAll())
                .getMessage();
    }

    /** Sums v by k in Java objects; emits changes at the end of each epoch, one row a batch. */
    private static class Sum implements Operator {
        final Map<Long, Long> sums = new TreeMap<>();
        final Map<Long, Long> emitted = new TreeMap<>();
        final List<Row> changes = new ArrayList<>();
        final List<Long> weights = new ArrayList<>();
        long lastEpoch = -1;
        OperatorContext context;

        @Override
        public void open(OperatorContext newContext) {
            context = newContext;
        }

        @Override
        public void process(int port, Batch batch, Output output) {
            try (batch) {
                for (int row = 0; row < batch.rowCount(); row++) {
                    Row values = TestBatches.row(batch, row);
                    long value = values.get(1) == null ? 0 : (Long) values.get(1);
                    sums.merge((Long) values.get(0), value * TestBatches.weight(batch, row), Long::sum);
                }
            }
        }

        @Override
        public boolean onEpochEnd(long epoch, Output output) {
            if (epoch != lastEpoch) {
                lastEpoch = epoch;
                sums.forEach((key, sum) -> {
                    Long before = emitted.put(key, sum);
                    if (!sum.equals(before)) {
                        if (before != null) {
                            changes.add(Row.of(key, before));
                            weights.add(-1L);
                        }
                        changes.add(Row.of(key, sum));
                        weights.add(1L);
                    }
                });
            }
            while (!changes.isEmpty() && !isFull(output)) {
                output.emit(TestBatches.weighted(
                        SCHEMA, context.allocator(), List.of(changes.remove(0)), new long[] {weights.remove(0)}));
            }
            return finished();
        }

        boolean isFull(Output output) {
            return output.isFull();
        }

        boolean finished() {
            return changes.isEmpty();
        }

        @Override
        public void snapshot(StateWriter writer) {
            Map<Integer, Map<Long, Long>> groups = new LinkedHashMap<>();
            sums.forEach((key, sum) -> groups.computeIfAbsent(KeyGroups.of(hash(key)), group -> new TreeMap<>())
                    .put(key, sum));
            groups.forEach((group, entries) -> {
                try {
                    DataOutput out = writer.keyGroup(SUMS, group);
                    out.writeInt(entries.size());
                    for (Map.Entry<Long, Long> entry : entries.entrySet()) {
                        out.writeLong(entry.getKey());
                        out.writeLong(entry.getValue());
                    }
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
        }

        @Override
        public void restore(StateReader reader) {
            reader.keyGroups(SUMS, (in, group) -> {
                try {
                    for (int left = in.readInt(); left > 0; left--) {
                        long key = in.readLong();
                        long sum = in.readLong();
                        sums.put(key, sum);
                        emitted.put(key, sum);
                    }
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
        }

        @Override
        public void close() {}
    }

    @Test
    void aCorrectOperatorPassesInEveryVariation() {
        assertTrue(harness(Sum::new).runAll().isPositive());
    }

    @Test
    void stateLeftOutOfTheSnapshotIsNoticed() {
        String message = failure(() -> new Sum() {
            @Override
            public void snapshot(StateWriter writer) {}
        });
        assertTrue(message.contains("differs") && message.contains("seed="), message);
    }

    @Test
    void changesForgottenWhenTheOutputIsFullAreNoticed() {
        String message = failure(() -> new Sum() {
            @Override
            boolean finished() {
                changes.clear();
                weights.clear();
                return true;
            }
        });
        assertTrue(message.contains("differs"), message);
    }

    @Test
    void waitingForNothingIsNoticed() {
        String message = failure(() -> new Sum() {
            @Override
            boolean finished() {
                return false;
            }
        });
        assertTrue(message.contains("without progress"), message);
    }

    /** Passes rows on. */
    private static class Echo implements Operator {
        @Override
        public void open(OperatorContext context) {}

        @Override
        public void process(int port, Batch batch, Output output) {
            output.emit(batch);
        }

        @Override
        public void close() {}
    }

    @Test
    void anInputThatIsNotClosedIsNoticed() {
        String message = failure(() -> new Echo() {
            @Override
            public void process(int port, Batch batch, Output output) {
                output.emit(batch.retain());
            }
        });
        assertTrue(message.contains("never given back"), message);
    }

    @Test
    void anInputClosedTwiceIsNoticed() {
        String message = failure(() -> new Echo() {
            @Override
            public void process(int port, Batch batch, Output output) {
                output.emit(batch);
                batch.close();
            }
        });
        assertTrue(message.contains("closed more often"), message);
    }

    @Test
    void writingToTheInputIsNoticed() {
        String message = failure(() -> new Echo() {
            @Override
            public void process(int port, Batch batch, Output output) {
                if (batch.rowCount() > 0) {
                    ((BigIntVector) batch.column(0)).set(0, 99);
                }
                output.emit(batch);
            }
        });
        assertTrue(message.contains("written to"), message);
    }

    @Test
    void bytesLeftInTheAllocatorAreNoticed() {
        String message = failure(() -> new Echo() {
            @Override
            public void open(OperatorContext context) {
                context.allocator().buffer(64);
            }
        });
        assertTrue(message.contains("left in the operator's allocator"), message);
    }
}
