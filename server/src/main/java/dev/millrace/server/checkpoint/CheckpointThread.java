package dev.millrace.server.checkpoint;

import dev.millrace.engine.runtime.StandingQuery;
import dev.millrace.server.catalog.SinkInterval;
import dev.millrace.server.catalog.StreamInput;
import dev.millrace.server.host.BackgroundThread;
import dev.millrace.server.instance.Instance;
import dev.millrace.server.log.EventLog;
import dev.millrace.sql.statement.Statement.ObjectKind;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;

/**
 * The thread {@code millrace-checkpoint}, which writes a checkpoint when the log has grown enough, or a derived stream; every five minutes where
 * there are sources, and more often where sinks show rows by checkpoints.
 */
public final class CheckpointThread implements BackgroundThread.Step, AutoCloseable {
    private static final EventLog LOG = EventLog.named("storage");
    private static final long LOOK_MILLIS = 1_000;
    private static final long LOOK_FOR_SINKS_MILLIS = 50;
    private static final long AFTER_FAILURE_MILLIS = 30_000;
    private static final int PAUSE_OF_COST = 4; // between checkpoints for sinks, times as long as the last one took
    private static final long LONGEST_NANOS =
            TimeUnit.MINUTES.toNanos(5); // of what a source gives, which the log does not have

    private final Instance database;
    private final Optional<BackgroundThread> thread;
    private long lastNanos; // the thread's, once it runs
    private long tookNanos; // likewise

    /** Begins, if anything is written. */
    public CheckpointThread(Instance database) {
        this.database = database;
        this.lastNanos = database.clock().nanoTime();
        this.thread = database.journal().isWriting()
                ? Optional.of(BackgroundThread.start("millrace-checkpoint", LOOK_MILLIS, this))
                : Optional.empty();
    }

    @Override
    public long run() {
        long now = database.clock().nanoTime();
        long passed = now - lastNanos;
        OptionalLong wanted = wantedNanos();
        boolean isLong = passed >= LONGEST_NANOS && hasSources();
        boolean isWanted = wanted.isPresent() && passed >= Math.max(wanted.getAsLong(), PAUSE_OF_COST * tookNanos);
        boolean isDue = database.journal().isGrown() || database.retained().isCheckpointDue();
        if (isLong || isWanted || isDue) {
            new DatabaseCheckpoint(database).run();
            lastNanos = database.clock().nanoTime();
            tookNanos = lastNanos - now;
        }
        return wanted.isPresent() ? LOOK_FOR_SINKS_MILLIS : LOOK_MILLIS;
    }

    /** The shortest time for which rows of a sink are to wait that has some; empty if none has. */
    private OptionalLong wantedNanos() {
        return database.catalog().objects().stream()
                .filter(object -> object.kind() == ObjectKind.SINK)
                .filter(object -> database.standing(object.name())
                        .filter(StandingQuery::waitsForCheckpoint)
                        .isPresent())
                .mapToLong(object -> SinkInterval.nanos(object.options()))
                .min();
    }

    @Override
    public long failed(RuntimeException why) {
        LOG.warning("no checkpoint", "reason", String.valueOf(why.getMessage()));
        return AFTER_FAILURE_MILLIS;
    }

    /** Whether there are streams whose rows do not come from clients. */
    private boolean hasSources() {
        return database.catalog().objects().stream()
                .anyMatch(object -> object.input().flatMap(StreamInput::source).isPresent());
    }

    @Override
    public void close() {
        thread.ifPresent(BackgroundThread::close);
    }
}
