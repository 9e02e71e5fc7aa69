package dev.millrace.server.pgwire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.Millrace;
import dev.millrace.server.session.Database;
import dev.millrace.testing.time.Eventually;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The server with psql, where there is one. */
@Tag("long")
@Timeout(120)
class PsqlTest {
    private Database database;
    private PgServer server;

    @BeforeEach
    void start() throws Exception {
        assumePsql();
        database = Millrace.open();
        server = PgServer.listen(database, PgServerOptions.local(0));
    }

    /** Skips a test where there is no psql. */
    static void assumePsql() throws InterruptedException {
        boolean there;
        try {
            there = new ProcessBuilder("psql", "--version").start().waitFor() == 0;
        } catch (IOException e) {
            there = false;
        }
        if (!there) {
            System.out.println("PsqlTest skipped because there is no psql on the path");
        }
        Assumptions.assumeTrue(there);
    }

    @AfterEach
    void stop() {
        if (server != null) {
            server.close();
            database.close();
        }
    }

    private String psql(String... commands) throws Exception {
        return psql(server.port(), "-At", commands);
    }

    /** What it answers to commands, one after the other. */
    static String psql(int port, String form, String... commands) throws Exception {
        List<String> line =
                new ArrayList<>(List.of("psql", "-X", "-h", "localhost", "-p", "" + port, "-U", "millrace", form));
        for (String command : commands) {
            line.add("-c");
            line.add(command);
        }
        Process process = new ProcessBuilder(line).redirectErrorStream(true).start();
        String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertTrue(process.waitFor(30, TimeUnit.SECONDS));
        return out;
    }

    @Test
    void answersFollowWhatPsqlInserts() throws Exception {
        assertEquals(
                """
                CREATE STREAM
                CREATE MATERIALIZED VIEW
                INSERT 0 3
                a|2|4
                b|1|2
                """,
                psql(
                        "CREATE STREAM s (k TEXT, v BIGINT)",
                        "CREATE MATERIALIZED VIEW mv AS SELECT k, count(*) AS n, sum(v) AS total FROM s GROUP BY k",
                        "INSERT INTO s VALUES ('a', 1), ('b', 2), ('a', 3)",
                        "SELECT * FROM mv ORDER BY k"));
    }

    @Test
    void errorsPointAtTheirPlace() throws Exception {
        assertEquals("""
                ERROR:  column "nope" does not exist
                LINE 1: SELECT nope FROM (VALUES (1)) AS t(x)
                               ^
                """, psql("SELECT nope FROM (VALUES (1)) AS t(x)"));
    }

    @Test
    void everyListingIsAnsweredWithoutAnError() throws Exception {
        psql(
                "CREATE STREAM s (k TEXT, v BIGINT)",
                "CREATE TABLE t (id BIGINT PRIMARY KEY, name VARCHAR(10))",
                "CREATE MATERIALIZED VIEW mv AS SELECT k, count(*) AS n FROM s GROUP BY k",
                "CREATE CONTINUOUS QUERY cq AS SELECT * FROM s WHERE v > 1",
                "CREATE FUNCTION twice(x BIGINT) RETURNS BIGINT LANGUAGE SQL AS 'SELECT x * 2'");
        List<String> commands = new ArrayList<>();
        for (String command : """
                \\d \\dt+ \\dv+ \\dm+ \\di+ \\df \\df+ \\da \\l+ \\dn+ \\du+ \\dg \\dp \\z \\dd \\do \\do+ \\dT+ \\dx
                \\dC \\dD \\ds \\dE \\des \\dew \\det \\deu \\dF \\dFd \\dFp \\dFt \\dL \\dO \\dP \\dRp \\dRs \\db \\dc
                \\drds \\ddp \\dl \\dA \\dAc \\dAf \\dAo \\dAp \\dy \\dy+ \\dX \\dconfig \\dconfig+ \\encoding
                \\conninfo""".split("\\s+")) {
            commands.add(command);
        }
        commands.addAll(List.of("\\d+ s", "\\d+ t", "\\d+ mv", "\\d+ cq", "\\d+ t_pkey", "\\dconfig s*"));
        commands.addAll(
                List.of("\\d s", "\\d t", "\\d mv", "\\d cq", "\\d t_pkey", "\\sf twice", "\\sv cq", "\\dt *.t"));
        String out = psql(commands.toArray(String[]::new));
        assertTrue(!out.contains("ERROR"), out);
        assertTrue(out.contains("public|twice|bigint|x bigint|func"), out);
        assertTrue(out.contains("CREATE FUNCTION twice"), out);
        assertTrue(out.contains("statement_timeout|0"), out);
    }

