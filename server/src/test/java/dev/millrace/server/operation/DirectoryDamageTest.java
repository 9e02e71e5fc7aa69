package dev.millrace.server.operation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import dev.millrace.error.MillraceException;
import dev.millrace.server.session.TestDatabase;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Whatever is changed, cut off, removed, exchanged or added to any file of a directory: a database refuses to open it, naming the file,
 * or answers exactly what was there; and {@code verify} finds whatever a database refuses. {@code ./check --damage N} has N of them.
 */
class DirectoryDamageTest {
    private static final long SEED = Long.getLong("millrace.damage.seed", System.nanoTime());
    private static final int RUNS = Integer.getInteger("millrace.damage.runs", 2000);

    /** One of so many is opened of those that need not be refused, which takes longest. */
    private static final int OPENED_OF = Integer.getInteger("millrace.damage.opened", 20);

    /** One of so many is opened of those that verify finds damaged in what no database opens without. */
    private static final int REFUSED_OF = Integer.getInteger("millrace.damage.refused", 1);

    /** Directories of which others say that they are there. */
    private static final Set<String> TOLD_OF = Set.of("rows/", "checkpoints/", "jars/", "changes/", "streams/");

    private static final String PAST = "SELECT * FROM past";

    @TempDir
    Path folder;

    private final Random random = new Random(SEED);
    private final Map<String, Integer> counts = new TreeMap<>();

    private boolean isKilled; // the database whose directory is damaged now, and was not closed

    private enum Kind {
        FLIP,
        TRUNCATE,
        REMOVE,
        EXCHANGE,
        APPEND,
        OLDER,
        FOREIGN
    }

    /** A mutated directory, and in words how. */
    private record Damage(Kind kind, String file, String how, Map<String, byte[]> files) {
        boolean touches(String what) {
            return (file + how).contains(what);
        }
    }

