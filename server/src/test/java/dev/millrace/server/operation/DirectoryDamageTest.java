package dev.millrace.server.operation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import dev.millrace.error.MillraceException;
import dev.millrace.server.operation.RandomDamage.Damage;
import dev.millrace.server.operation.RandomDamage.Kind;
import dev.millrace.server.session.TestDatabase;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Whatever is changed, cut off, removed, exchanged or added to any file of a directory: a database refuses to open it, naming the file,
 * or answers exactly what was there; and {@code verify} finds whatever a database refuses. {@code ./check --damage N} has N of them.
 */
@Tag("long")
class DirectoryDamageTest {
    private static final String SUM = "125751"; // of the numbers that the stream kept
    private static final long SEED = Long.getLong("millrace.damage.seed", 1);
    private static final int RUNS = Integer.getInteger("millrace.damage.runs", 400);

    /** One of so many is opened of those that need not be refused, which takes longest. */
    private static final int OPENED_OF = Integer.getInteger("millrace.damage.opened", 20);

    /** One of so many is opened of those that verify finds damaged in what no database opens without. */
    private static final int REFUSED_OF = Integer.getInteger("millrace.damage.refused", 1);

    private static final int SHOWN_EVERY = 50_000; // in long runs

    private static final int THREADS =
            Integer.getInteger("millrace.damage.threads", Runtime.getRuntime().availableProcessors());

    @TempDir
    Path folder;

    private final Map<String, Integer> counts = new ConcurrentSkipListMap<>();
    private final AtomicInteger done = new AtomicInteger();

    private Map<String, byte[]> older = Map.of();
    private Map<String, byte[]> foreign = Map.of();
    private Map<String, byte[]> killed = Map.of();
    private Map<String, byte[]> closed = Map.of();
    private Map<String, List<String>> answers = Map.of();

    @Test
    void everyDamageIsFoundOrHarmless() throws Exception {
        System.out.println("damaged directories, seed " + SEED + ", " + THREADS + " threads");
        write();
        List<Callable<Void>> shares = new ArrayList<>();
        for (int thread = 0; thread < THREADS; thread++) {
            int number = thread;
            shares.add(() -> {
                damage(number);
                return null;
            });
        }
        ExecutorService threads = Executors.newFixedThreadPool(THREADS);
        try {
            for (Future<Void> share : threads.invokeAll(shares)) {
                share.get();
            }
        } finally {
            threads.shutdownNow();
        }
        System.out.println("damaged directories: " + counts);
        for (Kind kind : Kind.values()) {
            assertTrue(counts.keySet().stream().anyMatch(seen -> seen.startsWith(kind.name())), counts::toString);
        }
    }

    /** A directory with all that this version writes, as a database left it that was killed, and that was closed. */
    private void write() throws IOException {
        Path data = folder.resolve("data");
        try (TestDatabase database = TestDatabase.withSmallFiles(data)) {
            for (String statement : FullDirectory.statements(folder)) {
                database.run(statement);
            }
            for (String statement : FullDirectory.newerStatements()) {
                database.run(statement);
            }
            FullDirectory.sketch(database);
            database.run("CHECKPOINT");
        }
        older = FullDirectory.files(data);
        try (TestDatabase database = TestDatabase.withSmallFiles(data)) {
            database.run(
                    "INSERT INTO customers VALUES (101, 'later'); CREATE TABLE later (a INT); INSERT INTO later VALUES (1)");
            database.run("INSERT INTO past SELECT g, 'row ' || g FROM generate_series(321, 500) g");
            database.run("CHECKPOINT; UPDATE later SET a = 1; CHECKPOINT"); // which goes on using the file before
            database.run(
                    "INSERT INTO s VALUES ('2026-01-01 00:00:09', 'k', 3); CHECKPOINT"); // changes one group of some
            database.run("CREATE MATERIALIZED VIEW n AS SELECT count(*) AS n FROM customers");
            database.run("INSERT INTO later VALUES (2), (3); INSERT INTO past VALUES (501, NULL)");
            database.run("CREATE OR REPLACE SECRET hidden AS 'another secret'; FLUSH");
            killed = FullDirectory.files(data);
        }
        closed = FullDirectory.files(data);
        foreign = foreign();
        answers = answers(data);
        assertEquals(43, answers.get("SELECT * FROM customers").size(), answers::toString);
        assertEquals(501, answers.get(FullDirectory.PAST).size());
        assertEquals(List.of("another secret"), answers.get(FullDirectory.SECRET));
        assertEquals(List.of("22012"), answers.get("SELECT * FROM stopped"));
        assertEquals(List.of(), answers.get("SELECT name FROM millrace.not_restored"));
        for (String name : List.of("changes/", "streams/", "jars/", "rows/", "secrets", "checkpoints/checkpoint-")) {
            assertTrue(closed.keySet().stream().anyMatch(file -> file.startsWith(name)), name);
        }
        assertTrue(
                closed.keySet().stream()
                                .filter(file -> file.endsWith(".snapshot"))
                                .count()
                        > 1,
                "several files");
    }

