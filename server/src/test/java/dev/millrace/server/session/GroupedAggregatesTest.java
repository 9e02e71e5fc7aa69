package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.engine.runtime.StandingQuery;
import dev.millrace.server.group.QueryGroups;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Queries that filter by literals and group what is left share what runs them, and each has its own groups. */
class GroupedAggregatesTest {
    private static final String STREAM =
            "CREATE STREAM s (device TEXT, k INT, v INT, ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '1 second')";

    private static final List<String> FORMS = List.of(
            "SELECT k, count(*) AS n, sum(v) AS s FROM s WHERE device = '%s' AND v > %d GROUP BY k",
            "SELECT count(*) AS n, max(v) AS m FROM s WHERE device = '%s' AND v > %d",
            "SELECT count(*) AS n, avg(v) AS a, window_end FROM TUMBLE(s, ts, INTERVAL '10 seconds') WHERE device = '%s' AND v > %d"
                    + " GROUP BY window_start, window_end",
            "SELECT k, count(*) AS n, window_end FROM HOP(s, ts, INTERVAL '5 seconds', INTERVAL '15 seconds') WHERE device = '%s' AND v > %d"
                    + " GROUP BY k, window_start, window_end HAVING count(*) > 1",
            "SELECT k, count(DISTINCT v) AS n, min(v) AS m FROM s WHERE device = '%s' AND v > %d GROUP BY k",
            "SELECT DISTINCT k FROM s WHERE device = '%s' AND v > %d",
            "SELECT n, count(*) AS ks FROM (SELECT k, count(*) AS n FROM s WHERE device = '%s' AND v > %d GROUP BY k) AS q GROUP BY n");

    @TempDir
    Path folder;

    private static String create(String name, String form, String device, int above) {
        return "CREATE CONTINUOUS QUERY " + name + " AS " + String.format(form, device, above);
    }

    /** Makes so many of a form that the next is a member. */
    private static void fill(TestDatabase db, String form) {
        for (int i = 0; i < QueryGroups.APART; i++) {
            db.run(create("apart_" + i, form, "none", 0));
        }
    }

    private static boolean isMember(TestDatabase db, String name) {
        return db.database()
                .instance()
                .standing(name)
                .flatMap(StandingQuery::group)
                .isPresent();
    }

    /** Rows of some seconds, in order of time but for one in ten; one in twenty comes much too late. */
    private static final class Rows {
        private final SplittableRandom random;
        private int second = 10;

        Rows(long seed) {
            random = new SplittableRandom(seed);
        }

        void insert(TestDatabase db) {
            List<String> rows = new ArrayList<>();
            for (int i = random.nextInt(1, 30); i > 0; i--) {
                second += random.nextInt(3);
                int late = random.nextInt(20) == 0 ? 40 : random.nextInt(10) == 0 ? 2 : 0;
                rows.add("('" + (char) ('a' + random.nextInt(3)) + "', " + random.nextInt(3) + ", "
                        + random.nextInt(10) + ", TIMESTAMP '2026-01-01' + INTERVAL '" + Math.max(0, second - late)
                        + " seconds')");
            }
            db.run("INSERT INTO s VALUES " + String.join(", ", rows) + "; FLUSH");
        }
    }

    @Test
    void aMemberIsToldWhatItsQueryByItselfIsToldAlsoWhenItComesLaterAndLeaves() {
        for (String form : FORMS) {
            for (int workers = 1; workers <= 2; workers++) {
                try (TestDatabase db = new TestDatabase(workers)) {
                    told(db, form);
                } catch (RuntimeException | AssertionError e) {
                    throw new AssertionError(form + ", " + workers + " workers: " + e, e);
                }
            }
        }
    }

