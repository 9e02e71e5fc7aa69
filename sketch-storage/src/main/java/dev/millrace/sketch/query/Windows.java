package dev.millrace.sketch.query;

import dev.millrace.sketch.time.Times;
import java.util.ArrayList;
import java.util.List;

/** Which rows lie in which windows. Where times are within a bound, rows that near a window's edge are only possibly in it. */
final class Windows {
    private final Times times;
    private final long bound;
    private final long size;
    private final boolean ordered;
    private final long first;
    private final long last;
    private final long slide;

    /** Rows {@code from} to {@code to}, excluded, and what is known of their being in the window. */
    record Part(int from, int to, int verdict) {}

    Windows(Times times, long bound, long size, long slide) {
        this.times = times;
        this.bound = bound;
        this.size = size;
        this.slide = slide;
        this.ordered = times.ordered();
        long low = times.at(0);
        long high = times.at(times.rows() - 1);
        for (int row = 0; !ordered && row < times.rows(); row++) {
            low = Math.min(low, times.at(row));
            high = Math.max(high, times.at(row));
        }
        // The first window is the earliest that ends behind the first row.
        first = (Math.floorDiv(low - size, slide) + 1) * slide;
        last = Math.floorDiv(high, slide) * slide;
    }

    long first() {
        return first;
    }

    long last() {
        return last;
    }

    long count() {
        return (last - first) / slide + 1;
    }

    List<Part> parts(long start) {
        List<Part> parts = new ArrayList<>();
        if (!ordered) {
            int from = 0;
            int verdict = 0;
            for (int row = 0; row <= times.rows(); row++) {
                int mine = row == times.rows() ? -1 : verdict(times.at(row), start);
                if (mine != verdict) {
                    add(parts, from, row, verdict);
                    from = row;
                    verdict = mine;
                }
            }
            return parts;
        }
        long end = start + size;
        long[] cuts = bound == 0
                ? new long[] {start, end}
                : new long[] {start - bound, start, start + bound, end - bound, end, end + bound};
        java.util.Arrays.sort(cuts);
        int from = times.firstFrom(cuts[0]);
        for (int c = 1; c < cuts.length && from < times.rows(); c++) {
            int to = times.firstFrom(c == cuts.length - 1 && bound > 0 ? cuts[c] + 1 : cuts[c]);
            while (from < to) {
                int verdict = verdict(times.at(from), start);
                int until = bound == 0 ? to : sameVerdict(from, to, start, verdict);
                add(parts, from, until, verdict);
                from = until;
            }
        }
        boolean seen = parts.stream().anyMatch(part -> (part.verdict & Condition.SEEN) != 0);
        return seen ? parts : List.of();
    }

    private int sameVerdict(int from, int to, long start, int verdict) {
        int row = from + 1;
        while (row < to && verdict(times.at(row), start) == verdict) {
            row++;
        }
        return row;
    }

    private static void add(List<Part> parts, int from, int to, int verdict) {
        if (from < to && verdict > 0) {
            parts.add(new Part(from, to, verdict));
        }
    }

    private int verdict(long time, long start) {
        long end = start + size;
        return (time >= start && time < end ? Condition.SEEN : 0)
                | (time - bound >= start && time + bound < end ? Condition.CERTAIN : 0)
                | (time + bound >= start && time - bound < end ? Condition.POSSIBLE : 0);
    }
}
