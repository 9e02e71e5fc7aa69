package dev.millrace.engine.runtime;

import static dev.millrace.engine.runtime.TestPlans.batch;
import static dev.millrace.engine.runtime.TestPlans.byHash;
import static dev.millrace.engine.runtime.TestPlans.join;
import static dev.millrace.engine.runtime.TestPlans.longs;
import static dev.millrace.engine.runtime.TestPlans.project;
import static dev.millrace.engine.runtime.TestPlans.scan;
import static dev.millrace.engine.runtime.TestPlans.single;
import static dev.millrace.engine.runtime.TestPlans.sum;
import static dev.millrace.engine.runtime.TestPlans.union;
import static dev.millrace.engine.runtime.TestPlans.view;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.batch.Batch;
import dev.millrace.connector.Sink;
import dev.millrace.engine.relation.WritableRelation;
import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.scheduler.SteppedWorkers;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.ZSet;
import dev.millrace.testing.time.TestClock;
import dev.millrace.type.DataType;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Queries over constants: whatever is read of one, right after it began and later, has all of them in it. */
@Timeout(60)
class FirstEpochTest {
    private static final Schema KV = longs("k", "v");
    private static final int CONSTANTS = 5; // more than a batch

    /** Rows (1, 10) to (5, 50). */
    private static PlanNode constants() {
        return new PlanNode.Values(
                LongStream.rangeClosed(1, CONSTANTS)
                        .mapToObj(k -> List.<Expression>of(literal(k), literal(10 * k)))
                        .toList(),
                KV);
    }

    private static Expression literal(long value) {
        return new Expression.Literal(value, DataType.BIGINT);
    }

    private static Map<String, PlanNode> plans() {
        Map<String, PlanNode> plans = new LinkedHashMap<>();
        plans.put("constants", project(constants(), 0, 1));
        plans.put("with_table", union(scan("t", KV), constants()));
        plans.put("sums", sum(byHash(union(scan("t", KV), constants()), 0), List.of(0), 1));
        plans.put("total", sum(single(union(constants(), scan("t", KV), constants())), List.of(), 1));
        plans.put("joined", join(byHash(scan("t", KV), 0), byHash(constants(), 0), 0, 0));
        plans.put("with_stream", sum(single(union(scan("s", KV), constants())), List.of(), 1));
        plans.put("of_view", sum(single(union(scan("constants", KV), scan("t", KV))), List.of(), 1));
        plans.put("of_view_and_constants", join(byHash(scan("sums", KV), 0), byHash(constants(), 0), 0, 0));
        plans.put("empty", sum(single(scan("nothing", KV)), List.of(), 1));
        return plans;
    }

    private static SteppedLocalEngine stepped(long seed, TestClock clock, int workers) {
        EngineOptions options = EngineOptions.defaults().withWorkers(workers).withBatchRows(2);
        return new SteppedLocalEngine(options, clock, new SteppedWorkers(seed, clock), TestOperators::create);
    }

    @Test
    void whatIsReadAtOnceIsWhatABatchQueryAnswers() {
        for (long seed = 1; seed <= 200; seed++) {
            SplittableRandom random = new SplittableRandom(seed);
            TestClock clock = new TestClock(1_000_000);
            try (SteppedLocalEngine engine = stepped(seed, clock, random.nextInt(1, 5))) {
                engine.relations().addStream("s", KV);
                engine.relations().addTable("nothing", KV);
                WritableRelation table = engine.relations().addTable("t", KV);
                table.append(batch(engine, KV, Row.of(2, 7), Row.of(9, 9)));
                for (Map.Entry<String, PlanNode> plan : plans().entrySet()) {
                    if (random.nextInt(3) > 0) {
                        engine.flush(progress -> {});
                    }
                    String name = plan.getKey();
                    engine.start(name, plan.getValue(), QueryOptions.view());
                    ZSet first = view(engine, name);
                    engine.flush(progress -> {});
                    assertEquals(view(engine, name), first, name + ", seed " + seed);
                    int size = first.rows().size();
                    assertEquals(sizes().get(name), size, name + ", seed " + seed);
                }
            }
        }
    }

