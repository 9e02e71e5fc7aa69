package dev.millrace.server.backup;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.server.operation.BackupList;
import dev.millrace.server.operation.DirectoryReport;
import dev.millrace.server.operation.DirectoryVerification;
import dev.millrace.server.operation.FullDirectory;
import dev.millrace.server.session.Session;
import dev.millrace.server.session.TestDatabase;
import dev.millrace.server.storage.DataPlace;
import dev.millrace.storage.disk.Disk;
import dev.millrace.storage.disk.FileImage;
import dev.millrace.storage.disk.FileReport;
import dev.millrace.storage.disk.RealDisk;
import dev.millrace.storage.simulation.SimulatedDisk;
import dev.millrace.time.Clock;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What was answered before a backup began is in it, one state of the database is, and nothing else is ever restored. */
@Tag("long")
class BackupTest {
    @TempDir
    Path folder;

    private final List<Path> restored = new ArrayList<>();

    private Path restore(Path backup) {
        Path directory = folder.resolve("restored-" + restored.size());
        restored.add(directory);
        Restore.run(backup, directory);
        return directory;
    }

    private static String state(Runnable statement) {
        return assertThrows(MillraceException.class, statement::run).sqlState().code();
    }

    private static Set<String> kept(Path directory) {
        return DirectoryVerification.run(directory).files().stream()
                .filter(file -> file.known() && file.bytes() > 0)
                .map(FileReport::name)
                .filter(name -> !Set.of("lock", BackupList.NAME).contains(name) && !name.contains("not finished"))
                .filter(name -> !name.endsWith(".new") && !name.contains("spare-"))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private static void requireWhole(Path directory) {
        DirectoryReport report = DirectoryVerification.run(directory);
        assertTrue(report.isWhole(), report::text);
        assertTrue(report.files().stream().allMatch(FileReport::known), report::text);
    }

    @Test
    void anOpenDatabaseIsCopiedWithAllThatIsInIt() throws IOException {
        Path data = folder.resolve("data");
        Map<String, List<String>> answers;
        Path target = folder.resolve("backups").resolve("first");
        FullDirectory.create(data, folder);
        try (TestDatabase database = new TestDatabase(data)) {
            database.database().decoys(); // makes their key
            assertEquals("BACKUP", database.run("BACKUP TO '" + target + "'"));
            answers = FullDirectory.answers(database);
            assertEquals(kept(data), kept(target));
            requireWhole(target);
            database.run("DELETE FROM orders; DROP SUBSCRIPTION told; CHECKPOINT");
        }
        Path again = restore(target);
        requireWhole(again);
        for (int round = 0; round < 2; round++) { // it goes on
            try (TestDatabase database = new TestDatabase(again)) {
                assertEquals(answers, FullDirectory.answers(database));
                assertEquals("INSERT 0 1", database.run("INSERT INTO customers VALUES (500, 'new')"));
                assertEquals("DELETE 1", database.run("DELETE FROM customers WHERE id = 500"));
            }
        }
        assertEquals(answers, answers(restore(target))); // the backup is as it was
    }

    private static Map<String, List<String>> answers(Path directory) {
        try (TestDatabase database = new TestDatabase(directory)) {
            return FullDirectory.answers(database);
        }
    }

    @Test
    void aDirectoryThatNobodyHasOpenIsCopiedAndSoIsABackup() throws IOException {
        Path data = folder.resolve("data");
        FullDirectory.create(data, folder);
        Files.writeString(data.resolve("millrace.conf"), "listen.port = 1234\n");
        Files.writeString(data.resolve("notes.txt"), "nobody's");
        Path first = folder.resolve("first");
        BackupSummary summary = DirectoryBackup.run(data, first, Clock.system());
        BackupSummary second = DirectoryBackup.run(first, folder.resolve("second"), Clock.system());
        assertEquals(summary.asOfMicros(), second.asOfMicros());
        assertEquals(summary.bytes(), second.bytes());
        assertFalse(Files.exists(first.resolve("notes.txt")));
        assertEquals(
                Files.readString(first.resolve(BackupList.NAME)),
                Files.readString(folder.resolve("second").resolve(BackupList.NAME)));
        Path again = restore(folder.resolve("second"));
        assertEquals("listen.port = 1234\n", Files.readString(again.resolve("millrace.conf")));
        assertEquals(answers(data), answers(again));
    }

    @Test
    void filesOfABackupAreTheirOwnersAlone() throws IOException {
        Path data = folder.resolve("data");
        FullDirectory.create(data, folder);
        Path target = folder.resolve("target");
        DirectoryBackup.run(data, target, Clock.system());
        for (Path root : List.of(target, restore(target))) {
            try (var files = Files.walk(root)) {
                for (Path file : files.toList()) {
                    Set<PosixFilePermission> allowed =
                            PosixFilePermissions.fromString(Files.isDirectory(file) ? "rwx------" : "rw-------");
                    if (!file.endsWith("lock")) {
                        assertEquals(allowed, Files.getPosixFilePermissions(file), file::toString);
                    }
                }
            }
        }
    }

    /** Writers of a table, of a stream with a view, and of two tables at a time; and all that removes files. */
    @Test
    void whatIsRestoredIsOneStateOfTheTimeOfTheBackup() throws Exception {
        Path data = folder.resolve("data");
        int writers = 3;
        AtomicLongArray answered = new AtomicLongArray(writers);
        AtomicLongArray begun = new AtomicLongArray(writers);
        AtomicBoolean stop = new AtomicBoolean();
        ExecutorService threads = Executors.newFixedThreadPool(writers + 1);
        try (TestDatabase database = new TestDatabase(data)) {
            database.run(
                    "CREATE TABLE a (w INT, n BIGINT); CREATE TABLE b (w INT, n BIGINT); CREATE STREAM s (w INT, n BIGINT);"
                            + " CREATE MATERIALIZED VIEW last AS SELECT w, count(*) AS c, max(n) AS n FROM s GROUP BY w;"
                            + " CREATE SUBSCRIPTION told FROM last");
            List<Future<?>> done = new ArrayList<>();
            for (int i = 0; i < writers; i++) {
                int writer = i;
                done.add(threads.submit(() -> write(database, writer, begun, answered, stop)));
            }
            done.add(threads.submit(() -> shake(database, stop)));
            for (int round = 0; round < 6; round++) {
                long[] before = snapshot(answered);
                Path target = folder.resolve("target-" + round);
                database.run("BACKUP TO '" + target + "'");
                long[] after = snapshot(begun);
                try (TestDatabase copy = new TestDatabase(restore(target))) {
                    for (int writer = 0; writer < writers; writer++) {
                        check(copy, writer, before[writer], after[writer]);
                    }
                }
            }
            stop.set(true);
            for (Future<?> each : done) {
                each.get();
            }
        } finally {
            stop.set(true);
            threads.shutdown();
        }
        requireWhole(data);
    }

    private static long[] snapshot(AtomicLongArray values) {
        long[] copy = new long[values.length()];
        for (int i = 0; i < copy.length; i++) {
            copy[i] = values.get(i);
        }
        return copy;
    }

    private static void write(
            TestDatabase database, int writer, AtomicLongArray begun, AtomicLongArray answered, AtomicBoolean stop) {
        try (Session session = database.database().session()) {
            for (long n = 1; !stop.get(); n++) {
                begun.set(writer, n);
                String values = " VALUES (" + writer + ", " + n + ");";
                session.execute("BEGIN; INSERT INTO a" + values + " INSERT INTO b" + values + " INSERT INTO s" + values
                                + " COMMIT")
                        .drain();
                answered.set(writer, n);
            }
        }
    }

    private static void shake(TestDatabase database, AtomicBoolean stop) {
        try (Session session = database.database().session()) {
            for (int i = 0; !stop.get(); i++) {
                session.execute(
                                "CHECKPOINT; CREATE TABLE t" + i + " (k INT); INSERT INTO t" + i
                                        + " VALUES (1); DROP TABLE t"
                                        + i + "; CREATE MATERIALIZED VIEW v AS SELECT w FROM s;"
                                        + " CREATE SUBSCRIPTION other FROM v; DROP SUBSCRIPTION other; DROP MATERIALIZED VIEW v")
                        .drain();
            }
        }
    }

    private static void check(TestDatabase copy, int writer, long least, long most) {
        String row = copy.rows("SELECT count(*), coalesce(max(n), 0) FROM a WHERE w = " + writer)
                .get(0);
        long count = Long.parseLong(row.substring(0, row.indexOf('|')));
        assertEquals(count + "|" + count, row, "each once, without a gap");
        assertTrue(count >= least && count <= most, () -> count + " is not of " + least + " to " + most);
        assertEquals(List.of(row), copy.rows("SELECT count(*), coalesce(max(n), 0) FROM b WHERE w = " + writer));
        assertEquals(
                count == 0 ? List.of() : List.of(row), copy.flushedRows("SELECT c, n FROM last WHERE w = " + writer));
    }

    @Test
    void damageToAnyFileOfABackupIsFoundAndNamed() throws IOException {
        Path data = folder.resolve("data");
        FullDirectory.create(data, folder);
        Path target = folder.resolve("target");
        DirectoryBackup.run(data, target, Clock.system());
        Map<String, byte[]> files = FullDirectory.files(target);
        assertTrue(files.size() > 8, files.keySet()::toString);
        for (Map.Entry<String, byte[]> file : files.entrySet()) {
            for (String how : List.of("changed", "cut", "longer", "removed")) {
                if (file.getValue().length == 0) {
                    continue;
                }
                Path damaged = folder.resolve("damaged");
                FullDirectory.write(damaged, files);
                damage(damaged.resolve(file.getKey()), file.getValue(), how);
                Path to = folder.resolve("never");
                MillraceException refused = assertThrows(
                        MillraceException.class, () -> Restore.run(damaged, to), () -> file.getKey() + " " + how);
                boolean isRemovedList = file.getKey().equals(BackupList.NAME) && how.equals("removed");
                assertEquals(
                        isRemovedList ? "F0000" : "XX001", refused.sqlState().code(), refused::getMessage);
                assertTrue(refused.getMessage().contains(file.getKey()), refused::getMessage);
                assertFalse(Files.exists(to));
                if (!isRemovedList) {
                    assertFalse(DirectoryVerification.run(damaged).isWhole(), () -> file.getKey() + " " + how);
                }
                FullDirectory.delete(damaged);
            }
        }
    }

    private static void damage(Path file, byte[] bytes, String how) throws IOException {
        byte[] other = how.equals("cut")
                ? Arrays.copyOf(bytes, bytes.length - 1)
                : how.equals("longer") ? Arrays.copyOf(bytes, bytes.length + 1) : bytes.clone();
        if (how.equals("changed")) {
            other[other.length / 2] ^= 1;
        }
        Files.write(file, other);
        if (how.equals("removed")) {
            Files.delete(file);
        }
    }

    @Test
    void whatIsDamagedIsNotBackedUp() throws IOException {
        Path data = folder.resolve("data");
        FullDirectory.create(data, folder);
        Path segment = data.resolve("rows/segment-000000000001.log");
        byte[] bytes = Files.readAllBytes(segment);
        bytes[5000] ^= 1;
        Files.write(segment, bytes);
        Path target = folder.resolve("target");
        assertEquals("XX001", state(() -> DirectoryBackup.run(data, target, Clock.system())));
        assertEquals(List.of(), left("target"));
    }

    private List<String> left(String prefix) throws IOException {
        try (var files = Files.list(folder)) {
            return files.map(file -> file.getFileName().toString())
                    .filter(name -> name.startsWith(prefix))
                    .sorted()
                    .toList();
        }
    }

    @Test
    void targetsAndDirectoriesThatCannotBeUsedAreRefusedAndStayAsTheyWere() throws IOException {
        Path data = folder.resolve("data");
        Path full = Files.createDirectories(folder.resolve("full"));
        Files.writeString(full.resolve("mine"), "x");
        Path partial = Files.createDirectories(folder.resolve("target.partial"));
        Files.writeString(partial.resolve("mine"), "x");
        try (TestDatabase database = new TestDatabase(data)) {
            database.run("CREATE TABLE t (a INT); CREATE ROLE ann");
            assertEquals("F0000", state(() -> database.run("BACKUP TO '" + full + "'")));
            assertEquals("F0000", state(() -> database.run("BACKUP TO '" + folder.resolve("target") + "'")));
            assertEquals("F0000", state(() -> database.run("BACKUP TO '" + data.resolve("inside") + "'")));
            assertEquals("22023", state(() -> database.run("BACKUP TO 'relative'")));
            assertEquals("F0001", state(() -> DirectoryBackup.run(data, folder.resolve("other"), Clock.system())));
            Path empty = Files.createDirectories(folder.resolve("empty"));
            assertEquals("BACKUP", database.run("BACKUP TO '" + empty + "'"));
            assertEquals("F0000", state(() -> database.run("BACKUP TO '" + empty + "'")));
            assertEquals("F0000", state(() -> new TestDatabase(empty).close()));
            assertEquals(
                    "42501", state(() -> database.run("SET ROLE ann; BACKUP TO '" + folder.resolve("anns") + "'")));
        }
        assertEquals("F0000", state(() -> Restore.run(data, folder.resolve("new"))));
        assertEquals("F0000", state(() -> Restore.run(folder.resolve("empty"), full)));
        assertEquals("58P01", state(() -> DirectoryBackup.run(full, folder.resolve("other"), Clock.system())));
        try (TestDatabase memory = new TestDatabase()) {
            assertEquals("55000", state(() -> memory.run("BACKUP TO '" + folder.resolve("memory") + "'")));
        }
        assertEquals(List.of("mine"), List.of(full.toFile().list()));
        assertEquals(List.of("mine"), List.of(partial.toFile().list()));
        assertEquals(List.of(), left("new"));
    }

    /** As a server leaves it that is killed when it has just taken the directory. */
    @Test
    void aBackupThatEndedBeforeAnythingWasWrittenIsInNobodysWay() throws IOException {
        Path partial = Files.createDirectories(folder.resolve("target.partial"));
        Files.writeString(partial.resolve("lock"), "1");
        Files.writeString(partial.resolve("backup.begun.new"), "");
        try (TestDatabase database = new TestDatabase(folder.resolve("data"))) {
            assertEquals("BACKUP", database.run("BACKUP TO '" + folder.resolve("target") + "'"));
        }
        assertFalse(Files.exists(partial));
    }

    @Test
    void aBackupThatCannotBeBegunLeavesNothing() throws IOException {
        Path target = folder.resolve("target");
        AtomicLong none = new AtomicLong(-1);
        Path data = Files.createDirectories(folder.resolve("data"));
        assertThrows(MillraceException.class, () -> BackupTarget.begin(target, data, path -> small(path, none)));
        assertFalse(Files.exists(folder.resolve("target.partial")));
    }

    /** A disk that has room for so many bytes. */
    private static DataPlace small(Path path, AtomicLong room) {
        return () -> {
            DataPlace.Taken taken = DataPlace.of(path).take();
            return new DataPlace.Taken() {
                @Override
                public Disk disk() {
                    return new SmallDisk(new RealDisk(path), room);
                }

                @Override
                public void close() {
                    taken.close();
                }
            };
        };
    }

    @Test
    void aTargetThatBecomesFullIsNotThere() throws IOException {
        Path data = folder.resolve("data");
        FullDirectory.create(data, folder);
        long needed = FullDirectory.files(data).values().stream()
                .mapToLong(bytes -> bytes.length)
                .sum();
        Disk source = new SimulatedDisk(1);
        byte[] bytes = new byte[(int) needed];
        try (var file = source.create("any")) {
            file.write(ByteBuffer.wrap(bytes), 0);
        }
        for (long room : List.of(0L, needed / 2, needed - 1)) {
            assertEquals("53100", state(() -> {
                try (BackupTarget target =
                        BackupTarget.begin(folder.resolve("target"), data, path -> small(path, new AtomicLong(room)))) {
                    target.finish(List.of(image(source)), 0);
                }
            }));
            assertEquals(List.of(), left("target"));
        }
    }

    @Test
    void aBackupThatIsStoppedLeavesNothing() throws IOException {
        Path data = folder.resolve("data");
        FullDirectory.create(data, folder);
        Interrupt stopped = new Interrupt();
        try (Interrupt.Binding binding = stopped.bind()) {
            stopped.stop(MillraceException.user(SqlState.QUERY_CANCELED, "stopped"));
            assertEquals("57014", state(() -> DirectoryBackup.run(data, folder.resolve("target"), Clock.system())));
        }
        assertEquals(List.of(), left("target"));
    }

    private static FileImage image(Disk source) {
        try {
            return FileImage.of(source, "any");
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void whatABackupLeftThatDidNotEndIsRemovedByTheNext() throws IOException {
        Path data = folder.resolve("data");
        FullDirectory.create(data, folder);
        Path target = folder.resolve("target");
        List<DataPlace.Taken> taken = new ArrayList<>();
        BackupTarget.begin(target, data, path -> () -> {
            taken.add(DataPlace.of(path).take());
            return taken.get(0);
        });
        Files.writeString(
                Files.createDirectories(folder.resolve("target.partial/rows")).resolve("left"), "x");
        assertEquals("F0001", state(() -> DirectoryBackup.run(data, target, Clock.system())));
        taken.get(0).close(); // as the end of its process does
        DirectoryBackup.run(data, target, Clock.system());
        assertEquals(List.of("target"), left("target"));
        assertFalse(Files.exists(target.resolve("rows/left")));
        requireWhole(target);
    }
}
