package dev.millrace.engine.epoch;

import dev.millrace.batch.Batch;
import java.util.List;
import java.util.Optional;

/**
 * Where rows that callers bring are written down, so that they are there again after a crash. What is accepted is written in
 * the order in which it is; an epoch is shown to nobody before all that was accepted in it is on disk, so whatever anybody ever
 * saw is there again. Safe on any thread.
 *
 * <pre>
 *   prepare (may wait, may be refused) -> the rows are accepted, and the entry appended, in one step -> whenDurable -> the epoch is shown
 * </pre>
 */
public interface Journal {
    /** Writes nothing down: what is accepted is gone when the process ends. */
    Journal NONE = new Journal() {
        @Override
        public Entry prepare(List<Change> changes) {
            return Entry.NONE;
        }

        @Override
        public void whenDurable(long number, Runnable then) {
            then.run();
        }
    };

    /**
     * Rows that are about to be accepted by one relation, which stay the caller's.
     *
     * @param relation the number by which the relation is known on disk
     */
    record Change(long relation, List<Batch> rows) {}

    /**
     * Makes the bytes that will be written, and takes room for them. Waits while the disk takes less than comes.
     *
     * @throws dev.millrace.error.MillraceException 53100 or 58030 while the disk takes nothing or has no room, or why the statement under way
     *     was stopped
     */
    Entry prepare(List<Change> changes);

    /** The same where that needs no wait, which is decided at once; else empty. */
    default Optional<Entry> prepareAtOnce(List<Change> changes) {
        return Optional.of(prepare(changes));
    }

    /**
     * Calls back when all entries up to a number are on disk: at once, on this thread, when they are; else on a thread of the
     * journal, which must not be held up.
     */
    void whenDurable(long number, Runnable then);

    /**
     * The number of the last entry, or a greater one that none has; 0 where nothing is written. With the lock of epochs held it is that
     * of the last whose rows were accepted.
     */
    default long appended() {
        return 0;
    }

    /** Rows whose bytes are made. Closed after it was appended, or when it will not be. */
    interface Entry extends AutoCloseable {
        /** Of rows that nobody writes down. */
        Entry NONE = new Entry() {
            @Override
            public long append() {
                return 0;
            }

            @Override
            public void close() {}
        };

        /**
         * The rows are accepted: has them written. Neither waits nor fails; called once, with the lock of epochs held.
         *
         * @return the number of the entry, greater than those before it; 0 where nothing is written
         */
        long append();

        @Override
        void close();
    }
}
