package dev.millrace.server.differential;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.error.MillraceException;
import dev.millrace.server.session.TestDatabase;
import dev.millrace.testing.oracle.Oracle;
import dev.millrace.testing.rows.ZSet;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/**
 * Random INSERT, UPDATE, DELETE and MERGE, with ON CONFLICT, DEFAULT, FROM, USING and RETURNING, in and out of transactions: tables,
 * RETURNING, and the views kept current over them agree with DuckDB after each. {@code -Dmillrace.changes.seeds=N} runs as many
 * seeds (2).
 */
class RandomChangesTest {
    private static final int SEEDS = Integer.getInteger("millrace.changes.seeds", 2);
    private static final int STATEMENTS = 50;
    private static final List<String> TABLES = List.of(
            "CREATE TABLE t (k INT PRIMARY KEY, a INT DEFAULT 5, b INT, s TEXT DEFAULT 'd')",
            "CREATE TABLE u (k INT, x INT DEFAULT -1)",
            "CREATE VIEW plain AS SELECT k, a + coalesce(b, 0) AS c FROM t WHERE a > 0");
    private static final Map<String, String> QUERIES = Map.of(
            "by_s", "SELECT s, count(*) AS n, sum(a) AS a, max(b) AS b FROM t GROUP BY s",
            "joined", "SELECT t.k, t.a, u.x FROM t LEFT JOIN u ON t.k = u.k",
            "of_plain", "SELECT count(*) AS n, sum(c) AS c FROM plain",
            "t_itself", "SELECT * FROM t",
            "u_itself", "SELECT * FROM u");

    @Test
    void tablesAndViewsOverThemAgreeWithDuckDb() {
        for (int seed = 1; seed <= SEEDS; seed++) {
            try (Run run = new Run(seed)) {
                run.run();
            } catch (AssertionError | RuntimeException e) {
                throw new AssertionError(e.getMessage() + "\n(seed " + seed + ")", e);
            }
        }
    }

    private static final class Run implements AutoCloseable {
        private final Random random;
        private final TestDatabase db;
        private final Oracle oracle = Oracle.open();
        private int changed;

        Run(int seed) {
            this.random = new Random(seed);
            this.db = new TestDatabase(1 + seed % 2);
            TABLES.forEach(db::run);
            TABLES.forEach(oracle::execute);
            QUERIES.forEach((name, sql) -> db.run("CREATE MATERIALIZED VIEW " + name + " AS " + sql));
        }

        void run() {
            for (int step = 0; step < STATEMENTS; step++) {
                int together = random.nextInt(5) == 0 ? 1 + random.nextInt(4) : 0;
                if (together == 0) {
                    both(statement());
                } else {
                    transaction(together);
                }
                QUERIES.forEach(this::compare);
            }
            assertTrue(changed > STATEMENTS, "only " + changed + " rows were changed");
        }

        /** What is rolled back DuckDB is not told of at all; in the others it follows statement by statement. */
        private void transaction(int statements) {
            boolean commits = random.nextInt(3) > 0;
            db.run("BEGIN");
            for (int i = 0; i < statements; i++) {
                String sql = statement();
                if (commits) {
                    both(sql);
                    compareTable();
                } else {
                    db.run(sql);
                }
            }
            db.run(commits ? "COMMIT" : "ROLLBACK");
        }

        /** The statement's own rows agree, too. */
        private void both(String sql) {
            try {
                if (sql.startsWith("MERGE")) { // DuckDB returns other columns
                    db.run(sql);
                    oracle.execute(sql);
                    return;
                }
                Answers ours = Answers.of(db.session(), sql);
                assertEquals("", oracle.differences(sql, ours.schema(), ZSet.of(ours.rows())), sql);
                changed += ours.rows().size();
            } catch (MillraceException e) {
                throw new AssertionError(sql + "\n" + e.getMessage(), e);
            }
        }

        private void compare(String name, String sql) {
            Answers ours = Answers.of(db.session(), "SELECT * FROM " + name);
            assertEquals("", oracle.differences(sql, ours.schema(), ZSet.of(ours.rows())), name);
        }

        private void compareTable() {
            Answers ours = Answers.of(db.session(), "SELECT * FROM t");
            assertEquals("", oracle.differences("SELECT * FROM t", ours.schema(), ZSet.of(ours.rows())));
        }

        // ---- statements --------------------------------------------------------------------------------------------

        private String statement() {
            return switch (random.nextInt(10)) {
                case 0, 1, 2 -> insert() + " RETURNING k, a + 1 AS more, b, s";
                case 3 -> insertSelect() + " RETURNING *";
                case 4 ->
                    "INSERT INTO u VALUES " + rows(List.of("k", "x"), false) + " RETURNING x IS NULL AS missing, k";
                case 5 -> update();
                case 6 -> updateFrom();
                case 7 -> delete();
                case 8 -> merge();
                default ->
                    "UPDATE u SET x = " + expression("u.x", "u.k") + " WHERE " + condition("x", "k") + " RETURNING *";
            };
        }

        private String insert() {
            List<String> columns = new ArrayList<>(List.of("k", "a", "b", "s"));
            columns.subList(1, 4).removeIf(column -> random.nextInt(4) == 0);
            return "INSERT INTO t (" + String.join(", ", columns) + ") VALUES " + rows(columns, true) + conflict();
        }

        /** Rows whose keys differ, where they are of a key. */
        private String rows(List<String> columns, boolean distinct) {
            List<Integer> keys = IntStream.range(0, 12).boxed().collect(Collectors.toCollection(ArrayList::new));
            Collections.shuffle(keys, random);
            return keys.subList(0, 1 + random.nextInt(5)).stream()
                    .map(key -> columns.stream()
                            .map(column -> column.equals("k")
                                    ? String.valueOf(distinct ? key : random.nextInt(12))
                                    : value(column))
                            .collect(Collectors.joining(", ", "(", ")")))
                    .collect(Collectors.joining(", "));
        }