    @Test
    void aMillionRowsAreCopiedInAndOut() throws Exception {
        StringBuilder lines = new StringBuilder();
        for (int i = 0; i < 1_000_000; i++) {
            lines.append("key").append(i % 10).append('\t').append(i).append('\n');
        }
        Path file = Files.createTempFile("millrace-copy", ".txt");
        Path back = Files.createTempFile("millrace-copy", ".txt");
        try {
            Files.writeString(file, lines);
            String out = psql(
                    "CREATE TABLE t (k TEXT, v BIGINT)",
                    "\\copy t FROM '" + file + "'",
                    "SELECT count(*), sum(v), max(k) FROM t",
                    "\\copy (SELECT * FROM t) TO '" + back + "'");
            assertEquals("CREATE TABLE\nCOPY 1000000\n1000000|499999500000|key9\nCOPY 1000000\n", out);
            assertEquals(Files.size(file), Files.size(back));
        } finally {
            Files.delete(file);
            Files.delete(back);
        }
    }

    @Test
    void controlCEndsWhatNeverEnds() throws Exception {
        psql("CREATE STREAM s (v BIGINT)");
        for (String sql : List.of("SUBSCRIBE TO s", "SELECT count(*) FROM generate_series(1, 20000000000) AS g(n)")) {
            Process process = new ProcessBuilder(List.of(
                            "psql",
                            "-X",
                            "-h",
                            "localhost",
                            "-p",
                            "" + server.port(),
                            "-U",
                            "millrace",
                            "-At",
                            "-c",
                            "SELECT 'ready'",
                            "-c",
                            sql))
                    .redirectErrorStream(true)
                    .start();
            process.inputReader().readLine(); // from now on psql takes the signal for a wish to cancel
            try (Eventually.Repeated interrupting =
                    Eventually.repeat(() -> new ProcessBuilder("kill", "-INT", "" + process.pid())
                            .start()
                            .waitFor())) {
                assertTrue(process.waitFor(60, TimeUnit.SECONDS), sql);
            }
            String out = String.join("\n", process.inputReader().lines().toList());
            assertTrue(out.contains("canceling statement due to user request"), out);
        }
    }

    @Test
    void backslashCommandsListWhatThereIs() throws Exception {
        psql(
                "CREATE TABLE t (id BIGINT PRIMARY KEY, name VARCHAR(10))",
                "CREATE MATERIALIZED VIEW mv AS SELECT id FROM t");
        assertEquals("public|mv|materialized view|millrace\npublic|t|table|millrace\n", psql("\\d"));
        assertTrue(psql("\\d t").contains("id|bigint||not null|\nname|character varying(10)|||\n"), psql("\\d t"));
        assertTrue(psql("\\d mv").contains("id|bigint"), psql("\\d mv"));
        assertEquals("public|t|table|millrace\n", psql("\\dt"));
        assertEquals("public|mv|materialized view|millrace\n", psql("\\dm"));
        assertTrue(psql("\\di").contains("public|t_pkey|index|millrace|t\n"));
        assertTrue(psql("\\dn").contains("public|millrace\n"));
        assertTrue(psql("\\du").contains("millrace|Superuser"));
        assertTrue(psql("\\l").contains("millrace|millrace|UTF8"));
        for (String command : List.of("\\df", "\\dT", "\\dx", "\\dv", "\\ds", "\\dp", "\\dt+", "\\db")) {
            String out = psql(command);
            assertTrue(!out.contains("ERROR"), command + ": " + out);
        }
    }

