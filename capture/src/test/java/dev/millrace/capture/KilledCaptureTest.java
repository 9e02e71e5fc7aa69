package dev.millrace.capture;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.millrace.testing.database.DatabaseServer;
import dev.millrace.testing.time.Eventually;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A process is killed while a table follows one of another database and a sink writes it to a third: all three are the same in the end, the
 * last by rows that are only added. {@code -Dmillrace.capture.kills=100} kills more often.
 */
@Tag("peers")
@Timeout(value = 60, unit = TimeUnit.MINUTES)
class KilledCaptureTest {
    private static final int KILLS = Integer.getInteger("millrace.capture.kills", 2);
    private static final long SEED = Long.getLong("millrace.capture.seed", 1);
    private static final int ACCOUNTS = 20;

    @TempDir
    Path folder;

    /** The process that is killed: opens the database and lets it be. */
    public static final class Victim {
        private Victim() {}

        public static void main(String[] arguments) throws InterruptedException {
            try (OpenDatabase database = new OpenDatabase(Path.of(arguments[0]))) {
                for (int i = 1; i < arguments.length; i++) {
                    database.run(arguments[i]);
                }
                System.out.println("open");
                Thread.sleep(Long.MAX_VALUE);
            }
        }
    }

    private Process victim(String... statements) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--add-opens=java.base/java.nio=ALL-UNNAMED",
                "-XX:TieredStopAtLevel=1",
                "-Xmx512m",
                "-cp",
                System.getProperty("java.class.path"),
                Victim.class.getName(),
                folder.toString()));
        command.addAll(List.of(statements));
        return new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
    }

    /** Which database is followed. */
    enum Kind {
        POSTGRES,
        MARIADB
    }

    @ParameterizedTest
    @EnumSource
    void allIsThereOnceWheneverTheProcessIsKilled(Kind kind) throws IOException, InterruptedException, SQLException {
        boolean isPostgres = kind == Kind.POSTGRES;
        Assumptions.assumeTrue(
                DatabaseServer.hasPostgres() && (isPostgres || DatabaseServer.hasMariaDb()),
                "skipped because PostgreSQL or MariaDB is not installed (packages postgresql, mariadb-server)");
        Random random = new Random(SEED);
        try (DatabaseServer target = DatabaseServer.postgres();
                DatabaseServer source = isPostgres ? DatabaseServer.postgres() : DatabaseServer.mariaDb()) {
            String bank = isPostgres ? "bank" : "test.bank";
            source.run("CREATE TABLE " + bank + " (id INT PRIMARY KEY, amount INT)");
            for (int id = 0; id < ACCOUNTS; id++) {
                source.run("INSERT INTO " + bank + " VALUES (" + id + ", 100)");
            }
            target.run("CREATE TABLE copy (id INT PRIMARY KEY, amount INT)");
            String where = "host = '127.0.0.1', port = '" + source.port() + "', user = '" + source.user() + "'";
            String create = "CREATE TABLE bank (id INT PRIMARY KEY, amount INT) WITH (connector = '"
                    + (isPostgres ? "postgres-cdc', database = 'postgres'" : "mariadb-cdc', database = 'test'") + ", "
                    + where
                    + ")";
            String sink = "CREATE SINK copies WITH (connector = 'jdbc', url = '" + target.url() + "', user = '"
                    + target.user()
                    + "', table = 'copy', key = 'id', delivery = 'exactly_once') AS SELECT id, amount FROM bank";
            for (int kill = 0; kill < KILLS; kill++) {
                Process victim = kill == 0 ? victim(create, sink) : victim();
                try {
                    long killAt = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(3_000 + random.nextInt(4_000));
                    while (System.nanoTime() < killAt && victim.isAlive()) {
                        transfer(source, bank, random);
                        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
                    }
                } finally {
                    victim.destroyForcibly().waitFor();
                }
                transfer(source, bank, random);
            }
            List<String> expected = source.rows("SELECT id, amount FROM " + bank).stream()
                    .sorted()
                    .toList();
            try (OpenDatabase database = new OpenDatabase(folder)) {
                if (database.rows("SELECT 1 FROM pg_class WHERE relname = 'bank'")
                        .isEmpty()) {
                    database.run(create); // it was killed before the statement was done
                }
                if (database.rows("SELECT 1 FROM millrace.sinks WHERE sink = 'copies'")
                        .isEmpty()) {
                    database.run(sink);
                }
                database.holds("SELECT id, amount FROM bank", expected);
                database.run("CHECKPOINT");
                Eventually.holds(
                        "the copy is the same, seed " + SEED,
                        () -> target.rows("SELECT id, amount FROM copy").stream()
                                .sorted()
                                .toList()
                                .equals(expected));
                assertEquals(List.of(Integer.toString(100 * ACCOUNTS)), database.rows("SELECT sum(amount) FROM bank"));
            }
        }
    }

    private static void transfer(DatabaseServer source, String bank, Random random) throws SQLException {
        try (Connection connection = source.connect();
                Statement statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            for (int i = 0; i < 5; i++) {
                int amount = random.nextInt(50);
                statement.execute("UPDATE " + bank + " SET amount = amount - " + amount + " WHERE id = "
                        + random.nextInt(ACCOUNTS));
                statement.execute("UPDATE " + bank + " SET amount = amount + " + amount + " WHERE id = "
                        + random.nextInt(ACCOUNTS));
            }
            connection.commit();
        }
    }
}
