package dev.millrace.server.suite;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.millrace.memory.Memory;
import dev.millrace.server.result.StatementResult;
import dev.millrace.server.result.StatementResults;
import dev.millrace.server.session.TestDatabase;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tables that say what a taken key means have the rows that taking one row after the other leaves, whatever statements and
 * transactions the rows come in; and so has a view of each.
 */
class TableConflictsTest {
    private static final int SEEDS = Integer.getInteger("millrace.conflicts.seeds", 2);

    @Test
    void rowsAreTakenOneAfterTheOther() {
        for (int seed = 1; seed <= SEEDS; seed++) {
            try (TestDatabase db = new TestDatabase(1 + seed % 2)) {
                run(new Random(seed), db);
            } catch (AssertionError | RuntimeException e) {
                throw new AssertionError(e.getMessage() + "\n(seed " + seed + ")", e);
            }
        }
    }

    private enum Kind {
        FIRST("ON CONFLICT DO NOTHING"),
        LAST("ON CONFLICT DO UPDATE FULL"),
        FILLED("ON CONFLICT DO UPDATE IF NOT NULL"),
        NEWEST("ON CONFLICT OVERWRITE WITH VERSION COLUMN (a, b)"),
        NEWEST_FILLED("ON CONFLICT DO UPDATE IF NOT NULL WITH VERSION COLUMN (a)");

        private final String clause;

        Kind(String clause) {
            this.clause = clause;
        }

        /** What is there behind a row; {@code there} may be null. */
        Integer[] after(Integer[] there, Integer[] row) {
            if (there == null) {
                return row;
            }
            boolean old =
                    this == NEWEST && compare(row, there, 2) < 0 || this == NEWEST_FILLED && compare(row, there, 1) < 0;
            if (this == FIRST || old) {
                return there;
            }
            Integer[] after = row.clone();
            if (this == FILLED || this == NEWEST_FILLED) {
                for (int i = 0; i < after.length; i++) {
                    after[i] = row[i] == null ? there[i] : row[i];
                }
            }
            return after;
        }

        private static int compare(Integer[] x, Integer[] y, int columns) {
            for (int i = 0; i < columns; i++) {
                int by = Integer.compare(x[i] == null ? -1 : x[i], y[i] == null ? -1 : y[i]);
                if (by != 0) {
                    return by;
                }
            }
            return 0;
        }
    }

    private static void run(Random random, TestDatabase db) {
        for (Kind kind : Kind.values()) {
            db.run("CREATE TABLE " + kind + " (k INT PRIMARY KEY, a INT, b INT, c INT) " + kind.clause);
            db.run("CREATE MATERIALIZED VIEW v_" + kind + " AS SELECT a, count(*) AS n, sum(b) AS b, sum(c) AS c FROM "
                    + kind + " GROUP BY a");
            TreeMap<Integer, Integer[]> expected = new TreeMap<>();
            for (int step = 0; step < 25; step++) {
                TreeMap<Integer, Integer[]> before = new TreeMap<>(expected);
                boolean transaction = random.nextInt(4) == 0;
                if (transaction) {
                    db.run("BEGIN");
                }
                for (int i = random.nextInt(3); i >= 0; i--) {
                    if (random.nextInt(6) == 0) {
                        int key = random.nextInt(6);
                        db.run("DELETE FROM " + kind + " WHERE k = " + key);
                        expected.remove(key);
                    } else {
                        String rows = rows(random, kind, expected);
                        if (random.nextBoolean()) {
                            db.run("INSERT INTO " + kind + " VALUES " + rows);
                        } else {
                            copy(db, kind, rows);
                        }
                    }
                }
                if (transaction && random.nextBoolean()) {
                    db.run("ROLLBACK");
                    expected = before;
                } else if (transaction) {
                    db.run("COMMIT");
                }
                List<String> shown = new ArrayList<>();
                expected.forEach((key, row) -> shown.add(key + "|" + row[0] + "|" + row[1] + "|" + row[2]));
                assertEquals(
                        shown.stream().map(row -> row.replace("null", "")).toList(),
                        db.rows("SELECT * FROM " + kind + " ORDER BY k"),
                        kind.clause);
            }
            assertEquals(
                    db.rows("SELECT a, count(*), sum(b), sum(c) FROM " + kind + " GROUP BY a ORDER BY a"),
                    db.rows("SELECT * FROM v_" + kind + " ORDER BY a"));
        }
    }

    /** The same rows by COPY. */
    private static void copy(TestDatabase db, Kind kind, String rows) {
        String text = rows.substring(1, rows.length() - 1)
                        .replace("), (", "\n")
                        .replace(", ", "\t")
                        .replace("NULL", "\\N")
                + "\n";
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        long address = Memory.allocate(bytes.length);
        try (StatementResults results = db.session().execute("COPY " + kind + " FROM STDIN");
                StatementResult.CopyIn copy = (StatementResult.CopyIn) results.next()) {
            Memory.copyIn(bytes, 0, address, bytes.length);
            copy.write(address, bytes.length);
            copy.finish();
        } finally {
            Memory.free(address);
        }
    }

    @Test
    void whatATableSaysIsKept(@TempDir Path directory) {
        try (TestDatabase db = new TestDatabase(directory)) {
            db.run("CREATE TABLE t (k INT PRIMARY KEY, v INT) ON CONFLICT OVERWRITE WITH VERSION COLUMN (v)");
            db.run("INSERT INTO t VALUES (1, 5)");
        }
        try (TestDatabase db = new TestDatabase(directory)) {
            db.run("INSERT INTO t VALUES (1, 4), (2, 1), (2, 3)");
            assertEquals(List.of("1|5", "2|3"), db.rows("SELECT * FROM t ORDER BY k"));
        }
    }

    private static String rows(Random random, Kind kind, TreeMap<Integer, Integer[]> expected) {
        List<String> texts = new ArrayList<>();
        for (int i = random.nextInt(5); i >= 0; i--) {
            int key = random.nextInt(6);
            Integer[] row = new Integer[3];
            StringBuilder text = new StringBuilder("(" + key);
            for (int column = 0; column < 3; column++) {
                row[column] = random.nextInt(4) == 0 ? null : random.nextInt(5);
                text.append(", ").append(Objects.toString(row[column], "NULL"));
            }
            texts.add(text + ")");
            expected.put(key, kind.after(expected.get(key), row));
        }
        return String.join(", ", texts);
    }
}
