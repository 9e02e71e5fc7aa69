package dev.millrace.server.pgwire;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.millrace.Millrace;
import dev.millrace.server.session.Database;
import dev.millrace.testing.time.OwnThread;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Messages that are sent without waiting for answers: some are answered where they arrive, others by another thread. */
@Tag("long")
@Timeout(120)
class PipeliningTest {
    private static final int GROUPS = 1_500;

    @Test
    void answersComeInTheOrderOfTheirQuestions() throws Exception {
        for (long seed = 1; seed <= 3; seed++) {
            try (Database database = Millrace.open();
                    PgServer server = PgServer.listen(database, PgServerOptions.local(0));
                    RawClient client = new RawClient(server.port())) {
                client.send(RawClient.startup("user", "millrace"));
                client.next('Z');
                client.send(RawClient.query("CREATE TABLE t (n INTEGER)"));
                client.next('Z');
                client.send(RawClient.parse("put", "INSERT INTO t VALUES ($1)"), RawClient.sync());
                client.next('Z');
                List<String> expected = new ArrayList<>();
                List<byte[]> groups = groups(new Random(seed), expected);
                Random cuts = new Random(seed);
                CompletableFuture<Void> sending =
                        CompletableFuture.runAsync(() -> send(client, groups, cuts), OwnThread.EACH);
                for (int at = 0; at < expected.size(); at++) {
                    assertEquals(expected.get(at), next(client), "answer " + at + ", seed " + seed);
                }
                sending.join();
            }
        }
    }

    /** What is known by key is answered on the event loop, what follows it by another thread, and neither holds the other back. */
    @Test
    void answersDoNotWaitForWhatIsBehindThem() throws Exception {
        try (Database database = Millrace.open();
                PgServer server = PgServer.listen(database, PgServerOptions.local(0));
                RawClient client = new RawClient(server.port())) {
            client.send(RawClient.startup("user", "millrace"));
            client.next('Z');
            client.send(RawClient.query(
                    "CREATE TABLE k (id INTEGER PRIMARY KEY, v INTEGER); INSERT INTO k VALUES (1, 10), (2, 20)"));
            client.next('Z');
            client.send(RawClient.parse("read", "SELECT v FROM k WHERE id = $1"), RawClient.sync());
            client.next('Z');
            for (int i = 0; i < 100; i++) {
                byte[] unknown = RawClient.parse("", "SELECT " + i + " + count(*) FROM k");
                byte[] packet = RawClient.bytes(out -> {
                    for (String id : List.of("1", "2", "1")) {
                        out.write(RawClient.bind("", "read", id));
                        out.write(RawClient.execute("", 0));
                        out.write(RawClient.sync());
                    }
                    out.write(unknown); // without a Sync: nothing is sent for it yet
                });
                client.send(packet);
                for (String v : List.of("10", "20", "10")) {
                    assertEquals("D " + v, next(client));
                    assertEquals("C", next(client));
                    assertEquals("ZI", next(client));
                }
                client.send(RawClient.bind("", ""), RawClient.execute("", 0), RawClient.sync());
                assertEquals("D " + (i + 2), next(client));
                assertEquals("C", next(client));
                assertEquals("ZI", next(client));
            }
        }
    }

