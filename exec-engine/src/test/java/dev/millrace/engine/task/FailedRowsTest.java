package dev.millrace.engine.task;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.error.FailureText;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import org.junit.jupiter.api.Test;

class FailedRowsTest {
    private static MillraceException failure(String text) {
        return MillraceException.user(SqlState.EXTERNAL_ROUTINE_EXCEPTION, text);
    }

    /** Messages may quote what users' code was given. */
    @Test
    void ofALongMessageTheBeginningIsKept() {
        MillraceException why = failure("x".repeat(1 << 20));
        FailedRows failures = new FailedRows(false);
        FailedRows.Part part = failures.newPart();
        part.failed(why, 1);
        assertTrue(failures.failure().orElseThrow().getMessage().length() < 1_000);
        part.failed(FailureText.shortened(why), -1);
        assertTrue(failures.failure().isEmpty());
    }

    @Test
    void whatIsKeptAsBytesIsTheSameFailure() {
        for (String text :
                new String[] {"", "a line\nand another", "ö😀", "x".repeat(499) + "😀😀", "😀".repeat(1_000)}) {
            MillraceException kept = FailureText.shortened(failure(text));
            MillraceException again = FailureText.of(FailureText.bytes(kept));
            assertEquals(kept.getMessage(), again.getMessage());
            assertEquals(kept.sqlState(), again.sqlState());
            assertTrue(text.startsWith(kept.getMessage().replaceAll("\\.\\.$", "")), kept.getMessage());
        }
    }
}
