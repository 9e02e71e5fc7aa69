package dev.millrace.engine.runtime;

import dev.millrace.batch.Batch;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.operator.Operator;
import dev.millrace.operator.OperatorContext;
import dev.millrace.operator.Output;
import dev.millrace.operator.StateFormat;
import dev.millrace.operator.StateReader;
import dev.millrace.operator.StateWriter;
import dev.millrace.plan.expression.Expression.Column;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.plan.node.WindowSpec;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.type.Schema;
import java.io.DataOutput;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Semaphore;
import org.apache.arrow.vector.FieldVector;

/**
 * Operators simple enough to be right by reading, so that a test of the runtime fails for the runtime's sake:
 * projections of columns, sums of BIGINT columns by BIGINT keys, counts per tumbling window, inner joins. All
 * columns are BIGINT or times.
 */
final class TestOperators {
    /** A row with this value in column 0 makes {@link Projection} fail. */
    static final long POISON = -666;

    /** A row with this value in column 0 keeps {@link Projection} at it until what it works for is stopped. */
    static final long ENDLESS = -777;

    /** A row with this value in column 0 keeps {@link Projection} at it, whatever is stopped, until {@link #hear}. */
    static final long DEAF = -888;

    private static final Semaphore DEAF_ROWS = new Semaphore(0);

    private TestOperators() {}

    /** Lets a deaf row go on. */
    static void hear() {
        DEAF_ROWS.release();
    }

    /** Forgets what was let go on before it came: a query that was dropped may never have met its deaf row. */
    static void deafen() {
        DEAF_ROWS.drainPermits();
    }

    /** Whether a deaf row is being processed. */
    static boolean isDeaf() {
        return DEAF_ROWS.hasQueuedThreads();
    }

    /** How many of them are. */
    static int deafRows() {
        return DEAF_ROWS.getQueueLength();
    }

    static Operator create(PlanNode node) {
        if (node instanceof PlanNode.Calc calc) {
            return new Projection(calc);
        }
        if (node instanceof PlanNode.Aggregate aggregate) {
            return new Sums(aggregate);
        }
        if (node instanceof PlanNode.WindowAggregate windows) {
            return new WindowCounts(windows);
        }
        if (node instanceof PlanNode.Join join) {
            return new InnerJoin(join);
        }
        throw new IllegalArgumentException("no " + node);
    }

    private static final class Projection implements Operator {
        private final PlanNode.Calc node;

        Projection(PlanNode.Calc node) {
            this.node = node;
        }

        @Override
        public void open(OperatorContext context) {}

        @Override
        public void process(int port, Batch batch, Output output) {
            for (Row row : TestBatches.rows(batch)) {
                if (row.get(0).equals(POISON)) {
                    batch.close();
                    throw new IllegalStateException("poison");
                }
                if (row.get(0).equals(DEAF)) {
                    DEAF_ROWS.acquireUninterruptibly();
                }
                if (row.get(0).equals(ENDLESS)) {
                    Interrupt interrupt = Interrupt.current();
                    try (batch) {
                        while (true) {
                            interrupt.check();
                        }
                    }
                }
            }
            FieldVector[] columns = new FieldVector[node.projections().size()];
            for (int i = 0; i < columns.length; i++) {
                columns[i] = batch.column(((Column) node.projections().get(i)).index());
            }
            output.emit(Batch.view(node.schema(), columns, batch.rowCount(), batch.weights(), List.of(batch)));
        }

        @Override
        public void close() {}
    }

    /** Keys, then the sum of each call's argument. */
    private static final class Sums implements Operator {
        private static final StateFormat SUMS = new StateFormat("sums", 1);

        private final PlanNode.Aggregate node;
        private final Map<String, Row> keys = new TreeMap<>();
        private final Map<String, long[]> groups = new TreeMap<>(); // rows, then sums
        private final Map<String, Row> emitted = new TreeMap<>();
        private final Map<String, Boolean> touched = new TreeMap<>();
        private OperatorContext context;

        Sums(PlanNode.Aggregate node) {
            this.node = node;
        }

        @Override
        public void open(OperatorContext newContext) {
            context = newContext;
            if (node.keys().isEmpty()) {
                touch(new Row(List.of()));
            }
        }

        private long[] touch(Row key) {
            touched.put(key.toString(), true);
            keys.put(key.toString(), key);
            return groups.computeIfAbsent(
                    key.toString(), k -> new long[1 + node.calls().size()]);
        }

        @Override
        public void process(int port, Batch batch, Output output) {
            try (batch) {
                for (int i = 0; i < batch.rowCount(); i++) {
                    Row row = TestBatches.row(batch, i);
                    long weight = TestBatches.weight(batch, i);
                    long[] sums =
                            touch(new Row(node.keys().stream().map(row::get).toList()));
                    sums[0] += weight;
                    for (int call = 0; call < node.calls().size(); call++) {
                        sums[1 + call] += weight
                                * (Long) row.get(
                                        node.calls().get(call).arguments().get(0));
                    }
                }
            }
        }

