package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.engine.runtime.StandingQuery;
import dev.millrace.error.MillraceException;
import dev.millrace.planner.group.GroupForm;
import dev.millrace.server.catalog.CatalogObject;
import dev.millrace.server.group.QueryGroups;
import dev.millrace.server.planning.Plans;
import dev.millrace.server.storage.DataPlace;
import dev.millrace.storage.disk.Disk;
import dev.millrace.storage.simulation.SimulatedDisk;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Queries whose texts differ from known ones in constants are made without being parsed, and are what they would be. */
@Timeout(120)
class KnownFormsTest {
    private static final String STREAM =
            "CREATE STREAM readings (device TEXT, n INT, small SMALLINT, b BIGINT, temp DOUBLE PRECISION, r REAL, price NUMERIC(10, 2), kind VARCHAR(5),"
                    + " id UUID, at DATE, must TEXT NOT NULL)";

    /** So many of a form are made in the way of all: those that run by themselves, and the first members. */
    private static final int LEARNT = QueryGroups.APART + 2;

    @TempDir
    Path folder;

    private static String query(String name, String device, String above) {
        return "CREATE CONTINUOUS QUERY " + name + " AS SELECT n, temp FROM readings WHERE device = '" + device
                + "' AND temp > " + above;
    }

    private static void learn(TestDatabase db) {
        for (int i = 0; i < LEARNT; i++) {
            db.run(query("learnt_" + i, "none", Integer.toString(i)));
        }
    }

    private static Optional<StandingQuery> standing(TestDatabase db, String name) {
        return db.database().instance().standing(name);
    }

    private static boolean isMember(TestDatabase db, String name) {
        return standing(db, name).flatMap(StandingQuery::group).isPresent();
    }

    /** How many statements were analysed and planned meanwhile. */
    private static long thought(TestDatabase db, Runnable action) {
        Plans plans = db.database().instance().plans();
        long before = plans.analyses();
        action.run();
        return plans.analyses() - before;
    }

