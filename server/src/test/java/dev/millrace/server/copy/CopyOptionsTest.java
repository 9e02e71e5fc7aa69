package dev.millrace.server.copy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.millrace.error.MillraceException;
import java.util.Map;
import org.junit.jupiter.api.Test;

class CopyOptionsTest {
    private static String refused(Map<String, String> options) {
        MillraceException error = assertThrows(MillraceException.class, () -> CopyOptions.of(options));
        return error.sqlState().code() + " " + error.getMessage();
    }

    /** {@code pgbench -i} fills its tables so. */
    @Test
    void freezeIsTakenAndChangesNothing() {
        for (String value : new String[] {"", "on", "true", "1", "off", "false"}) {
            assertEquals(CopyOptions.of(Map.of()), CopyOptions.of(Map.of("freeze", value)));
        }
        assertEquals("22023 COPY freeze must be true or false, not \"maybe\"", refused(Map.of("freeze", "maybe")));
    }

    @Test
    void whatIsNoOptionIsRefused() {
        assertEquals("42601 option \"frieze\" of COPY does not exist", refused(Map.of("frieze", "on")));
        assertEquals("22023 COPY header must be true or false, not \"x\"", refused(Map.of("header", "x")));
    }
}
