package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.error.MillraceException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a data directory keeps from one opening to the next. */
class KeptDatabaseTest {
    @TempDir
    Path folder;

    private TestDatabase open() {
        return new TestDatabase(folder.resolve("data"));
    }

    private List<String> objects(TestDatabase database) {
        return database.database().catalog().objects().stream()
                .map(object -> object.name() + " " + object.kind() + " " + object.createdMicros() + " "
                        + database.database().catalog().roles().owner(object.name()) + " " + object.definition())
                .toList();
    }

    @Test
    void alteredTablesAreThereAgainAsTheyWere() {
        try (TestDatabase database = open()) {
            database.run("CREATE TABLE t (id INT PRIMARY KEY, a INT)");
            database.run("CREATE MATERIALIZED VIEW v AS SELECT sum(a) AS a FROM t");
            database.run("ALTER TABLE t ADD COLUMN n INT NOT NULL DEFAULT 3 CHECK (n > 0), ADD COLUMN k SERIAL");
            database.run("CREATE VIEW w AS SELECT n FROM t");
        }
        try (TestDatabase again = open()) {
            again.run("INSERT INTO t (id, a) VALUES (1, 10)");
            assertEquals(List.of("1|10|3|1"), again.rows("SELECT * FROM t"));
            assertEquals(List.of("10"), again.rows("SELECT * FROM v"));
            assertEquals(List.of("3"), again.rows("SELECT * FROM w"));
            assertTrue(again.error("UPDATE t SET n = 0").startsWith("23514 "));
        }
    }

    @Test
    void definitionsAreThereAgainAndRowsOfTables() {
        List<String> before;
        try (TestDatabase database = open()) {
            database.run("""
                    CREATE STREAM s (k TEXT, v BIGINT);
                    CREATE TABLE t (k TEXT PRIMARY KEY, name TEXT);
                    CREATE FUNCTION plus(a BIGINT, b BIGINT) RETURNS BIGINT LANGUAGE SQL AS 'a + b';
                    CREATE CONTINUOUS QUERY q AS SELECT k, plus(v, 1) AS v FROM s;
                    CREATE MATERIALIZED VIEW mv AS SELECT k, sum(v) AS v FROM q GROUP BY k;
                    CREATE MATERIALIZED VIEW named AS SELECT t.name, mv.v FROM mv JOIN t ON mv.k = t.k;
                    CREATE SINK out FROM named WITH (connector = 'blackhole');
                    CREATE STREAM gone (a BIGINT);
                    DROP STREAM gone;
                    INSERT INTO s VALUES ('a', 1);
                    INSERT INTO t VALUES ('a', 'x')
                    """);
            before = objects(database);
            assertEquals(7, before.size());
        }
        for (int round = 0; round < 2; round++) {
            try (TestDatabase again = open()) {
                assertEquals(before, objects(again));
                assertEquals(List.of("x|" + (2 + 13 * round)), again.rows("SELECT * FROM named"));
                assertEquals(List.of("a|x"), again.rows("SELECT * FROM t"));
                again.run("INSERT INTO s VALUES ('a', 1), ('a', 10)");
                assertEquals(List.of("x|" + (15 + 13 * round)), again.rows("SELECT * FROM named"));
            }
        }
    }