        private String value(String column) {
            return switch (random.nextInt(5)) {
                case 0 -> "DEFAULT";
                case 1 -> "NULL";
                default -> column.equals("s") ? "'" + "pqr".charAt(random.nextInt(3)) + "'" : number();
            };
        }

        private String number() {
            return String.valueOf(random.nextInt(40) - 10);
        }

        private String insertSelect() {
            String source = random.nextBoolean()
                    ? "SELECT k, max(x), count(*)::int, 'u' FROM u GROUP BY k"
                    : "SELECT k, b, a, s FROM t WHERE " + condition("a", "b");
            return "INSERT INTO t " + source + conflict();
        }

        private String conflict() {
            if (random.nextInt(4) == 0) {
                return " ON CONFLICT DO NOTHING";
            }
            List<String> sets = new ArrayList<>();
            for (String column : List.of("a", "b")) {
                if (sets.isEmpty() || random.nextBoolean()) {
                    sets.add(column + " = " + expression("t." + column, "excluded." + column));
                }
            }
            if (random.nextInt(3) == 0) {
                sets.add("s = excluded.s");
            }
            String where = random.nextBoolean() ? " WHERE " + condition("t.a", "excluded.b") : "";
            return " ON CONFLICT (k) DO UPDATE SET " + String.join(", ", sets) + where;
        }

        private String update() {
            String second = random.nextBoolean() ? ", s = DEFAULT" : "";
            return "UPDATE t SET a = " + expression("a", "b") + second + " WHERE " + condition("a", "k")
                    + " RETURNING k, a, s";
        }

        private String updateFrom() {
            return random.nextBoolean()
                    ? "UPDATE t SET a = " + expression("t.a", "q.x") + ", b = q.x"
                            + " FROM (SELECT k, max(x) AS x FROM u GROUP BY k) AS q WHERE q.k = t.k AND "
                            + condition("q.x", "t.a") + " RETURNING t.k, t.a"
                    : "UPDATE u SET x = " + expression("u.x", "t.a") + " FROM t WHERE t.k = u.k AND "
                            + condition("t.a", "t.b") + " RETURNING u.k, u.x";
        }

        private String delete() {
            return switch (random.nextInt(4)) {
                case 0 -> "DELETE FROM t WHERE " + condition("a", "b") + " AND k > 5 RETURNING k";
                case 1 ->
                    "DELETE FROM t USING u WHERE u.k = t.k AND " + condition("u.x", "t.a") + " RETURNING t.k, t.s";
                case 2 -> "DELETE FROM u USING t WHERE u.k = t.k AND " + condition("t.a", "t.b") + " RETURNING u.x";
                default -> "DELETE FROM u WHERE " + condition("x", "k") + " RETURNING k";
            };
        }

        /** Keys of the source differ, so that no row is changed twice; what is not there is inserted by at most one row. */
        private String merge() {
            String source = random.nextBoolean()
                    ? "(SELECT k AS qk, max(x) AS x FROM u GROUP BY k) AS q"
                    : "(SELECT (k + 3) % 12 AS qk, b AS x FROM t WHERE " + condition("a", "k") + ") AS q";
            List<String> clauses = new ArrayList<>();
            if (random.nextInt(3) > 0) {
                clauses.add("WHEN MATCHED AND " + condition("t.a", "q.x") + " THEN "
                        + (random.nextInt(3) == 0
                                ? "DELETE"
                                : "UPDATE SET a = " + expression("t.a", "q.x") + ", s = 'm'"));
            }
            if (random.nextInt(3) == 0) {
                clauses.add("WHEN NOT MATCHED BY SOURCE AND " + condition("t.a", "t.b") + " THEN "
                        + (random.nextInt(3) == 0 ? "DELETE" : "UPDATE SET b = " + expression("t.b", "t.a")));
            }
            if (clauses.isEmpty() || random.nextInt(4) > 0) {
                if (random.nextBoolean()) {
                    clauses.add("WHEN NOT MATCHED AND " + condition("q.x", "q.qk") + " THEN DO NOTHING");
                }
                clauses.add("WHEN NOT MATCHED THEN INSERT (k, a) VALUES (q.qk, "
                        + (random.nextBoolean() ? "q.x" : "DEFAULT") + ")");
            }
            if (random.nextBoolean()) {
                clauses.add("WHEN MATCHED THEN UPDATE SET b = " + expression("q.x", "t.a"));
            }
            return "MERGE INTO t USING " + source + " ON t.k = q.qk " + String.join(" ", clauses);
        }

        /** In bounds, whatever the columns are. */
        private String expression(String one, String other) {
            return switch (random.nextInt(5)) {
                case 0 -> other;
                case 1 -> "(" + one + " + " + other + ") % 50";
                case 2 -> "coalesce(" + one + ", 0) + 1";
                case 3 -> "CASE WHEN " + one + " > " + other + " THEN " + one + " ELSE " + number() + " END";
                default -> "(" + one + " * 3) % 41";
            };
        }

        private String condition(String one, String other) {
            return switch (random.nextInt(5)) {
                case 0 -> one + " IS NULL";
                case 1 -> one + " > " + other;
                case 2 -> one + " BETWEEN " + number() + " AND 20";
                case 3 -> "coalesce(" + one + ", 1) <> " + number();
                default -> "(" + one + " < " + number() + " OR " + other + " > 10)";
            };
        }

        @Override
        public void close() {
            oracle.close();
            db.close();
        }
    }
}
