package dev.millrace.storage.retention;

import java.util.List;

/**
 * Which segments become one: at least four neighbours of about one size, the smallest first. So a row is written again once for each
 * fourfold size up to the largest, and there are a few segments of each size.
 */
final class MergeChoice {
    private static final long MOST_ROWS = 1 << 20; // that take another form at once
    private static final int FEWEST = 4;
    private static final int MOST = 16;
    private static final long SMALLEST_BYTES = 256 << 10; // smaller ones are of one size

    private MergeChoice() {}

    /**
     * The oldest exact segments, which take another form: those are behind all that have it already.
     *
     * @param segments in their order
     * @param mostSpanMicros how far arrivals in the new one may be apart
     * @return none as long as there are too few rows
     */
    static List<KeptSegment> toBeFormed(List<KeptSegment> segments, SegmentForm form, long mostSpanMicros) {
        List<KeptSegment> exact = exact(segments);
        long rows = 0;
        int end = 0;
        boolean isDue = false;
        while (end < exact.size() && rows < MOST_ROWS) {
            KeptSegment next = exact.get(end);
            long span = next.lastArrival() - exact.get(0).firstArrival();
            if (end > 0 && (span < 0 || span > mostSpanMicros)) {
                isDue = true; // nothing more comes to these
                break;
            }
            rows += next.file().rows();
            end++;
            isDue |= rows >= form.enoughRows() || span >= form.longestMicros().orElse(Long.MAX_VALUE);
        }
        return isDue ? List.copyOf(exact.subList(0, end)) : List.of();
    }

    /** Those that have no other form, of segments in their order. */
    static List<KeptSegment> exact(List<KeptSegment> segments) {
        return segments.stream().filter(segment -> !segment.isSketched()).toList();
    }

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
