package dev.millrace.server.checkpoint;

import dev.millrace.server.catalog.StreamInput;
import dev.millrace.server.host.BackgroundThread;
import dev.millrace.server.instance.Instance;
import dev.millrace.server.log.EventLog;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** The thread {@code millrace-checkpoint}, which writes a checkpoint when the log has grown enough, and every five minutes where there are sources. */
public final class CheckpointThread implements BackgroundThread.Step, AutoCloseable {
    private static final EventLog LOG = EventLog.named("storage");
    private static final long LOOK_MILLIS = 1_000;
    private static final long AFTER_FAILURE_MILLIS = 30_000;
    private static final long LONGEST_NANOS =
            TimeUnit.MINUTES.toNanos(5); // of what a source gives, which the log does not have

    private final Instance database;
    private final Optional<BackgroundThread> thread;
    private long lastNanos; // the thread's, once it runs

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
        boolean isLong = database.clock().nanoTime() - lastNanos >= LONGEST_NANOS && hasSources();
        if (isLong || database.journal().isGrown()) {
            new DatabaseCheckpoint(database).run();
            lastNanos = database.clock().nanoTime();
        }
        return LOOK_MILLIS;
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