    @Test
    void defaultsChecksAndPlainViewsAreKept() {
        List<String> before;
        try (TestDatabase database = open()) {
            database.run("""
                    CREATE TABLE t (id SERIAL PRIMARY KEY, n INT DEFAULT 7 CHECK (n > 0), d INT GENERATED ALWAYS AS (n * 2) STORED);
                    CREATE VIEW plain AS SELECT id, d FROM t;
                    CREATE VIEW over AS SELECT max(d) AS d FROM plain;
                    CREATE OR REPLACE VIEW plain AS SELECT id, d, n FROM t WHERE n < 100;
                    CREATE MATERIALIZED VIEW mv AS SELECT sum(d) AS d FROM plain;
                    CREATE TABLE copy AS SELECT id, n::numeric(10,2) AS n FROM t;
                    INSERT INTO t (n) VALUES (1)
                    """);
            before = objects(database);
        }
        for (int round = 0; round < 2; round++) {
            try (TestDatabase again = open()) {
                assertEquals(before, objects(again));
                assertEquals(List.of(), again.database().notRestored());
                assertEquals(
                        List.of((2 + 3 * round) + "|7|14"), again.rows("INSERT INTO t DEFAULT VALUES RETURNING *"));
                again.run("INSERT INTO t (n) VALUES (100), (3)");
                assertEquals(List.of(round == 0 ? "22" : "42"), again.rows("SELECT d FROM mv"));
                assertEquals(List.of("14"), again.rows("SELECT d FROM over"));
                assertTrue(again.error("INSERT INTO t (n) VALUES (0)").startsWith("23514 "));
                assertTrue(again.error("DROP VIEW plain").startsWith("2BP01 "));
                again.run("INSERT INTO copy SELECT id, n FROM t");
                assertEquals(List.of(round == 0 ? "4" : "11"), again.rows("SELECT count(*) FROM copy"));
            }
        }
    }

    @Test
    void changesOfDefinitionsAreKept() {
        List<String> before;
        try (TestDatabase database = open()) {
            database.run("""
                    CREATE STREAM a (v BIGINT);
                    CREATE STREAM b (v BIGINT);
                    CREATE MATERIALIZED VIEW v AS SELECT sum(v) AS n FROM a;
                    CREATE MATERIALIZED VIEW r AS SELECT 1 AS one;
                    CREATE OR REPLACE MATERIALIZED VIEW r AS SELECT max(v) AS n FROM a;
                    CREATE STREAM c (v BIGINT);
                    ALTER MATERIALIZED VIEW v AS SELECT count(v) AS n FROM c;
                    DROP MATERIALIZED VIEW r;
                    DROP STREAM a;
                    CREATE CONTINUOUS QUERY p AS SELECT v FROM b;
                    PAUSE CONTINUOUS QUERY p;
                    CREATE CONTINUOUS QUERY p2 AS SELECT v FROM b;
                    PAUSE CONTINUOUS QUERY p2;
                    RESUME CONTINUOUS QUERY p2;
                    SET scheduling_policy = 'round_robin'
                    """);
            before = objects(database);
        }
        try (TestDatabase again = open()) {
            assertEquals(before, objects(again));
            assertEquals("PAUSED", again.database().state("p").orElseThrow().name());
            assertEquals("RUNNING", again.database().state("p2").orElseThrow().name());
            assertEquals(List.of("round_robin"), again.rows("SHOW scheduling_policy"));
            again.run("INSERT INTO c VALUES (5), (6)");
            assertEquals(List.of("2"), again.rows("SELECT * FROM v"));
        }
    }

    @Test
    void rolesOwnersAndPrivilegesAreKeptWithoutPasswords() throws IOException {
        try (TestDatabase database = open()) {
            database.run("""
                    CREATE ROLE ann LOGIN PASSWORD 'correct horse';
                    CREATE ROLE staff;
                    GRANT staff TO ann;
                    ALTER ROLE ann SET application_name = 'anns';
                    CREATE STREAM s (v BIGINT);
                    CREATE STREAM hidden (v BIGINT);
                    GRANT SELECT, INSERT ON s TO staff;
                    CREATE STREAM hers (v BIGINT);
                    ALTER STREAM hers OWNER TO ann;
                    CREATE STREAM again (v BIGINT);
                    GRANT SELECT ON again TO staff;
                    DROP STREAM again;
                    CREATE STREAM again (v BIGINT)
                    """);
        }
        String log = Files.readString(folder.resolve("data/catalog.log"));
        assertTrue(!log.contains("correct horse") && log.contains("SCRAM-SHA-256$"), log);
        try (TestDatabase again = open();
                Session ann = again.database().session("ann")) {
            assertTrue(again.database().secretOf("ann").isPresent());
            assertEquals("ann", again.database().catalog().roles().owner("hers"));
            ann.execute("INSERT INTO s VALUES (1); INSERT INTO hers VALUES (2); DROP STREAM hers")
                    .drain();
            for (String refused : List.of("hidden", "again")) {
                MillraceException error = assertThrows(
                        MillraceException.class,
                        () -> ann.execute("INSERT INTO " + refused + " VALUES (1)")
                                .drain());
                assertEquals("42501", error.sqlState().code());
            }
        }
    }

