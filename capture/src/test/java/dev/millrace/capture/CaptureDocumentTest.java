package dev.millrace.capture;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.connector.OptionDescription;
import dev.millrace.connector.TableFeedFactory;
import dev.millrace.testing.database.DatabaseServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.ServiceLoader;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What docs/connectors.md says of tables that follow others is so: its example runs, and it names every option. */
@Tag("peers")
@Timeout(120)
class CaptureDocumentTest {
    @TempDir
    Path folder;

    private static String section() throws IOException {
        String text = Files.readString(Path.of("..", "docs", "connectors.md"));
        int start = text.indexOf("\n## Tables `postgres-cdc`");
        assertTrue(start >= 0);
        return text.substring(start, text.indexOf("\n## ", start + 4));
    }

    @Test
    void theExampleRuns() throws IOException {
        Assumptions.assumeTrue(
                DatabaseServer.hasPostgres(), "skipped because PostgreSQL is not installed (package postgresql)");
        Matcher example =
                Pattern.compile("```sql\n(.*?);\\s*```", Pattern.DOTALL).matcher(section());
        assertTrue(example.find());
        try (DatabaseServer server = DatabaseServer.postgres();
                OpenDatabase database = new OpenDatabase(folder)) {
            server.run(
                    "CREATE TABLE orders (id INT PRIMARY KEY, customer TEXT, amount NUMERIC(10,2))",
                    "INSERT INTO orders VALUES (1, 'a', 2.50)");
            database.run("CREATE SECRET shop AS 'anything, as this server trusts all'");
            database.run(example.group(1)
                    .replace("port = '5432'", "port = '" + server.port() + "'")
                    .replace("host = 'localhost'", "host = '127.0.0.1'")
                    .replace("database = 'shop'", "database = 'postgres'")
                    .replace("user = 'shop'", "user = '" + server.user() + "'"));
            database.holds("SELECT * FROM orders", List.of("1|a|2.50"));
        }
    }

    @Test
    void everyOptionIsNamed() throws IOException {
        String section = section();
        int connectors = 0;
        for (TableFeedFactory factory : ServiceLoader.load(TableFeedFactory.class)) {
            connectors++;
            assertTrue(section.contains("`" + factory.name() + "`"), factory::name);
            for (OptionDescription option : factory.options()) {
                assertTrue(section.contains("`" + option.name() + "`"), option::name);
            }
        }
        assertTrue(connectors == 3, "there are " + connectors);
    }
}
