package dev.millrace.connectors.s3;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.batch.Batch;
import dev.millrace.connector.CheckpointedSink;
import dev.millrace.connector.Options;
import dev.millrace.connector.PreparedRows;
import dev.millrace.connector.Sink;
import dev.millrace.connector.SinkContext;
import dev.millrace.connectors.directory.UploadRecords;
import dev.millrace.connectors.file.FileSinkFactory;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.testing.connector.SinkOutside;
import dev.millrace.testing.connector.TestSinkContext;
import dev.millrace.testing.memory.LeakCheck;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.testing.s3.S3Server;
import dev.millrace.testing.time.Eventually;
import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

@Tag("peers")
class S3SinkTest {
    @RegisterExtension
    static final SharedServer SERVER = new SharedServer();

    @RegisterExtension
    final LeakCheck memory = new LeakCheck();

    @TempDir
    Path home;

    private SinkContext durable() {
        return new TestSinkContext(memory.allocator(), "d", home.resolve("sink"));
    }

    private void write(Sink sink, Row... rows) {
        try (Batch batch = TestBatches.of(SinkOutside.SCHEMA, memory.allocator(), rows)) {
            sink.write(batch);
        }
    }

    /** One row, as of a checkpoint that is on disk. */
    private PreparedRows checkpoint(CheckpointedSink sink, long number, Row... rows) {
        write(sink, rows);
        sink.commit(number);
        PreparedRows prepared = new PreparedRows(number, sink.prepare(number));
        sink.publish(number);
        return prepared;
    }

    private static void shows(S3Outside outside, int objects) {
        Eventually.holds(objects + " objects", () -> outside.keys().size() == objects);
    }

