package dev.millrace.engine.aggregate;

import dev.millrace.expressions.user.UserCode;
import dev.millrace.plan.expression.AggregateCall;
import dev.millrace.plan.expression.AggregateCall.Function;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.plan.node.PlanNode.Phase;
import dev.millrace.testing.harness.OperatorHarness;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.ZSet;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import dev.millrace.udf.AggregateFunction;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.jar.JarOutputStream;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class UserStatesTest {
    private static final DataType ROW = DataType.row(List.of(new Field("x", DataType.BIGINT, true)));
    private static final Schema INPUT = Schema.of(
            new Field("k", DataType.TEXT, true),
            new Field("arguments", ROW, false),
            new Field("counts", DataType.BOOLEAN, true));

    @TempDir
    private Path folder;

    /** A multiset as text, which fails when a row is taken back that was not added. */
    public static final class Values implements AggregateFunction<TreeMap<String, Integer>> {
        @Override
        public TreeMap<String, Integer> create() {
            return new TreeMap<>();
        }

        @Override
        public TreeMap<String, Integer> accumulate(TreeMap<String, Integer> state, Object[] arguments) {
            state.merge("" + arguments[0], 1, Integer::sum);
            return state;
        }

        @Override
        public TreeMap<String, Integer> retract(TreeMap<String, Integer> state, Object[] arguments) {
            if (!state.containsKey("" + arguments[0])) {
                throw new IllegalStateException(arguments[0] + " was never added to " + state);
            }
            state.computeIfPresent("" + arguments[0], (value, count) -> count == 1 ? null : count - 1);
            return state;
        }

        @Override
        public Object result(TreeMap<String, Integer> state) {
            return state.isEmpty() ? null : state.toString();
        }
    }

    private PlanNode.Aggregate node(List<Integer> keys, boolean appendOnly) throws IOException {
        Path jar = folder.resolve("empty.jar");
        new JarOutputStream(Files.newOutputStream(jar)).close();
        String key = UserCode.key("all_values", UserCode.load(jar), Values.class.getName());
        AggregateCall call = new AggregateCall(
                Function.USER,
                List.of(1),
                false,
                OptionalInt.of(2),
                List.of(),
                List.of(),
                DataType.TEXT,
                Optional.of(key));
        List<Field> fields = new ArrayList<>();
        keys.forEach(column -> fields.add(INPUT.field(column)));
        fields.add(new Field("values", DataType.TEXT, true));
        fields.add(new Field("n", DataType.BIGINT, false));
        AggregateCall count = AggregateTests.call(Function.COUNT, DataType.BIGINT);
        return new PlanNode.Aggregate(
                AggregateTests.scan(INPUT), keys, List.of(call, count), Phase.SINGLE, appendOnly, new Schema(fields));
    }

    private static Row random(RandomGenerator random) {
        Object value = random.nextInt(6) == 0 ? null : (Object) random.nextLong(4);
        Object counts = random.nextInt(6) == 0 ? null : (Object) random.nextBoolean();
        return Row.of("key number " + random.nextInt(5), java.util.Collections.singletonList(value), counts);
    }

    private static void expect(OperatorHarness harness, List<Row> rows, boolean byKey) {
        TreeMap<String, TreeMap<String, Integer>> values = new TreeMap<>();
        TreeMap<String, Long> counts = new TreeMap<>();
        for (Row row : rows) {
            String key = byKey ? (String) row.get(0) : "";
            counts.merge(key, 1L, Long::sum);
            TreeMap<String, Integer> group = values.computeIfAbsent(key, any -> new TreeMap<>());
            if (Boolean.TRUE.equals(row.get(2))) {
                group.merge("" + ((List<?>) row.get(1)).get(0), 1, Integer::sum);
            }
        }
        ZSet expected = new ZSet();
        counts.forEach((key, count) -> {
            Object all = values.get(key).isEmpty() ? null : values.get(key).toString();
            expected.add(byKey ? Row.of(key, all, count) : Row.of(all, count), 1);
        });
        harness.expect(expected);
    }

    @Test
    void statesFollowRowsThatComeAndGo() throws IOException {
        for (boolean byKey : new boolean[] {true, false}) {
            PlanNode.Aggregate node = node(byKey ? List.of(0) : List.of(), false);
            OperatorHarness harness =
                    new OperatorHarness(() -> new AggregateOperator(node), INPUT).output(node.schema());
            if (byKey) {
                harness.partitionedBy(AggregateTests.keyGroup(List.of(0)));
            }
            RandomGenerator random = new SplittableRandom(9);
            List<Row> rows = new ArrayList<>();
            for (int i = 0; i < 300; i++) {
                if (!rows.isEmpty() && random.nextInt(5) < 2) {
                    harness.weighted(0, rows.remove(random.nextInt(rows.size())), -1);
                } else {
                    Row row = random(random);
                    if (random.nextInt(10) == 0) { // it goes before it comes, in one epoch
                        harness.weighted(0, row, -1).weighted(0, row, 1);
                    }
                    rows.add(row);
                    harness.weighted(0, row, 1);
                }
                if (random.nextInt(9) == 0) {
                    harness.epochEnd();
                }
            }
            expect(harness.epochEnd(), rows, byKey);
        }
    }

    @Test
    void rowsThatStayAreOnlyAdded() throws IOException {
        PlanNode.Aggregate node = node(List.of(0), true);
        OperatorHarness harness = new OperatorHarness(() -> new AggregateOperator(node), INPUT)
                .output(node.schema())
                .appendOnlyInput()
                .partitionedBy(AggregateTests.keyGroup(List.of(0)));
        RandomGenerator random = new SplittableRandom(10);
        List<Row> rows = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            Row row = random(random);
            rows.add(row);
            harness.rows(row);
            if (random.nextInt(20) == 0) {
                harness.epochEnd();
            }
        }
        expect(harness.epochEnd(), rows, true);
    }
}