    private static void told(TestDatabase db, String form) {
        db.run(STREAM);
        db.run("SET query_groups = off; " + create("alone", form, "a", 2) + "; SET query_groups = on");
        fill(db, form);
        db.run(create("one", form, "a", 2) + ";" + create("other", form, "b", 3));
        assertTrue(isMember(db, "one"));
        Rows rows = new Rows(form.hashCode());
        String subscription = "(" + String.format(form, "a", 2) + ") WITH (on_slow = 'disconnect')";
        try (Heard alone = new Heard(db, "alone");
                Heard one = new Heard(db, "one");
                Heard own = new Heard(db, subscription)) {
            for (int i = 0; i < 3; i++) {
                rows.insert(db);
                assertEquals(alone.all(), one.all());
                assertEquals(fromTheBegin(form, alone.all()), own.all());
            }
            db.run("SET query_groups = off; " + create("late_alone", form, "c", 1) + "; SET query_groups = on");
            db.run(create("late", form, "c", 1));
            try (Heard lateAlone = new Heard(db, "late_alone");
                    Heard late = new Heard(db, "late")) {
                rows.insert(db);
                rows.insert(db);
                assertEquals(alone.all(), one.all());
                assertEquals(
                        db.rows("SELECT rows_in, rows_out, late_rows FROM millrace.query_stats WHERE query = 'alone'"),
                        db.rows("SELECT rows_in, rows_out, late_rows FROM millrace.query_stats WHERE query = 'one'"));
                db.run("PAUSE CONTINUOUS QUERY one");
                assertFalse(isMember(db, "one"));
                assertTrue(isMember(db, "late") && isMember(db, "other"));
                rows.insert(db);
                db.run("RESUME CONTINUOUS QUERY one; FLUSH");
                rows.insert(db);
                rows.insert(db);
                assertEquals(alone.all(), one.all());
                assertEquals(fromTheBegin(form, alone.all()), own.all());
                if (!form.contains("window_end")) { // time began with the first member
                    assertEquals(lateAlone.all(), late.all());
                }
            }
        }
        db.run("DROP CONTINUOUS QUERY other, late");
        db.run(create("other", form, "b", 3));
        assertTrue(isMember(db, "other"));
        rows.insert(db);
    }

    /** A subscription's own query tells also of the answer before the first row, which nobody hears of a query with a name. */
    private static Map<String, Long> fromTheBegin(String form, Map<String, Long> told) {
        Map<String, Long> all = new TreeMap<>(told);
        if (!form.contains("GROUP BY") && !form.contains("DISTINCT")) {
            all.merge("0|", 1L, Long::sum);
            all.values().removeIf(weight -> weight == 0);
        }
        return all;
    }

    @Test
    void aMemberWhoseAnswerCannotBeComputedFailsAlone() {
        String form = "SELECT k, 100 / (count(*) - 3) AS q FROM s WHERE device = '%s' AND v > %d GROUP BY k";
        try (TestDatabase db = new TestDatabase(2)) {
            db.run(STREAM);
            fill(db, form);
            db.run(create("a", form, "a", 0) + ";" + create("b", form, "b", 0));
            try (Heard a = new Heard(db, "a");
                    Heard b = new Heard(db, "b")) {
                String row = "('a', 1, 5, TIMESTAMP '2026-01-01')";
                db.run("INSERT INTO s VALUES " + row + ", " + row + ", ('b', 1, 5, TIMESTAMP '2026-01-01'); FLUSH");
                assertEquals(Map.of("1|-100", 1L), a.all());
                db.run("INSERT INTO s VALUES " + row + "; FLUSH");
                db.run("INSERT INTO s VALUES ('b', 1, 5, TIMESTAMP '2026-01-01'); FLUSH");
                assertEquals(Map.of("1|-100", 1L), b.all());
                assertEquals(
                        List.of("a|failed|22012", "b|running|"),
                        db.rows(
                                "SELECT query, state, sqlstate FROM millrace.query_stats WHERE query IN ('a', 'b') ORDER BY query"));
                assertTrue(isMember(db, "b"));
                db.run("INSERT INTO s VALUES " + row + "; FLUSH"); // the fourth: it can be computed again
                db.run("RESUME CONTINUOUS QUERY a");
                try (Heard again = new Heard(db, "a")) {
                    db.run("INSERT INTO s VALUES " + row + "; FLUSH");
                    assertEquals(Map.of("1|100", -1L, "1|50", 1L), again.all());
                }
            }
        }
    }

