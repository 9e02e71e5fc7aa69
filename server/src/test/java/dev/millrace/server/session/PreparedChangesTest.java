package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.error.MillraceException;
import dev.millrace.server.result.Description;
import dev.millrace.server.result.StatementResult;
import dev.millrace.server.result.StatementResults;
import dev.millrace.sql.ParsedStatement;
import dev.millrace.sql.bind.type.Parameters;
import dev.millrace.type.DataType;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Changes with parameters are analysed and planned once, and do what each would do with its values written in. */
class PreparedChangesTest {
    private TestDatabase db;

    @BeforeEach
    void open() {
        db = new TestDatabase();
        db.run("CREATE TABLE t (id INTEGER PRIMARY KEY, v BIGINT, name TEXT DEFAULT 'none', at TIMESTAMPTZ)");
        db.run("CREATE TABLE log (id INTEGER, delta BIGINT, at TIMESTAMP)");
        db.run("INSERT INTO t SELECT x, 0, 'n' || x, NULL FROM generate_series(1, 100) g(x)");
    }

    @AfterEach
    void close() {
        db.close();
    }

    /** Executes with the texts of parameters whose types the client leaves open; null is NULL. */
    private String execute(ParsedStatement statement, String... texts) {
        Parameters parameters = Parameters.of(
                List.of(), Arrays.stream(texts).map(Optional::ofNullable).toList());
        try (StatementResult result = db.session().execute(statement, parameters)) {
            return result instanceof StatementResult.Rows rows
                    ? String.join("; ", TestDatabase.texts(rows))
                    : result.toString();
        } catch (MillraceException e) {
            return e.sqlState().code() + " " + e.getMessage();
        }
    }

    private ParsedStatement parse(String sql) {
        return db.session().parse(sql).get(0);
    }

    private long work() {
        return db.database().instance().plans().analyses()
                + db.database().instance().plans().plannings();
    }

    @Test
    void theStatementsOfABankAreAnalysedOnce() {
        ParsedStatement update = parse("UPDATE t SET v = v + $1 WHERE id = $2");
        ParsedStatement read = parse("SELECT v FROM t WHERE id = $1");
        ParsedStatement insert = parse("INSERT INTO log (id, delta, at) VALUES ($1, $2, CURRENT_TIMESTAMP)");
        ParsedStatement delete = parse("DELETE FROM t WHERE id = $1 RETURNING v");
        long before = 0;
        for (int i = 1; i <= 20; i++) {
            if (i == 2) {
                before = work();
            }
            db.session().execute(parse("BEGIN"), Parameters.none()).close();
            assertEquals("UPDATE 1", execute(update, Integer.toString(i), Integer.toString(i)));
            assertEquals("UPDATE 1", execute(update, "1", Integer.toString(i)));
            assertEquals(Integer.toString(i + 1), execute(read, Integer.toString(i)));
            assertEquals("INSERT 0 1", execute(insert, Integer.toString(i), null));
            assertEquals("UPDATE 0", execute(update, "1", null));
            db.session().execute(parse("COMMIT"), Parameters.none()).close();
        }
        long begins = 2 * 19; // BEGIN and COMMIT, which need no names
        assertEquals(before + begins, work());
        assertEquals("2", execute(delete, "1"));
        long deleted = work();
        assertEquals("3", execute(delete, "2"));
        assertEquals("", execute(delete, "2"));
        assertEquals(deleted, work());
        assertEquals(List.of("20|210"), db.rows("SELECT count(*), sum(id) FROM log WHERE at IS NOT NULL"));
        assertEquals(List.of("98|225"), db.rows("SELECT count(*), sum(v) FROM t"));
    }

    @Test
    void oneTimeHoldsForAStatementAndAnotherForTheNext() {
        ParsedStatement insert = parse("INSERT INTO log VALUES ($1, 1, now()), ($1, 2, now())");
        execute(insert, "1");
        String first = db.rows("SELECT max(at) FROM log").get(0);
        while (db.rows("SELECT now()").get(0).equals(first)) {
            Thread.onSpinWait();
        }
        execute(insert, "2");
        assertEquals(List.of("2"), db.rows("SELECT count(DISTINCT at) FROM log"));
    }