    @Test
    void aQueryLikeOthersIsNotAnalysedAndIsToldItsRows() {
        try (TestDatabase db = new TestDatabase(2)) {
            db.run(STREAM);
            learn(db);
            assertEquals(0, thought(db, () -> {
                db.run(query("x", "x", "10"));
                db.run(query("\"It''s 1\"", "it''s", "-3") + ";");
            }));
            assertEquals(1, thought(db, () -> db.run(query("decimals", "x", "10.5")))); // other types of constants
            assertTrue(isMember(db, "x") && isMember(db, "It''s 1") && isMember(db, "decimals"));
            try (Heard x = new Heard(db, "x");
                    Heard its = new Heard(db, "\"It''s 1\"")) {
                db.run(
                        "INSERT INTO readings (device, n, temp, must) VALUES ('x', 1, 10, ''), ('x', 2, 11, ''), ('it''s', 3, -2.5, ''), ('it''s', 4, -3, ''); FLUSH");
                assertEquals(Map.of("2|11", 1L), x.all());
                assertEquals(Map.of("3|-2.5", 1L), its.all());
            }
            assertEquals(query("x", "x", "10"), object(db, "x").definition());
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "n FROM readings WHERE device = ?text AND temp > ?int",
                "n FROM readings WHERE must = ?text AND temp >= ?decimal",
                "n FROM readings WHERE n BETWEEN ?int AND ?int",
                "n FROM readings WHERE temp BETWEEN ?int AND ?decimal AND device <> ?text",
                "n FROM readings WHERE small > ?int AND r < ?int AND b = ?int",
                "n FROM readings WHERE price > ?decimal AND device = ?text",
                "n FROM readings WHERE price = ?int AND n > ?decimal",
                "n FROM readings WHERE kind = ?text AND id = ?uuid",
                "n FROM readings WHERE at > ?date AND device = ?text",
                "n FROM readings WHERE (n > ?int OR temp < ?decimal) AND device = ?text",
                "?text AS rule, ?int AS level, n * 2 AS m FROM readings WHERE device = ?text AND n > ?int AND n > ?int",
                "n, CASE WHEN n > ?int THEN 'high' ELSE 'low' END AS c FROM readings WHERE device = ?text",
                "n FROM readings WHERE device = ?text AND device LIKE 'a%' AND n IN (1, 2) AND temp + 1 > ?decimal",
                "n FROM readings WHERE device = ?text AND coalesce(n, 5) = ?int AND NOT n < ?int",
                "n FROM readings WHERE device = upper('a') AND n > ?int AND ?int < 5",
                "n FROM readings AS s WHERE s.device = ?text EMIT CHANGES",
                "n FROM (SELECT n, device FROM readings WHERE n > ?int) q WHERE device = ?text",
            })
    void literalsAreThoseThatThePlannerWouldFind(String select) {
        Random random = new Random(select.hashCode());
        try (TestDatabase db = new TestDatabase(2)) {
            db.run(STREAM);
            for (int i = 0; i < 60; i++) {
                String text = " AS SELECT " + filled(select, random);
                String create = "CREATE " + (i % 2 == 0 ? "CONTINUOUS QUERY" : "MATERIALIZED VIEW");
                String alone = outcome(db, "SET query_groups = off", create + " alone_" + i + text);
                String member = outcome(db, "SET query_groups = on", create + " member_" + i + text);
                assertEquals(alone.replace("alone_", ""), member.replace("member_", ""), text);
                if (standing(db, "member_" + i).isPresent()) {
                    assertEquals(form(db, "alone_" + i), form(db, "member_" + i), text);
                    assertEquals(
                            object(db, "alone_" + i).schema(),
                            object(db, "member_" + i).schema(),
                            text);
                    assertEquals(
                            object(db, "alone_" + i).kind(),
                            object(db, "member_" + i).kind());
                    assertTrue(object(db, "member_" + i).appendOnly());
                }
            }
        }
    }

    private static String outcome(TestDatabase db, String setting, String create) {
        try {
            return db.run(setting + ";" + create);
        } catch (MillraceException e) {
            return e.toString();
        }
    }

    private static Optional<GroupForm> form(TestDatabase db, String name) {
        return GroupForm.of(standing(db, name).orElseThrow().plan());
    }

    private static CatalogObject object(TestDatabase db, String name) {
        return db.database().catalog().object(name).orElseThrow();
    }

    /** Names, owners, definitions and when they were made. */
    private static List<String> objects(TestDatabase db) {
        return db.database().catalog().objects().stream()
                .map(object -> object.name() + "|" + owner(db, object.name()) + "|" + object.definition() + "|"
                        + object.createdMicros())
                .toList();
    }

    private static String owner(TestDatabase db, String name) {
        return db.database().catalog().roles().owner(name);
    }

    private static String filled(String select, Random random) {
        StringBuilder text = new StringBuilder();
        int at = 0;
        for (int next = select.indexOf('?'); next >= 0; next = select.indexOf('?', at)) {
            int end = next + 1;
            while (end < select.length() && Character.isLetter(select.charAt(end))) {
                end++;
            }
            text.append(select, at, next).append(constant(select.substring(next + 1, end), random));
            at = end;
        }
        return text.append(select.substring(at)).toString();
    }

    private static String constant(String kind, Random random) {
        List<String> some = switch (kind) {
            case "text" -> List.of("'a'", "''", "'it''s'", "E'a\\tb'", "'longer than five'", "'\u00e4'");
            case "int" -> List.of("0", "-1", "7", "40000", "-3000000000", "9007199254740993", "16777217");
            case "decimal" -> List.of("0.5", "-.25", "75.50", "1234567.891", "0.1", "12.", "99999999.99");
            case "uuid" ->
                List.of(
                        "'7f8d0c1e-0000-4000-8000-0123456789ab'",
                        "'7F8D0C1E-0000-4000-8000-0123456789AB'",
                        "'no uuid'");
            case "date" -> List.of("'2026-11-30'", "'today'", "'2026-02-30'");
            default -> throw new IllegalArgumentException(kind);
        };
        return some.get(random.nextInt(some.size()));
    }