    @Test
    void aTextOfAKnownFormIsNotReadAndExplainSaysWithWhom() {
        for (String form : FORMS) {
            if (form.contains("HAVING")) {
                continue; // its constant is of the form
            }
            try (TestDatabase db = new TestDatabase(2)) {
                db.run(STREAM);
                fill(db, form);
                db.run(create("one", form, "a", 2) + ";" + create("two", form, "b", 3));
                String text = create("three", form, "c", 4);
                assertTrue(db.database().instance().knownForms().find(text).isPresent(), text);
                db.run(text);
                assertTrue(isMember(db, "three"));
                String shared = "shared with 3 queries that differ in literals alone";
                List<String> plan = db.rows(
                        "EXPLAIN SUBSCRIBE TO (" + String.format(form, "x", 1) + ") WITH (on_slow = 'disconnect')");
                assertTrue(plan.contains(shared), plan::toString);
                assertFalse(
                        db.rows("EXPLAIN SUBSCRIBE TO (" + String.format(form, "x", 1) + ") WITH (on_slow = 'block')")
                                .contains(shared));
                try (Heard three = new Heard(db, "three")) {
                    db.run(
                            "INSERT INTO s VALUES ('c', 1, 5, TIMESTAMP '2026-01-01'), ('c', 1, 6, TIMESTAMP '2026-01-01'),"
                                    + " ('z', 1, 6, TIMESTAMP '2026-01-02'); FLUSH");
                    assertFalse(three.all().isEmpty(), form);
                }
            }
        }
    }

    @Tag("long")
    @Test
    void aDatabaseThatIsOpenedAgainHasItsMembersWithTheirGroups() {
        for (int checkpoints = 0; checkpoints < 2; checkpoints++) {
            for (int form = 0; form < FORMS.size(); form++) {
                try {
                    openedAgain(folder.resolve(checkpoints + "-" + form), FORMS.get(form), checkpoints == 1);
                } catch (RuntimeException | AssertionError e) {
                    throw new AssertionError(FORMS.get(form) + ", checkpoints " + checkpoints + ": " + e, e);
                }
            }
        }
    }

    private static void openedAgain(Path directory, String form, boolean withCheckpoints) {
        Rows rows = new Rows(form.hashCode() + 1);
        List<Map<String, Long>> alone = new ArrayList<>();
        for (int round = 0; round < 3; round++) {
            try (TestDatabase db = new TestDatabase(directory)) {
                if (round == 0) {
                    db.run(STREAM);
                    db.run("SET query_groups = off; " + create("alone", form, "a", 2) + "; SET query_groups = on");
                    fill(db, form);
                    db.run(create("one", form, "a", 2) + ";" + create("two", form, "b", 3));
                } else if (round == 2) {
                    db.run("DROP CONTINUOUS QUERY two; " + create("two", form, "b", 3));
                }
                assertEquals(List.of(), db.rows("SELECT name FROM millrace.not_restored"));
                assertTrue(isMember(db, "one") && isMember(db, "two"), "round " + round);
                try (Heard ofAlone = new Heard(db, "alone");
                        Heard ofOne = new Heard(db, "one")) {
                    rows.insert(db);
                    assertEquals(ofAlone.all(), ofOne.all(), "round " + round);
                    if (withCheckpoints) {
                        db.run("CHECKPOINT");
                    }
                    rows.insert(db);
                    rows.insert(db);
                    assertEquals(ofAlone.all(), ofOne.all(), "round " + round);
                    alone.add(Map.copyOf(ofAlone.all()));
                }
            }
        }
        assertTrue(alone.stream().anyMatch(told -> !told.isEmpty()), "nothing was told");
    }
}
