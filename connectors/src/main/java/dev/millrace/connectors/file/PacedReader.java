package dev.millrace.connectors.file;

import dev.millrace.batch.Batch;
import dev.millrace.connector.Part;
import dev.millrace.connector.SourcePosition;
import dev.millrace.connector.SourceReader;
import dev.millrace.kept.FormedBytes;
import dev.millrace.memory.Memory;
import dev.millrace.time.Clock;
import java.util.Optional;
import org.apache.arrow.memory.BufferAllocator;

/**
 * Gives rows out in the rhythm of their event time: a row is due when as much time has gone by since the first row as
 * lies between their event times, divided by the pace. Rows behind a later one are due with it; NULL is due at once.
 *
 * <p>The readers of one scan share a {@link Start}, so that they keep together.
 */
final class PacedReader implements SourceReader {
    private static final String FORM = "paced";
    private static final int VERSION = 1;

    /** Longest sleep, so that clocks that step do no harm. */
    private static final long LONGEST_RETRY_MICROS = 100_000;

    /** When the first row of a scan was given out, and its event time. Confined to the readers' lock. */
    static final class Start {
        private boolean known;
        private long nanoTime;
        private long eventMicros;

        synchronized void begin(long now, long firstEventMicros) {
            if (!known) {
                known = true;
                nanoTime = now;
                eventMicros = firstEventMicros;
            }
        }

        /** The event time that is due now. */
        synchronized long dueMicros(long now, double pace) {
            return known ? eventMicros + (long) ((now - nanoTime) / 1000 * pace) : Long.MIN_VALUE;
        }
    }

    private final SourceReader reader;
    private final int timeColumn;
    private final boolean hidden;
    private final double pace;
    private final Clock clock;
    private final BufferAllocator allocator;
    private final Start start;
    private Optional<Batch> held = Optional.empty();
    private Optional<SourcePosition> heldFrom = Optional.empty();
    private int passOver;
    private int nextRow;
    private long nextDueMicros;

    /**
     * @param timeColumn of the reader's batches
     * @param hidden whether that column, the last, was only read for the pace and is to be left out
     */
    PacedReader(
            SourceReader reader,
            int timeColumn,
            boolean hidden,
            double pace,
            Clock clock,
            BufferAllocator allocator,
            Start start) {
        this.reader = reader;
        this.timeColumn = timeColumn;
        this.hidden = hidden;
        this.pace = pace;
        this.clock = clock;
        this.allocator = allocator;
        this.start = start;
    }

    @Override
    public Optional<Batch> poll() {
        if (held.isEmpty()) {
            heldFrom = reader.position();
            held = reader.poll();
            if (held.isEmpty()) {
                return Optional.empty();
            }
            nextRow = Math.min(passOver, held.get().rowCount());
            passOver -= nextRow;
        }
        Batch batch = held.get();
        long times = batch.dataAddress(timeColumn);
        long validity = batch.validityAddress(timeColumn);
        long now = clock.nanoTime();
        int end = nextRow;
        for (; end < batch.rowCount(); end++) {
            if (validity != 0 && !Memory.getBit(validity, end)) {
                continue;
            }
            long time = Memory.getLong(times + 8L * end);
            start.begin(now, time);
            if (time > start.dueMicros(now, pace)) {
                nextDueMicros = time;
                break;
            }
        }
        if (end == nextRow && end < batch.rowCount()) {
            return Optional.empty();
        }
        Batch due = BatchPart.of(batch, nextRow, end, batch.columnCount() - (hidden ? 1 : 0), allocator);
        nextRow = end;
        if (end == batch.rowCount()) {
            batch.close();
            held = Optional.empty();
        }
        return Optional.of(due);
    }

    /** Of the rows to come, how many were given out before; before the first poll. */
    void passOver(int rows) {
        passOver = rows;
    }

    /** Where the rows came from that are held back, its length first, 4 bytes; then how many of them were given out, 4 bytes. */
    @Override
    public Optional<SourcePosition> position() {
        Optional<SourcePosition> inside = held.isPresent() ? heldFrom : reader.position();
        int given = held.isPresent() ? nextRow : passOver;
        return inside.map(position -> SourcePosition.of(FORM, VERSION, out -> {
            byte[] bytes = position.bytes();
            out.writeInt(bytes.length);
            out.write(bytes);
            out.writeInt(given);
        }));
    }

    /** What {@link #position} is made of. */
    record Place(SourcePosition inside, int given) {
        static Place of(SourcePosition position) {
            return position.read(FORM, VERSION, in -> {
                byte[] bytes = new byte[FormedBytes.count(in, 1)];
                in.readFully(bytes);
                return new Place(new SourcePosition(bytes), in.readInt());
            });
        }
    }

    @Override
    public boolean isFinished() {
        return held.isEmpty() && reader.isFinished();
    }

    @Override
    public long retryAfterMicros() {
        if (held.isEmpty()) {
            return reader.retryAfterMicros();
        }
        long waitMicros = nextDueMicros - start.dueMicros(clock.nanoTime(), pace);
        return Math.max(0, Math.min(LONGEST_RETRY_MICROS, (long) (waitMicros / pace)));
    }

    @Override
    public Part part() {
        return reader.part();
    }

    @Override
    public double progress() {
        return reader.progress();
    }

    @Override
    public void close() {
        held.ifPresent(Batch::close);
        held = Optional.empty();
        reader.close();
    }
}
