package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.millrace.testing.document.DocumentPage;
import dev.millrace.testing.time.Eventually;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What docs/windows.md says is so, from top to bottom. */
@Timeout(120)
class WindowsDocumentTest {
    @Test
    void theExamplesRunOneAfterTheOther() {
        DocumentPage page = DocumentPage.of("windows.md");
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
            assertEquals(
                    List.of(
                            List.of(),
                            List.of("2026-01-01 12:00:00|a|2|21", "2026-01-01 12:00:00|b|1|19"),
                            List.of("1"),
                            List.of("1|18"),
                            List.of("1"),
                            List.of("m|2026-01-01 12:00:03|3|20")),
                    answers.subList(0, 6));
            assertEquals(7, answers.size());
            assertEquals(
                    List.of("minutes|readings|0|2026-01-01 12:04:51+00"),
                    database.rows("SELECT query, stream, partition, watermark FROM millrace.watermarks WHERE holds_back"
                            + " AND query IN ('minutes', 'so_far')"),
                    "who includes late rows waits for no watermark");

            database.run("CREATE MATERIALIZED VIEW checked_minutes AS SELECT window_start, count(*) AS n"
                    + " FROM TUMBLE(checked, at, '1 minute') GROUP BY window_start, window_end");
            database.run(
                    "INSERT INTO readings VALUES ('a', '2026-01-02 00:00:00', 1), ('b', '2126-01-01 00:00:00', 2)");
            database.run("INSERT INTO readings VALUES ('a', '2026-01-02 00:01:10', 3)");
            Eventually.holds(
                    "what came from the future closed nothing",
                    () -> database.rows("SELECT * FROM checked_minutes").equals(List.of("2026-01-02 00:00:00|1")));
        }
    }
}
