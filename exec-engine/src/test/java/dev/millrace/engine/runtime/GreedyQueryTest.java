package dev.millrace.engine.runtime;

import static dev.millrace.engine.runtime.TestPlans.longs;
import static dev.millrace.engine.runtime.TestPlans.project;
import static dev.millrace.engine.runtime.TestPlans.scan;
import static dev.millrace.engine.runtime.TestPlans.sum;
import static dev.millrace.engine.runtime.TestPlans.view;
import static dev.millrace.engine.runtime.TestPlans.zset;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.engine.relation.WritableRelation;
import dev.millrace.engine.statistic.QueryState;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.scheduler.SchedulingPolicies;
import dev.millrace.scheduler.WorkerThreads;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.testing.time.Eventually;
import dev.millrace.time.Clock;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Memory that ends, and who gives way then. */
@Timeout(120)
final class GreedyQueryTest {
    private static final Schema KV = longs("k", "v");
    private static final int ROUND = 2_000; // rows

    private LocalEngine engine;
    private long next;

    @BeforeEach
    void open() {
        open(2);
    }

    private void open(int workers) {
        EngineOptions options = EngineOptions.defaults()
                .withWorkers(workers)
                .withChannelBytes(100_000, 50_000)
                .withMemoryLimitBytes(24L << 20);
        engine = new LocalEngine(
                options,
                Clock.system(),
                new WorkerThreads(workers, SchedulingPolicies.named("fcfs"), Clock.system()),
                LocalEngine.newSinkThreads(),
                TestOperators::create);
    }

    @AfterEach
    void close() {
        engine.close(); // fails if a byte was left
    }

    /** Rows that no row before is equal to. */
    private long append(String relation, int rows) {
        List<Row> made = new ArrayList<>();
        for (int i = 0; i < rows; i++) {
            made.add(Row.of(next++, next));
        }
        WritableRelation stream = engine.relations().writable(relation);
        long epoch = stream.append(TestBatches.of(KV, engine.allocator(), made));
        engine.awaitEpoch(epoch);
        return epoch;
    }

    private StandingQuery keepAll(String name, String stream) {
        return engine.start(name, scan(stream, KV), QueryOptions.view());
    }

    private static boolean runs(StandingQuery query) {
        return query.state() == QueryState.RUNNING;
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void ofSeveralThatGrowTheGreediestGivesWayEachTimeAndTheInnocentStays(int workers) {
        engine.close();
        open(workers);
        for (String stream : List.of("a", "b", "c", "small")) {
            engine.relations().addStream(stream, KV);
        }
        StandingQuery small = engine.start("innocent", sum(scan("small", KV), List.of(), 0), QueryOptions.view());
        StandingQuery third = keepAll("third", "c");
        StandingQuery second = keepAll("second", "b");
        StandingQuery first = keepAll("first", "a");
        long sum = 0;
        for (StandingQuery greediest : List.of(first, second, third)) {
            while (runs(greediest)) {
                append("a", 3 * ROUND);
                append("b", 2 * ROUND);
                append("c", ROUND);
                sum += next;
                append("small", 1);
                assertEquals(zset(Row.of(sum)), view(engine, "innocent"));
            }
            MillraceException why = greediest.failure().orElseThrow();
            assertEquals(SqlState.OUT_OF_MEMORY, why.sqlState());
            assertTrue(
                    why.getMessage()
                            .startsWith("out of memory: memory_limit is 24 MB, and query \"" + greediest.name()
                                    + "\" gives way because it holds most; the largest users are query \""
                                    + greediest.name() + "\" "),
                    why::getMessage);
            assertEquals(3, why.getMessage().split("largest users are ")[1].split(", ").length, why::getMessage);
        }
        assertEquals(QueryState.RUNNING, small.state());
    }

    /** The last drop is asked for by one that hardly has anything. */
    @Test
    void whoAsksNextIsNotWhoGivesWay() {
        engine.relations().addStream("a", KV);
        engine.relations().addStream("b", KV);
        StandingQuery greedy = keepAll("greedy", "a");
        while (engine.allocatedBytes()
                < 12L << 20) { // far from where it gives way, as what grows has twice as much for a moment
            append("a", ROUND);
        }
        StandingQuery asker = keepAll("asker", "b");
        while (runs(greedy)) {
            assertEquals(QueryState.RUNNING, asker.state());
            append("b", ROUND / 10);
        }
        assertEquals(QueryState.RUNNING, asker.state());
        long bytes = asker.statistics().memoryBytes();
        assertTrue(bytes < 12L << 20, bytes + " bytes");
        int rows = view(engine, "asker").rows().size();
        append("b", ROUND);
        assertEquals(rows + ROUND, view(engine, "asker").rows().size());
    }

    @Test
    void anAnswerThatGaveWayIsNotReadAsIfItWereEmpty() {
        engine.relations().addStream("a", KV);
        StandingQuery greedy = keepAll("greedy", "a");
        while (runs(greedy)) {
            append("a", ROUND);
        }
        Eventually.holds("all it held is free", () -> greedy.statistics().memoryBytes() == 0);
        MillraceException why = assertThrows(MillraceException.class, () -> view(engine, "greedy"));
        assertEquals(SqlState.OUT_OF_MEMORY, why.sqlState());
        greedy.drop();
        keepAll("greedy", "a");
        append("a", 7);
        assertEquals(7, view(engine, "greedy").rows().size());
    }

    @Test
    void aTableIsNotTakenAwayWhatItWouldGrowByIsRefused() {
        WritableRelation table = engine.relations().addTable("t", KV);
        engine.relations().addStream("small", KV);
        StandingQuery small = engine.start("innocent", sum(scan("small", KV), List.of(), 0), QueryOptions.view());
        MillraceException why = assertThrows(MillraceException.class, () -> {
            while (true) {
                List<Row> rows = new ArrayList<>();
                for (int i = 0; i < ROUND; i++) {
                    rows.add(Row.of(next++, 0));
                }
                table.append(TestBatches.of(KV, engine.allocator(), rows));
                if (engine.allocatedBytes() > 20L << 20) {
                    engine.allocator().buffer(8L << 20).close();
                }
            }
        });
        assertEquals(SqlState.OUT_OF_MEMORY, why.sqlState());
        assertTrue(why.getMessage().contains("a statement asks for 8"), why::getMessage);
        assertTrue(why.getMessage().contains("the largest users are table \"t\" "), why::getMessage);
        assertEquals(QueryState.RUNNING, small.state());
    }

    @Test
    void aQueryFailsBeforeItHoldsMoreThanItMay() {
        engine.relations().addStream("a", KV);
        StandingQuery limited =
                engine.start("limited", scan("a", KV), QueryOptions.view().withMostBytes(1L << 20));
        StandingQuery same = engine.start("same", project(scan("a", KV), 0, 1), QueryOptions.view());
        while (runs(limited)) {
            append("a", ROUND);
            assertTrue(limited.statistics().memoryBytes() <= 1L << 20);
        }
        MillraceException why = limited.failure().orElseThrow();
        assertEquals(SqlState.OUT_OF_MEMORY, why.sqlState());
        assertTrue(
                why.getMessage()
                        .matches("query \"limited\" needs .* more than its limit: max_query_memory is 1024 kB,"
                                + " its largest parts are view .*"),
                why::getMessage);
        append("a", ROUND);
        assertEquals(next, view(engine, "same").rows().size());
    }
}
