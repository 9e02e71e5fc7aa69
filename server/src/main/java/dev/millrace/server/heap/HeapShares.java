package dev.millrace.server.heap;

/**
 * What is set aside of a heap. The rest is for standing queries, which have half of it, and for all that is small.
 *
 * @param planning of what is parsed and planned just now
 * @param kept of what sessions keep: prepared statements, and the values that portals are bound to
 * @param messages of long messages that have not been answered
 */
public record HeapShares(HeapShare planning, HeapShare kept, HeapShare messages) {
    /** Those of a heap of so many bytes. */
    public static HeapShares of(long heapBytes) {
        return new HeapShares(
                new HeapShare("statements that are planned", heapBytes / 4),
                new HeapShare("prepared statements and portals", heapBytes / 8),
                new HeapShare("long messages under way", heapBytes / 8));
    }

    /** Those of this process. */
    public static HeapShares ofProcess() {
        return of(Runtime.getRuntime().maxMemory());
    }
}
