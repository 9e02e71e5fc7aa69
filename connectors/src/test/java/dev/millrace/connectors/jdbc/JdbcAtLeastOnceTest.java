package dev.millrace.connectors.jdbc;

import dev.millrace.connector.Options;
import dev.millrace.connector.Sink;
import dev.millrace.connector.SinkContext;
import dev.millrace.testing.connector.AtLeastOnceConformance;
import dev.millrace.testing.connector.AtLeastOnceFault;
import dev.millrace.testing.connector.AtLeastOnceOutside;
import dev.millrace.testing.connector.ConformanceOf;
import dev.millrace.testing.database.DatabaseServer;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The sink that inserts into a table of a server, which is killed and begun again. What a database refuses is waited for. */
@ConformanceOf("sink jdbc")
@Tag("peers")
class JdbcAtLeastOnceTest extends AtLeastOnceConformance {
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
    protected AtLeastOnceOutside outside() {
        Outside database = Outside.of(Dialect.POSTGRESQL, server.orElseThrow());
        String table = "written" + TABLES.incrementAndGet();
        database.run("CREATE TABLE " + table + " (id BIGINT, name TEXT, place BIGSERIAL)");
        return new AtLeastOnceOutside() {
            @Override
            public Sink open(SinkContext context) {
                Map<String, String> options =
                        Map.of("url", database.url(), "user", database.user(), "table", table, "batch.rows", "7");
                return new JdbcSinkFactory().open(SCHEMA, true, new Options(options), context);
            }

            @Override
            public List<Long> came() {
                return database.rows("SELECT id FROM " + table + " ORDER BY place").stream()
                        .map(Long::valueOf)
                        .toList();
            }

            @Override
            public boolean goes() {
                server.orElseThrow().kill();
                return true;
            }

            @Override
            public void comes() {
                server.orElseThrow().begin();
            }
        };
    }

    @ParameterizedTest
    @EnumSource(names = "DROPS_WHAT_IS_REFUSED", mode = EnumSource.Mode.EXCLUDE)
    void faultsAreCaught(AtLeastOnceFault fault) {
        catches(fault);
    }
}