    @Test
    void everyDamageIsFoundOrHarmless() throws IOException {
        System.out.println("damaged directories, seed " + SEED);
        Path data = folder.resolve("data");
        FullDirectory.create(data, folder);
        try (TestDatabase database = new TestDatabase(data)) {
            database.run("CREATE STREAM past (n BIGINT, name TEXT) WITH (retention = 'forever')");
            database.run("INSERT INTO past SELECT g, 'row ' || g FROM generate_series(1, 300) g");
            database.run("CHECKPOINT");
        }
        Map<String, byte[]> older = FullDirectory.files(data);
        Map<String, byte[]> killed;
        try (TestDatabase database = new TestDatabase(data)) {
            database.run(
                    "INSERT INTO customers VALUES (101, 'later'); CREATE TABLE later (a INT); INSERT INTO later VALUES (1)");
            database.run("INSERT INTO past SELECT g, 'row ' || g FROM generate_series(301, 500) g");
            database.run("CHECKPOINT; CREATE MATERIALIZED VIEW n AS SELECT count(*) AS n FROM customers");
            database.run("INSERT INTO later VALUES (2), (3); INSERT INTO past VALUES (501, NULL)");
            killed = FullDirectory.files(data);
        }
        Map<String, byte[]> closed = FullDirectory.files(data);
        Map<String, byte[]> foreign = foreign();
        Map<String, List<String>> answers = answers(data);
        assertEquals(43, answers.get("SELECT * FROM customers").size(), answers::toString);
        assertEquals(501, answers.get(PAST).size());
        assertEquals(List.of(), answers.get("SELECT name FROM millrace.not_restored"));
        for (int i = 0; i < RUNS; i++) {
            isKilled = random.nextBoolean();
            Map<String, byte[]> whole = isKilled ? killed : closed;
            Damage damage = damage(whole, older, foreign);
            Path at = folder.resolve(isKilled ? "killed" : "closed");
            if (!Files.exists(at)) {
                FullDirectory.write(at, whole);
            }
            change(at, whole, damage.files());
            boolean isOpened = check(at, damage, answers, i);
            if (isOpened) {
                FullDirectory.delete(at); // whoever opened it wrote to it
            } else {
                change(at, damage.files(), whole);
            }
        }
        System.out.println("damaged directories: " + counts);
        for (Kind kind : Kind.values()) {
            assertTrue(counts.keySet().stream().anyMatch(seen -> seen.startsWith(kind.name())), counts::toString);
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
        try (TestDatabase database = new TestDatabase(directory)) {
            Map<String, List<String>> answers = FullDirectory.answers(database);
            try {
                answers.put(PAST, database.rows(PAST));
            } catch (MillraceException e) {
                answers.put(PAST, List.of(e.sqlState().code()));
            }
            return answers;
        }
    }

    /** Files of the same names of another database. */
    private Map<String, byte[]> foreign() throws IOException {
        Path other = folder.resolve("other");
        try (TestDatabase database = new TestDatabase(other)) {
            for (String statement : FullDirectory.statements(folder)) {
                database.run(statement);
            }
            database.run("UPDATE customers SET name = 'somebody else'; CREATE TABLE more (a INT); DROP TABLE more");
            database.run("CREATE TABLE more (a INT); DROP TABLE more; CREATE TABLE more (a INT)");
            database.run("CREATE STREAM past (n BIGINT, name TEXT) WITH (retention = 'forever')");
            database.run("INSERT INTO past SELECT g, 'another ' || g FROM generate_series(1, 300) g; CHECKPOINT");
        }
        return FullDirectory.files(other);
    }

    /** Returns whether it was opened. */
    private boolean check(Path at, Damage damage, Map<String, List<String>> answers, int run) {
        DirectoryReport report = DirectoryVerification.run(at);
        String found = report.isWhole() ? "whole" : "damaged";
        boolean isRefused = report.files().stream()
                .anyMatch(file -> !file.isWhole()
                        && (file.name().equals("catalog.log")
                                || file.name().startsWith("rows")
                                || file.name().startsWith("checkpoints")));
        boolean isOpened = run % (isRefused ? REFUSED_OF : OPENED_OF) == 0;
        if (!isOpened) {
            count(damage, "said to be " + found);
            return false;
        }
        Map<String, List<String>> after;
        try {
            after = answers(at);
        } catch (MillraceException e) {
            count(damage, "refused");
            assertTrue(
                    Set.of("XX001", "F0000").contains(e.sqlState().code()),
                    () -> describe(damage) + ": " + e.sqlState().code() + " " + e.getMessage());
            assertTrue(namesAFile(e.getMessage(), damage), () -> describe(damage) + ": " + e.getMessage());
            assertTrue(!report.isWhole(), () -> describe(damage) + " is refused, and verify finds nothing: " + e);
            return true;
        }
        if (after.equals(answers)) {
            count(damage, "answered, " + found);
        } else if (isWithout(damage, after, answers)) {
            count(damage, "answered without what needs it, " + found);
            assertTrue(!report.isWhole(), () -> describe(damage));
        } else {
            Map<String, List<String>> differ = new TreeMap<>(after);
            differ.entrySet().removeAll(answers.entrySet());
            fail(describe(damage) + " is answered from, and verify says " + found + ": " + differ);
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
                                " is missing or empty")
                        .anyMatch(message::contains);
    }

    private String describe(Damage damage) {
        return (isKilled ? "killed: " : "closed: ") + damage.kind() + " " + damage.file() + " " + damage.how()
                + ", seed " + SEED;
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
        boolean hasPast = after.get(PAST).equals(before.get(PAST));
        if (damage.touches("streams/")
                && (hasPast || Set.of("XX001", "42P01").contains(after.get(PAST).get(0)))) {
            mayDiffer.add(PAST);
        }
        if (damage.touches("jars/")) {
            mayDiffer.addAll(
                    Set.of("SELECT * FROM \"Named; totals\"", "SELECT query, state FROM millrace.query_stats"));
        }
        return (damage.touches("streams/") || damage.touches("jars/")) && mayDiffer.containsAll(differ);
    }

    // ---- damage ----------------------------------------------------------------------------------------------------

    private Damage damage(Map<String, byte[]> whole, Map<String, byte[]> older, Map<String, byte[]> foreign) {
        List<String> names = new ArrayList<>(whole.keySet());
        while (true) {
            Kind kind = Kind.values()[random.nextInt(Kind.values().length)];
            String name = names.get(random.nextInt(names.size()));
            byte[] bytes = whole.get(name);
            Map<String, byte[]> files = new TreeMap<>(whole);
            String how = "";
            switch (kind) {
                case FLIP -> {
                    if (bytes.length == 0) {
                        continue;
                    }
                    int at = place(bytes);
                    int bit = random.nextInt(8);
                    byte[] changed = bytes.clone();
                    changed[at] ^= (byte) (1 << bit);
                    files.put(name, changed);
                    how = "at byte " + at + ", bit " + bit;
                }
                case TRUNCATE -> {
                    if (bytes.length == 0) {
                        continue;
                    }
                    int length = random.nextInt(4) == 0 ? bytes.length - 1 : place(bytes);
                    files.put(name, Arrays.copyOf(bytes, length));
                    how = "to " + length + " bytes";
                }
                case REMOVE -> {
                    String directory = name.substring(0, name.indexOf('/') + 1);
                    boolean all = TOLD_OF.contains(directory) && random.nextInt(3) == 0;
                    files.keySet().removeIf(file -> all ? file.startsWith(directory) : file.equals(name));
                    how = all ? "and all beside it" : "";
                }
                case EXCHANGE -> {
                    String other = names.get(random.nextInt(names.size()));
                    if (Arrays.equals(whole.get(other), bytes)) {
                        continue;
                    }
                    files.put(name, whole.get(other));
                    files.put(other, bytes);
                    how = "and " + other;
                }
                case APPEND -> {
                    byte[] more = new byte[1 + random.nextInt(40)];
                    random.nextBytes(more);
                    byte[] added = random.nextBoolean() ? more : "0a\n".getBytes(StandardCharsets.US_ASCII);
                    byte[] longer = Arrays.copyOf(bytes, bytes.length + added.length);
                    System.arraycopy(added, 0, longer, bytes.length, added.length);
                    files.put(name, longer);
                    how = added.length + " bytes";
                }
                case OLDER, FOREIGN -> {
                    Map<String, byte[]> from = kind == Kind.OLDER ? older : foreign;
                    String directory = name.substring(0, name.indexOf('/') + 1);
                    boolean all = TOLD_OF.contains(directory) && random.nextInt(3) == 0;
                    boolean mayBeTorn = isKilled && kind == Kind.OLDER && name.startsWith("rows/seg") && !all;
                    if (mayBeTorn || !from.containsKey(name) || Arrays.equals(from.get(name), bytes)) {
                        continue;
                    }
                    if (all) {
                        files.keySet().removeIf(file -> file.startsWith(directory));
                        from.forEach((file, old) -> {
                            if (file.startsWith(directory)) {
                                files.put(file, old);
                            }
                        });
                        how = "and all beside it";
                    } else {
                        files.put(name, from.get(name));
                    }
                }
            }
            return new Damage(kind, name, how, files);
        }
    }

    /** Anywhere, but mostly where something is. */
    private int place(byte[] bytes) {
        int at = random.nextInt(bytes.length);
        for (int tried = 0; tried < 50 && bytes[at] == 0; tried++) {
            at = random.nextInt(random.nextBoolean() ? bytes.length : Math.min(bytes.length, 1 << 16));
        }
        return at;
    }
}
