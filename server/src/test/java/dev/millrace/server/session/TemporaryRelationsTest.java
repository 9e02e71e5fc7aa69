package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.error.MillraceException;
import dev.millrace.server.result.StatementResult;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tables and views that are their session's, and go with it. */
class TemporaryRelationsTest {
    private final TestDatabase database = new TestDatabase();

    @AfterEach
    void close() {
        database.close();
    }

    private static List<String> rows(Session session, String sql) {
        try (StatementResult.Rows rows = session.query(sql)) {
            return TestDatabase.texts(rows);
        }
    }

    private static String error(Session session, String sql) {
        MillraceException error =
                assertThrows(MillraceException.class, () -> session.execute(sql).drain());
        return error.sqlState().code() + " " + error.getMessage();
    }

    @Test
    void aTemporaryTableIsItsSessionsAlone() {
        try (Session one = database.database().session();
                Session other = database.database().session()) {
            one.execute("CREATE TEMP TABLE t (a SERIAL, b TEXT UNIQUE)").drain();
            one.execute("INSERT INTO t (b) VALUES ('x'), ('y')").drain();
            assertEquals(List.of("1|x", "2|y"), rows(one, "SELECT * FROM t ORDER BY a"));
            assertEquals("42P01 relation \"t\" does not exist", error(other, "SELECT * FROM t ORDER BY a"));
            other.execute("CREATE TEMPORARY TABLE t (a INT)").drain();
            assertEquals(List.of(), rows(other, "SELECT * FROM t ORDER BY a"));
            assertEquals(List.of("1|x", "2|y"), rows(one, "SELECT * FROM t ORDER BY a"));
        }
    }

    @Test
    void itsNameGoesBeforeThatOfAPermanentTable() {
        database.run("CREATE TABLE t (a INT); INSERT INTO t VALUES (1)");
        try (Session session = database.database().session()) {
            assertEquals(List.of("1"), rows(session, "SELECT a FROM t"));
            session.execute("CREATE LOCAL TEMP TABLE t AS SELECT a + 1 AS a FROM public.t")
                    .drain();
            assertEquals(List.of("2"), rows(session, "SELECT a FROM t"));
            assertEquals(List.of("1"), rows(session, "SELECT a FROM public.t"));
            assertEquals(List.of("2|1"), rows(session, "SELECT pg_temp.t.a, p.a FROM pg_temp.t, public.t AS p"));
            assertEquals(List.of("1"), database.rows("SELECT a FROM t"));
            session.execute("DROP TABLE t").drain();
            assertEquals(List.of("1"), rows(session, "SELECT a FROM t"));
        }
    }

    @Test
    void rowsAreChangedByWhateverChangesRows() {
        try (Session session = database.database().session()) {
            session.execute("CREATE TEMP TABLE t (k INT PRIMARY KEY, v INT) ON COMMIT PRESERVE ROWS")
                    .drain();
            session.execute("INSERT INTO t VALUES (1, 1), (2, 2), (3, 3)").drain();
            session.execute("UPDATE t SET v = v * 10 WHERE k > 1").drain();
            session.execute("DELETE FROM t USING t AS u WHERE t.k = u.k AND u.k = 3")
                    .drain();
            session.execute("INSERT INTO t VALUES (1, 7) ON CONFLICT (k) DO UPDATE SET v = excluded.v")
                    .drain();
            session.execute("ALTER TABLE t ADD COLUMN w TEXT DEFAULT 'w'").drain();
            session.execute("CREATE INDEX ON t (v)").drain();
            session.execute("VACUUM ANALYZE t").drain();
            assertEquals(List.of("1|7|w", "2|20|w"), rows(session, "SELECT * FROM t ORDER BY k"));
            session.execute("BEGIN; INSERT INTO t VALUES (9, 9); ROLLBACK").drain();
            session.execute("TRUNCATE t").drain();
            assertEquals(List.of("0"), rows(session, "SELECT count(*) FROM t"));
        }
    }

