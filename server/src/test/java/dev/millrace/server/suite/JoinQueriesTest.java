package dev.millrace.server.suite;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * All kinds of joins and sub-queries agree with the oracle while rows with NULLs and few values come, change and go, and
 * views continue from snapshots. {@code -Dmillrace.joins.seeds=N} runs as many seeds (2).
 */
@Tag("long")
class JoinQueriesTest {
    private static final int SEEDS = Integer.getInteger("millrace.joins.seeds", 1);
    private static final String SCHEMA = """
            CREATE TABLE a (id INTEGER PRIMARY KEY, k INTEGER, v INTEGER);
            CREATE TABLE b (id INTEGER PRIMARY KEY, k INTEGER, v INTEGER);
            CREATE TABLE c (id INTEGER PRIMARY KEY, k INTEGER NOT NULL, v INTEGER)
            """;

    private static Map<String, String> queries() throws IOException {
        Map<String, String> queries = new TreeMap<>();
        String text = Files.readString(Path.of("src/test/resources/joins/queries.sql"));
        for (String part : text.split("\n\n")) {
            String[] nameAndQuery = part.strip().split("\n", 2);
            if (nameAndQuery.length == 2) {
                queries.put(nameAndQuery[0].replace("-- ", "j_"), nameAndQuery[1]);
            }
        }
        return queries;
    }

    @Test
    void allJoinsAgreeWithTheOracleWhileTablesChange() throws IOException {
        for (int seed = 1; seed <= SEEDS; seed++) {
            try {
                run(new Random(seed), 1 + seed % 2);
            } catch (AssertionError | RuntimeException e) {
                throw new AssertionError(e.getMessage() + "\n(seed " + seed + ")", e);
            }
        }
    }

    private static void run(Random random, int workers) throws IOException {
        try (StandingViews views = new StandingViews(workers, random)) {
            views.createTables(SCHEMA);
            int id = 0;
            for (int step = 0; step < 40; step++) {
                if (step == 3) {
                    views.createViews(queries());
                }
                String table = random.nextInt(3) == 0 ? "a" : random.nextBoolean() ? "b" : "c";
                switch (random.nextInt(5)) {
                    case 0 -> views.execute("DELETE FROM " + table + " WHERE id % 7 = " + random.nextInt(7));
                    case 1 ->
                        views.execute("UPDATE " + table + " SET k = " + (table.equals("c") ? "2" : value(random))
                                + " WHERE id % 5 = " + random.nextInt(5));
                    case 2 ->
                        views.execute(
                                "UPDATE " + table + " SET v = " + value(random) + " WHERE k = " + random.nextInt(5));
                    default -> {
                        StringBuilder rows = new StringBuilder();
                        for (int i = 0; i <= random.nextInt(4); i++) {
                            String key = table.equals("c") ? "" + random.nextInt(5) : value(random);
                            rows.append(i == 0 ? "" : ", ")
                                    .append("(" + ++id + ", " + key + ", " + value(random) + ")");
                        }
                        views.execute("INSERT INTO " + table + " VALUES " + rows);
                    }
                }
                if (step > 3 && random.nextInt(4) == 0) {
                    views.compare();
                    views.restartSome();
                }
            }
            views.compare();
        }
    }

    private static String value(Random random) {
        return random.nextInt(6) == 0 ? "NULL" : "" + random.nextInt(5);
    }
}
