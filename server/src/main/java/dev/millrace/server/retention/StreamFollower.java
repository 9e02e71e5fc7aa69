package dev.millrace.server.retention;

import dev.millrace.batch.Batch;
import dev.millrace.condense.ErrorColumns;
import dev.millrace.connector.RejectedRecord;
import dev.millrace.connector.ScanRequest;
import dev.millrace.connector.Source;
import dev.millrace.connector.SourceContext;
import dev.millrace.connector.SourcePosition;
import dev.millrace.connector.SourceReader;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.memory.Memory;
import dev.millrace.server.rows.RowCopier;
import dev.millrace.server.sketched.SketchedForm;
import dev.millrace.sketch.materialise.Materialisation;
import dev.millrace.storage.retention.SegmentStore;
import dev.millrace.storage.segment.ColumnRange;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Optional;
import java.util.function.LongSupplier;
import java.util.stream.IntStream;
import org.apache.arrow.vector.FieldVector;

/**
 * The rows that a stream kept, and then those that come: a standing query's own way through the stream, in the order of the log. It reads
 * the store up to the last entry that is on disk, and behind that again, for ever; so nothing has to be handed over where the past ends.
 *
 * <p>A position is an entry and how many of its rows were given. Who goes on from one behind which rows were dropped meanwhile (a query
 * that was paused for longer than the stream keeps rows) reports it, once, and goes on with what there is.
 *
 * @param schema of the stream
 * @param form of its old rows; empty where all are exact
 * @param arrivals rows that arrived at other times are left out; with an end, a reader comes to its end
 * @param durable the last entry of the log that is on disk
 * @param backfill told how far its readers are; it says which rows these are given
 */