    @Test
    void itIsGoneWithItsSessionOrByDiscard() {
        Session session = database.database().session();
        session.execute("CREATE TEMP TABLE t (a INT); CREATE TEMP VIEW v AS SELECT a FROM t; SELECT 1 AS b INTO TEMP i")
                .drain();
        assertEquals(List.of("1"), rows(session, "SELECT b FROM i"));
        session.execute("DISCARD TEMP").drain();
        assertEquals("42P01 relation \"i\" does not exist", error(session, "SELECT * FROM i"));
        session.execute("CREATE TEMP TABLE t (a INT)").drain();
        assertTrue(database.database().instance().catalog().objects().stream()
                .anyMatch(object -> object.name().startsWith("pg_temp_")));
        session.close();
        assertEquals(
                List.of(), List.copyOf(database.database().instance().catalog().objects()));
    }

    @Test
    void aViewOverItIsTemporaryAndWhatIsKeptCurrentMustNotReadIt() {
        try (Session session = database.database().session()) {
            session.execute("CREATE TEMP TABLE t (a INT); INSERT INTO t VALUES (5)")
                    .drain();
            List<String> notices = new ArrayList<>();
            session.onNotice(notices::add);
            session.execute("CREATE VIEW v AS SELECT a FROM t").drain();
            assertEquals(List.of("view \"v\" will be a temporary view"), notices);
            assertEquals(List.of("5"), rows(session, "SELECT * FROM v"));
            assertEquals("42P01 relation \"v\" does not exist", error(database.session(), "SELECT * FROM v"));
            for (String kept : List.of("MATERIALIZED VIEW", "CONTINUOUS QUERY")) {
                assertEquals(
                        "0A000 what is kept current must not read temporary tables or views",
                        error(session, "CREATE " + kept + " m AS SELECT a FROM v"));
            }
        }
    }

    @Test
    void whatItCannotBeIsRefused() {
        Session session = database.session();
        assertEquals(
                "42P16 cannot create temporary relation in non-temporary schema",
                error(session, "CREATE TEMP TABLE public.t (a INT)"));
        assertEquals(
                "0A000 a temporary table that a connector feeds is not available yet",
                error(session, "CREATE TEMP TABLE t (a INT PRIMARY KEY) WITH (connector = 'jdbc')"));
        assertEquals(
                "0A000 ON COMMIT is not available yet", error(session, "CREATE TEMP TABLE t (a INT) ON COMMIT DROP"));
        assertEquals(
                "0A000 a temporary relation of this kind is not available yet",
                error(session, "CREATE TEMP MATERIALIZED VIEW t AS SELECT 1"));
    }

    @Test
    void noneIsLeftInADirectory(@TempDir Path directory) {
        try (TestDatabase kept = new TestDatabase(directory)) {
            kept.run("CREATE TABLE lasting (a INT)");
            Session left = kept.database().session();
            left.execute("CREATE TEMP TABLE t (a INT); INSERT INTO t VALUES (1); CREATE TEMP VIEW v AS SELECT a FROM t")
                    .drain();
            copyOf(directory);
        }
        for (Path opened : List.of(directory, copy(directory))) {
            try (TestDatabase again = new TestDatabase(opened)) {
                assertEquals(
                        List.of("lasting"),
                        again.database().instance().catalog().objects().stream()
                                .map(object -> object.name())
                                .toList());
                assertEquals(List.of("0"), again.rows("SELECT count(*) FROM millrace.not_restored"));
            }
        }
    }

    private static Path copy(Path directory) {
        return directory.resolveSibling(directory.getFileName() + "-copy");
    }

    /** The directory as a process leaves it that is killed now. */
    private static void copyOf(Path directory) {
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.sorted().toList()) {
                Path to = copy(directory).resolve(directory.relativize(file).toString());
                if (Files.isDirectory(file)) {
                    Files.createDirectories(to);
                } else if (!file.getFileName().toString().contains("lock")) {
                    Files.copy(file, to);
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Or it would be dropped when the directory is opened again. */
    @Test
    void aPermanentRelationHasNoNameOfATemporaryOne() {
        try (TestDatabase db = new TestDatabase()) {
            for (String create : new String[] {
                "CREATE TABLE \"pg_temp_1.t\" (a INT)",
                "CREATE VIEW \"pg_temp_1.v\" AS SELECT 1 AS a",
                "CREATE TABLE \"pg_temp_1.u\" AS SELECT 1 AS a"
            }) {
                assertTrue(db.error(create).startsWith("22023 names that begin with pg_temp_"), create);
            }
        }
    }
}
