package dev.millrace.server.clients;

import static dev.millrace.server.clients.ClientPrograms.check;
import static dev.millrace.server.clients.ClientPrograms.installed;
import static dev.millrace.server.clients.ClientPrograms.program;
import static dev.millrace.server.clients.ClientPrograms.requireProgram;
import static dev.millrace.server.clients.ClientPrograms.step;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.server.pgwire.TestServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tools that come with PostgreSQL or are used with it, as they are; skipped where they are not installed. */
@Tag("peers")
@Timeout(600) // the first time they are downloaded
class ToolsTest {
    private static final String[] PYTHON = {
        "psycopg[binary]==3.3.9", "sqlalchemy==2.1.9", "alembic==1.20.1", "pandas==3.1.1"
    };

    @TempDir
    private Path folder;

    private static String[] command(TestServer server, String program, String... arguments) {
        List<String> command = new ArrayList<>(
                List.of(program, "-h", "localhost", "-p", String.valueOf(server.port()), "-U", "millrace"));
        command.addAll(List.of(arguments));
        return command.toArray(String[]::new);
    }

    private void run(String... command) throws Exception {
        assertEquals(Optional.empty(), step(folder, command));
    }

    private static List<String> rows(TestServer server, String sql) throws Exception {
        List<String> rows = new ArrayList<>();
        try (var connection = server.connect();
                var statement = connection.createStatement();
                var result = statement.executeQuery(sql)) {
            while (result.next()) {
                rows.add(result.getString(1));
            }
        }
        return rows;
    }

    @Test
    void pgbenchFillsItsTablesAndItsAccountsAddUp() throws Exception {
        requireProgram("pgbench", "pgbench", "--version");
        try (TestServer server = new TestServer()) {
            run(command(server, "pgbench", "-i", "-q", "--unlogged-tables", "millrace"));
            run(command(server, "pgbench", "-T", "1", "-c", "2", "millrace"));
            assertEquals(List.of("100000"), rows(server, "SELECT count(*) FROM pgbench_accounts"));
            assertTrue(Long.parseLong(
                            rows(server, "SELECT count(*) FROM pgbench_history").get(0))
                    > 0);
            assertEquals(
                    rows(server, "SELECT sum(delta) FROM pgbench_history"),
                    rows(server, "SELECT sum(abalance) FROM pgbench_accounts"));
        }
    }

    /** What has a comment. */
    private static final List<String> COMMENTED = List.of(
            "TABLE parts",
            "COLUMN parts.price",
            "COLUMN shop.parts.name",
            "INDEX shop.by_name",
            "CONSTRAINT parts_pkey ON parts",
            "CONSTRAINT parts_price_check ON parts",
            "CONSTRAINT parts_name_key ON shop.parts",
            "VIEW a_view",
            "COLUMN a_view.s",
            "MATERIALIZED VIEW shop.a_sum",
            "SCHEMA shop");

    @Test
    void whatPgDumpWritesMakesTheSameDatabaseAgain() throws Exception {
        requireProgram("pg_dump", "pg_dump", "--version");
        requireProgram("psql", "psql", "--version");
        Path first = folder.resolve("first.sql");
        try (TestServer server = new TestServer()) {
            try (var connection = server.connect();
                    var statement = connection.createStatement()) {
                statement.execute("CREATE TABLE parts (id SERIAL PRIMARY KEY, name TEXT NOT NULL,"
                        + " price NUMERIC(10,2) DEFAULT 1.5 CHECK (price > 0), tags TEXT[], at TIMESTAMPTZ,"
                        + " twice NUMERIC(10,2) GENERATED ALWAYS AS (price * 2) STORED, UNIQUE (name, at))");
                statement.execute("CREATE INDEX parts_price ON parts (price DESC)");
                statement.execute("INSERT INTO parts (name, price, tags, at) VALUES"
                        + " ('it''s', 1, '{a,\"b c\"}', '2024-01-01 12:00+00'), (E'tab\\there', 2.5, NULL, NULL)");
                statement.execute("CREATE VIEW dear AS SELECT name FROM parts WHERE price > 2");
                statement.execute(
                        "CREATE MATERIALIZED VIEW a_sum AS SELECT name, sum(price) AS s FROM parts GROUP BY name");
                statement.execute("CREATE VIEW a_view AS SELECT s FROM a_sum");
                statement.execute("GRANT SELECT ON parts TO PUBLIC");
                statement.execute("CREATE SCHEMA shop");
                statement.execute("CREATE TABLE shop.parts (id SERIAL PRIMARY KEY, name TEXT UNIQUE)");
                statement.execute("CREATE INDEX by_name ON shop.parts (name DESC)");
                statement.execute("INSERT INTO shop.parts (name) VALUES ('bolt'), ('nut')");
                statement.execute("CREATE VIEW shop.pairs AS SELECT p.name, q.id FROM parts p, shop.parts q");
                statement.execute("CREATE MATERIALIZED VIEW shop.a_sum AS SELECT count(*) AS n FROM shop.parts");
                for (String target : COMMENTED) {
                    statement.execute("COMMENT ON " + target + " IS 'it\'\'s said of " + target + "'");
                }
            }
            run(command(server, "pg_dump", "-f", first.toString(), "millrace"));
        }
        try (TestServer server = new TestServer()) {
            run(command(server, "psql", "-q", "-v", "ON_ERROR_STOP=1", "-f", first.toString(), "millrace"));
            assertEquals(
                    List.of("1|it's|1.00|{a,\"b c\"}|2.00", "2|tab\there|2.50||5.00"),
                    rows(
                            server,
                            "SELECT concat_ws('|', id, name, price, coalesce(tags::text, ''), twice) FROM parts ORDER BY id"));
            assertEquals(List.of("tab\there"), rows(server, "SELECT name FROM dear"));
            assertEquals(List.of("1.00", "2.50"), rows(server, "SELECT s FROM a_view ORDER BY s"));
            assertEquals(List.of("t"), rows(server, "SELECT has_schema_privilege('public', 'USAGE')"));
            assertEquals(List.of("bolt", "nut"), rows(server, "SELECT name FROM shop.parts ORDER BY id"));
            assertEquals(List.of("4"), rows(server, "SELECT count(*) FROM shop.pairs"));
            assertEquals(List.of("2"), rows(server, "SELECT n FROM shop.a_sum"));
            assertEquals(
                    COMMENTED.stream()
                            .map(target -> "it's said of " + target)
                            .sorted()
                            .toList(),
                    rows(server, "SELECT description FROM pg_description").stream()
                            .sorted()
                            .toList());
            Path second = folder.resolve("second.sql");
            run(command(server, "pg_dump", "-f", second.toString(), "millrace"));
            assertEquals(withoutKeys(first), withoutKeys(second));
            assertFalse(Files.readString(second).contains("CREATE VIEW millrace."));
        }
    }

