package dev.millrace.server.suite;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.server.session.TestDatabase;
import dev.millrace.server.session.TestDatabase.Work;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * However the tables of a standing query are ordered in FROM, it gives the same rows, keeps about as much, and at most half
 * as many more rows go through its operators as in the best order. {@code -Dmillrace.tpch.standing=N} draws as many orders of
 * each (3); {@code -Dmillrace.tpch.cpu=true} measures instead what they cost the CPU, and prints a line of JSON per query and
 * kind.
 */
@Tag("long")
class TpchStandingOrderTest {
    private static final int ORDERS = Integer.getInteger("millrace.tpch.standing", 2);
    private static final boolean CPU = Boolean.getBoolean("millrace.tpch.cpu");
    private static final int RUNS = 9; // of which the cheapest counts
    private static final double MOST = 1.5;

    /** What the orders of one query cost, from the cheapest to the dearest. */
    private static final class Range {
        private double least = Double.MAX_VALUE;
        private double most;
        private String best = "";
        private String worst = "";

        void add(double cost, String query) {
            if (cost < least) {
                least = cost;
                best = query;
            }
            if (cost > most) {
                most = cost;
                worst = query;
            }
        }

        double ratio() {
            return most / Math.max(least, 1);
        }
    }

    @Test
    void theOrderOfTablesInFromHardlyMattersToAView() throws IOException {
        try (TestDatabase db = TpchOrderTest.filled()) {
            for (int number = 1; number <= 22; number++) {
                String written = TpchOrderTest.query(number);
                Random random = new Random(number);
                List<String> answer = db.rows(written); // and sketches of what it asks for
                Range rows = new Range();
                for (int i = 0; i <= ORDERS && (i == 0 || TpchOrderTest.hasOrders(written)); i++) {
                    String query = i == 0 ? written : TpchOrderTest.reordered(written, random);
                    if (CPU) {
                        continue;
                    }
                    Work work = db.standingWork(query);
                    assertEquals(answer, work.rows(), query);
                    rows.add(work.rowsIn(), query);
                }
                String message = "q" + number + ": " + rows.least + " to " + rows.most + ", most by " + rows.worst;
                assertTrue(CPU || rows.ratio() <= MOST, message);
                if (CPU) {
                    measure(db, number);
                }
            }
        }
    }

    /** All orders by turns, so that none pays for what was not compiled yet. */
    private static void measure(TestDatabase db, int number) throws IOException {
        String written = TpchOrderTest.query(number);
        Random random = new Random(number);
        List<String> queries = new ArrayList<>(List.of(written));
        for (int i = 0; i < ORDERS && TpchOrderTest.hasOrders(written); i++) {
            queries.add(TpchOrderTest.reordered(written, random));
        }
        double[] ofViews = new double[queries.size()];
        double[] ofSelects = new double[queries.size()];
        for (int run = 0; run < RUNS; run++) {
            for (int i = 0; i < queries.size(); i++) {
                ofViews[i] =
                        least(run, ofViews[i], db.standingWork(queries.get(i)).cpuNanos());
                ofSelects[i] =
                        least(run, ofSelects[i], db.selectWork(queries.get(i)).cpuNanos());
            }
        }
        Range standing = new Range();
        Range select = new Range();
        for (int i = 0; i < queries.size(); i++) {
            standing.add(ofViews[i], queries.get(i));
            select.add(ofSelects[i], queries.get(i));
        }
        print(number, "standing", standing);
        print(number, "select", select);
    }

    private static double least(int run, double before, double now) {
        return run == 0 ? now : Math.min(before, now);
    }

    private static void print(int number, String kind, Range range) {
        System.out.printf(
                Locale.ROOT,
                "{\"tpch_order\":\"q%02d\",\"kind\":\"%s\",\"orders\":%d,\"best_cpu_ms\":%.3f,\"worst_cpu_ms\":%.3f,"
                        + "\"ratio\":%.2f,\"best\":\"%s\",\"worst\":\"%s\"}%n",
                number,
                kind,
                ORDERS + 1,
                range.least / 1e6,
                range.most / 1e6,
                range.ratio(),
                TpchOrderTest.tables(range.best),
                TpchOrderTest.tables(range.worst));
    }
}
