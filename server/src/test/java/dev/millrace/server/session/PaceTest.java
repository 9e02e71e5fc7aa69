package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.millrace.testing.time.Eventually;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** EMIT EVERY, by the machine's clock. */
class PaceTest {
    private final TestDatabase db = new TestDatabase();

    @AfterEach
    void close() {
        db.close();
    }

    @Test
    void changesAreHeldBackForThePeriod() {
        db.run("CREATE TABLE t (id INTEGER PRIMARY KEY, v INTEGER)");
        db.run("CREATE MATERIALIZED VIEW slow AS SELECT sum(v) AS total FROM t EMIT EVERY INTERVAL '1 hour'");
        db.flushedRows("SELECT * FROM slow");
        db.run("INSERT INTO t VALUES (1, 1)");
        List<String> first = db.flushedRows("SELECT * FROM slow");
        db.run("INSERT INTO t VALUES (2, 2), (3, 3)");
        db.run("DELETE FROM t WHERE id = 2");
        assertEquals(first, db.flushedRows("SELECT * FROM slow"));
    }

    @Test
    void whatWasHeldBackIsEmittedThoughNothingComes() {
        db.run("CREATE TABLE t (id INTEGER PRIMARY KEY, v INTEGER)");
        db.run("CREATE MATERIALIZED VIEW often AS SELECT sum(v) AS total FROM t EMIT EVERY INTERVAL '30 milliseconds'");
        for (int i = 1; i <= 4; i++) {
            db.run("INSERT INTO t VALUES (" + i + ", " + i + ")");
        }
        Eventually.holds("all is shown", () -> db.rows("SELECT * FROM often").equals(List.of("10")));
    }

    @Test
    void theFinalAnswerIsThereWhenABoundedInputEnds() {
        db.run("CREATE STREAM numbers (n BIGINT) WITH (connector = 'datagen', rows = 1000," + " n.kind = 'sequence')");
        db.run("CREATE MATERIALIZED VIEW slow AS SELECT count(*) AS n FROM numbers EMIT EVERY INTERVAL '1 hour'");
        assertEquals(List.of("1000"), db.flushedRows("SELECT * FROM slow"));
    }
}
