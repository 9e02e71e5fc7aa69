package dev.millrace.server.pgwire;

import static dev.millrace.testing.jdbc.Statements.failure;
import static dev.millrace.testing.jdbc.Statements.rows;
import static dev.millrace.testing.jdbc.Statements.run;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.Millrace;
import dev.millrace.server.session.Database;
import dev.millrace.server.session.Session;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Who may come in and do what, through PostgreSQL's JDBC driver, with passwords. */
@Timeout(120)
class RoleTest {
    private final TestServer server = new TestServer();

    @BeforeEach
    void askForPasswords() {
        server.database().execute("ALTER ROLE millrace PASSWORD 'boss'");
        server.restart(
                PgServerOptions.local(0).withAuthentication(new Authentication.Scram(server.database()::secretOf)));
    }

    @AfterEach
    void stop() {
        server.close();
    }

    private Connection as(String user, String password) throws SQLException {
        return server.connect("user", user, "password", password);
    }

    private void superuser(String... statements) throws SQLException {
        try (Connection boss = as("millrace", "boss")) {
            run(boss, statements);
        }
    }

    /** SQLSTATE and message of what must fail. */
    private static String error(Connection connection, String sql) {
        SQLException error = failure(connection, sql);
        return error.getSQLState() + " "
                + error.getMessage().lines().findFirst().orElse("");
    }

    private static String loginError(Connector connect) {
        return assertThrows(SQLException.class, connect::connect).getSQLState();
    }

    private interface Connector {
        void connect() throws SQLException;
    }

    @Test
    void onlyWhoProvesToBeARoleThatMayLogInComesIn() throws SQLException {
        superuser(
                "CREATE USER ann PASSWORD 'secret'",
                "CREATE ROLE grp",
                "ALTER ROLE grp PASSWORD 'grp'",
                "CREATE USER old PASSWORD 'old' VALID UNTIL '2001-01-01'",
                "CREATE USER two PASSWORD 'two' CONNECTION LIMIT 2",
                "CREATE USER nopass");
        as("ann", "secret").close();
        assertEquals("28P01", loginError(() -> as("ann", "wrong")));
        assertEquals("28P01", loginError(() -> as("nobody", "secret")));
        assertEquals("28P01", loginError(() -> as("nopass", "x")));
        assertEquals("28P01", loginError(() -> as("old", "old")));
        assertEquals("28000", loginError(() -> as("grp", "grp")));
        try (Connection first = as("two", "two");
                Connection second = as("two", "two")) {
            assertEquals("53300", loginError(() -> as("two", "two")));
            assertEquals(List.of("two|two"), rows(second, "SELECT current_user, session_user"));
        }
        superuser("ALTER USER ann PASSWORD 'new'");
        assertEquals("28P01", loginError(() -> as("ann", "secret")));
        try (Connection ann = as("ann", "new")) {
            run(ann, "ALTER USER ann PASSWORD 'own'"); // one's own, without any right
            assertEquals(List.of("off"), rows(ann, "SHOW is_superuser"));
        }
        as("ann", "own").close();
        superuser("ALTER USER ann NOLOGIN");
        assertEquals("28000", loginError(() -> as("ann", "own")));
    }