record StreamFollower(
        SegmentStore store,
        Schema schema,
        Optional<SketchedForm> form,
        ArrivalSpan arrivals,
        LongSupplier durable,
        Backfill backfill)
        implements Source {
    private static final String FORM = "retained";
    private static final String RETAINED = "what the stream keeps";
    private static final int VERSION = 1;
    private static final System.Logger LOG = System.getLogger(StreamFollower.class.getPackageName());
    private static final long FEW = 8192; // rows that are no past worth the name
    private static final int MOST_WITHOUT = 32; // batches none of whose rows are given, until others may go on
    private static final long GRACE_MICROS = 1_000_000; // in which rows that have their time are accepted
    private static final long RETRY_MICROS = 2_000; // until it looks again, when it has all
    private static final long FIRST_RETRY_MICROS = 50_000; // when it could not read
    private static final long MOST_RETRY_MICROS = 5_000_000;

    @Override
    public boolean bounded() {
        return arrivals.hasEnd();
    }

    @Override
    public boolean replayable() {
        return true;
    }

    @Override
    public List<SourceReader> open(ScanRequest request, SourceContext context) {
        return List.of(new Reader(request, context, 0, 0));
    }

    @Override
    public List<SourceReader> reopen(ScanRequest request, List<SourcePosition> positions, SourceContext context) {
        List<SourceReader> readers = new ArrayList<>();
        for (SourcePosition position : positions) {
            readers.add(position.read(FORM, VERSION, in -> {
                long entry = in.readLong();
                long given = in.readLong();
                if (entry < 0 || given < 0) {
                    throw new IllegalArgumentException("row " + given + " of entry " + entry);
                }
                return new Reader(request, context, entry, given);
            }));
        }
        return readers;
    }

    private final class Reader implements SourceReader {
        private final ScanRequest request;
        private final SourceContext context;
        private final Reading reading;
        private final boolean asksErrors;
        private Optional<FollowerScan> scan = Optional.empty();
        private RowChoice choice = RowChoice.ALL; // of the scan
        private boolean isLast; // the scan has so few rows that they are the last of the past
        private long upTo; // rows of later entries are not for this scan, though a segment that it reads may have some
        private long entry; // rows of entries before were given
        private long given; // and so many of its own
        private boolean finished; // no rows come that are meant
        private long told; // up to which entry it was reported that rows are lost
        private long toPass; // rows that were given, and of which the backfill is not told yet
        private long arrivedMicros; // the last of them
        private long toSkip; // rows of the entry, at the beginning of a scan
        private int retries; // since the disk could be read

        Reader(ScanRequest request, SourceContext context, long entry, long given) {
            this.request = request;
            this.context = context;
            this.entry = entry;
            this.given = given;
            this.reading = backfill.begin(entry, given);
            this.asksErrors = request.columns().stream().anyMatch(column -> ErrorColumns.isOne(schema, column));
        }

        /** A disk that cannot be read is read again, later and later: a standing query does not end of what may pass. */
        @Override
        public Optional<Batch> poll() {
            try {
                Optional<Batch> next = next();
                retries = 0;
                return next;
            } catch (MillraceException e) {
                if (e.sqlState() != SqlState.IO_ERROR) {
                    throw e;
                }
                if (retries++ == 0) {
                    LOG.log(System.Logger.Level.WARNING, e.getMessage() + "; trying again");
                }
                endScan();
                return Optional.empty();
            }
        }

        private Optional<Batch> next() {
            passed();
            if (!choice.equals(backfill.choice())) {
                endScan();
            }
            for (int without = 0; !finished; without++) {
                if (without == MOST_WITHOUT || scan.isEmpty() && !begin()) {
                    return Optional.empty();
                }
                FollowerScan from = scan.orElseThrow();
                Optional<Batch> next = from.rows().get();
                if (next.isEmpty()) {
                    entry = Math.max(entry, from.lastEntry() + 1);
                    given = 0;
                    passed();
                    endScan();
                    if (isLast) {
                        reading.hasAll(); // while rows come all the time there is no moment in which nothing is to come
                    }
                    continue;
                }
                try (Batch batch = next.get()) {
                    Optional<Batch> rows = rows(batch);
                    if (rows.isPresent()) {
                        return rows;
                    }
                }
            }
            reading.hasAll();
            endScan();
            return Optional.empty();
        }

        /** What was given before was passed on. */
        private void passed() {
            reading.passed(entry, given, toPass, arrivedMicros, context.clock().nanoTime());
            toPass = 0;
        }

        /** @return false if nothing came since the last scan */
        private boolean begin() {
            boolean isOver = arrivals.hasEnd() && context.clock().epochMicros() - GRACE_MICROS >= arrivals.to();
            long last = store.lastAppended();
            upTo = Math.min(durable.getAsLong(), last);
            if (upTo < entry) {
                finished = isOver && upTo == last;
                reading.hasAll();
                return false;
            }
            List<ColumnRange> ranges =
                    new ArrayList<>(); // none of the query's: rows of an entry are counted, however blocks lie
            ranges.add(ColumnRange.of(schema.size(), entry, Long.MAX_VALUE));
            if (arrivals.hasBegin() || arrivals.hasEnd()) {
                ranges.add(ColumnRange.of(schema.size() + 1, arrivals.from(), arrivals.to() - 1));
            }
            choice = backfill.choice();
            Optional<Materialisation> chosen = form.flatMap(sketched -> choice.byFrequency());
            scan = Optional.of(
                    asksErrors || chosen.isPresent()
                            ? FollowerScan.ofSketches(
                                    store, form.orElseThrow(), request.columns(), ranges, chosen, upTo, context)
                            : FollowerScan.of(store, schema, request.columns(), ranges, upTo, context));
            toSkip = given;
            isLast = !reading.isOver() && store.rows(entry, upTo, arrivals.from(), arrivals.to()) <= FEW;
            reportLost(scan.orElseThrow().lastDropped());
            return true;
        }

        /** Rows that were dropped before the first scan are none that were waited for. */
        private void reportLost(long dropped) {
            if (entry > 0 && dropped >= entry && dropped > told) {
                told = dropped;
                String reason = "rows of records " + entry + " to " + dropped
                        + " of the log were dropped, by the stream's retention, before they were read";
                context.report(new RejectedRecord(RETAINED, entry, "", reason, SqlState.DATA_EXCEPTION, ""));
            }
        }

        /** What of a batch was not given yet; the caller's. */
        private Optional<Batch> rows(Batch batch) {
            int count = batch.rowCount();
            long entries = batch.dataAddress(request.columns().size());
            long times = batch.dataAddress(request.columns().size() + 1);
            while (count > 0 && at(entries, count - 1) > upTo) {
                count--;
            }
            while (count > 0 && at(times, count - 1) >= arrivals.to()) {
                count--; // they came in the order of their times
                finished = true;
            }
            int first = 0;
            while (first < count && isPast(at(entries, first), at(times, first))) {
                first++;
            }
            if (first == count) {
                return Optional.empty();
            }
            long last = at(entries, count - 1);
            int ofLast = 1;
            while (count - 1 - ofLast >= first && at(entries, count - 1 - ofLast) == last) {
                ofLast++;
            }
            BitSet chosen = chosen(batch, first, count);
            given = last == entry ? given + ofLast : ofLast;
            entry = last;
            toPass += count - first;
            arrivedMicros = at(times, count - 1);
            return chosen.isEmpty() ? Optional.empty() : Optional.of(only(batch, chosen));
        }

        /** Of the rows from one to before another those that the query is given; the first is behind all that were given before. */
        private BitSet chosen(Batch batch, int first, int end) {
            BitSet chosen = new BitSet(end);
            chosen.set(first, end);
            if (choice.isAll()) {
                return chosen;
            }
            long entries = batch.dataAddress(request.columns().size());
            int isChosen = request.columns().size() + 2;
            long before = entry;
            long row = given; // of its entry
            for (int i = first; i < end; i++) {
                long of = at(entries, i);
                row = of == before ? row : 0;
                before = of;
                boolean isIn = isChosen >= batch.columnCount() || Memory.getBit(batch.dataAddress(isChosen), i);
                chosen.set(i, isIn && choice.takes(of, row++));
            }
            backfill.leaveOut(end - first - chosen.cardinality());
            return chosen;
        }

        /** Looks at rows in their order, once each. */
        private boolean isPast(long ofEntry, long arrival) {
            if (ofEntry < entry || arrival < arrivals.from()) {
                return true;
            }
            if (ofEntry == entry && toSkip > 0) {
                toSkip--;
                return true;
            }
            return false;
        }

        private Batch only(Batch batch, BitSet chosen) {
            Schema asked = ErrorColumns.select(schema, request.columns());
            if (chosen.cardinality() < batch.rowCount()) {
                int[] places = IntStream.range(0, asked.size()).toArray();
                try (RowCopier copier = new RowCopier(asked, context.allocator())) {
                    for (int row = chosen.nextSetBit(0); row >= 0; row = chosen.nextSetBit(row + 1)) {
                        copier.copy(batch, places, row, 1);
                    }
                    return copier.build();
                }
            }
            FieldVector[] vectors =
                    IntStream.range(0, asked.size()).mapToObj(batch::column).toArray(FieldVector[]::new);
            return Batch.view(asked, vectors, batch.rowCount(), Optional.empty(), List.of(batch.retain()));
        }

        private static long at(long address, int row) {
            return Memory.getLong(address + 8L * row);
        }

        @Override
        public boolean isFinished() {
            return finished && toPass == 0;
        }

        @Override
        public long retryAfterMicros() {
            return retries == 0
                    ? RETRY_MICROS
                    : Math.min(MOST_RETRY_MICROS, FIRST_RETRY_MICROS << Math.min(retries - 1, 20));
        }

        @Override
        public Optional<SourcePosition> position() {
            return Optional.of(SourcePosition.of(FORM, VERSION, out -> {
                out.writeLong(entry);
                out.writeLong(given);
            }));
        }

        @Override
        public boolean readsPast() {
            return !reading.isOver();
        }

        private void endScan() {
            scan.ifPresent(FollowerScan::close);
            scan = Optional.empty();
        }

        @Override
        public void close() {
            endScan();
            backfill.end(reading);
        }
    }
}
