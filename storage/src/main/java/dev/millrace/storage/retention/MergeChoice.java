package dev.millrace.storage.retention;

import java.util.List;

/**
 * Which segments become one: at least four neighbours of about one size, the smallest first. So a row is written again once for each
 * fourfold size up to the largest, and there are a few segments of each size.
 */
final class MergeChoice {
    private static final int FEWEST = 4;
    private static final int MOST = 16;
    private static final long SMALLEST_BYTES = 256 << 10; // smaller ones are of one size

    private MergeChoice() {}

    /**
     * Neighbours to be merged; none if there are not enough of one size.
     *
     * @param segments in their order
     * @param mostBytes that all together may have
     * @param mostSpanMicros how far arrivals in the merged one may be apart
     */
    static List<KeptSegment> of(List<KeptSegment> segments, long mostBytes, long mostSpanMicros) {
        for (long size = SMALLEST_BYTES; size < mostBytes; size *= 4) {
            int from = 0;
            while (from < segments.size()) {
                int end = from;
                long bytes = 0;
                while (end < segments.size() && end - from < MOST) {
                    KeptSegment next = segments.get(end);
                    bytes += next.file().bytes();
                    long span = next.lastArrival() - segments.get(from).firstArrival();
                    if (next.file().bytes() > size || bytes > mostBytes || span < 0 || span > mostSpanMicros) {
                        break;
                    }
                    end++;
                }
                if (end - from >= FEWEST) {
                    return List.copyOf(segments.subList(from, end));
                }
                from = Math.max(end, from + 1);
            }
        }
        return List.of();
    }
}
