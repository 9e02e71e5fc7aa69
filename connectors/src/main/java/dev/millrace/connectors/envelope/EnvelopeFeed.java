package dev.millrace.connectors.envelope;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.batch.text.VectorText;
import dev.millrace.connector.FedTable;
import dev.millrace.connector.RejectedRecord;
import dev.millrace.connector.RowChange;
import dev.millrace.connector.ScanRequest;
import dev.millrace.connector.Source;
import dev.millrace.connector.SourceContext;
import dev.millrace.connector.SourcePosition;
import dev.millrace.connector.SourceReader;
import dev.millrace.connector.SplitStatus;
import dev.millrace.connector.TableFeed;
import dev.millrace.error.MillraceException;
import dev.millrace.text.TextBuffer;
import dev.millrace.time.Clock;
import dev.millrace.type.DataType;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.IntVector;

/**
 * Brings the changes that a source's records tell into a table: those of a batch, and the source's position behind them, in one transaction.
 * Immutable; what a run holds is the run's.
 */
public final class EnvelopeFeed implements TableFeed {
    private static final int BATCH_ROWS = 8192;
    private static final long LONGEST_WAIT_MICROS = 1_000_000;
    private static final long TELL_MICROS = 200_000;

    private final Source source;
    private final String name;
    private final Schema declared;
    private final List<Integer> key;

    /**
     * @param source of rows of a format of {@link EnvelopeFormats#ofTable}; a reader of it knows its position
     * @param name of what is read, for users
     */
    public EnvelopeFeed(Source source, String name, Schema declared, List<Integer> key) {
        this.source = source;
        this.name = name;
        this.declared = declared;
        this.key = List.copyOf(key);
    }

    @Override
    public boolean hasPosition() {
        return true;
    }

    @Override
    public boolean rejects() {
        return true;
    }

    @Override
    public void check() {
        source.check();
    }

    @Override
    public void run(FedTable table) throws InterruptedException {
        try (Run run = new Run(table)) {
            run.run();
        }
    }

    /** One run, on the feed's thread; {@link #wakeUp} by any. */
    private final class Run implements SourceContext, AutoCloseable {
        private final FedTable table;
        private final Semaphore awake = new Semaphore(0);
        private final Map<ChangeKind, Long> passedOver = new LinkedHashMap<>();
        private final TextBuffer text;
        private final SourceReader reader;
        private long rows;
        private long toldNanos;

        Run(FedTable table) {
            this.table = table;
            this.text = new TextBuffer(table.allocator(), 256);
            try {
                this.reader = open(table.position());
            } catch (RuntimeException | Error e) {
                text.close();
                throw e;
            }
            this.toldNanos = table.clock().nanoTime() - TimeUnit.MICROSECONDS.toNanos(TELL_MICROS);
        }

        private SourceReader open(Optional<SourcePosition> from) {
            List<Integer> all = IntStream.range(0, declared.size() + 1).boxed().toList();
            ScanRequest request = new ScanRequest(all, List.of(), 1);
            List<SourceReader> readers =
                    from.isEmpty() ? source.open(request, this) : source.reopen(request, List.of(from.get()), this);
            if (readers.size() != 1) {
                Closing.all(readers);
                throw MillraceException.internal(name + " is read by " + readers.size() + " readers, and not by one");
            }
            return readers.get(0);
        }

        void run() throws InterruptedException {
            while (true) {
                if (Thread.interrupted()) {
                    throw new InterruptedException();
                }
                Optional<Batch> polled = reader.poll();
                if (polled.isPresent()) {
                    try (Batch batch = polled.get()) {
                        apply(batch);
                    }
                    tell(false);
                } else {
                    tell(reader.isFinished());
                    long wait = reader.isFinished() ? LONGEST_WAIT_MICROS : reader.retryAfterMicros();
                    if (wait > 0 && awake.tryAcquire(Math.min(wait, LONGEST_WAIT_MICROS), TimeUnit.MICROSECONDS)) {
                        awake.drainPermits();
                    }
                }
            }
        }