    /** Groups as they are, and, a third of them, in two parts: what is behind the cut may be read when the rest was answered. */
    private static void send(RawClient client, List<byte[]> groups, Random cuts) {
        try {
            for (byte[] group : groups) {
                int cut = cuts.nextInt(3) == 0 ? cuts.nextInt(group.length) : 0;
                client.send(Arrays.copyOf(group, cut));
                LockSupport.parkNanos(cut == 0 ? 0 : cuts.nextInt(200_000));
                client.send(Arrays.copyOfRange(group, cut, group.length));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The next answer that says something: a row's value, an error's code, the end of a statement or of a group. */
    private static String next(RawClient client) throws IOException {
        while (true) {
            RawClient.Message message = client.next();
            switch (message.type()) {
                case 'D':
                    return "D " + message.column();
                case 'E':
                    return "E " + message.field('C');
                case 'C':
                    return "C";
                case 'Z':
                    return "Z" + (char) message.body()[0];
                default: // columns, notices, what Parse and Bind answer
            }
        }
    }

    /** Groups of messages that each end in ReadyForQuery, with what is answered to each. */
    private static List<byte[]> groups(Random random, List<String> expected) {
        List<byte[]> groups = new ArrayList<>();
        int rows = 0;
        for (int i = 0; i < GROUPS; i++) {
            int constant = random.nextInt(3); // so few that their plans are soon known
            byte[][] group;
            switch (random.nextInt(14)) {
                case 0 -> {
                    group = new byte[][] {RawClient.query("INSERT INTO t VALUES (" + i + ")")};
                    expected.addAll(List.of("C", "ZI"));
                    rows++;
                }
                case 1 -> {
                    group = new byte[][] {RawClient.query("SELECT count(*) FROM t")};
                    expected.addAll(List.of("D " + rows, "C", "ZI"));
                }
                case 2 -> {
                    group = new byte[][] {
                        RawClient.parse("", "SELECT nothing"),
                        RawClient.describe('S', ""), // names are looked up here; what follows is skipped
                        RawClient.parse("", "SELECT " + constant),
                        RawClient.bind("", ""),
                        RawClient.execute("", 0),
                        RawClient.sync()
                    };
                    expected.addAll(List.of("E 42703", "ZI"));
                }
                case 3 -> {
                    group = new byte[][] {
                        RawClient.query("BEGIN"),
                        RawClient.query("SELECT nothing"),
                        RawClient.query("SELECT " + constant),
                        RawClient.query("ROLLBACK")
                    };
                    expected.addAll(List.of("C", "ZT", "E 42703", "ZE", "E 25P02", "ZE", "C", "ZI"));
                }
                case 4 -> { // one transaction up to Sync
                    group = new byte[][] {
                        RawClient.parse("", "INSERT INTO t VALUES (1)"),
                        RawClient.bind("", ""),
                        RawClient.execute("", 0),
                        RawClient.parse("", "SELECT " + constant),
                        RawClient.bind("", ""),
                        RawClient.execute("", 0),
                        RawClient.parse("", "SELECT 1 / 0"),
                        RawClient.bind("", ""),
                        RawClient.execute("", 0),
                        RawClient.sync()
                    };
                    expected.addAll(List.of("C", "D " + constant, "C", "E 22012", "ZI"));
                }
                case 5, 6, 7 -> {
                    group = new byte[][] {
                        RawClient.parse("", "SELECT " + constant),
                        RawClient.bind("", ""),
                        RawClient.describe('P', ""),
                        RawClient.execute("", 0),
                        RawClient.sync()
                    };
                    expected.addAll(List.of("D " + constant, "C", "ZI"));
                }
                case 8 -> {
                    group = new byte[][] {
                        RawClient.bind("", "put", "" + i),
                        RawClient.describe('P', ""),
                        RawClient.execute("", 0),
                        RawClient.sync()
                    };
                    expected.addAll(List.of("C", "ZI"));
                    rows++;
                }
                case 9 -> { // together
                    group = new byte[][] {
                        RawClient.bind("", "put", "1"),
                        RawClient.execute("", 0),
                        RawClient.bind("", "put", "2"),
                        RawClient.execute("", 0),
                        RawClient.sync(),
                        RawClient.sync()
                    };
                    expected.addAll(List.of("C", "C", "ZI", "ZI"));
                    rows += 2;
                }
                case 10 -> {
                    group = new byte[][] {
                        RawClient.bind("", "put", "1"),
                        RawClient.execute("", 0),
                        RawClient.bind("", "put", "one"),
                        RawClient.execute("", 0),
                        RawClient.bind("", "put", "1"),
                        RawClient.execute("", 0),
                        RawClient.sync(),
                        RawClient.bind("", "put", "one"),
                        RawClient.execute("", 0),
                        RawClient.sync()
                    };
                    expected.addAll(List.of("C", "E 22P02", "ZI", "E 22P02", "ZI"));
                }
                case 11 -> {
                    group = new byte[][] {
                        RawClient.query("BEGIN"),
                        RawClient.bind("p", "put", "1"),
                        RawClient.execute("p", 0),
                        RawClient.sync(),
                        RawClient.query("ROLLBACK"),
                        RawClient.bind("p", "put", "1"),
                        RawClient.execute("p", 0),
                        RawClient.execute("p", 0), // it is over
                        RawClient.sync()
                    };
                    expected.addAll(List.of("C", "ZT", "C", "ZT", "C", "ZI", "C", "C", "ZI"));
                    rows++;
                }
                default -> {
                    group = new byte[][] {RawClient.query("SELECT " + constant)};
                    expected.addAll(List.of("D " + constant, "C", "ZI"));
                }
            }
            groups.add(RawClient.bytes(out -> {
                for (byte[] message : group) {
                    out.write(message);
                }
            }));
        }
        return groups;
    }
}
