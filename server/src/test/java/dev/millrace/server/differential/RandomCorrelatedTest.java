package dev.millrace.server.differential;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.server.session.TestDatabase;
import dev.millrace.testing.oracle.Oracle;
import dev.millrace.testing.oracle.Oracle.OracleException;
import dev.millrace.testing.rows.ZSet;
import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Sub-queries that read rows around them, as views over tables that change: after each change they agree with DuckDB.
 * Values are few and many are NULL, so that partners, duplicates and unknowns happen.
 * {@code -Dmillrace.correlated.seeds=N} runs as many seeds (2), {@code -Dmillrace.correlated.seed=S} from that one.
 */
@Tag("long")
class RandomCorrelatedTest {
    private static final int SEEDS = Integer.getInteger("millrace.correlated.seeds", 2);
    private static final long FIRST_SEED = Long.getLong("millrace.correlated.seed", 1);
    private static final int VIEWS = 10;
    private static final int CHANGES = 5;

    @Test
    void viewsOfCorrelatedQueriesAgreeWithDuckDbAfterEachChange() {
        int compared = 0;
        for (long seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed++) {
            try (Run run = new Run(seed)) {
                compared += run.compared();
            } catch (AssertionError | RuntimeException e) {
                throw new AssertionError(e.getMessage() + "\n(seed " + seed + ")", e);
            }
        }
        assertTrue(compared >= SEEDS * VIEWS / 2, compared + " views were compared");
    }

    private static final class Run implements AutoCloseable {
        private final Chance chance;
        private final TestDatabase db;
        private final Oracle oracle = Oracle.open();
        private final Map<String, String> views = new LinkedHashMap<>();

        Run(long seed) {
            this.chance = new Chance(seed);
            this.db = new TestDatabase(1 + (int) (seed % 2));
            for (String table : RandomCorrelated.TABLES) {
                String columns = table.equals("t1") ? "(a INT NOT NULL, b INT, c INT)" : "(a INT, b INT, c INT)";
                both("CREATE TABLE " + table + columns);
                both(RandomCorrelated.insert(table, chance));
            }
            RandomCorrelated queries = new RandomCorrelated(chance);
            for (int i = 0; i < VIEWS; i++) {
                create("v" + i, queries.next());
            }
        }

        private void both(String statement) {
            db.run(statement);
            oracle.execute(statement);
        }

        private void create(String view, String query) {
            try {
                oracle.execute(query);
                db.run("CREATE MATERIALIZED VIEW " + view + " AS " + query);
                views.put(view, query);
            } catch (OracleException e) {
                // DuckDB does not take it, or takes it and fails
            } catch (MillraceException e) {
                if (e.sqlState() != SqlState.FEATURE_NOT_SUPPORTED) {
                    throw new AssertionError(query, e);
                }
            }
        }

        /** How many views were compared at each step. */
        int compared() {
            compare();
            for (int change = 0; change < CHANGES; change++) {
                both(change());
                compare();
            }
            return views.size();
        }

        private void compare() {
            views.forEach((view, query) -> {
                Answers answers = Answers.of(db.session(), "SELECT * FROM " + view);
                String differences = oracle.differences(query, answers.schema(), ZSet.of(answers.rows()));
                assertTrue(differences.isEmpty(), () -> differences + query);
            });
        }

        private String change() {
            String table = chance.of(RandomCorrelated.TABLES);
            return switch (chance.below(4)) {
                case 0 -> "DELETE FROM " + table + " WHERE a = " + chance.below(3);
                case 1 ->
                    "UPDATE " + table + " SET b = " + RandomCorrelated.value(chance) + " WHERE a <> " + chance.below(3);
                default -> RandomCorrelated.insert(table, chance);
            };
        }

        @Override
        public void close() {
            db.close();
            oracle.close();
        }
    }
}
