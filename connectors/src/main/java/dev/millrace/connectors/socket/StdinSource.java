package dev.millrace.connectors.socket;

import dev.millrace.batch.Batch;
import dev.millrace.connector.RejectedRecord;
import dev.millrace.connector.ScanRequest;
import dev.millrace.connector.Source;
import dev.millrace.connector.SourceContext;
import dev.millrace.connector.SourceReader;
import dev.millrace.connectors.push.ArrivalQueue;
import dev.millrace.connectors.push.Consignment;
import dev.millrace.connectors.push.PushedRecords;
import dev.millrace.connectors.push.RecordReceiver;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.type.Schema;
import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.apache.arrow.vector.FieldVector;

/**
 * Lines of an input that can be read once.
 *
 * @param taken whether somebody reads it
 */
record StdinSource(PushedRecords records, int mostRecordBytes, Supplier<InputStream> input, AtomicBoolean taken)
        implements Source {
    private static final String NAME = "standard input";
    private static final long BUFFER_BYTES = 8 << 20;
    private static final int READ_BYTES = 64 << 10;

    @Override
    public Schema schema() {
        return records.schema();
    }

    @Override
    public boolean bounded() {
        return true;
    }

    /** By the one query that reads it: that has all rows, whenever it begins. */
    @Override
    public boolean replayable() {
        return true;
    }

    @Override
    public List<SourceReader> open(ScanRequest request, SourceContext context) {
        if (!taken.compareAndSet(false, true)) {
            throw MillraceException.user(
                            SqlState.OBJECT_NOT_IN_PREREQUISITE_STATE, NAME + " was read by another query, and is gone")
                    .withHint("CREATE CONTINUOUS QUERY reads it once, and others read that");
        }
        ArrivalQueue inbox = new ArrivalQueue(BUFFER_BYTES);
        Lines lines = new Lines(context, inbox);
        return List.of(new Reader(new RecordReceiver(records, context, inbox, lines), lines, request.columns()));
    }

    /** Reads lines by a thread of its own, as nobody knows how long that takes. */
    private final class Lines implements RecordReceiver.Transport {
        private final SourceContext context;
        private final ArrivalQueue inbox;
        private volatile boolean ended; // written by the thread
        private volatile Optional<String> lastError = Optional.empty(); // likewise

        Lines(SourceContext context, ArrivalQueue inbox) {
            this.context = context;
            this.inbox = inbox;
        }

        @Override
        public void begin() {
            Thread thread = new Thread(this::read, "millrace-stdin");
            thread.setDaemon(true);
            thread.start();
        }

        private void read() {
            LineCutter cutter = new LineCutter(mostRecordBytes);
            byte[] bytes = new byte[READ_BYTES];
            try {
                InputStream in = input.get();
                boolean goesOn = true;
                for (int read = in.read(bytes); read >= 0 && goesOn; read = in.read(bytes)) {
                    goesOn = deliver(cutter.cut(bytes, 0, read), cutter);
                }
                if (goesOn) {
                    deliver(cutter.rest(), cutter);
                }
            } catch (IOException e) {
                lastError = Optional.of(String.valueOf(e.getMessage()));
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            } finally {
                ended = true;
                context.wakeUp();
            }
        }

        private boolean deliver(List<byte[]> lines, LineCutter cutter) throws InterruptedException {
            long tooLong = cutter.takeTooLong();
            if (tooLong > 0) {
                context.report(new RejectedRecord(
                        NAME,
                        0,
                        "",
                        tooLong + " lines were longer than " + mostRecordBytes + " bytes (max_record_bytes)",
                        SqlState.PROGRAM_LIMIT_EXCEEDED,
                        ""));
            }
            return lines.isEmpty() || inbox.put(new Consignment(lines, NAME, NAME, Consignment.Receipt.NONE));
        }

        @Override
        public String target() {
            return NAME;
        }

        @Override
        public Optional<String> lastError() {
            return lastError;
        }

        @Override
        public void close() {}
    }

    /** Some columns of all rows. */
    private static final class Reader implements SourceReader {
        private final RecordReceiver all;
        private final Lines lines;
        private final List<Integer> columns;
        private boolean endedBefore; // the last poll
        private long given;

        Reader(RecordReceiver all, Lines lines, List<Integer> columns) {
            this.all = all;
            this.lines = lines;
            this.columns = columns;
        }

        @Override
        public Optional<Batch> poll() {
            endedBefore = lines.ended;
            Optional<Batch> next = all.poll();
            if (next.isPresent()) {
                endedBefore = false;
                all.acknowledge(++given);
            }
            return next.map(batch -> Batch.view(
                    batch.schema().select(columns),
                    columns.stream().map(batch::column).toArray(FieldVector[]::new),
                    batch.rowCount(),
                    Optional.empty(),
                    List.of(batch)));
        }

        @Override
        public boolean isFinished() {
            return endedBefore;
        }

        @Override
        public long retryAfterMicros() {
            return all.retryAfterMicros();
        }

        @Override
        public void close() {
            all.close();
        }
    }
}
