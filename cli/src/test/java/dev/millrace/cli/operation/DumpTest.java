package dev.millrace.cli.operation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.cli.shell.SqlCommand;
import dev.millrace.server.RunningServer;
import dev.millrace.server.config.ConfigFile;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.jar.JarOutputStream;
import java.util.zip.ZipEntry;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** A dump that is loaded into an empty database makes one whose dump is the same. */
@Tag("long")
class DumpTest {
    private static final List<String> QUERIES = List.of(
            "SELECT * FROM customers",
            "SELECT * FROM orders",
            "SELECT * FROM \"Odd; name \"\"quoted\"\"\"",
            "SELECT name, query, owner, limit_bytes, state FROM millrace.subscriptions",
            "SELECT * FROM big",
            "SELECT * FROM totals",
            "SELECT * FROM \"The north\".orders",
            "SELECT * FROM \"The north\".big",
            "SELECT * FROM \"The north\".totals",
            "SELECT nspname, pg_get_userbyid(nspowner), nspacl FROM pg_namespace",
            "SELECT * FROM \"Named; totals\"",
            "SELECT objsubid, description FROM pg_description",
            "SELECT description FROM pg_shdescription",
            "SELECT relname, obj_description(oid, 'pg_class') FROM pg_class WHERE relname = 'orders'",
            "SELECT query, state FROM millrace.query_stats",
            "SELECT rolname, rolpassword, rolconnlimit, rolvaliduntil FROM pg_authid",
            "SELECT table_name, grantee, privilege_type FROM information_schema.table_privileges");

    @TempDir
    Path folder;

    private String jar() throws IOException {
        Path source = Files.createDirectories(folder.resolve("org/example")).resolve("Code.java");
        Files.writeString(
                source,
                "package org.example; public final class Code { public static long twice(long v) { return 2 * v; } }");
        assertEquals(0, ToolProvider.getSystemJavaCompiler().run(null, null, null, "-proc:none", source.toString()));
        Path jar = folder.resolve("it's code.jar");
        try (JarOutputStream zip = new JarOutputStream(Files.newOutputStream(jar))) {
            zip.putNextEntry(new ZipEntry("org/example/Code.class"));
            Files.copy(folder.resolve("org/example/Code.class"), zip);
            zip.closeEntry();
        }
        return jar.toString().replace("'", "''");
    }

