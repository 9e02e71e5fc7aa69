package dev.millrace.connectors.jdbc;

import dev.millrace.connector.Options;
import dev.millrace.connector.TableFeed;
import dev.millrace.testing.connector.ConformanceOf;
import dev.millrace.testing.connector.FeedConformance;
import dev.millrace.testing.connector.FeedFault;
import dev.millrace.testing.connector.FeedOutside;
import dev.millrace.testing.database.DatabaseServer;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
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

/** Tables that are read again and again, of a server that is killed and begun again, and of a file. */
@ConformanceOf("table jdbc")
@Tag("peers")
class JdbcFeedConformanceTest {
    private static final AtomicInteger TABLES = new AtomicInteger();

    /** A table of one database. */
    private record Table(Outside database, Optional<DatabaseServer> server, String name) implements FeedOutside {
        static Table create(Outside database, Optional<DatabaseServer> server) {
            String name = "fed" + TABLES.incrementAndGet();
            database.run("CREATE TABLE " + name + " (id INT PRIMARY KEY, v INT)");
            return new Table(database, server, name);
        }

        @Override
        public TableFeed open() {
            Schema schema = Schema.of(new Field("id", DataType.INTEGER, false), new Field("v", DataType.INTEGER, true));
            Map<String, String> options = new HashMap<>(Map.of("url", database.url(), "refresh", "100ms"));
            if (!database.user().isEmpty()) {
                options.put("user", database.user());
            }
            return new JdbcFeedFactory().create(name, schema, List.of(0), new Options(options));
        }

        @Override
        public void change(Map<Integer, Optional<Integer>> rows) {
            try (Connection connection = database.connect();
                    Statement statement = connection.createStatement()) {
                connection.setAutoCommit(false);
                for (Map.Entry<Integer, Optional<Integer>> row : rows.entrySet()) {
                    statement.execute("DELETE FROM " + name + " WHERE id = " + row.getKey());
                    if (row.getValue().isPresent()) {
                        statement.execute("INSERT INTO " + name + " VALUES (" + row.getKey() + ", "
                                + row.getValue().get() + ")");
                    }
                }
                connection.commit();
            } catch (SQLException e) {
                throw new IllegalStateException(e);
            }
        }

        @Override
        public boolean goes() {
            server.ifPresent(DatabaseServer::kill);
            return server.isPresent();
        }

        @Override
        public void comes() {
            server.ifPresent(DatabaseServer::begin);
        }
    }

    @Nested
    class Postgres extends FeedConformance {
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
        protected FeedOutside outside() {
            return Table.create(Outside.of(Dialect.POSTGRESQL, server.orElseThrow()), server);
        }
    }

    @Nested
    class DuckDb extends FeedConformance {
        @TempDir
        Path folder;

        /** DuckDB refuses a file that another connection of the process is just letting go of. */
        private final List<Connection> holding = new ArrayList<>();

        @AfterEach
        void letGo() throws SQLException {
            for (Connection each : holding) {
                each.close();
            }
        }

        @Override
        protected FeedOutside outside() {
            Outside file = new Outside(Dialect.DUCKDB, "jdbc:duckdb:" + folder.resolve("file"), "");
            try {
                holding.add(file.connect());
            } catch (SQLException e) {
                throw new IllegalStateException(e);
            }
            return Table.create(file, Optional.empty());
        }

        /** A feed that is read anew each time has no position. */
        @ParameterizedTest
        @EnumSource(names = {"NONE", "SKIPS_A_COMMIT"})
        void faultsAreCaught(FeedFault fault) {
            catches(fault);
        }
    }
}
