package dev.millrace.capture;

import dev.millrace.connector.Options;
import dev.millrace.connector.TableFeed;
import dev.millrace.connector.TableFeedFactory;
import dev.millrace.testing.connector.ConformanceOf;
import dev.millrace.testing.connector.FeedConformance;
import dev.millrace.testing.connector.FeedFault;
import dev.millrace.testing.connector.FeedOutside;
import dev.millrace.testing.database.DatabaseServer;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tables that follow logs of real databases, which are killed and begun again. */
@ConformanceOf({"table postgres-cdc", "table mariadb-cdc"})
@Tag("peers")
@Timeout(240)
class CaptureConformanceTest {
    private static final AtomicInteger TABLES = new AtomicInteger();

    /** A table of one database, and what is made in it. */
    private record Table(DatabaseServer server, TableFeedFactory factory, String database, String name)
            implements FeedOutside {
        static Table create(DatabaseServer server, TableFeedFactory factory, String database) {
            String name = "c" + TABLES.incrementAndGet();
            Table made = new Table(server, factory, database, name);
            server.run("CREATE TABLE " + made.inDatabase() + " (id INT PRIMARY KEY, v INT)");
            return made;
        }

        private String inDatabase() {
            return database.equals("postgres") ? name : database + "." + name;
        }

        @Override
        public TableFeed open() {
            Schema schema = Schema.of(new Field("id", DataType.INTEGER, false), new Field("v", DataType.INTEGER, true));
            Options options = new Options(Map.of(
                    "host",
                    "127.0.0.1",
                    "port",
                    Integer.toString(server.port()),
                    "database",
                    database,
                    "user",
                    server.user()));
            return factory.create(name, schema, List.of(0), options);
        }

        @Override
        public void change(Map<Integer, Optional<Integer>> rows) {
            try (Connection connection = server.connect();
                    Statement statement = connection.createStatement()) {
                connection.setAutoCommit(false);
                for (Map.Entry<Integer, Optional<Integer>> row : rows.entrySet()) {
                    statement.execute("DELETE FROM " + inDatabase() + " WHERE id = " + row.getKey());
                    if (row.getValue().isPresent()) {
                        statement.execute("INSERT INTO " + inDatabase() + " VALUES (" + row.getKey() + ", "
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
            server.kill();
            return true;
        }

        @Override
        public void comes() {
            server.begin();
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
            return Table.create(server.orElseThrow(), new PostgresFeedFactory(), "postgres");
        }

        @ParameterizedTest
        @EnumSource(names = "NONE", mode = EnumSource.Mode.EXCLUDE)
        void faultsAreCaught(FeedFault fault) {
            catches(fault);
        }
    }

    @Nested
    class MariaDb extends FeedConformance {
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
        protected FeedOutside outside() {
            return Table.create(server.orElseThrow(), new BinlogFeedFactory.MariaDb(), "test");
        }

        @ParameterizedTest
        @EnumSource(names = "SKIPS_A_COMMIT")
        void faultsAreCaught(FeedFault fault) {
            catches(fault);
        }
    }
}
