package dev.millrace.server.retention;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.millrace.connector.Options;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.storage.retention.RetentionAge;
import dev.millrace.storage.retention.RetentionPolicy;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RetentionClauseTest {
    private static final long HOUR = 3_600_000_000L;

    private static RetentionPolicy policy(String retention) {
        return RetentionClause.of(new Options(Map.of("retention", retention)))
                .orElseThrow()
                .policy();
    }

    @ParameterizedTest
    @CsvSource({
        "1 year, 12, 0",
        "2 Months, 2, 0",
        "1 month 3 days, 1, 72",
        "1 year 6 mons 2 hours, 18, 2",
        "1.5 years, 18, 0",
        "2 weeks, 0, 336",
        "30 days, 0, 720",
        "5d, 0, 120",
        "1.5 hours, 0, 1.5"
    })
    void agesAreDurationsOrIntervals(String text, int months, double hours) {
        assertEquals(
                Optional.of(new RetentionAge(months, Math.round(hours * HOUR))),
                policy(text).age());
    }

    @Test
    void anAgeAndASizeHoldTogether() {
        RetentionPolicy both = policy("1 year, 10 GB");
        assertEquals(Optional.of(new RetentionAge(12, 0)), both.age());
        assertEquals(OptionalLong.of(10L << 30), both.bytes());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"-1 year", "10", "0 months", "400000 years", "1 moon", "1 year, 2 days", "1 month -3 days", ""})
    void othersAreRefused(String text) {
        MillraceException refused = assertThrows(MillraceException.class, () -> policy(text));
        assertEquals(SqlState.INVALID_PARAMETER_VALUE, refused.sqlState());
    }
}
