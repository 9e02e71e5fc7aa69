package dev.millrace.server.retention;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.batch.Batch;
import dev.millrace.condense.ErrorColumns;
import dev.millrace.connector.Options;
import dev.millrace.connector.RejectedRecord;
import dev.millrace.connector.ScanRequest;
import dev.millrace.connector.SourceContext;
import dev.millrace.connector.SourcePosition;
import dev.millrace.connector.SourceReader;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.server.sketched.SketchClause;
import dev.millrace.server.sketched.SketchPieces;
import dev.millrace.server.sketched.SketchedForm;
import dev.millrace.sketch.Sketch;
import dev.millrace.sketch.schema.Bound;
import dev.millrace.sketch.segment.SegmentFilter;
import dev.millrace.storage.disk.FileReport;
import dev.millrace.storage.retention.KeptSegment;
import dev.millrace.storage.retention.KnownPast;
import dev.millrace.storage.retention.RetentionOptions;
import dev.millrace.storage.retention.RetentionPolicy;
import dev.millrace.storage.retention.RetentionVerification;
import dev.millrace.storage.retention.SegmentStore;
import dev.millrace.storage.retention.StoreScan;
import dev.millrace.storage.simulation.SimulatedCrash;
import dev.millrace.storage.simulation.SimulatedDisk;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.time.Clock;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;
import java.util.stream.IntStream;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Sketched streams that are killed, refused and given errors by their disk, while a standing query follows them: each row is there once and in its
 * place, each value is what it was or within its bound, and a reader that goes on within a stretch that became sketches meanwhile misses no
 * row and gives none twice.
 */
@Tag("long")
class SketchedHistoriesTest {
    private static final long SEED = Long.getLong("millrace.sketched.seed", 1);
    private static final int HISTORIES = Integer.getInteger("millrace.sketched.histories", 12);
    private static final int LIVES = 5;
    private static final double SHARE = .02;
    private static final double LOAD_BOUND = .5;
    private static final long TIME_BOUND = 700;
    private static final Schema SCHEMA = Schema.of(
            new Field("device", DataType.TEXT, true),
            new Field("at", DataType.TIMESTAMPTZ, true),
            new Field("temp", DataType.DOUBLE, true),
            new Field("load", DataType.REAL, true),
            new Field("steps", DataType.INTEGER, true),
            new Field("id", DataType.BIGINT, false),
            new Field("note", DataType.TEXT, true),
            new Field("state", DataType.TEXT, true),
            new Field("ok", DataType.BOOLEAN, true),
            new Field("price", DataType.numeric(12, 2), true),
            new Field("room", DataType.SMALLINT, true));
    private static final List<Integer> ALL =
            IntStream.range(0, SCHEMA.size() + 1).boxed().toList();
    private static final ScanRequest FOLLOWED =
            new ScanRequest(IntStream.range(0, SCHEMA.size()).boxed().toList(), List.of(), 1);
    private static final ScanRequest FOLLOWED_WITH_ERROR = new ScanRequest(
            IntStream.rangeClosed(0, SCHEMA.size())
                    .map(column -> column == SCHEMA.size() ? ErrorColumns.of(SCHEMA, 2) : column)
                    .boxed()
                    .toList(),
            List.of(),
            1);

    private static RetentionOptions options(Random random) {
        SketchClause clause = new SketchClause(
                List.of("device", "room"),
                Bound.ofRange(SHARE),
                Map.of("load", Bound.absolute(LOAD_BOUND), "steps", Bound.exact()),
                TIME_BOUND,
                OptionalLong.of(1 + random.nextInt(3) * 4000L));
        return new RetentionOptions(Optional.of(1), RetentionPolicy.FOREVER, 1 << 20)
                .withForm(Optional.of(SketchedForm.of(clause, SCHEMA, Optional.of(1))));
    }

