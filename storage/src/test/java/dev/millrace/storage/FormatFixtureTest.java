package dev.millrace.storage;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.batch.Batch;
import dev.millrace.storage.disk.FileReport;
import dev.millrace.storage.log.LogMode;
import dev.millrace.storage.log.WriteAheadLog;
import dev.millrace.storage.log.WriteAheadLogOptions;
import dev.millrace.storage.manifest.Checkpoint;
import dev.millrace.storage.manifest.Manifest;
import dev.millrace.storage.retention.KnownPast;
import dev.millrace.storage.retention.RetentionOptions;
import dev.millrace.storage.retention.RetentionPolicy;
import dev.millrace.storage.retention.RetentionVerification;
import dev.millrace.storage.retention.SegmentStore;
import dev.millrace.storage.retention.StoreScan;
import dev.millrace.storage.simulation.SimulatedCrash;
import dev.millrace.storage.simulation.SimulatedDisk;
import dev.millrace.storage.snapshot.SectionReader;
import dev.millrace.storage.snapshot.SnapshotReader;
import dev.millrace.storage.snapshot.SnapshotWriter;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.time.Clock;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Directories that each format version wrote, which open in every later one. The newest version's are written by this test with
 * {@code -Dmillrace.golden.update=true}, if they are not there; those of versions that were released never change.
 */
class FormatFixtureTest {
    private static final int NEWEST = 4;
    private static final Path FIXTURES = Path.of("src", "test", "resources", "formats");
    private static final WriteAheadLogOptions OPTIONS =
            WriteAheadLogOptions.standard().withSizes(8192, 1 << 20).simulated(Clock.system(), () -> 4711);

