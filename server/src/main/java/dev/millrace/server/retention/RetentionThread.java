package dev.millrace.server.retention;

import dev.millrace.server.host.BackgroundThread;
import dev.millrace.server.log.EventLog;
import java.util.function.LongPredicate;

/** The thread {@code millrace-retention}, which writes, merges and drops segments of streams. */
public final class RetentionThread implements BackgroundThread.Step, AutoCloseable {
    private static final EventLog LOG = EventLog.named("storage");
    private static final long LOOK_MILLIS = 500;
    private static final long AFTER_FAILURE_MILLIS = 5_000;

    private final RetainedStreams streams;
    private final LongPredicate isDefined;
    private final BackgroundThread thread;
    private String told = ""; // the thread's

    /** Begins. @param isDefined whether a number is that of a definition on disk */
    public RetentionThread(RetainedStreams streams, LongPredicate isDefined) {
        this.streams = streams;
        this.isDefined = isDefined;
        this.thread = BackgroundThread.start("millrace-retention", LOOK_MILLIS, this);
    }

    @Override
    public long run() {
        streams.removeDropped(isDefined);
        streams.maintain();
        told = "";
        return LOOK_MILLIS;
    }

    @Override
    public long failed(RuntimeException why) {
        String reason = String.valueOf(why.getMessage());
        if (!reason.equals(told)) {
            LOG.warning("segments of streams cannot be written", "reason", reason);
        }
        told = reason;
        return AFTER_FAILURE_MILLIS;
    }

    @Override
    public void close() {
        thread.close();
    }
}