    @Test
    void aRoleMayDoWhatItWasGrantedAndNoMore() throws SQLException {
        superuser(
                "CREATE TABLE t (id BIGINT PRIMARY KEY, v TEXT)",
                "CREATE STREAM s (k TEXT)",
                "CREATE MATERIALIZED VIEW mv AS SELECT count(*) AS n FROM s",
                "CREATE USER bob PASSWORD 'bob'");
        try (Connection bob = as("bob", "bob")) {
            assertEquals("42501 ERROR: permission denied for table t", error(bob, "SELECT * FROM t"));
            assertEquals("42501 ERROR: permission denied for stream s", error(bob, "INSERT INTO s VALUES ('a')"));
            assertEquals("42501 ERROR: permission denied for materialized view mv", error(bob, "SELECT * FROM mv"));
            assertEquals("42501 ERROR: permission denied for materialized view mv", error(bob, "SUBSCRIBE TO mv"));
            assertEquals("42501 ERROR: permission denied for materialized view mv", error(bob, "COPY mv TO STDOUT"));
            assertEquals("42501 ERROR: permission denied for stream s", error(bob, "COPY s FROM STDIN"));
            assertEquals("42501 ERROR: permission denied for table t", error(bob, "TRUNCATE t"));
            assertEquals("42501 ERROR: permission denied for schema public", error(bob, "CREATE TABLE mine (a INT)"));
            assertEquals("42501 ERROR: must be owner of table t", error(bob, "DROP TABLE t"));
            assertEquals("42501 ERROR: permission denied to create role", error(bob, "CREATE ROLE x"));
            assertEquals("42501 ERROR: permission denied for table t", error(bob, "GRANT SELECT ON t TO bob"));
            assertEquals(
                    "42501 ERROR: permission denied to set parameter \"scheduling_policy\"",
                    error(bob, "SET scheduling_policy = 'fcfs'"));
            assertEquals("42501 ERROR: permission denied for view pg_authid", error(bob, "SELECT * FROM pg_authid"));

            superuser("GRANT SELECT, INSERT ON t TO bob");
            run(bob, "INSERT INTO t VALUES (1, 'x')");
            assertEquals(List.of("1|x"), rows(bob, "SELECT * FROM t"));
            assertEquals("42501 ERROR: permission denied for table t", error(bob, "UPDATE t SET v = 'y'"));
            assertEquals(
                    "42501 ERROR: permission denied for table t",
                    error(bob, "INSERT INTO t VALUES (1, 'z') ON CONFLICT (id) DO UPDATE SET v = EXCLUDED.v"));
            assertEquals("42501 ERROR: permission denied for table t", error(bob, "DELETE FROM t WHERE id = 1"));
            superuser("GRANT ALL ON ALL TABLES IN SCHEMA public TO bob");
            run(bob, "UPDATE t SET v = 'y' WHERE id = 1", "DELETE FROM t WHERE id = 1");
            superuser("REVOKE SELECT ON t FROM bob");
            // the session goes on, and its next statement is refused
            assertEquals("42501 ERROR: permission denied for table t", error(bob, "SELECT * FROM t"));
            assertEquals("42501 ERROR: permission denied for table t", error(bob, "DELETE FROM t WHERE id = 1"));
        }
    }

    @Test
    void privilegesComeThroughMembershipsAndGrantOptions() throws SQLException {
        superuser(
                "CREATE TABLE t (id BIGINT)",
                "CREATE ROLE readers",
                "CREATE USER ann PASSWORD 'ann' IN ROLE readers",
                "CREATE USER bob PASSWORD 'bob'",
                "CREATE USER cut PASSWORD 'cut' NOINHERIT",
                "GRANT SELECT ON t TO readers WITH GRANT OPTION",
                "GRANT readers TO cut");
        try (Connection ann = as("ann", "ann");
                Connection bob = as("bob", "bob");
                Connection cut = as("cut", "cut")) {
            assertEquals(List.of(), rows(ann, "SELECT * FROM t"));
            run(ann, "GRANT SELECT ON t TO bob");
            assertEquals(List.of(), rows(bob, "SELECT * FROM t"));
            assertEquals("42501 ERROR: permission denied for table t", error(bob, "GRANT SELECT ON t TO cut"));
            assertEquals("42501 ERROR: permission denied for table t", error(cut, "SELECT * FROM t"));
            run(cut, "SET ROLE readers");
            assertEquals(List.of("readers|cut"), rows(cut, "SELECT current_user, session_user"));
            assertEquals(List.of(), rows(cut, "SELECT * FROM t"));
            run(cut, "RESET ROLE");
            assertEquals("42501 ERROR: permission denied for table t", error(cut, "SELECT * FROM t"));
            assertEquals("42501 ERROR: permission denied to set role \"ann\"", error(cut, "SET ROLE ann"));
            assertEquals("22023 ERROR: role \"nix\" does not exist", error(cut, "SET ROLE nix"));
            superuser("REVOKE readers FROM ann");
            assertEquals("42501 ERROR: permission denied for table t", error(ann, "SELECT * FROM t"));
            superuser("GRANT SELECT ON t TO PUBLIC");
            assertEquals(List.of(), rows(ann, "SELECT * FROM t"));
        }
        assertEquals("0LP01", loginError(() -> superuser("GRANT readers TO readers")));
    }

