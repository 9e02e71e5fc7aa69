package dev.millrace.engine.runtime;

import static dev.millrace.engine.runtime.TestPlans.longs;
import static dev.millrace.engine.runtime.TestPlans.scan;
import static dev.millrace.engine.runtime.TestPlans.sum;
import static dev.millrace.engine.runtime.TestPlans.view;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.batch.Batch;
import dev.millrace.engine.operators.OperatorFactory;
import dev.millrace.engine.relation.WritableRelation;
import dev.millrace.engine.statistic.QueryState;
import dev.millrace.engine.subscription.EpochChanges;
import dev.millrace.engine.subscription.Subscription;
import dev.millrace.engine.subscription.SubscriptionOptions;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.scheduler.SteppedWorkers;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.testing.rows.ZSet;
import dev.millrace.testing.time.TestClock;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** An epoch is published whole or not at all, wherever memory ends. */
@Timeout(300)
final class PublishingTest {
    private static final Schema KV =
            Schema.of(new Field("k", DataType.BIGINT, false), new Field("v", DataType.INTEGER, false));
    private static final List<String> VIEWS = List.of("copy", "totals", "passed");

    private static SteppedLocalEngine engine(long seed) {
        TestClock clock = new TestClock(1_000_000);
        EngineOptions options = EngineOptions.defaults().withWorkers(2).withMemoryLimitBytes(256L << 20);
        return new SteppedLocalEngine(options, clock, new SteppedWorkers(seed, clock), OperatorFactory::create);
    }

    private static void startAll(Engine engine) {
        engine.relations().addTable("t", KV);
        engine.start("copy", scan("t", KV), QueryOptions.view());
        engine.start("totals", sum(scan("t", KV), List.of(0), 1), QueryOptions.view());
        engine.start("passed", scan("totals", longs("k", "sum")), QueryOptions.view());
    }

    private static Batch rows(Engine engine, int from, int to) {
        List<Row> rows = new ArrayList<>();
        for (int i = from; i < to; i++) {
            rows.add(Row.of(i % 700, i));
        }
        return TestBatches.of(KV, engine.allocator(), rows);
    }

    /** Of what has one: a query that gave way to others when memory ended has none. */
    private static Map<String, ZSet> answers(Engine engine) {
        Map<String, ZSet> answers = new HashMap<>();
        answers.put("t", view(engine, "t"));
        for (String name : VIEWS) {
            try {
                answers.put(name, view(engine, name));
            } catch (MillraceException e) {
                assertEquals(SqlState.OUT_OF_MEMORY, e.sqlState());
                assertEquals(QueryState.FAILED, engine.query(name).state());
            }
        }
        return answers;
    }

    private static ZSet taken(Subscription subscription) {
        ZSet all = new ZSet();
        try {
            for (Optional<EpochChanges> next = subscription.next(0); next.isPresent(); next = subscription.next(0)) {
                try (EpochChanges changes = next.get()) {
                    changes.batches().forEach(all::add);
                }
            }
        } catch (MillraceException ended) {
            assertEquals(SqlState.OUT_OF_MEMORY, ended.sqlState());
        }
        return all;
    }