    /** One thread's share, each in a directory of its own. */
    private void damage(int thread) throws IOException {
        Random random = new Random(SEED + 31L * thread);
        RandomDamage damages = new RandomDamage(random, older, foreign);
        for (int i = thread; i < RUNS; i += THREADS) {
            boolean isKilled = random.nextBoolean();
            Map<String, byte[]> whole = isKilled ? killed : closed;
            Damage damage = damages.next(whole, isKilled);
            Path at = folder.resolve((isKilled ? "killed" : "closed") + thread);
            if (!Files.exists(at)) {
                FullDirectory.write(at, whole);
            }
            change(at, whole, damage.files());
            boolean isOpened = check(
                    at,
                    damage,
                    i,
                    (isKilled ? "killed: " : "closed: ") + damage + ", seed " + SEED + ", thread " + thread + " of "
                            + THREADS);
            if (isOpened) {
                FullDirectory.delete(at); // whoever opened it wrote to it
            } else {
                change(at, damage.files(), whole);
            }
            int so = done.incrementAndGet();
            if (so % SHOWN_EVERY == 0) {
                System.out.println("damaged directories: " + so + " of " + RUNS);
            }
        }
    }

    /** Makes of a directory with some files one with others. */
    private static void change(Path directory, Map<String, byte[]> from, Map<String, byte[]> to) throws IOException {
        for (String name : from.keySet()) {
            if (!to.containsKey(name)) {
                Path file = directory.resolve(name);
                Files.delete(file);
                Path in = Objects.requireNonNull(file.getParent());
                if (from.keySet().stream()
                        .noneMatch(other -> Files.exists(directory.resolve(other))
                                && directory.resolve(other).startsWith(in))) {
                    Files.delete(in);
                }
            }
        }
        Map<String, byte[]> changed = new TreeMap<>(to);
        changed.keySet().removeIf(name -> to.get(name) == from.get(name));
        FullDirectory.write(directory, changed);
    }

    private static Map<String, List<String>> answers(Path directory) {
        try (TestDatabase database = TestDatabase.withSmallFiles(directory)) {
            return answers(database);
        }
    }

    private static Map<String, List<String>> answers(TestDatabase database) {
        Map<String, List<String>> answers = FullDirectory.answers(database);
        answers.putAll(FullDirectory.newerAnswers(database, SUM));
        answers.putAll(FullDirectory.sketchedAnswers(database));
        return answers;
    }

    /** Asked from the first moment on: of a directory that is damaged, what is answered before that is found is right. */
    private static Map<String, List<String>> early(Path directory, Map<String, List<String>> expected) {
        try (TestDatabase database = TestDatabase.early(directory, 2)) {
            Map<String, List<String>> first = FullDirectory.answers(database);
            try {
                first.put(FullDirectory.PAST, database.rows(FullDirectory.PAST));
            } catch (MillraceException e) {
                first.put(FullDirectory.PAST, List.of(e.sqlState().code()));
            }
            try {
                assertTrue(database.database().awaitOpen());
            } catch (MillraceException e) {
                first.forEach((query, rows) -> assertTrue(
                        rows.equals(expected.get(query))
                                || rows.equals(List.of("XX001"))
                                || rows.equals(List.of(e.sqlState().code())), // F0000 where a later version wrote it
                        () -> query + " is answered by " + rows + ", then " + e.getMessage()));
                throw e;
            }
            return answers(database);
        }
    }

    /** Files of the same names of another database. */
    private Map<String, byte[]> foreign() throws IOException {
        Path other = folder.resolve("other");
        try (TestDatabase database = TestDatabase.withSmallFiles(other)) {
            for (String statement : FullDirectory.statements(folder)) {
                database.run(statement);
            }
            database.run("UPDATE customers SET name = 'somebody else'; CREATE TABLE more (a INT); DROP TABLE more");
            database.run("CREATE TABLE more (a INT); DROP TABLE more; CREATE TABLE more (a INT)");
            database.run("CREATE STREAM past (n BIGINT, name TEXT) WITH (retention = 'forever')");
            database.run("CREATE SECRET hidden AS 'of another'");
            database.run("INSERT INTO past SELECT g, 'another ' || g FROM generate_series(1, 300) g; CHECKPOINT");
        }
        return FullDirectory.files(other);
    }

