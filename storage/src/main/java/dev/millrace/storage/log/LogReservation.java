package dev.millrace.storage.log;

import java.nio.ByteBuffer;

/** Room in memory and on disk for one DEFERRED record that is to come, from {@link WriteAheadLog#reserve}. For one thread at a time. */
public final class LogReservation implements AutoCloseable {
    private final WriteAheadLog log;
    private final long bytes;
    private boolean open = true;

    LogReservation(WriteAheadLog log, long bytes) {
        this.log = log;
        this.bytes = bytes;
    }

    /**
     * Appends the record. Neither waits nor is refused; only once.
     *
     * @param parts as for {@link WriteAheadLog#append}; all together no longer than what was reserved
     * @return its number
     * @throws dev.millrace.error.MillraceException 57P01 once the log is closed
     */
    public long append(ByteBuffer... parts) {
        if (!open || WriteAheadLog.length(parts) > bytes) {
            throw new IllegalStateException("no room was reserved for " + WriteAheadLog.length(parts) + " bytes");
        }
        open = false;
        return log.append(this, parts);
    }

    long bytes() {
        return bytes;
    }

    /** Gives the room back, unless the record was appended. */
    @Override
    public void close() {
        if (open) {
            open = false;
            log.release(this);
        }
    }
}
