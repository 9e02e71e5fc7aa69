package dev.millrace.connector;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class OptionsTest {
    private enum Mode {
        ONCE,
        FOLLOW
    }

    @Test
    void valuesAreReadUnderTheirType() {
        Options options = new Options(
                Map.of("path", "a.csv", "rows", "1_000", "mode", "Follow", "period", "1.5 s", "header", "off"));
        assertEquals("a.csv", options.required("path"));
        assertEquals(1000, options.integer("rows", 1, 0, 5000));
        assertEquals(Mode.FOLLOW, options.oneOf("mode", Mode.ONCE));
        assertEquals(1_500_000, options.durationMicros("period", 0));
        assertEquals(false, options.bool("header", true));
        options.rejectUnread();
    }

    @Test
    void aMisspeltOptionIsNamedWithTheNearestOne() {
        Options options = new Options(Map.of("delimeter", ";"));
        options.text("delimiter", ",");
        MillraceException error = assertThrows(MillraceException.class, options::rejectUnread);
        assertEquals("option \"delimeter\" does not exist", error.getMessage());
        assertEquals(Optional.of("did you mean \"delimiter\"?"), error.hint());
    }

    @Test
    void whatWasMeantToBeARequiredOptionIsNamed() {
        MillraceException misspelt = assertThrows(
                MillraceException.class, () -> new Options(Map.of("a", "b", "bootstrp", "c")).required("bootstrap"));
        assertEquals("option \"bootstrp\" does not exist", misspelt.getMessage());
        assertEquals(Optional.of("did you mean \"bootstrap\"?"), misspelt.hint());
        MillraceException other = assertThrows(
                MillraceException.class, () -> new Options(Map.of("bootstrap.servers", "c")).required("bootstrap"));
        assertEquals("option \"bootstrap\" is required", other.getMessage());
        assertEquals(Optional.of("\"bootstrap.servers\" is another one"), other.hint());
        assertMessage("option \"path\" is required", () -> new Options(Map.of("a", "b")).required("path"));
    }

    @Test
    void aValueOfTheWrongTypeSaysWhatItMayBe() {
        Options options = new Options(Map.of("mode", "often", "rows", "-3", "period", "soon"));
        assertMessage(
                "option \"mode\" cannot be \"often\"; it must be one of once, follow",
                () -> options.oneOf("mode", Mode.ONCE));
        assertMessage(
                "option \"rows\" cannot be \"-3\"; it must be a whole number from 0 to 9",
                () -> options.integer("rows", 0, 0, 9));
        assertMessage(
                "option \"period\" cannot be \"soon\"; it must be a duration such as 10ms, 5s or 1 day",
                () -> options.durationMicros("period", 0));
    }

    private static void assertMessage(String message, org.junit.jupiter.api.function.Executable read) {
        MillraceException error = assertThrows(MillraceException.class, read);
        assertEquals(message, error.getMessage());
        assertEquals(SqlState.INVALID_PARAMETER_VALUE, error.sqlState());
    }
}
