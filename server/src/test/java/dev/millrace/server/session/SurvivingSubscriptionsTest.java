package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.batch.Batch;
import dev.millrace.engine.subscription.EpochChanges;
import dev.millrace.error.MillraceException;
import dev.millrace.server.operation.FullDirectory;
import dev.millrace.server.result.StatementResult;
import dev.millrace.server.result.StatementResults;
import dev.millrace.testing.time.Eventually;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Who subscribed goes on behind what it saw, after closing and after the process was gone: nothing missing, nothing twice. */
@Tag("long")
class SurvivingSubscriptionsTest {
    private static final long SEED = Long.getLong("millrace.subscriptions.seed", 1);
    private static final int ROUNDS = Integer.getInteger("millrace.subscriptions.rounds", 5);
    private static final int MOST_WAITS = 600; // of a tenth of a second

    @TempDir
    Path folder;

    private TestDatabase open() {
        return open("data");
    }

    private TestDatabase open(String name) {
        return new TestDatabase(folder.resolve(name));
    }

    /** What a process that is killed now leaves: the files as they are. */
    private void crashed(String name, String as) {
        Path from = folder.resolve(name);
        Path to = folder.resolve(as);
        DirectoryImage.copy(from, to);
    }

    /** A client that adds up what it is told, and knows how far that is. */
    private static final class Client {
        private final Map<String, Integer> rows = new TreeMap<>();
        private final List<String> changes = new ArrayList<>(); // as they came
        private OptionalLong seen = OptionalLong.empty();

        /** Subscribes, behind what it saw if it saw something, and reads until there is what was asked for. */
        void read(TestDatabase database, String what, Enough enough) {
            try (Session session = database.database().session();
                    StatementResult.Changes changes = session.subscribe("SUBSCRIBE TO " + what, seen)) {
                for (int waits = 0; !enough.is(this); waits++) {
                    assertTrue(waits < MOST_WAITS && !changes.isFinished(), () -> "only " + rows + ", seed " + SEED);
                    take(changes.next(100_000));
                }
            }
        }

        /** Subscribes, and reads what is told soon. */
        void readSome(TestDatabase database, String what, int epochs) {
            try (Session session = database.database().session();
                    StatementResult.Changes changes = session.subscribe("SUBSCRIBE TO " + what, seen)) {
                for (int i = 0; i < epochs; i++) {
                    take(changes.next(20_000));
                }
            }
        }

        private void take(Optional<EpochChanges> next) {
            if (next.isEmpty()) {
                return;
            }
            try (EpochChanges epoch = next.get()) {
                assertTrue(seen.isEmpty() || epoch.epochMicros() > seen.getAsLong(), "times grow");
                seen = OptionalLong.of(epoch.epochMicros());
                for (Batch batch : epoch.batches()) {
                    for (int row = 0; row < batch.rowCount(); row++) {
                        long weight = batch.weights().isPresent()
                                ? batch.weights().get().get(row)
                                : 1;
                        String text = TestDatabase.text(batch, row);
                        changes.add((weight < 0 ? "-" : "+") + text);
                        rows.merge(text, (int) weight, Integer::sum);
                        rows.remove(text, 0);
                    }
                }
            }
            rows.forEach(
                    (row, count) -> assertTrue(count > 0, () -> row + " went " + -count + " times more than it came"));
        }

        boolean has(List<String> wanted) {
            List<String> all = new ArrayList<>();
            rows.forEach((row, count) -> {
                for (int i = 0; i < count; i++) {
                    all.add(row);
                }
            });
            return all.equals(wanted);
        }
    }

    private interface Enough {
        boolean is(Client client);
    }

    private static void table(TestDatabase database) {
        database.run("CREATE TABLE t (k INT PRIMARY KEY, v BIGINT);"
                + " CREATE MATERIALIZED VIEW sums AS SELECT k % 5 AS g, sum(v) AS v FROM t GROUP BY k % 5");
    }