        @Override
        public boolean onEpochEnd(long epoch, Output output) {
            List<Row> rows = new ArrayList<>();
            List<Long> weights = new ArrayList<>();
            for (String key : touched.keySet()) {
                Row before = emitted.remove(key);
                if (before != null) {
                    rows.add(before);
                    weights.add(-1L);
                }
                long[] sums = groups.get(key);
                if (sums[0] > 0 || node.keys().isEmpty()) {
                    List<Object> values = new ArrayList<>(keys.get(key).values());
                    for (int i = 1; i < sums.length; i++) {
                        values.add(sums[i]);
                    }
                    Row after = new Row(values);
                    emitted.put(key, after);
                    rows.add(after);
                    weights.add(1L);
                }
            }
            touched.clear();
            emit(node.schema(), rows, weights, context, output);
            return true;
        }

        @Override
        public void snapshot(StateWriter writer) {
            DataOutput output = writer.keyGroup(SUMS, -1);
            try {
                output.writeInt(groups.size());
                for (Map.Entry<String, long[]> group : groups.entrySet()) {
                    for (Object value : keys.get(group.getKey()).values()) {
                        output.writeLong((Long) value);
                    }
                    for (long sum : group.getValue()) {
                        output.writeLong(sum);
                    }
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        @Override
        public void restore(StateReader reader) {
            reader.keyGroups(SUMS, (input, group) -> {
                try {
                    for (int left = input.readInt(); left > 0; left--) {
                        List<Object> key = new ArrayList<>();
                        for (int i = 0; i < node.keys().size(); i++) {
                            key.add(input.readLong());
                        }
                        long[] sums = touch(new Row(key));
                        List<Object> values = new ArrayList<>(key);
                        for (int i = 0; i < sums.length; i++) {
                            sums[i] = input.readLong();
                            if (i > 0) {
                                values.add(sums[i]);
                            }
                        }
                        emitted.put(new Row(key).toString(), new Row(values));
                    }
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
            touched.clear();
        }

        @Override
        public void close() {}
    }

    /** Rows per tumbling window: count, window_start, window_end. */
    private static final class WindowCounts implements Operator {
        private final PlanNode.WindowAggregate node;
        private final long size;
        private final TreeMap<Long, Long> counts = new TreeMap<>();
        private OperatorContext context;

        WindowCounts(PlanNode.WindowAggregate node) {
            this.node = node;
            this.size = ((WindowSpec.Tumble) node.window()).sizeMicros();
        }

        @Override
        public void open(OperatorContext newContext) {
            context = newContext;
        }

        @Override
        public void process(int port, Batch batch, Output output) {
            try (batch) {
                for (Row row : TestBatches.rows(batch)) {
                    long time = (Long) row.get(node.timeColumn());
                    counts.merge(Math.floorDiv(time, size) * size, 1L, Long::sum);
                }
            }
        }

        @Override
        public boolean onWatermark(long watermark, Output output) {
            List<Row> rows = new ArrayList<>();
            List<Long> weights = new ArrayList<>();
            while (!counts.isEmpty() && counts.firstKey() + size <= watermark) {
                Map.Entry<Long, Long> window = counts.pollFirstEntry();
                rows.add(Row.of(window.getValue(), window.getKey(), window.getKey() + size));
                weights.add(1L);
            }
            emit(node.schema(), rows, weights, context, output);
            return true;
        }

        @Override
        public void close() {}
    }

    private static final class InnerJoin implements Operator {
        private final PlanNode.Join node;
        private final List<Map<Row, Long>> sides =
                List.of(new TreeMap<>(TestOperators::compare), new TreeMap<>(TestOperators::compare));
        private OperatorContext context;

        InnerJoin(PlanNode.Join node) {
            this.node = node;
        }

        @Override
        public void open(OperatorContext newContext) {
            context = newContext;
        }

        @Override
        public void process(int port, Batch batch, Output output) {
            List<Row> rows = new ArrayList<>();
            List<Long> weights = new ArrayList<>();
            try (batch) {
                for (int i = 0; i < batch.rowCount(); i++) {
                    Row row = TestBatches.row(batch, i);
                    long weight = TestBatches.weight(batch, i);
                    sides.get(port).merge(row, weight, (a, b) -> a + b == 0 ? null : Long.valueOf(a + b));
                    sides.get(1 - port).forEach((other, otherWeight) -> {
                        Row left = port == 0 ? row : other;
                        Row right = port == 0 ? other : row;
                        if (matches(left, right)) {
                            List<Object> both = new ArrayList<>(left.values());
                            both.addAll(right.values());
                            rows.add(new Row(both));
                            weights.add(weight * otherWeight);
                        }
                    });
                }
            }
            emit(node.schema(), rows, weights, context, output);
        }

        private boolean matches(Row left, Row right) {
            for (int i = 0; i < node.leftKeys().size(); i++) {
                if (!left.get(node.leftKeys().get(i))
                        .equals(right.get(node.rightKeys().get(i)))) {
                    return false;
                }
            }
            return true;
        }

        @Override
        public void close() {}
    }

    private static int compare(Row a, Row b) {
        return a.toString().compareTo(b.toString());
    }

    private static void emit(
            Schema schema, List<Row> rows, List<Long> weights, OperatorContext context, Output output) {
        int most = context.batchRows();
        for (int from = 0; from < rows.size(); from += most) {
            int to = Math.min(rows.size(), from + most);
            long[] some = weights.subList(from, to).stream()
                    .mapToLong(Long::longValue)
                    .toArray();
            output.emit(TestBatches.weighted(schema, context.allocator(), rows.subList(from, to), some));
        }
    }
}
