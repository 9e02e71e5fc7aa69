package dev.millrace.server.regression;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.Millrace;
import dev.millrace.server.session.Database;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/**
 * How files of sqllogictest are compared; with {@code -Dmillrace.risingwave.suite=DIR}, RisingWave's own, with {@code
 * -Dmillrace.risingwave.files=REGEX} some of them.
 */
class SltSuiteTest {
    /** Folders that are about SQL; the others need RisingWave's programs, or brokers and stores of their own. */
    private static final List<String> FOLDERS = List.of("batch", "streaming", "ddl", "dml");

    @TempDir
    private Path folder;

    private String outcome(String text) throws Exception {
        Path file = folder.resolve("own.slt");
        Files.writeString(file, text);
        try (Database database = Millrace.open();
                SltRun run = new SltRun(database)) {
            RegressionFile.Outcome outcome = run.run(SltScript.read(file));
            return outcome.same() + " of " + outcome.statements()
                    + outcome.differences().stream()
                            .map(one -> "; " + one.place() + ": " + one.cause())
                            .collect(Collectors.joining());
        }
    }

    @Test
    void statementsAndRowsAreComparedOneByOne() throws Exception {
        assertEquals(
                "6 of 10; own.slt:18: other values; own.slt:28: another number of rows; own.slt:42: no error where one is"
                        + " expected; own.slt:45: relation \"..\" does not exist",
                outcome("""
                # a comment
                statement ok
                CREATE TABLE t (a INT, b TEXT);

                statement ok
                INSERT INTO t VALUES (2, ''), (1, 'x  y'), (3, NULL);

                query IT rowsort
                SELECT * FROM t;
                ----
                1 x y
                3 NULL
                2 (empty)

                system ok
                not a program

                query I
                SELECT a FROM t ORDER BY a DESC;
                ----
                1
                2
                3

                sleep 1s

                skipif madsim
                query I
                SELECT 1;
                ----

                query I valuesort
                SELECT 2, 1;
                ----
                1
                2

                onlyif their_cluster
                statement ok
                nothing that is read

                statement error no such thing
                SELECT 1;

                statement ok
                SELECT * FROM nowhere;

                statement error
                SELECT * FROM nowhere;
                ----
                db error

                Caused by:
                  no relation


                query error is said
                SELECT 1 / 0;
                """));
    }

    @Test
    void filesAreIncludedAndConnectionsAreSessions() throws Exception {
        Files.writeString(folder.resolve("one.slt.part"), "statement ok\nSET application_name = 'one'\n");
        Path deep = Files.createDirectories(folder.resolve("types/of/numbers"));
        Files.writeString(folder.resolve("types/first.slt.part"), "query I\nSELECT 1\n----\n1\n");
        Files.writeString(deep.resolve("second.slt.part"), "query I\nSELECT 2\n----\n2\n");
        assertEquals("5 of 5", outcome("""
                include ./*.slt.part

                include ./types/**/*.slt.part

                connection other
                query T
                SHOW application_name
                ----
                (empty)

                query T
                SHOW application_name
                ----
                one

                halt

                statement ok
                this is not read
                """));
    }

    @Test
    @EnabledIfSystemProperty(named = "millrace.risingwave.suite", matches = ".+")
    void theFilesOfAFolder() throws Exception {
        Path suite = Path.of(System.getProperty("millrace.risingwave.suite")).toAbsolutePath();
        assertTrue(Files.isDirectory(suite.resolve("batch")), suite + " is not e2e_test of RisingWave's sources");
        SuiteReport report = new SuiteReport("risingwave_suite", Path.of("target/risingwave-suite"));
        for (String part : FOLDERS) {
            int statements = 0;
            int same = 0;
            List<RegressionFile.Difference> differences = new ArrayList<>();
            for (Path file : files(suite.resolve(part))) {
                try (Database database = Millrace.open();
                        SltRun run = new SltRun(database)) {
                    RegressionFile.Outcome outcome = run.run(SltScript.read(file));
                    statements += outcome.statements();
                    same += outcome.same();
                    differences.addAll(outcome.differences());
                }
            }
            report.add(part, new RegressionFile.Outcome(statements, same, differences));
        }
        report.end(Boolean.getBoolean("millrace.suite.causes"));
    }

    private static List<Path> files(Path folder) throws Exception {
        try (Stream<Path> files = Files.walk(folder)) {
            String wanted = System.getProperty("millrace.risingwave.files", "");
            return files.filter(file -> file.toString().endsWith(".slt"))
                    .filter(file ->
                            Pattern.compile(wanted).matcher(file.toString()).find())
                    .sorted()
                    .toList();
        }
    }
}
