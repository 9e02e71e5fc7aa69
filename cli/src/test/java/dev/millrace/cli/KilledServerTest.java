package dev.millrace.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.StringReader;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.postgresql.PGConnection;

/**
 * A server under clients that write, killed at any instruction, again and again: what a client was told is there, transactions are whole,
 * nothing is there twice, views are what their tables say, and one that is asked again over the past has all of it. By command: {@code ./check --kills N}.
 */
@Timeout(36_000)
@Tag("long")
class KilledServerTest {
    private static final int ROUNDS = Integer.getInteger("millrace.kills", 2);
    private static final long SEED = Long.getLong("millrace.kills.seed", 1);
    private static final int SHOWN_EVERY = 10; // in long runs
    private static final int CLIENTS = 4;

    /** Of each client, which numbers were answered, and which was sent last. */
    private final List<Set<Long>> answered = Stream.<Set<Long>>generate(ConcurrentHashMap::newKeySet)
            .limit(CLIENTS)
            .toList();

    private final AtomicLongArray sent = new AtomicLongArray(CLIENTS);
    private final KilledSubscriber subscriber = new KilledSubscriber();
    private final KilledHttpClient http = new KilledHttpClient();
    private final KilledHttpSubscriber page = new KilledHttpSubscriber();
    private final KilledPsqlClient psql = new KilledPsqlClient();
    private final KilledReprocessing reprocessing = new KilledReprocessing();
    private final ConcurrentLinkedQueue<String> seen = new ConcurrentLinkedQueue<>(); // rows that a reader was given

    private final ConcurrentLinkedQueue<Throwable> failures = new ConcurrentLinkedQueue<>(); // of clients

    private long shown;

    @TempDir
    Path folder;

    @Test
    void whatWasAnsweredIsThereAfterEachKill() throws Exception {
        System.out.println("kills: " + ROUNDS + ", seed " + SEED);
        Random random = new Random(SEED);
        for (int round = 0; round < ROUNDS; round++) {
            if (round > 0 && round % SHOWN_EVERY == 0) {
                System.out.println("kills: " + round + " of " + ROUNDS);
            }
            try (ServerProcess server = ServerProcess.start(
                    "--port",
                    "0",
                    "--http-port",
                    "0",
                    "--tls",
                    "off",
                    "--data",
                    folder.resolve("data").toString())) {
                if (round == 0) {
                    try (Connection connection = server.connect();
                            Statement statement = connection.createStatement()) {
                        statement.execute("CREATE TABLE a (client INT, n BIGINT, how TEXT, PRIMARY KEY (client, n))");
                        statement.execute("CREATE TABLE b (client INT, n BIGINT)");
                        statement.execute(
                                "CREATE MATERIALIZED VIEW sums AS SELECT client, count(*) AS c, sum(n) AS s FROM b GROUP BY client");
                        statement.execute("CREATE SUBSCRIPTION told FROM sums");
                        for (String definition : KilledHttpClient.DEFINITIONS) {
                            statement.execute(definition);
                        }
                        statement.execute("CREATE SUBSCRIPTION heard FROM came");
                        for (String definition : KilledPsqlClient.DEFINITIONS) {
                            statement.execute(definition);
                        }
                        for (String definition : KilledReprocessing.DEFINITIONS) {
                            statement.execute(definition);
                        }
                        statement.execute("CREATE STREAM e (client INT, n BIGINT)");
                        statement.execute(
                                "CREATE MATERIALIZED VIEW taken AS SELECT client, n, count(*) AS c FROM e GROUP BY client, n");
                        statement.execute(
                                "CREATE MATERIALIZED VIEW pairs AS SELECT e.client, e.n, count(*) AS c FROM e JOIN a ON"
                                        + " e.client = a.client AND e.n = a.n GROUP BY e.client, e.n");
                    }
                } else {
                    check(server);
                }
                List<Thread> threads = new ArrayList<>();
                for (int client = 0; client < CLIENTS; client++) {
                    int number = client;
                    threads.add(new Thread(() -> write(server, number)));
                }
                threads.add(new Thread(() -> read(server)));
                threads.add(new Thread(() -> checkpoint(server)));
                threads.add(new Thread(() -> http.write(server)));
                threads.add(new Thread(() -> page.follow(server)));
                threads.add(new Thread(() -> psql.write(server)));
                threads.add(new Thread(() -> reprocessing.write(server)));
                threads.add(new Thread(() -> reprocessing.ask(server)));
                threads.forEach(thread -> thread.setUncaughtExceptionHandler((of, why) -> failures.add(why)));
                threads.add(new Thread(() -> subscriber.follow(server)));
                threads.forEach(Thread::start);
                long enough = total() + 20 + random.nextInt(150);
                while (total() < enough && threads.get(0).isAlive()) {
                    Thread.sleep(1);
                }
                while (!reprocessing.isUnderWay() && threads.get(0).isAlive()) {
                    Thread.sleep(1); // so that each kill but one that comes as it ends meets it
                }
                server.kill();
                for (Thread thread : threads) {
                    thread.join();
                }
                assertEquals(List.of(), List.copyOf(failures), "seed " + SEED);
            }
        }
        try (ServerProcess server = ServerProcess.start(
                "--port",
                "0",
                "--http-port",
                "0",
                "--tls",
                "off",
                "--data",
                folder.resolve("data").toString())) {
            check(server);
        }
        System.out.println("kills: " + total() + " writes answered, " + shown + " rows seen by readers");
        assertTrue(total() >= 20L * ROUNDS, "too few to mean anything: " + total());
        assertTrue(shown > 0, "nobody read");
        assertTrue(http.answered() > ROUNDS, "nobody wrote by HTTP");
        assertTrue(page.events() > ROUNDS, "nobody heard by HTTP");
        if (psql.isThere()) {
            assertTrue(psql.answered() > ROUNDS, "psql wrote nothing: " + psql.answered());
        } else {
            System.out.println("kills: without psql, which is not in the path");
        }
        System.out.println("kills: " + reprocessing.interrupted()
                + " while the past was read again, which came to its end " + reprocessing.replaced() + " times");
        assertTrue(reprocessing.answered() > ROUNDS, "nobody wrote into what is asked again");
        assertTrue(reprocessing.interrupted() > 0, "no kill met what is asked again");
        assertTrue(subscriber.epochs() > ROUNDS, "nobody was told: " + subscriber.epochs());
    }

