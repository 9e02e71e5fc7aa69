package dev.millrace.server.clients;

import static dev.millrace.testing.jdbc.Statements.failure;
import static dev.millrace.testing.jdbc.Statements.rows;
import static dev.millrace.testing.jdbc.Statements.run;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.server.pgwire.TestServer;
import dev.millrace.testing.database.DatabaseServer;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A PostgreSQL that reads and changes tables and views of Millrace by postgres_fdw (schema {@code far}), and the same ones of its own (schema
 * {@code near}), which say what the answers are.
 */
@Tag("peers")
@Timeout(300)
class PostgresFdwTest {
    private static final List<String> RELATIONS = List.of(
            "CREATE TABLE sites (id INT PRIMARY KEY, name TEXT NOT NULL, place VARCHAR(20))",
            "CREATE TABLE items (id BIGINT PRIMARY KEY, site INT, price NUMERIC(10,2) CHECK (price > 0), exact NUMERIC, n INT,"
                    + " d DATE, t TIME, ts TIMESTAMP, tz TIMESTAMPTZ, iv INTERVAL, b BOOLEAN, f REAL, g DOUBLE PRECISION,"
                    + " j JSONB, u UUID, raw BYTEA, tags TEXT[], c CHAR(3))",
            "INSERT INTO sites VALUES (1, 'north', 'a'), (2, 'south', 'it''s'), (3, 'east', NULL)",
            "INSERT INTO items VALUES (1, 1, 2.50, 1.23456789012345678901, 3, '2024-01-02', '12:34:56.5', '2024-01-02 03:04:05',"
                    + " '2024-01-02 03:04:05.000001+00', '1 day 2 hours', true, 1.5, 2.5, '{\"a\": 1}',"
                    + " 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', '\\x0102', '{a,\"b c\"}', 'xy'),"
                    + " (2, 2, 7.25, 3, 4, '2024-02-02', '00:00:00', '2024-01-02 03:04:05', '2024-01-02 03:04:05+00', '1 mon', false,"
                    + " 1.5, -2.5, '[1]', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a12', '', '{}', ''), (3, 1, 1, NULL, NULL, NULL, NULL, NULL,"
                    + " NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)",
            "CREATE MATERIALIZED VIEW per_site AS SELECT site, count(*) AS n, sum(price) AS total FROM items GROUP BY site",
            "CREATE VIEW named AS SELECT s.name, i.price FROM items i JOIN sites s ON s.id = i.site");

    private TestServer millrace;
    private DatabaseServer postgresql;
    private Connection far;
    private Connection near;

    @BeforeEach
    void start() throws SQLException {
        Assumptions.assumeTrue(
                DatabaseServer.hasPostgres(), "skipped because PostgreSQL is not installed (package postgresql)");
        millrace = new TestServer();
        postgresql = DatabaseServer.postgres();
        try (Connection ours = millrace.connect()) {
            run(ours, RELATIONS.toArray(String[]::new));
        }
        far = postgresql.connect();
        near = postgresql.connect();
        Assumptions.assumeTrue(
                rows(far, "SELECT 1 FROM pg_available_extensions WHERE name = 'postgres_fdw'")
                        .equals(List.of("1")),
                "skipped because postgres_fdw is not installed (package postgresql, or postgresql-contrib)");
        run(near, "CREATE SCHEMA near", "SET search_path = near");
        run(near, RELATIONS.toArray(String[]::new));
        run(
                far,
                "CREATE EXTENSION postgres_fdw",
                // as if each row that is told took long: so that all is left to Millrace that can be
                "CREATE SERVER millrace FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host 'localhost', port '"
                        + millrace.port() + "', dbname 'millrace', fdw_tuple_cost '1000')",
                "CREATE USER MAPPING FOR CURRENT_USER SERVER millrace OPTIONS (user 'millrace')",
                "CREATE SCHEMA far",
                "IMPORT FOREIGN SCHEMA public FROM SERVER millrace INTO far",
                "SET search_path = far",
                "SET enable_hashjoin = off",
                "SET enable_mergejoin = off",
                "SET enable_nestloop = off");
    }

