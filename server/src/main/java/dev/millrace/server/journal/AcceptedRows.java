package dev.millrace.server.journal;

import dev.millrace.batch.Batch;
import java.util.List;

/** Who keeps rows beside the log, of which the log may forget them. Safe on any thread. */
public interface AcceptedRows {
    /** Nobody. */
    AcceptedRows NONE = new AcceptedRows() {
        @Override
        public boolean keeps(long relation) {
            return false;
        }

        @Override
        public void makeRoom(long relation) {}

        @Override
        public long nowMicros() {
            return 0;
        }

        @Override
        public void accepted(long entry, long relation, long arrivedMicros, List<Batch> rows) {}
    };

    /** Whether rows of this number are kept. */
    boolean keeps(long relation);

    /**
     * Before rows are accepted: waits while there is too much to keep.
     *
     * @throws dev.millrace.error.MillraceException 53100 or 58030 while the disk takes nothing, or why the statement was stopped
     */
    void makeRoom(long relation);

    /** The time by which it is told when rows came, microseconds since 1970. */
    long nowMicros();

    /**
     * Rows were accepted. In the order of entries, with the lock of epochs held; neither waits nor fails.
     *
     * @param arrivedMicros when they came, by {@link #nowMicros}
     * @param rows stay the caller's
     */
    void accepted(long entry, long relation, long arrivedMicros, List<Batch> rows);
}
