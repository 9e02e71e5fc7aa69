package dev.millrace.engine.join;

import dev.millrace.engine.aggregate.AggregateTests;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.plan.node.PlanNode.MultiJoin;
import dev.millrace.testing.harness.OperatorHarness;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.testing.rows.ZSet;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MultiJoinOperatorTest {
    private static final Schema NUMBER_FIRST = Schema.of(
            new Field("id", DataType.BIGINT, true),
            new Field("name", DataType.TEXT, true),
            new Field("value", DataType.INTEGER, false));
    private static final Schema NAME_FIRST = Schema.of(
            new Field("value", DataType.INTEGER, false),
            new Field("name", DataType.TEXT, true),
            new Field("id", DataType.BIGINT, true));

    private static Schema schema(int port) {
        return port % 2 == 0 ? NUMBER_FIRST : NAME_FIRST;
    }

    private static MultiJoin node(int width, boolean byName) {
        List<PlanNode> inputs = new ArrayList<>();
        List<List<Integer>> keys = new ArrayList<>();
        for (int port = 0; port < width; port++) {
            inputs.add(AggregateTests.scan(schema(port)));
            int id = port % 2 == 0 ? 0 : 2;
            keys.add(byName ? List.of(1, id) : List.of(id));
        }
        return new MultiJoin(
                inputs,
                keys,
                inputs.stream().map(PlanNode::schema).reduce(Schema::concat).orElseThrow());
    }

    private static Row row(RandomGenerator random, int port) {
        Object id = random.nextInt(10) == 0 ? null : random.nextLong(4);
        Object name = random.nextInt(10) == 0 ? null : "a rather long name " + random.nextInt(2);
        int value = random.nextInt(3);
        return TestBatches.canonical(schema(port), port % 2 == 0 ? Row.of(id, name, value) : Row.of(value, name, id));
    }

    /** All combinations of the rows of inputs from {@code port} on with equal keys. */
    private static void expect(MultiJoin node, List<List<Row>> inputs, int port, List<Row> chosen, ZSet into) {
        if (port == inputs.size()) {
            into.add(
                    new Row(chosen.stream()
                            .flatMap(row -> row.values().stream())
                            .toList()),
                    1);
            return;
        }
        for (Row row : inputs.get(port)) {
            boolean isEqual = true;
            for (int key = 0; key < node.keys().get(0).size(); key++) {
                Object value = row.get(node.keys().get(port).get(key));
                Object first =
                        (port == 0 ? row : chosen.get(0)).get(node.keys().get(0).get(key));
                isEqual &= value != null && value.equals(first);
            }
            if (isEqual) {
                expect(
                        node,
                        inputs,
                        port + 1,
                        Stream.concat(chosen.stream(), Stream.of(row)).toList(),
                        into);
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"3, false, 3", "3, true, 4", "4, false, 2", "3, false, 0", "5, true, 3"})
    void eachRowMeetsTheProductOfTheOthers(int width, boolean byName, int takenBack) {
        MultiJoin node = node(width, byName);
        RandomGenerator random = new SplittableRandom(width * 10L + takenBack);
        Schema[] schemas = new Schema[width];
        List<List<Row>> inputs = new ArrayList<>();
        for (int port = 0; port < width; port++) {
            schemas[port] = schema(port);
            inputs.add(new ArrayList<>());
        }
        OperatorHarness harness = new OperatorHarness(() -> new MultiJoinOperator(node), schemas)
                .output(node.schema())
                .partitionedBy((port, batch, row) ->
                        AggregateTests.keyGroup(node.keys().get(port)).keyGroup(port, batch, row));
        if (width == 4) {
            harness.keepsFormat("multi_join");
        }
        for (int i = 0; i < 80; i++) {
            int port = random.nextInt(width);
            List<Row> input = inputs.get(port);
            if (!input.isEmpty() && takenBack > 0 && random.nextInt(takenBack) == 0) {
                harness.weighted(port, input.remove(random.nextInt(input.size())), -1);
            } else {
                Row row = row(random, port);
                input.add(row);
                harness.weighted(port, row, 1);
            }
            if (random.nextInt(12) == 0) {
                harness.epochEnd();
            }
        }
        ZSet expected = new ZSet();
        expect(node, inputs, 0, List.of(), expected);
        harness.expect(expected);
    }
}
