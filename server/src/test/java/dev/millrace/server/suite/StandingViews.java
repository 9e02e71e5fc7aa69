package dev.millrace.server.suite;

import dev.millrace.engine.runtime.QueryOptions;
import dev.millrace.engine.runtime.QuerySnapshot;
import dev.millrace.engine.runtime.StandingQuery;
import dev.millrace.server.differential.OracleCheck;
import dev.millrace.server.session.TestDatabase;
import dev.millrace.testing.oracle.Oracle;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;

/** Queries as materialized views beside an oracle with the same tables, compared at epochs that the test chooses. */
final class StandingViews implements AutoCloseable {
    private final TestDatabase database;
    private final Oracle oracle = Oracle.open();
    private final Map<String, String> queries = new TreeMap<>();
    private final Random random;

    StandingViews(int workers, Random random) {
        this.database = new TestDatabase(workers);
        this.random = random;
    }

    TestDatabase database() {
        return database;
    }

    /** Creates tables in both; the oracle's have no keys, whose indexes would refuse a key deleted and inserted again. */
    void createTables(String schema) {
        database.run(schema);
        oracle.execute(schema.replaceAll("(?:,\\s*)?PRIMARY KEY(?: \\([^)]*\\))?", ""));
    }

    void createViews(Map<String, String> newQueries) {
        newQueries.forEach((name, sql) -> {
            database.run("CREATE MATERIALIZED VIEW " + name + " AS " + sql);
            queries.put(name, sql);
        });
    }

    /** A statement that changes tables, in both. */
    void execute(String statement) {
        database.run(statement);
        oracle.execute(statement);
    }

    void compare() {
        database.session().flush();
        List<String> differences = new ArrayList<>();
        queries.forEach((name, sql) -> {
            try {
                OracleCheck.requireEqual(database.session(), "SELECT * FROM " + name, oracle, sql);
            } catch (AssertionError | RuntimeException e) {
                differences.add(name + ": " + e.getMessage());
            }
        });
        if (!differences.isEmpty()) {
            throw new AssertionError(String.join("\n\n", differences));
        }
    }

    /** Some views, chosen at random, go on from a snapshot of their state. */
    void restartSome() {
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

    @Override
    public void close() {
        oracle.close();
        database.close();
    }
}