    @Test
    void aStreamOfAnotherKindOrAFunctionOfTheNameMakesOthersOfThem() {
        try (TestDatabase db = new TestDatabase(2)) {
            db.run("CREATE STREAM s (device TEXT, n INT)");
            for (int i = 0; i < LEARNT; i++) {
                db.run("CREATE CONTINUOUS QUERY q" + i + " AS SELECT n FROM s WHERE device = '" + i + "' AND n > 1");
            }
            String next = "CREATE CONTINUOUS QUERY next AS SELECT n FROM s WHERE device = '1' AND n > 1";
            assertEquals(0, thought(db, () -> db.run(next)));
            db.run("DROP STREAM s CASCADE; CREATE STREAM s (device INT, n TEXT)");
            assertTrue(db.error(next).startsWith("42883 "), db.error(next));
            assertTrue(db.error(next.replace("s WHERE", "t WHERE")).startsWith("42P01 "));
        }
    }

    @Test
    void namesAreRefusedAsTheyAlwaysWere() {
        try (TestDatabase db = new TestDatabase(2)) {
            db.run(STREAM);
            learn(db);
            db.run(query("x", "x", "1"));
            assertEquals("42P07 relation \"x\" already exists", db.error(query("x", "y", "2")));
            assertTrue(db.error(query("readings", "y", "2")).startsWith("42P07 "));
            assertTrue(db.error(query("\"millrace.x\"", "y", "2")).startsWith("42602 ")); // it has a point
            db.run("DROP CONTINUOUS QUERY x");
            db.run(query("x", "y", "2"));
            assertTrue(isMember(db, "x"));
        }
    }

    @Test
    void rightsLimitsAndSettingsAreAskedForEachTime() {
        try (TestDatabase db = new TestDatabase(2)) {
            db.run(STREAM);
            learn(db);
            db.run("CREATE ROLE ann; SET ROLE ann");
            assertTrue(db.error(query("x", "x", "1")).startsWith("42501 "));
            db.run("RESET ROLE; GRANT CREATE ON SCHEMA public TO ann; GRANT SELECT ON readings TO ann; SET ROLE ann");
            assertEquals(0, thought(db, () -> db.run(query("x", "x", "1"))));
            db.run("RESET ROLE; ALTER ROLE ann SET max_queries = 2; SET ROLE ann");
            db.run(query("y", "y", "1"));
            assertTrue(db.error(query("z", "z", "1")).startsWith("53400 "));
            db.run("RESET ROLE");
            assertEquals(List.of("x", "y"), db.database().catalog().roles().ownedBy("ann"));
            db.run("SET row_timeout = '3s'");
            assertEquals(1, thought(db, () -> db.run(query("slow", "x", "1"))));
            assertFalse(isMember(db, "slow"));
            db.run("RESET row_timeout; SET transaction_read_only = on");
            assertTrue(db.error(query("z", "z", "1")).startsWith("25006 "));
            db.run("SET transaction_read_only = off; SET timezone = 'Europe/Berlin'");
            db.run(query("z", "z", "1"));
            assertTrue(db.notices().get(db.notices().size() - 1).startsWith("it computes in UTC"));
        }
    }

