package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.error.MillraceException;
import dev.millrace.server.result.StatementResult;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Texts that differ in constants share a statement, which is prepared once, and say what each says alone. */
@Tag("long")
class AdHocStatementsTest {
    private TestDatabase db;
    private int shared;

    @BeforeEach
    void open() {
        db = new TestDatabase();
        db.run("CREATE TABLE t (id INTEGER PRIMARY KEY, v BIGINT, name TEXT)");
        db.run("INSERT INTO t SELECT x, 0, 'n' || x FROM generate_series(1, 1000) g(x)");
    }

    @AfterEach
    void close() {
        db.close();
    }

    private static String text(StatementResult result) {
        try (result) {
            if (!(result instanceof StatementResult.Rows rows)) {
                return result.toString();
            }
            String types = rows.schema().fields().stream()
                    .map(field -> field.name() + " " + field.type())
                    .toList()
                    .toString();
            return types + String.join("; ", TestDatabase.texts(rows));
        }
    }

    /** As a client's simple query has it. */
    private String ask(String sql) {
        try {
            Optional<StatementResult> result =
                    db.session().adHoc(sql).flatMap(adHoc -> db.session().execute(adHoc));
            shared += result.isPresent() ? 1 : 0;
            return text(result.orElseGet(() -> db.session().execute(sql).next()));
        } catch (MillraceException e) {
            return e.sqlState().code() + " " + e.getMessage();
        }
    }

    private String alone(String sql) {
        try {
            return text(db.session().execute(sql).next());
        } catch (MillraceException e) {
            return e.sqlState().code() + " " + e.getMessage();
        }
    }

    private long work() {
        return db.database().instance().plans().analyses()
                + db.database().instance().plans().plannings();
    }

    @Test
    void textsThatAreAlikeArePreparedOnce() {
        long before = 0;
        for (int i = 1; i <= 50; i++) {
            if (i == 3) {
                before = work();
            }
            assertEquals("UPDATE 1", ask("UPDATE t SET v = v + " + (i - 30) + " WHERE id = " + i));
            assertTrue(ask("SELECT v FROM t WHERE id = " + i).endsWith("]" + (i - 30)));
            assertEquals(
                    "INSERT 0 1",
                    ask("INSERT INTO t (id, v, name) VALUES (" + (2000 + i) + ", " + i + ", 'x" + i + "')"));
            assertEquals("DELETE 1", ask("DELETE FROM t WHERE id = " + (1001 - i)));
        }
        assertEquals(before, work());
        assertEquals(4 * 49, shared);
        assertEquals(4 * 49, db.database().instance().adHoc().hits());
        assertEquals(4, db.database().instance().adHoc().entries());
        assertEquals(
                List.of("4|196|4"),
                db.rows("SELECT entries, hits, misses FROM millrace.plan_cache WHERE cache = 'shared by texts'"));
    }

    @Test
    void whatIsNotByKeyIsPlannedWithItsConstants() {
        for (int i = 0; i < 5; i++) {
            assertTrue(ask("SELECT count(*) FROM t WHERE v = " + i).endsWith(i == 0 ? "]1000" : "]0"));
            assertTrue(ask("SELECT id FROM t WHERE v > " + i + " ORDER BY 1").endsWith("]"));
        }
        assertEquals(0, shared);
        assertEquals(10, db.database().instance().adHoc().misses());
        assertEquals(0, db.database().instance().adHoc().hits());
    }

    @Test
    void definitionsAndRightsOfNowHold() {
        for (int i = 1; i < 4; i++) {
            ask("SELECT * FROM t WHERE id = " + i);
            ask("UPDATE t SET v = 1 WHERE id = " + i);
        }
        assertEquals(4, shared);
        db.run("ALTER TABLE t ADD COLUMN w INTEGER DEFAULT 5");
        assertTrue(ask("SELECT * FROM t WHERE id = 7").endsWith("]7|0|n7|5"));
        db.run("CREATE ROLE guest LOGIN");
        db.run("SET ROLE guest");
        assertTrue(ask("SELECT * FROM t WHERE id = 8").startsWith("42501"));
        assertTrue(ask("UPDATE t SET v = 1 WHERE id = 8").startsWith("42501"));
        db.run("RESET ROLE");
        db.run("GRANT SELECT ON t TO guest");
        db.run("SET ROLE guest");
        assertTrue(ask("SELECT * FROM t WHERE id = 8").endsWith("]8|0|n8|5"));
        db.run("RESET ROLE");
        db.run("REVOKE SELECT ON t FROM guest");
        db.run("SET ROLE guest");
        assertTrue(ask("SELECT * FROM t WHERE id = 9").startsWith("42501"));
        db.run("RESET ROLE");
        db.run("DROP TABLE t");
        assertTrue(ask("SELECT * FROM t WHERE id = 9").startsWith("42P01"));
        db.run("CREATE TABLE t (id TEXT, v BIGINT)");
        assertEquals(alone("SELECT * FROM t WHERE id = 10"), ask("SELECT * FROM t WHERE id = 10"));
        db.run("DROP TABLE t");
        db.run("CREATE TABLE t (id BIGINT PRIMARY KEY, v BIGINT)");
        db.run("INSERT INTO t VALUES (11, 11)");
        assertTrue(ask("SELECT * FROM t WHERE id = 11").endsWith("]11|11"));
    }

