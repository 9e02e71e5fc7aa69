package dev.millrace.server.retention;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.batch.Batch;
import dev.millrace.connector.Options;
import dev.millrace.connector.RejectedRecord;
import dev.millrace.connector.ScanRequest;
import dev.millrace.connector.SourceContext;
import dev.millrace.connector.SourcePosition;
import dev.millrace.connector.SourceReader;
import dev.millrace.error.MillraceException;
import dev.millrace.storage.retention.KnownPast;
import dev.millrace.storage.retention.RetentionOptions;
import dev.millrace.storage.retention.RetentionPolicy;
import dev.millrace.storage.retention.SegmentStore;
import dev.millrace.storage.simulation.DiskFault;
import dev.millrace.storage.simulation.SimulatedDisk;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.time.Clock;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;
import java.util.function.LongSupplier;
import java.util.stream.LongStream;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.junit.jupiter.api.Test;

/** From wherever a reader goes on, with whatever was flushed and merged meanwhile, it gives the rows that were still to come. */
class StreamFollowerTest {
    private static final long SEED = Long.getLong("millrace.retained.seed", 1);
    private static final Schema SCHEMA = Schema.of(new Field("v", DataType.BIGINT, false));
    private static final ScanRequest ALL = new ScanRequest(List.of(0), List.of(), 1);

    private final BufferAllocator allocator = new RootAllocator(64 << 20);
    private final List<String> reported = new ArrayList<>();
    private final SourceContext context = new SourceContext() {
        @Override
        public BufferAllocator allocator() {
            return allocator;
        }

        @Override
        public Clock clock() {
            return Clock.system();
        }

        @Override
        public int batchRows() {
            return 1024;
        }

        @Override
        public void wakeUp() {}

        @Override
        public void report(RejectedRecord record) {
            reported.add(record.reason());
        }

        @Override
        public void reject(RejectedRecord record) {
            throw new AssertionError(record);
        }
    };

    private static List<Row> take(Optional<Batch> batch) {
        if (batch.isEmpty()) {
            return List.of();
        }
        try (Batch rows = batch.get()) {
            return TestBatches.rows(rows);
        }
    }

    private static StreamFollower follower(SegmentStore store, LongSupplier durable) {
        Backfill backfill = new Backfill("s", store, ArrivalSpan.ALL, RowChoice.ALL, durable, Clock.system());
        return new StreamFollower(store, SCHEMA, Optional.empty(), ArrivalSpan.ALL, durable, backfill);
    }

    /** A row, where it is in the log. */
    private record Placed(long entry, long row, Row value) {}

    /** Moves rows that a choice takes, up to a place in the log, excluded, to what is expected. */
    private static void settle(List<Placed> appended, long entry, long row, RowChoice choice, List<Row> expected) {
        while (!appended.isEmpty()
                && (appended.get(0).entry() < entry
                        || appended.get(0).entry() == entry && appended.get(0).row() < row)) {
            Placed next = appended.remove(0);
            if (choice.takes(next.entry(), next.row())) {
                expected.add(next.value());
            }
        }
    }

    private static RowChoice choice(Random random) {
        return RowChoice.of(new Options(Map.of(
                RowChoice.OPTION,
                List.of("all", "sample(0.4)", "sample(5%)", "top(1)").get(random.nextInt(4)))));
    }