    @AfterEach
    void stop() throws SQLException {
        if (far != null) {
            far.close();
            near.close();
        }
        if (postgresql != null) {
            postgresql.close();
            millrace.close();
        }
    }

    /** The statement gives the same of both. */
    private void same(String sql) throws SQLException {
        assertEquals(rows(near, sql), rows(far, sql), sql);
    }

    /** The same, and Millrace is asked for what has this in it. */
    private void left(String asked, String sql) throws SQLException {
        same(sql);
        List<String> plan = new ArrayList<>(rows(far, "EXPLAIN (VERBOSE, COSTS OFF) " + sql));
        plan.removeIf(line -> !line.contains("Remote SQL"));
        assertEquals(1, plan.size(), sql);
        assertTrue(plan.get(0).contains(asked), plan.get(0));
    }

    private void both(String... statements) throws SQLException {
        run(near, statements);
        run(far, statements);
    }

    @Test
    void tablesAndViewsAreImportedWithTheirColumns() throws SQLException {
        String columns = "SELECT table_name, column_name, data_type, is_nullable, character_maximum_length"
                + " FROM information_schema.columns WHERE table_schema = '%s' AND table_name IN ('sites', 'items')"
                + " ORDER BY 1, ordinal_position";
        assertEquals(rows(near, columns.formatted("near")), rows(far, columns.formatted("far")));
        assertEquals(
                List.of("items", "named", "per_site", "sites"),
                rows(far, "SELECT relname FROM pg_class WHERE relkind = 'f' ORDER BY 1"));
        same("SELECT * FROM items ORDER BY id");
        same("SELECT * FROM per_site ORDER BY site");
        same("SELECT * FROM named ORDER BY price");
        run(far, "ANALYZE items", "ANALYZE per_site");
        assertEquals(List.of("3"), rows(far, "SELECT reltuples FROM pg_class WHERE oid = 'items'::regclass"));
    }

    @Test
    void conditionsJoinsAggregatesAndOrderAreLeftToMillrace() throws SQLException {
        left("WHERE ((id = 2))", "SELECT id, price FROM items WHERE id = 2");
        left("(n > 1)", "SELECT * FROM per_site WHERE n > 1");
        for (String condition : List.of(
                "tz > '2024-01-02 03:04:05+00'",
                "d = '2024-01-02' AND b",
                "t = '12:34:56.5'",
                "iv > '1 hour' AND u = 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'",
                "tags = '{a,\"b c\"}' AND j = '{\"a\": 1}'",
                "f = 1.5 AND g <> 2.5",
                "c = 'xy' AND raw = '\\x0102' AND ts = '2024-01-02 03:04:05'",
                "site IS DISTINCT FROM 2 AND n IS NOT NULL",
                "id = ANY (ARRAY[1, 3]::bigint[])",
                "n % 2 = 1 AND (n + 1) * 2 >= 8 AND abs(n) = 3",
                "exact = 1.23456789012345678901")) {
            left("WHERE", "SELECT id FROM items WHERE " + condition + " ORDER BY id");
        }
        left("~~ 'n%'", "SELECT * FROM sites WHERE name LIKE 'n%' AND name ~ 'nor' AND upper(name) = 'NORTH'");
        left(
                "GROUP BY 1 ORDER BY r2.name ASC NULLS LAST LIMIT 2::bigint",
                "SELECT s.name, sum(i.price), count(*) FROM items i JOIN sites s ON s.id = i.site GROUP BY s.name ORDER BY s.name LIMIT 2");
        left(
                "LEFT JOIN",
                "SELECT s.name, i.id FROM sites s LEFT JOIN items i ON s.id = i.site AND i.price > 2 ORDER BY 1, 2");
        left("FULL JOIN", "SELECT s.name, i.id FROM sites s FULL JOIN items i ON s.id = i.site + 1 ORDER BY 1 DESC, 2");
        left("ROW(r1.id", "SELECT s, i.id FROM sites s LEFT JOIN items i ON s.id = i.site ORDER BY s.id, i.id");
        left(
                "HAVING",
                "SELECT site, count(*) FILTER (WHERE price > 2), sum(n) FROM items GROUP BY site HAVING count(*) > 0 ORDER BY 1");
        left(
                "stddev(r1.g)",
                "SELECT avg(price), min(d), max(name), count(DISTINCT site), stddev(g), bool_and(b), variance(n)"
                        + " FROM items, sites WHERE site = sites.id");
        left(
                "string_agg(name, ','::text ORDER BY name DESC NULLS FIRST)",
                "SELECT string_agg(name, ',' ORDER BY name DESC), percentile_cont(0.5) WITHIN GROUP (ORDER BY id) FROM sites");
        left("OFFSET 1::bigint", "SELECT id, name FROM sites ORDER BY name OFFSET 1 LIMIT 1");
        both(
                "SET plan_cache_mode = force_generic_plan",
                "PREPARE p (int, text) AS SELECT name FROM sites WHERE id = $1 OR place = $2");
        same("EXECUTE p(1, 'it''s')"); // parameters of a statement that is kept
        same("SELECT s.name, (SELECT max(price) FROM items WHERE site = s.id) FROM sites s ORDER BY 1");
    }

