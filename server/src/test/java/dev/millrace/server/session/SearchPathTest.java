package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a session remembers of statements holds for the schemas that it looked in then, and two things of one name are two in all that is known of them. */
class SearchPathTest {
    @TempDir
    Path folder;

    private static void inBoth(TestDatabase db, String statement) {
        for (String schema : List.of("s1", "s2")) {
            db.run("SET search_path TO " + schema);
            db.run(statement);
        }
    }

    @Test
    void theSameTextMeansAnotherTableOnAnotherPath() {
        try (TestDatabase db = new TestDatabase()) {
            db.run("CREATE SCHEMA s1; CREATE SCHEMA s2");
            inBoth(db, "CREATE TABLE t (id INT PRIMARY KEY, name TEXT)");
            for (int round = 0; round < 4; round++) {
                for (String schema : List.of("s1", "s2")) {
                    db.run("SET search_path TO " + schema);
                    db.run("INSERT INTO t VALUES (" + round
                            + ", 'plain')"); // by its beginning, from the second time on
                    db.run("INSERT INTO t VALUES ($1, $2)", 10 + round, schema); // by its parameters
                    db.run("UPDATE t SET name = $2 WHERE id = $1", round, schema + round); // by its key
                    assertEquals(List.of(schema + round), db.rows("SELECT name FROM t WHERE id = $1", round));
                    assertEquals(List.of(schema), db.rows("SELECT name FROM t WHERE id = " + (10 + round)));
                    assertEquals(List.of(Integer.toString(2 * round + 2)), db.flushedRows("SELECT count(*) FROM t"));
                }
            }
            db.run("BEGIN; SET LOCAL search_path TO s1");
            assertEquals(List.of("s1"), db.rows("SELECT name FROM t WHERE id = $1", 10));
            db.run("COMMIT");
            assertEquals(List.of("s2"), db.rows("SELECT name FROM t WHERE id = $1", 10));
            db.run("PREPARE one (int) AS SELECT name FROM t WHERE id = $1");
            db.run("SET search_path TO s1");
            assertEquals(List.of("s1"), db.rows("EXECUTE one(10)"));
            assertEquals(List.of("s1"), db.rows("SELECT set_config('search_path', 's1', false)"));
        }
    }

    @Test
    void whatIsNoListOfNamesNamesNothing() {
        try (TestDatabase db = new TestDatabase()) {
            db.run("CREATE TABLE t (a INT)");
            for (String path : List.of("'", "\"", "a'b, \"\"", ",,;", "''")) {
                db.rows("SELECT set_config('search_path', '" + path.replace("'", "''") + "', false)");
                assertTrue(db.error("SELECT * FROM t").startsWith("42P01"), path);
                assertEquals(List.of(), db.rows("SELECT * FROM public.t"));
            }
            db.run("SET search_path TO DEFAULT");
            assertEquals(List.of(), db.rows("SELECT * FROM t"));
        }
    }

    @Test
    void standingQueriesOfOneNameGoOnApart() {
        for (int opened = 0; opened < 3; opened++) {
            try (TestDatabase db = new TestDatabase(folder)) {
                if (opened == 0) {
                    db.run("CREATE SCHEMA s1; CREATE SCHEMA s2");
                    inBoth(
                            db,
                            "CREATE STREAM r (k TEXT, at TIMESTAMPTZ, v INT, WATERMARK FOR at AS at) WITH (retention = 'forever')");
                    inBoth(db, "CREATE MATERIALIZED VIEW sums AS SELECT k, sum(v) AS s FROM r GROUP BY k");
                    inBoth(db, "CREATE CONTINUOUS QUERY high AS SELECT k, v FROM r WHERE v > 10");
                    inBoth(db, "CREATE CONTINUOUS QUERY higher AS SELECT k, v FROM r WHERE v > 20");
                    inBoth(db, "CREATE CONTINUOUS QUERY highest AS SELECT k, v FROM r WHERE v > 30");
                    db.run("CREATE SUBSCRIPTION first FROM s1.sums; CREATE SUBSCRIPTION second FROM s2.sums");
                }
                db.run("INSERT INTO s1.r VALUES ('a', '2026-01-01Z'::timestamptz + INTERVAL '1 day' * " + opened
                        + ", 1)");
                db.run("INSERT INTO s2.r VALUES ('b', '2025-01-01Z'::timestamptz + INTERVAL '1 day' * " + opened
                        + ", 100)");
                int times = opened + 1;
                assertEquals(List.of("a|" + times), db.flushedRows("SELECT * FROM s1.sums"));
                assertEquals(List.of("b|" + 100 * times), db.flushedRows("SELECT * FROM s2.sums"));
                assertEquals(List.of(Integer.toString(times)), db.rows("SELECT count(*) FROM s2.r"));
                assertEquals(
                        List.of("s1.high", "s1.higher", "s1.highest", "s2.high", "s2.higher", "s2.highest"),
                        db.rows("SELECT query FROM millrace.query_stats WHERE query LIKE '%high%'"));
                if (opened == 1) {
                    db.run("CHECKPOINT");
                }
            }
        }
    }
}
