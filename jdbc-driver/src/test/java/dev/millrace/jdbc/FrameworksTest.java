package dev.millrace.jdbc;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.millrace.Millrace;
import dev.millrace.server.pgwire.PgServer;
import dev.millrace.server.pgwire.PgServerOptions;
import dev.millrace.server.session.Database;
import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.Statement;
import java.sql.Timestamp;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.dao.DuplicateKeyException;
import org.springframework.dao.EmptyResultDataAccessException;
import org.springframework.jdbc.BadSqlGrammarException;
import org.springframework.jdbc.core.BatchPreparedStatementSetter;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.namedparam.NamedParameterJdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** A pool and a template over both drivers: PostgreSQL's own over a socket, ours over a socket and inside this program. */
@Timeout(120)
class FrameworksTest {
    private final Database database = Millrace.open();
    private final PgServer server = PgServer.listen(database, PgServerOptions.local(0));

    @AfterEach
    void stop() {
        server.close();
        database.close();
    }

    private HikariDataSource pool(String driver) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(
                switch (driver) {
                    case "pgjdbc" -> "jdbc:postgresql://localhost:" + server.port() + "/millrace";
                    case "server" -> "jdbc:millrace://localhost:" + server.port() + "/millrace";
                    default -> "jdbc:millrace:mem:frameworks";
                });
        config.setUsername("millrace");
        config.setMaximumPoolSize(4);
        config.setConnectionTimeout(60_000);
        return new HikariDataSource(config);
    }

    @ParameterizedTest
    @ValueSource(strings = {"pgjdbc", "server", "inside"})
    void aPoolServesManyThreads(String driver) throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(8);
        try (HikariDataSource pool = pool(driver)) {
            try (Connection connection = pool.getConnection();
                    Statement statement = connection.createStatement()) {
                statement.execute("CREATE STREAM s (k BIGINT, v BIGINT)");
                statement.execute("CREATE MATERIALIZED VIEW totals AS SELECT k, sum(v) AS total FROM s GROUP BY k");
            }
            List<Callable<Void>> work = IntStream.range(0, 40)
                    .<Callable<Void>>mapToObj(i -> () -> {
                        try (Connection connection = pool.getConnection();
                                var insert = connection.prepareStatement("INSERT INTO s VALUES (?, ?)")) {
                            insert.setLong(1, i % 4);
                            insert.setLong(2, i);
                            assertEquals(1, insert.executeUpdate());
                            return null;
                        }
                    })
                    .toList();
            for (Future<Void> done : threads.invokeAll(work)) {
                done.get();
            }
            try (Connection connection = pool.getConnection();
                    Statement statement = connection.createStatement()) {
                assertTrue(connection.isValid(2));
                statement.execute("FLUSH");
                try (ResultSet rows = statement.executeQuery("SELECT total FROM totals ORDER BY k")) {
                    List<Long> totals = new ArrayList<>();
                    while (rows.next()) {
                        totals.add(rows.getLong(1));
                    }
                    assertEquals(List.of(180L, 190L, 200L, 210L), totals);
                }
            }
        } finally {
            threads.shutdown();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"pgjdbc", "server", "inside"})
    void springsTemplateReadsWritesAndTranslatesErrors(String driver) {
        try (HikariDataSource pool = pool(driver)) {
            JdbcTemplate template = new JdbcTemplate(pool);
            template.execute("CREATE TABLE t (id BIGINT PRIMARY KEY, name TEXT, price NUMERIC(10,2), at TIMESTAMP)");
            LocalDateTime at = LocalDateTime.of(2024, 2, 29, 12, 0);
            assertEquals(
                    1,
                    template.update(
                            "INSERT INTO t VALUES (?, ?, ?, ?)",
                            1,
                            "one",
                            new BigDecimal("1.50"),
                            Timestamp.valueOf(at)));
            template.batchUpdate("INSERT INTO t (id, name) VALUES (?, ?)", new BatchPreparedStatementSetter() {
                @Override
                public void setValues(java.sql.PreparedStatement statement, int i) throws java.sql.SQLException {
                    statement.setLong(1, 100 + i);
                    statement.setString(2, i == 5 ? null : "name " + i);
                }

                @Override
                public int getBatchSize() {
                    return 50;
                }
            });
            int[][] counts = template.batchUpdate(
                    "INSERT INTO t (id, name) VALUES (?, ?)", List.of(200L, 201L, 202L), 2, (statement, id) -> {
                        statement.setLong(1, id);
                        statement.setString(2, "more");
                    });
            assertEquals(2, counts.length);
            assertEquals(54, template.queryForObject("SELECT count(*) FROM t", Integer.class));
            assertEquals(
                    Map.of("id", 1L, "name", "one", "price", new BigDecimal("1.50"), "at", Timestamp.valueOf(at)),
                    template.queryForMap("SELECT * FROM t WHERE id = ?", 1));
            assertEquals(
                    List.of("name 0", "name 1"),
                    template.queryForList(
                            "SELECT name FROM t WHERE id BETWEEN ? AND ? ORDER BY id", String.class, 100, 101));
            assertEquals(
                    3,
                    new NamedParameterJdbcTemplate(template)
                            .queryForObject(
                                    "SELECT count(*) FROM t WHERE id IN (:ids)",
                                    Map.of("ids", List.of(1, 100, 200)),
                                    Integer.class));
            assertThrows(DuplicateKeyException.class, () -> template.update("INSERT INTO t (id) VALUES (1)"));
            assertThrows(BadSqlGrammarException.class, () -> template.queryForList("SELECT nope FROM t"));
            assertThrows(
                    EmptyResultDataAccessException.class,
                    () -> template.queryForObject("SELECT name FROM t WHERE id = 999", String.class));

            TransactionTemplate transaction = new TransactionTemplate(new DataSourceTransactionManager(pool));
            transaction.executeWithoutResult(status -> template.update("UPDATE t SET name = 'changed' WHERE id = 1"));
            assertEquals("changed", template.queryForObject("SELECT name FROM t WHERE id = 1", String.class));
            assertArrayEquals(
                    new int[] {1, 1},
                    template.batchUpdate("DELETE FROM t WHERE id = 1", "DELETE FROM t WHERE id = 200"));
        }
    }
}