    @Test
    void volatileValuesAreDrawnForEachExecution() {
        db.run("CREATE TABLE drawn (id INTEGER PRIMARY KEY, u UUID)");
        ParsedStatement insert = parse("INSERT INTO drawn VALUES ($1, gen_random_uuid())");
        for (int i = 0; i < 5; i++) {
            assertEquals("INSERT 0 1", execute(insert, Integer.toString(i)));
        }
        assertEquals(List.of("5"), db.rows("SELECT count(DISTINCT u) FROM drawn"));
    }

    @Test
    void whatTheCatalogSaysNowHolds() {
        ParsedStatement insert = parse("INSERT INTO t (id, v) VALUES ($1, $2)");
        ParsedStatement update = parse("UPDATE t SET v = $2 WHERE id = $1");
        assertEquals("INSERT 0 1", execute(insert, "200", "1"));
        assertEquals("UPDATE 1", execute(update, "200", "2"));
        db.run("ALTER TABLE t ALTER COLUMN name SET DEFAULT 'later'");
        db.run("ALTER TABLE t ADD CONSTRAINT few CHECK (v < 1000)");
        assertEquals("INSERT 0 1", execute(insert, "201", "1"));
        assertEquals(List.of("later"), db.rows("SELECT name FROM t WHERE id = 201"));
        assertTrue(execute(insert, "202", "5000").startsWith("23514"));
        assertTrue(execute(update, "201", "5000").startsWith("23514"));
        db.run("DROP TABLE t");
        assertTrue(execute(update, "201", "5").startsWith("42P01"));
        db.run("CREATE TABLE t (id TEXT PRIMARY KEY, v NUMERIC(6,1))");
        assertEquals("INSERT 0 1", execute(insert, "a", "1.25"));
        assertEquals("UPDATE 1", execute(update, "a", "2.25"));
        assertEquals(List.of("a|2.3"), db.rows("SELECT * FROM t"));
    }

    @Test
    void rightsAreAskedForAtEachExecution() {
        ParsedStatement insert = parse("INSERT INTO t (id, v) VALUES ($1, $2)");
        ParsedStatement update = parse("UPDATE t SET v = $2 WHERE id = $1");
        execute(insert, "200", "1");
        execute(update, "200", "1");
        db.run("CREATE ROLE guest LOGIN");
        db.run("GRANT INSERT ON t TO guest");
        db.run("SET ROLE guest");
        assertEquals("INSERT 0 1", execute(insert, "201", "1"));
        assertTrue(execute(update, "200", "1").startsWith("42501"));
        db.run("RESET ROLE");
        db.run("REVOKE INSERT ON t FROM guest");
        db.run("SET ROLE guest");
        assertTrue(execute(insert, "202", "1").startsWith("42501"));
    }

    @Test
    void aReadOnlyTransactionRefusesThem() {
        ParsedStatement update = parse("UPDATE t SET v = $2 WHERE id = $1");
        execute(update, "1", "1");
        db.run("BEGIN READ ONLY");
        assertTrue(execute(update, "1", "2").startsWith("25006"));
        db.run("ROLLBACK");
        assertEquals(List.of("1"), db.rows("SELECT v FROM t WHERE id = 1"));
    }

    @Test
    void errorsOfComputationAreThoseOfTheStatementWithItsValues() {
        ParsedStatement update = parse("UPDATE t SET v = 1 / $2 WHERE id = $1");
        assertEquals("UPDATE 1", execute(update, "1", "1"));
        assertEquals(db.error("UPDATE t SET v = 1 / '0' WHERE id = '1'"), execute(update, "1", "0"));
        assertEquals("UPDATE 0", execute(update, "-1", "1"));
        assertEquals("UPDATE 1", execute(update, "1", "1"));
    }

