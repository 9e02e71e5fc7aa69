package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.millrace.error.MillraceException;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.MathContext;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The queries of {@code survey.slt} as views: after changes of the tables each shows what its query then answers. */
class StandingSurveyTest {
    private static final Path SURVEY = Path.of("src/test/resources/slt/survey.slt");
    private static final int EACH = 8; // takes one query in eight, to take seconds
    static final List<String> CHANGES = List.of(
            "INSERT INTO emp VALUES (8, 'Hal', 'ops', 90, 2.00, '2023-05-05', 4, 1.5), (9, 'Ida', 'law', NULL, NULL, NULL, 5, NULL)",
            "UPDATE emp SET salary = 85, dept = 'hr' WHERE id = 2",
            "DELETE FROM emp WHERE id = 3",
            "UPDATE emp SET boss = 8 WHERE id = 6",
            "INSERT INTO dept VALUES ('hr', 'People', 300)",
            "DELETE FROM dept WHERE code = 'law'",
            "UPDATE dept SET budget = 77 WHERE code = 'ops'",
            "INSERT INTO sales VALUES (8, 'S', 'b', 9, 0.50, '2024-01-01 10:00:00'), (9, 'W', 'a', 1, 1.00, '2025-02-01')",
            "DELETE FROM sales WHERE id IN (2, 7)",
            "UPDATE sales SET product = 'c' WHERE id = 3",
            "INSERT INTO arr VALUES (5, ARRAY[8,2], ARRAY['q'])",
            "UPDATE arr SET a = ARRAY[6,1] WHERE id = 1",
            "DELETE FROM arr WHERE id = 4",
            "UPDATE nums SET i = 5, d = 1.25 WHERE id = 4",
            "DELETE FROM nums WHERE id = 2",
            "INSERT INTO trades VALUES (5, 'B', '2024-01-01 10:30:00', 1)",
            "DELETE FROM trades WHERE id = 1",
            "UPDATE docs SET j = '{\"a\":3,\"t\":[\"z\"]}' WHERE id = 4",
            "INSERT INTO empty_t VALUES (1, 5, 1.5, 'x')");

    @ParameterizedTest
    @ValueSource(ints = {0, 3})
    void viewsFollowTheTablesBeneathThem(int first) throws IOException {
        List<String> queries = new ArrayList<>();
        try (TestDatabase db = new TestDatabase()) {
            for (String block : Files.readString(SURVEY).split("\n\n")) {
                String[] lines = block.split("\n");
                if (lines[0].equals("statement ok")) {
                    db.run(lines[1]);
                } else if (lines[0].startsWith("query")) {
                    queries.add(lines[1]);
                }
            }
            Map<String, String> views = new LinkedHashMap<>();
            for (int i = first; i < queries.size(); i += EACH) {
                String query = queries.get(i);
                try {
                    db.run("CREATE MATERIALIZED VIEW view_" + i + " AS " + query);
                    views.put("view_" + i, query);
                } catch (MillraceException e) {
                    assertEquals("42701", e.sqlState().code(), query); // columns without names of their own
                }
            }
            CHANGES.forEach(db::run);
            db.run("FLUSH");
            views.forEach((view, query) -> assertEquals(rows(db, query), rows(db, "SELECT * FROM " + view), query));
        }
    }

    private static List<String> rows(TestDatabase db, String query) {
        return db.rows(query).stream().map(StandingSurveyTest::rounded).sorted().toList();
    }

    /** Sums of doubles in another order differ in their last digits. */
    private static String rounded(String row) {
        return String.join(
                "|",
                Arrays.stream(row.split("\\|", -1))
                        .map(value -> value.matches("-?[0-9]+\\.[0-9]{9,}")
                                ? new BigDecimal(value)
                                        .round(new MathContext(9))
                                        .toString()
                                : value)
                        .toList());
    }
}
