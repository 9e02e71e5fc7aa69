package dev.millrace.cli.operation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.cli.ServerProcess;
import dev.millrace.testing.time.Eventually;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** The commands, of a server that runs, of one that is killed meanwhile, and of a directory. */
@Tag("long")
class BackupCommandTest {
    private static final String ROWS =
            "INSERT INTO t SELECT g, repeat(md5(g::TEXT || random()), 40) FROM generate_series(1, 30000) g";

    @TempDir
    Path folder;

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();

    private int backup(Object from, Object target) {
        return BackupCommand.run(
                new CommandLine(BackupCommand.spec()).parseArgs(from.toString(), target.toString()),
                new PrintStream(out, true, StandardCharsets.UTF_8),
                new PrintStream(err, true, StandardCharsets.UTF_8));
    }

    private int restore(Object from, Object target) {
        return RestoreCommand.run(
                new CommandLine(RestoreCommand.spec()).parseArgs(from.toString(), target.toString()),
                new PrintStream(out, true, StandardCharsets.UTF_8),
                new PrintStream(err, true, StandardCharsets.UTF_8));
    }

    private static String count(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("SELECT count(*) || ' ' || count(DISTINCT k) FROM t")) {
            assertTrue(rows.next());
            return rows.getString(1);
        }
    }

    private static String count(Path directory) throws SQLException {
        try (Connection connection = DriverManager.getConnection("jdbc:millrace:" + directory + "?user=millrace")) {
            return count(connection);
        }
    }

    private ServerProcess server(Path data) throws Exception {
        return ServerProcess.start("--port", "0", "--no-http", "--data", data.toString());
    }

    @Test
    void aServerIsFoundByItsDirectoryAndGoesOn() throws Exception {
        Path data = folder.resolve("data");
        Path other = folder.resolve("other");
        try (ServerProcess server = server(data);
                Connection client = server.connect();
                Statement statement = client.createStatement()) {
            statement.execute("CREATE TABLE t (k INT PRIMARY KEY, v TEXT)");
            statement.execute("INSERT INTO t VALUES (1, 'a'), (2, 'b')");
            assertEquals(0, backup(data, folder.resolve("first")), err::toString);
            assertTrue(
                    out.toString(StandardCharsets.UTF_8)
                            .matches("(?s).*first: \\d+ files, [\\d,]+ bytes, as of 20.*Z\\s"),
                    out::toString);
            assertEquals(0, backup("localhost:" + server.port(), folder.resolve("second")), err::toString);
            assertEquals(1, backup(data, folder.resolve("second")));
            assertTrue(err.toString(StandardCharsets.UTF_8).contains("second is there already"), err::toString);
            assertEquals("2 2", count(client));
            try (ServerProcess another = server(other)) { // as a server does that took the port of one that was killed
                Files.writeString(data.resolve("server.address"), "localhost:" + another.port());
                assertEquals(1, backup(data, folder.resolve("third")));
                assertTrue(err.toString(StandardCharsets.UTF_8).contains("has another data directory"), err::toString);
            }
            server.terminate();
            server.awaitExit();
        }
        assertFalse(Files.exists(data.resolve("server.address")));
        assertEquals(0, backup(data, folder.resolve("third")), err::toString);
        for (String name : new String[] {"first", "second", "third"}) {
            out.reset();
            assertEquals(0, restore(folder.resolve(name), folder.resolve("from-" + name)), err::toString);
            assertTrue(out.toString(StandardCharsets.UTF_8).contains(", as of 20"), out::toString);
            assertEquals("2 2", count(folder.resolve("from-" + name)));
        }
        assertEquals(1, restore(folder.resolve("first"), folder.resolve("from-first")));
    }

    @Test
    void aServerThatIsKilledInTheMidstHasItsRowsAndTheNextBackupIsWhole() throws Exception {
        Path data = folder.resolve("data");
        Path target = folder.resolve("target");
        Path partial = folder.resolve("target.partial");
        try (ServerProcess server = server(data);
                Connection client = server.connect();
                Statement statement = client.createStatement()) {
            statement.execute("CREATE TABLE t (k INT PRIMARY KEY, v TEXT)");
            statement.execute(ROWS);
            CompletableFuture<Integer> code = CompletableFuture.supplyAsync(() -> backup(data, target));
            Eventually.holds("files are copied", () -> CopyProgress.bytes(partial) > 0 || code.isDone());
            server.kill();
            assertEquals(1, code.get());
        }
        assertFalse(Files.exists(target));
        assertTrue(Files.exists(partial));
        assertEquals("30000 30000", count(data));
        assertEquals(0, backup(data, target), err::toString);
        assertFalse(Files.exists(partial));
        assertEquals(0, restore(target, folder.resolve("restored")), err::toString);
        assertEquals("30000 30000", count(folder.resolve("restored")));
    }
}
