package dev.millrace.server.pgwire;

import static dev.millrace.server.pgwire.RawClient.message;
import static dev.millrace.server.pgwire.RawClient.query;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.error.MillraceException;
import dev.millrace.server.session.Database;
import dev.millrace.server.session.DatabaseOptions;
import dev.millrace.server.storage.DataPlace;
import dev.millrace.storage.disk.Disk;
import dev.millrace.storage.simulation.SimulatedCrash;
import dev.millrace.storage.simulation.SimulatedDisk;
import dev.millrace.testing.time.Eventually;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Clients that write at the same time, over a disk that is slow, stands still or goes away. */
@Timeout(120)
class ClientsThatWriteTest {
    private static final int CLIENTS = 8;
    private static final int STATEMENTS = 120;

    private final SimulatedDisk disk = new SimulatedDisk(1);

    private static Database open(SimulatedDisk disk) {
        return Database.open(DatabaseOptions.defaults().withWorkers(2).withData(() -> new DataPlace.Taken() {
            @Override
            public Disk disk() {
                return disk;
            }

            @Override
            public void close() {}
        }));
    }

    private static RawClient client(PgServer server) throws IOException {
        RawClient client = new RawClient(server.port());
        client.send(RawClient.startup("user", "millrace"));
        client.next('Z');
        return client;
    }

    /** The tag of a statement, or the code of its error. */
    private static String run(RawClient client, String sql) throws IOException {
        client.send(query(sql));
        return answer(client);
    }

    private static String answer(RawClient client) throws IOException {
        String answer = "";
        for (RawClient.Message next = client.next(); next.type() != 'Z'; next = client.next()) {
            if (next.type() == 'C') {
                answer = new String(next.body(), 0, next.body().length - 1, StandardCharsets.UTF_8);
            } else if (next.type() == 'E') {
                answer = next.field('C');
            } else if (next.type() == 'D') {
                answer = next.column();
            }
            if (answer.startsWith("SELECT")) {
                answer = "";
            }
        }
        return answer;
    }

    private static String value(RawClient client, String select) throws IOException {
        client.send(query(select));
        String value = client.next('D').column();
        client.next('Z');
        return value;
    }