    private static String record(long number) {
        return ("record " + number + " ").repeat(number % 5 == 0 ? 120 : 3);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4})
    void aLogThatWasClosedOpensAndGoesOn(int version) throws IOException {
        SimulatedDisk disk = load(version, "log-closed");
        assertEquals(List.of(), WriteAheadLog.verify(disk).damage());
        try (WriteAheadLog log = WriteAheadLog.open(disk, OPTIONS)) {
            assertEquals(List.of(), log.notices());
            assertRecords(log, 31, 60);
            assertEquals(61, log.append(LogMode.AWAITED, bytes(61)));
        }
        try (WriteAheadLog log = WriteAheadLog.open(disk, OPTIONS)) {
            assertRecords(log, 31, 61);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4})
    void aLogWhoseProcessWasKilledOpensAndGoesOn(int version) throws IOException {
        SimulatedDisk disk = load(version, "log-torn");
        try (WriteAheadLog log = WriteAheadLog.open(disk, OPTIONS)) {
            assertEquals(1, log.notices().size());
            assertTrue(
                    log.notices().get(0).startsWith("the log ends with record 60; "),
                    log.notices().toString());
            assertRecords(log, 31, 60);
            assertEquals(61, log.append(LogMode.AWAITED, bytes(61)));
        }
        try (WriteAheadLog log = WriteAheadLog.open(disk, OPTIONS)) {
            assertRecords(log, 31, 61);
        }
    }

    private static void assertRecords(WriteAheadLog log, long from, long to) {
        List<String> found = new ArrayList<>();
        log.replay(from - 1, (number, bytes) -> {
            assertEquals(record(number), StandardCharsets.US_ASCII.decode(bytes).toString());
            found.add(record(number));
        });
        assertEquals(to - from + 1, found.size());
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4})
    void aCheckpointIsRead(int version) throws IOException {
        SimulatedDisk disk = load(version, "checkpoints");
        assertTrue(Manifest.verify(disk).stream().allMatch(FileReport::isWhole));
        Checkpoint newest = Manifest.open(disk).newest();
        assertEquals(2, newest.number());
        assertEquals(6, newest.logNumber());
        assertEquals(2, newest.files().size());
        try (SnapshotReader reader = SnapshotReader.open(disk, newest.files().get(1))) {
            assertEquals(
                    List.of("public.t", "größe"),
                    reader.sections().stream().map(section -> section.name()).toList());
            SectionReader in = reader.read(reader.sections().get(0));
            ByteBuffer bytes = ByteBuffer.allocate(5000);
            assertEquals(4000, in.read(bytes));
            for (int i = 0; i < 4000; i++) {
                assertEquals((byte) (i * 7), bytes.get(i));
            }
        }
    }

    private static final Schema STREAM = Schema.of(
            new Field("id", DataType.BIGINT, false),
            new Field("at", DataType.TIMESTAMPTZ, true),
            new Field("value", DataType.DOUBLE, true),
            new Field("price", DataType.numeric(30, 2), true),
            new Field("device", DataType.TEXT, true),
            new Field("payload", DataType.TEXT, true),
            new Field("ok", DataType.BOOLEAN, true),
            new Field("tags", DataType.array(DataType.TEXT), true));
    private static final RetentionOptions RETENTION = RetentionOptions.of(Optional.of(1), RetentionPolicy.FOREVER);

    private static Row row(long id) {
        return id % 9 == 4
                ? Row.of(id, null, null, null, null, null, null, null)
                : Row.of(
                        id,
                        1_700_000_000_000_000L + id * 1_000_000,
                        id % 50 == 7 ? Math.PI * id : id / 10.0,
                        BigDecimal.valueOf(id * id, 2),
                        "device " + id % 5,
                        Long.toHexString(id * 0x9E3779B97F4A7C15L).repeat(1 + (int) id % 3),
                        id % 3 == 0,
                        List.of("a", "b" + id % 4));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4})
    void retainedRowsAreRead(int version) throws IOException {
        SimulatedDisk disk = load(version, "segments");
        assertTrue(RetentionVerification.run(disk, STREAM, KnownPast.NOTHING).stream()
                .allMatch(FileReport::isWhole));
        try (BufferAllocator allocator = new RootAllocator();
                SegmentStore store = SegmentStore.open(disk, STREAM, RETENTION, KnownPast.NOTHING, allocator)) {
            assertEquals(2, store.segments().size());
            assertEquals(7, store.lastEntry());
            List<Row> rows = new ArrayList<>();
            List<Integer> columns = IntStream.range(0, STREAM.size()).boxed().toList();
            try (StoreScan scan = store.scan(columns, List.of(), allocator)) {
                for (Optional<Batch> next = scan.next(); next.isPresent(); next = scan.next()) {
                    try (Batch batch = next.get()) {
                        rows.addAll(TestBatches.rows(batch));
                    }
                }
            }
            assertEquals(
                    LongStream.range(0, 1000)
                            .mapToObj(id -> TestBatches.canonical(STREAM, row(id)))
                            .toList(),
                    rows);
        }
    }

    private static void writeSegments() throws IOException {
        SimulatedDisk disk = new SimulatedDisk(1);
        try (BufferAllocator allocator = new RootAllocator();
                SegmentStore store = SegmentStore.open(disk, STREAM, RETENTION, KnownPast.NOTHING, allocator)) {
            for (long part = 0; part < 2; part++) {
                List<Row> rows = LongStream.range(500 * part, 500 * part + 500)
                        .mapToObj(FormatFixtureTest::row)
                        .toList();
                try (Batch batch = TestBatches.of(STREAM, allocator, rows)) {
                    store.append(3 + 4 * part, 1_700_000_000_000_000L + part, List.of(batch));
                }
                store.flush();
            }
        }
        save(disk, "segments");
    }

    @Test
    void theNewestVersionIsThere() throws IOException {
        if (Boolean.getBoolean("millrace.golden.update") && !Files.exists(FIXTURES.resolve("" + NEWEST))) {
            write();
        }
        if (Boolean.getBoolean("millrace.golden.update")
                && !Files.exists(FIXTURES.resolve("" + NEWEST).resolve("segments"))) {
            writeSegments();
        }
        for (String name : List.of("log-closed", "log-torn", "checkpoints", "segments")) {
            assertFalse(load(NEWEST, name).list().isEmpty(), name);
        }
    }

    private static SimulatedDisk load(int version, String name) throws IOException {
        SimulatedDisk disk = new SimulatedDisk(version);
        try (Stream<Path> files = Files.list(FIXTURES.resolve("" + version).resolve(name))) {
            for (Path file : files.toList()) {
                disk.put(file.getFileName().toString(), Files.readAllBytes(file));
            }
        }
        return disk;
    }

    private static void write() throws IOException {
        SimulatedDisk closed = new SimulatedDisk(1);
        writeLog(closed).close();
        save(closed, "log-closed");
        SimulatedDisk torn = new SimulatedDisk(1);
        tear(torn, writeLog(torn));
        save(torn.copy(), "log-torn");
        SimulatedDisk checkpoints = new SimulatedDisk(1);
        Manifest manifest = Manifest.open(checkpoints);
        try (SnapshotWriter out = SnapshotWriter.create(checkpoints, manifest.newFileName())) {
            out.section("empty");
            manifest.publish(3, List.of(out.finish()));
        }
        try (SnapshotWriter out = SnapshotWriter.create(checkpoints, manifest.newFileName())) {
            ByteBuffer bytes = ByteBuffer.allocate(4000);
            for (int i = 0; i < 4000; i++) {
                bytes.put((byte) (i * 7));
            }
            out.section("public.t");
            out.write(bytes.flip());
            out.section("größe");
            manifest.publish(6, List.of(manifest.newest().files().get(0), out.finish()));
        }
        save(checkpoints, "checkpoints");
    }

    private static WriteAheadLog writeLog(SimulatedDisk disk) {
        WriteAheadLog log = WriteAheadLog.open(disk, OPTIONS);
        for (long number = 1; number <= 60; number++) {
            log.awaitDurable(log.append(LogMode.AWAITED, bytes(number)));
        }
        log.forget(30);
        return log;
    }

    private static ByteBuffer bytes(long number) {
        return ByteBuffer.wrap(record(number).getBytes(StandardCharsets.US_ASCII));
    }

    /** Of a group of two the second record reached the disk, the first one in part. */
    private static void tear(SimulatedDisk disk, WriteAheadLog log) throws IOException {
        log.append(LogMode.AWAITED, bytes(61));
        log.append(LogMode.AWAITED, bytes(62));
        disk.killIn(1); // the write is there, and is not forced
        assertThrows(SimulatedCrash.class, log::work);
        SimulatedDisk found = disk.copy();
        String newest =
                found.list().stream().filter(name -> name.startsWith("segment")).reduce("", (before, name) -> name);
        byte[] bytes = found.bytes(newest);
        int at = new String(bytes, StandardCharsets.ISO_8859_1).indexOf(record(61));
        assertTrue(at > 0);
        java.util.Arrays.fill(bytes, at + 5, at + 15, (byte) 0);
        disk.put(newest, bytes);
    }

    private static void save(SimulatedDisk disk, String name) throws IOException {
        Path directory = Files.createDirectories(FIXTURES.resolve("" + NEWEST).resolve(name));
        for (String file : disk.list()) {
            Files.write(directory.resolve(file), disk.bytes(file));
        }
    }
}