    /** Also of a query over it: what came while it was stopped is told when it is resumed, once. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void rowsThatStopAQueryMakeNoGap(boolean restarts) {
        List<Client> clients = List.of(new Client(), new Client(), new Client());
        List<String> what = List.of("d", "v", "above");
        TestDatabase database = open();
        try {
            database.run("CREATE STREAM s (k INT, n INT);"
                    + " CREATE MATERIALIZED VIEW v AS SELECT k, sum(100 / n) AS q FROM s GROUP BY k;"
                    + " CREATE MATERIALIZED VIEW above AS SELECT k, q + 1 AS q FROM v;"
                    + " CREATE SUBSCRIPTION d FROM v; CREATE SUBSCRIPTION e FROM above;"
                    + " INSERT INTO s VALUES (1, 10), (2, 20)");
            for (int i = 0; i < 3; i++) {
                int more = i / 2;
                clients.get(i)
                        .read(
                                database,
                                what.get(i) + " WITH (SNAPSHOT)",
                                all -> all.has(List.of("1|" + (10 + more), "2|" + (5 + more))));
            }
            for (int round = 1; round <= 2; round++) {
                try (Session session = database.database().session();
                        StatementResult.Changes open = session.subscribe("SUBSCRIBE TO d", clients.get(0).seen)) {
                    database.run("INSERT INTO s VALUES (1, 0), (1, 5); INSERT INTO s VALUES (2, 4); FLUSH");
                    MillraceException why = assertThrows(MillraceException.class, () -> {
                        for (int waits = 0; waits < MOST_WAITS; waits++) {
                            open.next(100_000).ifPresent(EpochChanges::close);
                        }
                    });
                    assertTrue(why.getMessage().contains("division by zero"), why.getMessage());
                }
                for (String name : what) {
                    assertTrue(database.error("SUBSCRIBE TO " + name).startsWith("22012 "), name);
                }
                TestDatabase stopped = database;
                Eventually.holds(
                        "it is said",
                        () -> stopped.rows("SELECT name, state FROM millrace.subscriptions")
                                .equals(List.of("d|stopped", "e|stopped")));
                if (restarts) {
                    crashed(round == 1 ? "data" : "lost1", "lost" + round);
                    database.close();
                    database = open("lost" + round);
                    assertTrue(database.error("SUBSCRIBE TO d").startsWith("22012 "));
                }
                database.run("RESUME MATERIALIZED VIEW v SKIP ROW; INSERT INTO s VALUES (3, 1)");
                for (int i = 0; i < 3; i++) {
                    int more = i / 2;
                    List<String> all = List.of(
                            "1|" + (10 + 20 * round + more),
                            "2|" + (5 + 25 * round + more),
                            "3|" + (100 * round + more));
                    clients.get(i).read(database, what.get(i), client -> client.has(all));
                }
            }
            assertEquals(
                    List.of("d|active", "e|active"), database.rows("SELECT name, state FROM millrace.subscriptions"));
        } finally {
            database.close();
        }
    }

    /** Its former rows are gone, and subscribers are told so; also where the database was opened with it failed. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void whoSubscribedToAQueryThatBeginsAnewGoesOn(boolean restarts) {
        Client client = new Client();
        TestDatabase database = open();
        try {
            database.run(
                    "CREATE STREAM s (n INT); CREATE MATERIALIZED VIEW v WITH (memory_limit = '4MB', spill_limit = '4MB')"
                            + " AS SELECT n, count(*) AS c FROM s GROUP BY n;"
                            + " CREATE SUBSCRIPTION d FROM v; INSERT INTO s VALUES (1), (2)");
            client.read(database, "d WITH (SNAPSHOT)", all -> all.has(List.of("1|1", "2|1")));
            for (int round = 3; round < 5; round++) {
                database.run("INSERT INTO s SELECT i FROM generate_series(1, 1000000) g(i); FLUSH");
                assertTrue(database.error("SUBSCRIBE TO d").startsWith("53400 "));
                if (restarts && round == 3) {
                    database.run("CHECKPOINT");
                    database.close();
                    database = open();
                    assertTrue(database.error("SUBSCRIBE TO d").startsWith("53400 "));
                }
                database.run("RESUME MATERIALIZED VIEW v; INSERT INTO s VALUES (" + round + ")");
                List<String> rows = List.of(round + "|1");
                client.read(database, "d", all -> all.has(rows));
                assertEquals(rows, database.rows("SELECT * FROM v"));
                assertEquals(List.of("d|active"), database.rows("SELECT name, state FROM millrace.subscriptions"));
                if (restarts) {
                    database.close();
                    database = open();
                    client.read(database, "d", all -> all.has(rows));
                }
            }
        } finally {
            database.close();
        }
    }

    private static final String STATE = "SELECT name, query, state, waiting_bytes > 0 FROM millrace.subscriptions";

    @Test
    void whatWasNotAcknowledgedIsToldAfterClosing() {
        Client client = new Client();
        try (TestDatabase database = open()) {
            table(database);
            database.run("CREATE SUBSCRIPTION s FROM sums");
            database.run("INSERT INTO t VALUES (1, 10)");
            client.read(database, "s", self -> self.changes.contains("+1|10"));
            database.run("ALTER SUBSCRIPTION s ACKNOWLEDGE $1::timestamptz", time(client));
            assertEquals(List.of("s|sums|active|f"), database.rows(STATE));
            database.run("UPDATE t SET v = 11");
            assertEquals(List.of("1|11"), database.rows("SELECT * FROM sums"));
        }
        try (TestDatabase again = open()) {
            Client other = new Client(); // which knows only the name
            other.rows.putAll(client.rows);
            other.read(again, "s", self -> self.has(List.of("1|11")));
            assertEquals(List.of("-1|10", "+1|11"), sortedByGoing(other.changes));
            assertEquals(List.of("s|sums|active|t"), again.rows(STATE));
            again.run("ALTER SUBSCRIPTION s ACKNOWLEDGE $1::timestamptz", time(other));
            assertEquals(List.of("s|sums|active|f"), again.rows(STATE));
            assertEquals("42704 subscription \"x\" does not exist", again.error("DROP SUBSCRIPTION x"));
            again.run("DROP SUBSCRIPTION s; DROP SUBSCRIPTION IF EXISTS s");
            assertEquals(List.of(), again.rows(STATE));
        }
        try (TestDatabase third = open()) {
            assertEquals(List.of(), third.rows(STATE));
            third.run("CREATE SUBSCRIPTION s FROM sums; INSERT INTO t VALUES (2, 20)");
            Client fresh = new Client();
            fresh.read(third, "s", self -> self.has(List.of("2|20")));
        }
    }

    private static String time(Client client) {
        long micros = client.seen.orElseThrow();
        return Instant.EPOCH.plus(micros, ChronoUnit.MICROS).toString();
    }

    private static List<String> sortedByGoing(List<String> changes) {
        return changes.stream()
                .sorted((a, b) -> b.substring(0, 1).compareTo(a.substring(0, 1)))
                .toList();
    }

    /** What was made before the process ended, and not told, is told by comparing; it need not be told change by change. */
    @Test
    void whatTheLogHasNotHeardOfIsFoundByComparing() throws IOException {
        Client client = new Client();
        try (TestDatabase database = open()) {
            table(database);
            database.run("CREATE SUBSCRIPTION s FROM sums; INSERT INTO t VALUES (1, 1), (2, 2), (3, 3)");
            client.read(database, "s", self -> self.has(List.of("1|1", "2|2", "3|3")));
        }
        Map<String, byte[]> unheardOf = FullDirectory.files(folder.resolve("data"));
        unheardOf.keySet().removeIf(name -> !name.startsWith("changes/") && !name.startsWith("catalog."));
        try (TestDatabase unheard = open()) {
            unheard.run(
                    "UPDATE t SET v = 20 WHERE k = 2; DELETE FROM t WHERE k = 3; INSERT INTO t VALUES (4, 4), (6, 6)");
        }
        FullDirectory.delete(folder.resolve("data/changes"));
        FullDirectory.write(folder.resolve("data"), unheardOf);
        try (TestDatabase again = open()) {
            int before = client.changes.size();
            client.read(again, "sums", self -> self.has(List.of("1|7", "2|20", "4|4")));
            assertEquals(6, client.changes.size() - before, "each once: " + client.changes);
        }
    }

