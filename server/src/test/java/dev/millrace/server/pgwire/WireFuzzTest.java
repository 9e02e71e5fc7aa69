package dev.millrace.server.pgwire;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.millrace.Millrace;
import dev.millrace.server.pgwire.HostileLogin.Flaw;
import dev.millrace.server.session.Database;
import dev.millrace.server.tls.Tls;
import dev.millrace.server.tls.TlsMode;
import dev.millrace.server.tls.TlsOptions;
import dev.millrace.testing.time.Eventually;
import io.netty.buffer.ByteBufAllocator;
import io.netty.util.ResourceLeakDetector;
import java.io.EOFException;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.Test;

/**
 * Whatever bytes come in, the server does not fail, wait for ever, keep what it should free, or tell anybody more than it
 * may. {@code -Dmillrace.wire.messages=N} sets after how many messages it ends (10,000), {@code -Dmillrace.wire.seed=S} the
 * seed, which a failure names.
 */
class WireFuzzTest {
    private static final long MESSAGES = Long.getLong("millrace.wire.messages", 2_000);
    private static final long SEED = Long.getLong("millrace.wire.seed", 1);
    private static final int WORKERS = 3;
    private static final int MOST_MESSAGE_BYTES = 1 << 20;
    private static final int TRIES = 8; // to be heard, half a minute each: a statement may have timed out
    private static final int PATIENCE = 240_000; // milliseconds; also of a machine that is put to sleep for a while
    private static final long REPORT_MILLIS = 10_000;
    private static final int SHOWN = 200; // characters of a message that is reported
    private static final String SECRET = "not for your eyes";
    private static final Map<Flaw, String> ANSWERS = Map.of(
            Flaw.NONE, "",
            Flaw.TWICE, "",
            Flaw.OTHER_PASSWORD, "28P01",
            Flaw.OTHER_ROLE, "28P01",
            Flaw.FLIPPED_PROOF, "28P01",
            Flaw.OTHER_NONCE, "08P01",
            Flaw.OTHER_BINDING, "08P01");

    private final AtomicLong scripts = new AtomicLong();
    private final AtomicLong messages = new AtomicLong();
    private final AtomicReference<Throwable> failure = new AtomicReference<>();
    private final List<String> leaks = Collections.synchronizedList(new ArrayList<>());
    private final List<String> goodProofs = Collections.synchronizedList(new ArrayList<>());
    private PgServer open;
    private PgServer guarded;

