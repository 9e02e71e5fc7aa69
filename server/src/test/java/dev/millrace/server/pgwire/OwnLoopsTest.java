package dev.millrace.server.pgwire;

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
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A client that writes row after row, alone, has a loop of its own, which writes the log itself and holds up nobody else. */
@Tag("long")
@Timeout(120)
class OwnLoopsTest {
    private static final String WRITER = "millrace-writer";

    private final SimulatedDisk disk = new SimulatedDisk(1);
    private volatile String forcedBy = ""; // the last thread that forced the log

    private Database open() {
        Database database = open(disk);
        rows().setSlowness(millis -> forcedBy = Thread.currentThread().getName());
        rows().chances().slowForceOneIn = 1;
        return database;
    }

    private static Database open(SimulatedDisk on) {
        return Database.open(DatabaseOptions.defaults().withWorkers(2).withData(() -> new DataPlace.Taken() {
            @Override
            public Disk disk() {
                return on;
            }

            @Override
            public void close() {}
        }));
    }

    private SimulatedDisk rows() {
        try {
            return (SimulatedDisk) disk.directory("rows");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static RawClient client(PgServer server) throws IOException {
        RawClient client = new RawClient(server.port());
        client.send(RawClient.startup("user", "millrace"));
        client.next('Z');
        return client;
    }

    /** The last tag, value or error's code of what was sent. */
    private static String answer(RawClient client) throws IOException {
        String answer = "";
        for (RawClient.Message next = client.next(); next.type() != 'Z'; next = client.next()) {
            if (next.type() == 'C' && answer.isEmpty()) {
                answer = new String(next.body(), 0, next.body().length - 1, StandardCharsets.UTF_8);
            } else if (next.type() == 'E') {
                answer = next.field('C');
            } else if (next.type() == 'D') {
                answer = next.column();
            }
        }
        return answer;
    }

    private static String run(RawClient client, String sql) {
        try {
            client.send(query(sql));
            return answer(client);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Has a client write until it has a loop of its own; how many rows that took. */
    private int writeAlone(RawClient client) {
        int[] rows = {0};
        Eventually.holds("it has a loop of its own", () -> {
            for (int i = 0; i < 100; i++, rows[0]++) {
                assertEquals("INSERT 0 1", run(client, "INSERT INTO t VALUES (1)"));
            }
            return forcedBy.startsWith(WRITER);
        });
        return rows[0];
    }

    @Test
    void whoWritesAloneWritesTheLogItself() throws Exception {
        try (Database database = open();
                PgServer server = PgServer.listen(database, PgServerOptions.local(0));
                RawClient client = client(server)) {
            run(client, "CREATE TABLE t (n INT)");
            int rows = writeAlone(client);
            client.send(RawClient.parse("put", "INSERT INTO t VALUES ($1)"), RawClient.sync());
            client.next('Z');
            for (int i = 0; i < 50; i++) { // whatever it does goes on there
                assertEquals("INSERT 0 1", run(client, "INSERT INTO t VALUES (" + i + ")"));
                client.send(RawClient.bind("", "put", "7"), RawClient.execute("", 0), RawClient.sync());
                assertEquals("INSERT 0 1", answer(client));
                assertEquals("22P02", run(client, "INSERT INTO t VALUES ('one')"));
                run(client, "BEGIN");
                run(client, "INSERT INTO t VALUES (8)");
                assertEquals(i % 2 == 0 ? "COMMIT" : "ROLLBACK", run(client, i % 2 == 0 ? "COMMIT" : "ROLLBACK"));
                rows += i % 2 == 0 ? 3 : 2;
                assertEquals(Integer.toString(rows), run(client, "SELECT count(*) FROM t"));
            }
            client.send(query("INSERT INTO t VALUES (1)"), query("SELECT 5"), query("INSERT INTO t VALUES (1)"));
            for (String expected : List.of("INSERT 0 1", "5", "INSERT 0 1")) {
                assertEquals(expected, answer(client));
            }
        }
    }

    /** Its statements, which have memory, are closed by what follows the end of its connection, on its loop. */
    @Test
    void aServerThatIsClosedLeavesNothingOfIt() throws Exception {
        for (int i = 0; i < 10; i++) {
            try (Database database = open(new SimulatedDisk(i))) {
                try (PgServer server = PgServer.listen(database, PgServerOptions.local(0));
                        RawClient client = client(server)) {
                    run(client, "CREATE TABLE t (n INT)");
                    client.send(RawClient.parse("put", "INSERT INTO t VALUES ($1)"), RawClient.sync());
                    client.next('Z');
                    for (int n = 0; n < 100; n++) {
                        client.send(RawClient.bind("", "put", "7"), RawClient.execute("", 0), RawClient.sync());
                        assertEquals("INSERT 0 1", answer(client));
                    }
                }
                assertEquals(0, database.sessionCount(), "sessions that are left");
            }
        }
    }

    @Test
    void whatItIsToldIsThereAfterACrash() throws Exception {
        int rows;
        SimulatedDisk after;
        Database database = open();
        try (PgServer server = PgServer.listen(database, PgServerOptions.local(0));
                RawClient client = client(server)) {
            run(client, "CREATE TABLE t (n INT)");
            rows = writeAlone(client);
            for (int i = 0; i < 10; i++, rows++) {
                assertEquals("INSERT 0 1", run(client, "INSERT INTO t VALUES (2)"));
            }
            after = disk.crash(); // at once: nobody else has written since
        } finally {
            closeDead(database);
        }
        try (Database again = open(after);
                PgServer server = PgServer.listen(again, PgServerOptions.local(0));
                RawClient client = client(server)) {
            assertEquals(Integer.toString(rows), run(client, "SELECT count(*) FROM t"));
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

    @Test
    void aDiskThatStandsStillHoldsUpNobodyWhoDoesNotWrite() throws Exception {
        CountDownLatch stands = new CountDownLatch(1);
        CountDownLatch goesOn = new CountDownLatch(1);
        Database database = open();
        try (PgServer server = PgServer.listen(database, PgServerOptions.local(0));
                RawClient writer = new RawClient(server.port());
                RawClient late = client(server)) {
            writer.send(RawClient.startup("user", "millrace"));
            ByteBuffer key = ByteBuffer.wrap(writer.next('K').body());
            writer.next('Z');
            run(writer, "CREATE TABLE t (n INT)");
            int rows = writeAlone(writer);
            rows().setSlowness(millis -> {
                if (Thread.currentThread().getName().startsWith(WRITER)) {
                    stands.countDown();
                    await(goesOn);
                }
            });
            writer.send(query("INSERT INTO t VALUES (2)"));
            assertTrue(stands.await(60, TimeUnit.SECONDS), "it writes itself");
            run(late, "SET statement_timeout = 100");
            assertEquals("57014", run(late, "INSERT INTO t VALUES (3)"));
            List<RawClient> others = new ArrayList<>();
            for (int i = 0; i < 8; i++) { // wherever they are served
                others.add(client(server));
            }
            for (RawClient other : others) {
                assertEquals(Integer.toString(rows), run(other, "SELECT count(*) FROM t"));
            }
            assertEquals("t", run(others.get(0), "SELECT pg_cancel_backend(" + key.getInt(0) + ")"));
            goesOn.countDown();
            assertEquals("INSERT 0 1", answer(writer), "it was in the disk");
            Eventually.holds(
                    "its row is there",
                    () -> run(writer, "SELECT count(*) FROM t WHERE n = 2").equals("1"));
            for (RawClient other : others) {
                other.close();
            }
        } finally {
            goesOn.countDown();
            database.close();
        }
    }

    @Test
    void whoDoesNotWriteGivesWayToWhoDoes() throws Exception {
        try (Database database = open();
                PgServer server = PgServer.listen(database, PgServerOptions.local(0))) {
            List<RawClient> clients = new ArrayList<>();
            for (int i = 0; i < 10; i++) { // more than there are loops for
                RawClient client = client(server);
                clients.add(client);
                run(client, "CREATE TABLE IF NOT EXISTS t (n INT)");
                forcedBy = "";
                writeAlone(client);
            }
            for (RawClient client : clients) {
                assertEquals("INSERT 0 1", run(client, "INSERT INTO t VALUES (1)"));
                client.close();
            }
        }
    }

    @Test
    void aServerIsClosedWhileOneIsInTheDisk() throws Exception {
        CountDownLatch stands = new CountDownLatch(1);
        CountDownLatch goesOn = new CountDownLatch(1);
        Database database = open();
        PgServer server = PgServer.listen(database, PgServerOptions.local(0));
        try (RawClient writer = client(server)) {
            run(writer, "CREATE TABLE t (n INT)");
            writeAlone(writer);
            rows().setSlowness(millis -> {
                stands.countDown();
                await(goesOn);
            });
            writer.send(query("INSERT INTO t VALUES (2)"));
            assertTrue(stands.await(60, TimeUnit.SECONDS));
            server.close();
            server.close(); // again, for nothing
        } finally {
            goesOn.countDown();
            database.close(); // which fails where something was not freed
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
