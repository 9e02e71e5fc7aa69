package dev.millrace.server.differential;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.error.MillraceException;
import dev.millrace.server.session.Heard;
import dev.millrace.server.session.TestDatabase;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Random filters and projections of a stream, each also as one of a hundred ordinary queries that differ in literals: what two of them are told, and
 * how they fail, is what the same queries by themselves are told, whose answers {@link RandomQueriesTest} compares with the oracle's; also while
 * others come and go. {@code -Dmillrace.random.groups=N} sets how many (15).
 */
@Tag("long")
class RandomGroupsTest {
    private static final int QUERIES = Integer.getInteger("millrace.random.groups", 15);
    private static final long SEED = Long.getLong("millrace.random.seed", 1);
    private static final int MEMBERS = 100;
    private static final int CHUNKS = 4;

    /** A query in which {@code ?kind} stands for a literal. */
    private static String random(Chance chance) {
        RandomExpressions expressions = new RandomExpressions(chance);
        String finds = chance.of(
                "g = ?text",
                "k = ?int",
                "i > ?int",
                "i BETWEEN ?int AND ?int",
                "g = ?text AND i >= ?int",
                "k = ?int AND x < ?real AND x > ?real",
                "l > ?int AND t < ?text",
                "?text = g AND k = ?int AND n > ?decimal",
                "day >= DATE ?date",
                "ts < TIMESTAMP ?date AND g = ?text");
        String rest = chance.of(
                "",
                " AND 100 / (i - ?int) > ?int",
                " AND (t = ?text OR k <> ?int)",
                " AND i + ?int > k * ?int",
                " AND " + expressions.condition(2).ours());
        List<String> shown = new ArrayList<>(List.of("id"));
        for (int i = chance.between(0, 3); i > 0; i--) {
            shown.add(chance.of(
                            "?text",
                            "i * ?int",
                            "x + ?real",
                            "g",
                            "n",
                            "t || ?text",
                            expressions.any(2).ours()) + " AS c" + i);
        }
        return "SELECT " + String.join(", ", shown) + " FROM " + RandomRound.STREAM + " WHERE " + finds + rest;
    }

    private static String filled(String query, Chance chance) {
        StringBuilder text = new StringBuilder();
        int at = 0;
        for (int next = query.indexOf('?'); next >= 0; next = query.indexOf('?', at)) {
            int end = next + 1;
            while (end < query.length() && Character.isLetter(query.charAt(end))) {
                end++;
            }
            text.append(query, at, next).append(literal(query.substring(next + 1, end), chance));
            at = end;
        }
        return text.append(query.substring(at)).toString();
    }

    private static String literal(String kind, Chance chance) {
        return switch (kind) {
            case "text" -> chance.of("'a'", "'b'", "''", "'longer than sixteen bytes'", "'it''s'");
            case "int" -> Integer.toString(chance.between(0, 60));
            case "real" -> chance.between(0, 99) + ".5e0";
            case "decimal" -> chance.between(10, 99) + "." + chance.between(10, 99);
            case "date" -> "'20" + chance.between(10, 30) + "-0" + chance.between(1, 9) + "-11'";
            default -> throw new IllegalArgumentException(kind);
        };
    }

    private final Map<String, Integer> refused = new TreeMap<>();
    private int compared;
    private int failed;

    @Test
    void aQueryAmongAHundredIsToldWhatItWouldBeAlone() {
        for (long seed = SEED; compared < QUERIES; seed++) {
            Chance chance = new Chance(seed);
            String query = random(chance);
            try (TestDatabase database = new TestDatabase(1 + (int) (seed % 2))) {
                compare(database, query, chance);
            } catch (RuntimeException | AssertionError e) {
                throw new AssertionError("seed " + seed + ", " + query + ": " + e, e);
            }
            assertTrue(seed - SEED < 20L * QUERIES, "of so many queries few can be in a group: " + refused);
        }
        System.out.println(
                "random queries in groups: " + compared + " compared, " + failed + " failed, refused " + refused);
    }

    private void compare(TestDatabase database, String query, Chance chance) {
        database.run("CREATE STREAM " + RandomRound.STREAM + " (" + RandomRows.DECLARATIONS
                + ", WATERMARK FOR ts AS ts - INTERVAL '5 seconds')");
        String one = filled(query, chance);
        String two = filled(query, chance);
        try {
            database.run("SET query_groups = off; CREATE CONTINUOUS QUERY one_alone AS " + one
                    + "; CREATE CONTINUOUS QUERY two_alone AS " + two + "; SET query_groups = on");
        } catch (MillraceException e) {
            refused.merge(e.sqlState() + " " + e.getMessage().replaceAll("\".*\"|[0-9]+", ".."), 1, Integer::sum);
            return;
        }
        for (int member = 0; member < MEMBERS - 2; member++) {
            database.run("CREATE CONTINUOUS QUERY other_" + member + " AS " + filled(query, chance));
            if (member == MEMBERS / 2) {
                database.run("CREATE CONTINUOUS QUERY one AS " + one + "; CREATE CONTINUOUS QUERY two AS " + two);
            }
        }
        if (database.rows("SELECT 1 FROM millrace.query_groups WHERE shared > 50")
                .isEmpty()) {
            refused.merge("not in a group", 1, Integer::sum);
            return;
        }
        RandomRows rows = new RandomRows(chance);
        try (Heard oneAlone = new Heard(database, "one_alone");
                Heard twoAlone = new Heard(database, "two_alone");
                Heard oneOfMany = new Heard(database, "one");
                Heard twoOfMany = new Heard(database, "two")) {
            for (int chunk = 0; chunk < CHUNKS; chunk++) {
                rows.insert(database, chance.of(1, 10, 100));
                database.run("FLUSH");
                assertEquals(told(oneAlone), told(oneOfMany));
                assertEquals(told(twoAlone), told(twoOfMany));
                int other = chance.below(MEMBERS - 2);
                database.run("DROP CONTINUOUS QUERY other_" + other + "; CREATE CONTINUOUS QUERY other_" + other
                        + " AS " + filled(query, chance));
            }
        }
        String stats = "SELECT state, rows_in, rows_out, sqlstate, error FROM millrace.query_stats WHERE query = ";
        List<String> alone = database.rows(stats + "'one_alone'");
        assertEquals(alone, database.rows(stats + "'one'"));
        assertEquals(database.rows(stats + "'two_alone'"), database.rows(stats + "'two'"));
        failed += alone.get(0).startsWith("failed") ? 1 : 0;
        compared++;
    }

    private static String told(Heard heard) {
        try {
            return heard.all().toString();
        } catch (MillraceException e) {
            return e.sqlState() + " " + e.getMessage();
        }
    }
}
