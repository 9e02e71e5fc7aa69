package dev.millrace.server.heap;

import dev.millrace.error.MillraceException;

/**
 * What one session keeps on the Java heap. A little is free; more is taken from a share in steps, so that most of what comes and goes
 * does not touch what all sessions share. Belongs to the session's thread.
 */
public final class KeptHeap implements AutoCloseable {
    static final long FREE_BYTES = 64 << 10;
    static final long STEP_BYTES = 256 << 10;

    private final HeapShare share;
    private long heldBytes;
    private long takenBytes;

    public KeptHeap(HeapShare share) {
        this.share = share;
    }

    /**
     * So much more is kept.
     *
     * @throws MillraceException 53200 if there is no room; nothing is counted then
     */
    public void keep(long bytes) {
        long needed = heldBytes + bytes - FREE_BYTES - takenBytes;
        if (needed > 0) {
            long steps = (needed + STEP_BYTES - 1) / STEP_BYTES * STEP_BYTES;
            if (share.tryTake(steps).isEmpty()) {
                throw share.noRoom(bytes);
            }
            takenBytes += steps;
        }
        heldBytes += bytes;
    }

    /** So many bytes are kept no longer. */
    public void forget(long bytes) {
        heldBytes -= bytes;
        long spare = takenBytes - Math.max(0, heldBytes - FREE_BYTES);
        if (spare >= 2 * STEP_BYTES) { // else it may be wanted again at once
            long given = (spare - STEP_BYTES) / STEP_BYTES * STEP_BYTES;
            takenBytes -= given;
            share.give(given);
        }
    }

    @Override
    public void close() {
        share.give(takenBytes);
        takenBytes = 0;
        heldBytes = 0;
    }
}
