package dev.millrace.storage.log;

import com.google.errorprone.annotations.concurrent.GuardedBy;

/**
 * How many bytes the segments have that are there in full length, and how many of these are promised to records: what is promised can
 * be written on a full disk. Safe on any thread.
 *
 * <pre>
 *   free ---take---> promised ---settled---> written
 *        &lt;--give---
 * </pre>
 *
 * Which segment a record comes into is not decided beforehand: each counts for so much less that it makes no difference.
 */
final class LogRoom {
    /** What a segment loses at most where a record does not fit into its end, or is cut there. */
    private static final long LOST = Fragment.bytes(LogWriter.LEAST_PART) + Fragment.HEADER;

    @GuardedBy("this") private long left; // in the newest segment, and those begun since something was last settled

    @GuardedBy("this") private long ready; // in those that are to come

    @GuardedBy("this") private long promised;

    @GuardedBy("this") private boolean canBegin; // a segment that is to come can get its name without more room

    private static long usable(long bytes) {
        return Math.max(0, bytes - LOST);
    }

    private static long ofSegment(long segmentBytes) {
        return usable(segmentBytes - SegmentHeader.BYTES);
    }

    /** Promises so many bytes, if they are there. */
    synchronized boolean take(long bytes) {
        if (!canBegin || promised + bytes > left + ready) {
            return false;
        }
        promised += bytes;
        return true;
    }

    /** Promises them though they may have to be made when they are needed. */
    synchronized void takeAnyway(long bytes) {
        promised += bytes;
    }

    /** They are not needed after all. */
    synchronized void give(long bytes) {
        promised -= bytes;
    }

    /** Whether so many bytes can be written that were not promised. */
    synchronized boolean has(long bytes) {
        return promised + bytes <= left + ready;
    }

    /** A segment is there, to be used later. */
    synchronized void made(long segmentBytes) {
        ready += ofSegment(segmentBytes);
    }

    /** It will not be used. */
    synchronized void lost(long segmentBytes) {
        ready -= ofSegment(segmentBytes);
    }

    /** It is the newest now. */
    synchronized void began(long segmentBytes) {
        ready -= ofSegment(segmentBytes);
        left += ofSegment(segmentBytes);
    }

    /** Nothing more is written to the newest segment. */
    synchronized void ended() {
        left = 0;
    }

    /** What was promised was written, or other bytes were: so many are behind them in the newest segment. */
    synchronized void settled(long bytes, long behindBytes) {
        promised -= bytes;
        left = usable(behindBytes);
    }

    synchronized void setCanBegin(boolean can) {
        canBegin = can;
    }

    synchronized boolean canBegin() {
        return canBegin;
    }
}
