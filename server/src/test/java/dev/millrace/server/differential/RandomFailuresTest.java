package dev.millrace.server.differential;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.error.MillraceException;
import dev.millrace.server.session.TestDatabase;
import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

/**
 * Divisions, most of them by what is zero now and then, above queries over tables that change: after each change a view is in
 * error where a SELECT of its query is, and else has its answer. {@code -Dmillrace.failures.seeds=N} runs as many seeds (3),
 * {@code -Dmillrace.failures.seed=S} from that one.
 */
class RandomFailuresTest {
    private static final int SEEDS = Integer.getInteger("millrace.failures.seeds", 3);
    private static final long FIRST_SEED = Long.getLong("millrace.failures.seed", 1);
    private static final int VIEWS = 8;
    private static final int CHANGES = 12;

    @Test
    void aViewFailsAsLongAsItsQueryDoes() {
        int failed = 0;
        int answered = 0;
        for (long seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed++) {
            try (Run run = new Run(seed)) {
                run.run();
                failed += run.failed;
                answered += run.answered;
            } catch (AssertionError | RuntimeException e) {
                throw new AssertionError(e.getMessage() + "\n(seed " + seed + ")", e);
            }
        }
        assertTrue(failed > SEEDS && answered > SEEDS, failed + " failed, " + answered + " answered");
    }

    private static final class Run implements AutoCloseable {
        private final Chance chance;
        private final TestDatabase db;
        private final Map<String, String> views = new LinkedHashMap<>();
        private int failed;
        private int answered;

        Run(long seed) {
            this.chance = new Chance(seed);
            this.db = new TestDatabase(1 + (int) (seed % 3));
            for (String table : RandomCorrelated.TABLES) {
                db.run("CREATE TABLE " + table
                        + (table.equals("t1") ? "(a INT NOT NULL, b INT, c INT)" : "(a INT, b INT, c INT)"));
                db.run(insert(table));
            }
            RandomCorrelated queries = new RandomCorrelated(chance);
            for (int i = 0; i < VIEWS; i++) {
                String query = divided(queries.next(), queries.next());
                try {
                    db.run("CREATE MATERIALIZED VIEW v" + i + " AS " + query);
                    views.put("v" + i, query);
                } catch (MillraceException e) {
                    // of a type that is not divided by, or not available
                }
            }
        }

        private String divided(String inner, String other) {
            String column = chance.of("o1", "o2", "o2");
            String number = "(12 / (" + column + "::text::numeric::int - " + chance.below(3) + "))";
            return switch (chance.below(6)) {
                case 0 -> "SELECT o1, " + number + " AS d FROM (" + inner + ") AS w";
                case 1 -> "SELECT sum(" + number + ") AS d, count(*) AS n FROM (" + inner + ") AS w";
                case 2 -> "SELECT o1 FROM (" + inner + ") AS w WHERE " + number + " > 1";
                case 3 ->
                    "SELECT o1, count(*) AS n FROM (" + inner
                            + ") AS w GROUP BY o1 HAVING count(*) >= (SELECT count(*) /" + " count(DISTINCT o1) FROM ("
                            + other + ") AS u)";
                case 4 ->
                    "SELECT t0.a, w.d FROM " + RandomCorrelated.TABLES.get(0) + " AS t0 LEFT JOIN (SELECT o1, " + number
                            + " AS d FROM (" + inner + ") AS i) AS w ON t0.a::text = w.o1::text";
                default -> "SELECT DISTINCT " + number + " AS d FROM (" + inner + ") AS w";
            };
        }

        void run() {
            compare();
            for (int change = 0; change < CHANGES; change++) {
                db.run(change());
                compare();
            }
        }

        private void compare() {
            views.forEach((view, query) -> {
                String expected = answer(query);
                assertEquals(expected, answer("SELECT * FROM " + view), query);
                if (expected.startsWith("error ")) {
                    failed++;
                } else {
                    answered++;
                }
            });
        }

        private String answer(String query) {
            try {
                return db.rows(query).toString();
            } catch (MillraceException e) {
                return "error " + e.sqlState().code();
            }
        }

        private String change() {
            String table = chance.of(RandomCorrelated.TABLES);
            return switch (chance.below(5)) {
                case 0 -> "DELETE FROM " + table + " WHERE a = " + chance.below(3);
                case 1 -> "UPDATE " + table + " SET b = " + value() + " WHERE a <> " + chance.below(3);
                case 2 ->
                    chance.percent(30)
                            ? "DELETE FROM " + table
                            : "DELETE FROM " + table + " WHERE b = " + chance.below(4);
                default -> insert(table);
            };
        }

        private String insert(String table) {
            StringBuilder rows = new StringBuilder();
            for (int row = chance.between(1, 4); row > 0; row--) {
                String first = table.equals("t1") ? Integer.toString(chance.below(3)) : value();
                rows.append("(" + first + ", " + value() + ", " + value() + ")").append(row == 1 ? "" : ", ");
            }
            return "INSERT INTO " + table + " VALUES " + rows;
        }

        private String value() {
            return chance.percent(30) ? "NULL" : Integer.toString(chance.below(4));
        }

        @Override
        public void close() {
            db.close();
        }
    }
}