    @Test
    void rowsAreWrittenInTransactionsOfBoth() throws SQLException {
        same("INSERT INTO sites VALUES (4, 'west', 'd'), (5, 'far', NULL) RETURNING *");
        same("UPDATE sites SET name = 'a' WHERE id = 4 RETURNING *");
        same(
                "UPDATE items SET n = s.id FROM sites s WHERE s.id = items.site AND items.id = 3 RETURNING items.id, items.n");
        same("DELETE FROM sites WHERE id > 3 RETURNING id");
        assertEquals(
                "23505",
                failure(far, "INSERT INTO sites VALUES (1, 'again', NULL)").getSQLState());
        assertEquals(
                "23514",
                failure(far, "INSERT INTO items (id, price) VALUES (9, -1)").getSQLState());
        both("INSERT INTO sites VALUES (1, 'again', NULL) ON CONFLICT DO NOTHING");
        both(
                "BEGIN",
                "INSERT INTO items (id, site, price) VALUES (10, 1, 4)",
                "UPDATE sites SET name = 'lost'",
                "ROLLBACK");
        same("SELECT * FROM sites ORDER BY id");
        both("BEGIN", "INSERT INTO sites VALUES (8, 'kept', NULL)", "SAVEPOINT a", "UPDATE sites SET name = 'lost'");
        same("SELECT name FROM sites ORDER BY id");
        both("ROLLBACK TO a", "COMMIT");
        same("SELECT * FROM sites ORDER BY id");
        both("INSERT INTO sites SELECT g, 'n' || g FROM generate_series(100, 1199) g"); // more than a FETCH takes
        run(far, "ALTER SERVER millrace OPTIONS (batch_size '100')");
        both("INSERT INTO sites SELECT g, 'n' || g FROM generate_series(2000, 3199) g");
        same("SELECT * FROM sites ORDER BY id");
        both("DELETE FROM sites WHERE id >= 100");
        both("INSERT INTO items (id, site, price) VALUES (11, 3, 1.25)");
        run(near, "REFRESH MATERIALIZED VIEW per_site"); // Millrace's follows
        same("SELECT * FROM per_site ORDER BY site");
        run(near, "TRUNCATE sites");
        run(far, "TRUNCATE sites");
        same("SELECT count(*) FROM sites");
    }

    /** Rows have no place that lasts, {@code ctid}, and reading locks none. */
    @Test
    void whatPostgresqlHasToComputeRowByRowIsRefused() throws SQLException {
        SQLException refused = failure(far, "UPDATE sites SET name = 'x' || random() WHERE id = 3");
        assertEquals("0A000", refused.getSQLState());
        assertTrue(refused.getMessage().contains("FOR UPDATE is not available yet"), refused.getMessage());
        assertEquals(List.of("east"), rows(far, "SELECT name FROM sites WHERE id = 3"));
    }
}
