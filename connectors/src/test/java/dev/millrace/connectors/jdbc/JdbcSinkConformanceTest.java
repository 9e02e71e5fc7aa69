package dev.millrace.connectors.jdbc;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;

import dev.millrace.connector.CheckpointedSink;
import dev.millrace.connector.Options;
import dev.millrace.connector.SinkContext;
import dev.millrace.testing.connector.ConformanceOf;
import dev.millrace.testing.connector.SinkConformance;
import dev.millrace.testing.connector.SinkFault;
import dev.millrace.testing.connector.SinkOutside;
import dev.millrace.testing.database.DatabaseServer;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The sink that inserts into tables of each dialect; servers are killed and begun again. */
@ConformanceOf("sink jdbc")
@Tag("peers")
class JdbcSinkConformanceTest {
    private static final AtomicInteger TABLES = new AtomicInteger();

    /** Of one kind. */
    private abstract static class OfOutside extends SinkConformance {
        protected abstract Outside database();

        protected Optional<DatabaseServer> server() {
            return Optional.empty();
        }

        @Override
        protected SinkOutside outside() {
            Outside database = database();
            String table = "conformance" + TABLES.incrementAndGet();
            database.run("CREATE TABLE " + table + " (id BIGINT, name VARCHAR(100))");
            return new SinkOutside() {
                @Override
                public CheckpointedSink open(SinkContext context) {
                    Map<String, String> options =
                            new HashMap<>(Map.of("url", database.url(), "table", table, "delivery", "exactly_once"));
                    if (!database.user().isEmpty()) {
                        options.put("user", database.user());
                    }
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
                    server().ifPresent(DatabaseServer::kill);
                    return server().isPresent();
                }

                @Override
                public void comes() {
                    server().ifPresent(DatabaseServer::begin);
                }
            };
        }
    }

    @Nested
    class Postgres extends OfOutside {
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
        protected Optional<DatabaseServer> server() {
            return server;
        }

        @Override
        protected Outside database() {
            return Outside.of(Dialect.POSTGRESQL, server.orElseThrow());
        }
    }

    @Nested
    class MariaDb extends OfOutside {
        private static Optional<DatabaseServer> server = Optional.empty();

        @BeforeAll
        static void begin() {
            Assumptions.assumeTrue(
                    DatabaseServer.hasMariaDb(), "skipped because MariaDB is not installed (package mariadb-server)");
            server = Optional.of(DatabaseServer.mariaDb());
        }

        @AfterAll
        static void end() {
            server.ifPresent(DatabaseServer::close);
            server = Optional.empty();
        }

        @Override
        protected Optional<DatabaseServer> server() {
            return server;
        }

        @Override
        protected Outside database() {
            return Outside.of(Dialect.MYSQL, server.orElseThrow());
        }
    }

    @Nested
    class Sqlite extends OfOutside {
        @TempDir
        Path folder;

        @Override
        protected Outside database() {
            return new Outside(Dialect.SQLITE, "jdbc:sqlite:" + folder.resolve("file"), "");
        }

        @ParameterizedTest
        @EnumSource(names = {"SKIPS_A_COMMIT", "ACKNOWLEDGES_EARLY"})
        void faultsAreCaught(SinkFault fault) {
            catches(fault);
        }
    }

    @Nested
    class DuckDb extends OfOutside {
        @TempDir
        Path folder;

        /** DuckDB refuses a file that another connection of the process is just letting go of. */
        private Optional<Connection> holding = Optional.empty();

        @AfterEach
        void letGo() throws SQLException {
            if (holding.isPresent()) {
                holding.get().close();
            }
        }

        @Override
        protected Outside database() {
            Outside file = new Outside(Dialect.DUCKDB, "jdbc:duckdb:" + folder.resolve("file"), "");
            holding = Optional.of(assertDoesNotThrow(file::connect));
            return file;
        }
    }
}