    private long total() {
        return answered.stream().mapToLong(Set::size).sum();
    }

    private void write(ServerProcess server, int client) {
        try (Connection connection = server.connect();
                PreparedStatement insert = connection.prepareStatement("INSERT INTO a VALUES (?, ?, 'insert')");
                PreparedStatement both = connection.prepareStatement("INSERT INTO b VALUES (?, ?)");
                PreparedStatement event = connection.prepareStatement("INSERT INTO e VALUES (?, ?)")) {
            while (true) {
                long n = sent.incrementAndGet(client);
                switch ((int) (n % 3)) {
                    case 0 -> {
                        insert.setInt(1, client);
                        insert.setLong(2, n);
                        insert.execute();
                        both.setInt(1, client);
                        both.setLong(2, n);
                        both.execute();
                        event.setInt(1, client);
                        event.setLong(2, n);
                        event.execute();
                    }
                    case 1 -> {
                        connection.setAutoCommit(false);
                        insert.setInt(1, client);
                        insert.setLong(2, n);
                        insert.execute();
                        both.setInt(1, client);
                        both.setLong(2, n);
                        both.execute();
                        event.setInt(1, client);
                        event.setLong(2, n);
                        event.execute();
                        connection.commit();
                        connection.setAutoCommit(true);
                    }
                    default -> {
                        String row = client + "\t" + n;
                        connection.setAutoCommit(false);
                        connection
                                .unwrap(PGConnection.class)
                                .getCopyAPI()
                                .copyIn("COPY b FROM STDIN", new StringReader(row + "\n"));
                        connection
                                .unwrap(PGConnection.class)
                                .getCopyAPI()
                                .copyIn("COPY a FROM STDIN", new StringReader(row + "\tcopy\n"));
                        connection
                                .unwrap(PGConnection.class)
                                .getCopyAPI()
                                .copyIn("COPY e FROM STDIN", new StringReader(row + "\n"));
                        connection.commit();
                        connection.setAutoCommit(true);
                    }
                }
                answered.get(client).add(n);
            }
        } catch (SQLException | java.io.IOException dead) {
            return;
        }
    }