    private static Map<String, Integer> sizes() {
        return Map.of(
                "constants",
                5,
                "with_table",
                7,
                "sums",
                6,
                "total",
                1,
                "joined",
                1,
                "with_stream",
                1,
                "of_view",
                1,
                "of_view_and_constants",
                5,
                "empty",
                1);
    }

    /** Keeps the number of rows there were at each commit. */
    private static final class CommitSizes implements Sink {
        final List<Integer> sizes = new ArrayList<>();
        private int rows;

        @Override
        public void write(Batch batch) {
            rows += batch.rowCount();
        }

        @Override
        public void commit(long epoch) {
            sizes.add(rows);
        }

        @Override
        public void close() {}
    }

    @Test
    void everyEpochHasAllConstantsWhateverComesMeanwhile() {
        for (long seed = 1; seed <= 200; seed++) {
            SplittableRandom random = new SplittableRandom(seed);
            TestClock clock = new TestClock(1_000_000);
            CommitSizes sink = new CommitSizes();
            try (SteppedLocalEngine engine = stepped(seed, clock, random.nextInt(1, 5))) {
                WritableRelation stream = engine.relations().addStream("s", KV);
                engine.start("all", union(scan("s", KV), constants()), QueryOptions.view());
                engine.start(
                        "out",
                        union(scan("s", KV), scan("all", KV), constants()),
                        QueryOptions.streaming().withSink(sink));
                for (int i = 0; i < 6; i++) {
                    clock.advance(random.nextInt(200_000));
                    stream.append(List.of(batch(engine, KV, Row.of(100 + i, 0))));
                    some(engine, random);
                    assertTrue(contains(view(engine, "all"), CONSTANTS), "seed " + seed + ": " + view(engine, "all"));
                }
                engine.flush(progress -> {});
                for (int i = 0; i < sink.sizes.size(); i++) {
                    int size = sink.sizes.get(i);
                    assertTrue(size >= 2 * CONSTANTS && size % 2 == 0, "seed " + seed + ": " + sink.sizes);
                }
                assertEquals(2 * CONSTANTS + 12, sink.sizes.get(sink.sizes.size() - 1), "seed " + seed);
            }
        }
    }

    private static boolean contains(ZSet rows, int constants) {
        return rows.rows().stream()
                        .filter(row -> (Long) row.get(0) <= constants)
                        .count()
                == constants;
    }

    private static void some(SteppedLocalEngine engine, SplittableRandom random) {
        for (int step = random.nextInt(12); step > 0; step--) {
            engine.step();
        }
    }

    /** One that ended may have an epoch to come yet: whoever reads it then gets that, too. */
    @Test
    void whatHasEndedIsReadWhole() {
        ZSet all = ZSet.of(LongStream.rangeClosed(1, CONSTANTS)
                .mapToObj(k -> Row.of(k, 10 * k))
                .toList());
        for (long seed = 1; seed <= 300; seed++) {
            SplittableRandom random = new SplittableRandom(seed);
            try (SteppedLocalEngine engine = stepped(seed, new TestClock(1_000_000), random.nextInt(1, 5))) {
                engine.relations().addTable("nothing", KV);
                engine.start("a", constants(), QueryOptions.view());
                some(engine, random);
                engine.start("b", sum(byHash(scan("a", KV), 0), List.of(0), 1), QueryOptions.view());
                some(engine, random);
                engine.start("c", project(scan("a", KV), 0, 1), QueryOptions.view());
                some(engine, random);
                engine.start("d", union(scan("nothing", KV), scan("a", KV)), QueryOptions.view());
                for (String name : List.of("d", "c", "b", "a")) {
                    assertEquals(all, view(engine, name), name + ", seed " + seed);
                }
                engine.flush(progress -> {});
                for (String name : List.of("a", "b", "c", "d")) {
                    assertEquals(all, view(engine, name), name + " in the end, seed " + seed);
                }
            }
        }
    }
}
