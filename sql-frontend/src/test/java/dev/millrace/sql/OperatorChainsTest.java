package dev.millrace.sql;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import org.junit.jupiter.api.Test;

class OperatorChainsTest {
    private final Frontend frontend = new Frontend();

    private void refuses(String sql) {
        MillraceException why = assertThrows(MillraceException.class, () -> frontend.parse(sql));
        assertEquals(SqlState.STATEMENT_TOO_COMPLEX, why.sqlState());
    }

    @Test
    void refusesMoreOperatorsInARowThanTheGrammarTakesInTime() {
        refuses("SELECT 1" + " + 1".repeat(10_001));
        refuses("SELECT " + "NOT ".repeat(1_001) + "true");
        refuses("SELECT " + "- ".repeat(1_001) + "1");
    }

    @Test
    void takesThemInPartsOrInAList() {
        String part = "(1" + " + 1".repeat(99) + ")";
        assertDoesNotThrow(() -> frontend.parse("SELECT " + part + (" + " + part).repeat(150)));
        assertDoesNotThrow(() -> frontend.parse("SELECT 1 + 1" + ", 1 + 1".repeat(6_000)));
    }
}
