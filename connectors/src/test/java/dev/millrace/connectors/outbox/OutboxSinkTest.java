package dev.millrace.connectors.outbox;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.batch.Batch;
import dev.millrace.connector.CheckpointedSink;
import dev.millrace.connector.Options;
import dev.millrace.connector.PreparedRows;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.testing.connector.SinkOutside;
import dev.millrace.testing.connector.TestSinkContext;
import dev.millrace.testing.memory.LeakCheck;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.testing.time.Eventually;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

class OutboxSinkTest {
    @RegisterExtension
    final LeakCheck memory = new LeakCheck();

    @TempDir
    Path home;

    private final MemoryOutside outside = new MemoryOutside(1, 0);

    private CheckpointedSink open() {
        return outside.open(new TestSinkContext(memory.allocator(), "d", home));
    }

    private CheckpointedSink begun(Optional<PreparedRows> from) {
        CheckpointedSink sink = open();
        sink.recover(from);
        return sink;
    }

    private void write(CheckpointedSink sink, long from, long to) {
        List<Row> rows =
                LongStream.range(from, to).mapToObj(id -> Row.of(id, "x")).toList();
        try (Batch batch = TestBatches.of(SinkOutside.SCHEMA, memory.allocator(), rows)) {
            sink.write(batch);
        }
        sink.commit(to);
    }