    @Test
    void noBytesHarmAnybody() throws Exception {
        ResourceLeakDetector.Level level = ResourceLeakDetector.getLevel();
        ResourceLeakDetector.setLevel(ResourceLeakDetector.Level.PARANOID);
        Logger logger = Logger.getLogger(ResourceLeakDetector.class.getName());
        Handler handler = leakHandler();
        logger.addHandler(handler);
        try (Database database = Millrace.open()) {
            database.execute("CREATE TABLE kept (id INTEGER PRIMARY KEY, v TEXT)");
            database.execute("INSERT INTO kept VALUES (7, '" + SECRET + "')");
            database.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT)");
            database.execute("CREATE STREAM s (id INTEGER, v TEXT)");
            database.execute("CREATE CONTINUOUS QUERY q AS SELECT id + 1 AS id, v FROM s");
            database.execute("CREATE MATERIALIZED VIEW counts AS SELECT id, count(*) AS n FROM s GROUP BY id");
            database.execute("CREATE USER fuzz PASSWORD 'secret'");
            database.execute("GRANT SELECT, INSERT, UPDATE, DELETE ON t, s TO fuzz");
            database.execute("GRANT SELECT ON q, counts TO fuzz");
            PgServerOptions options = PgServerOptions.local(0).withLimits(1_000, MOST_MESSAGE_BYTES);
            Tls tls = Tls.open(TlsOptions.own(TlsMode.ALLOW), List.of("localhost"));
            open = PgServer.listen(database, options);
            guarded = PgServer.listen(
                    database, options.withTls(tls).withAuthentication(new Authentication.Scram(database::secretOf)));
            try (PgServer first = open;
                    PgServer second = guarded) {
                runAll(database);
                Eventually.holds("no session is left without its client", () -> database.sessionCount() == 0);
            }
            leaks.addAll(lateLeaks());
            assertEquals(List.of(), leaks);
        } finally {
            logger.removeHandler(handler);
            ResourceLeakDetector.setLevel(level);
        }
    }

    private Handler leakHandler() {
        return new Handler() {
            @Override
            public void publish(LogRecord record) {
                leaks.add(record.getMessage());
            }

            @Override
            public void flush() {}

            @Override
            public void close() {}
        };
    }

    /** What was lost last is found when memory is taken after its references were cleared. */
    private static List<String> lateLeaks() {
        for (int i = 0; i < 20; i++) {
            System.gc();
            ByteBufAllocator.DEFAULT.buffer(16).release();
        }
        return List.of();
    }

    private void runAll(Database database) throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(2 * WORKERS);
        try {
            List<CompletableFuture<Void>> workers = new ArrayList<>();
            for (int i = 0; i < WORKERS; i++) {
                workers.add(CompletableFuture.runAsync(() -> work(threads), threads));
            }
            CompletableFuture<Void> all = CompletableFuture.allOf(workers.toArray(CompletableFuture[]::new));
            long begin = System.nanoTime();
            for (long next = REPORT_MILLIS; !all.isDone(); next += REPORT_MILLIS) {
                while (!all.isDone() && (System.nanoTime() - begin) / 1_000_000 < next) {
                    checkKept(database);
                    awaitEnd(all);
                }
                report((System.nanoTime() - begin) / 1e9);
            }
            if (failure.get() != null) {
                throw new AssertionError(failure.get().getMessage(), failure.get());
            }
            checkKept(database);
        } finally {
            threads.shutdown();
        }
    }

    /** Waits for a tenth of a second, if the work takes as long. */
    private static void awaitEnd(CompletableFuture<Void> work) throws Exception {
        try {
            work.get(100, TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            // it goes on
        }
    }

    private void report(double seconds) {
        if (MESSAGES > 1_000_000 || seconds > 30) {
            Runtime runtime = Runtime.getRuntime();
            System.out.printf(
                    "%,d of %,d wire messages, %,d connections, %,.0f messages/s, heap %d MB, seed %d%n",
                    messages.get(),
                    MESSAGES,
                    scripts.get(),
                    messages.get() / seconds,
                    (runtime.totalMemory() - runtime.freeMemory()) >> 20,
                    SEED);
        }
    }

    /** What nobody may touch is as it was, and the server answers. */
    private void checkKept(Database database) {
        List<String> rows = new ArrayList<>();
        try (var result = database.query("SELECT id, v FROM kept")) {
            result.forEach(batch -> rows.add(batch.rowCount() + " rows"));
        }
        assertEquals(List.of("1 rows"), rows);
    }

    // ---- scripts ---------------------------------------------------------------------------------------------------

    private void work(ExecutorService threads) {
        while (messages.get() < MESSAGES && failure.get() == null) {
            long number = scripts.getAndIncrement();
            long seed = SEED * 1_000_003 + number;
            List<byte[]> sent = List.of();
            try {
                switch (new Random(seed).nextInt(10)) {
                    case 0 -> login(new Random(seed));
                    case 1, 2, 3 -> {
                        HostileLogin script = new HostileLogin(seed, new ArrayList<>(goodProofs));
                        sent = script.messages();
                        stayOut(script);
                    }
                    default -> {
                        HostileSession script = new HostileSession(seed);
                        sent = script.messages();
                        converse(script, threads);
                    }
                }
            } catch (Exception | AssertionError e) {
                failure.compareAndSet(
                        null,
                        new AssertionError(
                                e + " in script " + number + ", seed " + SEED + ", after " + messages.get()
                                        + " messages; it sent:\n" + shown(sent),
                                e));
            }
        }
    }

    private static String shown(List<byte[]> sent) {
        StringBuilder text = new StringBuilder();
        for (byte[] message : sent) {
            String latin = new String(message, StandardCharsets.ISO_8859_1).replaceAll("[^\\x20-\\x7e]", ".");
            text.append(latin, 0, Math.min(SHOWN, latin.length()))
                    .append("   ")
                    .append(HexFormat.of().formatHex(message, 0, Math.min(60, message.length)))
                    .append('\n');
        }
        return text.toString();
    }

    private static RawClient connect(PgServer server) throws IOException {
        RawClient client = new RawClient(server.port());
        client.socket().setSoTimeout(PATIENCE);
        return client;
    }

    /** A right login is taken, each wrong one refused with its code. */
    private void login(Random random) throws IOException {
        Flaw flaw = Flaw.values()[random.nextInt(Flaw.values().length)];
        try (RawClient client = connect(guarded)) {
            messages.addAndGet(3);
            assertEquals(ANSWERS.get(flaw), HostileLogin.login(client, flaw, goodProofs), flaw.toString());
            if (flaw == Flaw.NONE) {
                client.send(RawClient.query("SELECT 'in'"));
                assertEquals("in", client.next('D').column());
            }
        }
    }

    /** Who does not know the password is told nothing but that: not one message of a session comes back. */
    private void stayOut(HostileLogin script) throws IOException {
        try (RawClient client = connect(guarded)) {
            messages.addAndGet(script.messages().size());
            try {
                for (byte[] message : script.messages()) {
                    client.send(message);
                }
                client.socket().shutdownOutput();
            } catch (IOException e) {
                // the server has closed the connection, as it should
            }
            for (int type = read(client); type >= 0; type = read(client)) {
                if (type == 'S') { // what follows is TLS, which nothing here can be part of
                    while (read(client) >= 0) {}
                    return;
                }
                if (type != 'N') {
                    byte[] body = client.body();
                    boolean question = type == 'R' && body.length >= 4 && (body[3] == 10 || body[3] == 11);
                    if (!question && type != 'E' && type != 'v') {
                        throw new AssertionError("answer " + (char) type + " to somebody unknown");
                    }
                }
            }
        }
    }

    private static int read(RawClient client) throws IOException {
        try {
            return client.nextByte();
        } catch (SocketTimeoutException e) {
            throw new AssertionError("the connection was not closed", e);
        } catch (IOException e) {
            return -1; // reset, with bytes of ours unread
        }
    }

    /** Whatever is asked, in the end the session can be asked again, or is over. */
    private void converse(HostileSession script, ExecutorService threads) throws Exception {
        try (RawClient client = connect(open)) {
            client.send(RawClient.startup("user", "fuzz", "options", "-c statement_timeout=40"));
            client.next('Z');
            client.socket().setSoTimeout(PATIENCE / TRIES);
            messages.addAndGet(1 + script.messages().size());
            CompletableFuture<Boolean> goesOn = CompletableFuture.supplyAsync(() -> hear(client, script), threads);
            try {
                for (byte[] message : script.messages()) {
                    client.send(message);
                }
                if (script.isBroken()) {
                    client.socket().shutdownOutput();
                } else {
                    ask(client);
                }
            } catch (IOException e) {
                // the server has closed the connection: whether it may is seen below
            }
            if (!goesOn.get() && script.survives()) {
                throw new AssertionError("the session was ended");
            }
        }
    }

    private static void ask(RawClient client) throws IOException {
        client.send(
                RawClient.message('f', out -> RawClient.text(out, "no more")),
                RawClient.sync(),
                RawClient.query("ROLLBACK"),
                RawClient.query("SET statement_timeout = 0"),
                RawClient.query("SELECT 'still here'"));
    }

    /** Reads all that comes, up to what was asked last; false when the connection was closed before. */
    private static boolean hear(RawClient client, HostileSession script) {
        int tries = 0;
        Deque<String> last = new ArrayDeque<>();
        while (true) {
            try {
                RawClient.Message message = client.next();
                check(message);
                last.add(message.type() + (message.type() == 'E' ? " " + message.field('M') : ""));
                if (last.size() > 20) {
                    last.remove();
                }
                if (message.type() == 'D' && message.column().equals("still here")) {
                    return true;
                }
            } catch (SocketTimeoutException e) {
                if (script.isBroken() || ++tries == TRIES) {
                    throw new AssertionError("no answer, and no end, after " + last, e);
                }
                try {
                    ask(client);
                } catch (IOException ended) {
                    return false;
                }
            } catch (EOFException e) {
                return false;
            } catch (IOException e) {
                return false; // reset, with bytes of ours unread
            }
        }
    }

    private static void check(RawClient.Message message) {
        if ("RSKZTDCEN123tnsIGHWdcAv".indexOf(message.type()) < 0) {
            throw new AssertionError("the server sent a message of type " + (int) message.type());
        }
        if (message.type() == 'E' && message.field('C').startsWith("XX")) {
            throw new AssertionError(message.field('M'));
        }
        if (new String(message.body(), StandardCharsets.UTF_8).contains(SECRET)) {
            throw new AssertionError("a row was read without the right to");
        }
    }
}