    /** A disk that cannot be read now and then is among what happens, and that other rows are wanted from now on. */
    @Test
    void whereverAReaderGoesOnNoRowIsMissingOrDoubled() {
        Random random = new Random(SEED);
        int errors = 0;
        int changes = 0;
        for (int history = 0; history < 30; history++) {
            List<Placed> appended = new ArrayList<>(); // and not settled
            List<Row> expected = new ArrayList<>();
            List<Row> read = new ArrayList<>();
            long durable = 0;
            long all = 0; // rows
            SimulatedDisk disk = new SimulatedDisk(SEED + history);
            try (SegmentStore store = SegmentStore.open(
                    disk,
                    SCHEMA,
                    RetentionOptions.of(Optional.empty(), RetentionPolicy.FOREVER),
                    KnownPast.NOTHING,
                    allocator)) {
                long[] last = {0};
                long[] cameAgain = {Long.MAX_VALUE}; // as after a database was opened, whose log comes again by and by
                StreamFollower follower = follower(store, () -> Math.min(last[0], cameAgain[0]));
                SourceReader reader = follower.open(ALL, context).get(0);
                double fraction = 0;
                for (int step = 0; step < 200; step++) {
                    switch (random.nextInt(history % 2 == 0 ? 7 : 8)) {
                        case 7 -> {
                            long[] at = reader.position().orElseThrow().read("retained", 1, in ->
                                    new long[] {in.readLong(), in.readLong()});
                            settle(appended, at[0], at[1], follower.backfill().choice(), expected);
                            follower.backfill().choose(choice(random));
                            changes++;
                        }
                        case 0 -> {
                            durable += 1 + random.nextInt(3);
                            int before = appended.size();
                            append(store, durable, random, appended);
                            all += appended.size() - before;
                        }
                        case 1 -> {
                            last[0] = last[0] + (durable - last[0]) / (1 + random.nextInt(2));
                            cameAgain[0] += Math.min(random.nextInt(4), Long.MAX_VALUE - cameAgain[0]);
                        }
                        case 2 -> store.flush(last[0]);
                        case 3 -> store.merge();
                        case 4 -> {
                            SourcePosition position = reader.position().orElseThrow();
                            reader.close();
                            cameAgain[0] = random.nextInt(4) == 0 ? random.nextLong(last[0] + 1) : Long.MAX_VALUE;
                            reader = follower.reopen(ALL, List.of(position), context)
                                    .get(0);
                        }
                        default -> {
                            disk.chances().readErrorOneIn = random.nextInt(3) == 0 ? 4 : 0;
                            read.addAll(take(reader.poll()));
                            disk.calm();
                        }
                    }
                    BackfillProgress progress = follower.backfill().progress();
                    assertTrue(progress.fraction() >= fraction, progress.toString());
                    fraction = progress.fraction();
                    assertTrue(progress.allRows() >= progress.rows(), progress.toString());
                }
                last[0] = durable;
                cameAgain[0] = Long.MAX_VALUE;
                while (!follower.backfill().has(durable)) {
                    read.addAll(take(reader.poll()));
                }
                assertEquals(List.of(), take(reader.poll()));
                settle(appended, Long.MAX_VALUE, 0, follower.backfill().choice(), expected);
                assertEquals(all, read.size() + follower.backfill().leftOut());
                BackfillProgress progress = follower.backfill().progress();
                assertTrue(progress.isOver() && progress.fraction() == 1 && progress.allRows() == progress.rows());
                assertTrue(
                        follower.backfill().has(durable) && !follower.backfill().has(durable + 1));
                reader.close();
            }
            assertEquals(expected, read, "seed " + SEED + ", history " + history);
            errors += disk.happened().getOrDefault(DiskFault.READ_ERROR, 0);
        }
        assertTrue(errors > 0 && changes > 0);
        assertEquals(List.of(), reported);
        assertEquals(0, allocator.getAllocatedMemory());
        allocator.close();
    }

    /** Entries of several batches, so that readers stop within one. */
    private void append(SegmentStore store, long entry, Random random, List<Placed> appended) {
        List<Batch> batches = new ArrayList<>();
        long row = 0;
        for (int batch = random.nextInt(4); batch >= 0; batch--) {
            List<Row> rows = LongStream.range(0, 1 + random.nextInt(5))
                    .mapToObj(i -> Row.of((long) random.nextInt(1000)))
                    .toList();
            for (Row value : rows) {
                appended.add(new Placed(entry, row++, value));
            }
            batches.add(TestBatches.of(SCHEMA, allocator, rows));
        }
        store.append(entry, entry, batches);
        batches.forEach(Batch::close);
    }

