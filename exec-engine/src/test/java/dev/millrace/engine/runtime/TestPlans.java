package dev.millrace.engine.runtime;

import dev.millrace.batch.Batch;
import dev.millrace.connector.Sink;
import dev.millrace.plan.expression.AggregateCall;
import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.plan.node.PlanNode.Distribution;
import dev.millrace.plan.node.WindowSpec;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.testing.rows.ZSet;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.IntStream;

/** Short ways to plans over BIGINT columns, and to their answers. */
final class TestPlans {
    private TestPlans() {}

    static Schema longs(String... names) {
        return new Schema(java.util.Arrays.stream(names)
                .map(name -> new Field(name, name.equals("ts") ? DataType.TIMESTAMP : DataType.BIGINT, false))
                .toList());
    }

    static PlanNode scan(String relation, Schema schema) {
        return new PlanNode.Scan(
                relation, IntStream.range(0, schema.size()).boxed().toList(), List.of(), schema);
    }

    static PlanNode project(PlanNode input, Integer... columns) {
        Schema schema = input.schema().select(List.of(columns));
        List<Expression> projections = new ArrayList<>();
        for (int column : columns) {
            projections.add(new Expression.Column(column, input.schema().type(column), false));
        }
        return new PlanNode.Calc(input, Optional.empty(), projections, schema);
    }

    /** Keys, then the sum of {@code value}. */
    static PlanNode sum(PlanNode input, List<Integer> keys, int value) {
        List<Field> fields = new ArrayList<>(input.schema().select(keys).fields());
        fields.add(new Field("sum", DataType.BIGINT, false));
        AggregateCall call = new AggregateCall(
                AggregateCall.Function.SUM,
                List.of(value),
                false,
                OptionalInt.empty(),
                List.of(),
                List.of(),
                DataType.BIGINT);
        return new PlanNode.Aggregate(input, keys, List.of(call), PlanNode.Phase.SINGLE, false, new Schema(fields));
    }

    static PlanNode byHash(PlanNode input, Integer... columns) {
        return new PlanNode.Exchange(input, new Distribution.Hash(List.of(columns)));
    }

    static PlanNode single(PlanNode input) {
        return new PlanNode.Exchange(input, new Distribution.Single());
    }

    static PlanNode union(PlanNode... inputs) {
        return new PlanNode.Union(List.of(inputs), inputs[0].schema());
    }

    static PlanNode join(PlanNode left, PlanNode right, int leftKey, int rightKey) {
        return new PlanNode.Join(
                left,
                right,
                PlanNode.JoinKind.INNER,
                List.of(leftKey),
                List.of(rightKey),
                Optional.empty(),
                Optional.empty(),
                left.schema().concat(right.schema()));
    }

    static PlanNode watermark(PlanNode input, int column, long delay, long idleMicros, long windowMicros) {
        return new PlanNode.Watermark(
                input, column, delay, idleMicros, Optional.of(new WindowSpec.Tumble(windowMicros)));
    }

    /** Rows per window: count, window_start, window_end. */
    static PlanNode countPerWindow(PlanNode input, int timeColumn, long windowMicros) {
        AggregateCall count = new AggregateCall(
                AggregateCall.Function.COUNT,
                List.of(),
                false,
                OptionalInt.empty(),
                List.of(),
                List.of(),
                DataType.BIGINT);
        return new PlanNode.WindowAggregate(
                input,
                timeColumn,
                new WindowSpec.Tumble(windowMicros),
                List.of(),
                List.of(count),
                PlanNode.Phase.SINGLE,
                Schema.of(
                        new Field("count", DataType.BIGINT, false),
                        new Field("window_start", DataType.TIMESTAMP, false),
                        new Field("window_end", DataType.TIMESTAMP, false)));
    }

    static ZSet answer(Engine engine, PlanNode plan) {
        ZSet rows = new ZSet();
        try (Result result = engine.run(plan)) {
            for (Optional<Batch> batch = result.next(); batch.isPresent(); batch = result.next()) {
                try (Batch one = batch.get()) {
                    rows.add(one);
                }
            }
        }
        return rows;
    }

    static ZSet view(Engine engine, String name) {
        return answer(engine, scan(name, engine.relations().schema(name)));
    }

    static ZSet zset(Row... rows) {
        return ZSet.of(List.of(rows));
    }

    static Batch batch(Engine engine, Schema schema, Row... rows) {
        return TestBatches.of(schema, engine.allocator(), rows);
    }

    /** Keeps what it is given, and checks the order of calls. */
    static final class CollectingSink implements Sink {
        final ZSet rows = new ZSet();
        final List<Long> commits = new ArrayList<>();
        volatile boolean closed;

        @Override
        public synchronized void write(Batch batch) {
            if (closed) {
                throw new AssertionError("write after close");
            }
            rows.add(batch);
        }

        @Override
        public synchronized void commit(long epoch) {
            if (!commits.isEmpty() && commits.get(commits.size() - 1) >= epoch) {
                throw new AssertionError("commit of " + epoch + " after " + commits);
            }
            commits.add(epoch);
        }

        @Override
        public void close() {
            closed = true;
        }
    }
}
