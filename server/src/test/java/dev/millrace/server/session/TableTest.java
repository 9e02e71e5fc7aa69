package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.error.MillraceException;
import dev.millrace.server.result.StatementResults;
import dev.millrace.testing.time.OwnThread;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** INSERT, UPDATE, DELETE and their keys. */
class TableTest {
    private TestDatabase db;

    @BeforeEach
    void open() {
        db = new TestDatabase();
        db.run("CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT NOT NULL, v NUMERIC(10,2))");
        db.run("CREATE MATERIALIZED VIEW total AS SELECT count(*) AS n, sum(v) AS v FROM t");
        assertEquals("INSERT 0 2", db.run("INSERT INTO t VALUES (1, 'one', 1.5), (2, 'two', 2.25)"));
    }

    @AfterEach
    void close() {
        db.close();
    }

    private void is(String... rows) {
        assertEquals(List.of(rows), db.rows("SELECT * FROM t"));
    }

    @Test
    void updateChangesRowsAndWhatIsMadeOfThem() {
        assertEquals("UPDATE 2", db.run("UPDATE t SET v = v * 2"));
        is("1|one|3.00", "2|two|4.50");
        assertEquals(List.of("2|7.50"), db.rows("SELECT * FROM total"));
        assertEquals("UPDATE 0", db.run("UPDATE t SET v = 0 WHERE id = 9"));
    }

    @Test
    void keysMayMoveButNotMeet() {
        assertEquals("UPDATE 2", db.run("UPDATE t SET id = id + 1"));
        is("2|one|1.50", "3|two|2.25");
        assertTrue(db.error("UPDATE t SET id = 3 WHERE id = 2").startsWith("23505 "));
        assertTrue(db.error("UPDATE t SET id = 7").startsWith("23505 "));
        is("2|one|1.50", "3|two|2.25");
        db.run("INSERT INTO t VALUES (1, 'uno', NULL)");
        is("1|uno|", "2|one|1.50", "3|two|2.25");
    }

    @Test
    void deleteAndTruncateTakeRowsAway() {
        assertEquals("DELETE 1", db.run("DELETE FROM t WHERE name = 'one'"));
        assertEquals(List.of("1|2.25"), db.rows("SELECT * FROM total"));
        db.run("INSERT INTO t VALUES (1, 'again', 1)");
        assertEquals("TRUNCATE TABLE", db.run("TRUNCATE t"));
        is();
        assertEquals(List.of("0|"), db.rows("SELECT * FROM total"));
        db.run("INSERT INTO t VALUES (1, 'new', 1)");
        is("1|new|1.00");
    }

    @Test
    void aTakenKeyIsRefusedIgnoredOrReplaced() {
        assertTrue(db.error("INSERT INTO t VALUES (3, 'x', 0), (1, 'uno', 0)")
                .startsWith("23505 duplicate key value violates the primary key of table \"t\": (id)=(1)"));
        is("1|one|1.50", "2|two|2.25");
        assertEquals("INSERT 0 1", db.run("INSERT INTO t VALUES (1, 'uno', 7), (4, 'four', 8) ON CONFLICT DO NOTHING"));
        db.run(
                "INSERT INTO t VALUES (1, 'uno', 7) ON CONFLICT (id) DO UPDATE SET name = EXCLUDED.name, v = EXCLUDED.v");
        is("1|uno|7.00", "2|two|2.25", "4|four|8.00");
        assertEquals(List.of("3|17.25"), db.rows("SELECT * FROM total"));
    }

    @Test
    void nullsAreRefusedWhereTheyMayNotBe() {
        assertEquals(
                "23502 null value in column \"name\" of relation \"t\" violates not-null constraint",
                db.error("INSERT INTO t (id) VALUES (3)"));
        assertTrue(db.error("UPDATE t SET name = NULL").startsWith("23502 "));
        assertTrue(db.error("INSERT INTO t VALUES (NULL, 'x', 1)").startsWith("23502 "));
    }

    @Test
    void returningGivesWhatWasWritten() {
        assertEquals(List.of("3|"), db.rows("INSERT INTO t (name, id) VALUES ('three', 3) RETURNING id, v"));
        assertEquals(
                List.of("4"),
                db.rows("INSERT INTO t VALUES (3, 'x', 0), (4, 'y', 0) ON CONFLICT DO NOTHING RETURNING id"));
    }

    @Test
    void onlyTablesAndOpenStreamsAreWritten() {
        assertTrue(
                db.error("INSERT INTO total VALUES (1, 2)").startsWith("42809 cannot insert into materialized view"));
        db.run("CREATE STREAM s (n BIGINT)");
        assertTrue(db.error("DELETE FROM s").startsWith("42809 "));
        db.run("CREATE STREAM g (n BIGINT) WITH (connector = 'datagen', rows = 3)");
        assertTrue(db.error("INSERT INTO g VALUES (1)")
                .startsWith("42809 cannot insert into stream \"g\": its rows come from"));
    }

    @Test
    void parametersAreTypedByTheirPlaceOrTheirJavaType() {
        db.run("INSERT INTO t VALUES ($1, $2, $3)", 7, "sev'en", new java.math.BigDecimal("7.77"));
        assertEquals(List.of("7|sev'en|7.77"), db.rows("SELECT * FROM t WHERE id = $1", "7"));
        assertEquals(List.of("8"), db.rows("SELECT $1 + 1", 7));
        db.run("UPDATE t SET v = $1 WHERE id = $2", java.util.Optional.empty(), 7L);
        assertEquals(List.of("7|sev'en|"), db.rows("SELECT * FROM t WHERE id = 7"));
        assertTrue(db.error("SELECT $1").startsWith("42P02 "));
    }

    @Test
    void queriesGoOnWhileATableIsAltered() throws Exception {
        int times = 30;
        CompletableFuture<Void> reader = CompletableFuture.runAsync(
                () -> {
                    try (Session session = db.session().database().session()) {
                        for (int i = 0; i < 10 * times; i++) {
                            try (StatementResults results = session.execute("SELECT count(*), sum(id) FROM t")) {
                                results.drain();
                            } catch (MillraceException e) {
                                assertEquals("40001", e.sqlState().code()); // altered while it was planned
                            }
                        }
                    }
                },
                OwnThread.EACH);
        for (int i = 0; i < times; i++) {
            db.run("ALTER TABLE t ADD COLUMN c" + i + " INT DEFAULT " + i);
            db.run("UPDATE t SET v = v + 1, c" + i + " = 0 WHERE id = 1");
        }
        reader.get(60, TimeUnit.SECONDS);
        assertEquals(List.of("2|33.75"), db.rows("SELECT * FROM total"));
        assertEquals(List.of("0|29"), db.rows("SELECT min(c29), max(c29) FROM t"));
        assertEquals(List.of("1|31.50"), db.rows("SELECT id, v FROM t WHERE c7 = 0"));
    }
}