    /** Each value by a prepared INSERT, UPDATE, read and DELETE, and written in: the same rows, tags and errors. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            nullValues = "-",
            value = {
                "SMALLINT|7;-3;40000;x; 8 ;1.5;-",
                "INTEGER|7;2147483648;+5;;-",
                "BIGINT|7;9223372036854775808;123456789012345678;0x1F;-",
                "REAL|1.5;1e40;NaN;-0;-",
                "DOUBLE PRECISION|1.5;1e400;Infinity;abc;-",
                "NUMERIC(6,2)|1.005;1.004;99999.99;NaN;1e3;-",
                "NUMERIC|1.005;1e3;12345678901234567890.123;-",
                "VARCHAR(3)|abc;abcd;abc  ;ä;-",
                "CHAR(3)|ab;abcd;abc  ;a ;-",
                "TEXT|abc;it''s;;-",
                "BOOLEAN|t;yes;2;off;-",
                "DATE|2024-02-29;2023-02-29;infinity;now;-",
                "TIME|12:30;24:00;25:00;-",
                "TIMESTAMP|2024-02-29 12:00;2024-02-29T12:00:00.1234567;x;-",
                "TIMESTAMPTZ|2024-02-29 12:00+02;2024-02-29 12:00;x;-",
                "INTERVAL|1 day;90 minutes;x;-",
                "UUID|00000000-0000-0000-0000-000000000001;x;-",
                "JSONB|{\"a\": 1};[1,2];{;-",
                "BYTEA|\\x00ff;abc;\\xz;-",
                "INTEGER[]|{1,2};{1,x};{};-",
            })
    void aValueIsWhatItIsWrittenIn(String type, String values) {
        for (String name : List.of("a", "b")) {
            db.run("CREATE TABLE " + name + " (id INTEGER PRIMARY KEY, c " + type + ", d " + type + ")");
            db.run("INSERT INTO " + name + " VALUES (0, NULL, NULL)");
        }
        ParsedStatement insert = parse("INSERT INTO a (id, c) VALUES ($1, $2)");
        ParsedStatement update = parse("UPDATE a SET d = $2 WHERE id = $1");
        ParsedStatement read = parse("SELECT c = $2, id FROM a WHERE id = $1");
        ParsedStatement delete = parse("DELETE FROM a WHERE id = $1 AND c = $2");
        List<String> all = Arrays.stream(values.split(";", -1))
                .map(value -> value.equals("-") ? null : value)
                .toList();
        for (int round = 0; round < 2; round++) {
            for (int i = 0; i < all.size(); i++) {
                String value = all.get(i);
                String id = Integer.toString(1 + i + 100 * round);
                String written = value == null ? "NULL" : "'" + value.replace("'", "''") + "'";
                assertEquals(
                        direct("INSERT INTO b (id, c) VALUES ('" + id + "', " + written + ")"),
                        execute(insert, id, value));
                assertEquals(direct("UPDATE b SET d = " + written + " WHERE id = '0'"), execute(update, "0", value));
                assertEquals(
                        direct("SELECT c = " + written + ", id FROM b WHERE id = '" + id + "'"),
                        execute(read, id, value));
                assertEquals(db.rows("SELECT * FROM b"), db.rows("SELECT * FROM a"));
                if (round > 0) {
                    assertEquals(
                            direct("DELETE FROM b WHERE id = '" + id + "' AND c = " + written),
                            execute(delete, id, value));
                }
            }
        }
        assertEquals(db.rows("SELECT * FROM b"), db.rows("SELECT * FROM a"));
    }

    /** Without the position, which is another in another text. */
    private String direct(String sql) {
        try (StatementResults results = db.session().execute(sql)) {
            StatementResult result = results.next();
            return result instanceof StatementResult.Rows rows
                    ? String.join("; ", TestDatabase.texts(rows))
                    : result.toString();
        } catch (MillraceException e) {
            return (e.sqlState().code() + " " + e.getMessage()).replace("relation \"b\"", "relation \"a\"");
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "VARCHAR(3)|abc|abcd",
                "CHAR(3)|ab|ab ",
                "CHAR(3)|abc|abcd",
                "TEXT|abc|abc ",
                "NUMERIC(6,2)|1.01|1.005",
                "NUMERIC(6,2)|1.00|1.001",
                "SMALLINT|7|70000",
                "DATE|2024-01-01|2024-01-01",
                "BYTEA|\\x61|a",
            })
    void aKeyIsFoundByWhatWouldBeEqualToIt(String type, String key, String asked) {
        db.run("CREATE TABLE k (c " + type + " PRIMARY KEY, v INTEGER)");
        db.run("INSERT INTO k VALUES ('" + key + "', 1)");
        ParsedStatement read = parse("SELECT v FROM k WHERE c = $1");
        ParsedStatement update = parse("UPDATE k SET v = v + 1 WHERE c = $1");
        String expected = direct("SELECT v FROM k WHERE c = '" + asked + "'");
        assertEquals(expected, execute(read, asked));
        String changes = direct("UPDATE k SET v = v + 1 WHERE c = '" + asked + "'");
        assertEquals(changes, execute(update, asked));
        assertEquals(changes.equals("UPDATE 1") ? "3" : "1", execute(read, key));
    }