    private String statements() throws IOException {
        return """
                CREATE ROLE staff;
                CREATE ROLE "Ann's ""best""\" LOGIN PASSWORD 'correct horse' CONNECTION LIMIT 7 VALID UNTIL '2040-01-01Z';
                ALTER ROLE staff SET statement_timeout = '7s';
                GRANT staff TO "Ann's ""best""\" WITH ADMIN OPTION;
                SET scheduling_policy = 'fcfs';
                CREATE FUNCTION twice(v BIGINT) RETURNS BIGINT LANGUAGE JAVA AS '%s', 'org.example.Code';
                CREATE FUNCTION plus(a BIGINT, b BIGINT) RETURNS BIGINT LANGUAGE SQL AS 'a + b';
                CREATE STREAM s (at TIMESTAMP, k TEXT, v BIGINT, WATERMARK FOR at AS at - INTERVAL '5 seconds');
                CREATE TABLE customers (id INT PRIMARY KEY, name TEXT NOT NULL, note VARCHAR(20) DEFAULT 'it''s; so');
                CREATE TABLE orders (id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, nr SERIAL, customer INT,
                  amount NUMERIC(10,2) CHECK (amount > 0), doubled NUMERIC GENERATED ALWAYS AS (amount * 2) STORED,
                  tags TEXT[], place ROW(city TEXT, position DOUBLE PRECISION ARRAY), at TIMESTAMPTZ);
                CREATE TABLE "Odd; name ""quoted""\" ("a b" INT, "Größe" TEXT, "select" BOOLEAN, raw BYTEA, n DOUBLE PRECISION);
                CREATE INDEX orders_by_customer ON orders (customer, amount DESC);
                CREATE VIEW zebra AS SELECT * FROM orders -- a comment at the end
                ;
                CREATE VIEW big AS SELECT * FROM zebra WHERE amount > 100;
                CREATE MATERIALIZED VIEW totals AS SELECT customer, sum(amount) AS total, plus(count(*), 1) AS n
                  FROM orders GROUP BY customer;
                CREATE MATERIALIZED VIEW "Named; totals" AS SELECT c.name, twice(t.n) AS n FROM totals t
                  JOIN customers c ON t.customer = c.id;
                CREATE CONTINUOUS QUERY sums AS SELECT k, sum(v) AS v FROM s GROUP BY k;
                CREATE CONTINUOUS QUERY resting AS SELECT k FROM s;
                PAUSE CONTINUOUS QUERY resting;
                CREATE SINK nowhere FROM totals WITH (connector = 'blackhole');
                CREATE SUBSCRIPTION "Told; all" FROM totals WITH (limit = '1GB');
                CREATE SUBSCRIPTION second FROM totals;
                GRANT SELECT ON orders TO staff WITH GRANT OPTION;
                GRANT INSERT ON customers TO PUBLIC;
                ALTER TABLE customers OWNER TO staff;
                INSERT INTO customers SELECT g, 'customer ' || g FROM generate_series(1, 40) g;
                INSERT INTO orders (customer, amount, tags, place, at) SELECT g %% 40 + 1, g, ARRAY['t' || g, NULL], ROW('a "' || g, ARRAY[g / 3.0::float8, NULL]),
                  '2026-01-01Z'::timestamptz + g * INTERVAL '1 hour' FROM generate_series(1, 200) g;
                DELETE FROM orders WHERE id %% 50 = 0;
                INSERT INTO "Odd; name ""quoted""\" VALUES (1, E'tab\\t line\\n back\\\\slash', true, '\\x00ff', 0.1),
                  (NULL, NULL, NULL, NULL, NULL), (3, '\\.', false, '', 'NaN');
                ALTER TABLE customers ADD COLUMN city TEXT DEFAULT 'nowhere';
                CREATE SCHEMA "The north" AUTHORIZATION staff;
                GRANT USAGE ON SCHEMA "The north" TO "Ann's ""best""\";
                ALTER DEFAULT PRIVILEGES FOR ROLE staff REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC;
                ALTER DEFAULT PRIVILEGES FOR ROLE staff IN SCHEMA "The north" GRANT SELECT ON MATERIALIZED VIEWS TO "Ann's ""best""\" WITH GRANT OPTION;
                SET search_path = "The north", public;
                CREATE FUNCTION less(a BIGINT) RETURNS BIGINT LANGUAGE SQL AS 'a - 1';
                CREATE TABLE orders (id SERIAL PRIMARY KEY, amount INT UNIQUE);
                CREATE INDEX orders_by_amount ON orders (amount DESC);
                CREATE VIEW big AS SELECT o.id, less(o.amount) AS amount, c.name FROM orders o JOIN customers c USING (id);
                CREATE MATERIALIZED VIEW totals AS SELECT sum(amount) AS total FROM orders;
                INSERT INTO orders (amount) VALUES (3), (1), (2);
                GRANT SELECT ON orders TO staff;
                RESET search_path;
                COMMENT ON TABLE "Odd; name ""quoted""\" IS 'odd -- and ''quoted''';
                COMMENT ON COLUMN "Odd; name ""quoted""\"."a b" IS E'two\\nlines;';
                COMMENT ON TABLE "The north".orders IS 'cold';
                COMMENT ON CONSTRAINT orders_pkey ON "The north".orders IS 'its key';
                COMMENT ON CONTINUOUS QUERY sums IS 'sums';
                COMMENT ON SINK nowhere IS 'a sink';
                COMMENT ON FUNCTION twice IS 'two times';
                COMMENT ON SCHEMA public IS 'the rest';
                COMMENT ON ROLE staff IS 'they work';
                COMMENT ON DATABASE millrace IS 'everything';
                """.formatted(jar());
    }

    private static Connection open(Path directory) throws SQLException {
        return DriverManager.getConnection("jdbc:millrace:" + directory + "?user=millrace");
    }

    private void load(Path directory, Path script) throws IOException {
        assertEquals(
                0,
                SqlCommand.run(new CommandLine(SqlCommand.spec())
                        .parseArgs("--data", directory.toString(), "-q", "-f", script.toString())));
    }

    private static List<String> answers(Connection connection) throws SQLException {
        List<String> answers = new ArrayList<>();
        try (Statement statement = connection.createStatement()) {
            statement.execute("FLUSH");
            for (String query : QUERIES) {
                List<String> rows = new ArrayList<>();
                try (ResultSet result = statement.executeQuery(query)) {
                    while (result.next()) {
                        StringBuilder row = new StringBuilder();
                        for (int i = 1; i <= result.getMetaData().getColumnCount(); i++) {
                            row.append(result.getString(i)).append('|');
                        }
                        rows.add(row.toString());
                    }
                }
                rows.sort(null);
                answers.add(query + ": " + rows);
            }
        }
        return answers;
    }

