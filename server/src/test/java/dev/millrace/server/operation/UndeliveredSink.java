package dev.millrace.server.operation;

import dev.millrace.server.session.TestDatabase;
import dev.millrace.testing.time.Eventually;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;

/**
 * A sink that is exactly once and whose outside, a file of DuckDB's that a secret names, is away: its records wait in the data directory until the secret
 * names a file again.
 *
 * @param file of the outside; it has the table that the sink writes to
 */
public record UndeliveredSink(Path file) {
    private static final String AWAY = "/nowhere/outside.duckdb";

    /** The records that are not delivered. */
    public static final int RECORDS = 30;

    /** Makes the outside. */
    public static UndeliveredSink outside(Path file) {
        UndeliveredSink made = new UndeliveredSink(file);
        made.run("CREATE TABLE told (n BIGINT)");
        return made;
    }

    /** Makes the sink in a database, and rows for it that a checkpoint has. */
    public void create(TestDatabase database) {
        database.run("CREATE SECRET outside AS '" + file + "'");
        database.run("CREATE STREAM posted (n BIGINT)");
        database.run(
                "CREATE SINK undelivered WITH (connector = 'jdbc', url = 'jdbc:duckdb:${secret:outside}', table = 'told',"
                        + " delivery = 'exactly_once', checkpoint_interval = '100 ms') AS SELECT n FROM posted WHERE 100 / n > 0");
        database.run("CREATE OR REPLACE SECRET outside AS '" + AWAY + "'");
        database.run("INSERT INTO posted SELECT g FROM generate_series(1, " + RECORDS + ") g; FLUSH; CHECKPOINT");
        Eventually.holds(
                "the records wait",
                () -> waiting(database).equals(List.of(Integer.toString(RECORDS)))
                        && database.rows("SELECT 1 FROM millrace.sinks WHERE waits_for IS NOT NULL")
                                        .size()
                                == 1);
    }

    /** How many records wait, by what the database says. */
    public static List<String> waiting(TestDatabase database) {
        return database.rows("SELECT waiting_records FROM millrace.sinks WHERE sink = 'undelivered'");
    }

    /** Has the outside be there again for a database, which brings it what waited, each record once. */
    public void comesFor(TestDatabase database) {
        database.run("CREATE OR REPLACE SECRET outside AS '" + file + "'");
        Eventually.holds("none wait", () -> waiting(database).equals(List.of("0")));
    }

    /** Has it be away again. */
    public void goesFor(TestDatabase database) {
        database.run("CREATE OR REPLACE SECRET outside AS '" + AWAY + "'");
    }

    /** What a reader of the outside sees: how many rows, and how many different ones. */
    public List<String> seen() {
        try (Connection connection = DriverManager.getConnection("jdbc:duckdb:" + file);
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("SELECT count(*) || '|' || count(DISTINCT n) FROM told")) {
            List<String> all = new ArrayList<>();
            while (rows.next()) {
                all.add(rows.getString(1));
            }
            return all;
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    private void run(String sql) {
        try (Connection connection = DriverManager.getConnection("jdbc:duckdb:" + file);
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }
}
