package dev.millrace.capture;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.millrace.connector.TableFeedFactory;
import dev.millrace.testing.database.DatabaseServer;
import dev.millrace.testing.document.DocumentPage;
import dev.millrace.testing.document.OptionTables;
import java.nio.file.Path;
import java.util.List;
import java.util.ServiceLoader;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What docs/connectors.md says of tables that follow others is so: its example runs, and it names every option. */
@Tag("peers")
@Timeout(120)
class CaptureDocumentTest {
    private static final String SECTION = "Tables `postgres-cdc`, `mariadb-cdc`, `mysql-cdc`";

    @TempDir
    Path folder;

    @Test
    void theExampleRuns() {
        Assumptions.assumeTrue(
                DatabaseServer.hasPostgres(), "skipped because PostgreSQL is not installed (package postgresql)");
        List<String> examples =
                DocumentPage.connectors().statements("Tables `postgres-cdc`, `mariadb-cdc`, `mysql-cdc`");
        try (DatabaseServer server = DatabaseServer.postgres();
                OpenDatabase database = new OpenDatabase(folder)) {
            server.run(
                    "CREATE TABLE orders (id INT PRIMARY KEY, customer TEXT, amount NUMERIC(10,2))",
                    "INSERT INTO orders VALUES (1, 'a', 2.50)");
            database.run("CREATE SECRET shop AS 'anything, as this server trusts all'");
            database.run(examples.get(0)
                    .replace("port = '5432'", "port = '" + server.port() + "'")
                    .replace("host = 'localhost'", "host = '127.0.0.1'")
                    .replace("database = 'shop'", "database = 'postgres'")
                    .replace("user = 'shop'", "user = '" + server.user() + "'"));
            database.holds("SELECT * FROM orders", List.of("1|a|2.50"));
        }
    }

    @Test
    void everyOptionIsNamedWithItsDefault() {
        List<TableFeedFactory> factories = ServiceLoader.load(TableFeedFactory.class).stream()
                .map(ServiceLoader.Provider::get)
                .toList();
        assertEquals(
                "Tables "
                        + factories.stream()
                                .map(factory -> "`" + factory.name() + "`")
                                .collect(Collectors.joining(", ")),
                SECTION);
        new OptionTables(DocumentPage.connectors())
                .describe(
                        factories.stream()
                                .flatMap(factory -> factory.options().stream())
                                .toList(),
                        SECTION);
    }
}