    private record Entry(long number, long arrival, List<Row> rows) {}

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
            throw new AssertionError(record);
        }

        @Override
        public void reject(RejectedRecord record) {
            throw new AssertionError(record);
        }
    };
    private final BufferAllocator allocator = new RootAllocator(256 << 20);
    private int sketched;
    private int stoppedWithin;
    private long summed; // rows of sketches that were given as such

    @Test
    void eachRowIsThereOnceAndWithinItsBounds() {
        for (int history = 0; history < HISTORIES; history++) {
            try {
                run(SEED + history);
            } catch (RuntimeException | AssertionError e) {
                throw new AssertionError("-Dmillrace.sketched.seed=" + (SEED + history), e);
            }
            assertEquals(0, allocator.getAllocatedMemory());
        }
        assertTrue(
                sketched > 2 * HISTORIES && stoppedWithin > HISTORIES && summed > HISTORIES,
                sketched + " sketched, " + stoppedWithin + " within, " + summed + " summed");
        allocator.close();
    }

    private void run(long seed) {
        Random random = new Random(seed);
        SimulatedDisk disk = new SimulatedDisk(seed);
        List<Entry> log = new ArrayList<>();
        RetentionOptions options = options(random);
        ScanRequest asked = seed % 2 == 0 ? FOLLOWED : FOLLOWED_WITH_ERROR;
        RowChoice choice =
                seed % 3 == 0 ? RowChoice.of(new Options(Map.of(RowChoice.OPTION, "sample(0.3)"))) : RowChoice.ALL;
        List<Row> followed = new ArrayList<>();
        Optional<SourcePosition> position = Optional.empty(); // as a checkpoint has it
        int given = 0; // rows before it
        for (int life = 0; life < LIVES; life++) {
            SegmentStore store = SegmentStore.open(disk, SCHEMA, options, KnownPast.NOTHING, allocator);
            StreamFollower follower = new StreamFollower(
                    store,
                    SCHEMA,
                    options.form().map(SketchedForm.class::cast),
                    ArrivalSpan.ALL,
                    store::lastAppended,
                    new Backfill("s", store, ArrivalSpan.ALL, choice, store::lastAppended, Clock.system()));
            SourceReader reader = null;
            try (store) {
                long last = store.lastEntry();
                log.stream().filter(entry -> entry.number() > last).forEach(entry -> append(store, entry));
                assertAll(store, log, random);
                assertTrue(RetentionVerification.run(disk, SCHEMA, KnownPast.NOTHING).stream()
                        .allMatch(FileReport::isWhole));
                followed.subList(given, followed.size()).clear();
                reader = reader(follower, asked, position);
                disk.killIn(100 + random.nextInt(2000));
                disk.chances().writeErrorOneIn = random.nextInt(3) == 0 ? 30 : 0;
                for (int step = 0; step < 60; step++) {
                    try {
                        switch (random.nextInt(8)) {
                            case 0, 1 -> {
                                log.add(next(log, random));
                                append(store, log.get(log.size() - 1));
                            }
                            case 2, 3 -> store.flush();
                            case 4 -> {
                                long before = sketched(store);
                                store.merge();
                                sketched += sketched(store) > before ? 1 : 0;
                            }
                            case 5 -> {
                                position = reader.position();
                                given = followed.size();
                                stoppedWithin += given < rows(log, choice).size() ? 1 : 0;
                                reader.close();
                                reader = reader(follower, asked, position);
                            }
                            default -> take(reader.poll(), followed);
                        }
                    } catch (MillraceException e) {
                        assertTrue(
                                e.sqlState() == SqlState.IO_ERROR || e.sqlState() == SqlState.DISK_FULL, e.toString());
                    }
                }
                disk.calm();
                assertAll(store, log, random);
                SketchedForm form = (SketchedForm) options.form().orElseThrow();
                assertPieces(store, form, log, List.of(0, 10));
                assertPieces(store, form, log, List.of(0, 10, 1, 2));
                assertPieces(store, form, log, List.of(0, 10, 2, 6));
                while (!follower.backfill()
                        .has(log.isEmpty() ? 0 : log.get(log.size() - 1).number())) {
                    take(reader.poll(), followed);
                }
                assertWithinBounds(rows(log, choice), followed, range(log));
                if (asked == FOLLOWED_WITH_ERROR) {
                    assertWithinOwnErrors(rows(log, choice), followed);
                }
                disk.killIn(0);
                store.flush();
            } catch (SimulatedCrash e) {
                disk.calm();
            } finally {
                close(reader);
                store.close();
            }
            disk = disk.crash();
        }
    }

    private static void close(@Nullable SourceReader reader) {
        boolean isOpen = reader != null;
        while (isOpen) {
            try {
                reader.close();
                isOpen = false;
            } catch (SimulatedCrash e) {
                isOpen = true; // one file less to let go of
            }
        }
    }

    private SourceReader reader(StreamFollower follower, ScanRequest asked, Optional<SourcePosition> position) {
        return position.map(at -> follower.reopen(asked, List.of(at), context).get(0))
                .orElseGet(() -> follower.open(asked, context).get(0));
    }

    private static long sketched(SegmentStore store) {
        return store.segments().stream().filter(KeptSegment::isSketched).count();
    }

    private static void take(Optional<Batch> batch, List<Row> to) {
        if (batch.isPresent()) {
            try (Batch rows = batch.get()) {
                to.addAll(TestBatches.rows(rows));
            }
        }
    }

    private void append(SegmentStore store, Entry entry) {
        int middle = entry.rows().size() / 2;
        try (Batch first = TestBatches.of(SCHEMA, allocator, entry.rows().subList(0, middle));
                Batch second = TestBatches.of(
                        SCHEMA,
                        allocator,
                        entry.rows().subList(middle, entry.rows().size()))) {
            store.append(entry.number(), entry.arrival(), List.of(first, second));
        }
    }

    private static Entry next(List<Entry> log, Random random) {
        Entry last = log.isEmpty() ? new Entry(0, 0, List.of()) : log.get(log.size() - 1);
        List<Row> rows = new ArrayList<>();
        int kind = random.nextInt(6); // of the entry, so that stretches differ in what they have
        for (int i = random.nextInt(200); i >= 0; i--) {
            long id = last.number() * 1_000_000 + i * 7919L + random.nextInt(3000);
            double temp = 20 + 10 * Math.sin(id / 1e5) + random.nextGaussian();
            rows.add(Row.of(
                    random.nextInt(20) == 0 ? null : "plug" + random.nextInt(5),
                    kind == 0 && random.nextInt(40) == 0 ? null : id - random.nextInt(100_000),
                    random.nextInt(15) == 0
                            ? null
                            : switch (random.nextInt(60)) {
                                case 0 -> Double.NaN;
                                case 1 -> Double.NEGATIVE_INFINITY;
                                default -> temp;
                            },
                    random.nextInt(15) == 0 ? null : (float) (temp * 3),
                    random.nextInt(9) == 0 ? null : random.nextInt(100),
                    id,
                    kind == 1 ? null : "note " + random.nextLong(),
                    random.nextInt(9) == 0 ? null : "state" + random.nextInt(kind == 2 ? 3000 : 3),
                    random.nextInt(9) == 0 ? null : random.nextInt(7) > 0,
                    random.nextInt(9) == 0 ? null : new java.math.BigDecimal(random.nextInt(10000)).movePointLeft(2),
                    random.nextInt(9) == 0 ? null : (short) random.nextInt(2)));
        }
        return new Entry(
                last.number() + 1 + random.nextInt(2),
                last.arrival() + random.nextInt(2000),
                rows.stream().map(row -> TestBatches.canonical(SCHEMA, row)).toList());
    }

    private static List<Row> rows(List<Entry> log) {
        return rows(log, RowChoice.ALL);
    }

    private static List<Row> rows(List<Entry> log, RowChoice choice) {
        return log.stream()
                .flatMap(entry -> IntStream.range(0, entry.rows().size())
                        .filter(row -> choice.takes(entry.number(), row))
                        .mapToObj(entry.rows()::get))
                .toList();
    }

    /** All rows and the entries that they are of, by one scan or several, of all columns or some. */
    private void assertAll(SegmentStore store, List<Entry> log, Random random) {
        List<Row> all = new ArrayList<>();
        for (StoreScan scan : store.scans(ALL, List.of(), Long.MAX_VALUE, 1 + random.nextInt(3), allocator)) {
            try (scan) {
                for (Optional<Batch> next = scan.next(); next.isPresent(); next = scan.next()) {
                    take(next, all);
                }
            }
        }
        List<Long> entries = new ArrayList<>();
        log.forEach(entry -> entry.rows().forEach(row -> entries.add(entry.number())));
        assertEquals(entries, all.stream().map(row -> row.get(SCHEMA.size())).toList());
        assertWithinBounds(rows(log), all, range(log));
        int column = random.nextInt(SCHEMA.size());
        List<Row> one = new ArrayList<>();
        try (StoreScan scan = store.scan(List.of(column), List.of(), allocator)) {
            for (Optional<Batch> next = scan.next(); next.isPresent(); next = scan.next()) {
                take(next, one);
            }
        }
        assertEquals(
                all.stream().map(row -> row.get(column)).toList(),
                one.stream().map(row -> row.get(0)).toList());
    }

    /** What is added up of pieces is what the rows are, whichever columns are asked for. */
    private void assertPieces(SegmentStore store, SketchedForm form, List<Entry> log, List<Integer> columns) {
        Map<List<Object>, Integer> counted = new HashMap<>();
        try (SketchPieces pieces =
                SketchPieces.open(store, form, columns, List.of(), SegmentFilter.ANY, Long.MAX_VALUE, allocator)) {
            for (Optional<SketchPieces.Piece> next = pieces.next(); next.isPresent(); next = pieces.next()) {
                if (next.get() instanceof SketchPieces.Piece.Sketches found) {
                    int ofSeries = 0;
                    for (SketchPieces.Series series : found.series()) {
                        Row key = TestBatches.row(series.keys(), series.row());
                        for (Sketch sketch : series.sketches()) {
                            assertTrue(sketch.schema().features().stream()
                                    .noneMatch(f -> f.name().equals("device")));
                            counted.merge(key.values(), sketch.rows(), Integer::sum);
                            ofSeries += sketch.rows();
                        }
                    }
                    assertEquals(found.rows(), ofSeries);
                    summed += ofSeries;
                } else if (next.get() instanceof SketchPieces.Piece.Rows found) {
                    try (Batch rows = found.rows()) {
                        for (Row row : TestBatches.rows(rows)) {
                            counted.merge(Row.of(row.get(0), row.get(1)).values(), 1, Integer::sum);
                        }
                    }
                }
            }
        }
        Map<List<Object>, Integer> expected = new HashMap<>();
        rows(log).forEach(row -> expected.merge(Row.of(row.get(0), row.get(10)).values(), 1, Integer::sum));
        assertEquals(expected, counted);
    }

    /** Of the column whose error is the last of what was asked for. */
    private static void assertWithinOwnErrors(List<Row> expected, List<Row> found) {
        for (int i = 0; i < expected.size(); i++) {
            double error = (double) found.get(i).get(SCHEMA.size());
            Object was = expected.get(i).get(2);
            if (was != null && Double.isFinite((double) was)) {
                double is = (double) found.get(i).get(2);
                assertTrue(Math.abs((double) was - is) <= error, was + " became " + is + ", off by at most " + error);
            }
        }
    }

    /** Of temperatures. */
    private static double range(List<Entry> log) {
        double[] temps = rows(log).stream()
                .map(row -> row.get(2))
                .filter(temp -> temp != null && Double.isFinite((double) temp))
                .mapToDouble(temp -> (double) temp)
                .sorted()
                .toArray();
        return temps.length == 0 ? 0 : temps[temps.length - 1] - temps[0];
    }

    private static void assertWithinBounds(List<Row> expected, List<Row> found, double range) {
        assertEquals(expected.size(), found.size());
        for (int i = 0; i < expected.size(); i++) {
            Row row = expected.get(i);
            Row read = found.get(i);
            for (int column = 0; column < SCHEMA.size(); column++) {
                Object was = row.get(column);
                Object is = read.get(column);
                String where = SCHEMA.field(column).name() + " of row " + i + ": " + was + " became " + is;
                double bound = switch (column) {
                    case 1 -> TIME_BOUND;
                    case 2 -> SHARE * range;
                    case 3 -> LOAD_BOUND * 1.00001; // of the nearest REAL
                    default -> 0;
                };
                if (bound == 0 || was == null || is == null || !Double.isFinite(((Number) was).doubleValue())) {
                    assertEquals(was, is, where);
                } else {
                    assertTrue(Math.abs(((Number) was).doubleValue() - ((Number) is).doubleValue()) <= bound, where);
                }
            }
        }
    }
}
