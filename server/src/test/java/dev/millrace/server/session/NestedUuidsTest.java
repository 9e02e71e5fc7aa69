package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** UUIDs inside arrays and rows go wherever others go: Arrow's own copy of nested values does not know them. */
class NestedUuidsTest {
    private static final String A = "00000000-0000-0000-0000-00000000000a";
    private static final String B = "ffffffff-ffff-ffff-ffff-fffffffffffb";

    private final TestDatabase db = new TestDatabase();

    @BeforeEach
    void fill() {
        db.run("CREATE TABLE ids (i INTEGER, u UUID[])");
        db.run("INSERT INTO ids VALUES (1, ARRAY['" + A + "', NULL, '" + B
                + "']::uuid[]), (2, NULL), (3, '{}'), (4, ARRAY['" + B + "']::uuid[])");
    }

    @AfterEach
    void close() {
        db.close();
    }

    @Test
    void pass() {
        String both = "{" + A + ",NULL," + B + "}";
        assertEquals(List.of("1|" + both, "2|", "3|{}"), db.rows("SELECT i, u FROM ids WHERE i < 4"));
        assertEquals(
                List.of("1|" + both, "4|{" + B + "}"),
                db.rows("SELECT a.i, a.u FROM ids a JOIN ids b ON a.i = b.i WHERE cardinality(b.u) > 0"));
        assertEquals(List.of("", "", both, "{}"), db.rows("SELECT lag(u) OVER (ORDER BY i) FROM ids"));
        assertEquals(List.of("", A, B, B), db.rows("SELECT x FROM ids CROSS JOIN unnest(u) AS e(x)"));
    }

    @Test
    void areInAnswersThatAreKept() {
        db.run(
                "CREATE MATERIALIZED VIEW v AS SELECT i, array_agg(ROW(x, i)) AS r FROM ids CROSS JOIN unnest(u) AS e(x) GROUP BY i");
        db.run("DELETE FROM ids WHERE i = 1");
        assertEquals(List.of("4|{\"(" + B + ",4)\"}"), db.flushedRows("SELECT i, r FROM v WHERE i > 0"));
        assertEquals(
                List.of("1", "3"),
                db.rows(
                        "SELECT count(j::text) FROM (SELECT json_group_object(x, true) OVER (ORDER BY i) AS j FROM (VALUES (1, '"
                                + A + "'::uuid)) AS t(i, x)) AS q UNION ALL SELECT 3"));
        assertEquals(
                List.of("2"),
                db.rows("SELECT count(*) FROM (SELECT lag(u, 1, u) OVER (ORDER BY i) AS l FROM ids WHERE i > 2) AS q"));
    }
}