    @Test
    void aViewInThePlaceOfATableIsRead() {
        for (int i = 1; i < 4; i++) {
            ask("SELECT v FROM t WHERE id = " + i);
        }
        db.run("CREATE TABLE old (id INTEGER PRIMARY KEY, v BIGINT)");
        db.run("INSERT INTO old SELECT id, v FROM t");
        db.run("DROP TABLE t");
        db.run("CREATE VIEW t AS SELECT id, v + 100 AS v FROM old");
        assertTrue(ask("SELECT v FROM t WHERE id = 4").endsWith("]100"));
        db.run("CREATE OR REPLACE VIEW t AS SELECT id, v + 200 AS v FROM old");
        assertTrue(ask("SELECT v FROM t WHERE id = 5").endsWith("]200"));
    }

    @Test
    void whatDiffersEachTimeDoes() {
        db.run("CREATE TABLE drawn (id INTEGER PRIMARY KEY, u UUID, who TEXT)");
        for (int i = 0; i < 5; i++) {
            ask("INSERT INTO drawn VALUES (" + i + ", gen_random_uuid(), current_user)");
        }
        assertEquals(List.of("5|1"), db.rows("SELECT count(DISTINCT u), count(DISTINCT who) FROM drawn"));
        String user = ask("SELECT current_user, v FROM t WHERE id = 1");
        assertEquals(user, ask("SELECT current_user, v FROM t WHERE id = 2"));
        db.run("CREATE ROLE guest LOGIN");
        db.run("GRANT SELECT ON t TO guest");
        db.run("SET ROLE guest");
        assertTrue(ask("SELECT current_user, v FROM t WHERE id = 3").endsWith("]guest|0"));
    }

    @Test
    void manyTextsOnlyTakeTheRoomThatThereIs() {
        for (int i = 0; i < 3_000; i++) {
            ask("SELECT id AS a" + i + " FROM t WHERE id = 5000");
        }
        assertTrue(db.database().instance().adHoc().entries() < 1_100);
    }

    @Test
    void aTextThatIsNestedTooDeeplySaysSoEachTime() {
        String sql = "SELECT v FROM t WHERE " + "(".repeat(900) + "id = 5" + ")".repeat(900);
        String first = alone(sql);
        for (int i = 0; i < 3; i++) {
            assertTrue(db.session().adHocAtHand(sql).isEmpty());
            assertEquals(first, ask(sql));
            ask(sql.replace("5", "6"));
        }
    }

    @Test
    void whatIsAtHandIsNotParsedForIt() {
        assertTrue(db.session().adHocAtHand("SELECT v FROM t WHERE id = 1").isEmpty());
        ask("SELECT v FROM t WHERE id = 1");
        assertTrue(db.session().adHocAtHand("SELECT v FROM t WHERE id = 2").isEmpty());
        ask("SELECT v FROM t WHERE id = 2");
        assertTrue(db.session().adHocAtHand("SELECT v FROM t WHERE id = 3").isPresent());
    }

    /** Numbers and texts of them beside columns of all types, by UPDATE, INSERT, reads and DELETE: what each says alone. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "SMALLINT|7;-3;40000;3000000000;'7';'x'",
                "INTEGER|7;-2147483647;2147483648;-3000000000;'7';'x'",
                "BIGINT|7;3000000000;-3000000000;'9'",
                "REAL|7;16777217;'1.5';'x'",
                "DOUBLE PRECISION|7;-7;'1e400'",
                "NUMERIC(6,2)|7;-7;99999;'1.005';'99999'",
                "NUMERIC(38,10)|7;3000000000;'1.00000000001'",
                "NUMERIC|7;'1.005'",
                "VARCHAR(3)|7;1234;'abc';'abcd'",
                "CHAR(3)|7;'ab ';'abcd'",
                "TEXT|7;'it''s'",
                "BOOLEAN|1;'t';'x'",
                "DATE|7;'2024-01-01';'x'",
                "TIMESTAMP|7;'2024-01-01'",
                "INTERVAL|7;'1 day'",
                "UUID|7;'00000000-0000-0000-0000-000000000001'",
                "BYTEA|7;'\\x61'",
                "JSONB|7;'[1]';'['",
            })
    void aConstantIsWhatItIsAlone(String type, String constants) {
        for (String name : List.of("a", "b")) {
            db.run("CREATE TABLE " + name + " (id INTEGER PRIMARY KEY, c " + type + ", d " + type + ")");
        }
        for (int round = 0; round < 3; round++) {
            for (String constant : constants.split(";")) {
                for (String sql : List.of(
                        "INSERT INTO a (id, c) VALUES (" + round + ", " + constant + ") ON CONFLICT DO NOTHING",
                        "UPDATE a SET c = " + constant + " WHERE id = " + round,
                        "UPDATE a SET d = c + " + constant + " WHERE id = " + round,
                        "UPDATE a SET d = c - " + constant + ", c = d WHERE id = " + round,
                        "SELECT c = " + constant + " AS e, c, d FROM a WHERE id = " + round,
                        "SELECT c FROM a WHERE id = " + round + " AND c < " + constant,
                        "SELECT c FROM a WHERE id IN (1, " + round + ") AND c IN (" + constant + ", NULL)",
                        "SELECT * FROM a WHERE id = " + constant,
                        "DELETE FROM a WHERE id = 2 AND c = " + constant)) {
                    String other = sql.replace(" a ", " b ");
                    assertEquals(alone(other).replace("\"b\"", "\"a\""), ask(sql), sql);
                    assertEquals(db.rows("SELECT * FROM b"), db.rows("SELECT * FROM a"), sql);
                }
            }
        }
        assertTrue(shared > 0);
    }
}