    @Test
    void oneThatIsKilledAgainAndAgainTellsEachChangeOnce() {
        Random random = new Random(SEED);
        Client byName = new Client();
        Client byTime = new Client();
        String name = "data";
        try (TestDatabase database = open(name)) {
            table(database);
            database.run("CREATE SUBSCRIPTION s FROM sums");
            byTime.read(database, "sums WITH (SNAPSHOT)", self -> self.seen.isPresent());
        }
        for (int round = 0; round < ROUNDS; round++) {
            try (TestDatabase database = open(name)) {
                for (int step = 0; step < 30; step++) {
                    change(database, random);
                    if (random.nextInt(4) == 0) {
                        byTime.readSome(database, "sums WITH (PROGRESS)", random.nextInt(4));
                    }
                    if (random.nextInt(4) == 0) {
                        byName.readSome(database, "s", random.nextInt(4));
                    }
                }
                if (random.nextBoolean()) {
                    List<String> now = database.rows("SELECT * FROM sums");
                    byName.read(database, "s", self -> self.has(now));
                    byTime.read(database, "sums WITH (PROGRESS)", self -> self.has(now));
                }
                if (random.nextInt(3) > 0) {
                    crashed(name, name + round);
                    name = name + round;
                }
            }
        }
        try (TestDatabase database = open(name)) {
            List<String> now = database.rows("SELECT * FROM sums");
            byName.read(database, "s", self -> self.has(now));
            byTime.read(database, "sums WITH (PROGRESS)", self -> self.has(now));
        }
    }

