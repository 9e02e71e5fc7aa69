package dev.millrace.engine.sink;

import dev.millrace.connector.PreparedRows;
import dev.millrace.engine.checkpoint.Barrier;
import dev.millrace.engine.checkpoint.SavedSink;
import dev.millrace.error.MillraceException;
import java.io.IOException;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * The part of a query's sink in checkpoints, if it goes by them: it prepares behind the last row of the cut's epoch, by the thread that calls
 * it, and shows what it prepared when it is told that the checkpoint is on disk. Of one that failed a checkpoint has what the last one on disk
 * had. Safe on any thread.
 */
public final class SinkCheckpoint {
    private final Supplier<String> query; // its name
    private final QuerySinks sinks;
    private volatile Optional<PreparedRows> prepared = Optional.empty(); // written by who calls the sink
    private volatile long epochsPrepared; // that it was given; written by who ends the cut's epoch
    private volatile long epochsOnDisk; // likewise; written by who makes checkpoints
    private volatile Optional<PreparedRows> onDisk; // written by who makes checkpoints, and who never prepares reads it

    /** @param from what the query goes on from, before any row */
    public SinkCheckpoint(Supplier<String> query, QuerySinks sinks, Optional<PreparedRows> from) {
        this.query = query;
        this.sinks = sinks;
        this.onDisk = from;
        sinks.recover(from);
    }

    /** It is to be in a checkpoint that is about to be cut. */
    public void expect(Barrier barrier) {
        if (sinks.goByCheckpoints()) {
            barrier.expect(this);
        }
    }

    /** All rows of the cut's epoch were given to it, and none behind that; or none will be. Once for each checkpoint, others are of no effect. */
    public void prepareFor(Barrier barrier) {
        if (barrier.begin(this)) {
            barrier.goesOn(this, 0);
            epochsPrepared = sinks.epochs();
            sinks.prepare(barrier.number(), rows -> keep(rows, barrier), () -> {
                onDisk.ifPresent(rows -> barrier.later(new SavedSink(query.get(), rows)));
                barrier.forget(this);
            });
        }
    }

    private void keep(PreparedRows rows, Barrier barrier) {
        if (rows.token().length > PreparedRows.MOST_TOKEN_BYTES) {
            throw MillraceException.internal("a sink has a token of " + rows.token().length + " bytes");
        }
        prepared = Optional.of(rows);
        try {
            new SavedSink(query.get(), rows).write(barrier);
            barrier.wentOn(this);
        } catch (IOException | RuntimeException | Error e) { // the checkpoint's, not the sink's
            barrier.fail(e);
        }
    }

    /** Whether it has rows that it shows when there is another checkpoint. */
    public boolean waits() {
        return sinks.goByCheckpoints() && sinks.epochs() > epochsOnDisk && !sinks.hasFailed();
    }

    /** A checkpoint is on disk. */
    public void published(long checkpoint) {
        prepared.filter(rows -> rows.checkpoint() == checkpoint).ifPresent(rows -> {
            onDisk = Optional.of(rows);
            epochsOnDisk = epochsPrepared;
        });
        sinks.publish(checkpoint);
    }
}
