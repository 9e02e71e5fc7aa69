package dev.millrace.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.testing.document.DocumentPage;
import dev.millrace.testing.time.Eventually;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A server that has the example of a plugin beside its own jars. */
@Tag("long")
@Timeout(180)
class PluginTest {
    @TempDir
    private Path folder;

    @Test
    void itsSourceSinkAndFormatAreLikeOurOwn() throws Exception {
        Path jar = PluginJar.make(folder.resolve("jar"));
        String data = folder.resolve("data").toString();
        try (ServerProcess server = ServerProcess.startWith(jar, "--port", "0", "--no-http", "--data", data);
                Connection connection = server.connect();
                Statement statement = connection.createStatement()) {
            use(statement, folder);
            assertTrue(assertThrows(
                            SQLException.class,
                            () -> statement.execute("CREATE STREAM w WITH (connector = 'random_wlk')"))
                    .getMessage()
                    .contains("did you mean \"random_walk\""));
            assertThrows(
                    SQLException.class,
                    () -> statement.execute("CREATE STREAM w WITH (connector = 'random_walk', stepz = '1')"));
        }
        try (ServerProcess again = ServerProcess.startWith(jar, "--port", "0", "--no-http", "--data", data);
                Connection connection = again.connect();
                Statement statement = connection.createStatement()) {
            assertEquals("10000", one(statement, "SELECT n FROM steps"));
        }
    }

    /** Makes something of each kind that the plugin brings, as docs/connectors.md does, and looks at what comes of it. */
    static void use(Statement statement, Path folder) throws Exception {
        Path tally = folder.resolve("tally.txt");
        for (String example : DocumentPage.connectors().statements("Write your own")) {
            statement.execute(
                    example.replace("/tmp/tally.txt", tally.toString()).replace("127.0.0.1:7000", "127.0.0.1:0"));
        }
        statement.execute("CREATE MATERIALIZED VIEW steps AS SELECT count(*) AS n, max(step) AS last FROM walk");
        Eventually.holds(
                "all steps are there",
                () -> one(statement, "SELECT n FROM steps").equals("10000"));
        Eventually.holds(
                "the tally ends with all",
                () -> Files.exists(tally) && last(Files.readAllLines(tally)).equals("10000"));
        assertEquals("1", one(statement, "SELECT count(*) FROM millrace.sources WHERE stream = 'words'"));
    }

    private static String last(List<String> lines) {
        return lines.isEmpty() ? "" : lines.get(lines.size() - 1);
    }

    private static String one(Statement statement, String sql) throws SQLException {
        try (ResultSet row = statement.executeQuery(sql)) {
            return row.next() ? row.getString(1) : "";
        }
    }
}