    @Test
    void ownersDropAndGrantWhatTheyMade() throws SQLException {
        superuser(
                "CREATE USER ann PASSWORD 'ann'",
                "CREATE USER bob PASSWORD 'bob'",
                "GRANT CREATE ON SCHEMA public TO ann");
        try (Connection ann = as("ann", "ann");
                Connection bob = as("bob", "bob")) {
            run(ann, "CREATE TABLE mine (a INT)", "INSERT INTO mine VALUES (1)", "GRANT SELECT ON mine TO bob");
            assertEquals(List.of("1"), rows(bob, "SELECT * FROM mine"));
            assertEquals("42501 ERROR: must be owner of table mine", error(bob, "DROP TABLE mine"));
            assertEquals(
                    "ann",
                    rows(ann, "SELECT tableowner FROM pg_tables WHERE tablename = 'mine'")
                            .get(0));
            assertTrue(rows(bob, "SELECT relacl FROM pg_class WHERE relname = 'mine'")
                    .get(0)
                    .contains("bob=r/ann"));
            assertEquals("2BP01", loginError(() -> superuser("DROP ROLE ann")));
            superuser("ALTER TABLE mine OWNER TO bob");
            run(bob, "DROP TABLE mine");
            assertEquals("42P01", error(ann, "SELECT * FROM mine").substring(0, 5));
            assertEquals(
                    "42501 ERROR: permission denied for language java",
                    error(ann, "CREATE FUNCTION f(INT) RETURNS INT LANGUAGE JAVA AS 'x.jar', 'X'"));
            assertEquals(
                    "42501 ERROR: must be superuser or have privileges of the pg_read_server_files role to read files of the"
                            + " server",
                    error(ann, "CREATE STREAM f (a INT) WITH (connector = 'file', path = 'x.csv')"));
            assertEquals(
                    "42501",
                    error(ann, "CREATE SINK f WITH (connector = 'file', path = 'x.csv') AS SELECT 1")
                            .substring(0, 5));
            run(ann, "CREATE FUNCTION plus_one(x INT) RETURNS INT LANGUAGE SQL AS 'x + 1'");
            assertEquals(List.of("3"), rows(bob, "SELECT plus_one(2)"));
            run(ann, "REVOKE EXECUTE ON FUNCTION plus_one(INT) FROM PUBLIC");
            assertEquals("42501 ERROR: permission denied for function plus_one", error(bob, "SELECT plus_one(2)"));
        }
    }

    @Test
    void aDroppedRolesSessionsEnd() throws Exception {
        superuser("CREATE USER ann PASSWORD 'ann'");
        try (Connection ann = as("ann", "ann")) {
            assertEquals(List.of("1"), rows(ann, "SELECT 1"));
            superuser("DROP USER ann");
            SQLException error = assertThrows(SQLException.class, () -> rows(ann, "SELECT 1"));
            assertTrue(List.of("57P01", "08006").contains(error.getSQLState()), error.getSQLState());
            assertFalse(ann.isValid(5));
        }
        assertEquals("28P01", loginError(() -> as("ann", "ann")));
    }

    @Test
    void limitsAndSettingsOfARoleHold() throws SQLException {
        superuser(
                "CREATE STREAM s (k TEXT)",
                "CREATE USER ann PASSWORD 'ann'",
                "GRANT CREATE ON SCHEMA public TO ann",
                "GRANT SELECT ON s TO ann",
                "ALTER ROLE ann SET statement_timeout = '12s'",
                "ALTER ROLE ann SET max_queries = 1");
        try (Connection ann = as("ann", "ann")) {
            assertEquals(List.of("12s"), rows(ann, "SHOW statement_timeout"));
            run(ann, "SET statement_timeout = 5000");
            assertEquals(List.of("5s"), rows(ann, "SHOW statement_timeout"));
            run(ann, "RESET statement_timeout");
            assertEquals(List.of("12s"), rows(ann, "SHOW statement_timeout"));
            run(ann, "CREATE MATERIALIZED VIEW a AS SELECT count(*) AS n FROM s");
            assertEquals(
                    "53400",
                    error(ann, "CREATE MATERIALIZED VIEW b AS SELECT count(*) AS n FROM s")
                            .substring(0, 5));
            assertEquals(
                    "42501", error(ann, "ALTER ROLE ann SET max_queries = 5").substring(0, 5));
            assertEquals("22023", error(ann, "SET statement_timeout = 'soon'").substring(0, 5));
            assertEquals("22023", error(ann, "SET statement_timeout = -1").substring(0, 5));
        }
    }

    @Test
    void passwordsAreNowhereToBeSeen() throws SQLException {
        try (Connection boss = as("millrace", "boss")) {
            assertFalse(error(boss, "CREATE USER x PASSWORD 'geheim' 'geheim'").contains("geheim"));
            assertFalse(error(boss, "CREATE USER x PASSWORD geheim").contains("geheim"));
            assertFalse(error(boss, "ALTER USER millrace PASSWORD 'geheim' VALID UNTIL 'geheim'x")
                    .contains("LIMIT geheim"));
            run(boss, "CREATE USER x PASSWORD 'geheim'");
            assertEquals(List.of("********"), rows(boss, "SELECT rolpassword FROM pg_roles WHERE rolname = 'x'"));
            String kept = rows(boss, "SELECT rolpassword FROM pg_authid WHERE rolname = 'x'")
                    .get(0);
            assertTrue(kept.startsWith("SCRAM-SHA-256$4096:"), kept);
            run(boss, "CREATE USER y PASSWORD '" + kept + "'"); // as \password of psql sends it
        }
        as("y", "geheim").close();
    }