    private Path dump(String from, String... more) throws IOException {
        List<String> arguments = new ArrayList<>(List.of(more));
        arguments.add(from);
        Path file = Files.createTempFile(folder, "dump", ".sql");
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        try (var out = Files.newOutputStream(file)) {
            int code = DumpCommand.run(
                    new CommandLine(DumpCommand.spec()).parseArgs(arguments.toArray(String[]::new)),
                    out,
                    new PrintStream(err, true, StandardCharsets.UTF_8));
            assertEquals(0, code, () -> err.toString(StandardCharsets.UTF_8));
        }
        return file;
    }

    /** Rows come in any order; which is the last of an INSERT differs. */
    private static List<String> sorted(Path dump) throws IOException {
        return Files.readAllLines(dump).stream()
                .map(line -> line.startsWith("  (") ? line.substring(0, line.length() - 1) : line)
                .sorted()
                .toList();
    }

    @Test
    void aDirectoryIsTheSameAfterADumpAndALoad() throws Exception {
        Path script = Files.writeString(folder.resolve("make.sql"), statements());
        Path first = folder.resolve("first");
        load(first, script);
        Path dump = dump(first.toString(), "--rows");
        Path second = folder.resolve("second");
        load(second, dump);
        assertEquals(sorted(dump), sorted(dump(second.toString(), "--rows")));
        assertEquals(Files.readString(dump(first.toString())), Files.readString(dump(second.toString())));
        assertFalse(Files.readString(dump(first.toString())).contains("COPY"));
        assertTrue(Files.readString(dump).contains("-- the jar has SHA-256 "));
        List<String> answers;
        try (Connection connection = open(first)) {
            answers = answers(connection);
        }
        try (Connection connection = open(second)) {
            assertEquals(answers, answers(connection));
            try (Statement statement = connection.createStatement();
                    ResultSet next = statement.executeQuery(
                            "INSERT INTO orders (customer, amount) VALUES (1, 1) RETURNING id, nr")) {
                assertTrue(next.next());
                assertEquals(List.of(201L, 201L), List.of(next.getLong(1), next.getLong(2)));
            }
        }
    }

    @Test
    void aServerIsDumpedWhileItRunsAndLoadedIntoAnother() throws Exception {
        load(folder.resolve("first"), Files.writeString(folder.resolve("make.sql"), statements()));
        try (RunningServer first = server("first")) {
            Path dump = dump("localhost:" + first.port(), "--rows");
            load(folder.resolve("second"), dump);
            try (RunningServer second = server("second")) {
                assertEquals(sorted(dump), sorted(dump("localhost:" + second.port(), "--rows")));
                try (Connection a = DriverManager.getConnection("jdbc:millrace://localhost:" + first.port());
                        Connection b = DriverManager.getConnection("jdbc:millrace://localhost:" + second.port())) {
                    assertEquals(answers(a), answers(b));
                }
            }
            ByteArrayOutputStream err = new ByteArrayOutputStream();
            int code = DumpCommand.run(
                    new CommandLine(DumpCommand.spec())
                            .parseArgs(folder.resolve("first").toString()),
                    new ByteArrayOutputStream(),
                    new PrintStream(err, true, StandardCharsets.UTF_8));
            assertEquals(1, code);
            assertTrue(err.toString(StandardCharsets.UTF_8).contains("is in use by process "), err::toString);
        }
    }

    private RunningServer server(String name) throws IOException {
        return RunningServer.start(
                ConfigFile.read(
                        Optional.empty(),
                        Map.of(
                                "listen.port", "0",
                                "http.enabled", "false",
                                "tls.mode", "off",
                                "data", folder.resolve(name).toString())),
                Optional.empty());
    }

    @Test
    void whatIsNotASuperusersIsNotDumped() throws Exception {
        try (RunningServer server = server("first");
                Connection connection = DriverManager.getConnection("jdbc:millrace://localhost:" + server.port());
                Statement statement = connection.createStatement()) {
            statement.execute("CREATE ROLE ann LOGIN");
            ByteArrayOutputStream err = new ByteArrayOutputStream();
            int code = DumpCommand.run(
                    new CommandLine(DumpCommand.spec()).parseArgs("-U", "ann", "localhost:" + server.port()),
                    new ByteArrayOutputStream(),
                    new PrintStream(err, true, StandardCharsets.UTF_8));
            assertEquals(1, code);
            assertTrue(err.toString(StandardCharsets.UTF_8).contains("permission denied"), err::toString);
        }
    }
}