    @Test
    void whoGrantedWhatIsKeptAndUnknownRolesStayAlike() {
        String access = "SELECT relacl FROM pg_class WHERE relname = 's'";
        String members = "SELECT grantor::regrole FROM pg_auth_members WHERE roleid = 'staff'::regrole";
        List<String> granted;
        List<String> member;
        String decoy;
        try (TestDatabase database = open()) {
            database.run("""
                    CREATE ROLE ann CREATEROLE;
                    CREATE ROLE bob;
                    CREATE ROLE staff;
                    CREATE STREAM s (v BIGINT);
                    GRANT SELECT ON s TO ann WITH GRANT OPTION;
                    SET ROLE ann;
                    GRANT SELECT ON s TO bob;
                    GRANT staff TO bob;
                    RESET ROLE
                    """);
            granted = database.rows(access);
            member = database.rows(members);
            decoy = database.database().decoys().of("nobody").text();
        }
        assertTrue(granted.toString().contains("bob=r/ann"), granted.toString());
        assertEquals(List.of("ann"), member);
        try (TestDatabase again = open()) {
            assertEquals(granted, again.rows(access));
            assertEquals(member, again.rows(members));
            assertEquals(decoy, again.database().decoys().of("nobody").text());
            again.run("SET ROLE ann");
            assertEquals(
                    "0A000",
                    assertThrows(MillraceException.class, () -> again.run("GRANT staff TO ann GRANTED BY bob"))
                            .sqlState()
                            .code());
        }
    }

    @Test
    void whatCannotBeMadeAgainIsSaidAndCanBeDroppedOrReplaced() throws IOException {
        Path file = folder.resolve("rows.csv");
        Files.writeString(file, "v\n1\n2\n");
        try (TestDatabase database = open()) {
            database.run("CREATE STREAM f (v BIGINT) WITH (connector = 'file', path = '" + file + "');"
                    + "CREATE MATERIALIZED VIEW total AS SELECT sum(v) AS v FROM f;"
                    + "CREATE STREAM other (v BIGINT)");
            assertEquals(List.of("3"), database.flushedRows("SELECT * FROM total"));
        }
        Files.delete(file);
        try (TestDatabase again = open()) {
            assertEquals(
                    List.of("f|stream|58P01", "total|materialized view|42P01"),
                    again.rows("SELECT name, kind, sqlstate FROM millrace.not_restored"));
            assertEquals(2, again.database().notRestored().size());
            assertEquals(1, again.database().catalog().objects().size());
            again.run("CREATE STREAM f (v BIGINT)");
        }
        try (TestDatabase again = open()) {
            assertEquals(
                    List.of(), again.rows("SELECT name FROM millrace.not_restored"), "the view reads the new stream");
            again.run("DROP MATERIALIZED VIEW total; DROP STREAM f");
            again.run("CREATE STREAM f (v BIGINT) WITH (connector = 'datagen', bounded = 'maybe')"
                    .replace(" WITH (connector = 'datagen', bounded = 'maybe')", ""));
        }
        Files.writeString(file, "v\n1\n");
        try (TestDatabase database = open()) {
            database.run("CREATE STREAM lost (v BIGINT) WITH (connector = 'file', path = '" + file + "')");
        }
        Files.delete(file);
        try (TestDatabase again = open()) {
            assertEquals("DROP STREAM", again.run("DROP STREAM lost"));
            assertEquals(List.of(), again.rows("SELECT name FROM millrace.not_restored"));
        }
        try (TestDatabase again = open()) {
            assertEquals(List.of(), again.rows("SELECT name FROM millrace.not_restored"));
            assertEquals("42P01", again.failure("DROP STREAM lost").sqlState().code());
        }
    }

