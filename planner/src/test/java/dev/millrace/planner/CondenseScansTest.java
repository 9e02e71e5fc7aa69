package dev.millrace.planner;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.millrace.condense.Condensation;
import dev.millrace.plan.node.PlanNode.Scan;
import dev.millrace.plan.node.Subplans;
import dev.millrace.planner.PlannerContext.Mode;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;

/** Which queries let rows come as one that are alike, and between which times. */
class CondenseScansTest {
    private static final long SECOND = 1_000_000;

    private static Optional<Condensation> condensation(String sql, Mode mode) {
        Relations relations = new Relations();
        return Subplans.of(Planner.plan(relations.query(sql), relations.context(mode, 2))
                        .root())
                .stream()
                .filter(node -> node instanceof Scan scan && scan.relation().equals("past"))
                .map(node -> ((Scan) node).condensation())
                .filter(Optional::isPresent)
                .flatMap(Optional::stream)
                .findFirst();
    }

    private static void condenses(String sql) {
        assertEquals(Optional.of(Condensation.EXACT), condensation(sql, Mode.PULL), sql);
    }

    private static void slices(String sql, long slice, long offset, Long... cuts) {
        assertEquals(
                Optional.of(new Condensation(OptionalInt.of(1), slice, offset, List.of(cuts))),
                condensation(sql, Mode.PULL),
                sql);
    }

    private static void seesEachRow(String sql) {
        assertEquals(Optional.empty(), condensation(sql, Mode.PULL), sql);
    }

    @Test
    void aggregatesThatCountRowsTakeThemAsOne() {
        condenses("SELECT count(*), sum(load), avg(temp), min(temp), max(temp), stddev(temp) FROM past");
        condenses("SELECT device, sum(load) FROM past WHERE temp * 2 > load GROUP BY device");
        condenses("SELECT DISTINCT device FROM past");
        condenses("SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY temp), count(DISTINCT device) FROM past");
        condenses("SELECT load, count(*) FROM past GROUP BY load ORDER BY count(*) DESC LIMIT 3");
        condenses("SELECT d.site, max(p.temp) FROM past p JOIN device d ON p.device = d.device GROUP BY d.site");
        condenses("SELECT count(*) FROM (SELECT temp FROM past UNION ALL SELECT temp FROM reading) x");
    }

    @Test
    void windowsTellSlicesApart() {
        String from = "SELECT count(*) FROM ";
        String by = " GROUP BY window_start, window_end";
        slices(from + "TUMBLE(TABLE past, DESCRIPTOR(ts), INTERVAL '10 seconds')" + by, 10 * SECOND, 0);
        slices(
                from + "HOP(TABLE past, DESCRIPTOR(ts), INTERVAL '4 seconds', INTERVAL '10 seconds')" + by,
                2 * SECOND,
                0);
        slices(
                from + "CUMULATE(TABLE past, DESCRIPTOR(ts), INTERVAL '5 seconds', INTERVAL '1 minute')" + by,
                5 * SECOND,
                0);
    }

    @Test
    void whatIsComputedOfATimeTellsSlicesApart() {
        slices("SELECT date_trunc('hour', ts), count(*) FROM past GROUP BY 1", 3600 * SECOND, 0);
        slices("SELECT date_trunc('week', ts), count(*) FROM past GROUP BY 1", 7 * 86400 * SECOND, 4 * 86400 * SECOND);
        slices("SELECT extract(month FROM ts), count(*) FROM past GROUP BY 1", 86400 * SECOND, 0);
        slices("SELECT ts::date, count(*) FROM past GROUP BY 1", 86400 * SECOND, 0);
        slices(
                "SELECT date_bin(INTERVAL '7 seconds', ts, TIMESTAMP '1970-01-01 00:00:10'), count(*) FROM past GROUP BY 1",
                7 * SECOND,
                3 * SECOND);
        slices(
                "SELECT count(*) FROM past WHERE ts >= TIMESTAMP '1970-01-01 00:00:05' AND ts <= TIMESTAMP '1970-01-01 00:00:09'",
                0,
                0,
                5 * SECOND,
                9 * SECOND + 1);
    }

    @Test
    void whatNeedsTheTimesOrTheOrderSeesEachRow() {
        seesEachRow("SELECT max(ts) FROM past");
        seesEachRow("SELECT ts, count(*) FROM past GROUP BY ts");
        seesEachRow("SELECT extract(second FROM ts), count(*) FROM past GROUP BY 1");
        seesEachRow("SELECT date_trunc('hour', ts + INTERVAL '1 minute'), count(*) FROM past GROUP BY 1");
        seesEachRow("SELECT temp FROM past");
        seesEachRow("SELECT string_agg(device, ',') FROM past");
        seesEachRow("SELECT array_agg(load) FROM past");
        seesEachRow("SELECT count(*) FROM past WHERE random() < .5");
        seesEachRow("SELECT device, row_number() OVER (ORDER BY load) FROM past");
        seesEachRow("SELECT count(*) FROM past a JOIN past b ON a.device = b.device");
        seesEachRow("SELECT count(*) FROM reading");
    }

    @Test
    void standingQueriesSeeEachRow() {
        assertEquals(Optional.empty(), condensation("SELECT count(*) FROM past", Mode.STANDING));
    }
}
