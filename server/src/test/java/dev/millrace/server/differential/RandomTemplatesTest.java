package dev.millrace.server.differential;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.server.session.Heard;
import dev.millrace.server.session.TestDatabase;
import dev.millrace.sql.text.Identifiers;
import dev.millrace.sql.text.Lexeme;
import dev.millrace.sql.text.Lexer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Random queries, each also as one of a hundred of a template that has parameters in the places of some of its constants: what this one is told is what the
 * query by itself is told, whose answers {@link RandomQueriesTest} compares with the oracle's. {@code -Dmillrace.random.templates=N} sets how many (15).
 */
@Tag("long")
class RandomTemplatesTest {
    private static final int QUERIES = Integer.getInteger("millrace.random.templates", 15);
    private static final long SEED = Long.getLong("millrace.random.seed", 1);
    private static final int OTHERS = 100;
    private static final int CHUNKS = 3;
    private static final Set<String> COMPARISONS = Set.of("=", "<>", "<", "<=", ">", ">=");

    /** A query with parameters p0, p1, .. in the places of constants. */
    private record Lifted(String body, List<String> types, List<String> values) {
        static Lifted of(String sql, Chance chance) {
            List<Lexeme> tokens = Lexer.tokens(sql);
            StringBuilder body = new StringBuilder();
            List<String> types = new ArrayList<>();
            List<String> values = new ArrayList<>();
            int copied = 0;
            for (int i = 1; i < tokens.size() - 1; i++) {
                Lexeme token = tokens.get(i);
                Lexeme before = tokens.get(i - 1);
                boolean compared = before.kind() == Lexeme.Kind.OPERATOR && COMPARISONS.contains(before.text());
                boolean whole = !tokens.get(i + 1).isSymbol("::");
                if (compared && whole && type(token).isPresent() && chance.percent(80)) {
                    body.append(sql, copied, token.start()).append('p').append(types.size());
                    copied = token.end();
                    types.add(type(token).orElseThrow());
                    values.add(sql.substring(token.start(), token.end()));
                }
            }
            return new Lifted(body.append(sql.substring(copied)).toString(), types, values);
        }

        private static Optional<String> type(Lexeme token) {
            return switch (token.kind()) {
                case INTEGER -> token.text().length() < 9 ? Optional.of("INTEGER") : Optional.empty();
                case DECIMAL -> {
                    String digits = token.text();
                    yield Optional.of("NUMERIC(" + (digits.length() - 1) + ", "
                            + (digits.length() - 1 - digits.indexOf(".")) + ")");
                }
                case STRING -> Optional.of("TEXT");
                default -> Optional.empty();
            };
        }

        String parameters() {
            List<String> all = new ArrayList<>();
            for (int i = 0; i < types.size(); i++) {
                all.add("p" + i + " " + types.get(i));
            }
            return String.join(", ", all);
        }

        /** Values of another query: some the same, some not. */
        String others(Chance chance) {
            List<String> all = new ArrayList<>();
            for (int i = 0; i < types.size(); i++) {
                String other = switch (types.get(i)) {
                    case "INTEGER" -> Integer.toString(chance.between(-100, 100));
                    case "TEXT" -> Identifiers.quoteText(chance.of("a", "b", "", "apple", "longer than sixteen bytes"));
                    default -> "NULL";
                };
                all.add(chance.percent(30) ? values.get(i) : other);
            }
            return String.join(", ", all);
        }
    }

    private final Map<String, Integer> refused = new TreeMap<>();
    private int compared;

    @Test
    void aQueryAmongAHundredOfATemplateIsToldWhatItWouldBeAlone() {
        for (long seed = SEED; compared < QUERIES; seed++) {
            Chance chance = new Chance(seed);
            String sql = (seed % 2 == 0 ? new RandomQueries(chance).next().ours(RandomRound.STREAM) : filtered(chance));
            Lifted lifted = Lifted.of(sql, chance);
            if (!lifted.types().isEmpty()) {
                try (TestDatabase database = new TestDatabase(1 + (int) (seed % 2))) {
                    compare(database, sql, lifted, chance);
                } catch (RuntimeException | AssertionError e) {
                    throw new AssertionError("seed " + seed + ", " + sql + ": " + e, e);
                }
            }
            assertTrue(seed - SEED < 40L * QUERIES, "of so many queries few can be of a template: " + refused);
        }
        System.out.println("random queries of templates: " + compared + " compared, refused " + refused);
    }

    /** What users ask of alerts. */
    private static String filtered(Chance chance) {
        String where = chance.of(
                "g = 'a' AND i > 5",
                "i BETWEEN 3 AND 40 OR t = 'apple'",
                "NOT (d <= 12.5) AND k >= 1",
                "length(t) > 3",
                "l > 100 AND l < 90000");
        return chance.of(
                "SELECT id, ts, g, i FROM events WHERE " + where,
                "SELECT g, count(*) AS n, max(i) AS m FROM events WHERE " + where + " GROUP BY g HAVING count(*) > 1",
                "SELECT DISTINCT g, k FROM events WHERE " + where,
                "SELECT window_end, g, sum(d) AS s FROM TUMBLE(events, ts, INTERVAL '5 seconds') WHERE " + where
                        + " GROUP BY g, window_start, window_end");
    }

    private void compare(TestDatabase database, String sql, Lifted lifted, Chance chance) {
        database.run("CREATE STREAM " + RandomRound.STREAM + " (" + RandomRows.DECLARATIONS
                + ", WATERMARK FOR ts AS ts - INTERVAL '5 seconds');"
                + "CREATE TABLE " + RandomRound.TABLE + " (" + RandomRows.DECLARATIONS + ", PRIMARY KEY (id))");
        try {
            database.run("CREATE CONTINUOUS QUERY alone AS " + sql);
            database.run("CREATE QUERY TEMPLATE t(" + lifted.parameters() + ") AS " + lifted.body());
        } catch (MillraceException e) {
            if (e.sqlState().code().equals(SqlState.INTERNAL_ERROR.code())) {
                throw e;
            }
            refused.merge(e.sqlState() + " " + e.getMessage().replaceAll("\".*\"|[0-9]+", ".."), 1, Integer::sum);
            return;
        }
        database.run("CREATE CONTINUOUS QUERY one FROM TEMPLATE t(" + String.join(", ", lifted.values()) + ")");
        List<String> others = new ArrayList<>();
        for (int other = 0; other < OTHERS; other++) {
            others.add("('other_" + other + "', " + lifted.others(chance) + ")");
        }
        database.run("INSERT INTO t VALUES " + String.join(", ", others));
        RandomRows rows = new RandomRows(chance);
        try (Heard alone = new Heard(database, "alone");
                Heard one = new Heard(database, "one")) {
            for (int chunk = 0; chunk < CHUNKS; chunk++) {
                rows.insert(database, chance.of(1, 10, 100));
                database.run("FLUSH");
                assertEquals(alone.all(), one.all());
            }
        }
        compared++;
    }
}