    private List<Path> files() {
        try (Stream<Path> all = Files.list(home)) {
            return all.filter(file -> file.toString().endsWith(".spool"))
                    .sorted()
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private List<String> damage() throws IOException {
        return SpoolVerification.of(home).stream()
                .flatMap(file -> file.damage().stream())
                .toList();
    }

    private void sees(long rows) {
        Eventually.holds(rows + " rows", () -> outside.seen().size() == rows);
    }

    @Test
    void withoutADataDirectoryItIsRefused() {
        MillraceException error = assertThrows(
                MillraceException.class,
                () -> new OutboxSink(
                        new TestSinkContext(memory.allocator()),
                        "memory",
                        new MemoryOutside.IdRows(),
                        outside.delivery(),
                        new Options(Map.of())));
        assertEquals(SqlState.OBJECT_NOT_IN_PREREQUISITE_STATE, error.sqlState());
        assertTrue(error.getMessage().contains("needs a data directory"), error.getMessage());
        assertTrue(error.hint().orElse("").contains("--data"));
    }

    @Test
    void filesGoWhenTheOutsideHasTheirRecords() {
        try (CheckpointedSink sink = begun(Optional.empty())) {
            write(sink, 0, 10);
            assertEquals(1, files().size());
            sink.prepare(3);
            sink.publish(3);
            sees(10);
            Eventually.holds("no files", () -> files().isEmpty());
            assertEquals(10, sink.status().orElseThrow().records());
            assertEquals(0, sink.status().orElseThrow().waiting());
        }
    }

    @Test
    void itIsFullOfWhatTheOutsideDoesNotTakeAndGoesOnWhenItDoes() {
        outside.goes();
        try (CheckpointedSink sink = begun(Optional.empty())) {
            AtomicInteger told = new AtomicInteger();
            sink.whenRoom(told::incrementAndGet);
            long rows = 0;
            while (!sink.isFull()) {
                write(sink, rows, rows + 5_000);
                rows += 5_000;
                assertTrue(rows < 1_000_000, "1 MB is no limit");
            }
            write(sink, rows, rows + 1); // what was on its way is taken
            sink.prepare(1); // and checkpoints go on
            sink.publish(1);
            Eventually.holds(
                    "it says what it waits for",
                    () -> sink.status()
                            .flatMap(status -> status.waitsFor())
                            .filter(waits -> waits.contains("as many as may wait"))
                            .isPresent());
            assertTrue(sink.isFull());
            outside.comes();
            sees(rows + 1);
            Eventually.holds("room", () -> !sink.isFull() && told.get() > 0);
        }
    }

    /** A disk that takes so many bytes. */
    private static final class SmallDisk extends SpoolRoom {
        private final AtomicInteger left;

        SmallDisk(int left) {
            this.left = new AtomicInteger(left);
        }

        @Override
        void write(FileChannel channel, ByteBuffer from) throws IOException {
            int bytes = Math.min(from.remaining(), left.get());
            if (bytes == 0) {
                throw new IOException("No space left on device");
            }
            channel.write(from.slice(from.position(), bytes));
            from.position(from.position() + bytes);
            left.addAndGet(-bytes);
        }
    }

    @Test
    void aDiskThatIsFullIsWaitedForAndNothingIsLostOrDoubled() throws InterruptedException {
        SmallDisk disk = new SmallDisk(1_000);
        AtomicReference<Optional<Throwable>> failure = new AtomicReference<>(Optional.empty());
        try (CheckpointedSink sink = outside.open(new TestSinkContext(memory.allocator(), "d", home), disk)) {
            sink.recover(Optional.empty());
            Thread thread = new Thread(() -> {
                try {
                    write(sink, 0, 40_000); // more than is buffered
                    sink.prepare(1);
                } catch (Throwable e) {
                    failure.set(Optional.of(e));
                }
            });
            thread.start();
            Eventually.holds("it waits", sink::waitsForDisk);
            assertTrue(sink.status()
                    .flatMap(status -> status.waitsFor())
                    .orElse("")
                    .contains("no space left on device"));
            disk.left.set(200_000); // and then for the rest
            Eventually.holds("it waits again", () -> disk.left.get() == 0 && sink.waitsForDisk());
            disk.left.set(Integer.MAX_VALUE);
            thread.join();
            assertEquals(Optional.empty(), failure.get());
            assertFalse(sink.waitsForDisk());
            sink.publish(1);
            sees(40_000);
            assertEquals(LongStream.range(0, 40_000).boxed().toList(), outside.seen());
        }
    }

    @Test
    void whoWaitsForRoomOnDiskGivesUpWhenInterrupted() throws InterruptedException {
        AtomicReference<Optional<Throwable>> failure = new AtomicReference<>(Optional.empty());
        try (CheckpointedSink sink =
                outside.open(new TestSinkContext(memory.allocator(), "d", home), new SmallDisk(0))) {
            sink.recover(Optional.empty());
            Thread thread = new Thread(() -> {
                try {
                    write(sink, 0, 1);
                    sink.prepare(1);
                } catch (Throwable e) {
                    failure.set(Optional.of(e));
                }
            });
            thread.start();
            Eventually.holds("it waits", sink::waitsForDisk);
            thread.interrupt();
            thread.join();
            assertEquals(
                    SqlState.QUERY_CANCELED, ((MillraceException) failure.get().orElseThrow()).sqlState());
        }
    }

    @Test
    void whatTheOutsideWillNeverTakeFailsTheSink() {
        try (CheckpointedSink sink = begun(Optional.empty())) {
            outside.failForGood();
            write(sink, 0, 1);
            sink.prepare(1);
            MillraceException error = assertThrows(MillraceException.class, () -> {
                sink.publish(1);
                Eventually.holds(
                        "it fails",
                        () -> sink.status()
                                .flatMap(status -> status.lastError())
                                .filter(why -> why.contains("no such row"))
                                .isPresent());
                write(sink, 1, 2);
            });
            assertEquals(SqlState.CHECK_VIOLATION, error.sqlState());
        }
    }

    @Test
    void anOlderCopyOfTheDatabaseDoesNotWrite() {
        PreparedRows prepared;
        try (CheckpointedSink sink = begun(Optional.empty())) {
            write(sink, 0, 5);
            prepared = new PreparedRows(4, sink.prepare(4));
            sink.publish(4);
            sees(5);
        }
        outside.setNumber(9);
        try (CheckpointedSink sink = begun(Optional.of(prepared))) {
            Eventually.holds(
                    "it fails",
                    () -> sink.status()
                            .flatMap(status -> status.lastError())
                            .filter(error -> error.contains("older copy"))
                            .isPresent());
            assertThrows(MillraceException.class, () -> write(sink, 5, 6));
            assertEquals(5, outside.seen().size());
        }
    }

    /** Whatever byte is another, the sink fails and names the file, and nothing of the file is delivered. */
    @Test
    void damageIsFoundByChecksums() throws IOException {
        outside.goes();
        PreparedRows prepared;
        try (CheckpointedSink sink = begun(Optional.empty())) {
            write(sink, 0, 5);
            prepared = new PreparedRows(4, sink.prepare(4));
        }
        outside.comes();
        Path file = files().get(0);
        byte[] whole = Files.readAllBytes(file);
        for (int at = 0; at < whole.length; at++) {
            byte[] damaged = whole.clone();
            damaged[at] ^= 0x10;
            Files.write(file, damaged);
            boolean isLength = at >= SpoolFormat.HEADER_BYTES && (at - SpoolFormat.HEADER_BYTES) % 16 < 4;
            assertTrue(isLength || !damage().isEmpty(), "byte " + at); // with another length it may end within a record
            try (CheckpointedSink sink = begun(Optional.of(prepared))) {
                Eventually.holds(
                        "it fails",
                        () -> sink.status()
                                .flatMap(status -> status.lastError())
                                .isPresent());
                String error =
                        sink.status().flatMap(status -> status.lastError()).orElseThrow();
                assertTrue(error.contains(file.getFileName().toString()), error);
            }
            assertEquals(List.of(), outside.seen(), "byte " + at);
        }
        Files.write(file, Arrays.copyOf(whole, whole.length - 1));
        try (CheckpointedSink sink = open()) {
            MillraceException error = assertThrows(MillraceException.class, () -> sink.recover(Optional.of(prepared)));
            assertEquals(SqlState.DATA_CORRUPTED, error.sqlState());
        }
        Files.delete(file);
        try (CheckpointedSink sink = begun(Optional.of(prepared))) {
            Eventually.holds(
                    "it fails",
                    () -> sink.status()
                            .flatMap(status -> status.lastError())
                            .filter(error -> error.contains("are gone"))
                            .isPresent());
        }
        Files.write(file, whole);
        assertEquals(List.of(), damage());
        try (CheckpointedSink sink = begun(Optional.of(prepared))) {
            sees(5);
        }
    }

    @Test
    void tokensThatAreDamagedAreRefused() {
        byte[] token = SpoolEntry.token(List.of(new SpoolEntry(1, 2, 30, 1), new SpoolEntry(2, 5, 40, 3)));
        assertEquals(2, SpoolEntry.ofToken(token).size());
        List<byte[]> damaged = new ArrayList<>();
        for (int length = 0; length < token.length; length++) {
            damaged.add(Arrays.copyOf(token, length));
        }
        damaged.add(SpoolEntry.token(List.of(new SpoolEntry(2, 2, 30, 1), new SpoolEntry(1, 5, 40, 3))));
        damaged.add(SpoolEntry.token(List.of(new SpoolEntry(1, 5, 30, 1), new SpoolEntry(2, 5, 40, 3))));
        for (byte[] each : damaged) {
            MillraceException error = assertThrows(MillraceException.class, () -> SpoolEntry.ofToken(each));
            assertEquals(SqlState.DATA_CORRUPTED, error.sqlState());
        }
    }
}
