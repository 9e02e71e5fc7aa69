package dev.millrace.expressions.function.jsonpath;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.expressions.function.Text;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.testing.memory.LeakCheck;
import dev.millrace.text.TextBuffer;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Paths and values made to keep the evaluation busy, or to fill the memory. */
class JsonPathCallTest {
    @RegisterExtension
    final LeakCheck memory = new LeakCheck();

    private String first(String path, String json) {
        try (JsonPathCall call = new JsonPathCall(memory.allocator());
                TextBuffer text = new TextBuffer(memory.allocator(), 64);
                TextBuffer value = new TextBuffer(memory.allocator(), 64);
                TextBuffer variables = new TextBuffer(memory.allocator(), 64);
                Text out = new Text(memory.allocator())) {
            text.append(path.getBytes(StandardCharsets.UTF_8));
            value.append(json.getBytes(StandardCharsets.UTF_8));
            variables.append("{}".getBytes(StandardCharsets.UTF_8));
            call.prepare(text.address(), (int) text.length());
            boolean found = call.first(
                    value.address(), (int) value.length(), variables.address(), (int) variables.length(), false, out);
            return found ? out.toString() : "none";
        }
    }

    private static String nested(int depth) {
        return "[".repeat(depth) + "]".repeat(depth);
    }

    @ParameterizedTest
    @ValueSource(strings = {"$.**.**.**.**.**.**.**", "$[*] ? (exists($[*] ? (exists($[*] ? (@ == 1)))))"})
    void goesOverItemsWithinABudget(String path) {
        String json = path.contains("**") ? nested(200) : "[" + "0, ".repeat(2000) + "0]";
        MillraceException error = assertThrows(MillraceException.class, () -> first(path, json));
        assertEquals(SqlState.STATEMENT_TOO_COMPLEX, error.sqlState());
    }

    @Test
    void doesNotLimitWhatGoesOverEachItemOnce() {
        first("$[*].a", "[" + "{\"a\": 0}, ".repeat(200_000) + "0]");
        first("$.**", nested(300));
    }

    @Test
    void isInterrupted() {
        Interrupt interrupt = new Interrupt();
        interrupt.stop(MillraceException.user(SqlState.QUERY_CANCELED, "enough"));
        try (Interrupt.Binding ignored = interrupt.bind()) {
            MillraceException error =
                    assertThrows(MillraceException.class, () -> first("$[*]", "[" + "0, ".repeat(5000) + "0]"));
            assertEquals("enough", error.getMessage());
        }
    }

    @Test
    void refusesWhatIsNestedTooDeeply() {
        for (String path : new String[] {
            "(".repeat(100_000) + "$" + ")".repeat(100_000), "$" + ".a".repeat(100_000), "-".repeat(100_000) + "1"
        }) {
            MillraceException error = assertThrows(MillraceException.class, () -> first(path, "{}"));
            assertEquals(SqlState.STATEMENT_TOO_COMPLEX, error.sqlState());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"$ + 1e999999999", "$.b.number()", "$ + 1e-999999999"})
    void refusesNumbersThatCannotBeWrittenOut(String path) {
        MillraceException error = assertThrows(
                MillraceException.class, () -> first(path, path.startsWith("$ ") ? "1" : "{\"b\": \"1e99999999\"}"));
        assertEquals(SqlState.NUMERIC_VALUE_OUT_OF_RANGE, error.sqlState());
    }
}
