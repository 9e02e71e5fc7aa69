package dev.millrace.edge.queue;

/**
 * What did not become of a stream what was meant to, since the queue was made.
 *
 * @param shedRows thrown away as there was no room
 * @param shedSegments of them
 * @param coarserRows kept within a wider bound
 * @param coarserSegments merged into fewer
 * @param lostSegments that were written and are not on the disk any more
 */
public record Shedding(long shedRows, long shedSegments, long coarserRows, long coarserSegments, long lostSegments) {
    public static final Shedding NONE = new Shedding(0, 0, 0, 0, 0);

    Shedding shed(long rows, long segments) {
        return new Shedding(shedRows + rows, shedSegments + segments, coarserRows, coarserSegments, lostSegments);
    }

    Shedding coarser(long rows, long segments) {
        return new Shedding(shedRows, shedSegments, coarserRows + rows, coarserSegments + segments, lostSegments);
    }

    Shedding lost(long segments) {
        return new Shedding(shedRows, shedSegments, coarserRows, coarserSegments, lostSegments + segments);
    }
}