    private SimulatedDisk rows() {
        try {
            return (SimulatedDisk) disk.directory("rows");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** How often what was acknowledged was an INSERT of one row, by what it went into, and how many rows were deleted. */
    private record Counts(int keyed, int plain, int stream, int deleted) {
        Counts plus(Counts other) {
            return new Counts(keyed + other.keyed, plain + other.plain, stream + other.stream, deleted + other.deleted);
        }
    }

    private static Counts write(PgServer server, int number) throws IOException {
        Counts counts = new Counts(0, 0, 0, 0);
        try (RawClient client = client(server)) {
            for (int i = 0; i < STATEMENTS; i++) {
                int id = i * 3 + number % 2; // two in four are another client's, too
                String keyed = run(client, "INSERT INTO keyed VALUES (" + id + ", 'client " + number + "')");
                assertTrue(keyed.equals("INSERT 0 1") || keyed.equals("23505"), keyed);
                String plain = number == 0 && i % 10 == 9
                        ? run(client, "DELETE FROM plain WHERE n % 3 = 0")
                        : run(client, "INSERT INTO plain VALUES (" + i + ")");
                assertEquals("INSERT 0 1", run(client, "INSERT INTO stream VALUES (" + number + ")"));
                if (number == 1 && i % 10 == 0) { // all or nothing, also beside the others
                    run(client, "BEGIN");
                    run(client, "INSERT INTO plain VALUES (1)");
                    run(client, "INSERT INTO stream VALUES (1)");
                    assertEquals("ROLLBACK", run(client, "ROLLBACK"));
                }
                boolean deletes = plain.startsWith("DELETE");
                counts = counts.plus(new Counts(
                        keyed.equals("INSERT 0 1") ? 1 : 0,
                        deletes ? 0 : 1,
                        1,
                        deletes ? Integer.parseInt(plain.substring("DELETE ".length())) : 0));
            }
        }
        return counts;
    }

    @Test
    void whatManyClientsAreToldIsThereAfterACrash() throws Exception {
        Counts told = new Counts(0, 0, 0, 0);
        Database database = open(disk);
        SimulatedDisk after;
        try (PgServer server = PgServer.listen(database, PgServerOptions.local(0))) {
            try (RawClient client = client(server)) {
                run(client, "CREATE TABLE keyed (id INT PRIMARY KEY, a TEXT)");
                run(client, "CREATE TABLE plain (n INT)");
                run(client, "CREATE STREAM stream (n INT)");
                run(client, "CREATE MATERIALIZED VIEW counted AS SELECT count(*) AS n FROM stream");
            }
            ExecutorService threads = Executors.newFixedThreadPool(CLIENTS);
            try {
                List<Callable<Counts>> work = new ArrayList<>();
                for (int i = 0; i < CLIENTS; i++) {
                    int number = i;
                    work.add(() -> write(server, number));
                }
                for (Future<Counts> counts : threads.invokeAll(work)) {
                    told = told.plus(counts.get());
                }
            } finally {
                threads.shutdownNow();
            }
            check(server, told);
        } finally {
            after = disk.crash();
            closeDead(database);
        }
        Database again = open(after);
        try (PgServer server = PgServer.listen(again, PgServerOptions.local(0))) {
            check(server, told);
        } finally {
            again.close();
        }
    }

    /** Gives its memory back; its disk is not there any more. */
    private static void closeDead(Database database) {
        try {
            database.close();
        } catch (SimulatedCrash | MillraceException e) {
            return;
        }
    }

    private static void check(PgServer server, Counts told) throws IOException {
        try (RawClient client = client(server)) {
            assertEquals(2 * STATEMENTS, told.keyed);
            assertEquals(Integer.toString(told.keyed), value(client, "SELECT count(*) FROM keyed"));
            assertEquals(Integer.toString(told.plain - told.deleted), value(client, "SELECT count(*) FROM plain"));
            assertEquals(Integer.toString(told.stream), value(client, "SELECT n FROM counted"));
        }
    }

    /** Has the disk stand still in its next force, until the second latch is open. */
    private void standStill(CountDownLatch stands, CountDownLatch goesOn) {
        standStill("millrace-log", stands, goesOn); // and not for who makes room for the log
    }

    private void standStill(String thread, CountDownLatch stands, CountDownLatch goesOn) {
        rows().setSlowness(millis -> {
            if (!Thread.currentThread().getName().startsWith(thread)) {
                return;
            }
            stands.countDown();
            try {
                goesOn.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        rows().chances().slowForceOneIn = 1;
    }

    @Test
    void whoWaitsForTheDiskIsCancelledOrTimedOutAndOthersAreAnsweredWhenItGoesOn() throws Exception {
        CountDownLatch stands = new CountDownLatch(1);
        CountDownLatch goesOn = new CountDownLatch(1);
        Database database = open(disk);
        try (PgServer server = PgServer.listen(database, PgServerOptions.local(0));
                RawClient cancelled = new RawClient(server.port());
                RawClient late = client(server);
                RawClient patient = client(server);
                RawClient gone = client(server);
                RawClient other = client(server)) {
            cancelled.send(RawClient.startup("user", "millrace"));
            ByteBuffer key = ByteBuffer.wrap(cancelled.next('K').body());
            cancelled.next('Z');
            run(patient, "CREATE TABLE t (id INT PRIMARY KEY)");
            run(patient, "INSERT INTO t VALUES (0)"); // the log has room from then on
            run(late, "SET statement_timeout = 100");
            standStill("", stands, goesOn); // whoever writes: mostly the log's thread, and a session's if that is late
            patient.send(query("INSERT INTO t VALUES (1)"), query("INSERT INTO t VALUES (2)"));
            stands.await(); // in the force of that
            cancelled.send(query("INSERT INTO t VALUES (3)"));
            gone.send(query("INSERT INTO t VALUES (4)"));
            assertEquals("57014", run(late, "INSERT INTO t VALUES (5)"));
            Eventually.holds("the row is accepted", () -> isAccepted(other, 3) && isAccepted(other, 4));
            gone.close();
            assertEquals("1", value(other, "SELECT count(*) FROM t"));
            assertEquals("t", value(other, "SELECT pg_cancel_backend(" + key.getInt(0) + ")"));
            assertEquals("57014", answer(cancelled));
            goesOn.countDown();
            assertEquals("INSERT 0 1", answer(patient));
            assertEquals("INSERT 0 1", answer(patient));
            assertEquals("6", value(patient, "SELECT count(*) FROM t"));
            for (RawClient client : List.of(cancelled, late)) { // they go on
                assertEquals("23505", run(client, "INSERT INTO t VALUES (1)"));
            }
        } finally {
            goesOn.countDown();
            database.close();
        }
    }

    /** Nobody waits for the disk then: the log's own thread writes, and not one that executes a statement. */
    @Test
    void preparedInsertsAreAcceptedWhereTheyArrive() throws Exception {
        CountDownLatch stands = new CountDownLatch(1);
        CountDownLatch goesOn = new CountDownLatch(1);
        Database database = open(disk);
        try (PgServer server = PgServer.listen(database, PgServerOptions.local(0));
                RawClient client = client(server);
                RawClient other = client(server)) {
            run(client, "CREATE TABLE t (id INT, a TEXT)");
            client.send(RawClient.parse("put", "INSERT INTO t (a, id) VALUES ($1, $2)"), RawClient.sync());
            client.next('Z');
            for (int i = 0; i < 10; i++) {
                client.send(put("" + i), RawClient.sync());
                assertEquals("INSERT 0 1", answer(client));
            }
            assertEquals(
                    "10",
                    value(other, "SELECT count(*) FROM t")); // else their epoch may get a row that waits for the disk
            standStill(stands, goesOn);
            int told = 10;
            client.send(put("10"), RawClient.sync());
            while (!stands.await(1, TimeUnit.SECONDS)) { // a session's own thread wrote, as the log's was late
                assertEquals("INSERT 0 1", answer(client));
                assertTrue(told++ < 40, "the log's thread writes");
                client.send(put("10"), RawClient.sync());
            }
            assertEquals("" + told, value(other, "SELECT count(*) FROM t"));
            goesOn.countDown();
            assertEquals("INSERT 0 1", answer(client));
            client.send(put("eleven"), RawClient.sync());
            assertEquals("22P02", answer(client));
            client.send(put("11"), put("12"), RawClient.sync());
            assertEquals("INSERT 0 1", answer(client));
            assertEquals("" + (told + 3), value(client, "SELECT count(*) FROM t WHERE a = 'x'"));
        } finally {
            goesOn.countDown();
            database.close();
        }
    }

    private static byte[] put(String id) {
        return RawClient.bytes(out -> {
            out.write(RawClient.bind("", "put", "x", id));
            out.write(RawClient.execute("", 0));
        });
    }

    /** A key that is there is refused, also before anybody sees its row. */
    private static boolean isAccepted(RawClient client, int id) {
        try {
            return run(client, "BEGIN").equals("BEGIN")
                    & run(client, "INSERT INTO t VALUES (" + id + ")").equals("23505")
                    & run(client, "ROLLBACK").equals("ROLLBACK");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void aServerIsClosedWhileClientsWaitForTheDisk() throws Exception {
        CountDownLatch stands = new CountDownLatch(1);
        CountDownLatch goesOn = new CountDownLatch(1);
        Database database = open(disk);
        PgServer server = PgServer.listen(database, PgServerOptions.local(0));
        try (RawClient client = client(server);
                RawClient another = client(server)) {
            run(client, "CREATE STREAM s (n INT)");
            run(client, "INSERT INTO s VALUES (0)"); // the log has room from then on
            standStill("", stands, goesOn); // whoever writes: a session's own thread does, too
            client.send(query("INSERT INTO s VALUES (1)"));
            another.send(query("INSERT INTO s VALUES (2)"), message('X', out -> {}));
            stands.await();
            server.close();
            goesOn.countDown();
        } finally {
            goesOn.countDown();
            database.close(); // which fails where something was not freed
        }
    }
}
