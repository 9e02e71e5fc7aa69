package dev.millrace.server.tpch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import dev.millrace.engine.runtime.QueryOptions;
import dev.millrace.engine.runtime.QuerySnapshot;
import dev.millrace.engine.runtime.StandingQuery;
import dev.millrace.server.differential.OracleCheck;
import dev.millrace.server.session.TestDatabase;
import dev.millrace.testing.oracle.Oracle;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * All 22 queries agree with the oracle at every checked epoch, over tables filled in random order by chunks of random size
 * while rows are updated and deleted, and with views continued from snapshots at random epochs. {@code
 * -Dmillrace.tpch.seeds=N} runs as many seeds (2).
 */
class TpchTest {
    private static final Path FOLDER = Path.of("src/test/resources/tpch");
    private static final int SEEDS = Integer.getInteger("millrace.tpch.seeds", 2);

    private final Map<String, String> queries = new TreeMap<>();

    TpchTest() throws IOException {
        try (Stream<Path> files = Files.list(FOLDER)) {
            for (Path file : files.filter(path -> path.toString().matches(".*q\\d\\d\\.sql"))
                    .toList()) {
                queries.put(file.getFileName().toString().replace(".sql", ""), Files.readString(file));
            }
        }
    }

    @Test
    void allQueriesAgreeWithTheOracleWhileTablesChange() throws IOException {
        assertEquals(22, queries.size());
        for (long seed = 1; seed <= SEEDS; seed++) {
            try {
                run(seed);
            } catch (AssertionError | RuntimeException e) {
                throw new AssertionError(e.getMessage() + "\n(seed " + seed + ")", e);
            }
        }
    }

    private void run(long seed) throws IOException {
        Random random = new Random(seed);
        TpchRows rows = new TpchRows(seed);
        List<String> statements = rows.inserts();
        try (TestDatabase database = new TestDatabase(1 + (int) seed % 2);
                Oracle oracle = Oracle.open()) {
            String schema = Files.readString(FOLDER.resolve("schema.sql"));
            database.run(schema);
            oracle.execute(schema.replaceAll("(?:,\\s*)?PRIMARY KEY(?: \\([^)]*\\))?", ""));
            int before = random.nextInt(statements.size()); // views begin with the rows there are
            for (int i = 0; i < statements.size(); i++) {
                if (i == before) {
                    queries.forEach((name, sql) -> database.run("CREATE MATERIALIZED VIEW " + name + " AS " + sql));
                }
                execute(statements.get(i), database, oracle);
                if (random.nextInt(3) == 0) {
                    execute(rows.change(), database, oracle);
                }
                if (i > before && random.nextInt(12) == 0) {
                    compare(database, oracle);
                    restart(database, random);
                }
            }
            compare(database, oracle);
            if (seed == 1) {
                compareWithFiles(database);
            }
        }
    }

    private static void execute(String statement, TestDatabase database, Oracle oracle) {
        database.run(statement);
        oracle.execute(statement);
    }

    /** In order where the query says in which: all do up to equal rows. */
    private void compare(TestDatabase database, Oracle oracle) {
        database.session().flush();
        queries.forEach(
                (name, sql) -> OracleCheck.requireEqual(database.session(), "SELECT * FROM " + name, oracle, sql));
    }

    /** Some views go on from a snapshot of their state. */
    private void restart(TestDatabase database, Random random) {
        for (String name : queries.keySet()) {
            if (random.nextInt(3) == 0) {
                StandingQuery running = database.database().engine().query(name);
                QuerySnapshot snapshot = running.snapshot();
                running.drop();
                database.database()
                        .engine()
                        .start(name, running.plan(), QueryOptions.view().withRestore(snapshot));
            }
        }
    }

    private void compareWithFiles(TestDatabase database) throws IOException {
        for (String name : queries.keySet()) {
            List<String> answer = new ArrayList<>(database.rows("SELECT * FROM " + name));
            assertFalse(answer.isEmpty() || answer.equals(List.of("")), name + " found nothing: this shows nothing");
            Path file = FOLDER.resolve(name + ".answer");
            String text = String.join("\n", answer) + "\n";
            if (Boolean.getBoolean("millrace.golden.update")) {
                Files.writeString(file, text);
            }
            assertEquals(Files.readString(file), text, name);
        }
    }
}