    /** Returns whether it was opened. */
    private boolean check(Path at, Damage damage, int run, String what) {
        DirectoryReport report = DirectoryVerification.run(at);
        String found = report.isWhole() ? "whole" : "damaged";
        boolean isRefused = report.files().stream()
                .anyMatch(file -> !file.isWhole()
                        && (file.name().equals("catalog.log")
                                || file.name().equals("secrets")
                                || file.name().startsWith("rows")
                                || file.name().startsWith("checkpoints")));
        boolean isOpened = run % (isRefused ? REFUSED_OF : OPENED_OF) == 0;
        if (!isOpened) {
            count(damage, "said to be " + found);
            return false;
        }
        Map<String, List<String>> after;
        try {
            after = run % 4 == 0 ? early(at, answers) : answers(at);
        } catch (MillraceException e) {
            count(damage, "refused");
            assertTrue(
                    Set.of("XX001", "F0000").contains(e.sqlState().code()),
                    () -> what + ": " + e.sqlState().code() + " " + e.getMessage());
            assertTrue(namesAFile(e.getMessage(), damage), () -> what + ": " + e.getMessage());
            assertTrue(!report.isWhole(), () -> what + " is refused, and verify finds nothing: " + e);
            return true;
        }
        if (after.equals(answers)) {
            count(damage, "answered, " + found);
        } else if (isWithout(damage, after, answers)) {
            count(damage, "answered without what needs it, " + found);
            assertTrue(!report.isWhole(), () -> what);
        } else {
            Map<String, List<String>> differ = new TreeMap<>(after);
            differ.entrySet().removeAll(answers.entrySet());
            fail(what + " is answered from, and verify says " + found + ": " + differ);
        }
        return true;
    }

    private void count(Damage damage, String what) {
        counts.merge(damage.kind() + " " + what, 1, Integer::sum);
    }

    /** Of a file that was taken for another's the other may be named, or what is missing where it was. */
    private static boolean namesAFile(String message, Damage damage) {
        return damage.files().keySet().stream().anyMatch(message::contains)
                || message.contains(damage.file())
                || Stream.of(
                                "/rows is missing",
                                "/checkpoints/ is missing",
                                "/checkpoints/checkpoint-",
                                "/checkpoints is missing",
                                "the log of rows ",
                                " is an older copy",
                                " is of another database",
                                " is missing or empty",
                                ".log is missing: the log has a segment of this number")
                        .anyMatch(message::contains);
    }

    /**
     * The function's jar is named as the reason why it, and what reads it, is not there; reading the past of the stream fails, or it is not
     * restored; all else is.
     */
    private static boolean isWithout(Damage damage, Map<String, List<String>> after, Map<String, List<String>> before) {
        Set<String> differ = new HashSet<>(before.keySet());
        differ.removeIf(query -> before.get(query).equals(after.get(query)));
        Set<String> mayDiffer = new HashSet<>(Set.of(
                "SELECT table_name, grantee, privilege_type FROM information_schema.table_privileges",
                "SELECT name FROM millrace.not_restored"));
        boolean hasPast = after.get(FullDirectory.PAST).equals(before.get(FullDirectory.PAST));
        if (damage.touches("streams/")
                && (hasPast
                        || Set.of("XX001", "F0000", "42P01") // F0000: it says that a later version wrote it
                                .contains(after.get(FullDirectory.PAST).get(0)))) {
            mayDiffer.add(FullDirectory.PAST);
            if (Set.of("XX001", "42P01")
                    .contains(after.get(FullDirectory.FOLLOWED).get(0))) {
                mayDiffer.addAll(Set.of(FullDirectory.FOLLOWED, "SELECT query, state FROM millrace.query_stats"));
            }
        }
        if (damage.touches("streams/")
                && Set.of("XX001", "F0000", "42P01")
                        .contains(after.get(FullDirectory.GAUGES).get(0))) {
            mayDiffer.add(FullDirectory.GAUGES);
        }
        if (damage.touches("jars/")) {
            mayDiffer.addAll(
                    Set.of("SELECT * FROM \"Named; totals\"", "SELECT query, state FROM millrace.query_stats"));
        }
        return (damage.touches("streams/") || damage.touches("jars/")) && mayDiffer.containsAll(differ);
    }
}