    @Test
    void aDatabaseThatIsOpenedAgainMakesThemSoAsWell() {
        List<String> before;
        try (TestDatabase db = new TestDatabase(folder)) {
            db.run(STREAM + "; CREATE ROLE ann; GRANT CREATE ON SCHEMA public TO ann; GRANT SELECT ON readings TO ann");
            learn(db);
            db.run("SET ROLE ann");
            for (int i = 0; i < 50; i++) {
                db.run(query("q" + i, "d" + i, Integer.toString(i)));
            }
            db.run("RESET ROLE; DROP CONTINUOUS QUERY q7; CREATE MATERIALIZED VIEW of_q8 AS SELECT n FROM q8");
            before = objects(db);
        }
        for (int round = 0; round < 2; round++) {
            try (TestDatabase db = new TestDatabase(folder)) {
                assertEquals(before, objects(db));
                assertTrue(db.database().instance().plans().analyses() < 30);
                assertTrue(isMember(db, "q6") && isMember(db, "q49") && !isMember(db, "q8"));
                try (Heard q6 = new Heard(db, "q6")) {
                    db.run(
                            "INSERT INTO readings (device, n, temp, must) VALUES ('d6', 1, 6.5, ''), ('d6', 2, 6, ''), ('d9', 3, 90, ''); FLUSH");
                    assertEquals(Map.of("1|6.5", 1L), q6.all());
                }
                db.run("CHECKPOINT");
            }
        }
    }

    @Test
    void viewsAreMadeSoAsWellAndOpenedAgainWithTheirRows() {
        String having =
                " AS SELECT device, count(*) AS n FROM readings WHERE device = '%s' AND temp > 5 GROUP BY device";
        List<String> before;
        try (TestDatabase db = new TestDatabase(folder)) {
            db.run(STREAM);
            for (int i = 0; i < LEARNT; i++) {
                db.run("CREATE MATERIALIZED VIEW learnt_" + i + String.format(having, "none" + i));
                db.run("CREATE CONTINUOUS QUERY query_" + i + String.format(having, "none" + i));
            }
            assertEquals(0, thought(db, () -> {
                for (int i = 0; i < 20; i++) {
                    db.run("CREATE MATERIALIZED VIEW v" + i + String.format(having, "d" + i));
                    db.run("CREATE CONTINUOUS QUERY q" + i + String.format(having, "d" + i));
                }
            }));
            assertTrue(isMember(db, "v3") && isMember(db, "q3"));
            db.run(
                    "INSERT INTO readings (device, temp, must) VALUES ('d3', 6, ''), ('d3', 5, ''), ('d3', 7, ''), ('d4', 8, ''); FLUSH");
            assertEquals(List.of("d3|2"), db.rows("SELECT device, n FROM v3"));
            assertEquals(object(db, "learnt_0").primaryKey(), object(db, "v3").primaryKey());
            db.run("CHECKPOINT; INSERT INTO readings (device, temp, must) VALUES ('d4', 9, ''); FLUSH");
            before = objects(db);
        }
        for (int round = 0; round < 2; round++) {
            try (TestDatabase db = new TestDatabase(folder)) {
                assertEquals(before, objects(db));
                assertTrue(db.database().instance().plans().analyses() < 60);
                assertTrue(isMember(db, "v3") && isMember(db, "q19"));
                assertEquals(List.of("d3|2"), db.rows("SELECT device, n FROM v3"));
                db.run("DROP MATERIALIZED VIEW v3; CREATE MATERIALIZED VIEW v3" + String.format(having, "d3"));
                assertEquals(List.of(), db.rows("SELECT device, n FROM v3"));
                db.run("INSERT INTO readings (device, temp, must) VALUES ('d3', 6, ''), ('d3', 8, ''); FLUSH");
                assertEquals(List.of("d3|2"), db.rows("SELECT device, n FROM v3"));
                before = objects(db);
            }
        }
    }

