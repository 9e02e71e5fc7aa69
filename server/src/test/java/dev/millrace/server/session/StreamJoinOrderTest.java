package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.server.result.StatementResult;
import dev.millrace.server.result.StatementResults;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Joins of streams in standing queries: ordered by what they keep, unless times decide what that is. */
class StreamJoinOrderTest {
    private static final Pattern KEPT =
            Pattern.compile("of (this order of joins|the order written): ([0-9,]+) rows kept.*");

    private final TestDatabase db = new TestDatabase(1);

    @BeforeEach
    void define() {
        db.run("CREATE STREAM orders (id BIGINT, customer INTEGER, part INTEGER, ts TIMESTAMP,"
                + " WATERMARK FOR ts AS ts - INTERVAL '1' SECOND)");
        db.run("CREATE STREAM payments (id BIGINT, at TIMESTAMP, WATERMARK FOR at AS at - INTERVAL '1' SECOND)");
        db.run("CREATE TABLE customers (id INTEGER PRIMARY KEY, nation INTEGER)");
        db.run("CREATE TABLE parts (id INTEGER PRIMARY KEY, kind INTEGER)");
        db.run("CREATE TABLE nations (id INTEGER PRIMARY KEY, name TEXT)");
        db.run("INSERT INTO customers SELECT i, i % 25 FROM generate_series(1, 1000) AS g(i)");
        db.run("INSERT INTO parts SELECT i, i % 10 FROM generate_series(1, 1000) AS g(i)");
        db.run("INSERT INTO nations SELECT i, 'n' || i FROM generate_series(0, 24) AS g(i)");
    }

    @AfterEach
    void close() {
        db.close();
    }

    private List<String> explained(String query) {
        try (StatementResults results =
                db.session().execute("EXPLAIN CREATE MATERIALIZED VIEW v AS " + query, List.of())) {
            return TestDatabase.texts((StatementResult.Rows) results.next());
        }
    }

    /** The rows that are kept in the order chosen and in the one written. */
    private static double[] kept(List<String> plan) {
        double[] kept = new double[2];
        for (String line : plan) {
            Matcher matcher = KEPT.matcher(line.replaceFirst("^expected ", ""));
            if (matcher.matches()) {
                kept[matcher.group(1).startsWith("this") ? 0 : 1] =
                        Double.parseDouble(matcher.group(2).replace(",", ""));
            }
        }
        assertTrue(kept[0] > 0 && kept[1] > 0, String.join("\n", plan));
        return kept;
    }

    private static final String WIDE = "SELECT o.id FROM orders o JOIN parts p ON p.id = o.part"
            + " JOIN customers c ON c.id = o.customer JOIN nations n ON n.id = c.nation WHERE n.name = 'n7'";

    @Test
    void aStreamIsJoinedOnceWithWhatIsSmall() {
        List<String> plan = explained(WIDE);
        double[] kept = kept(plan);
        assertTrue(2 * kept[0] < kept[1], String.join("\n", plan));
        String text = String.join("\n", plan);
        int small = text.indexOf("Scan nations");
        assertTrue(small > 0 && text.indexOf("Scan customers") - small < 200, "nations meet customers first\n" + text);
    }

    @Test
    void theAnswerIsThatOfTheOrderWritten() {
        db.run("CREATE MATERIALIZED VIEW v AS " + WIDE);
        db.run(
                "INSERT INTO orders SELECT i, i % 1100, i % 1200, TIMESTAMP '2026-01-01' FROM generate_series(1, 3000) AS g(i)");
        db.run("UPDATE customers SET nation = 7 WHERE id = 8");
        db.run("DELETE FROM parts WHERE id = 7");
        db.run("CREATE TABLE kept (id BIGINT, customer INTEGER, part INTEGER)");
        db.run("INSERT INTO kept SELECT i, i % 1100, i % 1200 FROM generate_series(1, 3000) AS g(i)");
        assertEquals(db.rows(WIDE.replace("orders o", "kept o")), db.flushedRows("SELECT * FROM v"));
    }

    @Test
    void streamsThatMeetInTimeStayTogetherAndTheRestIsOrdered() {
        List<String> plan = explained("SELECT o.id FROM orders o JOIN payments y"
                + " ON y.id = o.id AND y.at BETWEEN o.ts AND o.ts + INTERVAL '10' SECOND"
                + " JOIN parts p ON p.id = o.part JOIN customers c ON c.id = o.customer JOIN nations n ON n.id = c.nation"
                + " WHERE n.name = 'n7'");
        String text = String.join("\n", plan);
        assertTrue(text.contains("at - ts in 0 s .. 10 s"), text);
        assertTrue(text.contains("late"), text);
        double[] kept = kept(plan);
        assertTrue(kept[0] < kept[1], text);
    }

    @Test
    void boundsOfTimeThatAreWrittenAcrossATableAreLeftAsTheyAre() {
        String query = "SELECT o.id FROM orders o JOIN customers c ON c.id = o.customer JOIN payments y"
                + " ON y.id = o.id AND y.at BETWEEN o.ts AND o.ts + INTERVAL '10' SECOND";
        List<String> plan = explained(query);
        double[] kept = kept(plan);
        assertEquals(kept[1], kept[0], String.join("\n", plan));
        assertFalse(String.join("\n", plan).contains("at - ts in 0 s .. 10 s"), "no row becomes late by the order");
    }

    @Test
    void whatIsForgottenByAgeStaysWhereItIsWritten() {
        String text =
                String.join("\n", db.rows("EXPLAIN CREATE MATERIALIZED VIEW v WITH (state_ttl = '1 h') AS " + WIDE));
        assertTrue(text.contains("state: left rows for 1 h"), text);
        double[] kept = kept(text.lines().toList());
        assertEquals(kept[1], kept[0], text);
    }

    @Test
    void aWindowOverAJoinOfStreamsStillCloses() {
        String text = String.join(
                "\n",
                explained("SELECT window_end, count(*) FROM TUMBLE(TABLE orders, DESCRIPTOR(ts),"
                        + " INTERVAL '10' SECOND) o GROUP BY window_start, window_end EMIT ON WINDOW CLOSE"));
        assertTrue(text.contains("until it closes"), text);
    }

    @Test
    void explainSaysHowManyRowsAStreamHasGiven() {
        db.run("CREATE STREAM many (id BIGINT, k INTEGER)");
        db.run("INSERT INTO many SELECT i, i % 50 FROM generate_series(1, 1500) AS g(i)");
        String plan = String.join("\n", explained("SELECT m.id FROM many m JOIN nations n ON n.id = m.k"));
        assertTrue(plan.contains("1000000 rows assumed, 1500 so far"), plan);
        assertTrue(plan.contains("and more with each row of a stream"), plan);
    }
}