    /** The lines of a dump but for those that are another each time. */
    private static String withoutKeys(Path dump) throws Exception {
        return String.join(
                "\n",
                Files.readAllLines(dump).stream()
                        .filter(line -> !line.startsWith("\\"))
                        .toList());
    }

    @Test
    void pandasAndAlembic() throws Exception {
        requireProgram("python", "python3", "--version");
        Path installed = installed("pandas", String.join(" ", PYTHON), at -> {
            var failure = step(at, "python3", "-m", "venv", "venv");
            if (failure.isPresent()) {
                return failure;
            }
            List<String> install = new ArrayList<>(
                    List.of("venv/bin/pip", "install", "-q", "--no-compile", "--disable-pip-version-check"));
            install.addAll(List.of(PYTHON));
            return step(at, install.toArray(String[]::new));
        });
        try (TestServer server = new TestServer()) {
            check(
                    installed,
                    installed.resolve("venv/bin/python").toString(),
                    program("pandas_alembic.py").toString(),
                    "postgresql+psycopg://millrace@localhost:" + server.port() + "/millrace");
        }
    }

    /** A project with a seed, a snapshot, tests, and a model of each materialization; twice, with another row in between. */
    @Test
    void dbtBuildsItsProjectAgainAndAgain() throws Exception {
        requireProgram("python", "python3", "--version");
        Path project = Files.createDirectory(folder.resolve("project"));
        Path given = program("dbt");
        try (var files = Files.walk(given)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                Path to = project.resolve(given.relativize(file).toString());
                Files.createDirectories(to.getParent());
                Files.copy(file, to);
            }
        }
        Path requirements = project.resolve("requirements.txt");
        Path installed = installed("dbt", Files.readString(requirements), at -> {
            var failure = step(at, "python3", "-m", "venv", "venv");
            return failure.isPresent()
                    ? failure
                    : step(
                            at,
                            "venv/bin/pip",
                            "install",
                            "-q",
                            "--no-compile",
                            "--disable-pip-version-check",
                            "-r",
                            requirements.toString());
        });
        try (TestServer server = new TestServer()) {
            String dbt = installed.resolve("venv/bin/dbt").toString();
            String at = "MILLRACE_PORT=" + server.port();
            List<String> build = List.of("env", at, dbt, "build", "--project-dir", ".", "--profiles-dir", ".");
            inProject(project, build);
            assertEquals(List.of("ann 15.5", "bob 20"), rows(server, LIVE));
            assertEquals(
                    List.of("who bought"),
                    rows(server, "SELECT obj_description('shop.customers'::regclass, 'pg_class')"));
            Path seed = project.resolve("seeds/orders.csv");
            Files.writeString(seed, Files.readString(seed).replace("3,ann,5,", "3,ann,6,"));
            inProject(project, build);
            assertEquals(List.of("ann 16.5", "bob 20"), rows(server, LIVE));
            assertEquals(
                    List.of("ann 15.5 f", "ann 16.5 t", "bob 20 t"),
                    rows(
                            server,
                            "SELECT concat_ws(' ', customer, total, CASE WHEN dbt_valid_to IS NULL THEN 't' ELSE 'f' END)"
                                    + " FROM snap.customers_snapshot ORDER BY customer, total"));
            List<String> anew = new ArrayList<>(build);
            anew.add("--full-refresh");
            inProject(project, anew);
            assertEquals(List.of("ann 16.5", "bob 20"), rows(server, LIVE));
        }
    }

    private static final String LIVE = "SELECT concat_ws(' ', customer, total) FROM shop.live ORDER BY customer";

    private static void inProject(Path project, List<String> command) throws Exception {
        assertEquals(Optional.empty(), step(project, command.toArray(String[]::new)));
    }
}
