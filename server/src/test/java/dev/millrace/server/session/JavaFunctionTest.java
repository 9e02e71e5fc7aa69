package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.error.MillraceException;
import dev.millrace.expressions.user.UserCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Java functions from a jar that the test compiles. */
class JavaFunctionTest {
    private static final String SOURCE = """
            package org.example;

            import dev.millrace.udf.AggregateFunction;
            import dev.millrace.udf.ScalarFunction;
            import dev.millrace.udf.TableFunction;
            import java.util.function.Consumer;

            public final class Code {
                public static long twice(long value) { return Math.multiplyExact(2, value); }

                public static String greet(String name, Integer times) {
                    return name == null ? null : ("hello " + name + " ").repeat(times).strip();
                }

                public static long broken(Long a, Long b, Long c) {
                    throw new AssertionError("not this");
                }

                public static String zero(Long a, Long b, Long c, Long d) {
                    return "a\\0b";
                }

                public static final class Join implements ScalarFunction {
                    public Object call(Object[] arguments) { return arguments[0] + "/" + arguments[1]; }
                }

                public static final class Product implements AggregateFunction<double[]> {
                    public double[] create() { return new double[] {1}; }
                    public double[] accumulate(double[] state, Object[] arguments) {
                        if (arguments[0] != null) state[0] *= (Double) arguments[0];
                        return state;
                    }
                    public Object result(double[] state) { return state[0]; }
                }

                public static final class Letters implements TableFunction {
                    public void call(Object[] arguments, Consumer<Object[]> rows) {
                        String text = (String) arguments[0];
                        for (int i = 0; text != null && i < text.length(); i++) {
                            rows.accept(new Object[] {text.substring(i, i + 1), i + 1});
                        }
                    }
                }
            }
            """;

    @TempDir
    private Path folder;

    private final TestDatabase database = new TestDatabase();
    private Path jar;

    @BeforeEach
    void compile() throws IOException {
        jar = TestJar.of(SOURCE, folder);
    }

    @AfterEach
    void close() {
        database.close();
    }

    private void run(String sql) {
        database.run(sql);
    }

    private void create(String signature, String className) {
        run("CREATE FUNCTION " + signature + " LANGUAGE JAVA AS '" + jar + "', 'org.example." + className + "'");
    }

    private List<String> rows(String sql) {
        return database.flushedRows(sql);
    }

    @Test
    void aPublicStaticMethodIsAFunction() {
        create("twice(BIGINT) RETURNS BIGINT", "Code");
        create("greet(name TEXT, times INT) RETURNS TEXT", "Code");
        assertEquals(
                List.of("42||hello ann hello ann|"),
                rows("SELECT twice(n), twice(NULL), greet(w, 2), greet(NULL, 1) FROM (VALUES (21, 'ann')) AS t(n, w)"));
    }

    @Test
    void classesImplementTheInterfacesOfScalarsAggregatesAndTables() {
        create("slashed(TEXT, INT) RETURNS TEXT", "Code$Join");
        create("product(DOUBLE PRECISION) RETURNS DOUBLE PRECISION", "Code$Product");
        create("letters(TEXT) RETURNS TABLE (letter TEXT, place INT)", "Code$Letters");
        assertEquals(List.of("a/null"), rows("SELECT slashed('a', NULL)"));
        assertEquals(
                List.of("a|6", "b|5"),
                rows(
                        "SELECT k, product(x) FROM (VALUES ('a', 2.0), ('a', 3.0), ('b', 5.0)) AS t(k, x) GROUP BY k ORDER BY k"));
        assertEquals(
                List.of("1|x|1", "1|y|2", "2|z|1"),
                rows("SELECT k, letter, place FROM (VALUES (1, 'xy'), (2, 'z'), (3, NULL)) AS t(k, w), letters(w)"));
    }

    @Test
    void anAggregateFollowsRowsThatChangeAndGo() {
        create("product(DOUBLE PRECISION) RETURNS DOUBLE PRECISION", "Code$Product");
        run("CREATE TABLE t (k INT PRIMARY KEY, g TEXT, x DOUBLE PRECISION)");
        run("CREATE MATERIALIZED VIEW v AS SELECT g, product(x) AS p, count(*) AS n FROM t GROUP BY g");
        run("INSERT INTO t VALUES (1, 'a', 2), (2, 'a', 3), (3, 'b', 7)");
        run("UPDATE t SET x = 5 WHERE k = 2");
        run("DELETE FROM t WHERE k = 3");
        assertEquals(List.of("a|10|2"), rows("SELECT * FROM v"));
    }

    @Test
    void theSameJarIsLoadedOnce() throws IOException {
        create("twice(BIGINT) RETURNS BIGINT", "Code");
        int loaded = UserCode.loaded();
        Path copy = Files.copy(jar, folder.resolve("copy.jar"));
        run("CREATE FUNCTION again(BIGINT) RETURNS BIGINT LANGUAGE JAVA AS '" + copy + "', 'org.example.Code'");
        assertEquals(loaded, UserCode.loaded());
    }

    @Test
    void whatItThrowsNamesTheFunctionAndTheRowAndFailsItsQueryAlone() {
        create("twice(BIGINT) RETURNS BIGINT", "Code");
        MillraceException failure = assertThrows(
                MillraceException.class,
                () -> rows("SELECT twice(n) FROM (VALUES (1), (9000000000000000000), (2)) AS t(n)"));
        assertEquals("38000", failure.sqlState().code());
        assertTrue(
                failure.getMessage().contains("row 2") && failure.getMessage().contains("function twice failed"));
        assertEquals(List.of("4"), rows("SELECT twice(2)"));
    }

    @Test
    void errorsAndTextsThatAreNoneFailItsQueryToo() {
        create("broken(BIGINT, BIGINT, BIGINT) RETURNS BIGINT", "Code");
        create("zero(BIGINT, BIGINT, BIGINT, BIGINT) RETURNS TEXT", "Code");
        MillraceException failure = assertThrows(MillraceException.class, () -> rows("SELECT broken(1, 2, 3)"));
        assertTrue(
                failure.getMessage().contains("function broken failed: java.lang.AssertionError: not this"),
                failure.getMessage());
        assertEquals(
                "22021",
                assertThrows(MillraceException.class, () -> rows("SELECT zero(1, 2, 3, 4)"))
                        .sqlState()
                        .code());
    }

    @Test
    void whatCannotBeCalledIsRefusedAtCreate() {
        assertThrows(MillraceException.class, () -> create("f(BIGINT, BIGINT) RETURNS BIGINT", "Code"));
        assertThrows(MillraceException.class, () -> create("f(BIGINT) RETURNS BIGINT", "None"));
        assertThrows(MillraceException.class, () -> create("f(TEXT) RETURNS TEXT", "Code$Letters"));
        run("CREATE TABLE f (k INT PRIMARY KEY)"); // the name is still free
    }

    @Test
    void jarsAreKeptInTheDataDirectoryWhateverBecomesOfTheirFiles() throws IOException {
        Path data = folder.resolve("data");
        try (TestDatabase kept = new TestDatabase(data)) {
            kept.run("CREATE FUNCTION twice(BIGINT) RETURNS BIGINT LANGUAGE JAVA AS '" + jar + "', 'org.example.Code'");
        }
        Files.delete(jar);
        try (TestDatabase again = new TestDatabase(data)) {
            assertEquals(List.of("42"), again.rows("SELECT twice(21)"));
        }
    }
}
