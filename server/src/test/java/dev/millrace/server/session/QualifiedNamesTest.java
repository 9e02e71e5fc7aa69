package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A schema before a name means what it says. */
class QualifiedNamesTest {
    private TestDatabase db;

    @BeforeEach
    void open() {
        db = new TestDatabase();
        db.run("CREATE TABLE users (id BIGINT PRIMARY KEY, name TEXT)");
        db.run("INSERT INTO users VALUES (1, 'a'), (2, 'b')");
        db.run("CREATE VIEW seen AS SELECT * FROM users");
        db.run("CREATE MATERIALIZED VIEW counted AS SELECT count(*) AS n FROM public.users");
    }

    @AfterEach
    void close() {
        db.close();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "SELECT public.users.id FROM users WHERE public.users.name = 'b'",
                "SELECT public.users.id FROM public.users WHERE users.name = 'b'",
                "SELECT users.id FROM public.users GROUP BY public.users.id HAVING public.users.id > 1",
                "SELECT public.seen.id FROM seen WHERE public.seen.name = 'b' ORDER BY public.seen.id",
                "SELECT id FROM users WHERE EXISTS (SELECT 1 FROM counted WHERE counted.n = public.users.id)",
                "SELECT a.id FROM users a JOIN public.users ON a.id = public.users.id WHERE public.users.name = 'b'",
                "SELECT millrace.public.users.id FROM users WHERE id = 2",
                "SELECT id FROM millrace.public.users WHERE id = 2",
                "SELECT users.id FROM users JOIN seen USING (id) WHERE public.seen.id = 2",
            })
    void itsOwnSchemaFindsIt(String query) {
        assertEquals(List.of("2"), db.rows(query));
    }

    @Test
    void starsTooAreOfASchema() {
        assertEquals(List.of("1|a", "2|b"), db.rows("SELECT public.users.* FROM users"));
        assertEquals("42P01", code("SELECT nope.users.* FROM users"));
        assertEquals("42P01", code("SELECT count(nope.users.*) FROM users"));
        assertEquals(List.of("2"), db.rows("SELECT count(public.users.*) FROM users"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "SELECT nope.users.id FROM users",
                "SELECT id FROM users WHERE s2.users.id = s1.users.id",
                "SELECT pg_catalog.users.id FROM users",
                "SELECT elsewhere.public.users.id FROM users",
                "SELECT public.u.id FROM users u",
                "SELECT public.users.id FROM users u",
                "SELECT public.q.id FROM (SELECT id FROM users) q",
                "WITH c1 AS (SELECT 1 AS id) SELECT public.c1.id FROM c1",
                "WITH c1 AS (SELECT 1 AS id) SELECT id FROM public.c1",
                "SELECT id FROM nope.users",
                "INSERT INTO nope.users VALUES (3, 'c')",
                "UPDATE users SET name = 'x' WHERE nope.users.id = 1",
                "UPDATE users u SET name = 'x' WHERE public.users.id = 1",
                "DELETE FROM users WHERE nope.users.id = 1",
                "SELECT id FROM users ORDER BY nope.users.id",
                "SELECT nope.users.id, count(*) FROM users GROUP BY nope.users.id",
                "SELECT 1 FROM users WHERE EXISTS (SELECT 1 FROM counted WHERE n = nope.users.id)",
                "SELECT pg_class.relname FROM public.pg_class",
                "CREATE MATERIALIZED VIEW v AS SELECT nope.users.id FROM users",
            })
    void anotherSchemaDoesNot(String statement) {
        assertEquals("42P01", code(statement));
    }

    @Test
    void aNameOfWithHidesARelationButNotOneWithItsSchema() {
        assertEquals(List.of("1", "2"), db.rows("WITH users AS (SELECT 7 AS id) SELECT id FROM public.users"));
        assertEquals(List.of("7"), db.rows("WITH users AS (SELECT 7 AS id) SELECT id FROM users"));
    }

    @Test
    void systemRelationsHaveSchemas() {
        assertEquals(
                List.of("users"),
                db.rows("SELECT pg_catalog.pg_class.relname FROM pg_class WHERE pg_class.relname = 'users'"));
        assertEquals(
                List.of("users"),
                db.rows("SELECT information_schema.tables.table_name FROM information_schema.tables"
                        + " WHERE tables.table_name = 'users'"));
        assertEquals("42P01", code("SELECT public.pg_class.relname FROM pg_class"));
    }

    @Test
    void whatIsChangedHasItsSchema() {
        assertEquals("UPDATE 1", db.run("UPDATE public.users SET name = 'x' WHERE public.users.id = 1"));
        assertEquals(
                List.of("1|x"),
                db.rows("UPDATE users SET name = 'x' WHERE id = 1 RETURNING public.users.id, users.name"));
        assertEquals(
                "INSERT 0 1",
                db.run(
                        "INSERT INTO users VALUES (1, 'y') ON CONFLICT (id) DO UPDATE SET name = excluded.name || public.users.name"));
        assertEquals(List.of("1|yx"), db.rows("DELETE FROM users WHERE public.users.id = 1 RETURNING public.users.*"));
        assertEquals(
                "MERGE 1",
                db.run("MERGE INTO users USING (VALUES (2)) s(i) ON public.users.id = s.i WHEN MATCHED THEN DELETE"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "TABLE s9.t9 (a INT)",
                "TABLE s9.t9 AS SELECT 1 AS a",
                "STREAM s9.t9 (a INT)",
                "VIEW s9.t9 AS SELECT 1 AS a",
                "MATERIALIZED VIEW s9.t9 AS SELECT 1 AS a",
                "CONTINUOUS QUERY s9.t9 AS SELECT * FROM users",
            })
    void nothingIsMadeInASchemaThatIsNotThere(String what) {
        assertEquals("3F000", code("CREATE " + what));
        assertEquals(List.of(), db.rows("SELECT relname FROM pg_class WHERE relname LIKE '%t9'"));
        assertEquals("42P01", code("SELECT * FROM s9.t9"));
    }

    @Test
    void nothingNewHasADotInItsName() {
        assertEquals("42602", code("CREATE TABLE \"s9.t9\" (a INT)"));
        assertEquals("42602", code("CREATE VIEW \"s9.t9\" AS SELECT 1 AS a"));
        db.run("CREATE SCHEMA s9");
        assertEquals("42602", code("CREATE STREAM \"s9.t9\" (a INT)"));
        assertEquals("42P01", code("SELECT * FROM s9.t9"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "DROP TABLE s9.t9",
                "DROP TABLE users, s9.t9",
                "ALTER TABLE s9.t9 ADD COLUMN b INT",
                "ALTER TABLE s9.t9 OWNER TO millrace",
                "GRANT SELECT ON s9.t9 TO PUBLIC",
                "CREATE INDEX ON s9.t9 (a)",
                "DROP INDEX s9.t9_a_idx",
                "SHOW CREATE TABLE s9.t9",
                "DROP FUNCTION s9.twice",
            })
    void aSchemaThatIsNotThereIsSaidNotToBe(String statement) {
        db.run("CREATE TABLE t9 (a INT)");
        db.run("CREATE INDEX t9_a_idx ON t9 (a)");
        assertEquals("3F000", code(statement));
        db.run("DROP TABLE IF EXISTS s9.t9");
        assertEquals(List.of(), db.rows("SELECT a FROM t9"));
        assertEquals(List.of("1", "2"), db.rows("SELECT id FROM users"));
    }

    @Test
    void functionsTypesAndOperatorsHaveSchemas() {
        db.run("CREATE FUNCTION twice(x INT) RETURNS INT LANGUAGE SQL AS 'SELECT x * 2'");
        assertEquals(
                List.of("4|4|1|7|3"),
                db.rows("SELECT twice(2), public.twice(2), pg_catalog.length('a'), 7::pg_catalog.int4,"
                        + " 1 OPERATOR(pg_catalog.+) 2"));
        for (String query : List.of(
                "SELECT nope.twice(2)",
                "SELECT nope.length('a')",
                "SELECT nope.count(*) FROM users",
                "SELECT nope.sum(id) OVER () FROM users",
                "SELECT nope.row_number() OVER () FROM users",
                "SELECT * FROM nope.generate_series(1, 2)",
                "SELECT 1 OPERATOR(nope.+) 2")) {
            assertEquals("3F000", code(query), query);
        }
        assertEquals("42704", code("SELECT 1::nope.int4"));
        assertEquals("42704", code("CREATE TABLE t (a nope.int4)"));
        assertEquals("42883", code("SELECT public.length('a')"));
        assertEquals("42883", code("SELECT pg_catalog.twice(2)"));
    }

    @Test
    void relationsOfAnotherDatabaseAreRefused() {
        assertEquals("0A000", code("SELECT * FROM other.public.users"));
        assertEquals("42601", code("SELECT * FROM a.b.c.users"));
        assertEquals("0A000", code("CREATE TABLE a.b.c (d INT)"));
    }

    private String code(String statement) {
        return db.failure(statement).sqlState().code();
    }
}