        private void apply(Batch batch) {
            List<RowChange> changes = new ArrayList<>(batch.rowCount());
            boolean isTruncated = false;
            Map<ChangeKind, Long> passed = new LinkedHashMap<>();
            IntVector kinds = (IntVector) batch.column(ChangeFormat.KIND);
            for (int row = 0; row < batch.rowCount(); row++) {
                ChangeKind kind = ChangeKind.values()[kinds.get(row)];
                switch (kind) {
                    case PUT, DELETE -> changes.add(change(batch, row, kind));
                    case TRUNCATE -> {
                        isTruncated = true;
                        changes.clear();
                    }
                    case TOMBSTONE, TRANSACTION, HEARTBEAT, MESSAGE -> passed.merge(kind, 1L, Long::sum);
                }
            }
            if (isTruncated) {
                table.replace(newest(changes).iterator(), reader.position());
            } else {
                table.change(changes, reader.position());
            }
            rows += batch.rowCount();
            passed.forEach((kind, count) -> passedOver.merge(kind, count, Long::sum));
        }

        /** What is there of an empty table after the changes. */
        private List<RowChange> newest(List<RowChange> changes) {
            Map<List<Optional<String>>, RowChange> rows = new LinkedHashMap<>();
            for (RowChange change : changes) {
                List<Optional<String>> of =
                        key.stream().map(place -> change.values().get(place)).toList();
                if (change.isDelete()) {
                    rows.remove(of);
                } else {
                    rows.put(of, change);
                }
            }
            return List.copyOf(rows.values());
        }

        private RowChange change(Batch batch, int row, ChangeKind kind) {
            List<Optional<String>> values = new ArrayList<>(declared.size());
            List<Integer> kept = new ArrayList<>();
            for (int column = 0; column < declared.size(); column++) {
                Optional<String> value = text(declared.type(column), batch.column(ChangeFormat.KIND + 1 + column), row);
                if (kind == ChangeKind.PUT
                        && value.filter(DebeziumOperation::isUnavailable).isPresent()) {
                    kept.add(column);
                    value = Optional.empty();
                }
                values.add(value);
            }
            return new RowChange(kind == ChangeKind.DELETE, values, Set.copyOf(kept));
        }

        private Optional<String> text(DataType type, FieldVector vector, int row) {
            if (vector.isNull(row)) {
                return Optional.empty();
            }
            text.clear();
            VectorText.value(text, type, vector, row);
            return Optional.of(text.toString());
        }

        /** How it is, a few times a second. */
        private void tell(boolean isFinished) {
            long now = table.clock().nanoTime();
            if (now - toldNanos < TimeUnit.MICROSECONDS.toNanos(TELL_MICROS) && !isFinished) {
                return;
            }
            toldNanos = now;
            List<SplitStatus> all = new ArrayList<>(reader.splits());
            if (all.isEmpty()) {
                all.add(status(name, isFinished ? "read to the end" : "", rows));
            }
            passedOver.forEach((kind, count) -> all.add(status("passed over: " + kind.passedOver(), "", count)));
            table.tell(all);
        }

        private static SplitStatus status(String split, String position, long records) {
            return new SplitStatus(
                    split,
                    position,
                    OptionalLong.empty(),
                    OptionalLong.empty(),
                    records,
                    0,
                    0,
                    Optional.empty(),
                    Optional.empty());
        }

        // ---- what the reader asks ----------------------------------------------------------------------------------

        @Override
        public BufferAllocator allocator() {
            return table.allocator();
        }

        @Override
        public Clock clock() {
            return table.clock();
        }

        @Override
        public int batchRows() {
            return BATCH_ROWS;
        }

        @Override
        public void wakeUp() {
            awake.release();
        }

        @Override
        public void reject(RejectedRecord record) {
            table.reject(record);
        }

        @Override
        public void report(RejectedRecord record) {
            table.report(record);
        }

        @Override
        public void close() {
            try (text) {
                reader.close();
            }
        }
    }
}
