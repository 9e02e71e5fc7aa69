package dev.millrace.sql;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.millrace.error.MillraceException;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Texts that are an INSERT of constants are told from others by looking at each word once. */
class InsertOfConstantsTest {
    private static final List<String> CONSTANTS = List.of(
            "INSERT INTO t VALUES (1)",
            "insert into t (a, b) values (1, 'x'), (-2.5, NULL);",
            "INSERT INTO public.\"T\" VALUES (true, DATE '2026-01-01', TIMESTAMP '2026-01-01 00:00:00')",
            "INSERT INTO t VALUES ('values (1), (')");

    private static final List<String> OTHERS = List.of(
            "INSERT INTO t VALUES (1 + 1)",
            "INSERT INTO t VALUES ((1))",
            "INSERT INTO t VALUES (lower('A'))",
            "INSERT INTO t VALUES ($1)",
            "INSERT INTO t VALUES (1), (1, 2)",
            "INSERT INTO t VALUES (DEFAULT)",
            "INSERT INTO t VALUES (1) RETURNING a",
            "INSERT INTO t VALUES (1) ON CONFLICT DO NOTHING",
            "INSERT INTO t VALUES (1); SELECT 1",
            "INSERT INTO t (SELECT 1)",
            "INSERT INTO t SELECT 1",
            "INSERT INTO t DEFAULT VALUES",
            "INSERT INTO t VALUES",
            "INSERT INTO t",
            "VALUES (1)",
            "");

    @Test
    void areOneStatementAsTheParserHasIt() {
        Frontend frontend = new Frontend();
        for (String sql : CONSTANTS) {
            ParsedStatement expected = frontend.parse(sql).get(0);
            ParsedStatement found = frontend.insertOfConstants(sql).orElseThrow(() -> new AssertionError(sql));
            assertEquals(expected.text(), found.text());
            assertEquals(expected.syntax().getClass(), found.syntax().getClass());
        }
    }

    @Test
    void othersAreLeftToTheGrammar() {
        Frontend frontend = new Frontend();
        for (String sql : OTHERS) {
            assertEquals(false, foundIn(frontend, sql), sql);
        }
        String nested = "INSERT INTO t VALUES " + "(".repeat(100_000) + "1";
        assertEquals(false, foundIn(frontend, nested), "nested");
    }

    private static boolean foundIn(Frontend frontend, String sql) {
        try {
            return frontend.insertOfConstants(sql).isPresent();
        } catch (MillraceException e) {
            return false; // as the parser says
        }
    }
}