    private List<Path> files() throws IOException {
        List<Path> found = new ArrayList<>();
        Files.walkFileTree(home, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
                found.add(file);
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFileFailed(Path file, IOException e) {
                return FileVisitResult.CONTINUE; // the sink has removed it meanwhile
            }
        });
        return found;
    }

    @Test
    void keysHaveTheValuesOfColumnsAndFilesLeaveTheDiskWhenTheyAreShown() throws IOException {
        S3Outside outside = SERVER.outside("csv", "partition_by", "name");
        try (CheckpointedSink sink = outside.open(durable())) {
            sink.recover(Optional.empty());
            checkpoint(sink, 1, Row.of(1L, "north"), Row.of(2L, "a/b=c"), Row.of(3L, "north"), Row.of(4L, null));
            shows(outside, 3);
            Eventually.holds("no file is left", () -> files().isEmpty());
        }
        assertEquals(
                List.of("name=__HIVE_DEFAULT_PARTITION__", "name=a%2Fb%3Dc", "name=north"),
                outside.keys().stream()
                        .map(key -> key.substring(0, key.indexOf('/')))
                        .toList());
        assertEquals(List.of(1L, 2L, 3L, 4L), outside.seen().stream().sorted().toList());
    }

    @Test
    void anObjectThatWasTakenAwayDoesNotComeAgainAfterACrash() throws IOException {
        S3Outside outside = SERVER.outside("json");
        PreparedRows last;
        Map<Path, byte[]> before = new HashMap<>();
        try (CheckpointedSink sink = outside.open(durable())) {
            sink.recover(Optional.empty());
            SERVER.server().goes();
            last = checkpoint(sink, 1, Row.of(1L, "n"));
            for (Path file : files()) {
                before.put(file, Files.readAllBytes(file));
            }
            SERVER.server().comes();
            shows(outside, 1);
        }
        String key = outside.keys().get(0);
        // A process that was killed behind the store's answer: the file is there, and what is kept of an upload that
        // was completed.
        String upload = "completed-and-gone";
        for (Map.Entry<Path, byte[]> file : before.entrySet()) {
            Files.write(file.getKey(), file.getValue());
            UploadRecords.keep(file.getKey(), upload, System.currentTimeMillis());
        }
        SERVER.server().remove(outside.prefix() + key);
        try (CheckpointedSink sink = outside.open(durable())) {
            sink.recover(Optional.of(last));
            Eventually.holds("no file is left", () -> files().isEmpty());
            assertEquals(List.of(), outside.keys());
        }
    }

    @Test
    void anUploadThatTheStoreGaveUpAfterDaysIsMadeAgain() throws IOException {
        S3Outside outside = SERVER.outside("json");
        PreparedRows last;
        SERVER.server().goes();
        try (CheckpointedSink sink = outside.open(durable())) {
            sink.recover(Optional.empty());
            last = checkpoint(sink, 1, Row.of(1L, "n"));
        } finally {
            SERVER.server().comes();
        }
        long dayAndMore = System.currentTimeMillis() - 90_000_000L;
        for (Path file : files()) {
            UploadRecords.keep(file, "given-up", dayAndMore);
        }
        try (CheckpointedSink sink = outside.open(durable())) {
            sink.recover(Optional.of(last));
            shows(outside, 1);
        }
        assertEquals(List.of(1L), outside.seen());
    }

    /** A store that was stopped while it completed an upload, before or behind the object. */
    @Test
    void anUploadWhosePartsTheStoreLostIsMadeAgainOrIsThere() throws IOException {
        S3Outside outside = SERVER.outside("json");
        PreparedRows last;
        Map<Path, byte[]> before = new HashMap<>();
        SERVER.server().goes();
        try (CheckpointedSink sink = outside.open(durable())) {
            sink.recover(Optional.empty());
            last = checkpoint(sink, 1, Row.of(1L, "n"));
            for (Path file : files()) {
                before.put(file, Files.readAllBytes(file));
            }
        } finally {
            SERVER.server().comes();
        }
        ObjectName object = new ObjectName(S3Server.BUCKET, outside.prefix() + "part-d-7-00000001.jsonl");
        try (ObjectStore store = new ObjectStore(StoreOptions.read(outside.options("")))) {
            for (int time = 0; time < 2; time++) {
                String upload = store.begin(object, Map.of());
                for (Map.Entry<Path, byte[]> file : before.entrySet()) {
                    Files.write(file.getKey(), file.getValue());
                    UploadRecords.keep(file.getKey(), upload, System.currentTimeMillis());
                }
                try (CheckpointedSink sink = outside.open(durable())) {
                    sink.recover(Optional.of(last));
                    Eventually.holds("no file is left", () -> files().isEmpty());
                }
                assertEquals(List.of(1L), outside.seen());
                store.abort(object, upload);
            }
        }
        assertEquals(List.of(), SERVER.server().uploads());
    }

    @Test
    void uploadsThatACrashLeftAreGivenUp() {
        S3Outside outside = SERVER.outside("json");
        try (ObjectStore store = new ObjectStore(StoreOptions.read(outside.options("")))) {
            ObjectName own = new ObjectName(S3Server.BUCKET, outside.prefix() + "part-d-7-00000001.jsonl");
            ObjectName others = new ObjectName(S3Server.BUCKET, outside.prefix() + "part-e-7-00000001.jsonl");
            store.begin(own, Map.of());
            String foreign = store.begin(others, Map.of());
            try (CheckpointedSink sink = outside.open(durable())) {
                sink.recover(Optional.empty());
                checkpoint(sink, 1, Row.of(1L, "n"));
                shows(outside, 1);
                Eventually.holds(
                        "its own is given up, and that of another is not",
                        () -> SERVER.server().uploads().equals(List.of(others.key())));
            }
            store.abort(others, foreign);
        }
    }

    @Test
    void anObjectOfAnotherIsNotWrittenOverAndFailsTheSink() {
        S3Outside outside = SERVER.outside("json");
        outside.put("part-d-7-00000001.jsonl", "{\"id\": 7, \"name\": null}\n");
        try (CheckpointedSink sink = outside.open(durable())) {
            sink.recover(Optional.empty());
            checkpoint(sink, 1, Row.of(1L, "n"));
            Eventually.holds(
                    "it has failed",
                    () -> sink.status().orElseThrow().lastError().isPresent());
            MillraceException failure = assertThrows(MillraceException.class, () -> sink.commit(2));
            assertEquals(SqlState.OBJECT_NOT_IN_PREREQUISITE_STATE, failure.sqlState());
            assertTrue(failure.getMessage().contains("is not of this sink's rows"), failure.getMessage());
        }
        assertEquals(List.of(7L), outside.seen());
    }

    @Test
    void theSameRowsOfACopyOfTheDatabaseAreThereOnce() throws IOException {
        S3Outside outside = SERVER.outside("json");
        Map<Path, byte[]> backup = new HashMap<>();
        PreparedRows last;
        SERVER.server().goes();
        try (CheckpointedSink sink = outside.open(durable())) {
            sink.recover(Optional.empty());
            last = checkpoint(sink, 1, Row.of(1L, "n"));
            for (Path file : files()) {
                backup.put(file, Files.readAllBytes(file));
            }
            SERVER.server().comes();
            shows(outside, 1);
            Eventually.holds("no file is left", () -> files().isEmpty());
        }
        for (Map.Entry<Path, byte[]> file : backup.entrySet()) {
            Files.write(file.getKey(), file.getValue());
        }
        try (CheckpointedSink sink = outside.open(durable())) {
            sink.recover(Optional.of(last));
            Eventually.holds("no file is left", () -> files().isEmpty());
            sink.commit(2); // has not failed
        }
        assertEquals(List.of(1L), outside.seen());
    }

    @Test
    void largeFilesAreUploadedInParts() {
        S3Outside outside = SERVER.outside("csv");
        Row[] rows = new Row[20_000];
        String name = "x".repeat(1_000);
        for (int i = 0; i < rows.length; i++) {
            rows[i] = Row.of((long) i, name);
        }
        try (CheckpointedSink sink = outside.open(durable())) {
            sink.recover(Optional.empty());
            checkpoint(sink, 1, rows);
            shows(outside, 1);
        }
        assertEquals(rows.length, outside.seen().stream().distinct().count());
    }

    @Test
    void whoeverMakesRowsWaitsWhenAsMuchWaitsAsMayAndHearsOfRoom() {
        S3Outside outside = SERVER.outside("csv", "outbox.limit_mb", "1");
        AtomicInteger room = new AtomicInteger();
        Row[] rows = new Row[2_000];
        for (int i = 0; i < rows.length; i++) {
            rows[i] = Row.of((long) i, "x".repeat(1_000));
        }
        SERVER.server().goes();
        try (CheckpointedSink sink = outside.open(durable())) {
            sink.whenRoom(room::incrementAndGet);
            sink.recover(Optional.empty());
            checkpoint(sink, 1, rows);
            assertTrue(sink.isFull());
            Eventually.holds(
                    "it waits for the store",
                    () -> sink.status().orElseThrow().waitsFor().isPresent());
            assertEquals(2_000, sink.status().orElseThrow().waiting());
            SERVER.server().comes();
            Eventually.holds("there is room", () -> room.get() == 1);
            assertFalse(sink.isFull());
            assertEquals(2_000, sink.status().orElseThrow().records());
            assertEquals(Optional.empty(), sink.status().orElseThrow().lastError());
        }
    }

    @Test
    void withoutADataDirectoryObjectsAreThereWhenTheQueryEnds() {
        S3Outside outside = SERVER.outside("parquet");
        SinkContext context = new TestSinkContext(memory.allocator());
        Sink sink = new FileSinkFactory().open(SinkOutside.SCHEMA, true, outside.options(outside.prefix()), context);
        try (sink) {
            write(sink, Row.of(1L, "n"), Row.of(2L, null));
            sink.commit(1);
        }
        assertEquals(List.of(1L, 2L), outside.seen());
        Sink failed = new FileSinkFactory().open(SinkOutside.SCHEMA, true, outside.options(outside.prefix()), context);
        try (failed) {
            write(failed, Row.of(3L, "n"));
        }
        assertEquals(List.of(1L, 2L), outside.seen());
    }

    @Test
    void whatIsWrongWithAStoreIsSaidInOneLine() {
        S3Outside outside = SERVER.outside("csv");
        Map<String, String> options = new HashMap<>(SERVER.server().options());
        options.put("path", "s3://nowhere/out/");
        assertEquals("bucket \"nowhere\" does not exist", refused(options));
        options.put("path", "s3://bucket/out/");
        options.put("s3.access_key_id", "nobody");
        String refused = refused(options);
        assertTrue(refused.startsWith("\"s3://bucket/out/\" is refused by http://127.0.0.1:"), refused);
        assertFalse(refused.contains(SERVER.server().secret()), refused);
        options.put("s3.endpoint", "http://127.0.0.1:1");
        assertEquals("http://127.0.0.1:1 does not answer: Connection refused", refused(options));
        options.put("s3.endpoint", "ftp://x");
        assertTrue(refused(options).startsWith("option \"s3.endpoint\" cannot be \"ftp://x\""));
        options.put("path", "s3://bucket/out.csv");
        assertTrue(refused(options).contains("what keys begin with"));
        options.put("path", "s3://bucket");
        assertTrue(refused(options).contains("s3://BUCKET/KEY"));
        assertEquals(List.of(), outside.keys());
    }

    private String refused(Map<String, String> options) {
        return String.valueOf(assertThrows(MillraceException.class, () -> {
                    try (Sink sink = new FileSinkFactory()
                            .open(
                                    SinkOutside.SCHEMA,
                                    true,
                                    new Options(options, S3Server::resolve),
                                    new TestSinkContext(memory.allocator()))) {
                        sink.check();
                    }
                })
                .getMessage());
    }

    @Test
    void secretsAreReferences() {
        Map<String, String> options = new HashMap<>(SERVER.server().options());
        options.put("path", "s3://bucket/x/");
        options.put("s3.secret_access_key", "open");
        assertTrue(refused(options).contains("is a secret"));
    }
}
