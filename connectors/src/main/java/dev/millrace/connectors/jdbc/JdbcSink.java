package dev.millrace.connectors.jdbc;

import dev.millrace.batch.Batch;
import dev.millrace.connector.Sink;
import dev.millrace.connector.SinkStatus;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * Writes the rows of an epoch, or the newest row of each key that it changed, in one transaction of the database when the epoch ends. Until
 * then they are on the heap. Written by one thread.
 */
final class JdbcSink implements Sink {
    private static final int CHANGE_OBJECT_BYTES = 48;

    private final String target;
    private final ChangeMaker maker;
    private final JdbcWriter writer;
    private final long mostEpochBytes;
    private final List<WrittenChange> changes = new ArrayList<>(); // of the epoch under way
    private long bytes;
    private volatile long records; // written by the sink's thread, read by any
    private volatile long waiting; // likewise
    private volatile long waitingSinceNanos; // likewise

    /** @param maker is closed with this, as is {@code writer} */
    JdbcSink(String target, ChangeMaker maker, JdbcWriter writer, long mostEpochBytes) {
        this.target = target;
        this.maker = maker;
        this.writer = writer;
        this.mostEpochBytes = mostEpochBytes;
    }

    @Override
    public void check() {
        writer.check();
    }

    @Override
    public void write(Batch batch) {
        maker.write(batch, this::add);
    }

    private void add(WrittenChange change) {
        changes.add(change);
        bytes += CHANGE_OBJECT_BYTES + change.bytes().length;
        if (bytes > mostEpochBytes) {
            throw MillraceException.resources(
                            SqlState.OUT_OF_MEMORY,
                            "an epoch changes " + changes.size() + " rows with more than " + mostEpochBytes
                                    + " bytes, which a sink of connector jdbc holds until it ends")
                    .withHint("delivery = 'exactly_once' holds them on disk; or give the server a larger heap");
        }
    }

    @Override
    public void commit(long number) {
        maker.endEpoch(this::add);
        waitingSinceNanos = System.nanoTime();
        long rows =
                changes.stream().filter(change -> change != WrittenChange.END).count();
        waiting = rows;
        writer.write(WrittenChange.Sequence.of(changes));
        changes.clear();
        bytes = 0;
        records += rows;
        waiting = 0;
    }

    @Override
    public Optional<SinkStatus> status() {
        long now = waiting;
        return Optional.of(new SinkStatus(
                target,
                records,
                now,
                now == 0 ? 0 : TimeUnit.NANOSECONDS.toMicros(System.nanoTime() - waitingSinceNanos),
                writer.lastError(),
                writer.waitsFor()));
    }

    @Override
    public void close() {
        try (maker) {
            writer.close();
        }
    }
}
