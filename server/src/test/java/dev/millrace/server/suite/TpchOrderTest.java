package dev.millrace.server.suite;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.server.session.TestDatabase;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * However the tables of a query are ordered in FROM, it gives the same rows, and at most half as many more go through its
 * operators as in the best order. {@code -Dmillrace.tpch.orders=N} draws as many orders of each (6).
 */
@Tag("long")
class TpchOrderTest {
    private static final Path FOLDER = Path.of("src/test/resources/tpch");
    private static final int ORDERS = Integer.getInteger("millrace.tpch.orders", 3);
    private static final double MOST = 1.5;
    private static final Pattern TABLES = Pattern.compile("FROM ([a-z]+(?: [nl]\\d)?(?:, [a-z]+(?: [nl]\\d)?)+)\\b");

    static String query(int number) throws IOException {
        return Files.readString(FOLDER.resolve(String.format("q%02d.sql", number)));
    }

    static String reordered(String query, Random random) {
        Matcher matcher = TABLES.matcher(query);
        StringBuilder result = new StringBuilder();
        while (matcher.find()) {
            List<String> tables = new ArrayList<>(List.of(matcher.group(1).split(", ")));
            Collections.shuffle(tables, random);
            matcher.appendReplacement(result, "FROM " + String.join(", ", tables));
        }
        matcher.appendTail(result);
        return result.toString();
    }

    /** Whether a query joins tables in an order that could be another. */
    static boolean hasOrders(String query) {
        return TABLES.matcher(query).find();
    }

    /** The tables of a query as its first FROM that has several orders them. */
    static String tables(String query) {
        Matcher matcher = TABLES.matcher(query);
        return matcher.find() ? matcher.group(1) : "";
    }

    /** A database with all tables, full. */
    static TestDatabase filled() throws IOException {
        TestDatabase db = new TestDatabase(1);
        for (String table : Files.readString(FOLDER.resolve("schema.sql")).split(";")) {
            if (!table.isBlank()) {
                db.run(table);
            }
        }
        new TpchRows(1).inserts().forEach(db::run);
        return db;
    }

    @Test
    void theOrderOfTablesInFromHardlyMatters() throws IOException {
        try (TestDatabase db = filled()) {
            for (int number = 1; number <= 22; number++) {
                String written = query(number);
                Random random = new Random(number);
                List<String> answer = db.rows(written);
                long least = db.work(written);
                long most = least;
                String worst = written;
                for (int i = 0; i < ORDERS && TABLES.matcher(written).find(); i++) {
                    String other = reordered(written, random);
                    assertEquals(answer, db.rows(other), other);
                    long work = db.work(other);
                    least = Math.min(least, work);
                    worst = work > most ? other : worst;
                    most = Math.max(most, work);
                }
                String message = "q" + number + ": " + least + " to " + most + " rows, most of them by " + worst;
                assertTrue(most <= MOST * least, message);
            }
        }
    }

    @Test
    void explainSaysHowManyRowsAreExpectedAndWhy() {
        try (TestDatabase db = new TestDatabase(1)) {
            db.run("CREATE TABLE a (id INTEGER PRIMARY KEY, k INTEGER)");
            db.run("CREATE TABLE b (id INTEGER PRIMARY KEY, v TEXT)");
            db.run("INSERT INTO a SELECT i, i % 10 FROM generate_series(1, 100) AS g(i)");
            db.run("INSERT INTO b SELECT i, 'x' || (i % 5) FROM generate_series(1, 10) AS g(i)");
            String plan =
                    String.join("\n", db.rows("EXPLAIN SELECT a.id FROM a JOIN b ON a.k = b.id WHERE b.v = 'x1'"));
            assertTrue(plan.contains("100 rows counted"), plan);
            assertTrue(plan.contains("about 2 rows"), plan);
            assertTrue(plan.contains("about 20 rows"), plan);
        }
    }
}
