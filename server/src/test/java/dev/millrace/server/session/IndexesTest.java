package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Indexes that users create: what the catalog keeps of them, and what the engine holds for them. */
class IndexesTest {
    @TempDir
    Path directory;

    private static List<String> names(TestDatabase db) {
        return db.rows("SELECT indexname FROM pg_indexes WHERE schemaname = 'public'");
    }

    @Test
    void aMisspeltColumnIsAnsweredByTheNearestOne() {
        try (TestDatabase db = new TestDatabase()) {
            db.run("CREATE TABLE t (id INT PRIMARY KEY, total INT)");
            db.run("CREATE MATERIALIZED VIEW v AS SELECT total, count(*) AS n FROM t GROUP BY total");
            for (String relation : List.of("t", "v", "public.t")) {
                assertEquals(
                        "42703 column \"totl\" does not exist | did you mean \"total\"?",
                        db.error("CREATE INDEX ON " + relation + " (totl)"));
            }
            assertEquals("42703 column \"zz\" does not exist", db.error("CREATE UNIQUE INDEX ON t (id, zz)"));
        }
    }

    @Test
    void indexesAreThereAgainAfterARestartAndHoldWhatTheyHeld() {
        try (TestDatabase db = new TestDatabase(directory)) {
            db.run("CREATE TABLE t (id INT PRIMARY KEY, a INT, b TEXT)");
            db.run("CREATE MATERIALIZED VIEW v AS SELECT a, count(*) AS n FROM t GROUP BY a");
            db.run("CREATE INDEX ON t (a DESC)");
            db.run("CREATE UNIQUE INDEX one ON t (b)");
            db.run("CREATE INDEX n ON v (n)");
            db.run("CREATE INDEX gone ON v (n, a)");
            db.run("DROP INDEX gone");
            db.run("DROP MATERIALIZED VIEW v");
            db.run("ALTER TABLE t RENAME COLUMN a TO c");
            db.run("CREATE MATERIALIZED VIEW v AS SELECT c, count(*) AS n FROM t GROUP BY c");
            db.run("CREATE INDEX n ON v (n)");
            db.run("ALTER INDEX n RENAME TO m");
        }
        for (int start = 0; start < 2; start++) {
            try (TestDatabase db = new TestDatabase(directory)) {
                assertEquals(List.of("m", "one", "t_a_idx", "t_pkey", "v_pkey"), names(db));
                assertEquals(
                        List.of("CREATE INDEX t_a_idx ON public.t USING btree (c DESC)"),
                        db.rows("SELECT indexdef FROM pg_indexes WHERE indexname = 't_a_idx'"));
                if (start == 0) {
                    db.run("INSERT INTO t VALUES (1, 1, 'x')");
                }
                assertEquals(List.of("1|1|x"), db.rows("SELECT * FROM t WHERE b = 'x' AND c = 1"));
                assertTrue(db.error("INSERT INTO t VALUES (2, 1, 'x')").startsWith("23505"));
            }
        }
        try (TestDatabase db = new TestDatabase(directory)) {
            db.run("DROP INDEX one");
            db.run("DROP TABLE t CASCADE");
            assertEquals(List.of(), names(db));
        }
        try (TestDatabase db = new TestDatabase(directory)) {
            assertEquals(List.of(), names(db));
        }
    }

    @Test
    void whatOneNameNeedsIsHeldAsLongAsAnyNameNeedsIt() {
        try (TestDatabase db = new TestDatabase()) {
            db.run("CREATE TABLE t (id INT PRIMARY KEY, a INT)");
            for (int i = 0; i < 200; i++) {
                db.run("INSERT INTO t VALUES ($1, $2)", i, i % 10);
            }
            db.session().awaitOwnWrites();
            long before = db.database().engine().kept("t").orElseThrow().bytes();
            db.run("CREATE INDEX one ON t (a)");
            db.run("CREATE INDEX two ON t (a)");
            long with = db.database().engine().kept("t").orElseThrow().bytes();
            assertTrue(with > before, () -> with + " with the index, " + before + " without");
            db.run("DROP INDEX one");
            assertEquals(with, db.database().engine().kept("t").orElseThrow().bytes());
            db.run("DROP INDEX two");
            assertEquals(before, db.database().engine().kept("t").orElseThrow().bytes());
            assertTrue(db.error("CREATE UNIQUE INDEX three ON t (a)").startsWith("23505"));
            assertEquals(before, db.database().engine().kept("t").orElseThrow().bytes());
        }
    }

    @Test
    void anIndexOfAnAlteredViewGoesWithTheColumnsThatItHad() {
        try (TestDatabase db = new TestDatabase()) {
            db.run("CREATE TABLE t (id INT PRIMARY KEY, a INT, b TEXT)");
            db.run("CREATE MATERIALIZED VIEW v AS SELECT id, a, b FROM t");
            db.run("CREATE INDEX by_a ON v (a)");
            db.run("CREATE UNIQUE INDEX by_b ON v (b, id)");
            db.run("ALTER MATERIALIZED VIEW v AS SELECT b, id FROM t");
            assertEquals(List.of("by_b", "t_pkey", "v_pkey"), names(db));
            assertEquals(
                    List.of("CREATE UNIQUE INDEX by_b ON public.v USING btree (b, id)"),
                    db.rows("SELECT indexdef FROM pg_indexes WHERE indexname = 'by_b'"));
            db.run("CREATE OR REPLACE MATERIALIZED VIEW v AS SELECT id FROM t");
            assertEquals(List.of("t_pkey", "v_pkey"), names(db));
        }
    }

    @Test
    void aTransactionThatChangedRowsIsInTheWayOfUniqueIndexesOnly() {
        try (TestDatabase db = new TestDatabase();
                Session other = db.database().session()) {
            db.run("CREATE TABLE t (id INT PRIMARY KEY, a INT)");
            other.execute("BEGIN; INSERT INTO t VALUES (1, 1)").drain();
            db.run("CREATE INDEX plain ON t (a)");
            assertTrue(db.error("CREATE UNIQUE INDEX u ON t (a)").startsWith("55006"));
            other.execute("COMMIT").drain();
            db.run("CREATE UNIQUE INDEX u ON t (a)");
            assertTrue(db.error("INSERT INTO t VALUES (2, 1)").startsWith("23505"));
        }
    }
}
