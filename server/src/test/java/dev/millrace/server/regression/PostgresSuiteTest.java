package dev.millrace.server.regression;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.server.pgwire.TestServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/** How statements of PostgreSQL's regression files are compared; with {@code -Dmillrace.postgres.suite=DIR}, the files of a folder. */
class PostgresSuiteTest {
    @TempDir
    private Path folder;

    @BeforeAll
    static void havePsql() throws Exception {
        boolean there;
        try {
            there = new ProcessBuilder("psql", "--version").start().waitFor() == 0;
        } catch (IOException e) {
            there = false;
        }
        if (!there) {
            System.out.println("PostgresSuiteTest skipped because there is no psql on the path");
        }
        Assumptions.assumeTrue(there);
    }

    private RegressionFile.Outcome run(String sql, String expected) throws Exception {
        Files.createDirectories(folder.resolve("sql"));
        Files.createDirectories(folder.resolve("expected"));
        Files.createDirectories(folder.resolve("data"));
        Files.writeString(folder.resolve("sql/own.sql"), sql);
        Files.writeString(folder.resolve("expected/own.out"), expected);
        try (TestServer server = new TestServer()) {
            return new PostgresSuite(folder, server.port(), "millrace").run("own");
        }
    }

    private static void assertOutcome(String expected, RegressionFile.Outcome outcome) {
        assertEquals(
                expected,
                outcome.same() + " of " + outcome.statements()
                        + outcome.differences().stream()
                                .map(one -> "; " + one.place() + ": " + one.cause())
                                .reduce("", String::concat));
    }

    @Test
    void eachStatementIsComparedByItself() throws Exception {
        assertOutcome("3 of 5; 4: other values or names; 8: another number of lines", run("""
                -- a comment; with a semicolon

                SELECT 1 AS one;
                SELECT ';' AS "a;b", 2 AS two; -- not what is expected
                /* SELECT 3; */ SELECT $x$;
                $x$ AS three, E'\\';' AS four;

                SELECT 1 AS n UNION ALL SELECT 2;
                \\echo is no statement
                CREATE TABLE made (a INT);
                """, """
                -- a comment; with a semicolon
                SELECT 1 AS one;
                 one\s
                -----
                   1
                (1 row)

                SELECT ';' AS "a;b", 2 AS two; -- not what is expected
                 a;b | two\s
                -----+-----
                 ;   |   3
                (1 row)

                /* SELECT 3; */ SELECT $x$;
                $x$ AS three, E'\\';' AS four;
                 three | four\s
                -------+------
                 ;    +| ';
                       |\s
                (1 row)

                SELECT 1 AS n UNION ALL SELECT 2;
                 n\s
                ---
                 1
                (1 row)

                \\echo is no statement
                is no statement
                CREATE TABLE made (a INT);
                """));
    }

    @Test
    void errorsAreAlikeWhateverTheirWordsAndNoticesDoNotCount() throws Exception {
        assertOutcome(
                "2 of 4; 2: relation \"..\" does not exist; 3: no error, where PostgreSQL has: division by zero (N)",
                run("""
                SELECT * FROM nowhere;
                SELECT * FROM nowhere;
                SELECT 1 / 1;
                DROP TABLE IF EXISTS nowhere;
                """, """
                SELECT * FROM nowhere;
                ERROR:  said in other words
                SELECT * FROM nowhere;
                SELECT 1 / 1;
                ERROR:  division by zero (42)
                DROP TABLE IF EXISTS nowhere;
                NOTICE:  said in other words, too
                """));
    }

    @Test
    void orderCountsWhereItIsAskedFor() throws Exception {
        String rows = " n \n---\n 2\n 1\n(2 rows)\n\n";
        String free = "SELECT n FROM (VALUES (1), (2)) AS t (n);\n";
        String inside = "SELECT n FROM (SELECT n FROM (VALUES (1), (2)) AS t (n) ORDER BY n) AS u;\n";
        String ordered = "SELECT n FROM (VALUES (1), (2)) AS t (n) ORDER BY n;\n";
        assertOutcome(
                "2 of 3; 3: other values or names",
                run(free + inside + ordered, free + rows + inside + rows + ordered + rows));
    }

    @Test
    void rowsOfTheClientAndOfFilesAreCopied() throws Exception {
        Files.createDirectories(folder.resolve("data"));
        Files.writeString(folder.resolve("data/three.data"), "3\n");
        String answer = " a \n---\n 1\n 3\n 4\n(3 rows)\n\n";
        assertOutcome("5 of 5", run("""
                CREATE TABLE kept (a INT);
                \\set filename :abs_srcdir '/data/three.data'
                COPY kept FROM :'filename';
                COPY kept FROM stdin;
                4
                \\.
                INSERT INTO kept VALUES (1);
                SELECT * FROM kept ORDER BY a;
                """, """
                CREATE TABLE kept (a INT);
                \\set filename :abs_srcdir '/data/three.data'
                COPY kept FROM :'filename';
                COPY kept FROM stdin;
                INSERT INTO kept VALUES (1);
                SELECT * FROM kept ORDER BY a;
                """ + answer));
    }

    @Test
    void whatHasNoAnswerAtAllDiffers() throws Exception {
        assertOutcome("1 of 2; 3: psql had ended", run("""
                CREATE TABLE left_alone (a INT);
                \\q
                CREATE TABLE never (a INT);
                """, """
                CREATE TABLE left_alone (a INT);
                \\q
                CREATE TABLE never (a INT);
                """));
    }

    /** With {@code millrace.postgres.port} the server that listens there is asked, as the user postgres: PostgreSQL itself, say. */
    @Test
    @EnabledIfSystemProperty(named = "millrace.postgres.suite", matches = ".+")
    void theFilesOfAFolder() throws Exception {
        Path regress = Path.of(System.getProperty("millrace.postgres.suite")).toAbsolutePath();
        assertTrue(
                Files.isDirectory(regress.resolve("sql")) && Files.isDirectory(regress.resolve("expected")),
                regress + " is not src/test/regress of PostgreSQL's sources");
        Integer port = Integer.getInteger("millrace.postgres.port");
        if (port != null) {
            runAll(new PostgresSuite(regress, port, "postgres"));
            return;
        }
        try (TestServer server = new TestServer()) {
            runAll(new PostgresSuite(regress, server.port(), "millrace"));
        }
    }

    private static void runAll(PostgresSuite suite) throws Exception {
        String only = System.getProperty("millrace.postgres.files", "");
        SuiteReport report = new SuiteReport("postgres_suite", Path.of("target/postgres-suite"));
        suite.makeTables();
        for (String name : only.isEmpty() ? PostgresSuite.FILES : List.of(only.split(","))) {
            report.add(name, suite.run(name));
        }
        report.end(Boolean.getBoolean("millrace.suite.causes"));
    }
}