    @Test
    void whatIsThereCanBeMadeAgainFromItsText() throws SQLException {
        String[] objects = {"CREATE TABLE t (id BIGINT)", "CREATE FUNCTION f(x INT) RETURNS INT LANGUAGE SQL AS 'x'"};
        superuser(objects);
        superuser(
                "CREATE ROLE \"Odd name\" NOINHERIT CREATEROLE",
                "CREATE USER ann PASSWORD 'ann' CONNECTION LIMIT 3 VALID UNTIL '2040-01-01 00:00:00+00'",
                "GRANT \"Odd name\" TO ann WITH ADMIN OPTION",
                "ALTER ROLE ann SET statement_timeout = '1min'",
                "GRANT SELECT, INSERT ON t TO ann WITH GRANT OPTION",
                "GRANT UPDATE ON t TO PUBLIC",
                "REVOKE EXECUTE ON FUNCTION f FROM PUBLIC",
                "ALTER TABLE t OWNER TO \"Odd name\"");
        List<String> roles = server.database().catalog().roles().definitions();
        List<String> privileges = server.database().catalog().privilegeDefinitions();
        try (Database again = Millrace.open();
                Session session = again.session()) {
            roles.forEach(statement -> session.execute(statement).drain());
            for (String object : objects) {
                session.execute(object).drain();
            }
            privileges.forEach(statement -> session.execute(statement).drain());
            assertEquals(roles, again.catalog().roles().definitions());
            assertEquals(privileges, again.catalog().privilegeDefinitions());
        }
        assertEquals(5, privileges.size(), privileges.toString());
    }

    @Test
    void filesInFromAreForThoseWhoMayReadFilesOfTheServer(@TempDir Path folder) throws SQLException, IOException {
        Path file = Files.writeString(folder.resolve("f.csv"), "id,v\n1,10\n2,x\n");
        superuser("CREATE TABLE t (id BIGINT, v TEXT)", "CREATE USER bob PASSWORD 'bob'", "GRANT ALL ON t TO bob");
        String from = "SELECT id FROM '" + file + "'";
        String copyFrom = "COPY t FROM '" + file + "' (FORMAT csv, HEADER)";
        String copyTo = "COPY t TO '" + folder.resolve("out") + "'";
        try (Connection bob = as("bob", "bob")) {
            for (String sql : List.of(
                    from,
                    from.replace("f.csv", "none.csv"),
                    "INSERT INTO t " + from.replace("id", "id, v"),
                    "EXPLAIN " + from)) {
                assertEquals(
                        "42501 ERROR: must be superuser or have privileges of the pg_read_server_files role to read files of the"
                                + " server",
                        error(bob, sql));
            }
            assertTrue(error(bob, copyFrom).startsWith("42501"));
            assertTrue(error(bob, copyTo).startsWith("42501"));
            superuser("GRANT pg_read_server_files TO bob");
            assertEquals(List.of("1", "2"), rows(bob, from + " ORDER BY 1"));
            run(bob, copyFrom);
            assertTrue(error(bob, copyTo).startsWith("42501"));
            superuser("GRANT pg_write_server_files TO bob");
            run(bob, copyTo);
            try (PreparedStatement prepared = bob.prepareStatement("SELECT * FROM '" + file + "' WHERE id = ?")) {
                assertEquals(
                        "bigint|text",
                        prepared.getMetaData().getColumnTypeName(1).replace("int8", "bigint") + "|"
                                + prepared.getMetaData().getColumnTypeName(2));
                for (int id = 1; id <= 2; id++) {
                    prepared.setLong(1, id);
                    try (ResultSet found = prepared.executeQuery()) {
                        assertTrue(found.next());
                        assertEquals(id == 1 ? "10" : "x", found.getString("v"));
                    }
                }
            }
            try (Statement statement = bob.createStatement();
                    ResultSet left = statement.executeQuery("SELECT sum(v) FROM read_csv('" + file
                            + "', types = {'v': 'int'}, ignore_errors = true)")) {
                assertTrue(left.next());
                assertEquals(10, left.getInt(1));
                assertEquals("01000", statement.getWarnings().getSQLState());
                assertTrue(statement.getWarnings().getMessage().startsWith("1 record was left out of read_csv("));
            }
        }
    }
}
