package dev.millrace.sql.grammar;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.sql.text.Lexer;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlNode;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Texts become the trees that they mean to PostgreSQL, and no text takes the grammar's stack or time. */
@Tag("long")
class GrammarTest {
    private static Tokens tokens(String text) {
        return new Tokens(text, Lexer.tokens(text));
    }

    private static SqlNode expression(String text) {
        Tokens tokens = tokens(text);
        SqlNode read = new Grammar(tokens).expression();
        assertTrue(tokens.atEnd(), () -> "left over in " + text + " at " + tokens.peek());
        return read;
    }

    private static SqlNode query(String text) {
        Tokens tokens = tokens(text);
        SqlNode read = new Grammar(tokens).query();
        assertTrue(tokens.atEnd(), () -> "left over in " + text + " at " + tokens.peek());
        return read;
    }

    // ---- precedence ------------------------------------------------------------------------------------------------

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            quoteCharacter = '`',
            value = {
                "a OR b AND NOT c = d; a OR (b AND (NOT (c = d)))",
                "NOT a IS NULL; NOT (a IS NULL)",
                "a = b IS NULL; (a = b) IS NULL",
                "a IS DISTINCT FROM b + 1; a IS DISTINCT FROM (b + 1)",
                "a IS DISTINCT FROM b = c; a IS DISTINCT FROM (b = c)",
                "a < b = c; (a < b) = c",
                "a = NOT b AND c; (a = (NOT b)) AND c",
                "a LIKE b = c; (a LIKE b) = c",
                "a || b LIKE c || d; (a || b) LIKE (c || d)",
                "a BETWEEN b + 1 AND c + 1 AND d; (a BETWEEN (b + 1) AND (c + 1)) AND d",
                "a + b || c * d; (a + b) || (c * d)",
                "a - b - c; (a - b) - c",
                "a -> b ->> c = d; ((a -> b) ->> c) = d",
                "a * b ^ c ^ d; a * ((b ^ c) ^ d)",
                "- a ^ b; (- a) ^ b",
                "- a::int; - (a::int)",
                "- a[1]; - (a[1])",
                "a::int[][1]; (a)::int[][1]",
                "~ a + b & c; (~ (a + b)) & c",
                "a AT TIME ZONE b || c; (a AT TIME ZONE b) || c",
                "a + b AT TIME ZONE c; a + (b AT TIME ZONE c)",
                "a = ANY (b) AND c; (a = ANY (b)) AND c",
                "a || b = ANY (c); (a || b) = ANY (c)",
                "a OPERATOR(pg_catalog.+) b * c; a + (b * c)",
                "a GLOB b || c; (a GLOB b) || c",
            })
    void operatorsBindAsInPostgreSql(String text, String parenthesized) {
        assertEquals(expression(parenthesized).toString(), expression(text).toString());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            quoteCharacter = '`',
            value = {
                "SELECT 1 UNION SELECT 2 INTERSECT SELECT 3; SELECT 1 UNION (SELECT 2 INTERSECT SELECT 3)",
                "SELECT 1 EXCEPT SELECT 2 UNION SELECT 3; (SELECT 1 EXCEPT SELECT 2) UNION SELECT 3",
                "SELECT a FROM b JOIN c JOIN d ON x ON y; SELECT a FROM b JOIN (c JOIN d ON x) ON y",
                "SELECT a FROM b LEFT JOIN c FULL JOIN d USING (x) ON y; SELECT a FROM b LEFT JOIN (c FULL JOIN d USING (x)) ON y",
                "SELECT a FROM b, c RIGHT JOIN d ON x, e; SELECT a FROM b, (c RIGHT JOIN d ON x), e",
                "SELECT a FROM b, c JOIN d ON x FULL JOIN e ON y; SELECT a FROM b, (c JOIN d ON x FULL JOIN e ON y)",
                "SELECT a FROM b, c JOIN d USING (x); SELECT a FROM b, (c JOIN d USING (x))",
                "SELECT a FROM b, c NATURAL JOIN d; SELECT a FROM b, (c NATURAL JOIN d)",
                "SELECT f(a, b,), [1, 2,], (1, 2,), FROM t; SELECT f(a, b), [1, 2], (1, 2) FROM t",
                "SELECT a FROM t OFFSET 1 LIMIT 2; SELECT a FROM t LIMIT 2 OFFSET 1",
                "SELECT a FROM t FETCH NEXT ROW ONLY OFFSET 3 ROWS; SELECT a FROM t LIMIT 1 OFFSET 3",
                "FROM t SELECT a WHERE b; SELECT a FROM t WHERE b",
                "SELECT substring(a FOR 2 FROM 3); SELECT substring(a, 3, 2)",
                "SELECT f(a := 1); SELECT f(a => 1)",
                "SELECT string_agg(a, (SELECT b) ORDER BY c); SELECT string_agg(a, (SELECT b)) WITHIN GROUP (ORDER BY c)",
                "SELECT CAST(a AS int ARRAY[4]); SELECT CAST(a AS int[])",
                "SELECT a rows, b fetch, c filter, d range FROM t; SELECT a AS rows, b AS fetch, c AS filter, d AS range FROM t",
                "SELECT a FROM t left LEFT JOIN u right ON true; SELECT a FROM t AS left LEFT JOIN u AS right ON true",
                "SELECT a FROM t PIVOT (sum(v) FOR k IN ('x')) AS p; SELECT a FROM (PIVOT t ON k IN ('x') USING sum(v)) AS p",
            })
    void oneTextMeansAnother(String text, String other) {
        assertEquals(query(other).toString(), query(text).toString());
    }

    // ---- bounds ----------------------------------------------------------------------------------------------------

    @Test
    void whatNestsTooDeeplyIsRefusedOnAnyStack() throws InterruptedException {
        for (String nested : new String[] {
            "(", "[", "{'a': ", "f(", "CASE WHEN ", "(SELECT ", "a[", "CAST(", "~ ", "- ~ ", "NOT a = "
        }) {
            for (long stack : new long[] {256 << 10, 64 << 20}) {
                AtomicReference<Throwable> failed = new AtomicReference<>();
                Thread thread = new Thread(
                        null,
                        () -> failed.set(
                                assertThrows(MillraceException.class, () -> expression(nested.repeat(100_000) + "1"))),
                        "reader",
                        stack);
                thread.setUncaughtExceptionHandler((t, e) -> failed.set(e));
                thread.start();
                thread.join();
                assertTrue(failed.get() instanceof MillraceException, () -> nested + ": " + failed.get());
                assertEquals(SqlState.STATEMENT_TOO_COMPLEX, ((MillraceException) failed.get()).sqlState(), nested);
            }
        }
    }

    @Test
    void longChainsOfAndAndOrAreShallow() {
        for (String operator : new String[] {" AND ", " OR "}) {
            String chain = IntStream.range(0, 4_000)
                    .mapToObj(i -> "a" + i + " LIKE 'b'")
                    .collect(Collectors.joining(operator));
            SqlNode tree = expression(chain);
            assertTrue(depth(tree) < 20, () -> "as deep as " + depth(tree));
            assertEquals(1, tree.getParserPosition().getColumnNum());
            assertEquals(chain.length(), tree.getParserPosition().getEndColumnNum());
        }
    }

    private static int depth(SqlNode node) {
        int depth = 0;
        if (node instanceof SqlCall call) {
            for (SqlNode operand : call.getOperandList()) {
                depth = Math.max(depth, depth(operand));
            }
        }
        return depth + 1;
    }

    @Test
    void longListsAndUnionsNeedNoStack() {
        String numbers = "1" + ", 2".repeat(100_000);
        assertDoesNotThrow(() -> expression("a IN (" + numbers + ")"));
        assertDoesNotThrow(() -> expression("ARRAY[" + numbers + "]"));
        assertDoesNotThrow(() -> query("VALUES (1)" + ", (2)".repeat(100_000)));
        assertDoesNotThrow(() -> query("SELECT 1" + " UNION ALL SELECT 2".repeat(20_000)));
        assertDoesNotThrow(() -> query("SELECT 1 FROM a" + " CROSS JOIN b".repeat(20_000)));
    }

    @Test
    void whatStandsForManyTimesItsLengthIsRefused() {
        String lists = IntStream.range(0, 40).mapToObj(i -> "[x FOR x IN ").collect(Collectors.joining());
        refusesAsTooComplex("SELECT " + lists + "a" + "]".repeat(40));
        String values = IntStream.range(0, 2_000).mapToObj(Integer::toString).collect(Collectors.joining(", "));
        refusesAsTooComplex("PIVOT t ON k IN (" + values + ") USING sum(a" + " + a".repeat(2_000) + ")");
    }

    private static void refusesAsTooComplex(String text) {
        MillraceException refused = assertThrows(MillraceException.class, () -> query(text));
        assertEquals(SqlState.STATEMENT_TOO_COMPLEX, refused.sqlState());
    }

    @Test
    void aLongTextHearsThatItIsToStop() {
        Tokens tokens = tokens("a IN (1" + ", 2".repeat(10_000) + ")");
        Interrupt interrupt = new Interrupt();
        try (Interrupt.Binding bound = interrupt.bind()) {
            interrupt.stop(MillraceException.user(SqlState.QUERY_CANCELED, "stopped"));
            assertEquals(
                    "stopped",
                    assertThrows(MillraceException.class, () -> new Grammar(tokens).expression())
                            .getMessage());
        }
    }
}
