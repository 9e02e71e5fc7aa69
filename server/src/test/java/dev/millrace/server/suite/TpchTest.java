package dev.millrace.server.suite;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import dev.millrace.server.session.TestDatabase;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * All 22 queries agree with the oracle at every checked epoch, over tables filled in random order by chunks of random size
 * while rows are updated and deleted, and with views continued from snapshots at random epochs. {@code
 * -Dmillrace.tpch.seeds=N} runs as many seeds (2).
 */
@Tag("long")
class TpchTest {
    private static final Path FOLDER = Path.of("src/test/resources/tpch");
    private static final int SEEDS = Integer.getInteger("millrace.tpch.seeds", 1);

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
        try (StandingViews views = new StandingViews(1 + (int) seed % 2, random)) {
            views.createTables(Files.readString(FOLDER.resolve("schema.sql")));
            int before = random.nextInt(statements.size()); // views begin with the rows there are
            for (int i = 0; i < statements.size(); i++) {
                if (i == before) {
                    views.createViews(queries);
                }
                views.execute(statements.get(i));
                if (random.nextInt(3) == 0) {
                    views.execute(rows.change());
                }
                if (i > before && random.nextInt(12) == 0) {
                    views.compare();
                    views.restartSome();
                }
            }
            views.compare();
            if (seed == 1) {
                compareWithFiles(views.database());
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