    private static void change(TestDatabase database, Random random) {
        int key = random.nextInt(40);
        switch (random.nextInt(3)) {
            case 0 -> database.run("DELETE FROM t WHERE k = " + key);
            case 1 -> database.run("UPDATE t SET v = v + 1 WHERE k % 7 = " + key % 7);
            default ->
                database.run("INSERT INTO t VALUES (" + key + ", " + random.nextInt(1000)
                        + ") ON CONFLICT (k) DO UPDATE SET v = excluded.v");
        }
    }

    @Test
    void aViewOverAStreamGoesOnToo() {
        Client client = new Client();
        try (TestDatabase database = open()) {
            database.run(
                    "CREATE STREAM s (a INT); CREATE MATERIALIZED VIEW n AS SELECT count(*) AS n FROM s WHERE a > 0;"
                            + " CREATE SUBSCRIPTION told FROM n; INSERT INTO s VALUES (1), (-1), (1)");
            client.rows.put("0", 1); // which was there before
            client.read(database, "told", self -> self.has(List.of("2")));
            database.run("CHECKPOINT; INSERT INTO s VALUES (2)");
            crashed("data", "left");
        }
        try (TestDatabase again = open("left")) {
            client.read(again, "told", self -> self.has(List.of("3")));
            again.run("INSERT INTO s VALUES (3)");
            client.read(again, "told", self -> self.has(List.of("4")));
        }
    }

    @Test
    void whatIsMoreThanTheLimitBreaksTheSubscriptionAndSaysSo() {
        String broken = "55000 subscription \"small\" is broken: more than 1024 bytes of changes were not acknowledged";
        try (TestDatabase database = open()) {
            table(database);
            database.run(
                    "CREATE SUBSCRIPTION small FROM sums WITH (limit = '1kB'); CREATE SUBSCRIPTION large FROM sums");
            for (int i = 0; i < 40; i++) {
                database.run("INSERT INTO t VALUES (" + i + ", " + i + ")");
                database.rows("SELECT * FROM sums"); // so that each is a change of its own
            }
            Client client = new Client();
            List<String> all = List.of("0|140", "1|148", "2|156", "3|164", "4|172");
            client.read(database, "large", self -> self.has(all));
            assertTrue(error(database, "small").startsWith(broken), error(database, "small"));
            assertEquals(
                    List.of("large|active|f", "small|broken|t"),
                    database.rows("SELECT name, state, reason IS NOT NULL FROM millrace.subscriptions"));
        }
        try (TestDatabase again = open()) {
            assertTrue(error(again, "small").startsWith(broken), error(again, "small"));
            assertTrue(again.error("ALTER SUBSCRIPTION small ACKNOWLEDGE '2030-01-01 00:00Z'")
                    .startsWith("55000"));
            again.run("DROP SUBSCRIPTION small");
            Client client = new Client();
            client.read(again, "large", self -> self.has(again.rows("SELECT * FROM sums")));
        }
    }

