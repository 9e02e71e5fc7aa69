package dev.millrace.planner;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.plan.node.Subplans;
import dev.millrace.planner.PlannerContext.Mode;
import dev.millrace.sql.Frontend;
import dev.millrace.sql.bind.type.Parameters;
import dev.millrace.sql.statement.Query;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import java.util.function.IntFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Queries as long as programs write them cost in proportion to their length, and stop when told to. */
@Tag("long")
class LongQueriesTest {
    private static final long STACK_BYTES = 32 << 20; // what a server's threads have
    private static final int TIMES = 8;

    /** Kinds of long queries, and how long the shorter one is. */
    private enum Long {
        UNIONS(250, n -> listed(n, " UNION ALL ", i -> "SELECT device, n FROM by_device WHERE n = " + i)),
        DISTINCT_UNIONS(250, n -> listed(n, " UNION ", i -> "SELECT device FROM by_device WHERE n = " + i)),
        MIXED_UNIONS(
                250,
                n -> "SELECT n FROM by_device "
                        + listed(
                                n,
                                " ",
                                i -> (i % 2 == 0 ? "UNION" : "UNION ALL") + " SELECT n + " + i + " FROM by_device")),
        CONSTANTS(5000, n -> "SELECT n FROM by_device WHERE n IN (" + listed(n, ", ", i -> "" + i) + ")"),
        TEXTS(5000, n -> "SELECT n FROM by_device WHERE device NOT IN (" + listed(n, ", ", i -> "'" + i + "'") + ")"),
        ROWS(1000, n -> "SELECT * FROM (VALUES " + listed(n, ", ", i -> "(" + i + ", 'x')") + ") AS v(a, b)"),
        COMPUTED_ROWS(
                400,
                n -> "VALUES "
                        + listed(n, ", ", i -> "(" + i + " + n('" + i + "'))").replace("n(", "length(")),
        ORS(
                500,
                n -> "SELECT n FROM by_device WHERE "
                        + listed(n, " OR ", i -> "(n = " + i + " AND highest > " + i + ")")),
        LIKES(250, n -> "SELECT n FROM by_device WHERE " + listed(n, " OR ", i -> "device LIKE 'p" + i + "%'")),
        ANDS(500, n -> "SELECT n FROM by_device WHERE " + listed(n, " AND ", i -> "n <> " + i)),
        COLUMNS(200, n -> "SELECT " + listed(n, ", ", i -> "n + " + i + " AS c" + i) + " FROM by_device"),
        CASES(500, n -> "SELECT CASE " + listed(n, " ", i -> "WHEN n = " + i + " THEN " + i) + " END FROM by_device"),
        WITHS(
                25,
                n -> "WITH " + listed(n, ", ", i -> "c" + i + " AS (SELECT n FROM by_device WHERE n > " + i + ")")
                        + listed(n, " UNION ALL ", i -> " SELECT n FROM c" + i)),
        ADDITIONS(250, n -> "SELECT " + listed(n, " + ", i -> "n") + " FROM by_device");

        private final int length;
        private final IntFunction<String> query;

        Long(int length, IntFunction<String> query) {
            this.length = length;
            this.query = query;
        }

        String times(int factor) {
            return query.apply(factor * length);
        }
    }

    private static String listed(int count, String separator, IntFunction<String> element) {
        return IntStream.range(0, count).mapToObj(element).collect(Collectors.joining(separator));
    }

    private static PhysicalPlan plan(String sql) {
        Relations relations = new Relations();
        return Planner.plan(relations.query(sql), relations.context(Mode.PULL, 2));
    }

