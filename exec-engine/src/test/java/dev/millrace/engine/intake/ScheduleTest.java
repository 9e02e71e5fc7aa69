package dev.millrace.engine.intake;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class ScheduleTest {
    @ParameterizedTest
    @CsvSource({
        "data, data",
        "every 500 ms, every 500 ms",
        "  EVERY  2  Seconds , every 2000 ms",
        "500ms, every 500 ms",
        "1 min, every 60000 ms",
        "24 h, every 86400000 ms",
        "1000 rows, every 1000 rows",
        "1000 rows or 500 ms, every 500 ms or every 1000 rows",
        "every 1 s or every 250 ms or every 7 rows or 9 rows, every 250 ms or every 7 rows",
        "data or every 500 ms, data",
    })
    void aTextIsRead(String text, String shown) {
        Schedule schedule = Schedule.of(text);
        assertEquals(shown, schedule.toString());
        assertEquals(schedule, Schedule.of(shown));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "every",
                "every 0 ms",
                "0 rows",
                "-1 rows",
                "every 1.5 s",
                "25 h",
                "999999999999 h",
                "1000000001 rows",
                "5",
                "5 parsecs",
                "5 ms and 7 rows",
                "5 ms or",
                "data or or 5 ms",
                "99999999999999999999 rows"
            })
    void anythingElseIsRefused(String text) {
        MillraceException refused = assertThrows(MillraceException.class, () -> Schedule.of(text));
        assertEquals(SqlState.INVALID_PARAMETER_VALUE, refused.sqlState());
    }

    @Test
    void dataWaitsForNothing() {
        assertTrue(Schedule.DATA.isData());
        assertEquals(OptionalLong.empty(), Schedule.of("data").everyNanos());
    }
}
