package dev.millrace.connectors.outbox;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * Room on the disk of a sink's records: where there is none it is waited for, as rows that are on their way would be lost else, while the query, which
 * takes no more then, waits as well. Written by the sink's thread; {@link #waitsFor} is read by any.
 */
class SpoolRoom {
    private static final long WAIT_MILLIS = 500;

    private volatile Optional<String> waitsFor = Optional.empty();

    /** Writes what the disk takes; replaced by tests. */
    void write(FileChannel channel, ByteBuffer from) throws IOException {
        channel.write(from);
    }

    /**
     * Waits a while, if that helps.
     *
     * @throws MillraceException what was given if it is not a lack of room; 57014 when interrupted
     */
    final void awaitAfter(MillraceException failure) {
        if (failure.sqlState() != SqlState.DISK_FULL) {
            throw failure;
        }
        waitsFor = Optional.of(failure.getMessage());
        try {
            TimeUnit.MILLISECONDS.sleep(WAIT_MILLIS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw MillraceException.user(SqlState.QUERY_CANCELED, "the sink is closed while it waits for room on disk");
        }
    }

    /** It was not waited for in vain, or not at all. */
    final void found() {
        if (waitsFor.isPresent()) {
            waitsFor = Optional.empty();
        }
    }

    /** What the disk says while it is waited for. */
    final Optional<String> waitsFor() {
        return waitsFor;
    }
}
