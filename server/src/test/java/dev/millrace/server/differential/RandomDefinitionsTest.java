package dev.millrace.server.differential;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.millrace.error.MillraceException;
import dev.millrace.server.session.TestDatabase;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Random definitions and changes of rows in transactions, which are rolled back, gone back in, committed, and cut off by restarts, against a
 * database that executes what remains of them, and no transaction.
 */
@Tag("long")
class RandomDefinitionsTest {
    private static final long SEED = Long.getLong("millrace.definitions.seed", 1);
    private static final int TRANSACTIONS = Integer.getInteger("millrace.definitions.transactions", 50);
    private static final int MOST_STATEMENTS = 8;

    @TempDir
    Path folder;

    private final Random random = new Random(SEED);
    private final List<String> story = new ArrayList<>(); // of the transaction

    private String table() {
        return "t" + random.nextInt(3);
    }

    private String column() {
        return List.of("a", "b", "c").get(random.nextInt(3));
    }

    private String comment() {
        return random.nextInt(4) == 0 ? "NULL" : "'" + random.nextInt(1000) + "'";
    }

    private String statement() {
        String table = table();
        return switch (random.nextInt(34)) {
            case 20 -> "COMMENT ON TABLE " + table + " IS " + comment();
            case 21, 22, 23, 24 -> "COMMENT ON COLUMN " + table + "." + column() + " IS " + comment();
            case 27, 28 ->
                "ALTER TABLE " + table + " ADD COLUMN c INT; COMMENT ON COLUMN " + table + ".c IS " + comment();
            case 29, 30, 31, 32, 33 ->
                "ALTER TABLE " + table
                        + List.of(" RENAME COLUMN c TO b", " RENAME COLUMN b TO c", " DROP COLUMN c")
                                .get(random.nextInt(3));
            case 25, 26 ->
                "COMMENT ON "
                        + List.of(
                                        "INDEX i" + random.nextInt(3),
                                        "CONSTRAINT " + table + "_pkey ON " + table,
                                        "VIEW v" + random.nextInt(2),
                                        "MATERIALIZED VIEW m" + random.nextInt(2),
                                        "SCHEMA public",
                                        "DATABASE millrace")
                                .get(random.nextInt(6))
                        + " IS " + comment();
            case 0, 1, 2 -> "CREATE TABLE " + table + " (id INT PRIMARY KEY, a INT)";
            case 3 -> "CREATE TABLE " + table + " AS SELECT g AS a, g * 2 AS b FROM generate_series(1, 5) g";
            case 4 -> "DROP TABLE " + table + (random.nextBoolean() ? " CASCADE" : "");
            case 5 ->
                "ALTER TABLE " + table + " ADD COLUMN " + column() + " INT"
                        + (random.nextBoolean()
                                ? " DEFAULT " + random.nextInt(10)
                                : " GENERATED ALWAYS AS (" + column() + " + 1) STORED");
            case 6 -> "ALTER TABLE " + table + " DROP COLUMN " + column() + (random.nextBoolean() ? " CASCADE" : "");
            case 7 -> "ALTER TABLE " + table + " RENAME COLUMN " + column() + " TO " + column();
            case 8 -> "ALTER TABLE " + table + " ALTER COLUMN " + column() + " TYPE BIGINT";
            case 9 ->
                "CREATE " + (random.nextBoolean() ? "UNIQUE " : "") + "INDEX i" + random.nextInt(3) + " ON " + table
                        + " (" + column() + ")";
            case 10 -> "DROP INDEX i" + random.nextInt(3);
            case 11 -> "CREATE OR REPLACE VIEW v" + random.nextInt(2) + " AS SELECT a FROM " + table;
            case 12 ->
                "CREATE MATERIALIZED VIEW m" + random.nextInt(2) + " AS SELECT a, count(*) AS k FROM " + table
                        + " GROUP BY a";
            case 13 ->
                random.nextBoolean()
                        ? "DROP MATERIALIZED VIEW m" + random.nextInt(2)
                        : "DROP VIEW v" + random.nextInt(2);
            case 14 -> "UPDATE " + table + " SET a = a + 1 WHERE a % 2 = 0";
            case 15 -> "DELETE FROM " + table + " WHERE a = " + random.nextInt(10);
            default ->
                "INSERT INTO " + table + " (id, a) SELECT g, g % 5 FROM generate_series(" + random.nextInt(20) + ", "
                        + (20 + random.nextInt(5)) + ") g ON CONFLICT DO NOTHING";
        };
    }

