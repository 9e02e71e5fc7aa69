package dev.millrace.sketch.query;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** COUNT(DISTINCT ..) of numbers. */
final class DistinctPartial implements Partial {
    static final int MOST = 1 << 20;

    private final boolean whole;
    private final Map<Interval, RowCounts> intervals = new HashMap<>();

    /** Where the true values of a symbol lie; with the symbol, for what is seen. */
    private record Interval(long low, long high, long value) {}

    DistinctPartial(boolean whole) {
        this.whole = whole;
    }

    @Override
    public void add(Cells cells, CellValues values) {
        Points points = values.points();
        for (int i = 0; i < cells.count; i++) {
            int rank = values.rank(cells, i);
            if (!values.isNull(rank)) {
                at(new Interval(points.low(rank), points.high(rank), points.key(rank)))
                        .add(cells.verdicts[i], cells.weights[i]);
            }
        }
    }

    private RowCounts at(Interval interval) {
        RowCounts rows = intervals.computeIfAbsent(interval, i -> new RowCounts());
        checkSize(intervals.size());
        return rows;
    }

    static void checkSize(int size) {
        if (size > MOST) {
            throw MillraceException.user(
                            SqlState.PROGRAM_LIMIT_EXCEEDED,
                            "a group has more than " + MOST + " distinct values, which are all kept to be counted")
                    .withHint("Ask for shorter windows, or materialise the rows.");
        }
    }

    @Override
    public void combine(Partial other) {
        ((DistinctPartial) other)
                .intervals.forEach((interval, rows) -> at(interval).add(rows));
    }

    @Override
    public Estimate estimate() {
        Set<Long> seen = new HashSet<>();
        Set<Long> exact = new HashSet<>(); // possible ones
        long possible = 0;
        List<Interval> certain = new ArrayList<>();
        for (Map.Entry<Interval, RowCounts> entry : intervals.entrySet()) {
            Interval interval = entry.getKey();
            RowCounts rows = entry.getValue();
            if (rows.seen > 0) {
                seen.add(interval.value);
            }
            if (rows.certain > 0) {
                certain.add(interval);
            }
            if (rows.possible > 0) {
                if (interval.low == interval.high) {
                    exact.add(interval.value);
                } else {
                    possible += Math.min(rows.possible, width(interval));
                }
            }
        }
        return Estimate.count(seen.size(), fewest(certain), possible + exact.size());
    }

    /** How many different values there are in an interval. */
    private long width(Interval interval) {
        long between = interval.high - interval.low;
        return whole && between >= 0 && between < Long.MAX_VALUE ? between + 1 : Long.MAX_VALUE;
    }

    /** The fewest values that leave none of the intervals empty: as many as there are that do not touch. */
    private static long fewest(List<Interval> intervals) {
        intervals.sort(Comparator.comparingLong(Interval::high));
        long count = 0;
        long covered = 0; // the last value taken
        for (Interval interval : intervals) {
            if (count == 0 || interval.low > covered) {
                count++;
                covered = interval.high;
            }
        }
        return count;
    }
}
