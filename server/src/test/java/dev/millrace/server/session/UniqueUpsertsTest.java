package dev.millrace.server.session;

import dev.millrace.server.differential.OracleCheck;
import dev.millrace.testing.oracle.Oracle;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** INSERT .. ON CONFLICT DO UPDATE by a UNIQUE constraint, with random rows, as DuckDB does it; a view follows. */
class UniqueUpsertsTest {
    private static final int STATEMENTS = 60;
    private static final int VALUES = 25;

    private static final String[] ACTIONS = {
        "DO UPDATE SET n = EXCLUDED.n",
        "DO UPDATE SET n = t.n + EXCLUDED.n",
        "DO UPDATE SET n = EXCLUDED.n WHERE t.n < EXCLUDED.n",
        "DO NOTHING",
    };

    @Test
    void rowsAreFoundByAUniqueValue() {
        check("CREATE TABLE t (id INT PRIMARY KEY, u INT UNIQUE, n INT)");
    }

    @Test
    void alsoWithoutAPrimaryKey() {
        check("CREATE TABLE t (id INT, u INT UNIQUE, n INT)");
    }

    private static void check(String create) {
        long seed = Long.getLong("millrace.upserts.seed", 20261129);
        Random random = new Random(seed);
        try (TestDatabase db = new TestDatabase();
                Oracle oracle = Oracle.open()) {
            db.run(create);
            db.run("CREATE MATERIALIZED VIEW v AS SELECT u, n FROM t");
            oracle.execute(create);
            int id = 0;
            for (int i = 0; i < STATEMENTS; i++) {
                List<Integer> values =
                        IntStream.range(0, VALUES).boxed().collect(Collectors.toCollection(ArrayList::new));
                Collections.shuffle(values, random);
                List<String> rows = new ArrayList<>();
                boolean withNull = random.nextBoolean(); // once: DuckDB takes two of a statement for the same
                for (int row = 1 + random.nextInt(6); row > 0; row--) {
                    String value = withNull && row == 2 ? "NULL" : String.valueOf(values.get(row));
                    rows.add("(" + id++ + ", " + value + ", " + random.nextInt(100) + ")");
                }
                String insert = "INSERT INTO t VALUES " + String.join(", ", rows) + " ON CONFLICT (u) "
                        + ACTIONS[random.nextInt(ACTIONS.length)];
                db.run(insert);
                oracle.execute(insert);
                OracleCheck.requireEqual(db.session(), "SELECT * FROM t", oracle, "SELECT * FROM t");
            }
            db.run("FLUSH");
            OracleCheck.requireEqual(db.session(), "SELECT * FROM v", oracle, "SELECT u, n FROM t");
        } catch (AssertionError e) {
            throw new AssertionError("seed " + seed + ": " + e.getMessage(), e);
        }
    }
}
