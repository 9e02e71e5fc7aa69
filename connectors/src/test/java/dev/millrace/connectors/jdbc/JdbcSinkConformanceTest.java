package dev.millrace.connectors.jdbc;

import dev.millrace.connector.CheckpointedSink;
import dev.millrace.connector.Options;
import dev.millrace.connector.SinkContext;
import dev.millrace.testing.connector.SinkConformance;
import dev.millrace.testing.connector.SinkOutside;
import dev.millrace.testing.database.DatabaseServer;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;

/** The sink that inserts into a table of a real PostgreSQL, which is stopped and begun again. */
class JdbcSinkConformanceTest extends SinkConformance {
    private static final AtomicInteger TABLES = new AtomicInteger();
    private static Optional<DatabaseServer> server = Optional.empty();

    @BeforeAll
    static void begin() {
        Assumptions.assumeTrue(
                DatabaseServer.hasPostgres(), "skipped because PostgreSQL is not installed (package postgresql)");
        server = Optional.of(DatabaseServer.postgres());
    }

    @AfterAll
    static void end() {
        server.ifPresent(DatabaseServer::close);
        server = Optional.empty();
    }

    @Override
    protected SinkOutside outside() {
        DatabaseServer database = server.orElseThrow();
        String table = "conformance" + TABLES.incrementAndGet();
        database.run("CREATE TABLE " + table + " (id BIGINT, name TEXT)");
        return new SinkOutside() {
            @Override
            public CheckpointedSink open(SinkContext context) {
                Map<String, String> options = Map.of(
                        "url", database.url(), "user", database.user(), "table", table, "delivery", "exactly_once");
                return (CheckpointedSink) new JdbcSinkFactory().open(SCHEMA, true, new Options(options), context);
            }

            @Override
            public List<Long> seen() {
                return database.rows("SELECT id FROM " + table).stream()
                        .map(Long::valueOf)
                        .toList();
            }

            @Override
            public boolean goes() {
                database.kill();
                return true;
            }

            @Override
            public void comes() {
                database.begin();
            }
        };
    }
}