    private static <T> T onDeepStack(Callable<T> work) {
        FutureTask<T> task = new FutureTask<>(work);
        new Thread(null, task, "deep", STACK_BYTES).start();
        try {
            return task.get();
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    /** The least CPU time of several runs, nanoseconds: what else goes on only ever adds. */
    private static long cost(String sql) {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        return onDeepStack(() -> {
            long least = java.lang.Long.MAX_VALUE;
            for (int run = 0; run < 3; run++) {
                long before = threads.getCurrentThreadCpuTime();
                plan(sql);
                least = Math.min(least, threads.getCurrentThreadCpuTime() - before);
            }
            return least;
        });
    }

    /** One whose cost grew with the square would take 64 times as long. */
    @ParameterizedTest
    @EnumSource
    void oneThatIsEightTimesAsLongCostsNotThirtyTimesAsMuch(Long kind) {
        long shorter = cost(kind.times(1));
        long longer = cost(kind.times(TIMES));
        assertTrue(
                longer < 30 * shorter,
                kind + ": " + shorter + " ns, and " + longer + " ns of " + TIMES + " times that");
    }

    /** More ways lead down than a machine can walk. */
    @Test
    void whatEachWithQueryReadsTwiceIsPlannedOnce() {
        String sixty = "WITH c0 AS (SELECT device, n FROM by_device), "
                + listed(
                        60,
                        ", ",
                        i -> "c" + (i + 1) + " AS (SELECT l.device, max(r.n) AS n FROM c" + i + " l JOIN c" + i
                                + " r ON l.device = r.device GROUP BY l.device)")
                + " SELECT * FROM c60";
        PlanNode root = onDeepStack(() -> plan(sixty).root());
        assertTrue(Subplans.of(root).size() < 60 * 8, () -> Subplans.of(root).size() + " nodes");
        Relations relations = new Relations();
        PlanNode standing = Planner.plan(relations.query(sixty), relations.context(Mode.STANDING, 2))
                .root();
        assertTrue(
                Subplans.of(standing).size() < 60 * 12,
                () -> Subplans.of(standing).size() + " nodes");
    }

    @Test
    void allUnionsAreOne() {
        PlanNode root = onDeepStack(() -> plan(Long.UNIONS.times(8)).root());
        PlanNode.Union union = (PlanNode.Union) Subplans.of(root).stream()
                .filter(PlanNode.Union.class::isInstance)
                .findFirst()
                .orElseThrow();
        assertEquals(2000, union.inputs().size());
    }

    @ParameterizedTest
    @EnumSource
    void itStopsWhenToldTo(Long kind) {
        String sql = kind.times(1);
        Relations relations = new Relations();
        Query query = onDeepStack(() -> relations.query(sql));
        MillraceException cause = MillraceException.user(SqlState.QUERY_CANCELED, "enough");
        Interrupt interrupt = new Interrupt();
        interrupt.stop(cause);
        Frontend frontend = new Frontend();
        var parsed = onDeepStack(() -> frontend.parse(sql)).get(0);
        List<Callable<Object>> steps = List.of(
                () -> new Frontend().parse(sql),
                () -> frontend.analyze(parsed, relations, Parameters.none()),
                () -> Planner.plan(query, relations.context(Mode.PULL, 2)));
        for (Callable<Object> step : steps) {
            MillraceException thrown = onDeepStack(() -> {
                try (Interrupt.Binding binding = interrupt.bind()) {
                    return assertThrows(MillraceException.class, step::call);
                }
            });
            assertEquals(cause.getMessage(), thrown.getMessage());
            assertEquals(cause.sqlState(), thrown.sqlState());
        }
    }

    private static int planNodes(String sql) {
        return onDeepStack(() -> Subplans.of(plan(sql).root()).size());
    }

    /** What each reads of the one before, it reads twice: the rows, and the values they are made for. */
    private static String laterals(int count) {
        return "SELECT count(*) FROM by_device a0"
                + listed(
                        count,
                        "",
                        i -> ", LATERAL (SELECT b.n + a" + i + ".n AS n FROM by_device b WHERE b.n > a" + i + ".n) a"
                                + (i + 1));
    }

    @Test
    void eachOfManyStackedLateralsAddsTheSameNumberOfNodes() {
        int ten = planNodes(laterals(10));
        int twenty = planNodes(laterals(20));
        int forty = planNodes(laterals(40));
        assertEquals(2 * (twenty - ten), forty - twenty, ten + ", " + twenty + ", " + forty + " nodes");
    }

    private static String readTwice(int count) {
        return "WITH w0 AS (SELECT n FROM by_device), "
                + listed(
                        count,
                        ", ",
                        i -> "w" + (i + 1) + " AS (SELECT n FROM w" + i + " UNION ALL SELECT n + 1 FROM w" + i + ")")
                + " SELECT count(*) FROM w" + count;
    }

    @Test
    void queriesThatReadTheOneBeforeTwiceArePlannedOnce() {
        int ten = planNodes(readTwice(10));
        int twenty = planNodes(readTwice(20));
        int forty = planNodes(readTwice(40));
        assertEquals(2 * (twenty - ten), forty - twenty, ten + ", " + twenty + ", " + forty + " nodes");
    }

    /** A condition goes down to each reader by itself, so that there are more and more different ones. */
    @Test
    void filteredReadersThatDoubleArePlannedOrRefused() {
        String sql = readTwice(20).replaceAll("n \\+ 1 FROM w(\\d+)", "n + 1 FROM w$1 WHERE n > $1");
        MillraceException refusal = onDeepStack(() -> assertThrows(MillraceException.class, () -> plan(sql)));
        assertEquals(SqlState.STATEMENT_TOO_COMPLEX, refusal.sqlState());
    }
}
