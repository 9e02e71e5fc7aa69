package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.millrace.testing.document.DocumentPage;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What docs/sensors.md says is so, from top to bottom. */
@Timeout(120)
class SensorsDocumentTest {
    @Test
    void theExamplesRunOneAfterTheOther() {
        DocumentPage page = DocumentPage.of("sensors.md");
        List<List<String>> answers = new ArrayList<>();
        try (TestDatabase database = new TestDatabase()) {
            for (String title : page.titles()) {
                for (String statement : page.examples(title).isEmpty() ? List.<String>of() : page.statements(title)) {
                    if (statement.startsWith("SELECT")) {
                        answers.add(database.rows(statement));
                    } else {
                        database.run(statement);
                    }
                }
            }
        }
        assertEquals(
                List.of(
                        List.of(
                                "2026-01-01 12:00:00|a|15|15|15|2",
                                "2026-01-01 12:01:00|a||15|25|0",
                                "2026-01-01 12:01:00|b|7|7|7|1",
                                "2026-01-01 12:02:00|a||15|35|0",
                                "2026-01-01 12:02:00|b||||1",
                                "2026-01-01 12:03:00|a|45|45|45|1"),
                        List.of(
                                "2026-01-01 12:00:00|a|1|1",
                                "2026-01-01 12:00:00|b|5|1",
                                "2026-01-01 12:01:00|a|1|",
                                "2026-01-01 12:02:00|a|1|",
                                "2026-01-01 12:03:00|a|2|1"),
                        List.of(
                                "a|2026-01-01 12:00:10|10|10.0",
                                "a|2026-01-01 12:00:50|15|13.7",
                                "a|2026-01-01 12:03:05|30|38.4",
                                "b|2026-01-01 12:01:00|7|7.0",
                                "b|2026-01-01 12:02:59|7|7.0"),
                        List.of(),
                        List.of("27080")),
                answers);
    }
}