    /** As a query that was paused, or a database that was closed, for longer than rows are kept. */
    @Test
    void rowsThatWereDroppedBeforeTheyWereReadAreReportedOnce() {
        SimulatedDisk disk = new SimulatedDisk(1);
        RetentionOptions options = RetentionOptions.of(
                Optional.empty(), new RetentionPolicy(OptionalLong.of(10), false, OptionalLong.empty()));
        SourcePosition position;
        try (SegmentStore store = SegmentStore.open(disk, SCHEMA, options, KnownPast.NOTHING, allocator)) {
            append(store, 1);
            store.drop(100);
            append(store, 101);
            StreamFollower follower = follower(store, () -> 1000);
            try (SourceReader reader = follower.open(ALL, context).get(0)) {
                assertEquals(List.of(Row.of(101L)), take(reader.poll()));
                assertEquals(List.of(), take(reader.poll()));
                store.drop(200);
                append(store, 201);
                assertEquals(List.of(Row.of(201L)), take(reader.poll()));
                assertEquals(List.of(), take(reader.poll()));
                assertEquals(List.of(), reported, "what it had read, or was gone before it was there");
                position = reader.position().orElseThrow();
            }
            append(store, 301);
            append(store, 302);
            store.drop(400);
        }
        try (SegmentStore store = SegmentStore.open(disk, SCHEMA, options, KnownPast.NOTHING, allocator)) {
            append(store, 401);
            StreamFollower follower = follower(store, () -> 1000);
            try (SourceReader reader =
                    follower.reopen(ALL, List.of(position), context).get(0)) {
                assertEquals(List.of(Row.of(401L)), take(reader.poll()));
                assertEquals(List.of(), take(reader.poll()));
                append(store, 402);
                assertEquals(List.of(Row.of(402L)), take(reader.poll()));
            }
        }
        assertEquals(
                List.of(
                        "rows of records 202 to 302 of the log were dropped, by the stream's retention, before they were read"),
                reported);
        allocator.close();
    }

    /** Each time that a reader looks there is a row more, so that there never is a moment in which it has all. */
    @Test
    void aPastIsReadThoughRowsComeAllTheTime() {
        SimulatedDisk disk = new SimulatedDisk(1);
        RetentionOptions options = RetentionOptions.of(Optional.empty(), RetentionPolicy.FOREVER);
        try (SegmentStore store = SegmentStore.open(disk, SCHEMA, options, KnownPast.NOTHING, allocator)) {
            long[] last = {0};
            while (last[0] < 10) {
                append(store, ++last[0]);
            }
            StreamFollower follower = follower(store, () -> {
                try (Batch batch = TestBatches.of(SCHEMA, allocator, List.of(Row.of(last[0] + 1)))) {
                    store.append(++last[0], last[0], List.of(batch));
                }
                return last[0];
            });
            try (SourceReader reader = follower.open(ALL, context).get(0)) {
                List<Row> read = new ArrayList<>();
                while (reader.readsPast()) {
                    read.addAll(take(reader.poll()));
                    assertTrue(read.size() < 1000, "it has read much, and is in the past");
                }
                assertTrue(read.size() >= 10);
                for (int i = 0; i < 100; i++) {
                    read.addAll(take(reader.poll()));
                }
                assertEquals(
                        LongStream.rangeClosed(1, read.size())
                                .mapToObj(row -> Row.of(row))
                                .toList(),
                        read);
            }
        }
        allocator.close();
    }

    /** One row, in a segment of its own, that arrives in the microsecond of its entry's number. */
    private void append(SegmentStore store, long entry) {
        try (Batch batch = TestBatches.of(SCHEMA, allocator, List.of(Row.of(entry)))) {
            store.append(entry, entry, List.of(batch));
        }
        store.flush();
    }

    @Test
    void aPositionOfAnotherSourceIsRefused() {
        try (SegmentStore store = SegmentStore.open(
                new SimulatedDisk(1),
                SCHEMA,
                RetentionOptions.of(Optional.empty(), RetentionPolicy.FOREVER),
                KnownPast.NOTHING,
                allocator)) {
            StreamFollower follower = follower(store, () -> 0);
            for (SourcePosition wrong : List.of(
                    SourcePosition.of("file", 1, out -> out.writeLong(1)),
                    SourcePosition.of("retained", 1, out -> out.writeLong(1)),
                    SourcePosition.of("retained", 1, out -> {
                        out.writeLong(1);
                        out.writeLong(-1);
                    }))) {
                MillraceException error =
                        assertThrows(MillraceException.class, () -> follower.reopen(ALL, List.of(wrong), context));
                assertTrue(error.sqlState().code().equals("XX001"), error.getMessage());
            }
        }
        allocator.close();
    }
}