    @Test
    void transactionsEndAsPsqlExpects() throws Exception {
        assertEquals(
                """
                CREATE TABLE
                BEGIN
                INSERT 0 1
                SAVEPOINT
                ERROR:  row 1: division by zero
                ERROR:  current transaction is aborted, commands ignored until end of transaction block
                ROLLBACK
                INSERT 0 1
                COMMIT
                BEGIN
                ERROR:  row 1: division by zero
                ROLLBACK
                1
                2
                """,
                psql(
                        "CREATE TABLE t (id BIGINT PRIMARY KEY)",
                        "BEGIN",
                        "INSERT INTO t VALUES (1)",
                        "SAVEPOINT a",
                        "SELECT 1 / (id - 1) FROM t",
                        "SELECT 1",
                        "ROLLBACK TO a",
                        "INSERT INTO t VALUES (2)",
                        "COMMIT",
                        "BEGIN",
                        "SELECT 1 / (id - 1) FROM t WHERE id = 1",
                        "COMMIT",
                        "SELECT * FROM t ORDER BY id"));
    }

    @Test
    void defaultsChecksAndViewsAreDescribed() throws Exception {
        assertEquals(
                "INSERT 0 1\n",
                psql(
                                "CREATE TABLE t (id SERIAL PRIMARY KEY, n INT DEFAULT 7 CHECK (n > 0), d INT GENERATED ALWAYS AS"
                                        + " (n * 2) STORED, i BIGINT GENERATED ALWAYS AS IDENTITY)",
                                "CREATE VIEW v AS SELECT id, n FROM t",
                                "WITH x AS (SELECT 5 AS n) INSERT INTO t (n) SELECT n FROM x RETURNING id, d")
                        .replace("CREATE TABLE\nCREATE VIEW\n1|10\n", ""));
        String table = psql("\\d t");
        assertTrue(table.contains("id|integer||not null|nextval('t_id_seq'::regclass)\n"), table);
        assertTrue(table.contains("n|integer|||7\n"), table);
        assertTrue(table.contains("d|integer|||generated always as (n * 2) stored\n"), table);
        assertTrue(table.contains("i|bigint||not null|generated always as identity\n"), table);
        assertEquals(
                "t_n_check|CHECK (n > 0)\n",
                psql("SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint WHERE contype = 'c'"));
        assertEquals("public|v|view|millrace\n", psql("\\dv"));
        assertTrue(psql("\\d+ v").startsWith("id|integer|"));
        assertEquals("SELECT id, n FROM t;\n", psql("SELECT pg_get_viewdef('v'::regclass)"));
    }

    @Test
    void rolesAndPrivilegesAreListed() throws Exception {
        psql(
                "CREATE TABLE t (id BIGINT PRIMARY KEY)",
                "CREATE ROLE readers",
                "CREATE USER ann CONNECTION LIMIT 3 IN ROLE readers",
                "GRANT SELECT ON t TO readers",
                "GRANT INSERT, UPDATE ON t TO ann WITH GRANT OPTION",
                "ALTER ROLE ann SET statement_timeout = '5s'");
        String roles = psql("\\du");
        assertTrue(roles.contains("ann|3 connections|{readers}\n"), roles);
        assertTrue(roles.contains("readers|Cannot login|{}\n"), roles);
        for (String list : List.of("\\dp", "\\z t")) {
            String privileges = psql(list);
            assertTrue(privileges.contains("public|t|table|millrace=arwdDxt/millrace"), privileges);
            assertTrue(privileges.contains("readers=r/millrace"), privileges);
            assertTrue(privileges.contains("ann=a*w*/millrace"), privileges);
        }
        assertEquals("", psql("\\ddp"));
        assertTrue(psql("\\drds").contains("ann||statement_timeout=5s"), psql("\\drds"));
        assertTrue(psql("SET SESSION AUTHORIZATION ann", "DELETE FROM t").contains("permission denied for table t"));
    }
}