    /** Who was shown a row finds it after the crash. */
    private void read(ServerProcess server) {
        try (Connection connection = server.connect();
                Statement statement = connection.createStatement()) {
            while (true) {
                try (ResultSet rows = statement.executeQuery("SELECT client, max(n) FROM b GROUP BY client")) {
                    while (rows.next()) {
                        seen.add(rows.getInt(1) + "|" + rows.getLong(2));
                    }
                }
            }
        } catch (SQLException dead) {
            return;
        }
    }

    private void checkpoint(ServerProcess server) {
        try (Connection connection = server.connect();
                Statement statement = connection.createStatement()) {
            while (true) {
                Thread.sleep(100);
                statement.execute("CHECKPOINT");
            }
        } catch (SQLException dead) {
            return;
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private void check(ServerProcess server) throws Exception {
        try (Connection connection = server.connect();
                Statement statement = connection.createStatement()) {
            subscriber.check(server, "seed " + SEED);
            http.check(statement, "seed " + SEED);
            page.check(server, statement, "seed " + SEED);
            psql.check(statement, "seed " + SEED);
            reprocessing.check(statement, "seed " + SEED);
            Set<String> ofReaders = new HashSet<>(seen);
            for (int client = 0; client < CLIENTS; client++) {
                for (String table : List.of("a", "b", "taken")) {
                    Set<Long> there = new HashSet<>();
                    try (ResultSet rows =
                            statement.executeQuery("SELECT n FROM " + table + " WHERE client = " + client)) {
                        while (rows.next()) {
                            assertTrue(there.add(rows.getLong(1)), "a row is there twice, seed " + SEED);
                        }
                    }
                    Set<Long> lost = new TreeSet<>(answered.get(client));
                    lost.removeAll(there);
                    assertEquals(Set.of(), lost, "lost of client " + client + " in " + table + ", seed " + SEED);
                    int of = client;
                    if (table.equals("b")) {
                        there.forEach(n -> ofReaders.remove(of + "|" + n));
                    }
                    long last = sent.get(client);
                    assertTrue(there.stream().allMatch(n -> n <= last), "nobody wrote that, seed " + SEED);
                }
            }
            try (ResultSet rows = statement.executeQuery(
                    "SELECT * FROM (SELECT client, n FROM a WHERE n % 3 <> 0 EXCEPT SELECT client, n FROM b) x UNION ALL"
                            + " SELECT * FROM (SELECT client, n FROM a WHERE n % 3 <> 0 EXCEPT SELECT client, n FROM taken) z"
                            + " UNION ALL SELECT * FROM (SELECT client, n FROM taken EXCEPT SELECT client, n FROM b) u"
                            + " UNION ALL SELECT * FROM (SELECT client, n FROM b EXCEPT SELECT client, n FROM a) y")) {
                assertTrue(!rows.next(), "a transaction is not whole, seed " + SEED);
            }
            try (ResultSet rows = statement.executeQuery("SELECT client, n FROM taken WHERE c <> 1 UNION ALL"
                    + " SELECT client, n FROM pairs WHERE c <> 1 UNION ALL"
                    + " SELECT * FROM (SELECT client, n FROM taken EXCEPT SELECT client, n FROM pairs) x")) {
                assertTrue(!rows.next(), "a query over the stream lost or doubled a row, seed " + SEED);
            }
            assertEquals(Set.of(), ofReaders, "a reader saw what is gone, seed " + SEED);
            shown += seen.size();
            seen.clear();
            try (ResultSet rows = statement.executeQuery(
                    "SELECT * FROM sums EXCEPT SELECT client, count(*), sum(n) FROM b GROUP BY client")) {
                assertTrue(!rows.next(), "the view is not what its table says, seed " + SEED);
            }
        }
    }
}