    @Test
    void whatFailsIsNotKeptAndWhatItDidBeforeIs() {
        try (TestDatabase database = open()) {
            database.run("CREATE STREAM s (v BIGINT)");
            database.failure("CREATE STREAM s (v BIGINT)");
            database.failure("CREATE MATERIALIZED VIEW v AS SELECT nope FROM s");
            database.failure("CREATE SINK k FROM s WITH (connector = 'file', path = '" + folder + "', format = 'csv')");
        }
        try (TestDatabase again = open()) {
            assertEquals(1, again.database().catalog().objects().size());
            assertEquals(List.of(), again.database().notRestored());
        }
    }

    @Test
    void aDirectoryHasOneDatabaseAtATime() {
        try (TestDatabase first = open()) {
            MillraceException second = assertThrows(MillraceException.class, this::open);
            assertEquals("F0001", second.sqlState().code());
            assertEquals(
                    "the data directory " + folder.resolve("data") + " is in use by process "
                            + ProcessHandle.current().pid(),
                    second.getMessage());
            assertEquals(List.of("1"), first.rows("SELECT 1"));
        }
        open().close();
    }

    @Test
    void aLongHistoryIsMadeShort() throws IOException {
        try (TestDatabase database = open()) {
            database.run("CREATE STREAM s (v BIGINT)");
            for (int i = 0; i < 100; i++) {
                database.run("CREATE STREAM x (v BIGINT); DROP STREAM x");
            }
        }
        Path log = folder.resolve("data/catalog.log");
        assertEquals(203, Files.readString(log, StandardCharsets.UTF_8).lines().count());
        for (int round = 0; round < 2; round++) {
            try (TestDatabase again = open()) {
                assertEquals(1, again.database().catalog().objects().size());
            }
            assertEquals(
                    3, Files.readString(log, StandardCharsets.UTF_8).lines().count());
        }
    }

    /** The lock is there before definitions are. */
    @Test
    void aDirectoryThatWasBeingMadeWhenTheProcessEndedIsMade() throws IOException {
        Path data = Files.createDirectory(folder.resolve("data"));
        Files.writeString(data.resolve("lock"), "12\n");
        Files.writeString(data.resolve("catalog.log.new"), "millrace-cat");
        try (TestDatabase database = new TestDatabase(data)) {
            database.run("CREATE TABLE t (a BIGINT)");
        }
        try (TestDatabase database = new TestDatabase(data)) {
            assertEquals(List.of(), database.rows("SELECT * FROM t"));
        }
    }

    @Test
    void aDirectoryWithoutItsDefinitionsIsRefused() throws IOException {
        Path data = folder.resolve("lost");
        try (TestDatabase database = new TestDatabase(data)) {
            database.run("CREATE STREAM s (v BIGINT)");
        }
        Files.move(data.resolve("catalog.log"), folder.resolve("kept"));
        MillraceException refused = assertThrows(MillraceException.class, () -> new TestDatabase(data));
        assertEquals("XX001", refused.sqlState().code());
        assertTrue(refused.getMessage().contains("no catalog.log"), refused.getMessage());
        Files.move(folder.resolve("kept"), data.resolve("catalog.log"));
        try (TestDatabase database = new TestDatabase(data)) {
            assertEquals(1, database.rows("SHOW STREAMS").size());
        }
    }

    @Test
    void aDirectoryThatLostALineOfItsDefinitionsIsRefusedWithTheLine() throws IOException {
        try (TestDatabase database = open()) {
            database.run("CREATE STREAM s (v BIGINT); CREATE MATERIALIZED VIEW lost AS SELECT sum(v) AS v FROM s;"
                    + "CREATE STREAM t (v BIGINT)");
        }
        Path log = folder.resolve("data/catalog.log");
        List<String> lines = Files.readAllLines(log);
        for (int line = 1; line < lines.size(); line++) {
            List<String> fewer = new ArrayList<>(lines);
            fewer.remove(line);
            Files.write(log, fewer);
            for (int round = 0; round < 2; round++) {
                MillraceException refused = assertThrows(MillraceException.class, this::open);
                assertEquals("XX001", refused.sqlState().code());
                assertTrue(refused.getMessage().startsWith(log + " is damaged: "), refused.getMessage());
                assertTrue(refused.getMessage().contains("line "), refused.getMessage());
            }
        }
        Files.write(log, lines);
        try (TestDatabase again = open()) {
            assertEquals(3, again.database().catalog().objects().size());
        }
    }
}