    @Test
    void declaredTypesHold() {
        ParsedStatement update = parse("UPDATE t SET v = $1 WHERE id = $2");
        Parameters integers =
                Parameters.of(List.of(DataType.INTEGER, DataType.BIGINT), List.of(Optional.of("5"), Optional.of("4")));
        Parameters text =
                Parameters.of(List.of(DataType.TEXT, DataType.BIGINT), List.of(Optional.of("5"), Optional.of("4")));
        db.session().execute(update, integers).close();
        assertEquals(List.of("5"), db.rows("SELECT v FROM t WHERE id = 4"));
        assertFalse(tryExecute(update, text));
        db.session().execute(update, integers).close();
    }

    @Test
    void whatAStatementTakesAndGivesIsFoundOnce() {
        ParsedStatement read = parse("SELECT v, name FROM t WHERE id = $1 AND v > $2");
        Description first = db.session().prepared().describe(read, List.of());
        long before = work();
        assertEquals(
                first,
                db.session().prepared().describe(parse("SELECT v, name FROM t WHERE id = $1 AND v > $2"), List.of()));
        assertEquals(before, work());
        assertEquals(
                List.of(DataType.BIGINT, DataType.BIGINT),
                db.session().prepared().describe(read, List.of(DataType.BIGINT)).parameters());
        db.run("DROP TABLE t");
        db.run("CREATE TABLE t (id TEXT PRIMARY KEY, v INTEGER, name BOOLEAN)");
        Description later = db.session().prepared().describe(read, List.of());
        assertEquals(List.of(DataType.TEXT, DataType.INTEGER), later.parameters());
        assertEquals(DataType.BOOLEAN, later.columns().orElseThrow().type(1));
    }

    @Test
    void aValueOfAWiderTypeThatDoesNotFitIsToldOf() {
        db.run("CREATE TABLE s (id INTEGER PRIMARY KEY, c SMALLINT)");
        ParsedStatement insert = parse("INSERT INTO s VALUES ($1, $2)");
        List<DataType> integers = List.of(DataType.INTEGER, DataType.INTEGER);
        for (String value : List.of("1", "40000", "2")) {
            Parameters parameters = Parameters.of(integers, List.of(Optional.of(value), Optional.of(value)));
            try (StatementResult result = db.session().execute(insert, parameters)) {
                assertEquals("INSERT 0 1", result.toString());
            } catch (MillraceException e) {
                assertEquals("22003", e.sqlState().code());
            }
        }
        assertEquals(List.of("1|1", "2|2"), db.rows("SELECT * FROM s"));
    }

    private boolean tryExecute(ParsedStatement statement, Parameters parameters) {
        try {
            db.session().execute(statement, parameters).close();
            return true;
        } catch (MillraceException e) {
            assertEquals("42804", e.sqlState().code());
            return false;
        }
    }
}
