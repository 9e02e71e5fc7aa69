package dev.millrace.engine.watermark;

import dev.millrace.engine.aggregate.AggregateTests;
import dev.millrace.plan.node.PlanNode.Versions;
import dev.millrace.testing.harness.OperatorHarness;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.ZSet;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

class VersionsOperatorTest {
    private static final Schema TABLE = Schema.of(
            new Field("k", DataType.TEXT, true),
            new Field("ts", DataType.TIMESTAMP, true),
            new Field("v", DataType.TEXT, true));
    private static final Schema OUTPUT = TABLE.concat(Schema.of(new Field("version", DataType.BIGINT, false)));
    private static final Versions NODE = new Versions(AggregateTests.scan(TABLE), List.of(0), 1, OUTPUT);

    private static OperatorHarness harness() {
        return new OperatorHarness(() -> new VersionsOperator(NODE), TABLE)
                .output(OUTPUT)
                .appendOnlyOutput();
    }

    private static ZSet rows(Row... rows) {
        ZSet sum = new ZSet();
        for (Row row : rows) {
            sum.add(row, 1);
        }
        return sum;
    }

    @Test
    void anUpdateIsOneMoreVersionAndADeletedRowEndsAtTheLatestTime() {
        harness()
                .keepsFormat("row_versions")
                .weighted(0, Row.of("a", 10L, "first"), 1)
                .weighted(0, Row.of("b", 5L, "first"), 1)
                .epochEnd()
                .weighted(0, Row.of("a", 10L, "first"), -1)
                .weighted(0, Row.of("a", 30L, "second"), 1)
                .epochEnd()
                .weighted(0, Row.of("b", 5L, "first"), -1)
                .weighted(0, Row.of("c", 40L, "first"), 1)
                .endOfInput()
                .expect(rows(
                        Row.of("a", 10L, "first", 1L),
                        Row.of("b", 5L, "first", 2L),
                        Row.of("a", 30L, "second", 4L),
                        Row.of("b", 30L, "first", -5L),
                        Row.of("c", 40L, "first", 6L)));
    }

    @Test
    void aRowDeletedAndInsertedAgainInOneEpochHasASuccessor() {
        harness()
                .weighted(0, Row.of("a", 10L, "first"), 1)
                .epochEnd()
                .weighted(0, Row.of("a", 20L, "second"), 1)
                .weighted(0, Row.of("a", 10L, "first"), -1)
                .epochEnd()
                .weighted(0, Row.of("a", 20L, "second"), -1)
                .weighted(0, Row.of("a", 30L, "third"), 1)
                .weighted(0, Row.of("a", 30L, "third"), -1)
                .expect(rows(
                        Row.of("a", 10L, "first", 1L),
                        Row.of("a", 20L, "second", 2L),
                        Row.of("a", 30L, "third", 5L),
                        Row.of("a", 30L, "third", -6L)));
    }

    @Test
    void rowsWithoutATimeEndAtTheLatestOneIfThereIsOne() {
        harness()
                .weighted(0, Row.of("a", null, "timeless"), 1)
                .epochEnd()
                .weighted(0, Row.of("a", null, "timeless"), -1)
                .epochEnd()
                .weighted(0, Row.of(null, null, "of no key"), 1)
                .weighted(0, Row.of("b", 7L, "b"), 1)
                .epochEnd()
                .weighted(0, Row.of(null, null, "of no key"), -1)
                .expect(rows(
                        Row.of("a", null, "timeless", 1L),
                        Row.of(null, null, "of no key", 3L),
                        Row.of("b", 7L, "b", 4L),
                        Row.of(null, 7L, "of no key", -5L)));
    }

    /** Against a model that goes through the changes one by one. */
    @Test
    void randomChangesGiveTheVersionsOfAModel() {
        RandomGenerator random = new SplittableRandom(11);
        OperatorHarness harness = harness();
        TreeMap<String, Row> table = new TreeMap<>();
        ZSet expected = new ZSet();
        long latest = Long.MIN_VALUE;
        long number = 0;
        for (int epoch = 0; epoch < 25; epoch++) {
            Set<String> touched = new HashSet<>();
            for (int i = 0; i < 12; i++) {
                String key = "key number " + random.nextInt(20);
                if (!touched.add(key)) {
                    continue;
                }
                Optional<Row> old = Optional.ofNullable(table.remove(key));
                boolean stays = random.nextInt(4) > 0;
                if (old.isPresent()) {
                    harness.weighted(0, old.get(), -1);
                    latest = Math.max(latest, (Long) old.get().get(1));
                    number++;
                    if (!stays) {
                        expected.add(Row.of(key, latest, old.get().get(2), -number), 1);
                    }
                }
                if (stays) {
                    Row row = Row.of(key, 100L * epoch + random.nextInt(300), "text " + i);
                    table.put(key, row);
                    harness.weighted(0, row, 1);
                    latest = Math.max(latest, (Long) row.get(1));
                    List<Object> values = new ArrayList<>(row.values());
                    values.add(++number);
                    expected.add(new Row(values), 1);
                }
            }
            harness.epochEnd();
        }
        harness.endOfInput().expect(expected);
    }
}