    private static String error(TestDatabase database, String subscription) {
        try {
            new Client().readSome(database, subscription, 1);
            return "none";
        } catch (MillraceException e) {
            return e.sqlState().code() + " " + e.getMessage();
        }
    }

    /** What is not needed goes from disk, and who comes too late hears of it, before and after a restart. */
    @Test
    void aHistoryIsBoundedAndSaysWhatItDoesNotReach() throws IOException {
        Client late = new Client();
        Client current = new Client();
        List<String> now;
        Set<String> first = new HashSet<>();
        try (TestDatabase database = open()) {
            database.run("CREATE TABLE big (k INT PRIMARY KEY, x TEXT);"
                    + " CREATE MATERIALIZED VIEW v AS SELECT k, md5(x) AS h, x FROM big; CREATE SUBSCRIPTION s FROM v");
            for (int i = 0; i < 24; i++) {
                database.run(
                        "INSERT INTO big SELECT 1, string_agg(md5(random()::text || g), '') FROM generate_series(1, 32000) g"
                                + " ON CONFLICT (k) DO UPDATE SET x = excluded.x");
                current.readSome(database, "s", 2);
                if (i == 1) {
                    late.seen = current.seen;
                    first.addAll(segments());
                }
            }
            now = database.rows("SELECT * FROM v");
            List<String> last = now;
            current.read(database, "s", self -> self.has(last));
            assertTrue(error(late, database).startsWith("72000 what \"v\" changed since then is no longer kept"));
        }
        Set<String> left = segments();
        assertTrue(left.stream().noneMatch(first::contains), () -> "the first are still there: " + left);
        try (TestDatabase again = open()) {
            assertTrue(error(late, again).startsWith("72000"));
            List<String> last = now;
            Client anew = new Client();
            anew.read(again, "v WITH (SNAPSHOT)", self -> self.has(last));
            assertEquals(1, anew.changes.size());
            again.run("DELETE FROM big");
            current.read(again, "s", self -> self.has(List.of()));
            anew.read(again, "v", self -> self.has(List.of()));
        }
    }

    private static String error(Client client, TestDatabase database) {
        try {
            client.readSome(database, "v", 1);
            return "none";
        } catch (MillraceException e) {
            return e.sqlState().code() + " " + e.getMessage();
        }
    }

    private Set<String> segments() throws IOException {
        try (Stream<Path> files = Files.list(folder.resolve("data/changes/1"))) {
            return files.map(file -> file.getFileName().toString())
                    .filter(name -> name.matches(".*\\d{12}.*"))
                    .collect(Collectors.toSet());
        }
    }