    /** All that there is, as text. */
    private static List<String> all(TestDatabase database) {
        List<String> all = new ArrayList<>(
                database.rows(
                        "SELECT table_name, column_name, data_type FROM information_schema.columns WHERE table_schema = 'public'"));
        all.addAll(database.rows("SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'"));
        all.addAll(database.rows(
                "SELECT relname, objsubid, description FROM pg_description JOIN pg_class c ON c.oid = objoid"));
        all.addAll(database.rows(
                "SELECT conname, description FROM pg_description JOIN pg_constraint c ON c.oid = objoid"));
        all.addAll(database.rows("SELECT obj_description(2200, 'pg_namespace'), shobj_description(5, 'pg_database')"));
        for (String name : database.rows("SELECT relname FROM pg_class WHERE relkind IN ('r', 'v', 'm')"
                + " AND relname SIMILAR TO '[tvm][0-9]'")) {
            all.add(name + ": " + database.flushedRows("SELECT * FROM " + name));
        }
        return all;
    }

    private static boolean succeeds(TestDatabase database, String statement) {
        try {
            database.run(statement);
            return true;
        } catch (MillraceException e) {
            if (e.sqlState().code().startsWith("XX")) {
                throw e;
            }
            return false;
        }
    }

    /** One transaction; returns the statements that remain of it. */
    private List<String> transaction(TestDatabase database) {
        story.clear();
        List<String> remain = new ArrayList<>();
        List<Integer> savepoints = new ArrayList<>(); // how many statements there were
        database.run("BEGIN");
        int statements = 1 + random.nextInt(MOST_STATEMENTS);
        for (int i = 0; i < statements; i++) {
            database.run("SAVEPOINT s" + savepoints.size());
            savepoints.add(remain.size());
            String statement = statement();
            boolean done = succeeds(database, statement);
            story.add((done ? "" : "failed: ") + statement);
            if (done) {
                remain.add(statement);
            }
            if (!done || random.nextInt(6) == 0) {
                int to = done ? random.nextInt(savepoints.size()) : savepoints.size() - 1;
                database.run("ROLLBACK TO s" + to);
                story.add("back to s" + to);
                remain.subList(savepoints.get(to), remain.size()).clear();
                savepoints.subList(to + 1, savepoints.size()).clear();
            }
        }
        if (random.nextInt(3) == 0) {
            database.run("ROLLBACK");
            story.add("ROLLBACK");
            return List.of();
        }
        database.run("COMMIT");
        return remain;
    }

    @Test
    void whatRemainsOfTransactionsIsAllThatThereIs() {
        TestDatabase database = new TestDatabase(folder);
        try (TestDatabase without = new TestDatabase()) {
            for (int i = 0; i < TRANSACTIONS; i++) {
                for (String statement : transaction(database)) {
                    String where = "seed " + SEED + ", transaction " + i + ": " + story;
                    assertEquals(true, succeeds(without, statement), where + ", without: " + statement);
                }
                assertEquals(all(without), all(database), "seed " + SEED + ", transaction " + i + ": " + story);
                if (random.nextInt(8) == 0) {
                    if (random.nextBoolean()) {
                        database.run("BEGIN");
                        succeeds(database, statement());
                        succeeds(database, statement()); // and never COMMIT
                    }
                    database.close();
                    database = new TestDatabase(folder);
                    assertEquals(all(without), all(database), "seed " + SEED + ", opened after transaction " + i);
                }
            }
        } finally {
            database.close();
        }
    }
}
