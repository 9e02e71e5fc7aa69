package dev.millrace.storage.retention;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RetentionAgeTest {
    private static final long DAY = 86_400_000_000L;

    private static long micros(String time) {
        return ChronoUnit.MICROS.between(Instant.EPOCH, Instant.parse(time));
    }

    /** As {@code SELECT now - interval} answers in PostgreSQL, in UTC. */
    @ParameterizedTest
    @CsvSource({
        "1, 0, 2026-03-31T12:00:00Z, 2026-02-28T12:00:00Z",
        "1, 0, 2024-03-30T12:00:00Z, 2024-02-29T12:00:00Z",
        "12, 0, 2024-02-29T00:00:00.000001Z, 2023-02-28T00:00:00.000001Z",
        "1, 3, 2026-03-31T00:00:00Z, 2026-02-25T00:00:00Z",
        "2, 0, 1970-01-15T00:00:00Z, 1969-11-15T00:00:00Z",
        "0, 30, 2026-03-31T00:00:00Z, 2026-03-01T00:00:00Z",
        "1200, 0, 2026-03-01T00:00:00Z, 1926-03-01T00:00:00Z"
    })
    void monthsAreThoseOfTheCalendar(int months, int days, String now, String then) {
        assertEquals(micros(then), new RetentionAge(months, days * DAY).before(micros(now)));
    }

    @Test
    void noTimeIsBeforeTheBeginningOfNumbers() {
        assertEquals(Long.MIN_VALUE, new RetentionAge(0, Long.MAX_VALUE).before(-2));
        assertEquals(Long.MIN_VALUE, new RetentionAge(12, Long.MAX_VALUE).before(0));
        assertEquals(Long.MAX_VALUE, new RetentionAge(12, Long.MAX_VALUE).aboutMicros());
    }

    @Test
    void anAgeIsOfMoreThanNothing() {
        assertThrows(IllegalArgumentException.class, () -> new RetentionAge(0, 0));
        assertThrows(IllegalArgumentException.class, () -> new RetentionAge(-1, DAY));
        assertThrows(IllegalArgumentException.class, () -> new RetentionAge(1, -DAY));
        assertThrows(IllegalArgumentException.class, () -> new RetentionAge(Integer.MAX_VALUE, 0));
    }
}