    @Test
    void whatCannotBeToldAgainIsRefusedAndNamesAreOnesOwn() {
        try (TestDatabase database = open()) {
            table(database);
            database.run("CREATE CONTINUOUS QUERY q AS SELECT k FROM t");
            assertTrue(database.error("CREATE SUBSCRIPTION s FROM t").startsWith("0A000"));
            assertTrue(database.error("CREATE SUBSCRIPTION s FROM q").startsWith("0A000"));
            assertTrue(database.error("CREATE SUBSCRIPTION s FROM nobody").startsWith("42P01"));
            assertTrue(database.error("CREATE SUBSCRIPTION t FROM sums").startsWith("42710"));
            database.run("CREATE SUBSCRIPTION s FROM sums; CREATE SUBSCRIPTION IF NOT EXISTS s FROM sums");
            assertTrue(database.error("CREATE SUBSCRIPTION s FROM sums").startsWith("42710"));
            assertTrue(database.error("CREATE TABLE s (a INT)").startsWith("42710"));
            assertTrue(database.error("DROP MATERIALIZED VIEW sums").startsWith("2BP01"));
            assertTrue(database.error("DROP TABLE t").startsWith("2BP01"));
            assertEquals(List.of("s|sums|active|f"), database.rows(STATE));
            database.run("DROP TABLE t CASCADE");
            assertEquals(List.of(), database.rows(STATE));
            table(database);
            database.run("CREATE SUBSCRIPTION s FROM sums; INSERT INTO t VALUES (1, 1)");
            Client client = new Client();
            client.read(database, "s", self -> self.has(List.of("1|1")));
        }
        try (TestDatabase memory = new TestDatabase()) { // without a directory they last as long as the database
            table(memory);
            memory.run("CREATE SUBSCRIPTION s FROM sums; INSERT INTO t VALUES (1, 1)");
            Client client = new Client();
            client.read(memory, "s", self -> self.has(List.of("1|1")));
        }
    }

    @Test
    void itsOwnerReadsIt() {
        try (TestDatabase database = open()) {
            table(database);
            database.run("CREATE ROLE reader LOGIN; CREATE ROLE other LOGIN; GRANT SELECT ON sums TO reader, other");
            database.run("GRANT CREATE ON SCHEMA public TO reader");
            try (Session reader = database.database().session("reader");
                    Session other = database.database().session("other")) {
                try (StatementResults results = reader.execute("CREATE SUBSCRIPTION r FROM sums")) {
                    results.drain();
                }
                MillraceException denied = assertThrows(
                        MillraceException.class, () -> other.subscribe("SUBSCRIBE TO r", OptionalLong.empty()));
                assertEquals("must be owner of subscription r", denied.getMessage());
                try (StatementResult.Changes changes = reader.subscribe("SUBSCRIBE TO r", OptionalLong.empty())) {
                    assertFalse(changes.isFinished());
                }
            }
        }
    }

    /** Who drops the last durable subscription to a view ends nobody else's reading of it. */
    @Test
    void whoReadsByItselfGoesOnWhenTheLastSubscriptionIsDropped() {
        try (TestDatabase database = open()) {
            table(database);
            database.run("CREATE SUBSCRIPTION s FROM sums");
            Client client = new Client();
            try (Session session = database.database().session();
                    StatementResult.Changes changes =
                            session.subscribe("SUBSCRIBE TO sums WITH (SNAPSHOT)", OptionalLong.empty())) {
                database.run("INSERT INTO t VALUES (1, 10); DROP SUBSCRIPTION s; INSERT INTO t VALUES (2, 20)");
                for (int waits = 0; !client.has(List.of("1|10", "2|20")); waits++) {
                    assertTrue(waits < MOST_WAITS && !changes.isFinished(), () -> "only " + client.rows);
                    client.take(changes.next(100_000));
                }
                assertEquals(List.of(), database.rows("SELECT name FROM millrace.subscriptions"));
                crashed("data", "copy"); // where nobody reads it
                database.run(
                        "CREATE SUBSCRIPTION again FROM sums; INSERT INTO t VALUES (3, 30); DROP SUBSCRIPTION again");
                for (int waits = 0; !client.has(List.of("1|10", "2|20", "3|30")); waits++) {
                    assertTrue(waits < MOST_WAITS && !changes.isFinished(), () -> "only " + client.rows);
                    client.take(changes.next(100_000));
                }
                database.run("DROP MATERIALIZED VIEW sums");
                Eventually.holds("who reads what was dropped is at its end", changes::isFinished);
            }
        }
        for (int opening = 0; opening < 2; opening++) {
            try (TestDatabase copy = open("copy")) {
                assertEquals(List.of("1|10", "2|20"), copy.rows("SELECT * FROM sums ORDER BY g"));
                copy.run("CREATE SUBSCRIPTION s FROM sums; DROP SUBSCRIPTION s");
            }
        }
    }
}