    /** Small rows, then 5,000, and the memory that is left for them grows until it is enough. */
    @Test
    void whereverMemoryEndsEachPublisherHasTheWholeEpochOrNothingOfIt() {
        int failedViews = 0;
        int refused = 0;
        boolean enough = false;
        for (long spare = 0; !enough; spare += 1_000 + spare / 16) {
            try (SteppedLocalEngine engine = engine(spare)) {
                startAll(engine);
                WritableRelation table = engine.relations().writable("t");
                TestPlans.CollectingSink sink = new TestPlans.CollectingSink();
                engine.start("sunk", scan("t", KV), QueryOptions.streaming().withSink(sink));
                Subscription subscription = engine.query("copy").subscribe(SubscriptionOptions.changes());
                engine.awaitEpoch(table.append(rows(engine, 0, 20)));
                Map<String, ZSet> before = answers(engine);
                int commits = sink.commits.size();
                assertEquals(before.get("copy"), taken(subscription));
                Batch more = rows(engine, 20, 5_020);

                engine.allocator().setLimit(engine.allocator().getAllocatedMemory() + spare);
                boolean accepted = false;
                try {
                    engine.awaitEpoch(table.append(more));
                    accepted = true;
                } catch (RuntimeException e) {
                    refused++;
                }
                engine.allocator().setLimit(256L << 20);

                Map<String, ZSet> after = answers(engine);
                Map<String, ZSet> whole = expected(accepted);
                assertEquals(whole.get("t"), after.get("t"), "table, with " + spare + " bytes");
                boolean all = accepted;
                for (String name : VIEWS) {
                    boolean failed = engine.query(name).state() == QueryState.FAILED;
                    all &= !failed;
                    failedViews += failed ? 1 : 0;
                    if (after.containsKey(name) && !(failed && before.get(name).equals(after.get(name)))) {
                        // one that gives way when it has published has the whole epoch
                        assertEquals(whole.get(name), after.get(name), name + ", with " + spare + " bytes");
                    }
                }
                boolean failed = engine.query("copy").state() == QueryState.FAILED;
                ZSet told = taken(subscription);
                told.addAll(before.get("copy"));
                assertEquals(failed && told.equals(before.get("copy")) ? told : whole.get("copy"), told);
                boolean sinkFailed = engine.query("sunk").state() == QueryState.FAILED;
                all &= !sinkFailed;
                if (sinkFailed) {
                    assertTrue(sink.commits.size() == commits || accepted && sink.commits.size() == commits + 1);
                } else {
                    assertEquals(accepted ? commits + 1 : commits, sink.commits.size());
                }
                assertTrue(sinkFailed || sink.rows.equals(whole.get("t")));
                subscription.close();
                enough = all;
            }
            assertTrue(spare < 64 << 20);
        }
        assertTrue(refused > 0, "memory never ended in the table");
        assertTrue(failedViews > 0, "memory never ended in a view");
    }

    private static final Map<Boolean, Map<String, ZSet>> EXPECTED = new HashMap<>();

    private static Map<String, ZSet> expected(boolean accepted) {
        return EXPECTED.computeIfAbsent(accepted, all -> {
            try (SteppedLocalEngine engine = engine(1)) {
                startAll(engine);
                WritableRelation table = engine.relations().writable("t");
                engine.awaitEpoch(table.append(rows(engine, 0, 20)));
                if (all) {
                    engine.awaitEpoch(table.append(rows(engine, 20, 5_020)));
                }
                return answers(engine);
            }
        });
    }

    /** Of a transaction over two tables, both or none. */
    @Test
    void rowsOfSeveralTablesAreAcceptedTogetherOrNotAtAll() {
        boolean enough = false;
        for (long spare = 0; !enough; spare += 500 + spare / 16) {
            try (SteppedLocalEngine engine = engine(spare)) {
                engine.relations().addTable("a", KV);
                engine.relations().addTable("b", KV);
                Map<String, List<Batch>> both =
                        Map.of("a", List.of(rows(engine, 0, 3_000)), "b", List.of(rows(engine, 0, 3_000)));
                engine.allocator().setLimit(engine.allocator().getAllocatedMemory() + spare);
                try {
                    engine.awaitEpoch(engine.append(both));
                    enough = true;
                } catch (RuntimeException e) {
                    enough = false;
                }
                engine.allocator().setLimit(256L << 20);
                assertEquals(enough ? 3_000 : 0, view(engine, "a").rows().size());
                assertEquals(enough ? 3_000 : 0, view(engine, "b").rows().size());
                engine.awaitEpoch(engine.relations().writable("a").append(rows(engine, 0, 10)));
                assertEquals(enough ? 3_010 : 10, view(engine, "a").rows().size());
            }
        }
    }
}