    @Test
    void sessionsThatMakeThemAtTheSameTimeHaveAllOfThem() throws InterruptedException {
        int clients = 8;
        int each = 40;
        try (TestDatabase db = new TestDatabase(folder)) {
            db.run(STREAM);
            learn(db);
            List<String> failures = Collections.synchronizedList(new ArrayList<>());
            List<Thread> threads = new ArrayList<>();
            for (int client = 0; client < clients; client++) {
                int number = client;
                threads.add(new Thread(() -> {
                    try (Session session = db.database().session()) {
                        for (int i = 0; i < each; i++) {
                            make(session, query("c" + number + "_" + i, "d", Integer.toString(i)), failures);
                            make(session, query("same_" + i, "d", Integer.toString(i)), failures);
                        }
                    }
                }));
            }
            threads.forEach(Thread::start);
            for (Thread thread : threads) {
                thread.join();
            }
            assertEquals((clients - 1) * each, failures.size());
            assertTrue(failures.stream().allMatch(failure -> failure.contains("already exists")), failures.toString());
        }
        try (TestDatabase db = new TestDatabase(folder)) {
            for (int i = 0; i < each; i++) {
                assertTrue(isMember(db, "same_" + i));
                for (int client = 0; client < clients; client++) {
                    assertTrue(isMember(db, "c" + client + "_" + i));
                }
            }
        }
    }

    private static void make(Session session, String create, List<String> failures) {
        try {
            session.execute(create).drain();
        } catch (MillraceException e) {
            failures.add(e.toString());
        }
    }

    @Test
    void whatCannotBeKeptIsNotThere() {
        SimulatedDisk disk = new SimulatedDisk(1);
        DataPlace place = () -> new DataPlace.Taken() {
            @Override
            public Disk disk() {
                return disk;
            }

            @Override
            public void close() {}
        };
        try (TestDatabase db = new TestDatabase(place)) {
            db.run(STREAM);
            learn(db);
            db.run(query("x", "x", "1"));
            disk.chances().forceErrorOneIn = 1;
            assertTrue(db.error(query("y", "y", "1")).startsWith("58030 "));
            assertTrue(standing(db, "y").isEmpty());
            assertTrue(db.database().catalog().object("y").isEmpty());
            disk.calm();
            db.run(query("y", "y", "2"));
            assertTrue(isMember(db, "y"));
            db.run("DROP CONTINUOUS QUERY x");
        }
        try (TestDatabase db = new TestDatabase(place)) {
            assertTrue(standing(db, "x").isEmpty());
            assertEquals(query("y", "y", "2"), object(db, "y").definition());
            assertTrue(isMember(db, "y"));
        }
    }

    @Test
    void whoIsStoppedWhileItWaitsMakesNothing() throws InterruptedException {
        try (TestDatabase db = new TestDatabase(2)) {
            db.run(STREAM);
            learn(db);
            List<String> failures = Collections.synchronizedList(new ArrayList<>());
            db.database().instance().definitionLock().lock();
            try {
                Thread waits = new Thread(() -> {
                    try (Session session = db.database().session()) {
                        session.execute("SET statement_timeout = '50ms'").drain();
                        make(session, query("x", "x", "1"), failures);
                    }
                });
                waits.start();
                waits.join();
            } finally {
                db.database().instance().definitionLock().unlock();
            }
            assertEquals(1, failures.size());
            assertTrue(failures.get(0).contains("timeout"), failures.toString());
            assertTrue(standing(db, "x").isEmpty());
            db.run(query("x", "x", "2"));
            assertEquals(query("x", "x", "2"), object(db, "x").definition());
        }
    }

    @Test
    void ownersOutliveALogThatIsWrittenAnew() {
        try (TestDatabase db = new TestDatabase(folder)) {
            db.run(STREAM + "; CREATE ROLE ann; GRANT CREATE ON SCHEMA public TO ann; GRANT SELECT ON readings TO ann");
            db.run("SET ROLE ann; CREATE CONTINUOUS QUERY hers AS SELECT n FROM readings; RESET ROLE");
            for (int i = 0; i < 100; i++) {
                db.run("CREATE VIEW v AS SELECT 1 AS a; DROP VIEW v");
            }
        }
        for (int round = 0; round < 2; round++) {
            try (TestDatabase db = new TestDatabase(folder)) {
                assertEquals("ann", owner(db, "hers"));
            }
        }
    }
}
